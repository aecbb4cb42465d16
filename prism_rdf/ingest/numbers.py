"""Who carries which number at a time, who carried it last, and where numbers collide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from prism_rdf.clock import Instant
from prism_rdf.ingest.identifiers import exact_key, loose_key
from prism_rdf.ingest.report import Duplicate
from prism_rdf.ingest.tracks import Track


class _Index:
    """Documents by identifier; ADR-7 finds ADR-0007 where there is no ADR-7."""

    def __init__(self) -> None:
        self._exact: defaultdict[str, list[Track]] = defaultdict(list)
        self._loose: defaultdict[str, list[Track]] = defaultdict(list)

    def add(self, identifier: str, track: Track) -> None:
        if identifier:
            self._exact[exact_key(identifier)].append(track)
            self._loose[loose_key(identifier)].append(track)

    def put(self, identifier: str, tracks: Sequence[Track]) -> None:
        if identifier:
            self._exact[exact_key(identifier)] = list(tracks)
            self._loose[loose_key(identifier)] = list(tracks)

    def find(self, identifier: str) -> list[Track]:
        return self._exact.get(exact_key(identifier)) or self._loose.get(loose_key(identifier)) or []


class Numbers:
    """The numbers of all documents at the moment last told of.

    A document whose number is only a matter of its file name yields it to one whose text says so; two whose texts say
    so both keep it. Collisions are collected in ``duplicates``.
    """

    def __init__(self) -> None:
        self.duplicates: list[Duplicate] = []
        self._reported: set[tuple[str, frozenset[str]]] = set()
        self._bearers, self._files = _Index(), _Index()
        self._last_bearers, self._last_files = _Index(), _Index()
        self._numbers: dict[str, tuple[Track, str, str]] = {}
        self._claims: dict[str, tuple[object, ...]] = {}
        self._paths: dict[str, Track] = {}

    def assign(self, live: Iterable[Track], at: Instant, commit: str = "") -> list[Track]:
        """Give each document that lives now its number, and remember who gave one up; return whose number changed."""
        before = {uuid: number for uuid, (_, number, _) in self._numbers.items()}
        claims: defaultdict[str, list[tuple[Track, str, bool]]] = defaultdict(list)
        numbers: dict[str, str] = {}
        tracks = sorted(live, key=lambda track: track.path)
        for track in tracks:
            number, strong = track.claim
            numbers[track.uuid] = number
            if number:
                claims[exact_key(number)].append((track, number, strong))
        for holders in claims.values():
            if len(holders) > 1:
                self._collide(holders, numbers, at, commit)
        self._remember(tracks, numbers)
        self._claims = {track.uuid: _claims_of(track) for track in tracks}
        return [track for track in tracks if before.get(track.uuid) != numbers[track.uuid]]

    def changed_by(self, track: Track) -> bool:
        """Return whether a new version of a document bears on what numbers and paths mean."""
        return self._claims.get(track.uuid) != _claims_of(track)

    def of(self, track: Track) -> str:
        """Return the number that a document carries since the last assignment; empty for none."""
        return self._numbers[track.uuid][1]

    def find(self, identifier: str) -> list[Track]:
        """Return who bears an identifier now: as a number, else in the file name; else who bore it last."""
        for index in (self._bearers, self._files, self._last_bearers, self._last_files):
            if found := index.find(identifier):
                return found
        return []

    def at_path(self, path: str) -> Track | None:
        """Return the document that lies at a path, or lay there last."""
        return self._paths.get(path)

    def _collide(
        self, holders: list[tuple[Track, str, bool]], numbers: dict[str, str], at: Instant, commit: str
    ) -> None:
        weak = [track for track, _, strong in holders if not strong]
        strong = [track for track, _, strong in holders if strong]
        if strong:
            numbers.update({track.uuid: "" for track in weak})
        _, number, _ = holders[0]
        seen = (exact_key(number), frozenset(track.uuid for track, _, _ in holders))
        if seen in self._reported:
            return
        self._reported.add(seen)
        outcome = "each carries it"
        if strong and weak:
            kept, lost = (", ".join(track.path for track in group) for group in (strong, weak))
            outcome = f"{kept} says so in its text and carries it; {lost} only in the file name, and carries none"
        paths = tuple(track.path for track, _, _ in holders)
        self.duplicates.append(Duplicate(number, paths, at, outcome, commit))

    def _remember(self, tracks: Sequence[Track], numbers: dict[str, str]) -> None:
        given_up: defaultdict[str, list[Track]] = defaultdict(list)
        left: defaultdict[str, list[Track]] = defaultdict(list)
        for uuid, (track, number, file_number) in self._numbers.items():
            if numbers.get(uuid) != number:
                given_up[number].append(track)
            if uuid not in numbers or track.file_number != file_number:
                left[file_number].append(track)
        for index, groups in ((self._last_bearers, given_up), (self._last_files, left)):
            for identifier, group in groups.items():
                index.put(identifier, group)
        self._bearers, self._files = _Index(), _Index()
        self._numbers = {}
        for track in tracks:
            self._bearers.add(numbers[track.uuid], track)
            self._files.add(track.file_number, track)
            self._numbers[track.uuid] = (track, numbers[track.uuid], track.file_number)
        self._paths.update({track.location: track for track in tracks})


def _claims_of(track: Track) -> tuple[object, ...]:
    return track.claim, track.file_number, track.location
