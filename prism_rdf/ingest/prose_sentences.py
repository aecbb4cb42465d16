"""The sentences of a text, each in its place, with marks for the documents they name; meaning is found elsewhere.

A sentence is made plain: emphasis, links and footnotes are gone, ``‹0›`` stands for the first document that it names,
``‹s›`` for the document that speaks, and ``⦃0⦄`` for the first term that is set as code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import unquote

from prism_rdf.ingest.identifiers import is_markdown, spans_in_text
from prism_rdf.ingest.markup import Markup, TextBlock, text_blocks

ITSELF = "s"  # the mark of the document that speaks
Identify = Callable[[str], list[tuple[int, int, str]]]  # (start, end, identifier) of each document that a text names

_BULLET = re.compile(r"\n(?=[ \t>]*(?:[-*+•|]|\d+[.)])[ \t])|(?=[✅❌]|⚠️)")
_SENTENCE_END = re.compile(r"[.!?][)\"'”*_`]*\s+(?=[\"'“(\[*_`>\s]*[A-Z0-9]|:[a-z]+:`)")
_ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|etc|cf|vs|al|No|Mr|Dr|approx|resp|incl|Fig|Sec)|\b[A-Z])\.$")
_MARKS = re.compile(r"\s*(?:(?:[-*+•>]|\d{1,3}[.)])\s+)*")
_TABLE = re.compile(r"[ \t]*\|.*\||[ \t]*[=+-]{3,}[ \t=+-]*$", re.MULTILINE)
_CODE = re.compile(r"``([^`\n]+)``|(?<![:`\w])`([^`\n<>]+)`(?![`_])")
_LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]+)\)")
_REST_LINK = re.compile(r"`([^`<]*?)\s*<([^`>]*)>`_{1,2}")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s)>\]]+")
_FOOTNOTE = re.compile(r"\s*\[#?[\w-]{1,24}\]_|\s*\[\d{1,3}\](?![(\w])")
_LEAD = re.compile(r"^(?:[\s>✅❌•*+|-]|⚠️|\d{1,3}[.)]\s|\[[ xX]\])+")
_EMPHASIS = re.compile(r"\*+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")
_ITSELF = re.compile(
    r"\b(?:[Tt]his|[Tt]he present|[Tt]he current)\s+(?:very\s+)?"
    r"(?:ADR|PEP|SPEC|RFC|RETRO|TODO|[Ss]pec(?:ification)?|[Dd]ecision(?: record)?|[Dd]ocument|[Pp]roposal"
    r"|[Rr]ecord|[Pp]lan|[Dd]elta|[Jj]ournal|[Rr]etro(?:spective)?|[Ss]ubletter|[Mm]igration plan|[Aa]ddendum)\b"
    r"(?!-?\d|\s+\d)"
)
_APPOSED = re.compile(r"(‹\d+›)\s*\(([^()‹›]*)\)")
_SAYS_SOMETHING = re.compile(
    r"\b(?:supersed|replac|obsolet|reject|accept|withdraw|deprecat|defer|abandon|approv|former|previous|original)", re.I
)


@dataclass(frozen=True)
class Named:
    """A document as a sentence names it: by identifier, by a link to its file (``href``, relative), or both."""

    identifier: str = ""
    href: str = ""


@dataclass(frozen=True)
class Sentence:
    """[start, end) of a text; ``plain`` with marks for what ``named`` and ``code`` hold; ``first`` of its paragraph."""

    start: int
    end: int
    plain: str
    named: tuple[Named, ...]
    code: tuple[str, ...]
    first: bool
    heading: str


def sentences(text: str, markup: Markup, identify: Identify = spans_in_text) -> Iterator[Sentence]:
    """Yield the sentences of the prose of a text in order; headings, code and tables are none.

    >>> [each.plain for each in sentences("# ADR-1\\n\\nThis ADR extends ADR-2. `ADR-3` is code.\\n", "markdown")]
    ['‹s› extends ‹0›.', '⦃0⦄ is code.']
    """
    heading = ""
    for block in text_blocks(text, markup):
        if block.kind == "heading":
            heading = block.title
        elif block.kind == "prose":
            first = True
            for start, end in _units(text, block):
                yield _sentence(text, start, end, identify, first, heading)
                first = False


def _units(text: str, block: TextBlock) -> Iterator[tuple[int, int]]:
    """Yield where each sentence begins and ends; a list item and a sign begin one too."""
    words = text[block.start : block.end]
    if _TABLE.match(words):
        return
    cuts = {0, len(words)} | {match.end() for match in _BULLET.finditer(words)}
    cuts |= {
        match.end() for match in _SENTENCE_END.finditer(words) if not _ABBREVIATED.search(words[: match.start() + 1])
    }
    edges = sorted(cuts)
    for begin, end in pairwise(edges):
        part = words[begin:end]
        marks = _MARKS.match(part)
        lead, length = marks.end() if marks else 0, len(part.rstrip())
        if length > lead:
            yield block.start + begin + lead, block.start + begin + length


def _sentence(text: str, start: int, end: int, identify: Identify, first: bool, heading: str) -> Sentence:
    raw = text[start:end]
    code: list[str] = []
    named: list[Named] = []

    def set_as_code(match: re.Match[str]) -> str:
        code.append(match[1] or match[2])
        return f"⦃{len(code) - 1}⦄"

    def mark(identifier: str, href: str = "") -> str:
        named.append(Named(identifier, href))
        return f"‹{len(named) - 1}›"

    def marked(words: str) -> str:
        out, at = "", 0
        for begin, until, identifier in identify(words):
            out, at = out + words[at:begin] + mark(identifier), until
        return out + words[at:]

    def linked(match: re.Match[str]) -> str:
        href = unquote(match[2].partition("#")[0])
        if not is_markdown(href) or "://" in href:
            return match[1]
        inside = identify(match[1])
        return mark(inside[0][2] if inside else "", href)

    plain = _CODE.sub(set_as_code, raw)
    plain = _LINK.sub(linked, plain)
    plain = _REST_LINK.sub(r"\1", plain)
    plain = _URL.sub(" ", marked(plain))
    plain = _FOOTNOTE.sub("", _ITSELF.sub("‹s›", plain))
    plain = _EMPHASIS.sub("", re.sub(r"\n[ \t]*>", "\n", plain))
    plain = " ".join(_LEAD.sub("", plain).split())
    plain = _APPOSED.sub(lambda match: match[0] if _SAYS_SOMETHING.search(match[2]) else match[1], plain)
    return Sentence(start, end, plain, tuple(named), tuple(code), first, heading)
