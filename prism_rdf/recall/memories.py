"""Memories as recall reads them from the graph: a passage, its interval, what it is about; nothing is ranked here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import (
    EARLIER_BELIEF,
    END_RECORDED_AT,
    RECORDED_AT,
    VALID_FROM,
    VALID_UNTIL,
    WITHDRAWN_AT,
    belief_at,
)
from prism_rdf.clock import Instant
from prism_rdf.namespaces import Names, prism
from prism_rdf.recall.order import FOLLOWED_KINDS, place_of, series_of, speaker_of
from prism_rdf.semantic.merges import preferred
from prism_rdf.storage.about import About, about
from prism_rdf.storage.interface import GraphReader

CONTENT = prism("content")
HEADING = prism("heading")
ABOUT = prism("about")
MENTIONS = prism("mentions")
SPEAKER = prism("speaker")
CREATED_AT = prism("createdAt")

_KIND = prism("memoryKind")
_SOURCE = prism("source")
_MOST_KEPT = 20_000
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_Key = tuple[str, Instant | None]
Times = tuple[Instant | None, Instant | None]


@dataclass(frozen=True)
class KnownMemory:
    """A memory as believed at one system time; its source says it over [start, until), None is unknown or open.

    What it is ``about`` are preferred entities: merges are followed.
    """

    iri: str
    content: str
    kind: str = "note"
    source: str = ""
    heading: str = ""
    speaker: str = ""
    about: tuple[str, ...] = ()
    start: Instant | None = None
    until: Instant | None = None

    @property
    def followed(self) -> bool:
        """Whether an open end means that the source still says so, and not only that nobody ever ended it."""
        return self.kind in FOLLOWED_KINDS

    @property
    def series(self) -> str:
        """What was said one after the other with it; see ``recall.order``."""
        return series_of(self.source, self.kind, self.speaker, self.start)

    @property
    def order(self) -> tuple[int, int]:
        """What is said later compares greater: by when it was said, then by its place in its source."""
        return self.start.micros if self.start is not None else -(2**63), place_of(self.source)

    @property
    def subject(self) -> str:
        """What two versions of one passage have in common; empty when nothing tells."""
        place = "" if self.kind == "document" else self.heading
        what = self.about[0] if self.about else self.source.partition("@")[0]
        return f"{what}\n{place}" if what else ""

    def said_by(self, at: Instant) -> bool:
        return self.start is None or self.start <= at

    def ended_by(self, at: Instant) -> bool:
        return self.until is not None and self.until <= at


@dataclass(frozen=True)
class Passage:
    """What a search index needs of a memory: its text, since when it is said, when it was first recorded."""

    iri: str
    content: str
    heading: str = ""
    source: str = ""
    said: Instant | None = None
    recorded: Instant | None = None
    kind: str = "note"
    speaker: str = ""

    @property
    def series(self) -> str:
        """What was said one after the other with it; see ``recall.order``."""
        return series_of(self.source, self.kind, self.speaker, self.said)

    @property
    def place(self) -> int:
        return place_of(self.source)

    @property
    def day(self) -> str:
        """The day on which it was said, as in 2025-03-01; empty for a part of a document, which says it for long."""
        return self.said.iso()[:10] if self.said is not None and self.kind not in FOLLOWED_KINDS else ""

    @property
    def day_in_words(self) -> str:
        """The day with its month's name, as a question says it."""
        if not self.day:
            return ""
        year, month, _ = self.day.rsplit("-", 2)
        return f"{self.day} {MONTHS[int(month) - 1]} {year}"


