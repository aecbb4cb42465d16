"""Batches of nothing but plain events that go on with known histories: what ``plan`` makes of them, at half the cost.

Such an event says literals that hold from a past instant on, after all else that was said of its entity. It ends the
last state and begins others; of the current graph it changes what that state shows. The gate's verdict is kept
(precedents.py). All else, and whatever would be refused, is left to ``plan``; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import EARLIER_BELIEF, Delta, Writing
from prism_rdf.canonical.schemas import Schema
from prism_rdf.changes import DUE_AT, Ground, Planned, changed
from prism_rdf.fresh import is_plain
from prism_rdf.model import RETIRED, ChangeSet, Event, Intent, NewEntity
from prism_rdf.namespaces import RDF_TYPE, meta_graph
from prism_rdf.precedents import Case, PrecedentsByProject
from prism_rdf.semantic.merges import INTO, MERGED
from prism_rdf.storage.about import about, subjects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.storage.overlay import Overlay
from prism_rdf.storage.read_once import ReadOnce
from prism_rdf.temporal.events import event_quads, event_uuid, stated_by, unsound
from prism_rdf.temporal.fold import Piece, Stated
from prism_rdf.temporal.plan import append
from prism_rdf.temporal.tail import Tail, read_tail
from prism_rdf.views import ALT_LABEL, HIDDEN_LABEL

_SHOWN_OTHERWISE = {ALT_LABEL, HIDDEN_LABEL, RDF_TYPE}  # the current graph has these from elsewhere too


@dataclass(frozen=True)
class _Appended:
    """What new events make of one entity, how it is judged, and which nodes are written for the first time."""

    case: Case
    delta: Delta
    new: tuple[NamedNode, ...]


class Appender:
    """Recognises batches that only go on with known histories; one for each store."""

    def __init__(self, ground: Ground, precedents: PrecedentsByProject) -> None:
        self._ground = ground
        self._precedents = precedents

    def plan(self, intents: Sequence[Intent], writing: Writing) -> Planned | None:
        """Return the change that fulfils the intents, judged; None for any other batch."""
        by_entity: dict[str, list[Event]] = {}
        for intent in intents:
            if not isinstance(intent, Event) or not is_plain(intent):
                return None
            by_entity.setdefault(intent.entity, []).append(intent)
        schema, before = self._ground.schema(writing.names), ReadOnce(self._ground.store)
        if schema.shapes.states:
            return None
        appended: list[_Appended] = []
        for uuid, events in by_entity.items():
            one = _append(before, uuid, events, schema, writing)
            if one is None:
                return None
            appended.append(one)
        if not appended or self._precedents.of(writing.names, schema).judge([one.case for one in appended], writing):
            return None
        before.take_as_new(node for one in appended for node in one.new)
        whole = Delta.joined(one.delta for one in appended)
        return Planned(ChangeSet(whole.adds, whole.removes), before, Overlay(before, whole.adds, whole.removes))


def _append(store: ReadOnce, uuid: str, events: Sequence[Event], schema: Schema, writing: Writing) -> _Appended | None:
    """Return what the events make of an entity; None where they do anything but go on with its history."""
    names = writing.names
    entity, temporal = names.entity(uuid), names.graph("temporal")
    kind = about(store, entity, names.graph("canonical")).iri(RDF_TYPE)
    if kind is None or _is_shown_otherwise(store, entity, writing):
        return None
    tail = read_tail(store, names, entity)
    named = {event_uuid(event, entity): event for event in events}
    if tail is None or tail.state.void or any(about(store, names.event(name), temporal).quads for name in named):
        return None
    fresh = [stated for name, event in named.items() for stated in stated_by(event, name, writing)]
    known = schema.catalog.type(kind)
    if not all(_goes_on(each, tail, writing) for each in fresh) or unsound(fresh, known.multi_valued):
        return None
    pieces, nodes, planned = append(store, entity, tail, fresh, writing)
    begun = nodes[1:]
    if nodes[0] != tail.state.node or not begun or not all(store.is_new(node, temporal) for node in begun):
        return None
    if not _are_plain(pieces, writing) or any(changed(entity, pieces, known.unchanging, known.name)):
        return None
    said = (Delta(event_quads(event, name, writing)) for name, event in named.items())
    delta = Delta.joined([*said, *planned, _shown(entity, pieces, writing)])
    ended = (*about(store, tail.state.node, temporal).quads, *(q for q in delta.adds if q.subject == tail.state.node))
    if any(quad.predicate == EARLIER_BELIEF for quad in ended):
        return None
    stated = {(each.prop, each.value) for each in fresh}
    held = ((prop, value) for piece in pieces[1:] for prop, values in piece.props.items() for value in values)
    case = Case(
        NewEntity(uuid, kind),
        entity,
        tuple(named.values()),
        tuple(fresh),
        pieces[1:],
        tuple(each for each in held if each not in stated),
        tuple((tail.state.node, quad.predicate, quad.object, temporal) for quad in ended),  # type: ignore[misc]
    )
    return _Appended(case, delta, (*begun, *map(names.event, named), *(NamedNode(each.node) for each in fresh)))


def _is_shown_otherwise(store: GraphReader, entity: NamedNode, writing: Writing) -> bool:
    """Return whether the current graph says of an entity what its last state does not, or will by time alone."""
    names = writing.names
    semantic, meta = names.graph("semantic"), meta_graph(names.base)
    return bool(
        subjects(store, MERGED, entity, semantic)
        or subjects(store, INTO, entity, semantic)
        or next(store.quads_for_pattern(entity, DUE_AT, None, meta), None)
    )


def _goes_on(stated: Stated, tail: Tail, writing: Writing) -> bool:
    """Return whether an assertion holds from after the last state's beginning on, which is past, and for good."""
    return tail.start < stated.start <= writing.now.micros and stated.until == inf and stated.prop != RETIRED


def _are_plain(pieces: Iterable[Piece], writing: Writing) -> bool:
    """Return whether pieces have begun, and show literals, none by a property that something else shows too."""
    return all(
        not piece.void
        and piece.start <= writing.now.micros
        and _SHOWN_OTHERWISE.isdisjoint(piece.props)
        and all(isinstance(value, Literal) for values in piece.props.values() for value in values)
        for piece in pieces
    )


def _shown(entity: NamedNode, pieces: Sequence[Piece], writing: Writing) -> Delta:
    """Return what makes the current graph show the last of the pieces, where it shows the first."""
    before, after = ({(p, v) for p, values in piece.props.items() for v in values} for piece in (pieces[0], pieces[-1]))
    current = writing.names.graph("current")
    adds, removes = (
        tuple(Quad(entity, prop, value, current) for prop, value in sorted(said, key=str))
        for said in (after - before, before - after)
    )
    return Delta(adds, removes)
