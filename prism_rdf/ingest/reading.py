"""A history of files into a proposal: follows each document from version to version and lets the chronicle write."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from prism_rdf.clock import Edge, Instant, start_of
from prism_rdf.errors import BadTime, NotFoundError
from prism_rdf.ingest.blocks import BlockReader
from prism_rdf.ingest.chronicle import Chronicle, Moment
from prism_rdf.ingest.documents import Document, Unreadable, is_record, parse
from prism_rdf.ingest.history import SHORT, History, Progress, Snapshot, open_history
from prism_rdf.ingest.identifiers import in_file_name, not_a_record
from prism_rdf.ingest.numbers import Numbers
from prism_rdf.ingest.references import ReferenceBook, Resolve, Said
from prism_rdf.ingest.report import Failure, IngestReport, Proposal, Skipped
from prism_rdf.ingest.tracks import Slot, Track, match, resurrected, slot_of
from prism_rdf.model import Alias, Event, Intent, Memory, Reference
from prism_rdf.namespaces import Names, derived_uuid
from prism_rdf.semantic.successors import in_order

_MAY_BE_MARKED = re.compile(
    rb"^(?:\xef\xbb\xbf)?(?:(?:#[ \t]+)?ADR[-\s]?\d|#[ \t]+\d+\.[ \t]|(?:id|number|adr)[ \t]*:)",
    re.IGNORECASE | re.MULTILINE,
)
_ISO_DATE = re.compile(r"-?\d{4,}-\d{2}-\d{2}")
_NO_MARK = "no mark of a decision record: no ADR number in its file name, first heading or front matter"


def read(
    path: Path,
    names: Names | str,
    *,
    ref: str | None = None,
    progress: Progress | None = None,
    resolve: Resolve | None = None,
) -> Proposal:
    """Return what the decision records of a git repository, or of a plain folder, say over time; write nothing.

    ``names`` is the project (or its id). A folder of a repository is read with the repository's history. ``ref``
    names what to read in place of the checked-out branch. ``progress`` is told (done, total, label). ``resolve`` is
    asked for identifiers that no document ever bore, with the instant they were first said, and answers an entity's
    uuid or None. Instants are valid time, intervals half-open. The same history gives the same proposal wherever it
    lies, and a longer history only adds to it and closes what was open.

    Raises NotFoundError (no such folder, no commit, no record), NotARepository (a broken .git) and BadArgument (no
    branch is checked out and there are several). A bad file is a failure in the report, not an error.
    """
    history = open_history(Path(path), ref)
    reading = _Reading(history, names if isinstance(names, str) else names.namespace)
    for snapshot in history.snapshots(progress):
        reading.step(snapshot)
    return reading.proposal(path, resolve)


class _Reading:
    def __init__(self, history: History, pid: str) -> None:
        self.history, self.pid = history, pid
        self.tracks: dict[str, Track] = {}
        self.live: dict[str, Track] = {}
        self.ended: dict[str, Track] = {}
        self.files: dict[str, str] = {}
        self.numbers = Numbers()
        self.book = ReferenceBook(self.numbers)
        self.chronicle = Chronicle()
        self.failures: list[Failure] = []
        self.versions = 0
        self.undated: set[str] = set()
        self._blocks = BlockReader()
        self._parsed: dict[str, Document | Unreadable] = {}

    def step(self, snapshot: Snapshot) -> None:
        """Take in one snapshot: first who is who, then what each document says now."""
        before = {
            path: slot_of(path, track.content, track.document)
            for path, track in self.live.items()
            if snapshot.files.get(path) != track.content
        }
        gone = any(path not in snapshot.files for path in before)
        after = {
            path: self._slot(path, content)
            for path, content in snapshot.files.items()
            if self.files.get(path) != content and self._worth_reading(path, content, gone)
        }
        self.files = dict(snapshot.files)
        moves = match(before, after, snapshot.similar)
        for path in moves.gone:
            self._retire(self.live.pop(path), snapshot)
        moving = [(self.live.pop(old), after[new]) for old, new in moves.continued.items()]
        versions = [self._move(track, slot, snapshot) for track, slot in moving]
        versions += [self._open(after[path], snapshot) for path in moves.new]
        touched = [track for track in versions if track is not None]
        self._tell(snapshot, sorted(touched, key=lambda track: track.path), bool(moves.gone))

    def _tell(self, snapshot: Snapshot, touched: list[Track], gone: bool) -> None:
        """Record what follows from new versions, and from numbers that changed hands."""
        self.versions += len(touched)
        affected = touched
        renumbered = gone or any(self.numbers.changed_by(track) for track in touched)
        if renumbered:
            affected = sorted(self.live.values(), key=lambda track: track.path)
            self.numbers.assign(affected, snapshot.at)
        for track in affected:
            self.chronicle.describe(track, self.numbers.of(track), self._moment(track, snapshot))
        for track in touched:
            moment = self._moment(track, snapshot)
            self.chronicle.remember(track, self.book.say(track, _said(moment)), moment)
        if renumbered:
            self.book.wait(affected, lambda track: _said(self._moment(track, snapshot)))

    def _move(self, track: Track, slot: Slot, snapshot: Snapshot) -> Track | None:
        track.location, track.content = slot.path, slot.content
        self.live[slot.path] = track
        return self._read(track, slot, snapshot)

    def _open(self, slot: Slot, snapshot: Snapshot) -> Track | None:
        document = self._document(slot.content)
        if isinstance(document, Unreadable):
            if in_file_name(slot.path):
                self._fail(slot.path, document, snapshot)
            return None
        if not is_record(document, slot.path):
            return None
        track = resurrected(self.ended.values(), slot)
        if track is None:
            first = (snapshot.commit,) if snapshot.commit else ()
            uuid = derived_uuid("document", self.pid, *self.history.identity, *first, slot.path)
            track = self.tracks[uuid] = Track(uuid, slot.path, slot.content, document, slot.path)
        else:
            del self.ended[track.uuid]
        return self._move(track, slot, snapshot)

    def _read(self, track: Track, slot: Slot, snapshot: Snapshot) -> Track | None:
        document = self._document(slot.content)
        if isinstance(document, Unreadable):
            self._fail(slot.path, document, snapshot)
            return None
        track.document, track.path, track.version = document, slot.path, snapshot.commit[:SHORT]
        track.homes.add(slot.path)
        return track

    def _retire(self, track: Track, snapshot: Snapshot) -> None:
        self.book.end(track, snapshot.at)
        self.chronicle.retire(track, self._moment(track, snapshot))
        self.ended[track.uuid] = track

    def _moment(self, track: Track, snapshot: Snapshot) -> Moment:
        source = f"{self.history.origin}:{track.path}"
        if snapshot.commit:
            return Moment(
                Edge(snapshot.at),
                source,
                f"{track.path}@{track.version}",
                f"{track.uuid}@{track.version}",
                snapshot.commit,
                snapshot.subject,
                snapshot.sequence,
            )
        changed = snapshot.modified[track.location]
        return Moment(self._dated(track) or Edge(changed), source, source, track.uuid, sequence=changed.micros)

    def _dated(self, track: Track) -> Edge | None:
        """Return the date that a document gives itself, as precisely as it does; None when it gives none."""
        said = track.document.date
        for text in (said, *_ISO_DATE.findall(said)[:1]):
            try:
                return start_of(text)
            except BadTime:
                continue
        self.undated.add(track.path)
        return None

    def _slot(self, path: str, content: str) -> Slot:
        document = self._document(content)
        return slot_of(path, content, None if isinstance(document, Unreadable) else document)

    def _worth_reading(self, path: str, content: str, gone: bool) -> bool:
        """Return whether a file that changed may be a record; ``gone``: it may also be one that lost its marks."""
        if path in self.live:
            return True
        if not_a_record(path):
            return False
        if gone or in_file_name(path, decides=True):
            return True
        try:
            return _MAY_BE_MARKED.search(self.history.content(content)) is not None
        except OSError:
            return False

    def _document(self, content: str) -> Document | Unreadable:
        if content not in self._parsed:
            try:
                self._parsed[content] = parse(self.history.content(content), self._blocks)
            except Unreadable as error:
                self._parsed[content] = error
            except OSError as error:
                self._parsed[content] = Unreadable(
                    f"the file cannot be read: {error.strerror or error}",
                    "each version of a document can be read",
                    "mend its permissions, or fetch what the clone lacks",
                )
        return self._parsed[content]

    def _fail(self, path: str, error: Unreadable, snapshot: Snapshot) -> None:
        self.failures.append(Failure(path, snapshot.commit, error.reason, error.rule, error.mend, error.line))

    def proposal(self, path: Path, resolve: Resolve | None) -> Proposal:
        """Return everything that was read, as far as it is about the folder that was asked for."""
        folder = self.history.folder
        wanted = {uuid: track for uuid, track in self.tracks.items() if any(p.startswith(folder) for p in track.homes)}
        lost = [
            Failure(name, "", why, "paths are UTF-8", "rename the file")
            for name, why in self.history.unreadable.items()
        ]
        failures = tuple(failure for failure in (*lost, *self.failures) if failure.path.startswith(folder))
        if not wanted and not failures:
            raise self._nothing(path)
        dangling, ambiguous = self.book.close(resolve)
        about = [_within(intent, wanted) if folder else intent for intent in self.chronicle.intents(wanted)]
        among = self._references(wanted)
        references, circular = in_order(among)
        report = IngestReport(
            documents=len(wanted),
            versions=self.versions,
            states=sum(isinstance(intent, Event) for intent in about),
            references=len(references),
            aliases=sum(isinstance(intent, Alias) for intent in about),
            memories=sum(isinstance(intent, Memory) for intent in about),
            notes=(*self._notes(len(self.book.references) - len(among)), *map(self._circular, circular)),
            skipped=self._skipped({failure.path for failure in failures}),
            dangling=tuple(entry for entry in dangling if entry.document.startswith(folder)),
            ambiguous=tuple(entry for entry in ambiguous if entry.document.startswith(folder)),
            duplicates=tuple(d for d in self.numbers.duplicates if any(p.startswith(folder) for p in d.documents)),
            failures=failures,
        )
        return Proposal((*about, *references), report)

    def _references(self, wanted: Mapping[str, Track]) -> list[Reference]:
        """Return the references between documents that are wanted; one that ``resolve`` found is wanted, too."""
        unwanted = self.tracks.keys() - wanted.keys()
        kept = [r for r in self.book.references if r.source not in unwanted and r.target not in unwanted]
        return sorted(kept, key=lambda r: (r.start or Instant(0), r.source, r.kind.value, r.target))

    def _notes(self, left_out: int) -> Iterator[str]:
        yield from self.history.notes
        if self.undated:
            yield (
                f"{len(self.undated)} documents give no date that can be read (`date: 2026-11-30`);"
                " each is dated by the time its file was last changed"
            )
        if left_out:
            yield f"{left_out} references to or from documents outside of {self.history.folder} are left out"

    def _circular(self, reference: Reference) -> str:
        ends = (reference.source, reference.target)
        source, target = (self.tracks[uuid].path if uuid in self.tracks else uuid for uuid in ends)
        return f"{source} supersedes {target}, which supersedes it: this reference is left out"

    def _skipped(self, failed: Collection[str]) -> tuple[Skipped, ...]:
        left = [path for path in sorted(self.files) if path not in self.live and path not in failed]
        return tuple(
            Skipped(path, not_a_record(path) or _NO_MARK) for path in left if path.startswith(self.history.folder)
        )

    def _nothing(self, path: Path) -> NotFoundError:
        seen = sum(name.startswith(self.history.folder) for name in self.files)
        return NotFoundError(
            f"{path} holds no decision record" + (f" among {seen} markdown files" if seen else ": no markdown file"),
            rule="a record is a markdown file with an ADR number in its name (ADR-012-title.md, 0012-title.md), in its"
            " first heading (# ADR-012: Title) or in its front matter (status and number)",
            mend="give the folder that holds the records, or number them",
        )


def _said(moment: Moment) -> Said:
    return Said(moment.at.instant, moment.passage, moment.commit)


def _within(intent: Intent, wanted: Mapping[str, Track]) -> Intent:
    """Return a memory without its mentions of documents that are left out; anything else as it is."""
    if not isinstance(intent, Memory):
        return intent
    kept = (m for m in intent.mentions if not m.startswith("entity:") or m.removeprefix("entity:") in wanted)
    return replace(intent, mentions=tuple(kept))
