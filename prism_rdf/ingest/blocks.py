"""The blocks of a markdown text that hold words: headings and paragraphs, no code; what they say is read elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt

# Tables stay paragraphs: their cells are prose.
_MARKDOWN = MarkdownIt("commonmark").disable("inline")
_FENCE = re.compile(r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)")
_OPEN_ENDED_HTML = re.compile(r"^ {0,3}<(?:!--|\?|![A-Z]|!\[CDATA|/?(?:pre|script|style|textarea))", re.I | re.M)


@dataclass(frozen=True)
class Block:
    """A heading (``level`` 1 to 6) or a paragraph (level 0) with its markup; ``line`` counts from 0 in its section.

    ``underlined``: a heading by a line of dashes or equals signs below it. ``depth`` grows inside of lists and quotes.
    """

    content: str
    line: int
    level: int
    underlined: bool
    depth: int


class BlockReader:
    """Reads texts into blocks, and a section that it has read before only once: versions of a text are much alike."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Block, ...]] = {}

    def read(self, text: str) -> Iterator[tuple[int, Block]]:
        """Yield (line, block) in order; the line counts from 0 in the whole text."""
        line = 0
        for section in _sections(text):
            blocks = self._known.get(section)
            if blocks is None:
                blocks = self._known[section] = tuple(_blocks(section))
            for block in blocks:
                yield line + block.line, block
            line += section.count("\n") + 1


def _sections(text: str) -> list[str]:
    """Cut a text before each ``#`` in the first column that is not code: a heading there ends whatever is open."""
    if _OPEN_ENDED_HTML.search(text):
        return [text]
    sections: list[list[str]] = [[]]
    fence = ""
    for line in text.split("\n"):
        if fence:
            bare = line.strip()
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
        elif match := _FENCE.fullmatch(line):
            fence = match[1] or match[2]
        elif line.startswith("#") and sections[-1]:
            sections.append([])
        sections[-1].append(line)
    return ["\n".join(lines) for lines in sections]


def _blocks(text: str) -> Iterator[Block]:
    for opening, token in pairwise(_MARKDOWN.parse(text)):
        if token.type == "inline":
            heading = opening.type == "heading_open"
            yield Block(
                content=token.content,
                line=token.map[0] if token.map else 0,
                level=int(opening.tag[1:]) if heading else 0,
                underlined=heading and opening.markup in ("-", "="),
                depth=token.level,
            )
