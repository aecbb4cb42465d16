"""The world at an instant, all entities and memories at once, for a store of any size; one entity alone: views.py."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from pyoxigraph import NamedNode, Quad, QueryResultsFormat, QuerySolutions, RdfFormat, parse

from prism_rdf.belief import END_RECORDED_AT, VALID_UNTIL
from prism_rdf.clock import Instant
from prism_rdf.evidence.claims import EVIDENCE
from prism_rdf.namespaces import PREFIXES, RDF_TYPE, TOLD, XSD, Names
from prism_rdf.semantic.merges import merged_entities
from prism_rdf.standing import Standing
from prism_rdf.storage.interface import GraphReader
from prism_rdf.values import instant_literal
from prism_rdf.views import ALT_LABEL, HIDDEN_LABEL, Superclasses, merge_view


def world_text(
    store: GraphReader,
    names: Names,
    at: Instant,
    superclasses: Superclasses,
    known_at: Instant | None = None,
    identifying: Collection[NamedNode] = (),
    *,
    merges: bool = True,
) -> Iterator[str]:
    """Yield the current graph as it is at ``at``, as believed at ``known_at`` (None: now), each quad once.

    It holds what ``entity_view`` yields of every entity; without ``merges``, as if none had been merged. It comes as
    pieces of N-Quads, which are written, looked through and loaded faster than quads; ``parsed`` makes quads of them.
    """
    current = names.graph("current")
    alive: set[str] = set()
    yield from _pieces(_stated(store, names, at, known_at, alive), current)
    yield from _pieces(_identities(store, names, superclasses, alive), current)
    told = dict.fromkeys(_labels_and_links(store, names, at, known_at))
    for entity in _merged(merged_entities(store, names, known_at)) if merges else ():
        view = merge_view(store, names, entity, at, known_at, identifying)
        told.update(((entity, triple.predicate, triple.object), None) for triple in view)
    rest = ((str(entity), f"{label} {value}") for entity, label, value in told)
    yield from _pieces((f"{entity} {said}" for entity, said in rest if entity in alive), current)


def parsed(pieces: Iterable[str]) -> Iterator[Quad]:
    """Yield the quads of pieces of N-Quads."""
    for piece in pieces:
        yield from parse(piece.encode(), format=RdfFormat.N_QUADS, lenient=True)


def _pieces(triples: Iterator[str], graph: NamedNode) -> Iterator[str]:
    """Yield N-Quads in one graph of some thousand triples, which are without their full stops."""
    end = f" {graph} .\n"
    while piece := end.join(islice(triples, _IN_A_PIECE)):
        yield piece + end


def _stated(store: GraphReader, names: Names, at: Instant, known_at: Instant | None, alive: set[str]) -> Iterator[str]:
    """Yield what the states say, and add to ``alive`` of whom they say something."""
    for entity, prop, value in _table(_states(store, names, at, known_at)):
        alive.add(entity)
        yield f"{entity} {prop} {value}"


def _identities(store: GraphReader, names: Names, superclasses: Superclasses, alive: Collection[str]) -> Iterator[str]:
    """Yield the identities of who is alive, and the superclasses of their types."""
    above: dict[str, list[str]] = {}
    for entity, prop, value in _table(_solutions(store, _IDENTITIES, names.graph("canonical"))):
        if entity not in alive:
            continue
        yield f"{entity} {prop} {value}"
        if prop == _TYPE:
            if value not in above:
                above[value] = [str(parent) for parent in superclasses(NamedNode(value[1:-1]))]
            yield from (f"{entity} {prop} {parent}" for parent in above[value])


_IN_A_PIECE = 50_000
_TYPE = str(RDF_TYPE)


def _table(solutions: QuerySolutions) -> Iterator[list[str]]:
    """Yield the rows as terms of N-Quads; where TSV writes a number or a truth without its datatype, it is added."""
    table = io.BytesIO()
    solutions.serialize(table, format=QueryResultsFormat.TSV)
    table.seek(0)
    next(table)  # the names of the columns
    for line in table:
        row = line.decode()[:-1].split("\t")
        if row[-1][0] not in _IN_FULL:
            row[-1] = _in_full(row[-1])
        yield row


_IN_FULL = '<"_'


def _in_full(value: str) -> str:
    if value in ("true", "false"):
        return f'"{value}"^^<{XSD}boolean>'
    kind = "double" if "e" in value.lower() else "decimal" if "." in value else "integer"
    return f'"{value}"^^<{XSD}{kind}>'


def _states(store: GraphReader, names: Names, at: Instant, known_at: Instant | None) -> QuerySolutions:
    """Find what the sealed states say that cover ``at``, by entity, property and value; a void says nothing.

    The engine goes from a state to what it says without reading the name of any: reading names is what takes long.
    """
    query = _STATES
    for name, text in (_BELIEVED_NOW if known_at is None else _BELIEVED_THEN).items():
        query = query.replace(name, text)
    for name, instant in (("$at", at), ("$known", known_at)):
        query = query.replace(name, str(instant_literal(instant)) if instant else "")
    return _solutions(store, query, names.graph("temporal"))


_STATES = """SELECT ?entity ?property ?value {
    { SELECT DISTINCT ?node { $carried
        MINUS { GRAPH $graph { ?node prism:validFrom ?from FILTER (?from > $at) } }
        MINUS { GRAPH $graph { ?node prism:commitStatus "wip" } }
        $unbelieved
        MINUS { GRAPH $graph { $carrier prism:validUntil ?until FILTER (?until <= $at) } $unknown } } }
    GRAPH ?node { ?entity ?property ?value } }"""
_BELIEVED_NOW = {
    "$carried": "GRAPH $graph { ?any prism:hasState ?node }",
    "$carrier": "?node",
    "$unbelieved": "MINUS { GRAPH $graph { ?node prism:withdrawnAt ?withdrawn } }",
    "$unknown": "",
}
_BELIEVED_THEN = {  # a belief is carried by the state itself, or by one of its earlier beliefs
    "$carried": """{ GRAPH $graph { ?any prism:hasState ?node } BIND (?node AS ?carrier) }
        UNION { GRAPH $graph { ?any prism:hasState ?node . ?node prism:earlierBelief ?carrier } }""",
    "$carrier": "?carrier",
    "$unbelieved": """MINUS { GRAPH $graph { ?carrier prism:withdrawnAt ?withdrawn FILTER (?withdrawn <= $known) } }
        MINUS { GRAPH $graph { ?carrier prism:recordedAt ?recorded FILTER (?recorded > $known) } }""",
    "$unknown": "MINUS { GRAPH $graph { ?carrier prism:endRecordedAt ?ended FILTER (?ended > $known) } }",
}
_IDENTITIES = "SELECT ?entity ?property ?value { GRAPH $graph { ?entity ?property ?value } }"


def _labels_and_links(
    store: GraphReader, names: Names, at: Instant, known_at: Instant | None
) -> Iterator[tuple[Any, ...]]:
    """Yield what aliases and references make of the entities, as (subject, predicate, object)."""
    graph = names.graph("semantic")
    standing = Standing(store, graph, at, known_at)
    for node, entity, form in _solutions(store, _ALIASES, graph):
        if standing.believed(node) and node not in standing.later:
            yield entity, ALT_LABEL if standing.holds(node) else HIDDEN_LABEL, form
    for node, source, kind, target in _solutions(store, _REFERENCES, graph):
        if standing.holds(node):
            yield source, kind, target


_ALIASES = """SELECT ?node ?entity ?form { GRAPH $graph { ?node prism:aliasOf ?entity ; prism:surfaceForm ?form } }"""
_REFERENCES = """SELECT ?node ?source ?kind ?target { GRAPH $graph {
    ?node prism:referenceSource ?source ; prism:referenceKind ?kind ; prism:referenceTarget ?target } }"""


def _merged(into: Mapping[NamedNode, NamedNode]) -> set[NamedNode]:
    return {*into, *into.values()}


def _solutions(store: GraphReader, query: str, graph: NamedNode) -> QuerySolutions:
    answer = store.query(query.replace("$graph", str(graph)), prefixes=PREFIXES)
    assert isinstance(answer, QuerySolutions)
    return answer


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
