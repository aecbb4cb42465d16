"""The planner of the temporal layer: events in, one change out; each entity of a batch is folded once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from pyoxigraph import NamedNode

from prism_rdf.belief import Delta, Writing
from prism_rdf.model import Event
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.events import event_quads, event_uuid, read_stated, restate, stated_by
from prism_rdf.temporal.fold import Stated, fold
from prism_rdf.temporal.states import plan_states, read_sealed


def plan_events(
    store: GraphReader, events: Iterable[Event], multi: Collection[NamedNode], writing: Writing
) -> Delta:
    """Return the change that records the events and makes the states their fold; empty for events already believed."""
    by_entity: defaultdict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_entity[event.entity].append(event)
    return Delta.joined(_plan_entity(store, uuid, group, multi, writing) for uuid, group in by_entity.items())


def _plan_entity(
    store: GraphReader, uuid: str, events: Sequence[Event], multi: Collection[NamedNode], writing: Writing
) -> Delta:
    entity, graph = writing.names.entity(uuid), writing.names.graph("temporal")
    parts: list[Delta] = []
    news: dict[str, tuple[Stated, ...]] = {}
    for event in events:
        name = event_uuid(event, entity)
        recorded = restate(store, writing.names.event(name), writing)
        if recorded is None:
            parts.append(Delta(event_quads(event, name, writing)))
        elif recorded == Delta():
            continue
        else:
            parts.append(recorded)
        news[name] = stated_by(event, name, writing)
    if not news:
        return Delta()
    stated = read_stated(store, entity, graph) + tuple(s for group in news.values() for s in group)
    parts.append(plan_states(entity, fold(stated, multi), read_sealed(store, entity, graph), writing))
    return Delta.joined(parts)
