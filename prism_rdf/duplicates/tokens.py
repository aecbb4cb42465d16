"""How a value is cut into what its spellings have in common: words, numbers and codes; nothing is weighed here."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Literal

Kind = Literal["word", "number", "code"]

# Scripts that put no spaces between words (kana, Han, Hangul): each character is a token.
_CHARACTERS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
# Letters and digits, held together by what stands inside of numbers, models and identifiers but not by a space.
_CHUNK = re.compile(rf"[{_CHARACTERS}]|[^\W_{_CHARACTERS}]+(?:[-._'’][^\W_{_CHARACTERS}]+)*")
_PART = re.compile(r"\d+|[^\W\d_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_WHOLE = re.compile(r"(\d+)\.0+")
_ROMAN = {
    numeral: str(number)
    for number, numeral in enumerate(
        "ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split(),  # noqa: SIM905
        start=2,
    )
    if len(numeral) > 1
}


def plain(text: str) -> str:
    """Return text as it is compared: compatibility forms, case and accents folded away.

    >>> plain("Ｃafé CRÈME")
    'cafe creme'
    """
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c)))


@lru_cache(maxsize=65536)
def tokens(text: str) -> tuple[str, ...]:
    """Return the words, numbers and codes of a text, in order.

    Letters and digits held together by a dash are one code, unless several words are; leading zeros, a decimal part of
    zero and the difference between Roman and Arabic numerals say nothing.

    >>> tokens("KDL-37XBR6, 2.0 (Part II) SR-2023-052 0052-use-git.md")
    ('kdl37xbr6', '2', 'part', '2', 'sr2023.52', '52', 'use', 'git', 'md')
    """
    found: list[str] = []
    for chunk in _CHUNK.findall(_THOUSANDS.sub("", plain(text))):
        found += _of_chunk(chunk)
    return tuple(found)


@lru_cache(maxsize=65536)
def kind_of(token: str) -> Kind:
    """Say whether a token is a word, a number, or a code: letters and digits, as in models and identifiers."""
    if not any(char.isdecimal() for char in token):
        return "word"
    return "code" if any(char.isalpha() for char in token) else "number"


def _of_chunk(chunk: str) -> list[str]:
    whole = _WHOLE.fullmatch(chunk)
    if whole:
        return [_number(whole.group(1))]
    pieces = re.split(r"[-._]", re.sub("['’]", "", chunk))
    words = [piece for piece in pieces if not any(char.isdecimal() for char in piece)]
    if len(words) == len(pieces) or len(words) > 1:
        return [_ROMAN.get(piece) or _code(piece) for piece in pieces if piece]
    return [_code(chunk)]


def _number(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _code(text: str) -> str:
    """Join the parts of a code; numbers that meet stay apart, since 1.23 is not 12.3."""
    parts = [_number(part) if part.isdecimal() else part for part in _PART.findall(text)]
    joined = parts[0]
    for before, part in pairwise(parts):
        joined += f".{part}" if before[-1].isdecimal() and part[0].isdecimal() else part
    return joined
