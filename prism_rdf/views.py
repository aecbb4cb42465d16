"""The view of one entity at an instant as plain triples, for the current graph and every as-of; all at once: world.py.

An entity is in the view when one of its sealed states holds there. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from pyoxigraph import Literal, NamedNode, Quad, Triple

from prism_rdf.belief import END_RECORDED_AT, VALID_FROM, VALID_UNTIL, belief_at
from prism_rdf.clock import Instant
from prism_rdf.evidence.claims import EVIDENCE
from prism_rdf.model import State
from prism_rdf.namespaces import RDF_TYPE, SKOS, Names
from prism_rdf.semantic.aliases import aliases_of
from prism_rdf.semantic.merges import INTO, chain_from, members
from prism_rdf.semantic.references import references
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.drafts import DRAFT_OF, WIP
from prism_rdf.temporal.read import future_edges, sealed_at, state_at, whole_snapshot
from prism_rdf.temporal.states import COMMIT_STATUS

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
    identifying: Collection[NamedNode] = (),
    *,
    prefer_wip: bool = False,
) -> Iterator[Triple]:
    """Yield what is true of ``entity`` at ``at``, as believed at ``known_at`` (None: now); nothing when it is void.

    Its identity, its type with all superclasses, the properties of its sealed state, ``skos:altLabel`` for each alias
    that holds, ``skos:hiddenLabel`` for each former name, a direct triple for each reference that holds, and what
    merges make of it; ``identifying`` are the properties that name an entity. With ``prefer_wip`` what a draft says
    that holds then is laid over the sealed state in which it was begun, and ``prism:commitStatus`` says that it is one.
    """
    state = state_at(store, names, entity, at, known_at, prefer_wip=prefer_wip)
    if state is None or state.void:
        return
    for quad in about(store, entity, names.graph("canonical")).quads:
        yield quad.triple
        if quad.predicate == RDF_TYPE and isinstance(quad.object, NamedNode):
            for parent in superclasses(quad.object):
                yield Triple(entity, RDF_TYPE, parent)
    if state.commit_status == "wip":
        yield Triple(entity, COMMIT_STATUS, WIP)
        for prop, values in whole_snapshot(store, names, state, known_at).items():
            yield from (Triple(entity, prop, value) for value in values)
    else:
        yield from (quad.triple for quad in store.quads_for_pattern(entity, None, None, NamedNode(state.iri)))
    for label, form in _labels(store, names, entity, at, known_at):
        yield Triple(entity, label, form)
    for reference in references(store, names, source=entity, known_at=known_at):
        if reference.holds(at):
            yield Triple(entity, reference.kind, reference.target)
    yield from merge_view(store, names, entity, at, known_at, identifying)


def drafted_entities(store: GraphReader, names: Names) -> tuple[NamedNode, ...]:
    """Return the entities that ever had a draft."""
    found = store.quads_for_pattern(None, DRAFT_OF, None, names.graph("temporal"))
    return tuple(dict.fromkeys(quad.object for quad in found if isinstance(quad.object, NamedNode)))


def _labels(
    store: GraphReader, names: Names, entity: NamedNode, at: Instant, known_at: Instant | None
) -> Iterator[tuple[NamedNode, Literal]]:
    for alias in aliases_of(store, names, entity, known_at):
        if alias.valid_from is None or alias.valid_from <= at:
            yield ALT_LABEL if alias.holds(at) else HIDDEN_LABEL, Literal(alias.surface_form)


def merge_view(
    store: GraphReader,
    names: Names,
    entity: NamedNode,
    at: Instant,
    known_at: Instant | None,
    identifying: Collection[NamedNode],
) -> Iterator[Triple]:
    """Yield to which entity a merged one leads, and of a preferred one the names of those that are merged into it."""
    chain = chain_from(store, names, entity, known_at)
    if chain:
        yield Triple(entity, INTO, chain[-1].into)
        return
    for member in members(store, names, entity, known_at)[1:]:
        state = sealed_at(store, names, member, at, known_at)
        if state is not None:
            for quad in store.quads_for_pattern(member, None, None, NamedNode(state.iri)):
                if quad.predicate in identifying:
                    yield Triple(entity, ALT_LABEL, quad.object)
        for label, form in _labels(store, names, member, at, known_at):
            yield Triple(entity, label, form)


def next_boundary(store: GraphReader, names: Names, entity: NamedNode, after: Instant) -> Instant | None:
    """Return the first instant after ``after`` at which the view of ``entity`` changes by time alone; None: never."""
    edges: list[Instant | None] = []
    for member in members(store, names, entity):
        edges += future_edges(store, names, member, after)
        for alias in aliases_of(store, names, member):
            edges += [alias.valid_from, alias.valid_until]
    for reference in references(store, names, source=entity):
        edges += [reference.valid_from, reference.valid_until]
    return min((edge for edge in edges if edge is not None and edge > after), default=None)


def told_of(
    store: GraphReader, graph: NamedNode, node: NamedNode, at: Instant, known_at: Instant | None = None
) -> Iterator[Triple]:
    """Yield what ``graph`` said about a memory, a concept or evidence at ``at``; nothing before it begins."""
    told = about(store, node, graph)
    begins = told.instant(VALID_FROM)
    if begins is None and EVIDENCE not in told.terms(RDF_TYPE):
        yield from (quad.triple for quad in told.quads)
        return
    belief = belief_at(store, told, graph, known_at)
    if belief is None or (begins is not None and begins > at):
        return
    until = belief.until(known_at)
    hidden = {VALID_UNTIL, END_RECORDED_AT} if until is None or until > at else set()
    yield from (quad.triple for quad in told.quads if quad.predicate not in hidden)


def flag_of(state: State, at: Instant) -> str:
    """Return ``wip`` for a draft, ``current`` for a sealed state that covers ``at``, else ``historical``."""
    if state.commit_status == "wip":
        return "wip"
    begun = state.valid_from is None or state.valid_from <= at
    return "current" if begun and (state.valid_until is None or at < state.valid_until) else "historical"


def as_quads(triples: Iterable[Triple], graph: NamedNode) -> Iterator[Quad]:
    for triple in triples:
        yield Quad(triple.subject, triple.predicate, triple.object, graph)
