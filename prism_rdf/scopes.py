"""Which triples of a change the gate sees in which scope: a copy just large enough to judge what the change touches.

An entity is the subject in several graphs, and the closed shape of an identity must not see its states. So each scope
takes from its own graph only, and a snapshot is re-subjected to its state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pyoxigraph import NamedNode, Quad, Triple

from prism_rdf.canonical.entities import type_of
from prism_rdf.model import RETIRED, ChangeSet
from prism_rdf.namespaces import RDF_TYPE, Names, meta_graph, prism
from prism_rdf.semantic.references import KIND, SOURCE, TARGET
from prism_rdf.storage.about import About, about
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.events import ASSERTION, CHANGES
from prism_rdf.temporal.states import COMMIT_STATUS, HAS_STATE
from prism_rdf.validation.gate import Scope

_SCOPE_OF: dict[NamedNode, Scope] = {
    prism("SupersessionEvent"): "event",
    prism("State"): "state",
    prism("Draft"): "state",
    prism("EarlierBelief"): "state",
    prism("Alias"): "alias",
    prism("Reference"): "reference",
    prism("Merge"): "merge",
    prism("Memory"): "memory",
    prism("Concept"): "memory",
    prism("FactCandidate"): "candidate",
    prism("AliasCandidate"): "candidate",
    prism("ReferenceCandidate"): "candidate",
    prism("Clue"): "candidate",
    prism("Ruling"): "candidate",
    prism("TypeText"): "text",
}
Shown = frozenset[tuple[object, object, object]]
Superclasses = Callable[[NamedNode], Iterable[NamedNode]]


def scopes_of(
    change: ChangeSet, after: GraphReader, names: Names, superclasses: Superclasses
) -> Mapping[Scope, Sequence[Triple]]:
    """Return what the gate must judge of ``change``; ``after`` is the store as it will be."""
    scopes: dict[Scope, list[Triple]] = {}
    seen: set[tuple[object, NamedNode]] = set()
    passed_over = {names.graph("current"), names.graph("tail"), meta_graph(names.base)}
    judged = [quad for quad in change.adds if quad.graph_name not in passed_over]
    shown = frozenset((quad.subject, quad.predicate, quad.object) for quad in judged)
    for quad in judged:
        if not isinstance(quad.graph_name, NamedNode):
            continue
        place = (quad.subject, quad.graph_name)
        if place not in seen and quad.predicate != HAS_STATE:
            seen.add(place)
            for scope, triples in _judged(quad, after, names, superclasses, shown):
                scopes.setdefault(scope, []).extend(triples)
    return scopes


def _judged(
    quad: Quad, after: GraphReader, names: Names, superclasses: Superclasses, shown: Shown
) -> Iterable[tuple[Scope, list[Triple]]]:
    graph, subject = quad.graph_name, quad.subject
    assert isinstance(graph, NamedNode)
    assert isinstance(subject, NamedNode)
    node = about(after, subject, graph)
    triples = [q.triple for q in node.quads]
    if graph == names.graph("canonical"):
        yield "identity", triples
        return
    if graph.value.startswith(f"{names.base}/{names.namespace}/state/"):
        kind = type_of(after, names, subject)
        if kind is not None:
            held = [Triple(graph, t.predicate, t.object) for t in triples]
            ends = [t.object for t in triples if isinstance(t.object, NamedNode)]
            types = [triple for end in ends for triple in _types(after, names, end, superclasses)]
            is_draft = about(after, graph, names.graph("temporal")).text(COMMIT_STATUS) == "wip"
            yield "fragment" if is_draft else "snapshot", [Triple(graph, RDF_TYPE, kind), *held, *types]
        return
    scope = _SCOPE_OF.get(node.iri(RDF_TYPE) or RDF_TYPE)
    if scope is None:
        return
    if scope == "event":
        said = [about(after, assertion, graph) for assertion in node.iris(ASSERTION)]
        triples += [q.triple for assertion in said for q in assertion.quads]
        yield "fragment", _unshown(after, names, node.iri(CHANGES), said, superclasses, shown)
    if scope == "reference":
        yield "link", _link(after, names, node.iri(SOURCE), node.iri(KIND), node.iri(TARGET), superclasses)
    yield scope, triples


def _unshown(
    after: GraphReader,
    names: Names,
    entity: NamedNode | None,
    said: Iterable[About],
    superclasses: Superclasses,
    shown: Shown,
) -> list[Triple]:
    """Return each assertion that no new state shows as a part of one: it must fit the type as well."""
    kind = type_of(after, names, entity) if entity is not None else None
    triples: list[Triple] = []
    for assertion in said:
        prop, value = assertion.iri(prism("property")), assertion.term(prism("value"))
        if kind is None or prop is None or value is None or prop == RETIRED or (entity, prop, value) in shown:
            continue
        triples += [Triple(assertion.node, RDF_TYPE, kind), Triple(assertion.node, prop, value)]
        if isinstance(value, NamedNode):
            triples += _types(after, names, value, superclasses)
    return triples


def _link(
    after: GraphReader,
    names: Names,
    source: NamedNode | None,
    kind: NamedNode | None,
    target: NamedNode | None,
    superclasses: Superclasses,
) -> list[Triple]:
    if source is None or kind is None or target is None:
        return []
    ends = [triple for end in (source, target) for triple in _types(after, names, end, superclasses)]
    return [Triple(source, kind, target), *ends]


def _types(after: GraphReader, names: Names, entity: NamedNode, superclasses: Superclasses) -> list[Triple]:
    own = type_of(after, names, entity)
    return [] if own is None else [Triple(entity, RDF_TYPE, each) for each in (own, *superclasses(own))]
