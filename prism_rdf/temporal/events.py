"""Events and assertions as quads, both ways; what they fold to is in fold.py and states.py."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import inf
from typing import cast

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import RECORDED_AT, Delta, Statement, Writing, belief_at, belief_of, revise
from prism_rdf.clock import Instant
from prism_rdf.errors import Violation
from prism_rdf.model import Event, Op
from prism_rdf.namespaces import RDF_TYPE, derived_uuid, local_name, prism
from prism_rdf.storage.about import About, about, subjects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.fold import Stated, edge
from prism_rdf.values import Term, canonical_term, instant_literal

CHANGES = prism("changes")
ASSERTION = prism("assertion")
_AT = prism("at")
_FROM = prism("from")
UNTIL = prism("until")
PROPERTY = prism("property")
_VALUE = prism("value")
_OP = prism("op")
_LEVEL = prism("level")
_SEQUENCE = prism("sequence")
_EVENT = prism("SupersessionEvent")
_EVENT_TYPE = prism("eventType")
_TIER = prism("tier")
_PRECISION = prism("atPrecision")
_CAUSE_MEMORY = prism("causeMemory")
_PROPS_DRIFT = prism("propsDrift")

_OPTIONAL_TEXT = {
    "cause_commit": prism("causeCommit"),
    "description": prism("description"),
    "source": prism("source"),
}


def event_uuid(event: Event, entity: NamedNode) -> str:
    """Return the event's own uuid, or the one that follows from what it says and who says so."""
    if event.uuid:
        return event.uuid
    said = ["\t".join((a.property.value, str(a.value), a.op, _text(a.start), _text(a.until))) for a in event.assertions]
    return derived_uuid(
        "event",
        entity.value,
        event.event_type,
        _text(event.at.instant) if event.at else "",
        event.at.precision if event.at else "",
        event.source,
        event.cause_commit,
        event.cause_memory,
        str(event.sequence),
        str(event.level),
        *said,
    )


def _text(instant: Instant | None) -> str:
    return instant.iso() if instant else ""


def event_quads(event: Event, uuid: str, writing: Writing) -> tuple[Quad, ...]:
    """Return the quads of an event recorded now, its assertions included."""
    return tuple(Quad(*said) for said in event_said(event, uuid, writing))


def event_said(event: Event, uuid: str, writing: Writing) -> list[Statement]:
    """Return what is said of an event recorded now, and of its assertions."""
    names, graph = writing.names, writing.names.graph("temporal")
    node = names.event(uuid)
    said: list[tuple[NamedNode, Term]] = [
        (RDF_TYPE, _EVENT),
        (CHANGES, names.entity(event.entity)),
        (_EVENT_TYPE, Literal(event.event_type)),
        (RECORDED_AT, instant_literal(writing.now)),
        (_TIER, Literal(event.tier)),
        (_SEQUENCE, Literal(event.sequence)),
        (_LEVEL, Literal(event.level)),
    ]
    if event.at is not None:
        said.append((_AT, instant_literal(event.at.instant)))
        if event.at.precision != "instant":
            said.append((_PRECISION, Literal(event.at.precision)))
    if event.cause_memory:
        said.append((_CAUSE_MEMORY, NamedNode(event.cause_memory)))
    if event.props_drift is not None:
        said.append((_PROPS_DRIFT, Literal(event.props_drift)))
    for field, predicate in _OPTIONAL_TEXT.items():
        if getattr(event, field):
            said.append((predicate, Literal(getattr(event, field))))
    statements: list[Statement] = [(node, predicate, value, graph) for predicate, value in said]
    for index in range(len(event.assertions)):
        statements += _assertion_said(event, node, index, writing)
    return statements


