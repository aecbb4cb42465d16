"""Which triples of a change the gate sees in which scope: a copy just large enough to judge what the change touches.

Of a whole project it sees the same, portion by portion.

An entity is the subject in several graphs, and the closed shape of an identity must not see its states. So each scope
takes from its own graph only, and a snapshot is re-subjected to its state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pyoxigraph import Literal, NamedNode, Triple

from prism_rdf.canonical.entities import type_of
from prism_rdf.evidence.claims import CLAIM_OF, CLAIM_PROPERTY, CLAIM_VALUE
from prism_rdf.free import is_free
from prism_rdf.model import RETIRED
from prism_rdf.namespaces import LAYERS, RDF_TYPE, Names, meta_graph, prism
from prism_rdf.semantic.references import KIND, SOURCE, TARGET
from prism_rdf.storage.about import About, about
from prism_rdf.storage.interface import GraphReader
from prism_rdf.storage.overlay import Overlay
from prism_rdf.temporal.events import ASSERTION, CHANGES
from prism_rdf.temporal.states import COMMIT_STATUS, HAS_STATE
from prism_rdf.validation.gate import SCOPE_OF, Scope

_WIP = Literal("wip")
Shown = frozenset[tuple[object, object, object]]
Superclasses = Callable[[NamedNode], Iterable[NamedNode]]


def scopes_of(after: Overlay, names: Names, superclasses: Superclasses) -> Mapping[Scope, Sequence[Triple]]:
    """Return what the gate must judge of the change that ``after`` lays over the store."""
    scopes: dict[Scope, list[Triple]] = {}
    passed_over = {names.graph("current"), names.graph("tail"), meta_graph(names.base)}
    named = (graph for graph in after.graphs if isinstance(graph, NamedNode) and graph not in passed_over)
    graphs = [graph for graph in named if not is_free(graph, names.base)]
    snapshots = (after.added(graph) for graph in graphs if _is_within(graph, names.state("").value))
    said = (quad for added in snapshots for quads in added.values() for quad in quads)
    shown = frozenset((quad.subject, quad.predicate, quad.object) for quad in said)
    for graph in graphs:
        for subject, quads in after.added(graph).items():
            if any(quad.predicate != HAS_STATE for quad in quads):
                for scope, triples in _judged(subject, graph, after, names, superclasses, shown):
                    scopes.setdefault(scope, []).extend(triples)
    return scopes


def _is_within(graph: NamedNode, room: str) -> bool:
    return graph.value.startswith(room)


def held_nodes(store: GraphReader, names: Names) -> Iterator[tuple[NamedNode, NamedNode]]:
    """Yield the nodes that a project's own graphs hold, each with its graph; an assertion goes with its event.

    What a state says stands in the graph of the state, with the entity as the node.
    """
    canonical, temporal = names.graph("canonical"), names.graph("temporal")
    identities = dict.fromkeys(quad.subject for quad in store.quads_for_pattern(None, None, None, canonical))
    yield from ((identity, canonical) for identity in identities if isinstance(identity, NamedNode))
    for layer in LAYERS:
        if layer not in ("canonical", "current", "tail"):
            graph = names.graph(layer)
            typed = (quad.subject for quad in store.quads_for_pattern(None, RDF_TYPE, None, graph))
            yield from ((node, graph) for node in typed if isinstance(node, NamedNode))
    for quad in store.quads_for_pattern(None, HAS_STATE, None, temporal):
        if isinstance(quad.subject, NamedNode) and isinstance(quad.object, NamedNode):
            yield quad.subject, quad.object


def scopes_of_nodes(
    nodes: Iterable[tuple[NamedNode, NamedNode]], store: GraphReader, names: Names, superclasses: Superclasses
) -> Mapping[Scope, Sequence[Triple]]:
    """Return what the gate must judge of nodes in graphs, as ``held_nodes`` has them; no assertion counts as shown."""
    scopes: dict[Scope, list[Triple]] = {}
    for subject, graph in nodes:
        for scope, triples in _judged(subject, graph, store, names, superclasses, frozenset()):
            scopes.setdefault(scope, []).extend(triples)
        if graph == names.graph("canonical"):
            linked = (quad.triple for quad in about(store, subject, names.graph("temporal")).quads)
            scopes.setdefault("state", []).extend(linked)
    return scopes


def _judged(
    subject: NamedNode,
    graph: NamedNode,
    after: GraphReader,
    names: Names,
    superclasses: Superclasses,
    shown: Shown,
) -> Iterable[tuple[Scope, list[Triple]]]:
    node = about(after, subject, graph)
    triples = [q.triple for q in node.quads]
    if graph == names.graph("canonical"):
        yield "identity", triples
        return
    if _is_within(graph, names.state("").value):
        kind = type_of(after, names, subject)
        if kind is not None:
            held = [Triple(graph, t.predicate, t.object) for t in triples]
            ends = [t.object for t in triples if isinstance(t.object, NamedNode)]
            types = [triple for end in ends for triple in _types(after, names, end, superclasses)]
            status = after.quads_for_pattern(graph, COMMIT_STATUS, None, names.graph("temporal"))
            is_draft = any(quad.object == _WIP for quad in status)
            yield "fragment" if is_draft else "snapshot", [Triple(graph, RDF_TYPE, kind), *held, *types]
        return
    scope = SCOPE_OF.get(node.iri(RDF_TYPE) or RDF_TYPE)
    if scope is None:
        return
    if scope == "event":
        said = [about(after, assertion, graph) for assertion in node.iris(ASSERTION)]
        triples += [q.triple for assertion in said for q in assertion.quads]
        yield "fragment", _unshown(after, names, node.iri(CHANGES), said, superclasses, shown)
    if scope == "evidence":
        yield "fragment", _claimed(after, names, node, superclasses)
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


def _claimed(after: GraphReader, names: Names, evidence: About, superclasses: Superclasses) -> list[Triple]:
    """Return what is claimed as a part of the entity's state: it must fit the type."""
    entity, prop, value = evidence.iri(CLAIM_OF), evidence.iri(CLAIM_PROPERTY), evidence.term(CLAIM_VALUE)
    kind = type_of(after, names, entity) if entity is not None else None
    if kind is None or prop is None or value is None:
        return []
    ends = _types(after, names, value, superclasses) if isinstance(value, NamedNode) else []
    return [Triple(evidence.node, RDF_TYPE, kind), Triple(evidence.node, prop, value), *ends]


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
