"""Reading states: at an instant, and the whole history, on both time axes; nothing is computed that is not stored."""

from __future__ import annotations

from collections import defaultdict

from pyoxigraph import Literal, NamedNode, QuerySolutions

from prism_rdf.belief import VALID_FROM, belief_at
from prism_rdf.clock import Instant
from prism_rdf.model import State
from prism_rdf.namespaces import PREFIXES, Names
from prism_rdf.storage.about import about, objects, subjects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.storage.overlay import Overlay
from prism_rdf.temporal.drafts import DRAFT_OF, THREAD
from prism_rdf.temporal.states import CAUSED_BY, COMMIT_STATUS, HAS_STATE, SUPERSEDED_BY, VOID
from prism_rdf.temporal.tail import tail_node
from prism_rdf.values import Term, instant_literal


def states_of(
    store: GraphReader, names: Names, entity: NamedNode, known_at: Instant | None = None
) -> tuple[State, ...]:
    """Return the states of an entity believed at ``known_at`` (None: now), oldest first, voids and drafts included.

    Snapshots are left out: ``snapshot`` reads one. A state is believed over [recorded, withdrawn) of system time.
    """
    found = (
        _read(store, names, entity, node, known_at)
        for node in objects(store, entity, HAS_STATE, names.graph("temporal"))
    )
    return tuple(sorted((state for state in found if state is not None), key=_order))


def _order(state: State) -> tuple[bool, int, Instant]:
    """Drafts of two threads may begin at the same instant: the one that was recorded later is the later one."""
    start = state.valid_from
    return (start is not None, start.micros if start else 0, state.recorded_at)


def _read(
    store: GraphReader, names: Names, entity: NamedNode, node: NamedNode, known_at: Instant | None
) -> State | None:
    graph = names.graph("temporal")
    state = about(store, node, graph)
    belief = belief_at(store, state, graph, known_at)
    if belief is None:
        return None
    following = state.iri(SUPERSEDED_BY)
    return State(
        iri=node.value,
        entity=entity.value,
        valid_from=state.instant(VALID_FROM),
        valid_until=belief.until(known_at),
        recorded_at=belief.recorded_at,
        commit_status="wip" if state.text(COMMIT_STATUS) == "wip" else "committed",
        causes=tuple(sorted(cause.value for cause in state.iris(CAUSED_BY))),
        superseded_by=following.value if following else "",
        void=state.term(VOID) is not None,
    )


def sealed_at(
    store: GraphReader, names: Names, entity: NamedNode, at: Instant, known_at: Instant | None = None
) -> State | None:
    """Return the sealed state that covers ``at`` as believed at ``known_at`` (None: now), a void included.

    Of what is believed now the last state is found without looking at the history before it, any other one by a query.
    """
    last = _last(store, names, entity, at) if known_at is None else None
    if last is None and isinstance(store, Overlay):
        return covering(states_of(store, names, entity, known_at), at, prefer_wip=False)
    return last or _asked(store, names, entity, at, known_at)


def state_at(
    store: GraphReader,
    names: Names,
    entity: NamedNode,
    at: Instant,
    known_at: Instant | None,
    *,
    prefer_wip: bool,
) -> State | None:
    """Return the state that covers ``at``, a draft first when preferred, as ``covering`` does of all states."""
    draft = covering(_drafts_of(store, names, entity, known_at), at, prefer_wip=True) if prefer_wip else None
    return draft or sealed_at(store, names, entity, at, known_at)


def _drafts_of(store: GraphReader, names: Names, entity: NamedNode, known_at: Instant | None) -> tuple[State, ...]:
    graph = names.graph("temporal")
    found = (
        _read(store, names, entity, version, known_at)
        for thread in subjects(store, DRAFT_OF, entity, graph)
        for version in subjects(store, THREAD, thread, graph)
    )
    return tuple(sorted((state for state in found if state is not None), key=_order))


