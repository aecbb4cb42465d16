"""A migration from beginning to end: rows are understood, told in batches, and then refer to each other.

Artifacts come first, with their bodies; references once all artifacts are there; then known aliases and old memories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.clock import Instant
from prism_rdf.errors import UnknownEntity, ValidationError
from prism_rdf.ingest.blocks import BlockReader
from prism_rdf.ingest.mentioning import mentions_of
from prism_rdf.migrate.legacy import legacy_source, tell, was_dropped
from prism_rdf.migrate.mapping import MigrationMapping, Table
from prism_rdf.migrate.prose import Foreseen, Told, begun, guess, read, references_said, was_interrupted
from prism_rdf.migrate.report import BadRow, Example, MigrationReport, Unknown
from prism_rdf.migrate.said import Project, Said, aliases_by, name_of, references_by, said_by
from prism_rdf.migrate.spool import Spool
from prism_rdf.migrate.tables import Row, rows
from prism_rdf.migrate.telling import Place, describe, ends_of, links_of, read_body, refer, remember
from prism_rdf.migrate.understanding import (
    Artifact,
    BadValue,
    OldMemory,
    artifact_of,
    memory_of,
    mention_of,
    place,
)
from prism_rdf.model import Alias, Candidate, Event, Intent, Memory, NewEntity, Receipt, Reference
from prism_rdf.namespaces import Names, article, derived_uuid, local_name

BATCH = 300  # rows that are asked for, told and written at once
_EXAMPLES = 3  # of each type
_PROSE = BadRow("prose", 0, "", "", "", "")
_MOST_TOLD = 10_000

Progress = Callable[[int, int, str], None]
Group = tuple[BadRow, list[Intent]]  # what a row wants written; and what it is called, should that be refused
_Each = TypeVar("_Each")


@dataclass(frozen=True)
class Taken:
    """What a run came to: the receipt of its last commit, the numbers of all, and the report."""

    receipt: Receipt
    commits: tuple[int, ...]
    report: MigrationReport

    def as_dict(self) -> dict[str, Any]:
        return {
            "receipt": self.receipt.as_dict(),
            "commits": list(self.commits),
            "report": self.report.as_dict(),
        }


class Migration:
    """One run over a source. ``project`` is None where there is none yet; then nothing was ever said.

    ``taker`` is asked for when there is something to write; without it (a dry run) nothing is written. ``now`` dates
    what changed in tables that do not date their changes.
    """

    def __init__(
        self,
        source: str,
        mapping: MigrationMapping,
        pid: str,
        catalog: TypeCatalog,
        project: Project | None,
        taker: Callable[[], Project] | None,
        now: Instant,
    ) -> None:
        self.source, self.mapping, self.pid, self.catalog, self.now = source, mapping, pid, catalog, now
        self.report = MigrationReport()
        self._project, self._taker = project, taker
        self._receipt, self._commits = Receipt(None, None), list[int]()
        self._left_out: Counter[str] = Counter()
        self._dated: set[int] = set()
        self._bad_rows: set[BadRow] = set()
        self._unknown_names: set[Unknown] = set()
        self._elsewhere: dict[tuple[str, Instant], str | None] = {}
        self._blocks = BlockReader()
        self._foreseen = Foreseen(lambda name, at: [], catalog, project)
        self._unread = False  # whether there is prose that a run did not come to read

    def run(self, progress: Progress | None = None) -> Taken:
        """Take in all that is new. Raises NotFoundError, BadArgument, BadTime before anything is written."""
        told = progress or (lambda done, total, label: None)
        with Spool() as spool:
            self._foreseen = Foreseen(partial(self._meant, spool), self.catalog, self._project)
            self._understand(spool, told)
            self._unread = self._project is not None and was_interrupted(self._project, self.mapping.source)
            total, done = spool.count, 0
            for batch in _batches(spool.artifacts(), BATCH):
                self._write(self._described(spool, batch))
                done += len(batch)
                told(done, total, "artifacts")
            for batch in _batches(spool.artifacts(), BATCH):
                self._write(self._referring(spool, batch))
            self._write(self._aliases(spool))
            for passages in _batches(spool.fresh(), BATCH):
                self._write(self._guessed(spool, passages))
            if self._unread:
                self._write([(_PROSE, [read(self.mapping.source)])])
            for memories in _batches(spool.memories(), BATCH):
                self._write(self._remembered(spool, memories))
                done += len(memories)
                told(done, total, "memories")
        for each, count in sorted(self._left_out.items()):
            if count:
                kind, prop = each.split(" ")
                self.report.notes.append(f"{article(kind)} has no {prop}: left out of {count} rows")
        return Taken(self._receipt, tuple(self._commits), self.report)

    # -- understanding ------------------------------------------------------------------------------------------

    def _understand(self, spool: Spool, told: Progress) -> None:
        mapping = self.mapping
        alone = len(mapping.artifacts) + len(mapping.memories) + len(mapping.mentions) == 1
        for index, table in enumerate(mapping.artifacts):
            for row in self._readable(table, alone, told):
                self._keep_artifact(spool, index, table, row)
        skip = bool(mapping.memories) and self._project is not None and self._is_dropped()
        if skip:
            self.report.notes.append("the older memories were dropped here before, and are not brought back")
        for table in () if skip else mapping.memories:
            for row in self._readable(table, alone, told):
                memory = self._trying(table, row, partial(memory_of, row, table))
                if memory is not None and not spool.add_memory(memory):
                    self._bad(BadRow(table.name, row.number, memory.id, "id", "the id was there before", "drop one"))
        for table in () if skip else mapping.mentions:
            for row in self._readable(table, alone, told):
                found = self._trying(table, row, partial(mention_of, row, table))
                if found is not None:
                    spool.add_mention(*found, row.number)
            for number, lost in spool.lost_mentions():
                self._bad(BadRow(table.name, number, lost, "memory", f"there is no memory {lost}", "add its row"))

    def _readable(self, table: Table, alone: bool, told: Progress) -> Iterator[Row]:
        for row in rows(self.source, table, alone):
            self.report.rows += 1
            if self.report.rows % 1_000 == 0:
                told(self.report.rows, 0, f"reading {table.name}")
            if row.problem:
                self._bad(BadRow(table.name, row.number, "", "", row.problem, "mend the row in its source"))
            else:
                yield row

    def _trying(self, table: Table, row: Row, made: Callable[[], _Each]) -> _Each | None:
        try:
            return made()
        except BadValue as error:
            id_ = table.columns.get("id")
            named = str(row.values.get(id_.name, "")) if id_ is not None else ""
            self._bad(BadRow(table.name, row.number, named, error.column, error.reason, error.mend))
            return None

    def _keep_artifact(self, spool: Spool, index: int, table: Table, row: Row) -> None:
        made = partial(artifact_of, row, index, table, self.catalog, self._left_out)
        artifact = self._trying(table, row, made)
        if artifact is None:
            return
        if table.columns["updated_at"].name in row.values:
            self._dated.add(index)
        other = spool.add(artifact, self._uuid(artifact.table, artifact.id))
        if other is not None:
            reason = f"says something else than row {other.number}, of the same id and the same time"
            self._bad(self._called(artifact, "id", reason, "give each version of a row its updated_at"))
            return
        report = self.report
        report.types[artifact.type] = report.types.get(artifact.type, 0) + 1
        if report.types[artifact.type] <= _EXAMPLES:
            stood = artifact.stood.iso() if artifact.stood != artifact.created else ""
            identifier = next(iter(artifact.names), "")
            begins = artifact.created.iso()
            report.examples.append(Example(artifact.type, artifact.id, identifier, artifact.title, begins, stood))

    # -- telling ------------------------------------------------------------------------------------------------

    def _described(self, spool: Spool, batch: Sequence[Artifact]) -> list[Group]:
        places = {self._place(each).source: self._place(each).uuid for each in batch}
        known = said_by(self._project, places) if self._project is not None else {}
        groups: list[Group] = []
        for artifact in batch:
            where = self._place(artifact)
            said = known.setdefault(where.source, Said())
            kind = self.catalog.type(artifact.type)
            called = self._called(artifact, "", "", "")
            try:
                document = read_body(artifact, self._blocks)
            except BadValue as error:
                self._bad(self._called(artifact, error.column, error.reason, error.mend))
                document = None
            spool.keep_said(artifact, links_of(artifact, document))
            try:
                since, _ = where.when(artifact, said)
                passages = remember(artifact, document, where, said, partial(self._meant, spool, at=since))
                intents = [*describe(artifact, kind, where, said), *passages]
                fresh = [each for each in passages if isinstance(each, Memory) and each.until is None]
                for each in (*fresh, *(said.passages if self._unread else ())):
                    spool.keep_fresh(each, where.uuid)
                said.keep(passages)
                self._foreseen.note(where.uuid, artifact)
            except BadValue as error:
                self._bad(self._called(artifact, error.column, error.reason, error.mend))
                continue
            if intents:
                groups.append((called, intents))
        groups = _together(groups)
        if not self._unread and any(isinstance(each, Memory) for _, intents in groups for each in intents):
            self._unread = True
            groups.insert(0, (_PROSE, [begun(self.mapping.source)]))
        return groups

    def _referring(self, spool: Spool, batch: Sequence[Artifact]) -> list[Group]:
        places = {self._place(each).source: self._place(each).uuid for each in batch}
        known = said_by(self._project, places) if self._project is not None else {}
        refs = references_by(self._project, list(places)) if self._project is not None else {}
        groups: list[Group] = []
        for artifact in batch:
            where = self._place(artifact)
            said = known.setdefault(where.source, Said())
            if not said.references:
                said.references = list(refs.get(where.source, ()))
            if said.first_stood is None and self._taker is not None:
                continue  # it was refused
            wanted = self._wanted(spool, artifact, where.uuid)
            intents = refer(wanted, artifact, where, said)
            self._foreseen.links |= {ends_of(each) for each in said.references}
            groups += [(self._called(artifact, "", "", ""), [each]) for each in intents]
        return groups

    def _wanted(self, spool: Spool, artifact: Artifact, uuid: str) -> Mapping[tuple[str, str, str], Instant]:
        """Return the references that an artifact makes, with the instant since which both ends are there."""
        table = self.mapping.artifacts[artifact.table]
        found: dict[tuple[str, str, str], Instant] = {}
        for link in spool.said(artifact):
            by_id = spool.begin_of(artifact.table, link.text) if link in artifact.links else None
            begins = dict(spool.called(link.text))
            if by_id is not None:
                begins = {self._uuid(artifact.table, link.text): by_id}
            bearers = list(begins) or self._meant(spool, link.text, artifact.stood)
            others = [each for each in bearers if each != uuid]
            if len(others) != 1:
                if others or not bearers:
                    self._unknown(Unknown(table.name, artifact.id, link.text, len(others)))
                continue
            there = max(artifact.created, Instant(begins.get(others[0], artifact.created.micros)))
            ends = (others[0], uuid) if link.inverse else (uuid, others[0])
            found[(*ends, local_name(link.kind))] = there
        return found

    def _guessed(self, spool: Spool, passages: Sequence[Memory]) -> list[Group]:
        if self._taker is None or self._project is None:
            found = guess(passages, Names("urn:prism:any", self.pid), self._foreseen, self._foreseen.links)
        else:
            knowing = Told(self._project, partial(self._meant, spool))
            found = guess(passages, self._project.names, knowing, references_said(self._project, passages))
        return [(replace(_PROSE, id=each.source), candidates) for each, candidates in found]

    def _aliases(self, spool: Spool) -> list[Group]:
        groups: list[Group] = []
        for alias in self.mapping.aliases:
            bearers = self._meant(spool, alias.of, self.now)
            called = BadRow("alias", 0, alias.name, "of", "", "")
            if len(bearers) != 1:
                what = "nothing" if not bearers else f"{len(bearers)} entities"
                mend = "name one that a row or the project has"
                self._bad(BadRow("alias", 0, alias.name, "of", f"{what} is called {alias.of!r}", mend))
                continue
            source = f"migrate:{self.mapping.source}"
            made = Alias(bearers[0], alias.name, alias.kind, alias.tier, "", source, alias.start, alias.until)
            groups.append((called, [made]))
        if self._project is None or not groups:
            return groups
        known = aliases_by(self._project, f"migrate:{self.mapping.source}")  # so that a second run counts none
        return [each for each in groups if not any(isinstance(i, Alias) and name_of(i) in known for i in each[1])]

    def _remembered(self, spool: Spool, memories: Sequence[OldMemory]) -> list[Group]:
        def named(content: str, at: Instant) -> Sequence[str]:
            def one(name: str, at: Instant) -> str | None:
                found = self._meant(spool, name, at)
                return found[0] if len(found) == 1 else None

            return mentions_of(content, at, one)

        told = tell(self._project, self.mapping.source, memories, named)
        return [(BadRow("memories", memory.number, memory.id, "", "", ""), intents) for memory, intents in told]

    def _meant(self, spool: Spool, name: str, at: Instant) -> list[str]:
        """Return who bears a name: among the rows, else in the project."""
        found = [uuid for uuid, _ in spool.called(name)]
        if found or self._project is None or not name:
            return found
        key = (name, at)
        if key not in self._elsewhere:
            self._elsewhere[key] = self._project.bearer_uuid(name, at)
            if len(self._elsewhere) > _MOST_TOLD:
                self._elsewhere.clear()
                return self._meant(spool, name, at)
        known = self._elsewhere[key]
        return [known] if known is not None else []

    # -- writing ------------------------------------------------------------------------------------------------

    def _write(self, groups: Sequence[Group]) -> None:
        for part in self._allowed(groups) if self._taker is not None else (groups,):
            for _, intents in part:
                self._count(intents)

    def _allowed(self, groups: Sequence[Group]) -> Iterator[Sequence[Group]]:
        """Write the groups in one commit; where a rule forbids some, in as many as leave out only those."""
        if not groups:
            return
        assert self._taker is not None
        project = self._project = self._taker()
        try:
            receipt = project.write([each for _, intents in groups for each in intents], "migrate")
        except (ValidationError, UnknownEntity) as error:
            if len(groups) == 1:
                first = error.report[0] if isinstance(error, ValidationError) else error
                self._bad(replace(groups[0][0], reason=first.message, mend=first.mend))
                return
            half = len(groups) // 2
            for part in (groups[:half], groups[half:]):
                yield from self._allowed(part)
            return
        if receipt.commit is not None:
            self._receipt = receipt
            self._commits.append(receipt.commit)
        yield groups

    def _count(self, intents: Iterable[Intent]) -> None:
        report = self.report
        for each in intents:
            report.entities += isinstance(each, NewEntity)
            report.states += isinstance(each, Event)
            report.references += isinstance(each, Reference) and each.until is None
            report.aliases += isinstance(each, Alias)
            report.candidates += isinstance(each, Candidate)
            if isinstance(each, Memory) and each.until is None:
                report.legacy_memories += each.kind == "legacy"
                report.passages += each.kind == "passage"

    # -- names --------------------------------------------------------------------------------------------------

    def _uuid(self, table: int, id_: str) -> str:
        return derived_uuid("artifact", self.pid, self.mapping.source, self.mapping.artifacts[table].name, id_)

    def _place(self, artifact: Artifact) -> Place:
        table = self.mapping.artifacts[artifact.table]
        source = place(self.mapping.source, table.name, artifact.id)
        return Place(self._uuid(artifact.table, artifact.id), source, artifact.table in self._dated, self.now)

    def _called(self, artifact: Artifact, column: str, reason: str, mend: str) -> BadRow:
        table = self.mapping.artifacts[artifact.table]
        return BadRow(table.name, artifact.number, artifact.id, column, reason, mend)

    def _bad(self, row: BadRow) -> None:
        if row not in self._bad_rows and len(self._bad_rows) < _MOST_TOLD:
            self._bad_rows.add(row)
            self.report.bad_rows.append(row)

    def _unknown(self, unknown: Unknown) -> None:
        if unknown not in self._unknown_names and len(self._unknown_names) < _MOST_TOLD:
            self._unknown_names.add(unknown)
            self.report.unknown.append(unknown)

    def _is_dropped(self) -> bool:
        project: Any = self._project
        return was_dropped(project.bookmarks(legacy_source(self.mapping.source)))


def _together(groups: Iterable[Group]) -> list[Group]:
    """Return the groups with those of one entity as one: its versions make no sense without its beginning."""
    found: dict[tuple[str, str], Group] = {}
    for called, intents in groups:
        _, told = found.setdefault((called.table, called.id), (called, []))
        told += intents
    return list(found.values())


def _batches(found: Iterable[_Each], size: int) -> Iterator[list[_Each]]:
    rest = iter(found)
    while batch := list(islice(rest, size)):
        yield batch
