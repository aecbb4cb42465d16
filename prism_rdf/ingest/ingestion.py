"""A path into batches of intents with a report: opens the history, reads it, counts; writing is the caller's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.clock import Instant
from prism_rdf.errors import NotFoundError
from prism_rdf.ingest.history import Progress, open_history
from prism_rdf.ingest.keeping import Keeper, Kept, fits
from prism_rdf.ingest.mapping import OWN, Mapping, load
from prism_rdf.ingest.reading import Reading
from prism_rdf.ingest.references import Resolve
from prism_rdf.ingest.report import Ambiguous, Dangling, Failure, IngestReport, Proposal, Recognised
from prism_rdf.ingest.versions import may_hold_documents
from prism_rdf.model import Alias, Bookmark, Candidate, Event, Intent, Memory, NewEntity, Reference
from prism_rdf.namespaces import Names
from prism_rdf.review.candidates import candidate_node

BATCH = 2_000
READER = 4  # goes up when the same history comes to say something else: then it is read anew
_COUNTED = {Event: "states", Reference: "references", Alias: "aliases", Memory: "memories"}


@dataclass(frozen=True)
class Batch:
    """The intents of some commits, in order, with a bookmark as the last of them where there is a history."""

    intents: tuple[Intent, ...]
    done: int
    total: int


class Ingestion:
    """One reading of a path. Iterate ``batches`` to the end, then ask for ``report``.

    ``names`` is the project (or its id). A folder of a repository is read with the repository's history. ``ref`` names
    what to read in place of the checked-out branch. ``mapping`` is a file or the name of one that ships; by default
    ``.prism/ingest.toml`` of the folder, where there is one. ``resolve`` is asked for identifiers that no document
    ever bore, with the instant they were first said. Instants are valid time, intervals half-open.

    Raises NotFoundError (no such folder, no commit), NotARepository (a broken .git) and BadArgument (no branch is
    checked out and there are several; a bad mapping).
    """

    def __init__(
        self,
        path: Path,
        names: Names | str,
        *,
        ref: str | None = None,
        mapping: str = "",
        catalog: TypeCatalog | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self.path, self._resolve = path, resolve
        self.pid = names if isinstance(names, str) else names.namespace
        self._named = Names("urn:prism:any", self.pid)
        self._catalog = catalog or TypeCatalog.shipped()
        self._mapping = _mapping(path, mapping, self._catalog)
        self.history = open_history(path, ref, lambda name: may_hold_documents(name, self._mapping))
        self._reading: Reading | None = None
        self._sequence: dict[str, int] | None = None
        self._report = IngestReport()
        self._seen: Counter[str] = Counter()
        self._known: dict[type[Intent], set[object]] = {Reference: set(), Memory: set()}
        self._guessed: set[str] = set()
        self._scout: Reading | None = None
        self._last: tuple[str, Instant] | None = None
        self._end: bytes | None = None

    @property
    def source(self) -> str:
        """Return what names this source wherever it lies, so that a bookmark of it is found again."""
        return f"{self.history.origin}:{self.history.folder}"

    @property
    def digest(self) -> str:
        """Return what tells one mapping, and one way of reading, from another."""
        return f"{READER}:{self._mapping.digest}"

    def is_read(self, bookmark: Bookmark | None) -> bool:
        """Return whether a bookmark says that there is nothing new."""
        return bookmark is not None and bool(self.history.tip) and bookmark.commit == self.history.tip

    def goes_on(self, bookmark: Bookmark | None) -> bool:
        """Return whether the history still holds the commit that was read last."""
        return bookmark is not None and bookmark.commit in self._order()

    def batches(
        self,
        progress: Progress | None = None,
        after: Bookmark | None = None,
        size: int | None = None,
        kept: bytes | None = None,
        keep: bool = False,
    ) -> Iterator[Batch]:
        """Yield batches of about ``size`` intents (None: all at once), each of whole commits, oldest first.

        With ``after``, what was said up to its commit is left out: the batches are those of an uninterrupted reading.
        ``kept`` is what a reading knew at that commit or earlier (see ``known``): what came before is not read again.
        With ``keep``, ``known`` can be asked for after the last batch too.
        Raises NotFoundError when there is no document at all.
        """
        skipping = after.commit if after is not None and self.goes_on(after) else ""
        before = self._keeper.load(kept) if after is not None and skipping and kept else None
        if after is not None and not fits(before, after, self.history.line()):
            before = None
        wanted, late = self._within_folder(skipping, before) if self.history.folder else (None, False)
        reading = self._reading = Reading(self.history, self.pid, self._catalog, self._mapping, wanted)
        skipping, before = ("", None) if late else (skipping, before)
        start = self._go_on_from(reading, before) if before is not None else None
        at, total = [0, 0], 0

        def told(done: int, total: int, label: str) -> None:
            at[:] = [done, total]
            if progress is not None:
                progress(done, total, label)

        self._last = start
        last = start[0] if start else ""
        for snapshot in self.history.snapshots(told, start):
            if skipping and last and self._passes(skipping, last, snapshot.commit):
                self._count(reading.drain())
                skipping = ""
            reading.step(snapshot)
            last = snapshot.commit
            self._last = last, snapshot.at
            if size is not None and reading.pending >= size:
                if skipping:  # said by an earlier run
                    self._count(reading.drain())
                else:
                    yield self._batch(reading, last, at)
        if skipping:
            self._count(reading.drain())
        total = at[1]
        if keep and self._last is not None:
            self._end = self._keeper.dump(self._kept())
        dangling, ambiguous = reading.close(self._resolve)
        self._report = self._reported(reading, dangling, ambiguous)
        batch = self._batch(reading, self.history.tip, [total, total])
        if not self._report.documents and not self._report.failures:
            raise self._nothing(reading)
        yield batch
        self._report = self._reported(reading, dangling, ambiguous)

    @property
    def report(self) -> IngestReport:
        """Return the counts, and what was left out and why; complete once all batches were taken."""
        return self._report

    def known(self) -> bytes | None:
        """Return what is known after the batch that was yielded last, for another reading to go on from.

        None where there is no history, and within a folder of a repository until the end.
        """
        if self._end is not None or self.history.folder or self._last is None or not self.history.tip:
            return self._end
        return self._keeper.dump(self._kept())

    def dry_run(self, progress: Progress | None = None) -> dict[str, Any]:
        """Read everything and write nothing: ``{"dry_run": True, "recognised", "counts", "report"}``."""
        for _ in self.batches(progress, size=BATCH):
            pass
        found = self.recognised()
        return {
            "dry_run": True,
            "mapping": self._mapping.name,
            "counts": dict(sorted(Counter(each.type for each in found).items())),
            "recognised": [vars(each) for each in found],
            "report": self.report.as_dict(),
        }

    def recognised(self) -> list[Recognised]:
        """Return what each file of the last commit is taken for."""
        return list(self._reading.recognised()) if self._reading else []

    def _passes(self, skipping: str, last: str, commit: str) -> bool:
        order = self._order()
        return order[last] <= order[skipping] < order[commit]

    def _order(self) -> dict[str, int]:
        if self._sequence is None:
            self._sequence = {name: n for n, name in enumerate(self.history.line())}
        return self._sequence

    def _within_folder(self, after: str, before: Kept | None) -> tuple[list[str], bool]:
        """Return the documents that ever come into the folder, and whether one does that is older than ``after``.

        A document may come into the folder late, and its history began before.
        """
        scout = self._scout = Reading(self.history, self.pid, self._catalog, self._mapping, frozenset())
        if before is not None:
            scout.go_on_from(before.state["scout"])
        known: list[str] | None = None
        there: set[str] = set()
        for snapshot in self.history.snapshots(None, (before.commit, before.at) if before else None):
            if after and known is None and self._order()[snapshot.commit] > self._order()[after]:
                known, there = scout.within(self.history.folder), set(scout.tracks)
            scout.step(snapshot)
            scout.drain()
        self.history.damage.clear()
        wanted = scout.within(self.history.folder)
        return wanted, known is not None and bool(there.intersection(wanted) - set(known))

    @property
    def _keeper(self) -> Keeper:
        return Keeper(self._mapping, self._catalog)

    def _kept(self) -> Kept:
        assert self._reading is not None
        assert self._last is not None
        state: dict[str, Any] = {
            "reading": self._reading.known(),
            "scout": self._scout.known() if self._scout is not None else None,
            "seen": self._seen,
            "known": {kind.__name__: keys for kind, keys in self._known.items()},
            "guessed": self._guessed,
            "links": self.history.links,
            "damage": self.history.damage,
        }
        return Kept(*self._last, state)

    def _go_on_from(self, reading: Reading, before: Kept) -> tuple[str, Instant]:
        """Take up what was known at a commit; return the commit and its valid time."""
        reading.go_on_from(before.state["reading"])
        self._seen, self._guessed = before.state["seen"], before.state["guessed"]
        self._known = {kind: before.state["known"][kind.__name__] for kind in self._known}
        self.history.links.update(before.state["links"])
        self.history.damage += [each for each in before.state["damage"] if each not in self.history.damage]
        return before.commit, before.at

    def _batch(self, reading: Reading, commit: str, at: list[int]) -> Batch:
        intents = reading.drain()
        self._count(intents)
        marks: list[Intent] = []
        if commit:
            failures = len(reading.failures) + len(self.history.damage)
            counts = json.dumps({**self._seen, "versions": reading.versions, "failures": failures}, sort_keys=True)
            marks.append(Bookmark(self.source, self.digest, commit, counts))
        return Batch((*intents, *marks), at[0], at[1])

    def _count(self, intents: list[Intent]) -> None:
        for intent in intents:
            name = _COUNTED.get(type(intent))
            if isinstance(intent, NewEntity):
                self._seen["documents"] += 1
            elif isinstance(intent, Candidate):
                self._guessed.add(candidate_node(intent, self._named).value)
                self._seen["candidates"] = len(self._guessed)
            elif name and (not isinstance(intent, Reference | Memory) or intent.until is None or self._first(intent)):
                self._seen[name] += 1
                if isinstance(intent, Reference | Memory) and intent.until is None:
                    self._known[type(intent)].add(_key(intent))

    def _first(self, intent: Reference | Memory) -> bool:
        """Return whether an intent that ends was not counted when it began."""
        known = self._known[type(intent)]
        if (key := _key(intent)) in known:
            known.discard(key)
            return False
        return True

    def _reported(self, reading: Reading, dangling: list[Dangling], ambiguous: list[Ambiguous]) -> IngestReport:
        folder = self.history.folder
        lost = [Failure(d.path, d.commit, d.reason, d.rule, d.mend) for d in self.history.damage]
        failures = tuple(f for f in (*lost, *reading.failures) if not f.path or f.path.startswith(folder))
        documents = len(reading.within(folder))
        return IngestReport(
            documents=documents,
            versions=reading.versions,
            states=self._seen["states"],
            references=self._seen["references"],
            aliases=self._seen["aliases"],
            memories=self._seen["memories"],
            candidates=self._seen["candidates"],
            notes=tuple(self._notes(reading)),
            skipped=tuple(reading.skipped({failure.path for failure in failures})),
            dangling=tuple(entry for entry in dangling if entry.document.startswith(folder)),
            ambiguous=tuple(entry for entry in ambiguous if entry.document.startswith(folder)),
            duplicates=tuple(d for d in reading.numbers.duplicates if any(p.startswith(folder) for p in d.documents)),
            failures=failures,
        )

    def _notes(self, reading: Reading) -> Iterator[str]:
        yield from self.history.notes
        if reading.undated:
            some = ", ".join(sorted(reading.undated)[:3]) + (", …" if len(reading.undated) > 3 else "")
            yield (
                f"{len(reading.undated)} documents give no date that can be read (`date: 2026-11-30`);"
                f" each is dated by the time its file was last changed: {some}"
            )
        untitled = [f"{path} ({version})" if version else path for path, version in reading.untitled.items()]
        if untitled:
            some = ", ".join(untitled[:3]) + (f" and {len(untitled) - 3} more" if len(untitled) > 3 else "")
            yield f"without a title (`# ADR-7: Title`), in some version or in all: {some}"
        if reading.left_out:
            yield (f"{reading.left_out} references to or from documents outside of {self.history.folder} are left out")
        yield from reading.circular

    def _nothing(self, reading: Reading) -> NotFoundError:
        seen = sum(name.startswith(self.history.folder) for name in reading.files)
        return NotFoundError(
            f"{self.path} holds no decision record"
            + (f" among {seen} markdown files" if seen else ": no markdown file"),
            rule="a record is a markdown file with an ADR number in its name (ADR-012-title.md, 0012-title.md), in its"
            " first heading (# ADR-012: Title) or in its front matter (status and number)",
            mend="give the folder that holds the records, or number them",
        )


def read(
    path: Path,
    names: Names | str,
    *,
    ref: str | None = None,
    mapping: str = "",
    progress: Progress | None = None,
    resolve: Resolve | None = None,
    catalog: TypeCatalog | None = None,
) -> Proposal:
    """Return all that the documents of a git repository, or of a plain folder, say over time; write nothing.

    The same history gives the same proposal wherever it lies, and a longer history only adds to it and closes what was
    open. A bad file is a failure in the report, not an error. Arguments and errors are those of ``Ingestion``.
    """
    ingestion = Ingestion(Path(path), names, ref=ref, mapping=mapping, catalog=catalog, resolve=resolve)
    intents = [intent for batch in ingestion.batches(progress) for intent in batch.intents]
    return Proposal(tuple(intent for intent in intents if not isinstance(intent, Bookmark)), ingestion.report)


def _mapping(path: Path, given: str, catalog: TypeCatalog) -> Mapping:
    if given:
        return load(given, catalog)
    return load(str(path / OWN), catalog) if (path / OWN).is_file() else Mapping()


def _key(intent: Reference | Memory) -> object:
    if isinstance(intent, Memory):
        return intent.key, intent.start
    return intent.source, intent.target, intent.kind.value, intent.start, intent.provenance
