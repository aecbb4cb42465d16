"""The world at an instant as plain triples: one computation for the maintained current graph and for every as-of.

An entity is in the view when one of its sealed states holds there. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pyoxigraph import Literal, NamedNode, Quad, Triple

from prism_rdf.belief import VALID_FROM, belief_at
from prism_rdf.canonical.entities import entities
from prism_rdf.clock import Instant
from prism_rdf.model import State
from prism_rdf.namespaces import RDF_TYPE, SKOS, Names
from prism_rdf.semantic.aliases import aliases_of
from prism_rdf.semantic.references import references
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.read import future_edges, sealed_at

ALT_LABEL = NamedNode(SKOS + "altLabel")
HIDDEN_LABEL = NamedNode(SKOS + "hiddenLabel")
Superclasses = Callable[[NamedNode], Iterable[NamedNode]]


def entity_view(
    store: GraphReader,
    names: Names,
    entity: NamedNode,
    at: Instant,
    superclasses: Superclasses,
    known_at: Instant | None = None,
) -> Iterator[Triple]:
    """Yield what is true of ``entity`` at ``at``, as believed at ``known_at`` (None: now); nothing when it is void.

    Its identity, its type with all superclasses, the properties of its sealed state, ``skos:altLabel`` for each alias
    that holds, ``skos:hiddenLabel`` for each former name, and a direct triple for each reference that holds.
    """
    state = sealed_at(store, names, entity, at, known_at)
    if state is None or state.void:
        return
    for quad in about(store, entity, names.graph("canonical")).quads:
        yield quad.triple
        if quad.predicate == RDF_TYPE and isinstance(quad.object, NamedNode):
            for parent in superclasses(quad.object):
                yield Triple(entity, RDF_TYPE, parent)
    for quad in store.quads_for_pattern(entity, None, None, NamedNode(state.iri)):
        yield quad.triple
    for alias in aliases_of(store, names, entity, known_at):
        begun = alias.valid_from is None or alias.valid_from <= at
        if begun:
            label = ALT_LABEL if alias.holds(at) else HIDDEN_LABEL
            yield Triple(entity, label, Literal(alias.surface_form))
    for reference in references(store, names, source=entity, known_at=known_at):
        if reference.holds(at):
            yield Triple(entity, reference.kind, reference.target)


def next_boundary(store: GraphReader, names: Names, entity: NamedNode, after: Instant) -> Instant | None:
    """Return the first instant after ``after`` at which the view of ``entity`` changes by time alone; None: never."""
    edges: list[Instant | None] = list(future_edges(store, names, entity, after))
    for alias in aliases_of(store, names, entity):
        edges += [alias.valid_from, alias.valid_until]
    for reference in references(store, names, source=entity):
        edges += [reference.valid_from, reference.valid_until]
    return min((edge for edge in edges if edge is not None and edge > after), default=None)


def world(
    store: GraphReader, names: Names, at: Instant, superclasses: Superclasses, known_at: Instant | None = None
) -> Iterator[Triple]:
    """Yield the view of every entity of a namespace at ``at``, as believed at ``known_at`` (None: now)."""
    for entity in entities(store, names):
        yield from entity_view(store, names, entity, at, superclasses, known_at)


def memories_at(store: GraphReader, names: Names, at: Instant, known_at: Instant | None = None) -> Iterator[Triple]:
    """Yield the memory graph as it was at ``at``: memories begun by then, an end that lies later left out."""
    graph = names.graph("memory")
    for quad in store.quads_for_pattern(None, RDF_TYPE, None, graph):
        if not isinstance(quad.subject, NamedNode):
            continue
        node = about(store, quad.subject, graph)
        begins = node.instant(VALID_FROM)
        if begins is None:
            yield from (q.triple for q in node.quads)
            continue
        belief = belief_at(store, node, graph, known_at)
        if belief is None or begins > at:
            continue
        until = belief.until(known_at)
        hidden = {"validUntil", "endRecordedAt"} if until is None or until > at else set()
        yield from (q.triple for q in node.quads if q.predicate.value.rsplit("#", 1)[-1] not in hidden)


def flag_of(state: State, at: Instant) -> str:
    """Return ``wip`` for a draft, ``current`` for a sealed state that covers ``at``, else ``historical``."""
    if state.commit_status == "wip":
        return "wip"
    begun = state.valid_from is None or state.valid_from <= at
    return "current" if begun and (state.valid_until is None or at < state.valid_until) else "historical"


def as_quads(triples: Iterable[Triple], graph: NamedNode) -> Iterator[Quad]:
    for triple in triples:
        yield Quad(triple.subject, triple.predicate, triple.object, graph)
