"""A document cut at its headings into passages, each with its path of headings and its place in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from prism_rdf.ingest.statements import Mention


@dataclass(frozen=True)
class Head:
    """Where a section begins, how deep it lies (1 is the top), and what it is called."""

    start: int
    end: int
    level: int
    title: str


@dataclass(frozen=True)
class Passage:
    """A section's own text, [start, end) of the document in characters; ``path`` are the headings that lead to it.

    ``key`` is the same for the same words under the same headings; white space does not count.
    """

    path: tuple[str, ...]
    start: int
    end: int
    content: str
    key: str
    mentions: tuple[Mention, ...] = ()
    concepts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """[start, end) of a text with the headings that lead there."""

    path: tuple[str, ...]
    start: int
    end: int


def sections(text: str, begin: int, heads: Sequence[Head]) -> list[Section]:
    """Cut a text from ``begin`` on before each head; a head without words of its own is only part of a path.

    >>> heads = [Head(0, 3, 1, "A"), Head(5, 9, 2, "B")]
    >>> sections("# A\\n\\n## B\\n\\nx\\n", 0, heads)
    [Section(path=('A', 'B'), start=5, end=12)]
    """
    found: list[Section] = []
    path: list[Head] = []
    opened, words = begin, begin  # where the passage begins, and where words that are no heading would begin
    for head in heads:
        if text[words : head.start].strip():
            found.append(_trimmed(text, path, opened, head.start))
        path = [above for above in path if above.level < head.level] + [head]
        opened, words = head.start, head.end
    if text[words:].strip():
        found.append(_trimmed(text, path, opened, len(text)))
    if not found and text[begin:].strip():
        found.append(_trimmed(text, path, begin, len(text)))
    return found


def key_of(path: Sequence[str], content: str, nth: int = 0) -> str:
    """Return what names a passage within its document: its words, its headings, and which of equal ones it is.

    The document's own title is better left out of ``path``: it may change, and the passages stay.
    """
    return key_of_words(path, " ".join(content.split()), nth)


def key_of_words(path: Sequence[str], words: str, nth: int = 0) -> str:
    """Return the same of words that have one blank between them."""
    said = "\n".join([*path, words, str(nth) if nth else ""])
    return blake2b(said.encode(errors="replace"), digest_size=12).hexdigest()


def _trimmed(text: str, path: Sequence[Head], start: int, end: int) -> Section:
    inner = text[start:end]
    lead = len(inner) - len(inner.lstrip())
    return Section(tuple(head.title for head in path), start + lead, start + len(inner.rstrip()))
