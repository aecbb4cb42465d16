"""How recall cuts text into words: for the lexical index, for finding names, for snippets; no index is held here."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from whoosh.lang.porter import stem as porter

# One character is one word in scripts that put no spaces between words (kana, Han, Hangul).
CHARACTERS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"[{CHARACTERS}]|[^\W{CHARACTERS}]+|[^\w\s]")
DASHES = "-‐‑‒–—"
_CHUNK = re.compile(rf"[{CHARACTERS}]|[^\W{CHARACTERS}]+(?:[-./:@#+][^\W{CHARACTERS}]+)*")
_PART = re.compile(r"[^\W_]+")
_NUMBERED = re.compile(r"[^\W\d_]+-\d+(?:\.\d+)*")

LONGEST_TERM = 80  # characters; what is longer (a key, a blob) is not a word that anybody asks for

STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be became because been before being below
    between both but by can cannot could did do does doing down during each either else ever few for from further had
    has have having he her here hers him his how however i if in into is it its itself just let like may me might more
    most much must my myself no nor not now of off on once only or other our ours out over own please same she should
    since so some such tell than that the their theirs them then there these they this those through to too under until
    up us very was we were what when where whether which while who whom whose why will with would yet you your yours
    don doesn didn isn aren wasn weren won ll ve re
    """.split()  # noqa: SIM905
)


def fold(text: str) -> str:
    """Return text as it is compared: NFKC, case folded; white space stays as it is.

    >>> fold("ＡＤＲ-044") == fold("adr-044")
    True
    """
    return unicodedata.normalize("NFKC", text).casefold()


def tokens(folded: str) -> list[tuple[str, int, int]]:
    """Return (word, start, end) of folded text: words and signs; dashes between words are left out.

    A name is the same name with a dash as with a space.

    >>> [word for word, _, _ in tokens("adr-044: c++")]
    ['adr', '044', ':', 'c', '+', '+']
    """
    return [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(folded) if m.group() not in DASHES]


def key_of(name: str) -> str:
    """Return what two spellings of one name have in common.

    >>> key_of("ADR-044") == key_of("adr 044")
    True
    """
    return " ".join(word for word, _, _ in tokens(fold(name)))


def term_counts(text: str) -> dict[str, int]:
    """Return how often each term occurs in a text: the terms are those that ``query_terms`` looks for.

    An identifier, path or version is kept whole and counts for its parts too; stop words count for nothing.

    >>> term_counts("Renamed: the state of ADR-808 in snake_case")
    {'renam': 1, 'state': 1, 'adr-808': 1, 'adr': 1, '808': 1, 'snake_case': 1, 'snake': 1, 'case': 1}
    """
    counts: dict[str, int] = {}
    for chunk, times in Counter(_CHUNK.findall(fold(text))).items():
        for term, _ in _terms(chunk):
            counts[term] = counts.get(term, 0) + times
    return counts


def query_terms(text: str, part_weight: float = 0.4) -> dict[str, float]:
    """Return the terms to look for, each with its weight: 1, and ``part_weight`` for a part of an identifier.

    >>> query_terms("What is ADR-808?")
    {'adr-808': 1.0, 'adr': 0.4, '808': 0.4}
    """
    weights: dict[str, float] = {}
    for chunk in _CHUNK.findall(fold(text)):
        for term, is_part in _terms(chunk):
            weights[term] = max(part_weight if is_part else 1.0, weights.get(term, 0.0))
    return weights


@lru_cache(maxsize=200_000)
def _terms(chunk: str) -> tuple[tuple[str, bool], ...]:
    """Return (term, whether it is only a part of an identifier) of what stands between white space."""
    chunk = chunk.strip("_")
    if chunk.isalnum():
        return ((_stem(chunk), False),) if _is_word(chunk) else ()
    wholes = [chunk, *(numbered for numbered in _NUMBERED.findall(chunk) if numbered != chunk)]
    terms = [(whole, False) for whole in wholes if 0 < len(whole) <= LONGEST_TERM]
    terms += [(_stem(part), True) for part in _PART.findall(chunk) if _is_word(part)]
    return tuple(terms)


def _stem(word: str) -> str:
    """Return the stem of a folded English word (M. Porter, 1980); a word with a digit is left whole."""
    return porter(word) if word.isalpha() and len(word) > 2 else word


def _is_word(text: str) -> bool:
    """A letter alone tells nothing apart, except in a script where one character is a word."""
    if len(text) == 1:
        return not text.isascii() or text.isdigit()
    return len(text) <= LONGEST_TERM and text not in STOP_WORDS
