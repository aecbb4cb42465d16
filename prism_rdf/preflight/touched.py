"""What a change touches, and the store after it, read no wider than that; what is wrong there is not known here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain, product
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import VALID_FROM, VALID_UNTIL, WITHDRAWN_AT
from prism_rdf.canonical.entities import UUID
from prism_rdf.model import ChangeSet
from prism_rdf.namespaces import Names
from prism_rdf.storage.about import About, about, objects, subjects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.drafts import DRAFT_OF, THREAD
from prism_rdf.temporal.states import CAUSED_BY, COMMIT_STATUS, HAS_STATE, SUPERSEDED_BY, VOID
from prism_rdf.temporal.tail import TAIL

Found = Iterator[tuple[NamedNode, str]]
Said = Mapping[NamedNode, Mapping[NamedNode, list[Any]]]

_LAYERS = ("canonical", "temporal", "semantic", "current")
_OF_A_STATE = {COMMIT_STATUS, VALID_FROM, VALID_UNTIL, WITHDRAWN_AT, SUPERSEDED_BY, VOID, CAUSED_BY}
_SEEN_BY_THE_ONE_BEFORE = {COMMIT_STATUS, VALID_FROM, WITHDRAWN_AT}


class Touched:
    """What a change says something else of than before, by layer, and the store after it."""

    def __init__(self, change: ChangeSet, before: GraphReader, after: GraphReader, names: Names) -> None:
        self._before = before
        self._after = after
        self._graphs = {layer: names.graph(layer) for layer in _LAYERS}
        self._tail = names.graph("tail")
        self._known: dict[tuple[NamedNode, str], About] = {}
        said: dict[Any, Any] = {graph: defaultdict(lambda: defaultdict(list)) for graph in self._graphs.values()}
        snapshots: dict[NamedNode, None] = {}
        state = names.state("").value
        for quad in chain(change.adds, change.removes):
            graph = quad.graph_name
            if graph in said:
                said[graph][quad.subject][quad.predicate].append(quad.object)
            elif isinstance(graph, NamedNode) and graph.value.startswith(state):
                snapshots[graph] = None
        self._said: Mapping[NamedNode, Said] = said
        self.layers = {layer for layer, graph in self._graphs.items() if said[graph]}
        if snapshots:
            self.layers.add("temporal")  # what says whose the snapshots are
        self.snapshots: Mapping[NamedNode, None] = snapshots

    def of(self, layer: str) -> Said:
        """Return what the change says of a layer: subject, property, values."""
        return self._said[self._graphs[layer]]

    def about(self, node: NamedNode, layer: str = "temporal") -> About:
        key = (node, layer)
        if key not in self._known:
            self._known[key] = about(self._after, node, self._graphs[layer])
        return self._known[key]

    def subjects(self, predicate: NamedNode, value: NamedNode, layer: str = "temporal") -> tuple[NamedNode, ...]:
        return subjects(self._after, predicate, value, self._graphs[layer])

    def objects(self, node: NamedNode, predicate: NamedNode) -> tuple[NamedNode, ...]:
        """Return the values of a property of a node of which much more may be said in the temporal graph."""
        return objects(self._after, node, predicate, self._graphs["temporal"])

    def same_value(self, predicate: NamedNode, value: Literal) -> Iterator[Quad]:
        return self._after.quads_for_pattern(None, predicate, value, self._graphs["canonical"])

    def semantic_nodes(self, *ends: NamedNode) -> Iterator[About]:
        """Yield the aliases, references and merges that are changed, or have such an end that lost its identity."""
        pairs = product(ends, self.unidentified)
        lost = (node for end, entity in pairs for node in self.subjects(end, entity, "semantic"))
        return (self.about(node, "semantic") for node in dict.fromkeys(chain(self.of("semantic"), lost)))

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
    def handed_over(self) -> dict[NamedNode, None]:
        """Return the states that came to an entity or left one."""
        return {state: None for said in self.of("temporal").values() for state in said.get(HAS_STATE, ())}

    @cached_property
    def states(self) -> dict[NamedNode, None]:
        """Return the states of which something changes that an invariant reads."""
        said = self.of("temporal")
        changed = {node: None for node, what in said.items() if not _OF_A_STATE.isdisjoint(what)}
        return changed | self.handed_over

    @cached_property
    def links(self) -> dict[NamedNode, None]:
        """Return these states with those before them that may no longer fit."""
        said = self.of("temporal")
        moved = [s for s in self.states if s in self.handed_over or not _SEEN_BY_THE_ONE_BEFORE.isdisjoint(said[s])]
        before = {state: None for each in moved for state in self.subjects(SUPERSEDED_BY, each)}
        return {**self.states, **before}

    def changes_of(self, state: NamedNode, *predicates: NamedNode) -> bool:
        """Return whether the change says something else of these properties of a state, or of whose state it is."""
        said = self.of("temporal").get(state, {})
        return state in self.handed_over or any(predicate in said for predicate in predicates)


def is_believed(node: About) -> bool:
    return not node.terms(WITHDRAWN_AT)
