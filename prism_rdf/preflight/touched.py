"""What a change touches, and the store after it, read no wider than that; what is wrong there is not known here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import VALID_FROM, VALID_UNTIL, WITHDRAWN_AT
from prism_rdf.canonical.entities import UUID
from prism_rdf.clock import Instant
from prism_rdf.namespaces import Names
from prism_rdf.storage.about import About, about, objects, subjects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.storage.overlay import Overlay
from prism_rdf.temporal.drafts import DRAFT_OF, THREAD
from prism_rdf.temporal.events import CHANGES
from prism_rdf.temporal.states import CAUSED_BY, COMMIT_STATUS, HAS_STATE, SUPERSEDED_BY, VOID
from prism_rdf.temporal.tail import TAIL

Found = Iterator[tuple[NamedNode, str]]

_LAYERS = ("canonical", "temporal", "semantic", "evidence", "current")
_OF_A_STATE = {COMMIT_STATUS, VALID_FROM, VALID_UNTIL, WITHDRAWN_AT, SUPERSEDED_BY, VOID, CAUSED_BY}
_SEEN_BY_THE_ONE_BEFORE = {COMMIT_STATUS, VALID_FROM, WITHDRAWN_AT}


@dataclass(frozen=True)
class TouchedState:
    """What is said about a state after the change; more than one start, end or status is possible, and wrong."""

    node: NamedNode
    starts: tuple[Instant, ...]
    untils: tuple[Instant, ...]
    statuses: tuple[Any, ...]
    following: tuple[NamedNode, ...]
    believed: bool

    def is_open(self, status: Literal) -> bool:
        return self.believed and not self.untils and status in self.statuses


class Touched:
    """What a change says something else of than before, and the store after it.

    ``states`` are the states of which something changes that an invariant reads, each with the properties;
    ``handed_over`` those that came to an entity or left one, ``having`` these entities; ``changed`` the entities that
    an event came to change or ceased to, ``moved`` these events; ``snapshots`` the states that show something else.
    """

    def __init__(self, before: GraphReader, after: Overlay, names: Names) -> None:
        self._before = before
        self._after = after
        self._graphs = {layer: names.graph(layer) for layer in _LAYERS}
        self._tail = names.graph("tail")
        self._said: dict[str, Mapping[NamedNode, frozenset[NamedNode]]] = {}
        self._known: dict[tuple[NamedNode, str], About] = {}
        self._states: dict[NamedNode, TouchedState] = {}
        self.states: dict[NamedNode, frozenset[NamedNode]] = {}
        self.handed_over: dict[Any, None] = {}
        self.having: dict[NamedNode, None] = {}
        self.changed: dict[Any, None] = {}
        self.moved: dict[NamedNode, None] = {}
        self._sort_temporal()
        state = names.state("").value
        named = (graph for graph in after.graphs if isinstance(graph, NamedNode))
        self.snapshots = [graph for graph in named if graph.value.startswith(state)]
        self.layers = {layer for layer, graph in self._graphs.items() if graph in after.graphs}
        if self.snapshots:
            self.layers.add("temporal")  # what says whose the snapshots are

    def _sort_temporal(self) -> None:
        for node, quads in self._after.changes(self._graphs["temporal"]):
            said = frozenset(quad.predicate for quad in quads)
            if HAS_STATE in said:
                self.having[node] = None
                self.handed_over |= {quad.object: None for quad in quads if quad.predicate == HAS_STATE}
            if CHANGES in said:
                self.moved[node] = None
                self.changed |= {quad.object: None for quad in quads if quad.predicate == CHANGES}
            if not _OF_A_STATE.isdisjoint(said):
                self.states[node] = said
        for node in self.handed_over:
            self.states.setdefault(node, frozenset())

    def of(self, layer: str) -> Mapping[NamedNode, frozenset[NamedNode]]:
        """Return the subjects of which the change says something in a layer, each with the properties."""
        if layer not in self._said:
            changes = self._after.changes(self._graphs[layer])
            self._said[layer] = {node: frozenset(quad.predicate for quad in quads) for node, quads in changes}
        return self._said[layer]

    def about(self, node: NamedNode, layer: str) -> About:
        key = (node, layer)
        if key not in self._known:
            self._known[key] = about(self._after, node, self._graphs[layer])
        return self._known[key]

    def state(self, node: NamedNode) -> TouchedState:
        if node not in self._states:
            said = self.about(node, "temporal")
            self._states[node] = TouchedState(
                node,
                said.instants(VALID_FROM),
                said.instants(VALID_UNTIL),
                said.terms(COMMIT_STATUS),
                said.iris(SUPERSEDED_BY),
                not said.terms(WITHDRAWN_AT),
            )
        return self._states[node]

    def subjects(self, predicate: NamedNode, value: NamedNode, layer: str = "temporal") -> tuple[NamedNode, ...]:
        return subjects(self._after, predicate, value, self._graphs[layer])

    def objects(self, node: NamedNode, predicate: NamedNode) -> tuple[NamedNode, ...]:
        """Return the values of a property of a node of which much more may be said in the temporal graph."""
        return objects(self._after, node, predicate, self._graphs["temporal"])

    def same_value(self, predicate: NamedNode, value: Literal) -> Iterator[Quad]:
        return self._after.quads_for_pattern(None, predicate, value, self._graphs["canonical"])

    def semantic_nodes(self, *ends: NamedNode) -> Iterator[About]:
        """Yield the aliases, references and merges that are changed, or have such an end that lost its identity."""
        return self.nodes("semantic", *ends)

    def nodes(self, layer: str, *ends: NamedNode) -> Iterator[About]:
        """Yield the nodes of a layer that are changed, or have such an end that lost its identity."""
        pairs = product(ends, self.unidentified)
        lost = (node for end, entity in pairs for node in self.subjects(end, entity, layer))
        return (self.about(node, layer) for node in dict.fromkeys(chain(self.of(layer), lost)))

    def snapshot(self, state: NamedNode, entity: NamedNode | None = None) -> Iterator[Quad]:
        return self._after.quads_for_pattern(entity, None, None, state)

    def has_state(self, entity: NamedNode, state: NamedNode) -> bool:
        found = self._after.quads_for_pattern(entity, HAS_STATE, state, self._graphs["temporal"])
        return next(found, None) is not None

    def owners(self, state: NamedNode) -> tuple[NamedNode, ...]:
        return self.subjects(HAS_STATE, state)

    def tails(self, entity: NamedNode) -> tuple[NamedNode, ...]:
        """Return the last state of a history before the change: the one sealed state that was open."""
        return objects(self._before, entity, TAIL, self._tail)

    def drafts(self, entity: NamedNode) -> Iterator[NamedNode]:
        """Yield the versions of all drafts of an entity before the change."""
        temporal = self._graphs["temporal"]
        for thread in subjects(self._before, DRAFT_OF, entity, temporal):
            yield from subjects(self._before, THREAD, thread, temporal)

    def identified(self, entity: NamedNode) -> bool:
        return bool(self.about(entity, "canonical").terms(UUID))

    @cached_property
    def unidentified(self) -> tuple[NamedNode, ...]:
        """Return the nodes of which the change says something in the canonical graph, and that have no identity."""
        return tuple(node for node in self.of("canonical") if not self.identified(node))

    @cached_property
    def links(self) -> list[TouchedState]:
        """Return the states with those before them that may no longer fit."""
        handed = self.handed_over
        moved = [s for s, said in self.states.items() if s in handed or not _SEEN_BY_THE_ONE_BEFORE.isdisjoint(said)]
        before = (state for each in moved for state in self.subjects(SUPERSEDED_BY, each))
        return [self.state(node) for node in dict.fromkeys(chain(self.states, before))]

    def changes_of(self, state: NamedNode, *predicates: NamedNode) -> bool:
        """Return whether the change says something else of these properties of a state, or of whose state it is."""
        return state in self.handed_over or not self.states[state].isdisjoint(predicates)


def is_believed(node: About) -> bool:
    return not node.terms(WITHDRAWN_AT)
