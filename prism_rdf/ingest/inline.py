"""The inside of a markdown paragraph or heading: plain lines, their links, and the records they name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from markdown_it import MarkdownIt

from prism_rdf.ingest.identifiers import in_text, is_markdown

_INLINE = MarkdownIt("commonmark")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")


@dataclass(frozen=True)
class Named:
    """A record named in a text: by identifier, by a link to its file (``href``, relative), or by both."""

    offset: int
    identifier: str
    href: str = ""


@dataclass(frozen=True)
class Line:
    """One line without its markup. ``prose`` is as long as ``text``, with blanks where the text is code or a URL."""

    text: str
    prose: str
    links: tuple[tuple[int, int, str], ...] = ()

    def names(self) -> list[Named]:
        """Return the records that the line names, in order; code and URLs name none."""
        found = [Named(offset, identifier) for offset, identifier in in_text(self.prose)]
        for start, end, href in self.links:
            inside = [named for named in found if start <= named.offset < end]
            first = inside[0] if inside else Named(start, "")
            found = [named for named in found if named is not first]
            found.append(Named(first.offset, first.identifier, href))
        return sorted(found, key=lambda named: (named.offset, named.identifier))


@lru_cache(maxsize=4096)
def read_lines(content: str) -> tuple[Line, ...]:
    """Return the lines of the inside of a block, markup taken off and entities resolved."""
    lines: list[Line] = []
    text, prose = "", ""
    links: list[tuple[int, int, str]] = []
    opened: list[tuple[int, str]] = []
    for token in _INLINE.parseInline(content)[0].children or []:
        if token.type in ("softbreak", "hardbreak"):
            lines.append(_line(text, prose, links))
            text, prose, links = "", "", []
            opened = [(0, href) for _, href in opened]
        elif token.type == "link_open":
            opened.append((len(text), _local(str(token.attrGet("href") or ""))))
        elif token.type == "link_close":
            start, href = opened.pop()
            if href:
                links.append((start, len(text), href))
        elif token.type == "code_inline":
            text, prose = text + token.content, prose + " " * len(token.content)
        elif token.type in ("text", "image"):
            text, prose = text + token.content, prose + token.content
    lines.append(_line(text, prose, links))
    return tuple(lines)


def plain(content: str) -> str:
    """Return the first line of a text as plain words.

    >>> plain("Superseded by [ADR-12](0012-x.md), **at last**")
    'Superseded by ADR-12, at last'
    """
    return read_lines(content)[0].text.strip()


def _line(text: str, prose: str, links: list[tuple[int, int, str]]) -> Line:
    return Line(text, _URL.sub(lambda match: " " * len(match[0]), prose), tuple(links))


def _local(href: str) -> str:
    """Return a link to a markdown file beside this one, without its fragment; empty for any other link."""
    path = unquote(href.partition("#")[0].partition("?")[0])
    return path if is_markdown(path) and "://" not in path else ""
