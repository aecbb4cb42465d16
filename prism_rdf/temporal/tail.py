"""The tail of a history: its last state and what can still matter from there on, so that appending costs no look back.

Both are derived, kept in a graph of their own for each namespace, and rewritten with the states they speak of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import inf

from pyoxigraph import NamedNode, Quad

from prism_rdf.belief import Delta, Statement, Writing, change_from
from prism_rdf.namespaces import Names, prism
from prism_rdf.storage.about import About, about, objects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.events import PROPERTY, UNTIL, read_assertion
from prism_rdf.temporal.fold import Edge, Stated, edge
from prism_rdf.temporal.states import StoredState, read_state

TAIL = prism("tail")
FRONTIER = prism("frontier")


@dataclass(frozen=True)
class Tail:
    """The last believed sealed state of an entity, open by construction, and where it begins."""

    state: StoredState

    @property
    def start(self) -> Edge:
        return edge(self.state.valid_from, -inf)


def tail_node(store: GraphReader, names: Names, entity: NamedNode) -> NamedNode | None:
    """Return the last believed sealed state of an entity; None when it has none."""
    return next(iter(objects(store, entity, TAIL, names.graph("tail"))), None)


def read_tail(store: GraphReader, names: Names, entity: NamedNode) -> Tail | None:
    """Return the tail of an entity's history; None when it has no state."""
    node = about(store, entity, names.graph("tail")).iri(TAIL)
    state = read_state(store, node, names.graph("temporal")) if node is not None else None
    return Tail(state) if state is not None else None


def read_frontier(
    store: GraphReader, names: Names, entity: NamedNode, props: Collection[NamedNode]
) -> tuple[list[Stated], dict[NamedNode, NamedNode]]:
    """Return what is stated of an entity that can still hold at its tail or later, as far as it can still change.

    A property of none of the ``props`` of which one thing is stated, for good, goes on as it is: of it the assertion is
    told, and not read.
    """
    graph = names.graph("temporal")
    groups: defaultdict[NamedNode, list[About]] = defaultdict(list)
    for node in about(store, entity, names.graph("tail")).iris(FRONTIER):
        said = about(store, node, graph)
        prop = said.iri(PROPERTY)
        assert prop is not None
        groups[prop].append(said)
    stated: list[Stated] = []
    going_on: dict[NamedNode, NamedNode] = {}
    for prop, group in groups.items():
        if prop in props or len(group) > 1 or group[0].term(UNTIL) is not None:
            stated += [read_assertion(store, said.node, graph) for said in group]
        else:
            going_on[prop] = group[0].node
    return stated, going_on


def frontier(stated: Iterable[Stated], since: Edge) -> list[Stated]:
    """Return what of ``stated`` can still decide a value at ``since`` or later, whatever is said about later times.

    An assertion is out when it has ended by then, or when one that already holds then, never ends and outranks it
    speaks of the same: the same value of the property, or all of them.
    """
    live = [each for each in stated if each.until > since]
    lasting = [each for each in live if each.until == inf and each.start <= since]
    best: dict[tuple[object, ...], Stated] = {}
    for each in lasting:
        key = _scope(each)
        if key not in best or each.rank > best[key].rank:
            best[key] = each
    return [each for each in live if not _outranked(each, best)]


def _scope(stated: Stated) -> tuple[object, ...]:
    return (stated.prop, stated.value if stated.op in ("add", "remove") else None)


def _outranked(stated: Stated, best: dict[tuple[object, ...], Stated]) -> bool:
    rivals = {_scope(stated), (stated.prop, None)}
    return any(key in best and best[key].rank > stated.rank for key in rivals)


def plan_tail(
    store: GraphReader,
    entity: NamedNode,
    last: NamedNode | None,
    kept: Iterable[Stated],
    writing: Writing,
    others: Iterable[NamedNode] = (),
) -> Delta:
    """Return what makes the stored tail of ``entity`` the state ``last`` with the frontier ``kept`` and ``others``."""
    graph = writing.names.graph("tail")
    wanted = [Quad(*said) for said in tail_said(entity, last, kept, writing)]
    wanted += [Quad(entity, FRONTIER, node, graph) for node in others]
    return change_from(store.quads_for_pattern(entity, None, None, writing.names.graph("tail")), wanted)


def tail_said(entity: NamedNode, last: NamedNode | None, kept: Iterable[Stated], writing: Writing) -> list[Statement]:
    """Return what is said of a tail that is the state ``last`` with the frontier ``kept``."""
    graph = writing.names.graph("tail")
    said: list[Statement] = [(entity, FRONTIER, NamedNode(each.node), graph) for each in kept]
    return said if last is None else [*said, (entity, TAIL, last, graph)]
