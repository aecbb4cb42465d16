"""Memories as recall reads them from the graph: a passage, its interval, what it is about; nothing is ranked here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import EARLIER_BELIEF, RECORDED_AT, VALID_FROM, belief_at
from prism_rdf.clock import Instant
from prism_rdf.namespaces import Names, prism
from prism_rdf.storage.about import About, about
from prism_rdf.storage.interface import GraphReader

CONTENT = prism("content")
HEADING = prism("heading")
ABOUT = prism("about")
MENTIONS = prism("mentions")
CREATED_AT = prism("createdAt")

# Kinds of memory that are part of a document: when their source stops saying so, their interval is ended.
FOLLOWED_KINDS = frozenset({"document", "section", "passage"})


@dataclass(frozen=True)
class KnownMemory:
    """A memory as believed at one system time; its source says it over [start, until), None is unknown or open."""

    iri: str
    content: str
    kind: str = "note"
    source: str = ""
    heading: str = ""
    about: tuple[str, ...] = ()
    start: Instant | None = None
    until: Instant | None = None

    @property
    def followed(self) -> bool:
        """Whether an open end means that the source still says so, and not only that nobody ever ended it."""
        return self.kind in FOLLOWED_KINDS

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
    said: Instant | None = None
    recorded: Instant | None = None


def read_memory(store: GraphReader, names: Names, iri: str, known_at: Instant | None = None) -> KnownMemory | None:
    """Return the memory as believed at ``known_at`` (None: now); None when there was no such memory."""
    graph = names.graph("memory")
    node = about(store, NamedNode(iri), graph)
    belief = belief_at(store, node, graph, known_at)
    if belief is None or node.term(CONTENT) is None:
        return None
    return KnownMemory(
        iri=iri,
        content=node.text(CONTENT),
        kind=node.text(prism("memoryKind"), "note"),
        source=node.text(prism("source")),
        heading=node.text(HEADING),
        about=tuple(sorted(entity.value for entity in node.iris(ABOUT))),
        start=node.instant(VALID_FROM) or node.instant(CREATED_AT),
        until=belief.until(known_at),
    )


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
    return Passage(
        iri=node.node.value,
        content=node.text(CONTENT),
        heading=node.text(HEADING),
        said=node.instant(VALID_FROM) or node.instant(CREATED_AT),
        recorded=min((*earlier, *((recorded,) if recorded else ())), default=None),
    )