def _last(store: GraphReader, names: Names, entity: NamedNode, at: Instant) -> State | None:
    last = tail_node(store, names, entity)
    state = _read(store, names, entity, last, None) if last is not None else None
    return state if state is not None and (state.valid_from is None or state.valid_from <= at) else None


def _asked(store: GraphReader, names: Names, entity: NamedNode, at: Instant, known_at: Instant | None) -> State | None:
    """Read what a query finds, the state that begins last first, until one is believed then and covers ``at``."""
    text = _COVERING if known_at is None else _BEGUN
    text = text.replace("$graph", str(names.graph("temporal"))).replace("$entity", str(entity))
    answer = store.query(text.replace("$at", str(instant_literal(at))), prefixes=PREFIXES)
    assert isinstance(answer, QuerySolutions)
    found = (_read(store, names, entity, row[0], known_at) for row in answer)
    return next((state for state in found if state and covering((state,), at, prefer_wip=False)), None)


# Drafts are found too: they are few, and a pattern that leaves them out costs more.
_COVERING = """SELECT ?state { GRAPH $graph {
    $entity prism:hasState ?state .
    ?state prism:validUntil ?until . FILTER (?until > $at)
    OPTIONAL { ?state prism:validFrom ?from } FILTER (!BOUND(?from) || ?from <= $at)
    FILTER NOT EXISTS { ?state prism:withdrawnAt ?withdrawn } } }"""
_BEGUN = """SELECT ?state { GRAPH $graph {
    $entity prism:hasState ?state .
    OPTIONAL { ?state prism:validFrom ?from } FILTER (!BOUND(?from) || ?from <= $at) } } ORDER BY DESC(?from)"""


def future_edges(store: GraphReader, names: Names, entity: NamedNode, after: Instant) -> tuple[Instant, ...]:
    """Return where the sealed states of an entity begin or end after ``after``."""
    if _last(store, names, entity, after) is not None or tail_node(store, names, entity) is None:
        return ()
    states = (each for each in states_of(store, names, entity) if each.commit_status == "committed")
    edges = (edge for each in states for edge in (each.valid_from, each.valid_until))
    return tuple(edge for edge in edges if edge is not None and edge > after)


def covering(states: tuple[State, ...], at: Instant, *, prefer_wip: bool) -> State | None:
    """Return the state of [valid_from, valid_until) that covers ``at``: a draft first when preferred.

    A void counts as a state: it says that there was nothing.
    """
    covers = [
        state
        for state in states
        if (state.valid_from is None or state.valid_from <= at)
        and (state.valid_until is None or at < state.valid_until)
    ]
    sealed = [state for state in covers if state.commit_status == "committed"]
    drafts = [state for state in covers if state.commit_status == "wip"]
    order = drafts[-1:] + sealed[-1:] if prefer_wip else sealed[-1:]
    return order[0] if order else None


def snapshot(store: GraphReader, state: NamedNode) -> dict[NamedNode, tuple[Term, ...]]:
    """Return what a state holds: property to its values, sorted."""
    props: defaultdict[NamedNode, list[Term]] = defaultdict(list)
    for quad in store.quads_for_pattern(None, None, None, state):
        if isinstance(quad.object, (NamedNode, Literal)):
            props[quad.predicate].append(quad.object)
    return {prop: tuple(sorted(each, key=str) if len(each) > 1 else each) for prop, each in props.items()}


def whole_snapshot(
    store: GraphReader, names: Names, state: State, known_at: Instant | None = None
) -> dict[NamedNode, tuple[Term, ...]]:
    """Return what a state holds; what a draft says is laid over the sealed state in which it was begun.

    Both are as believed at ``known_at`` (None: now).
    """
    props = snapshot(store, NamedNode(state.iri))
    if state.commit_status == "committed" or state.valid_from is None:
        return props
    sealed = sealed_at(store, names, NamedNode(state.entity), state.valid_from, known_at)
    return {**snapshot(store, NamedNode(sealed.iri)), **props} if sealed is not None else props
