"""A text cut into blocks that say what they are: headings, prose and code, each in its place, and not what they mean.

This is what an extractor of facts works on: only prose and headings speak, code does not. Offsets count characters of
the text as ``texts.decode`` returns it, from 0, the end excluded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal

from markdown_it import MarkdownIt

Markup = Literal["markdown", "rst", "text"]

_MARKDOWN = MarkdownIt("commonmark").disable("inline")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*")
# Both begin with what is rare and literal, so that a search is fast.
_UNDERLINE = re.compile(r"\n(([!-/:-@\[-`{-~])\2{2,})[ \t]*(?=\n|\Z)")
_FLUSH = re.compile(r"\n\n(\S[^\n]{0,78})\n(?=\n*[ \t]+\S)")
_CODE_DIRECTIVE = re.compile(
    r"[ \t]*\.\. (?:code|code-block|sourcecode|parsed-literal|highlight|literalinclude|productionlist|math|raw)::"
)
_DOCTEST = re.compile(r"[ \t]*>>> ")


@dataclass(frozen=True)
class TextBlock:
    """A stretch of a text; ``level`` is 1 and up for a heading, 0 for anything else; ``title`` is a heading's text."""

    kind: Literal["heading", "prose", "code"]
    start: int
    end: int
    level: int = 0
    title: str = ""


def text_blocks(text: str, markup: Markup) -> tuple[TextBlock, ...]:
    """Return the blocks of a text in order; what lies between them is blank, or marks such as rules.

    >>> text = "# A\\n\\nSee ADR-1.\\n\\n```\\nADR-2\\n```\\n"
    >>> [(block.kind, text[block.start : block.end]) for block in text_blocks(text, "markdown")]
    [('heading', '# A'), ('prose', 'See ADR-1.'), ('code', '```\\nADR-2\\n```')]
    """
    if markup == "markdown":
        return tuple(_markdown(text))
    heads = headings(text, markup)
    edges = [0, *(head.start for head in heads), len(text)]
    blocks = [block for start, end in pairwise(edges) for block in _paragraphs(text, start, end, heads)]
    return tuple(sorted([*heads, *blocks], key=lambda block: block.start))


def headings(text: str, markup: Markup) -> list[TextBlock]:
    """Return the headings of reST, or of a plain text whose sections are indented below flush lines.

    >>> [(head.title, head.level) for head in headings("A\\n===\\n\\nx\\n\\nB\\n---\\n", "rst")]
    [('A', 1), ('B', 2)]
    """
    found: list[TextBlock] = []
    styles: dict[tuple[str, bool], int] = {}
    for match in _UNDERLINE.finditer(text):
        end, mark = match.start(), match[1]
        start = text.rfind("\n", 0, end) + 1
        title = text[start:end].rstrip()
        if not title or title[0] in " \t" or len(mark) < min(len(title), 4) or _ADORNMENT.fullmatch(title):
            continue
        above = text[text.rfind("\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)] if start else ""
        over = bool(above) and above.strip() == mark
        if above.strip() and not over:
            continue  # the last line of a paragraph is no title, as in a table
        level = styles.setdefault((match[2], over), len(styles) + 1)
        found.append(TextBlock("heading", start - len(above) - 1 if over else start, match.end(), level, title))
    if found or markup == "rst":
        return found
    lead = "\n\n"  # as before a heading that opens the text
    flush = _FLUSH.finditer(lead + text)
    return [TextBlock("heading", match.start(1) - 2, match.end(1) - 2, 1, match[1].strip()) for match in flush]


def without_code(section: str) -> str:
    """Return a section of reST or plain text of the same length, with blanks where it is code or markup of a title.

    >>> without_code("See::\\n\\n    PEP 1\\n\\nPEP 2")
    'See::\\n\\n         \\n\\nPEP 2'
    """
    if "::" not in section and ">>> " not in section:
        return section
    kept: list[str] = []
    for line, code in _lines(section):
        kept.append(" " * len(line) if code else line)
    return "\n".join(kept)


def _markdown(text: str) -> Iterator[TextBlock]:
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    tokens = _MARKDOWN.parse(text)
    for opening, token in pairwise([*tokens[:1], *tokens]):
        if token.map is None or token.type not in ("inline", "fence", "code_block"):
            continue
        heading = token.type == "inline" and opening.type == "heading_open"
        first, last = (opening.map or token.map) if heading else token.map
        while last > first + 1 and not lines[last - 1].strip():
            last -= 1
        start, end = starts[first], starts[last] - 1
        if heading:
            yield TextBlock("heading", start, end, int(opening.tag[1:]), token.content)
        else:
            yield TextBlock("prose" if token.type == "inline" else "code", start, end)


def _paragraphs(text: str, start: int, end: int, heads: list[TextBlock]) -> Iterator[TextBlock]:
    begin = next((head.end for head in heads if head.start == start), start)
    at = begin
    opened: tuple[int, bool] | None = None
    for line, code in _lines(text[begin:end]):
        blank = not line.strip()
        if opened is not None and ((blank and not opened[1]) or (not blank and code != opened[1])):
            yield _block(text, opened[0], at, code=opened[1])
            opened = None
        if not blank and opened is None:
            opened = at, code
        at += len(line) + 1
    if opened is not None:
        yield _block(text, opened[0], min(at, end), code=opened[1])


def _block(text: str, start: int, end: int, *, code: bool) -> TextBlock:
    return TextBlock("code" if code else "prose", start, start + len(text[start:end].rstrip()))


def _lines(section: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it is part of a literal block, a directive that holds code, or a doctest."""
    limit: int | None = None  # code goes on while lines are indented by more than this
    awaited: int | None = None  # a paragraph has announced code
    doctest = False
    for line in section.split("\n"):
        bare = line.strip()
        if not bare:
            doctest = False
            yield line, limit is not None
            continue
        indent = len(line) - len(line.lstrip())
        if awaited is not None and indent > awaited:
            limit = awaited
        awaited = None
        if limit is not None and indent <= limit:
            limit = None
        if limit is None:
            doctest = doctest or _DOCTEST.match(line) is not None
            if _CODE_DIRECTIVE.match(line) or (bare.endswith("::") and not bare.startswith("..")):
                awaited = indent
        yield line, limit is not None or doctest
