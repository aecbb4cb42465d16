"""A history of files, commit by commit: follows each document from version to version and lets the chronicle write."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.clock import Edge, Instant, start_of
from prism_rdf.errors import BadTime
from prism_rdf.ingest.chronicle import Chronicle, Moment
from prism_rdf.ingest.history import SHORT, History, Snapshot
from prism_rdf.ingest.identifiers import in_file_name, not_a_record
from prism_rdf.ingest.kinds import kind_of, title_of
from prism_rdf.ingest.mapping import Mapping as Rules
from prism_rdf.ingest.numbers import Numbers
from prism_rdf.ingest.passages import Passage
from prism_rdf.ingest.prose_guesses import Guesses, without
from prism_rdf.ingest.references import ReferenceBook, Resolve, Said
from prism_rdf.ingest.report import Ambiguous, Dangling, Failure, Recognised, Skipped
from prism_rdf.ingest.texts import Unreadable
from prism_rdf.ingest.tracks import Slot, Track, match, resurrected, slot_of
from prism_rdf.ingest.values import values_of
from prism_rdf.ingest.versions import RECORD, Versions
from prism_rdf.model import Intent, Memory
from prism_rdf.namespaces import article, derived_uuid
from prism_rdf.semantic.successors import InOrder

_ISO_DATE = re.compile(r"-?\d{4,}-\d{2}-\d{2}")
_MEANT_AS_DATE = re.compile(r"-?\d{4,}(?:-\d+)*")
_MADE_OF = frozenset(("history", "pid", "catalog", "_wanted", "_versions"))
_NO_MARK = "no mark of a decision record: no ADR number in its file name, first heading or front matter"


class Reading:
    """The state of reading one history. ``wanted`` names the documents whose intents are asked for (None: all).

    When none is wanted, only which file is which document is followed.
    """

    def __init__(
        self, history: History, pid: str, catalog: TypeCatalog, rules: Rules, wanted: Collection[str] | None
    ) -> None:
        self.history, self.pid, self.catalog = history, pid, catalog
        self.tracks: dict[str, Track] = {}
        self.files: dict[str, str] = {}
        self.numbers = Numbers()
        self.book = ReferenceBook(self.numbers)
        self.guesses = Guesses(self.book)
        self.chronicle = Chronicle()
        self.failures: list[Failure] = []
        self.versions = 0
        self.undated: set[str] = set()
        self.untitled: dict[str, str] = {}
        self.left_out = 0
        self._wanted = wanted
        self._live: dict[str, Track] = {}
        self._ended: dict[str, Track] = {}
        self._versions = Versions(history, rules)
        self._digests: dict[str, dict[str, str]] = {}
        self._complained: set[tuple[str, str]] = set()
        self._whys: dict[str, str] = {}
        self._in_order = InOrder()

    def known(self) -> dict[str, Any]:
        """Return what this reading knows so far, but for what it was made of."""
        return {name: value for name, value in vars(self).items() if name not in _MADE_OF}

    def go_on_from(self, known: Mapping[str, Any]) -> None:
        """Take up what another reading of the same history knew."""
        vars(self).update(known)

    @property
    def pending(self) -> int:
        """Return about how many intents there are to hand over."""
        return self.chronicle.pending + self.book.pending + self.guesses.pending

    def step(self, snapshot: Snapshot) -> None:
        """Take in one snapshot: first who is who, then what each document says now."""
        changed = self._files(snapshot)
        before = {
            path: slot_of(path, track.content, track.document)
            for path in changed
            if (track := self._live.get(path)) is not None
        }
        gone = any(changed[path] is None for path in before)
        after = {
            path: self._slot(path, content)
            for path, content in changed.items()
            if content is not None and (path in self._live or self._versions.worth_reading(path, content, gone))
        }
        moves = match(before, after, snapshot.similar)
        for path in moves.gone:
            self._retire(self._live.pop(path), snapshot)
        self._whys = dict(moves.why)
        moving = [(self._live.pop(old), after[new]) for old, new in moves.continued.items()]
        versions = [self._move(track, slot, snapshot) for track, slot in moving]
        versions += [self._open(after[path], snapshot) for path in moves.new]
        touched = [track for track in versions if track is not None]
        if self._wanted is None or self._wanted:
            self._tell(snapshot, sorted(touched, key=lambda track: track.path), bool(moves.gone))

    def drain(self) -> list[Intent]:
        """Return the intents not yet handed over: documents with their events and memories, references, guesses."""
        wanted = self.tracks if self._wanted is None else self._wanted
        about = list(self.chronicle.drain(self.tracks, wanted))
        references, guesses = self.book.drain(), self.guesses.drain()
        if self._wanted is not None:
            unwanted = self.tracks.keys() - set(self._wanted)
            about = [_without(intent, unwanted) for intent in about]
            kept = [r for r in references if r.source not in unwanted and r.target not in unwanted]
            self.left_out += len(references) - len(kept)
            references, guesses = kept, without(guesses, unwanted)
        references.sort(key=lambda r: (r.start or Instant(0), r.source, r.kind.value, r.target))
        return [*about, *self._in_order.take(references), *guesses]

    @property
    def circular(self) -> list[str]:
        """Return what was left out, since a document would supersede what supersedes it, in words."""
        ends = [(each.source, each.target) for each in self._in_order.left_out]
        called = {uuid: track.path for uuid, track in self.tracks.items()}
        told = ((called.get(source, source), called.get(target, target)) for source, target in ends)
        return [f"{source} supersedes {target}, which supersedes it: this is left out" for source, target in told]

    def close(self, resolve: Resolve | None) -> tuple[list[Dangling], list[Ambiguous]]:
        """Ask ``resolve`` for what nobody bore; return what remains unknown.

        What it answers of this very source counts as unknown: it was not so when it was said.
        """

        def elsewhere(identifier: str, at: Instant) -> str | None:
            found = resolve(identifier, at) if resolve is not None else None
            return None if found in self.tracks else found

        return self.book.close(elsewhere)

    def within(self, folder: str) -> list[str]:
        """Return the documents that ever lay in a folder."""
        return [uuid for uuid, track in self.tracks.items() if any(home.startswith(folder) for home in track.homes)]

    def skipped(self, failed: Collection[str]) -> Iterator[Skipped]:
        """Yield the files of the last commit that are no document, and why."""
        links = {path: f"a symbolic link is not followed: {aim}" for path, aim in self.history.links.items()}
        for path in sorted({*self.files, *links}):
            left_out = path not in self._live and path not in failed
            if left_out and path.startswith(self.history.folder):
                yield Skipped(path, links.get(path) or not_a_record(path) or _NO_MARK)

    def recognised(self) -> list[Recognised]:
        """Return what each document of the last commit is taken for, and why."""
        found = []
        for path, track in sorted(self._live.items()):
            if path.startswith(self.history.folder):
                known = kind_of(track.document, track.path, self.catalog)
                number, title = self.numbers.of(track), track.document.title
                found.append(Recognised(path, track.type.name, number, title, known[1] if known else ""))
        return found

    def _files(self, snapshot: Snapshot) -> dict[str, str | None]:
        """Return what changed, a file of records as its records, and keep account of all files."""
        changed: dict[str, str | None] = {}
        for path, content in snapshot.changed.items():
            if self._versions.holds_records(path):
                changed.update(self._records(path, content, snapshot))
            else:
                changed[path] = content
        for path, content in changed.items():
            if content is None:
                self.files.pop(path, None)
            else:
                self.files[path] = content
        return changed

    def _records(self, path: str, content: str | None, snapshot: Snapshot) -> Mapping[str, str | None]:
        try:
            found = self._versions.records(path, content)
        except (Unreadable, OSError) as error:
            bad = error if isinstance(error, Unreadable) else Unreadable(str(error), "a file can be read", "mend it")
            self._fail(path, bad, snapshot)
            return {}
        self._versions.keep(path, found)
        digests = {name: blake2b(data, digest_size=16).hexdigest() for name, data in found.items()}
        before, self._digests[path] = self._digests.get(path, {}), digests
        changed: dict[str, str | None] = {f"{path}{RECORD}{name}": None for name in before if name not in digests}
        for name, digest in digests.items():
            if before.get(name) != digest:
                changed[f"{path}{RECORD}{name}"] = digest
                modified = snapshot.modified.get(path)
                if modified is not None and isinstance(snapshot.modified, dict):
                    snapshot.modified[f"{path}{RECORD}{name}"] = modified
        return changed

    def _tell(self, snapshot: Snapshot, touched: Sequence[Track], gone: bool) -> None:
        """Record what follows from new versions, and from numbers that changed hands."""
        self.versions += len(touched)
        affected = {track.uuid: track for track in touched}
        renumbered = gone or any(self.numbers.changed_by(track) for track in touched)
        if renumbered:
            affected |= {
                track.uuid: track for track in self.numbers.assign(self._live.values(), snapshot.at, snapshot.commit)
            }
        for track in sorted(affected.values(), key=lambda track: track.path):
            self._describe(track, snapshot)
        for track in touched:
            moment = self._moment(track, snapshot)
            self.book.say(track, _said(moment))
            self.guesses.say(track, moment)
            self.chronicle.remember(track, self._named_by(track), moment)
        if renumbered:
            live = {track.uuid: track for track in self._live.values()}
            self.book.wait(live, lambda track: _said(self._moment(track, snapshot)))
            self.guesses.wait(live, lambda track: self._moment(track, snapshot))

    def _named_by(self, track: Track) -> Callable[[Passage], list[str]]:
        return lambda passage: self.book.named_by(track, passage.mentions)

    def _describe(self, track: Track, snapshot: Snapshot) -> None:
        def odd(prop: str, text: str) -> None:
            reason = f"{prop} of {article(track.type.name)} cannot be {text[:80]!r}"
            rule, mend = f"{prop} has the datatype that the type declares", "write it in that form"
            self._complain(track, reason, Unreadable(reason, rule, mend), snapshot)

        values = values_of(track.document, self.numbers.of(track), track.path, track.type, odd)
        moment = self._moment(track, snapshot)
        for prop in self.chronicle.describe(track, values, moment, self._whys.get(track.location, "")):
            reason = f"{prop} of {article(track.type.name)} never changes, and this version changes it"
            mend = "put the first value back; the document keeps it here"
            self._complain(track, reason, Unreadable(reason, f"{prop} is immutable", mend), snapshot)

    def _complain(self, track: Track, reason: str, error: Unreadable, snapshot: Snapshot) -> None:
        """Report what is odd about a document once."""
        if (track.uuid, reason) not in self._complained:
            self._complained.add((track.uuid, reason))
            self._fail(track.path, error, snapshot)

    def _move(self, track: Track, slot: Slot, snapshot: Snapshot) -> Track | None:
        track.location, track.content = slot.path, slot.content
        self._live[slot.path] = track
        return self._read(track, slot, snapshot)

    def _open(self, slot: Slot, snapshot: Snapshot) -> Track | None:
        document = self._versions.document(slot.path, slot.content)
        if isinstance(document, Unreadable):
            if in_file_name(slot.path) or self._versions.rule(slot.path) is not None:
                self._fail(slot.path, document, snapshot)
            return None
        known = kind_of(document, slot.path, self.catalog)
        if known is None:
            return None
        back = resurrected(self._ended.values(), slot)
        if back is None:
            first = (snapshot.commit,) if snapshot.commit else ()
            uuid = derived_uuid("document", self.pid, *self.history.identity, *first, slot.path)
            track = self.tracks[uuid] = Track(uuid, known[0], slot.path, slot.content, document, slot.path)
            self.chronicle.introduce(track)
        else:
            track, self._whys[slot.path] = back
            del self._ended[track.uuid]
        return self._move(track, slot, snapshot)

    def _read(self, track: Track, slot: Slot, snapshot: Snapshot) -> Track | None:
        document = self._versions.document(slot.path, slot.content)
        if isinstance(document, Unreadable):
            self._fail(slot.path, document, snapshot)
            return None
        track.document, track.path, track.version = document, slot.path, snapshot.commit[:SHORT]
        track.homes.add(slot.path)
        if not title_of(document):
            self.untitled.setdefault(track.path, track.version)
        return track

    def _retire(self, track: Track, snapshot: Snapshot) -> None:
        self.book.end(track, snapshot.at)
        self.guesses.end(track, self._moment(track, snapshot))
        self.chronicle.retire(track, self._moment(track, snapshot))
        self._ended[track.uuid] = track

    def _moment(self, track: Track, snapshot: Snapshot) -> Moment:
        source = f"{self.history.origin}:{track.path}"
        if snapshot.commit:
            self._date_of(track, snapshot)
            passage = f"{track.path}@{track.version}"
            return Moment(Edge(snapshot.at), source, passage, snapshot.commit, snapshot.subject, snapshot.sequence)
        changed = snapshot.modified[track.location]
        return Moment(self._dated(track, snapshot) or Edge(changed), source, source, sequence=changed.micros)

    def _dated(self, track: Track, snapshot: Snapshot) -> Edge | None:
        """Return the date that a document gives itself, as precisely as it does; None when it gives none."""
        found = self._date_of(track, snapshot)
        if found is None:
            self.undated.add(track.path)
        return found

    def _date_of(self, track: Track, snapshot: Snapshot) -> Edge | None:
        """Return the date that a document gives itself; complain of what is meant as one and is none."""
        said = track.document.date
        for text in (said, *_ISO_DATE.findall(said)[:1]):
            try:
                return start_of(text)
            except BadTime as error:
                bad = error
        if _MEANT_AS_DATE.match(said):
            line = track.document.date_line
            self._complain(track, said, Unreadable(bad.message, bad.rule, bad.mend, line), snapshot)
        return None

    def _slot(self, path: str, content: str) -> Slot:
        document = self._versions.document(path, content)
        return slot_of(path, content, None if isinstance(document, Unreadable) else document)

    def _fail(self, path: str, error: Unreadable, snapshot: Snapshot) -> None:
        self.failures.append(Failure(path, snapshot.commit, error.reason, error.rule, error.mend, error.line))


def _said(moment: Moment) -> Said:
    return Said(moment.at.instant, moment.passage, moment.commit)


def _without(intent: Intent, unwanted: Collection[str]) -> Intent:
    """Return a memory without its mentions of documents that are left out; anything else as it is."""
    if not isinstance(intent, Memory):
        return intent
    kept = (m for m in intent.mentions if not m.startswith("entity:") or m.removeprefix("entity:") not in unwanted)
    return replace(intent, mentions=tuple(kept))