def _assertion_said(event: Event, event_node: NamedNode, index: int, writing: Writing) -> list[Statement]:
    graph = writing.names.graph("temporal")
    said = event.assertions[index]
    node = NamedNode(f"{event_node.value}#{index}")
    statements: list[Statement] = [
        (event_node, ASSERTION, node, graph),
        (node, PROPERTY, said.property, graph),
        (node, _OP, Literal(said.op), graph),
    ]
    if said.value is not None:
        statements.append((node, _VALUE, canonical_term(said.value), graph))
    if said.start is not None and (event.at is None or said.start != event.at.instant):
        statements.append((node, _FROM, instant_literal(said.start), graph))
    if said.until is not None:
        statements.append((node, UNTIL, instant_literal(said.until), graph))
    return statements


def stated_by(event: Event, uuid: str, writing: Writing) -> tuple[Stated, ...]:
    """Return what an event about to be written states, in the form the fold takes."""
    node = writing.names.event(uuid).value
    at = edge(event.at.instant if event.at else None, -inf)
    return tuple(
        Stated(
            event=node,
            prop=said.property,
            value=None if said.value is None else canonical_term(said.value),
            op=said.op,
            start=at if said.start is None else edge(said.start, -inf),
            until=edge(said.until, inf),
            level=event.level,
            sequence=event.sequence,
            node=f"{node}#{index}",
        )
        for index, said in enumerate(event.assertions)
    )


def unsound(stated: Iterable[Stated], multi: Collection[NamedNode]) -> list[Violation]:
    """Return what is wrong with assertions whose operation does not fit the property or the value."""
    found = []
    for each in stated:
        name = local_name(each.prop.value)
        if (each.value is None) != (each.op == "clear"):
            message, mend = f"a {each.op} of {name} has no fitting value", "give a value, and none to clear"
            found.append(_violation(each, _VALUE, "" if each.value is None else each.value.value, message, mend))
        if each.op == "remove" and each.prop not in multi:
            message, mend = f"{name} is single-valued: one cannot remove a value from it", "clear it, or set another"
            found.append(_violation(each, _OP, each.op, message, mend))
    return found


def _violation(stated: Stated, path: NamedNode, value: str, message: str, mend: str) -> Violation:
    return Violation(stated.node, path.value, value, "operation of an assertion", message, mend)


def read_stated(
    store: GraphReader, entity: NamedNode, graph: NamedNode, known_at: Instant | None = None
) -> tuple[Stated, ...]:
    """Return what the believed events of an entity state, as believed at ``known_at`` (None: now)."""
    stated: list[Stated] = []
    for node in subjects(store, CHANGES, entity, graph):
        event = about(store, node, graph)
        if belief_at(store, event, graph, known_at) is not None:
            stated += _read_assertions(store, event, graph)
    return tuple(stated)


def read_assertion(store: GraphReader, node: NamedNode, graph: NamedNode) -> Stated:
    """Return what one recorded assertion states."""
    return _stated(store, about(store, NamedNode(node.value.partition("#")[0]), graph), node, graph)


def _read_assertions(store: GraphReader, event: About, graph: NamedNode) -> Iterable[Stated]:
    return (_stated(store, event, node, graph) for node in event.iris(ASSERTION))


def _stated(store: GraphReader, event: About, node: NamedNode, graph: NamedNode) -> Stated:
    said = about(store, node, graph)
    prop = said.iri(PROPERTY)
    assert prop is not None
    return Stated(
        event=event.node.value,
        prop=prop,
        value=said.term(_VALUE),
        op=cast(Op, said.text(_OP)),
        start=edge(said.instant(_FROM) or event.instant(_AT), -inf),
        until=edge(said.instant(UNTIL), inf),
        level=event.number(_LEVEL),
        sequence=event.number(_SEQUENCE),
        node=node.value,
    )


def restate(store: GraphReader, node: NamedNode, writing: Writing) -> Delta | None:
    """Return what makes a recorded event believed: nothing when it is, None when it was never recorded."""
    graph = writing.names.graph("temporal")
    belief = belief_of(about(store, node, graph))
    return None if belief is None else revise(node, graph, belief, None, writing)
