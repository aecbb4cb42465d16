"""Why a history is as it is: which event set a value, and what each event changed; read from the stored events."""

from __future__ import annotations

from math import inf
from typing import Any

from pyoxigraph import NamedNode

from prism_rdf.answers import changes_json, entity_json, iso, value_json
from prism_rdf.belief import EARLIER_BELIEF, END_RECORDED_AT, RECORDED_AT, belief_of
from prism_rdf.canonical.catalog import EntityType
from prism_rdf.clock import Instant
from prism_rdf.model import Withdrawal
from prism_rdf.namespaces import Names, local_name, meta_graph, prism
from prism_rdf.review.queue import promotion_of
from prism_rdf.semantic.aliases import aliases_of
from prism_rdf.semantic.merges import KnownMerge, members, merges_into
from prism_rdf.semantic.references import references
from prism_rdf.storage.about import about, subjects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.events import read_stated
from prism_rdf.temporal.fold import Edge, Piece, Rank, fold, instant
from prism_rdf.values import Term, instant_literal


def event_json(store: GraphReader, names: Names, event: NamedNode) -> dict[str, Any]:
    """Return who said what when: the event with its cause, its valid time and the commit that recorded it."""
    node = about(store, event, names.graph("temporal"))
    recorded, memory = node.instant(RECORDED_AT), node.iri(prism("causeMemory"))
    return {
        "event": event.value,
        "event_type": node.text(prism("eventType")),
        "at": iso(node.instant(prism("at"))),
        "recorded_at": iso(recorded),
        "commit": commit_at(store, names, recorded) if recorded else None,
        "cause_memory": memory.value if memory else None,
        "cause_commit": node.text(prism("causeCommit")) or None,
        "source": node.text(prism("source")) or None,
        "description": node.text(prism("description")) or None,
        "tier": node.number(prism("tier")),
        "props_drift": node.text(prism("propsDrift")) == "true",
        "review": review_json(store, names, event),
    }


def review_json(store: GraphReader, names: Names, applied: NamedNode) -> dict[str, Any] | None:
    """Return which guess an event, alias or reference was, what was quoted for it, and who promoted it.

    None for what was said directly.
    """
    found = promotion_of(store, names, applied)
    if found is None:
        return None
    candidate, known = found
    return {
        "candidate": candidate.node.value,
        "reviewer": known.ruling.reviewer or None,
        "reviewed_at": iso(known.recorded_at),
        "note": known.ruling.note or None,
        "edited": list(known.ruling.edited),
        "confidence": candidate.confidence,
        "quotes": [{"quote": each.clue.quote or None, "source": each.clue.source or None} for each in candidate.clues],
    }


def commit_at(store: GraphReader, names: Names, recorded_at: Instant) -> int | None:
    """Return the number of the commit of this system time."""
    meta = meta_graph(names.base)
    for quad in store.quads_for_pattern(None, RECORDED_AT, instant_literal(recorded_at), meta):
        assert isinstance(quad.subject, NamedNode)
        return about(store, quad.subject, meta).number(prism("commitNumber"))
    return None


def pieces_of(store: GraphReader, names: Names, entity: NamedNode, known_at: Instant | None) -> tuple[Piece, ...]:
    """Return the fold of an entity's events as believed at ``known_at`` (None: now)."""
    return fold(read_stated(store, entity, names.graph("temporal"), known_at))


def blame(
    store: GraphReader,
    names: Names,
    entity: NamedNode,
    prop: NamedNode,
    at: Instant,
    known_at: Instant | None,
) -> dict[str, Any]:
    """Return the value of a property at an instant, and the events that set it; no value and no events where none."""
    piece = _at(pieces_of(store, names, entity, known_at), at.micros)
    values = piece.props.get(prop, ()) if piece else ()
    setters = piece.setters.get(prop, ()) if piece else ()
    return {
        "entity": entity.value,
        "property": local_name(prop.value),
        "values": [value_json(store, names, value, at) for value in values],
        "since": iso(_held_since(store, names, entity, prop, at, known_at)) if values else None,
        "events": [event_json(store, names, NamedNode(event)) for event in setters],
    }


def standing_of(
    store: GraphReader, names: Names, entity: NamedNode, kind: EntityType, at: Instant, known_at: Instant | None
) -> list[dict[str, Any]]:
    """Return why the sealed state at an instant is as it is: ``{"property", "value", "since", "events", "outranked"}``.

    ``events`` set the value; ``outranked`` are the events that say another of the same time, each with its ``value``
    and ``by`` what it is outranked: a correction, a later beginning, a later word of one source.
    """
    stated = read_stated(store, entity, names.graph("temporal"), known_at)
    piece = _at(fold(stated), at.micros)
    found = []
    for prop in sorted({each.prop for each in stated}, key=str) if piece is not None else ():
        assert piece is not None
        values, setters = piece.props.get(prop, ()), piece.setters.get(prop, ())
        covering = [each for each in stated if each.prop == prop and each.start <= at.micros < each.until]
        ahead = max((each.rank for each in covering if each.event in setters), default=None)
        beaten = [each for each in covering if each.event not in setters and ahead is not None and each.rank < ahead]
        if values or beaten:
            multi = any(known.iri == prop and known.multi for known in kind.properties)
            shown = [value_json(store, names, value, at) for value in values]
            found.append(
                {
                    "property": local_name(prop.value),
                    "value": shown if multi else next(iter(shown), None),
                    "since": iso(_held_since(store, names, entity, prop, at, known_at)) if values else None,
                    "events": [event_json(store, names, NamedNode(event)) for event in setters],
                    "outranked": [
                        {
                            "value": None if each.value is None else value_json(store, names, each.value, at),
                            "by": _outranked_by(each.rank, ahead),
                            **event_json(store, names, NamedNode(each.event)),
                        }
                        for each in sorted(beaten, key=lambda each: each.rank, reverse=True)
                    ],
                }
            )
    return found


