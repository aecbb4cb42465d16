"""The planner of the temporal layer: events in, one change out; each entity of a batch is folded once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from pyoxigraph import NamedNode

from prism_rdf.belief import Delta, Writing, withdraw
from prism_rdf.clock import Instant
from prism_rdf.errors import ValidationError
from prism_rdf.model import RETIRED, Event, Withdrawal
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.events import event_quads, event_uuid, read_stated, restate, stated_by, unsound
from prism_rdf.temporal.fold import Edge, Piece, Stated, fold, instant
from prism_rdf.temporal.read import snapshot
from prism_rdf.temporal.states import plan_states, read_sealed, read_state, state_uuid
from prism_rdf.temporal.tail import Tail, frontier, plan_tail, read_frontier, read_tail
from prism_rdf.values import Term


@dataclass(frozen=True)
class Folding:
    """What new events make of one entity: its history, whole or from its former last state on, and the change.

    ``shows`` is whether any state changes; where none does, ``retired`` is since when the entity is, if that is why.
    """

    entity: NamedNode
    pieces: tuple[Piece, ...]
    delta: Delta
    shows: bool
    retired: Instant | None = None


def plan_events(
    store: GraphReader, changes: Iterable[Event | Withdrawal], multi: Collection[NamedNode], writing: Writing
) -> tuple[Folding, ...]:
    """Return a folding for each entity that the events and withdrawals of events change.

    None for events that are already believed, or withdrawals of what is not believed or is no event. Raises
    ValidationError for an assertion whose operation does not fit.
    """
    by_entity: defaultdict[str, list[Event | Withdrawal]] = defaultdict(list)
    for change in changes:
        by_entity[change.entity].append(change)
    foldings = (_plan_entity(store, uuid, group, multi, writing) for uuid, group in by_entity.items())
    return tuple(folding for folding in foldings if folding is not None)


def _plan_entity(
    store: GraphReader, uuid: str, changes: Sequence[Event | Withdrawal], multi: Collection[NamedNode], writing: Writing
) -> Folding | None:
    entity, graph = writing.names.entity(uuid), writing.names.graph("temporal")
    parts: list[Delta] = []
    news: dict[str, tuple[Stated, ...]] = {}
    withdrawn = {
        change.node.value
        for change in changes
        if isinstance(change, Withdrawal) and restate(store, change.node, writing) == Delta()
    }
    parts += [withdraw(NamedNode(node), graph, writing) for node in sorted(withdrawn)]
    for event in changes:
        if isinstance(event, Withdrawal):
            continue
        name = event_uuid(event, entity)
        recorded = restate(store, writing.names.event(name), writing)
        if recorded == Delta() or name in news:
            continue
        parts.append(Delta(event_quads(event, name, writing)) if recorded is None else recorded)
        news[name] = stated_by(event, name, writing)
    if not news and not withdrawn:
        return None
    fresh = [each for group in news.values() for each in group]
    found = unsound(fresh, multi)
    if found:
        raise ValidationError(found)
    retired: Instant | None = None
    tail = read_tail(store, writing.names, entity)
    if tail is not None and not tail.state.void and not withdrawn and all(each.start > tail.start for each in fresh):
        pieces, _, planned = append(store, entity, tail, fresh, writing)
    else:
        believed = [each for each in read_stated(store, entity, graph) if each.event not in withdrawn]
        pieces, planned = refold(store, entity, believed + fresh, writing)
        retired = _retired_since(pieces, believed, fresh)
    return Folding(entity, pieces, Delta.joined([*parts, *planned]), planned[0] != Delta(), retired)


def _retired_since(pieces: Iterable[Piece], believed: Iterable[Stated], fresh: Iterable[Stated]) -> Instant | None:
    """Return since when an entity is retired where something new begins while it is; None where nothing does."""
    if all(each.prop != RETIRED for each in believed):
        return None
    starts = [each.start for each in fresh if each.prop != RETIRED]
    gone = (piece for piece in pieces if piece.void and any(piece.start <= start < piece.until for start in starts))
    return next((instant(piece.start) for piece in gone), None)


def refold(
    store: GraphReader, entity: NamedNode, stated: list[Stated], writing: Writing
) -> tuple[tuple[Piece, ...], list[Delta]]:
    """Fold the whole history anew from what is ``stated``, against the states and the tail that are in ``store``."""
    pieces = fold(stated)
    stored = read_sealed(store, entity, writing.names.graph("temporal"))
    nodes, delta = plan_states(entity, pieces, stored, writing)
    since = pieces[-1].start if pieces else inf
    kept = frontier(stated, since)
    return pieces, [delta, plan_tail(store, entity, nodes[-1] if nodes else None, kept, writing)]


def append(
    store: GraphReader, entity: NamedNode, tail: Tail, fresh: list[Stated], writing: Writing
) -> tuple[tuple[Piece, ...], list[NamedNode], list[Delta]]:
    """Fold from the last state on: what lies before it cannot change. Return the pieces, their nodes, and the change.

    That state is not void, so it shows what the properties that never change have been so far. What nothing new is said
    of goes on as it shows it, for it is the last; only of who retires or is reopened all is looked at.
    """
    held, graph = snapshot(store, tail.state.node), writing.names.graph("temporal")
    props = {each.prop for each in fresh}
    told, going_on = read_frontier(store, writing.names, entity, {*props, *held} if RETIRED in props else props)
    kept = {prop: values for prop, values in held.items() if prop in going_on}
    first, *rest = (_with(kept, piece) for piece in _from(tail.start, fold(told + fresh, tail.start)))
    pieces = (replace(first, causes=tuple(cause.value for cause in tail.state.causes)), *rest)
    stored = {tail.state.node: tail.state}
    for piece in rest:
        state = read_state(store, writing.names.state(state_uuid(entity, piece)), graph)
        if state is not None:
            stored[state.node] = state
    nodes, delta = plan_states(entity, pieces, stored, writing)
    lasting = frontier(told + fresh, pieces[-1].start)
    return pieces, nodes, [delta, plan_tail(store, entity, nodes[-1], lasting, writing, going_on.values())]


def _from(start: Edge, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return pieces that begin at ``start``: with a void where nothing is told yet."""
    if pieces and pieces[0].start == start:
        return pieces
    return (Piece(start, pieces[0].start if pieces else inf, {}, (), {}, void=True), *pieces)


def _with(kept: Mapping[NamedNode, tuple[Term, ...]], piece: Piece) -> Piece:
    """Return a piece that holds this too."""
    return replace(piece, props={**piece.props, **kept}, void=False) if kept else piece
