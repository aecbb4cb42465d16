"""Batches of nothing but new histories, as N-Quads: what ``plan`` makes of them, at a fraction of the cost.

Nothing is read of an entity that nobody has heard of, and its history is folded once. What the gate says depends on the
values, and on which statements stand together: each value, and each way of standing together, is judged once. What
cannot be judged so (references, the shapes that a project brings) is left to ``plan``; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf

from pyoxigraph import NamedNode, Quad, Store, Triple

from prism_rdf.belief import Statement, Writing
from prism_rdf.canonical.entities import identity_said
from prism_rdf.canonical.schemas import Schema
from prism_rdf.changes import DUE_AT, Ground, changed, check_intervals
from prism_rdf.clock import Instant
from prism_rdf.errors import ValidationError, Violation
from prism_rdf.model import RETIRED, Event, Intent, NewEntity
from prism_rdf.namespaces import RDF_TYPE, meta_graph
from prism_rdf.scopes import scopes_of
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import MOST_AT_ONCE
from prism_rdf.storage.overlay import Overlay
from prism_rdf.temporal.events import event_said, event_uuid, stated_by, unsound
from prism_rdf.temporal.fold import Piece, Stated, fold
from prism_rdf.temporal.states import fresh_states
from prism_rdf.temporal.tail import frontier, tail_said
from prism_rdf.values import Term, instant_literal

_NOTHING = Store()
_MOST_KEPT = 200_000  # values that passed; a title is said once, a status by everyone
_LEAST = 300  # intents from which on this is worth the fixed cost of loading text


@dataclass(frozen=True)
class History:
    """All that is said of a new entity."""

    entity: NewEntity
    events: tuple[Event, ...]


@dataclass(frozen=True)
class _Folded:
    history: History
    node: NamedNode
    said: tuple[Statement, ...]  # of its events
    stated: tuple[Stated, ...]
    pieces: tuple[Piece, ...]


class Newcomers:
    """Recognises batches that are nothing but new histories; one for each store."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._judges: dict[str, _Judge] = {}

    def text(self, intents: Sequence[Intent], writing: Writing) -> str:
        """Return the N-Quads that fulfil the intents, believed from ``writing.now`` on; empty for any other batch.

        Raises ValidationError for what ``plan`` and the gate would refuse.
        """
        if len(intents) < _LEAST:
            return ""
        schema = self._ground.schema(writing.names)
        histories = self._histories(intents, schema, writing)
        if not histories or schema.shapes.states:
            return ""
        check_intervals(intents)
        folded = [_folded(history, writing) for history in histories]
        if any(not each.pieces for each in folded):
            return ""
        judge = self._judges.get(writing.names.namespace)
        if judge is None or judge.schema is not schema:
            judge = self._judges[writing.names.namespace] = _Judge(schema, self._ground.tenant)
        judge.check(folded, writing)
        said = (each for one in folded for each in _said(one, judge, writing))
        lines = [f"{node} {predicate} {value} {graph} .\n" for node, predicate, value, graph in said]
        return "".join(lines) if len(lines) <= MOST_AT_ONCE else ""

    def _histories(self, intents: Sequence[Intent], schema: Schema, writing: Writing) -> list[History]:
        """Return the histories that the intents are; none when they are anything else."""
        known = {each.iri for each in schema.catalog.types}
        entities: dict[str, NewEntity] = {}
        events: dict[str, list[Event]] = {}
        for intent in intents:
            if isinstance(intent, NewEntity) and entities.setdefault(intent.uuid, intent) == intent:
                if intent.type not in known:
                    return []
            elif isinstance(intent, Event) and _is_plain(intent):
                events.setdefault(intent.entity, []).append(intent)
            else:
                return []
        if entities.keys() != events.keys():
            return []
        store, canonical = self._ground.store, writing.names.graph("canonical")
        if any(about(store, writing.names.entity(uuid), canonical).quads for uuid in entities):
            return []
        return [History(entity, tuple(events[uuid])) for uuid, entity in entities.items()]


def _is_plain(event: Event) -> bool:
    """Return whether nothing is to be looked up for an event: it is named by what it says, and says literals."""
    return not event.uuid and not any(isinstance(said.value, NamedNode) for said in event.assertions)


def _folded(history: History, writing: Writing) -> _Folded:
    node = writing.names.entity(history.entity.uuid)
    said: list[Statement] = []
    stated: list[Stated] = []
    for name, event in {event_uuid(event, node): event for event in history.events}.items():
        said += event_said(event, name, writing)
        stated += stated_by(event, name, writing)
    return _Folded(history, node, tuple(said), tuple(stated), fold(stated))


