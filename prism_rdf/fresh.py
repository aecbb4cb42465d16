"""Batches of nothing but new histories, as N-Quads: what ``plan`` makes of them, at a fraction of the cost.

Nothing is read of an entity that nobody has heard of, its history is folded once, and the gate's verdict is kept
(precedents.py). What cannot be judged so (references, the shapes that a project brings) is left to ``plan``; a test
holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf

from pyoxigraph import NamedNode

from prism_rdf.belief import Statement, Writing
from prism_rdf.canonical.entities import identity_said
from prism_rdf.canonical.schemas import Schema
from prism_rdf.changes import DUE_AT, Ground, changed, check_intervals
from prism_rdf.clock import Instant
from prism_rdf.errors import ValidationError, Violation
from prism_rdf.model import Event, Intent, NewEntity
from prism_rdf.namespaces import RDF_TYPE, meta_graph
from prism_rdf.precedents import Case, PrecedentsByProject
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import MOST_AT_ONCE
from prism_rdf.temporal.events import event_said, event_uuid, stated_by, unsound
from prism_rdf.temporal.fold import Stated, fold
from prism_rdf.temporal.states import fresh_states
from prism_rdf.temporal.tail import frontier, tail_said
from prism_rdf.values import instant_literal
from prism_rdf.views import Superclasses

_LEAST = 300  # intents from which on this is worth the fixed cost of loading text


@dataclass(frozen=True)
class _History:
    """All that is said of a new entity; ``said`` is what its events consist of."""

    case: Case
    said: tuple[Statement, ...]


class Newcomers:
    """Recognises batches that are nothing but new histories; one for each store."""

    def __init__(self, ground: Ground, precedents: PrecedentsByProject) -> None:
        self._ground = ground
        self._precedents = precedents

    def text(self, intents: Sequence[Intent], writing: Writing) -> str:
        """Return the N-Quads that fulfil the intents, believed from ``writing.now`` on; empty for any other batch.

        Raises ValidationError for what ``plan`` and the gate would refuse.
        """
        if len(intents) < _LEAST:
            return ""
        schema = self._ground.schema(writing.names)
        found = self._entities(intents, schema, writing)
        if not found or schema.shapes.states:
            return ""
        check_intervals(intents)
        histories = [_history(entity, events, writing) for entity, events in found]
        if any(not each.case.pieces for each in histories):
            return ""
        self._check([each.case for each in histories], schema, writing)
        superclasses, tenant = schema.catalog.superclasses, self._ground.tenant
        said = (each for one in histories for each in _said(one, superclasses, tenant, writing))
        lines = [f"{node} {predicate} {value} {graph} .\n" for node, predicate, value, graph in said]
        return "".join(lines) if len(lines) <= MOST_AT_ONCE else ""

    def _entities(
        self, intents: Sequence[Intent], schema: Schema, writing: Writing
    ) -> list[tuple[NewEntity, list[Event]]]:
        """Return the new entities with their events that the intents are; none when they are anything else."""
        known = {each.iri for each in schema.catalog.types}
        entities: dict[str, NewEntity] = {}
        events: dict[str, list[Event]] = {}
        for intent in intents:
            if isinstance(intent, NewEntity) and entities.setdefault(intent.uuid, intent) == intent:
                if intent.type not in known:
                    return []
            elif isinstance(intent, Event) and is_plain(intent):
                events.setdefault(intent.entity, []).append(intent)
            else:
                return []
        if entities.keys() != events.keys():
            return []
        store, canonical = self._ground.store, writing.names.graph("canonical")
        if any(about(store, writing.names.entity(uuid), canonical).quads for uuid in entities):
            return []
        return [(entity, events[uuid]) for uuid, entity in entities.items()]

    def _check(self, cases: Sequence[Case], schema: Schema, writing: Writing) -> None:
        """Raise ValidationError for what is wrong with new histories."""
        found: list[Violation] = []
        for each in cases:
            known = schema.catalog.type(each.entity.type)
            found += unsound(each.stated, known.multi_valued)
            found += changed(each.node, each.pieces, known.unchanging, known.name)
        found = found or self._precedents.of(writing.names, schema).judge(cases, writing)
        if found:
            raise ValidationError(found)


def is_plain(event: Event) -> bool:
    """Return whether nothing is to be looked up for an event: it is named by what it says, and says literals."""
    return not event.uuid and not any(isinstance(said.value, NamedNode) for said in event.assertions)


def _history(entity: NewEntity, events: Iterable[Event], writing: Writing) -> _History:
    node = writing.names.entity(entity.uuid)
    said: list[Statement] = []
    stated: list[Stated] = []
    named = {event_uuid(event, node): event for event in events}
    for name, event in named.items():
        said += event_said(event, name, writing)
        stated += stated_by(event, name, writing)
    return _History(Case(entity, node, tuple(named.values()), tuple(stated), fold(stated)), tuple(said))


def _said(history: _History, superclasses: Superclasses, tenant: str, writing: Writing) -> Iterator[Statement]:
    """Yield all that is said of a new entity, in every graph."""
    names, case = writing.names, history.case
    pieces, entity = case.pieces, case.node
    identity = identity_said(case.entity, tenant, writing)
    nodes, states = fresh_states(entity, pieces, writing)
    yield from chain(identity, history.said, states)
    yield from tail_said(entity, nodes[-1], frontier(case.stated, pieces[-1].start), writing)
    now, current = writing.now.micros, names.graph("current")
    shown = next((piece for piece in pieces if piece.start <= now < piece.until and not piece.void), None)
    if shown is not None:
        yield from ((node, predicate, value, current) for node, predicate, value, _ in identity)
        yield from ((entity, RDF_TYPE, parent, current) for parent in superclasses(case.entity.type))
        held = ((prop, value) for prop, values in shown.props.items() for value in values)
        yield from ((entity, prop, value, current) for prop, value in held)
    edges = (edge for piece in pieces for edge in (piece.start, piece.until))
    due = min((edge for edge in edges if edge > now), default=inf)
    if due != inf:
        yield entity, DUE_AT, instant_literal(Instant(int(due))), meta_graph(names.base)
