"""The world at an instant, all entities and memories at once, for a store of any size; one entity alone: views.py."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pyoxigraph import NamedNode, Quad, QuerySolutions

from prism_rdf.belief import END_RECORDED_AT, VALID_UNTIL
from prism_rdf.clock import Instant
from prism_rdf.evidence.claims import EVIDENCE
from prism_rdf.namespaces import PREFIXES, RDF_TYPE, TOLD, Names
from prism_rdf.semantic.merges import merged_entities
from prism_rdf.standing import Standing
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.drafts import WIP
from prism_rdf.temporal.states import COMMIT_STATUS, HAS_STATE
from prism_rdf.temporal.tail import TAIL
from prism_rdf.views import ALT_LABEL, HIDDEN_LABEL, Superclasses, merge_view


def world(
    store: GraphReader,
    names: Names,
    at: Instant,
    superclasses: Superclasses,
    known_at: Instant | None = None,
    identifying: Collection[NamedNode] = (),
    *,
    merges: bool = True,
) -> Iterator[Quad]:
    """Yield the current graph as it is at ``at``, as believed at ``known_at`` (None: now), each quad once.

    It holds what ``entity_view`` yields of every entity; without ``merges``, as if none had been merged.
    """
    current = names.graph("current")
    alive: set[Any] = set()
    for state in _states(store, names, at, known_at):
        for quad in store.quads_for_pattern(None, None, None, state):  # a void holds nothing
            alive.add(quad.subject)
            yield Quad(quad.subject, quad.predicate, quad.object, current)
    above: dict[Any, tuple[NamedNode, ...]] = {}
    for entity, predicate, value in _identities(store, names):
        if entity in alive:
            yield Quad(entity, predicate, value, current)
            if predicate == RDF_TYPE:
                if value not in above:
                    above[value] = tuple(superclasses(value))
                yield from (Quad(entity, RDF_TYPE, parent, current) for parent in above[value])
    told = dict.fromkeys(_labels_and_links(store, names, at, known_at))
    for entity in _merged(merged_entities(store, names, known_at)) if merges else ():
        view = merge_view(store, names, entity, at, known_at, identifying)
        told.update(((entity, triple.predicate, triple.object), None) for triple in view)
    yield from (Quad(entity, label, value, current) for entity, label, value in told if entity in alive)


def _identities(store: GraphReader, names: Names) -> Iterator[tuple[Any, ...]]:
    """Yield the canonical graph, one predicate after the other: the fewer terms of a row are asked for, the faster."""
    graph = names.graph("canonical")
    for (predicate,) in list(_rows(store, f"SELECT DISTINCT ?p {{ GRAPH {graph} {{ ?s ?p ?o }} }}")):
        for entity, value in _rows(store, f"SELECT ?s ?o {{ GRAPH {graph} {{ ?s {predicate} ?o }} }}"):
            yield entity, predicate, value


def _states(store: GraphReader, names: Names, at: Instant, known_at: Instant | None) -> Iterator[NamedNode]:
    """Yield the sealed states that cover ``at``, and voids, whose graphs are empty.

    Of what is believed now only the last state of an entity never ends.
    """
    graph, prefix = names.graph("temporal"), names.state("").value
    standing = Standing(store, graph, at, known_at)
    drafts = {quad.subject for quad in store.quads_for_pattern(None, COMMIT_STATUS, WIP, graph)}
    if known_at is None:
        endless = {
            node for (node,) in _rows(store, f"SELECT ?node {{ GRAPH {names.graph('tail')} {{ ?e {TAIL} ?node }} }}")
        }
        found = (n for n in (standing.lasting | endless) - standing.later if n.value.startswith(prefix))
        yield from (node for node in found if node not in drafts and standing.believed(node))
    else:
        nodes = _rows(store, f"SELECT ?node {{ GRAPH {graph} {{ ?e {HAS_STATE} ?node }} }}")
        yield from (node for (node,) in nodes if node not in drafts and standing.holds(node))


def _labels_and_links(
    store: GraphReader, names: Names, at: Instant, known_at: Instant | None
) -> Iterator[tuple[Any, ...]]:
    """Yield what aliases and references make of the entities, as (subject, predicate, object)."""
    graph = names.graph("semantic")
    standing = Standing(store, graph, at, known_at)
    for node, entity, form in _rows(store, _ALIASES.replace("$graph", str(graph))):
        if standing.believed(node) and node not in standing.later:
            yield entity, ALT_LABEL if standing.holds(node) else HIDDEN_LABEL, form
    for node, source, kind, target in _rows(store, _REFERENCES.replace("$graph", str(graph))):
        if standing.holds(node):
            yield source, kind, target


_ALIASES = """SELECT ?node ?entity ?form { GRAPH $graph { ?node prism:aliasOf ?entity ; prism:surfaceForm ?form } }"""
_REFERENCES = """SELECT ?node ?source ?kind ?target { GRAPH $graph {
    ?node prism:referenceSource ?source ; prism:referenceKind ?kind ; prism:referenceTarget ?target } }"""


def _merged(into: Mapping[NamedNode, NamedNode]) -> set[NamedNode]:
    return {*into, *into.values()}


def _rows(store: GraphReader, query: str) -> Iterator[tuple[Any, ...]]:
    answer = store.query(query, prefixes=PREFIXES)
    assert isinstance(answer, QuerySolutions)
    return (tuple(row) for row in answer)


def told_of_all(store: GraphReader, names: Names, at: Instant, known_at: Instant | None = None) -> Iterator[Quad]:
    """Yield what was told by ``at``, memories and evidence: what ``told_of`` yields of every node of these graphs."""
    for layer in TOLD:
        yield from _told(store, names.graph(layer), at, known_at)


def _told(store: GraphReader, graph: NamedNode, at: Instant, known_at: Instant | None) -> Iterator[Quad]:
    standing = Standing(store, graph, at, known_at)
    since_ever = {quad.subject for quad in store.quads_for_pattern(None, RDF_TYPE, EVIDENCE, graph)}
    for quad in store.quads_for_pattern(None, None, None, graph):
        node: Any = quad.subject
        if node in standing.later:
            continue
        if node in standing.begun or node in since_ever:
            carrier = standing.believed(node)
            if carrier is None or (quad.predicate in _ENDS and carrier not in standing.over):
                continue
        yield quad


_ENDS = (VALID_UNTIL, END_RECORDED_AT)
