"""What a change would break of states: their intervals, their order, whose they are, and what their snapshots show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, product

from pyoxigraph import Literal, NamedNode

from prism_rdf.belief import VALID_FROM, VALID_UNTIL, WITHDRAWN_AT
from prism_rdf.preflight.touched import Found, Touched, is_believed
from prism_rdf.semantic.aliases import ALIAS_OF
from prism_rdf.semantic.references import SOURCE
from prism_rdf.storage.about import About
from prism_rdf.temporal.events import CHANGES
from prism_rdf.temporal.states import CAUSED_BY, COMMIT_STATUS, SUPERSEDED_BY, VOID

_COMMITTED, _WIP, _TRUE = Literal("committed"), Literal("wip"), Literal(True)


def _sealed(state: About) -> bool:
    return _COMMITTED in state.terms(COMMIT_STATUS)


def _open(state: About, status: Literal) -> bool:
    return status in state.terms(COMMIT_STATUS) and not state.terms(VALID_UNTIL) and is_believed(state)


def reversed_interval(touched: Touched) -> Found:
    for state in map(touched.about, touched.states):
        if _reversed(state):
            yield from ((entity, f"node {state.node.value}") for entity in touched.owners(state.node))
    for node in filter(_reversed, touched.semantic_nodes()):
        yield from ((entity, f"node {node.node.value}") for entity in node.iris(ALIAS_OF) + node.iris(SOURCE))


def _reversed(node: About) -> bool:
    return any(start >= until for start, until in product(node.instants(VALID_FROM), node.instants(VALID_UNTIL)))


def _steps(touched: Touched) -> Iterator[tuple[About, About]]:
    """Yield each pair of a state and one that supersedes it, of which either may have changed."""
    for state in map(touched.about, touched.links):
        yield from ((state, touched.about(following)) for following in state.iris(SUPERSEDED_BY))


def _named(state: About, following: About) -> str:
    return f"state {state.node.value}, next {following.node.value}"


def cyclic_supersession(touched: Touched) -> Found:
    for state, following in _steps(touched):
        starts, later = state.instants(VALID_FROM), following.instants(VALID_FROM)
        if not later or any(start >= next_start for start, next_start in product(starts, later)):
            yield from ((entity, _named(state, following)) for entity in touched.owners(state.node))


def overlapping_states(touched: Touched) -> Found:
    for state, following in _steps(touched):
        untils, later = state.instants(VALID_UNTIL), following.instants(VALID_FROM)
        fits = any(start >= until for until, start in product(untils, later))
        if not fits and _sealed(state) and is_believed(state) and is_believed(following):
            yield from ((entity, _named(state, following)) for entity in touched.owners(state.node))


def gap_between_states(touched: Touched) -> Found:
    for state in map(touched.about, touched.links):
        if _sealed(state) and is_believed(state) and state.terms(VALID_UNTIL):
            following = state.iris(SUPERSEDED_BY)
            if not following or any(_leaves_a_gap(state, touched.about(each)) for each in following):
                yield from ((entity, f"state {state.node.value}") for entity in touched.owners(state.node))
            else:
                yield from _going_over(touched, state, following)


def _leaves_a_gap(state: About, following: About) -> bool:
    late = any(start > until for until, start in product(state.instants(VALID_UNTIL), following.instants(VALID_FROM)))
    return late or not is_believed(following) or not _sealed(following)


def _going_over(touched: Touched, state: About, following: Iterable[NamedNode]) -> Found:
    """Yield the entities whose state is superseded by a state of another one."""
    for each in following:
        if touched.changes_of(state.node, SUPERSEDED_BY) or each in touched.handed_over:
            after = touched.owners(each)
            if len(after) == 1 and state.node in touched.tails(after[0]) and state.node not in touched.handed_over:
                continue  # the usual case, known without looking for its owner
            for entity, other in product(touched.owners(state.node), after):
                if entity != other:
                    yield entity, f"state {state.node.value}"


def states_with_one_successor(touched: Touched) -> Found:
    for state in map(touched.about, touched.states):
        if not touched.changes_of(state.node, SUPERSEDED_BY, COMMIT_STATUS, WITHDRAWN_AT):
            continue
        for following in state.iris(SUPERSEDED_BY) if _sealed(state) and is_believed(state) else ():
            for other in map(touched.about, touched.subjects(SUPERSEDED_BY, following)):
                if other.node != state.node and _sealed(other) and is_believed(other):
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
        if _open(touched.about(state), status):
            for entity in touched.owners(state):
                opened[entity][state] = None
    for entity, states in opened.items():
        more = (each for each in others(entity) if _open(touched.about(each), status))
        count = len(states | {each: None for each in more if touched.has_state(entity, each)})
        if count > 1:
            yield entity, f"open {count}"


def missing_snapshot(touched: Touched) -> Found:
    for state in _shown_anew(touched, VOID, COMMIT_STATUS):
        if _sealed(state):
            void = _TRUE in state.terms(VOID)
            for entity in touched.owners(state.node):
                if void == (next(touched.snapshot(state.node, entity), None) is not None):
                    yield entity, f"state {state.node.value}, void {str(void).lower()}"


def snapshot_of_another(touched: Touched) -> Found:
    for state in _shown_anew(touched):
        others = {quad.subject for quad in touched.snapshot(state.node)}
        for entity in touched.owners(state.node) if others else ():
            yield from ((entity, f"state {state.node.value}, other {other}") for other in others - {entity})


def _shown_anew(touched: Touched, *predicates: NamedNode) -> Iterator[About]:
    nodes = [state for state in touched.states if touched.changes_of(state, *predicates)]
    return map(touched.about, dict.fromkeys(chain(nodes, touched.snapshots)))


def state_of_two_entities(touched: Touched) -> Found:
    for state in touched.handed_over:
        for entity, other in product(touched.owners(state), repeat=2):
            if entity != other:
                yield entity, f"state {state.value}, other {other.value}"


def state_without_entity(touched: Touched) -> Found:
    moved = (event for event, said in touched.of("temporal").items() if CHANGES in said)
    caused = (state for event in moved for state in touched.subjects(CAUSED_BY, event))
    changed = (state for state in touched.states if touched.changes_of(state, CAUSED_BY))
    for state in dict.fromkeys(chain(changed, caused)):
        for event in touched.about(state).iris(CAUSED_BY):
            for entity in touched.objects(event, CHANGES):
                if not touched.has_state(entity, state):
                    yield entity, f"state {state.value}"