class MemoryReader:
    """Reads memories of one namespace, piece by piece, since a text costs more than all the rest; keeps what it read.

    What was read holds for one commit: ``at_commit`` forgets it when there is a newer one. Threads may share it.
    """

    def __init__(self, store: GraphReader, names: Names) -> None:
        self._store = store
        self._names = names
        self._graph = names.graph("memory")
        self._commit = -1
        self._times: dict[_Key, Times | None] = {}
        self._memories: dict[_Key, KnownMemory] = {}

    def at_commit(self, number: int) -> None:
        """Answer as of this commit from now on."""
        if number != self._commit:
            self._times, self._memories, self._commit = {}, {}, number

    def times(self, iri: str, known_at: Instant | None = None) -> Times | None:
        """Return [start, until) as believed at ``known_at`` (None: now); None when there was no such memory."""
        key = (iri, known_at)
        known = self._times
        if key in known:
            return known[key]
        if len(known) >= _MOST_KEPT:
            self._times = {}
        found = self._times[key] = self._read_times(NamedNode(iri), known_at)
        return found

    def memory(self, iri: str, known_at: Instant | None = None) -> KnownMemory | None:
        """Return the memory without its content; None when it was not believed at ``known_at`` (None: now)."""
        key = (iri, known_at)
        found = self._memories.get(key)
        if found is not None:
            return found
        if len(self._memories) >= _MOST_KEPT:
            self._memories = {}
        node = about(self._store, NamedNode(iri), self._graph)  # one look at all costs less than ten at the pieces
        times = self._times[key] = self._times_of(node, known_at)
        if times is None:
            return None
        kind = node.text(_KIND, "note")
        found = self._memories[key] = KnownMemory(
            iri=iri,
            content="",
            kind=kind,
            source=node.text(_SOURCE),
            heading=node.text(HEADING),
            speaker=node.text(SPEAKER) or speaker_of("", node.text(CONTENT), kind),
            about=tuple(sorted({self._meant(entity, known_at) for entity in node.iris(ABOUT)})),
            start=times[0],
            until=times[1],
        )
        return found

    def _meant(self, entity: NamedNode, known_at: Instant | None) -> str:
        return preferred(self._store, self._names, entity, known_at).value

    def content(self, iri: str) -> str:
        """Return the whole text of a memory."""
        return self._pieces(NamedNode(iri), CONTENT).text(CONTENT)

    def _read_times(self, node: NamedNode, known_at: Instant | None) -> Times | None:
        wanted = (RECORDED_AT, VALID_FROM, VALID_UNTIL, END_RECORDED_AT, WITHDRAWN_AT, CREATED_AT)
        more = (EARLIER_BELIEF,) if known_at else ()
        return self._times_of(self._pieces(node, *wanted, *more), known_at)

    def _times_of(self, found: About, known_at: Instant | None) -> Times | None:
        belief = belief_at(self._store, found, self._graph, known_at)
        if belief is None:
            return None
        return found.instant(VALID_FROM) or found.instant(CREATED_AT), belief.until(known_at)

    def _pieces(self, node: NamedNode, *predicates: NamedNode) -> About:
        quads = (self._store.quads_for_pattern(node, predicate, None, self._graph) for predicate in predicates)
        return About(node, tuple(chain.from_iterable(quads)))


def all_passages(store: GraphReader, names: Names) -> Iterator[Passage]:
    """Yield every memory that was ever recorded, also those no longer believed: what an index is rebuilt from."""
    graph = names.graph("memory")
    for quad in store.quads_for_pattern(None, CONTENT, None, graph):
        if isinstance(quad.subject, NamedNode):
            node = about(store, quad.subject, graph)
            earlier = (about(store, belief, graph).instant(RECORDED_AT) for belief in node.iris(EARLIER_BELIEF))
            yield _passage(node, tuple(at for at in earlier if at is not None))


def added_passages(quads: Iterable[Quad], graph: NamedNode) -> Iterator[Passage]:
    """Yield the memories that a commit brought, read from its quads alone."""
    found: dict[NamedNode, list[Quad]] = {}
    told: set[NamedNode] = set()
    for quad in quads:
        if quad.graph_name == graph and isinstance(quad.subject, NamedNode):
            found.setdefault(quad.subject, []).append(quad)
            if quad.predicate == CONTENT:
                told.add(quad.subject)
    for subject in found:
        if subject in told:
            yield _passage(About(subject, tuple(found[subject])))


def removed_memories(quads: Iterable[Quad], graph: NamedNode) -> Iterator[str]:
    """Yield the IRIs of the memories whose content a commit took away."""
    for quad in quads:
        if quad.graph_name == graph and quad.predicate == CONTENT and isinstance(quad.object, Literal):
            yield str(getattr(quad.subject, "value", ""))


def _passage(node: About, earlier: tuple[Instant, ...] = ()) -> Passage:
    recorded = node.instant(RECORDED_AT)
    kind, content = node.text(_KIND, "note"), node.text(CONTENT)
    return Passage(
        iri=node.node.value,
        content=content,
        kind=kind,
        speaker=speaker_of(node.text(SPEAKER), content, kind),
        heading=node.text(HEADING),
        source=node.text(_SOURCE),
        said=node.instant(VALID_FROM) or node.instant(CREATED_AT),
        recorded=min((*earlier, *((recorded,) if recorded else ())), default=None),
    )
