"""A source taken into a project, batch by batch: each batch is one commit, and the next run goes on after the last.

What the batches say is decided by the history alone, so a run that was stopped anywhere leaves what the first batches
of an unbroken one would have left.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pyoxigraph import NamedNode

from prism_rdf.errors import UnknownEntity, ValidationError
from prism_rdf.evidence.memories import memory_node
from prism_rdf.ingest.history import Progress
from prism_rdf.ingest.ingestion import BATCH, Ingestion
from prism_rdf.ingest.keeping import Shelf
from prism_rdf.ingest.report import IngestReport, Refused
from prism_rdf.model import Alias, Bookmark, Candidate, Event, Intent, Memory, NewEntity, Receipt, Reference, Withdrawal
from prism_rdf.namespaces import Names, local_name
from prism_rdf.review.candidates import clue_node
from prism_rdf.semantic.aliases import alias_node
from prism_rdf.semantic.references import reference_node

MOST_NOTES = 10
_SELDOM, _SHARE = 10.0, 25.0  # seconds of work between two keepings, and how many times what one takes
Written = Callable[[int, float], None]


class Taker(Protocol):
    """A project that takes intents, and knows how far a source was read and what it said."""

    @property
    def names(self) -> Names: ...

    @property
    def prism(self) -> Any: ...

    def write(self, intents: Iterable[Intent], verb: str = ..., idempotency_key: str = ...) -> Receipt: ...

    def bookmarks(self, source: str) -> Sequence[Bookmark]: ...

    def said_by(self, source: str) -> Sequence[tuple[str, str]]: ...


@dataclass(frozen=True)
class Outcome:
    """What a run came to: the receipt of its last commit, the numbers of all, and the report."""

    receipt: Receipt
    commits: tuple[int, ...]
    report: IngestReport
    intents: tuple[Intent, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {"receipt": self.receipt.as_dict(), "commits": list(self.commits), "report": self.report.as_dict()}


def take_in(
    ingestion: Ingestion,
    known: Taker | None,
    taker: Callable[[], Taker],
    *,
    again: bool = False,
    progress: Progress | None = None,
    written: Written | None = None,
) -> Outcome:
    """Read a source and write what is new of it; ``taker`` is asked for only once there is something to write.

    ``known`` is the project if it is there already. With ``again``, or when the history no longer holds the commit
    that was read last, or another mapping was used, all of it is read anew, and what it no longer says is withdrawn.
    """
    marks = tuple(known.bookmarks(ingestion.source)) if known is not None and ingestion.history.tip else ()
    mark = next((each for each in marks if each.mapping == ingestion.digest), None)
    if mark is not None and not again and ingestion.is_read(mark):
        return Outcome(Receipt(None, None), (), _told_before(mark, ingestion))
    goes_on = ingestion.goes_on(mark) and not again
    stale = bool(marks) and not goes_on
    run = _Run(taker, stale, written)
    size = BATCH if ingestion.history.tip else None
    shelf = _shelf(known) if goes_on and known is not None else None
    kept = shelf.read(ingestion.source, ingestion.digest) if shelf is not None else None
    for batch in ingestion.batches(progress, mark if goes_on else None, size, kept, keep=True):
        run.write(batch.intents)
        run.keep(ingestion)
    run.keep(ingestion, last=True)
    if stale:
        run.withdraw(ingestion.source)
    report = replace(ingestion.report, refused=tuple(run.refused))
    if stale and not again:
        why = (
            "it was read by another mapping, or another release, before"
            if mark is None
            else f"the history no longer holds commit {mark.commit[:12]}, up to which it was read before"
        )
        report = replace(report, notes=(*report.notes, f"{why}: all of it was read anew"))
    return Outcome(run.receipt, tuple(run.commits), report, run.last)


class _Run:
    def __init__(self, taker: Callable[[], Taker], collect: bool, written: Written | None) -> None:
        self._taker, self._collect, self._written = taker, collect, written
        self.receipt = Receipt(None, None)
        self.commits: list[int] = []
        self.last: tuple[Intent, ...] = ()
        self.refused: list[Refused] = []
        self._said: set[str] = set()
        self._count, self._began = 0, time.monotonic()
        self._kept_at, self._keeping = time.process_time(), 0.0

    def write(self, intents: Sequence[Intent]) -> None:
        if not intents:
            return
        taker = self._taker()
        self.last = tuple(intents)
        for receipt in self._allowed(taker, list(intents)):
            notes = tuple(dict.fromkeys((*self.receipt.notes, *receipt.notes)))[:MOST_NOTES]
            if receipt.commit is not None:
                self.commits.append(receipt.commit)
                self.receipt = receipt
            self.receipt = replace(self.receipt, notes=notes)
        if self._collect:
            self._said |= {node for intent in intents for node in _nodes(intent, taker.names)}
        self._count += len(intents)
        if self._written is not None:
            self._written(self._count, time.monotonic() - self._began)

    def keep(self, ingestion: Ingestion, *, last: bool = False) -> None:
        """Keep what the reading knows, in the end and as often as costs little of the time that it saves."""
        now = time.process_time()
        if not ingestion.history.tip or not (last or now - self._kept_at > max(_SELDOM, _SHARE * self._keeping)):
            return
        shelf = _shelf(self._taker()) if self._count else None
        data = ingestion.known() if shelf is not None else None
        if shelf is not None and data is not None:
            shelf.put(ingestion.source, ingestion.digest, data)
        self._kept_at = time.process_time()
        self._keeping = self._kept_at - now

    def _allowed(self, taker: Taker, intents: list[Intent]) -> Iterator[Receipt]:
        """Write the intents in one commit; where a rule forbids some, in as many as leave out only those."""
        try:
            yield taker.write(intents, "ingest")
        except (ValidationError, UnknownEntity) as error:  # what is about one that was left out cannot be either
            groups = _groups(intents)
            if len(groups) < 2:
                first = error.report[0] if isinstance(error, ValidationError) else error
                self.refused.append(Refused(_what(intents[0]), first.message, first.mend))
                return
            half = len(groups) // 2
            for part in (groups[:half], groups[half:]):
                yield from self._allowed(taker, [intent for group in part for intent in group])

    def withdraw(self, source: str) -> None:
        """End the belief in what the source said once and does not say any more."""
        gone = [(node, entity) for node, entity in self._taker().said_by(source) if node not in self._said]
        names = self._taker().names
        self.write([Withdrawal(NamedNode(node), names.uuid_of(entity)) for node, entity in gone])


def _shelf(taker: Taker) -> Shelf | None:
    """Return where readings of a project are kept; None for a store that is in memory."""
    folder = taker.prism.folder
    return Shelf(folder, taker.names.namespace) if folder is not None else None


def _groups(intents: Iterable[Intent]) -> list[list[Intent]]:
    """Return the intents in groups that make sense alone: an entity with its events, or one of anything else.

    The bookmark stays last, so that a run that is stopped in between reads the batch again.
    """
    entities: dict[str, list[Intent]] = {}
    others: list[list[Intent]] = []
    for intent in intents:
        if isinstance(intent, NewEntity | Event):
            entities.setdefault(intent.uuid if isinstance(intent, NewEntity) else intent.entity, []).append(intent)
        else:
            others.append([intent])
    return [*entities.values(), *others]


def _what(intent: Intent) -> str:
    if isinstance(intent, Reference):
        return f"a reference {local_name(intent.kind.value)} in {intent.provenance}"
    if isinstance(intent, Event):
        return f"{intent.event_type} in {intent.source}"
    if isinstance(intent, Candidate):
        return f"a guess in {intent.clue.source}"
    return getattr(intent, "source", "") or type(intent).__name__


def _nodes(intent: Intent, names: Names) -> Iterable[str]:
    if isinstance(intent, Event):
        yield names.event(intent.uuid).value
    elif isinstance(intent, Alias):
        yield alias_node(intent, names).value
    elif isinstance(intent, Memory):
        yield memory_node(intent, names).value
    elif isinstance(intent, Reference):
        yield reference_node(intent, names).value
    elif isinstance(intent, Candidate):
        yield clue_node(intent, names).value
    elif isinstance(intent, NewEntity):
        yield names.entity(intent.uuid).value


def _told_before(mark: Bookmark, ingestion: Ingestion) -> IngestReport:
    counts = json.loads(mark.counts)
    known = {
        name: counts.get(name, 0)
        for name in ("documents", "versions", "states", "references", "aliases", "memories", "candidates")
    }
    note = f"nothing new since commit {mark.commit[:12]}; read it --again to see what was left out and why"
    return IngestReport(**known, failed_before=counts.get("failures", 0), notes=(*ingestion.history.notes, note))
