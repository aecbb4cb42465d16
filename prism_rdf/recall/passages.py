"""The best short passage of a long text for a question: for eyes and terminals, not for ranking."""

from __future__ import annotations

import re
from collections.abc import Mapping

from prism_rdf.recall.words import query_terms, term_counts

_FRONT_MATTER = re.compile(r"\A---\r?\n.*?\r?\n---\r?\n", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_BLOCK_SIGNS = re.compile(r"(?m)^[ \t]*(?:[#>]+|[-*+]|```.*|[-=|: ]{3,}$)[ \t]*|\|+")
_INLINE_SIGNS = re.compile(r"[*`]+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")
_PIECE = re.compile(r"\S+")
_MOST_READ = 200_000  # characters of a text in which the passage is looked for


def snippet(content: str, question: str, width: int = 240) -> str:
    """Return at most ``width`` characters of plain text, on one line: the passage that says most of the question.

    Markdown's signs and front matter are left out, white space is one blank, and what was cut off shows as "…".

    >>> snippet("# Choice\\n\\nWe looked at many. **Kuzu** is the graph store.", "graph store", 40)
    '…at many. Kuzu is the graph store.'
    """
    words = _PIECE.findall(_plain(content[:_MOST_READ]))
    if not words or width < 1:
        return ""
    terms = query_terms(question)
    gains = [_gain(word, terms) for word in words] if terms else [0.0] * len(words)
    first, last = _window(words, gains, width - 2)
    text = " ".join(words[first : last + 1])
    opening = "…" if first else ""
    closing = "…" if last + 1 < len(words) or len(text) > width - 2 else ""
    room = width - len(opening) - len(closing)
    return f"{opening}{text[:room].rstrip()}{closing}"[:width]


def _plain(text: str) -> str:
    return _INLINE_SIGNS.sub("", _BLOCK_SIGNS.sub(" ", _LINK.sub(r"\1", _FRONT_MATTER.sub("", text))))


def _gain(word: str, terms: Mapping[str, float]) -> float:
    return max((terms.get(term, 0.0) for term in term_counts(word)), default=0.0)


def _window(words: list[str], gains: list[float], width: int) -> tuple[int, int]:
    """Return the first and last word of the passage that gains most, with what stands around it."""
    best, best_gain = (0, 0), 0.0
    first, length = 0, -1
    for last, word in enumerate(words):
        length += len(word) + 1
        while length > width and first < last:
            length -= len(words[first]) + 1
            first += 1
        if gains[last]:
            gain = _worth(words[first : last + 1], gains[first : last + 1])
            if gain > best_gain + 1e-9:
                best, best_gain = (first, last), gain
    first, last = best
    while first < last and not gains[first]:
        first += 1
    core = _length(words, first, last)
    first = _widen(words, first, (width - core) // 3, -1)
    last = _widen(words, last, width - _length(words, first, last), 1)
    return _widen(words, first, width - _length(words, first, last), -1), last


def _worth(words: list[str], gains: list[float]) -> float:
    """Return the sum of what the words gain; a word said again gains a tenth."""
    seen: set[str] = set()
    total = 0.0
    for word, gain in zip(words, gains, strict=True):
        if gain:
            total += gain * 0.1 if word.casefold() in seen else gain
            seen.add(word.casefold())
    return total


def _length(words: list[str], first: int, last: int) -> int:
    return sum(len(word) + 1 for word in words[first : last + 1]) - 1


def _widen(words: list[str], edge: int, room: int, step: int) -> int:
    """Move the edge of a passage outward while whole words fit into the room."""
    while 0 <= edge + step < len(words) and len(words[edge + step]) < room:
        edge += step
        room -= len(words[edge]) + 1
    return edge
