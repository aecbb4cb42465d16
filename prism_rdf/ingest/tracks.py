"""Which file is which document from one commit to the next: renames, renumberings, deletions, resurrections."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from pyoxigraph import Literal

from prism_rdf.canonical.catalog import EntityType
from prism_rdf.clock import Instant
from prism_rdf.ingest.documents import Document, claim
from prism_rdf.ingest.identifiers import exact_key, in_file_name


@dataclass(eq=False)
class Track:
    """One document through time, as far as it was read.

    ``location`` and ``content`` are where it lies and what lies there; ``document`` and ``path`` belong to the last
    version that could be read, ``version`` says where that stands, and ``props`` is what was last said of it.
    ``homes`` are all paths it ever had; ``type`` is that of its first version, since it never changes.
    """

    uuid: str
    type: EntityType
    location: str
    content: str
    document: Document
    path: str
    props: dict[str, tuple[Literal, ...]] = field(default_factory=dict)
    version: str = ""
    bears_since: Instant | None = None
    ended: Instant | None = None
    homes: set[str] = field(default_factory=set)

    @property
    def claim(self) -> tuple[str, bool]:
        return claim(self.document, self.path)

    @property
    def file_number(self) -> str:
        if self.document.rule is not None:
            return self.document.rule.identifier.in_file_name(self.path)
        return in_file_name(self.path, decides=bool(self.document.status))


@dataclass(frozen=True)
class Slot:
    """A file at one side of a commit: its path, its content id, and what its document says, if that can be read."""

    path: str
    content: str
    title: str
    number: str


def slot_of(path: str, content: str, document: Document | None) -> Slot:
    if document is None:
        return Slot(path, content, "", in_file_name(path))
    return Slot(path, content, document.title.casefold(), exact_key(claim(document, path)[0]))


@dataclass(frozen=True)
class Moves:
    """How the documents of one commit continue: new path by old path; what is gone; what is new.

    ``why`` says for each new path by what the document was known again.
    """

    continued: Mapping[str, str]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    why: Mapping[str, str] = field(default_factory=dict)


def match(before: Mapping[str, Slot], after: Mapping[str, Slot], similar: Callable[[], list[tuple[str, str]]]) -> Moves:
    """Return how documents (``before``) continue among the files that changed (``after``); their paths are the keys.

    A path in both is the same document, unless titles went around: its old one to another file, its new one from
    another file. Then count, in this order: the same content, the same title and number, the same title, what git
    takes for a rename, the same number.
    """
    retitled = {path for path in before if path in after and before[path].title != after[path].title}
    came = {slot.title for path, slot in before.items() if path in retitled or path not in after} - {""}
    went = {slot.title for path, slot in after.items() if path in retitled or path not in before} - {""}
    moved = {path for path in retitled if before[path].title in went and after[path].title in came}
    continued = {path: path for path in before if path in after and path not in moved}
    old = {path: slot for path, slot in before.items() if path not in continued}
    new = {path: slot for path, slot in after.items() if path not in continued}

    why: dict[str, str] = {}

    def pair(couples: Iterable[tuple[str, str]], reason: str) -> None:
        for left, right in couples:
            if left in old and right in new:
                continued[left] = right
                why[right] = f"known again by {reason}, before {left}" if left != right else ""
                del old[left], new[right]

    if old and new:
        pair(_same_content(old, new), "its content")
        both = _unique(old, new, lambda slot: (slot.title, slot.number) if slot.title and slot.number else None)
        pair(both, "its title and number")
        pair(_unique(old, new, lambda slot: slot.title or None), "its title")
        pair([(path, path) for path in old if path in new], "its path")
    if old and new:
        pair(similar(), "what git takes for a rename")
        pair(_unique(old, new, lambda slot: slot.number or None), "its number")
    return Moves(continued, tuple(sorted(old)), tuple(sorted(new)), why)


def resurrected(ended: Iterable[Track], slot: Slot) -> tuple[Track, str] | None:
    """Return the deleted document that a new file brings back, and by what: title and number, or else the path."""
    candidates = sorted(ended, key=lambda track: (track.ended or Instant(0), track.uuid), reverse=True)
    for track in candidates:
        known = slot_of(track.path, track.content, track.document)
        if slot.title and slot.number and (slot.title, slot.number) == (known.title, known.number):
            return track, "back with its title and number"
    return next(((track, "back at its path") for track in candidates if track.location == slot.path), None)


def _same_content(old: Mapping[str, Slot], new: Mapping[str, Slot]) -> list[tuple[str, str]]:
    by_content: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(new):
        by_content[new[path].content].append(path)
    couples = []
    for path in sorted(old):
        alike = by_content.get(old[path].content, [])
        if alike:
            name = PurePosixPath(path).name
            best = next((other for other in alike if PurePosixPath(other).name == name), alike[0])
            alike.remove(best)
            couples.append((path, best))
    return couples


def _unique(old: Mapping[str, Slot], new: Mapping[str, Slot], key: Callable[[Slot], object]) -> list[tuple[str, str]]:
    """Return the pairs whose key occurs once on each side."""
    sides: list[dict[object, list[str]]] = []
    for slots in (old, new):
        found: defaultdict[object, list[str]] = defaultdict(list)
        for path, slot in slots.items():
            if (value := key(slot)) is not None:
                found[value].append(path)
        sides.append(found)
    left, right = sides
    return [(left[k][0], right[k][0]) for k in left if k in right and len(left[k]) == len(right[k]) == 1]
