"""From what documents say of one another to references with their intervals; what nobody bears is kept apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import commonpath, dirname, join, normpath

from prism_rdf.clock import Instant
from prism_rdf.ingest.identifiers import in_file_name
from prism_rdf.ingest.numbers import Numbers
from prism_rdf.ingest.report import Ambiguous, Dangling
from prism_rdf.ingest.statements import Mention
from prism_rdf.ingest.tracks import Track
from prism_rdf.model import Reference
from prism_rdf.namespaces import prism

Resolve = Callable[[str, Instant], str | None]
Link = tuple[str, str, str]  # source, target, kind


@dataclass(frozen=True)
class Said:
    """When and where something was first said, without a break since."""

    at: Instant
    provenance: str
    commit: str


@dataclass
class _Open:
    said: Said
    witnesses: set[str]
    told: bool = False


@dataclass
class _Lost:
    """What one document says of an identifier that nobody bears, or that several bear."""

    document: str
    first: Instant
    candidates: tuple[str, ...]
    open: dict[Mention, Said] = field(default_factory=dict)
    closed: list[tuple[Mention, Said, Instant]] = field(default_factory=list)
    found: bool = False


class ReferenceBook:
    """References as they are said, dropped and said again, in the order of history."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._open: dict[Link, _Open] = {}
        self._links: dict[str, set[Link]] = {}
        self._lost: dict[tuple[str, str], _Lost] = {}
        self._waiting: dict[str, set[str]] = {}
        self._ready: list[Reference] = []

    @property
    def pending(self) -> int:
        """Return about how many references there are to hand over."""
        return len(self._ready)

    def say(self, track: Track, said: Said) -> None:
        """Take in what a new version says."""
        links: set[Link] = set()
        lost: dict[str, set[Mention]] = {}
        for mention in track.document.mentions:
            target, identifier = self._target(track, mention)
            if target is not None:
                links.add(_ends(track.uuid, target.uuid, mention))
                if known := self._lost.get((track.uuid, mention.identifier)):
                    known.found = True
            elif identifier:
                lost.setdefault(identifier, set()).add(mention)
        self._set_links(track.uuid, links, said)
        self._set_lost(track, lost, said)

    def named_by(self, track: Track, mentions: Iterable[Mention]) -> list[str]:
        """Return the uuids of the other documents that some mentions mean now, sorted."""
        found = (self._target(track, mention)[0] for mention in mentions)
        return sorted({target.uuid for target in found if target is not None} - {track.uuid})

    def meant(self, track: Track, mention: Mention) -> tuple[Track | None, str]:
        """Return (document, "") or (None, what means nothing or several things); both empty: the document itself."""
        return self._target(track, mention)

    def holds(self, link: Link) -> bool:
        """Return whether some document says so directly now."""
        return link in self._open

    def wait(self, live: Mapping[str, Track], said: Callable[[Track], Said]) -> None:
        """Look again for what documents name and nobody bore, now that numbers have changed; ``live`` is by uuid."""
        waiting = sorted((live[uuid] for uuid, names in self._waiting.items() if names and uuid in live), key=_by_path)
        for track in waiting:
            for identifier in sorted(self._waiting.get(track.uuid, ())):
                lost = self._lost[track.uuid, identifier]
                found = [(mention, self._target(track, mention)[0]) for mention in lost.open]
                links = {_ends(track.uuid, target.uuid, mention) for mention, target in found if target is not None}
                if links:
                    self._set_links(track.uuid, self._links.get(track.uuid, set()) | links, said(track))
                    lost.found = True
                    lost.open.clear()
                    self._waiting[track.uuid].discard(identifier)

    def end(self, track: Track, at: Instant) -> None:
        """Close whatever a deleted document says."""
        self._set_links(track.uuid, set(), Said(at, "", ""))
        self._set_lost(track, {}, Said(at, "", ""))

    def close(self, resolve: Resolve | None) -> tuple[list[Dangling], list[Ambiguous]]:
        """Ask ``resolve`` for what nobody bears; return what remains unknown."""
        dangling: list[Dangling] = []
        ambiguous: list[Ambiguous] = []
        for (uuid, identifier), lost in self._lost.items():
            if lost.found:
                continue
            if lost.candidates:
                ambiguous.append(Ambiguous(lost.document, identifier, lost.first, lost.candidates))
                continue
            target = resolve(identifier, lost.first) if resolve is not None else None
            if target is None:
                dangling.append(Dangling(lost.document, identifier, lost.first))
                continue
            spans = [*lost.closed, *((mention, said, None) for mention, said in lost.open.items())]
            for mention, said, until in spans:
                if target != uuid:
                    self._write(_ends(uuid, target, mention), said, until)
        return sorted(dangling, key=_place), sorted(ambiguous, key=_place)

    def _target(self, track: Track, mention: Mention) -> tuple[Track | None, str]:
        """Return (document, "") or (None, the identifier that means nothing, or several things); both empty: itself."""
        if mention.href:
            path = normpath(join(dirname(track.path), mention.href))
            linked = self._numbers.at_path(path)
            if linked is not None:
                return (linked, "") if linked is not track else (None, "")
        identifier = mention.identifier or in_file_name(mention.href)
        if not identifier:
            return None, ""
        bearers = self._numbers.find(identifier)
        others = [bearer for bearer in bearers if bearer is not track]
        itself = len(others) < len(bearers) and (not others or mention.kind == "REFERENCES")
        if itself:
            return None, ""
        nearest = _nearest(track.path, others)
        return (nearest, "") if nearest is not None else (None, identifier)

    def _set_links(self, uuid: str, links: set[Link], said: Said) -> None:
        before = self._links.get(uuid, set())
        for link in sorted(before - links):
            opened = self._open[link]
            opened.witnesses.discard(uuid)
            if not opened.witnesses:
                self._write(link, opened.said, said.at)
                del self._open[link]
        for link in sorted(links - before):
            self._open.setdefault(link, _Open(said, set())).witnesses.add(uuid)
        self._links[uuid] = links

    def _set_lost(self, track: Track, lost: dict[str, set[Mention]], said: Said) -> None:
        for identifier in self._waiting.get(track.uuid, set()) | lost.keys():
            mentions = lost.get(identifier, set())
            candidates = tuple(sorted(bearer.path for bearer in self._numbers.find(identifier)))
            entry = self._lost.setdefault((track.uuid, identifier), _Lost(track.path, said.at, candidates))
            for mention in [mention for mention in entry.open if mention not in mentions]:
                entry.closed.append((mention, entry.open.pop(mention), said.at))
            for mention in sorted(mentions - entry.open.keys()):
                entry.open[mention] = said
        self._waiting[track.uuid] = set(lost)

    def drain(self) -> list[Reference]:
        """Return what was not yet handed over: references that ended, and those that began and hold."""
        for link, opened in self._open.items():
            if not opened.told:
                opened.told = True
                self._write(link, opened.said, None)
        ready, self._ready = self._ready, []
        return ready

    def _write(self, link: Link, said: Said, until: Instant | None) -> None:
        source, target, kind = link
        self._ready.append(Reference(source, target, prism(kind), said.at, until, 2, said.provenance, said.commit))


def _nearest(path: str, bearers: Sequence[Track]) -> Track | None:
    """Return the bearer that lies nearest to a path, as each part of a repository may number its own records."""
    shared = [len(commonpath([f"/{dirname(path)}", f"/{dirname(bearer.path)}"])) for bearer in bearers]
    most = max(shared, default=0)
    return bearers[shared.index(most)] if shared.count(most) == 1 else None


def _by_path(track: Track) -> str:
    return track.path


def _ends(speaker: str, other: str, mention: Mention) -> Link:
    return (other, speaker, mention.kind) if mention.inverse else (speaker, other, mention.kind)


def _place(entry: Dangling | Ambiguous) -> tuple[Instant, str, str]:
    return entry.at, entry.document, entry.identifier