def _said(folded: _Folded, judge: _Judge, writing: Writing) -> Iterator[Statement]:
    """Yield all that is said of a new entity, in every graph."""
    names, pieces, entity = writing.names, folded.pieces, folded.history.entity
    identity = identity_said(entity, judge.tenant, writing)
    nodes, states = fresh_states(folded.node, pieces, writing)
    yield from chain(identity, folded.said, states)
    yield from tail_said(folded.node, nodes[-1], frontier(folded.stated, pieces[-1].start), writing)
    now, current = writing.now.micros, names.graph("current")
    shown = next((piece for piece in pieces if piece.start <= now < piece.until and not piece.void), None)
    if shown is not None:
        yield from ((node, predicate, value, current) for node, predicate, value, _ in identity)
        parents = judge.schema.catalog.superclasses(entity.type)
        yield from ((folded.node, RDF_TYPE, parent, current) for parent in parents)
        held = ((prop, value) for prop, values in shown.props.items() for value in values)
        yield from ((folded.node, prop, value, current) for prop, value in held)
    edges = (edge for piece in pieces for edge in (piece.start, piece.until))
    due = min((edge for edge in edges if edge > now), default=inf)
    if due != inf:
        yield folded.node, DUE_AT, instant_literal(Instant(int(due))), meta_graph(names.base)


class _Judge:
    """Says what the gate says of new histories, and keeps what passed."""

    def __init__(self, schema: Schema, tenant: str) -> None:
        self.schema = schema
        self.tenant = tenant
        self._passed: set[object] = set()

    def check(self, folded: Sequence[_Folded], writing: Writing) -> None:
        """Raise ValidationError for what is wrong with new histories."""
        found: list[Violation] = []
        values: dict[tuple[NamedNode, NamedNode, Term], str] = {}
        alike: dict[object, Iterable[Statement]] = {}
        for each in folded:
            kind = each.history.entity.type
            known = self.schema.catalog.type(kind)
            found += unsound(each.stated, frozenset(prop.iri for prop in known.properties if prop.multi))
            immutable = frozenset(prop.iri for prop in known.immutable)
            found += changed(each.node, each.pieces, immutable, known.name)
            for stated in each.stated:
                if stated.value is not None and stated.prop != RETIRED:
                    values.setdefault((kind, stated.prop, stated.value), stated.node)
            self._sort(each, alike, writing)
        found = found or self._values_refused(values) or self._refused(alike, writing)
        if found:
            raise ValidationError(found)
        self._keep((*values, *alike))

    def _sort(self, folded: _Folded, alike: dict[object, Iterable[Statement]], writing: Writing) -> None:
        """Take one of each kind of event, identity and state that is new here as the example to judge."""
        entity = folded.history.entity
        for event in folded.history.events:
            key = _form_of(event)
            if key not in self._passed and key not in alike:
                alike[key] = event_said(event, event_uuid(event, folded.node), writing)
        for piece in folded.pieces:
            form = frozenset((prop, len(values)) for prop, values in piece.props.items())
            key = (entity.type, bool(entity.source_memory), piece.void, piece.start == -inf, form)
            if key not in self._passed and key not in alike:
                alike[key] = [
                    *identity_said(entity, self.tenant, writing),
                    *fresh_states(folded.node, [piece], writing)[1],
                ]

    def _values_refused(self, values: Mapping[tuple[NamedNode, NamedNode, Term], str]) -> list[Violation]:
        triples: list[Triple] = []
        for key, node in values.items():
            if key not in self._passed:
                kind, prop, value = key
                assertion = NamedNode(node)
                triples += [Triple(assertion, RDF_TYPE, kind), Triple(assertion, prop, value)]
        return list(self.schema.gate.check({"fragment": triples})) if triples else []

    def _refused(self, alike: Mapping[object, Iterable[Statement]], writing: Writing) -> list[Violation]:
        superclasses = self.schema.catalog.superclasses
        found: dict[Violation, None] = {}
        for said in alike.values():
            after = Overlay(_NOTHING, dict.fromkeys(Quad(*terms) for terms in said), ())
            found |= dict.fromkeys(self.schema.gate.check(scopes_of(after, writing.names, superclasses)))
        return list(found)

    def _keep(self, passed: Collection[object]) -> None:
        if len(self._passed) > _MOST_KEPT:
            self._passed.clear()
        self._passed.update(passed)


def _form_of(event: Event) -> object:
    """Return all of an event but whom it changes, when, and which values it asserts."""
    said = tuple(
        (a.property == RETIRED, a.op, a.value is None, a.start is None, a.until is None) for a in event.assertions
    )
    texts = (event.source, event.cause_commit, event.cause_memory, event.description)
    precision = event.at.precision if event.at is not None else ""
    of_event = (event.event_type, precision, event.tier, event.level, event.sequence < 0, event.props_drift)
    return (*of_event, tuple(map(bool, texts)), said)
