"""What a change would break of states: their intervals, their order, whose they are, and what their snapshots show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, product
from typing import Any

from pyoxigraph import Literal, NamedNode

from prism_rdf.belief import VALID_FROM, VALID_UNTIL, WITHDRAWN_AT
from prism_rdf.preflight.touched import Found, Touched, TouchedState
from prism_rdf.semantic.aliases import ALIAS_OF
from prism_rdf.semantic.references import SOURCE
from prism_rdf.temporal.events import CHANGES
from prism_rdf.temporal.states import CAUSED_BY, COMMIT_STATUS, SUPERSEDED_BY, VOID

_COMMITTED, _WIP, _TRUE = Literal("committed"), Literal("wip"), Literal(True)


def _is_sealed(state: TouchedState) -> bool:
    return state.believed and _COMMITTED in state.statuses


def _some(pairs: Iterable[tuple[Any, Any]]) -> bool:
    """Return whether the first of some pair is not earlier than the second."""
    return any(one >= other for one, other in pairs)


def reversed_interval(touched: Touched) -> Found:
    for state in map(touched.state, touched.states):
        if _some(product(state.starts, state.untils)):
            yield from ((entity, f"node {state.node.value}") for entity in touched.owners(state.node))
    for node in touched.semantic_nodes():
        if _some(product(node.instants(VALID_FROM), node.instants(VALID_UNTIL))):
            yield from ((entity, f"node {node.node.value}") for entity in node.iris(ALIAS_OF) + node.iris(SOURCE))


def _steps(touched: Touched) -> Iterator[tuple[TouchedState, TouchedState]]:
    """Yield each pair of a state and one that supersedes it, of which either may have changed."""
    return ((state, touched.state(following)) for state in touched.links for following in state.following)


def _named(state: TouchedState, following: TouchedState) -> str:
    return f"state {state.node.value}, next {following.node.value}"


def cyclic_supersession(touched: Touched) -> Found:
    for state, following in _steps(touched):
        if not following.starts or _some(product(state.starts, following.starts)):
            yield from ((entity, _named(state, following)) for entity in touched.owners(state.node))


def overlapping_states(touched: Touched) -> Found:
    for state, following in _steps(touched):
        if not _some(product(following.starts, state.untils)) and _is_sealed(state) and following.believed:
            yield from ((entity, _named(state, following)) for entity in touched.owners(state.node))


def gap_between_states(touched: Touched) -> Found:
    for state in touched.links:
        if state.untils and _is_sealed(state):
            if not state.following or any(_leaves_a_gap(state, touched.state(each)) for each in state.following):
                yield from ((entity, f"state {state.node.value}") for entity in touched.owners(state.node))
            else:
                yield from _going_over(touched, state)


def _leaves_a_gap(state: TouchedState, following: TouchedState) -> bool:
    late = any(start > until for until, start in product(state.untils, following.starts))
    return late or not _is_sealed(following)


def _going_over(touched: Touched, state: TouchedState) -> Found:
    """Yield the entities whose state is superseded by a state of another one."""
    for each in state.following:
        if each in touched.handed_over or (
            state.node in touched.states and touched.changes_of(state.node, SUPERSEDED_BY)
        ):
            after = touched.owners(each)
            if len(after) == 1 and state.node in touched.tails(after[0]) and state.node not in touched.handed_over:
                continue  # the usual case, known without looking for its owner
            for entity, other in product(touched.owners(state.node), after):
                if entity != other:
                    yield entity, f"state {state.node.value}"


def states_with_one_successor(touched: Touched) -> Found:
    for state in map(touched.state, touched.states):
        if _is_sealed(state) and touched.changes_of(state.node, SUPERSEDED_BY, COMMIT_STATUS, WITHDRAWN_AT):
            for following in state.following:
                others = map(touched.state, touched.subjects(SUPERSEDED_BY, following))
                for other in (each for each in others if each.node != state.node and _is_sealed(each)):
                    for entity in touched.owners(state.node) + touched.owners(other.node):
                        yield entity, f"state {state.node.value}, other {other.node.value}, next {following.value}"


def two_open_sealed_states(touched: Touched) -> Found:
    return _two_open(touched, _COMMITTED, touched.tails)


def two_open_drafts(touched: Touched) -> Found:
    return _two_open(touched, _WIP, touched.drafts)


def _two_open(touched: Touched, status: Literal, others: Callable[[NamedNode], Iterable[NamedNode]]) -> Found:
    """Yield the entities of which a state came to be open beside another one, which is touched or among ``others``."""
    opened: defaultdict[NamedNode, dict[NamedNode, None]] = defaultdict(dict)
    for state in touched.states:
        if touched.state(state).is_open(status):
            for entity in touched.owners(state):
                opened[entity][state] = None
    for entity, states in opened.items():
        more = (each for each in others(entity) if touched.state(each).is_open(status))
        count = len(states | {each: None for each in more if touched.has_state(entity, each)})
        if count > 1:
            yield entity, f"open {count}"


def missing_snapshot(touched: Touched) -> Found:
    for node in _shown_anew(touched, VOID, COMMIT_STATUS):
        if _COMMITTED in touched.state(node).statuses:
            void = _TRUE in touched.about(node, "temporal").terms(VOID)
            for entity in touched.owners(node):
                if void == (next(touched.snapshot(node, entity), None) is not None):
                    yield entity, f"state {node.value}, void {str(void).lower()}"


def snapshot_of_another(touched: Touched) -> Found:
    for node in _shown_anew(touched):
        others = {quad.subject for quad in touched.snapshot(node)}
        for entity in touched.owners(node) if others else ():
            yield from ((entity, f"state {node.value}, other {other}") for other in others - {entity})


def _shown_anew(touched: Touched, *predicates: NamedNode) -> dict[NamedNode, None]:
    nodes = (state for state in touched.states if touched.changes_of(state, *predicates))
    return dict.fromkeys(chain(nodes, touched.snapshots))


def state_of_two_entities(touched: Touched) -> Found:
    for state in touched.handed_over:
        owners = touched.owners(state)
        for entity, other in product(owners, repeat=2) if len(owners) > 1 else ():
            if entity != other:
                yield entity, f"state {state.value}, other {other.value}"


def state_without_entity(touched: Touched) -> Found:
    caused = (state for event in touched.moved for state in touched.subjects(CAUSED_BY, event))
    changed = (state for state in touched.states if touched.changes_of(state, CAUSED_BY))
    for state in dict.fromkeys(chain(changed, caused)):
        for event in touched.about(state, "temporal").iris(CAUSED_BY):
            for entity in touched.objects(event, CHANGES):
                if not touched.has_state(entity, state):
                    yield entity, f"state {state.value}"