def _outranked_by(rank: Rank, ahead: Rank | None) -> str:
    """Return what makes one assertion outrank another: the first of what ranks them in which they differ."""
    differ = next((n for n, (one, other) in enumerate(zip(rank, ahead or rank, strict=True)) if one != other), 3)
    return ("a correction", "a later beginning", "a later word of one source", "the order of names")[min(differ, 3)]


def _held_since(
    store: GraphReader,
    names: Names,
    entity: NamedNode,
    prop: NamedNode,
    at: Instant,
    known_at: Instant | None,
) -> Instant | None:
    """Return where the unbroken stretch begins in which the property holds what it holds at ``at``."""
    since: Edge = inf
    values: tuple[Term, ...] | None = None
    for piece in pieces_of(store, names, entity, known_at):
        held = piece.props.get(prop)
        if held != values:
            since, values = piece.start, held
        if piece.start <= at.micros < piece.until:
            break
    return instant(since)


def _at(pieces: tuple[Piece, ...], micros: int) -> Piece | None:
    return next((piece for piece in pieces if piece.start <= micros < piece.until), None)


def timeline(
    store: GraphReader, names: Names, entity: NamedNode, kind: EntityType, now: Instant, known_at: Instant | None
) -> list[dict[str, Any]]:
    """Return everything that happened to an entity in valid time, oldest first: ``{"at", "kind", …}``.

    ``state`` entries say what changed and by which events, ``alias`` and ``reference`` entries what began or ended, and
    ``via`` which merged entity it was said of; ``merge`` entries hold for all time and say when they were recorded.
    """
    entries: list[tuple[Edge, dict[str, Any]]] = []
    before: Piece | None = None
    for piece in pieces_of(store, names, entity, known_at):
        caused = [event_json(store, names, NamedNode(event)) for event in piece.causes]
        what = {
            "kind": "state",
            "void": piece.void,
            "changes": changes_json(store, names, before.props if before else {}, piece.props, kind, now),
            "events": caused,
        }
        entries.append((piece.start, what))
        before = piece
    for member in members(store, names, entity, known_at):
        via = {} if member == entity else {"via": entity_json(store, names, member, now)}
        for alias in aliases_of(store, names, member, known_at):
            what = {"kind": "alias", "surface_form": alias.surface_form, "alias_kind": alias.kind, **via}
            entries += _began_and_ended(alias.valid_from, alias.valid_until, what)
        for known in references(store, names, source=member, known_at=known_at):
            target = entity_json(store, names, known.target, now)
            what = {"kind": "reference", "reference_kind": local_name(known.kind.value), "target": target, **via}
            entries += _began_and_ended(known.valid_from, known.valid_until, what)
        entries += [
            (-inf, _merge_json(store, names, merge, now)) for merge in merges_into(store, names, member, known_at)
        ]
    entries.sort(key=lambda entry: (entry[0], entry[1]["kind"]))
    return [{"at": iso(instant(at)), **what} for at, what in entries]


def _merge_json(store: GraphReader, names: Names, merge: KnownMerge, now: Instant) -> dict[str, Any]:
    return {
        "kind": "merge",
        "merged": entity_json(store, names, merge.merged, now),
        "into": entity_json(store, names, merge.into, now),
        "recorded_at": merge.recorded_at.iso(),
        "commit": commit_at(store, names, merge.recorded_at),
        "source": merge.source or None,
        "description": merge.description or None,
        "tier": merge.tier,
    }


def _began_and_ended(
    start: Instant | None, until: Instant | None, what: dict[str, Any]
) -> list[tuple[Edge, dict[str, Any]]]:
    began = [(-inf if start is None else float(start.micros), {**what, "edge": "begins"})]
    return began + ([(float(until.micros), {**what, "edge": "ends"})] if until is not None else [])


def recorded_by(store: GraphReader, names: Names, recorded_at: Instant) -> list[Withdrawal]:
    """Return what would undo the commit of this system time: a withdrawal of each node about which it said something.

    States are left out, they follow from their events.
    """
    found = []
    for layer, link in (
        ("temporal", "changes"),
        ("semantic", "aliasOf"),
        ("semantic", "referenceSource"),
        ("semantic", "mergedEntity"),
        ("semantic", "differentEntity"),
        ("evidence", "claimOf"),
        ("memory", ""),
        ("review", ""),
    ):
        graph = names.graph(layer)
        for subject in _said_at(store, graph, recorded_at):
            node = about(store, subject, graph)
            entity, belief = node.iri(prism(link)) if link else None, belief_of(node)
            if belief is None or (link and entity is None) or belief.withdrawn_at is not None:
                continue
            if layer == "temporal" and belief.recorded_at != recorded_at:
                continue  # an event that is believed again: that is what a later commit said
            found.append(Withdrawal(subject, names.uuid_of(entity.value) if entity else "", recorded_at))
    return sorted(found, key=lambda withdrawal: withdrawal.node.value)


def _said_at(store: GraphReader, graph: NamedNode, recorded_at: Instant) -> set[NamedNode]:
    """Return the nodes in which a belief, or the belief in an end, began at this system time."""
    at = instant_literal(recorded_at)
    predicates = (RECORDED_AT, END_RECORDED_AT)
    found = {quad.subject for each in predicates for quad in store.quads_for_pattern(None, each, at, graph)}
    nodes = {node for node in found if isinstance(node, NamedNode)}
    return nodes | {owner for node in nodes for owner in subjects(store, EARLIER_BELIEF, node, graph)}
