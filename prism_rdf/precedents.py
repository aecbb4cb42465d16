"""What the gate says of plain statements, by precedent: each value, and each way of standing together, is judged once.

Without shapes of the project's own nothing else makes a difference. Nothing is read or written here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import inf

from pyoxigraph import NamedNode, Quad, Store, Triple

from prism_rdf.belief import Statement, Writing
from prism_rdf.canonical.entities import identity_said
from prism_rdf.canonical.schemas import Schema
from prism_rdf.errors import Violation
from prism_rdf.model import RETIRED, Event, NewEntity
from prism_rdf.namespaces import RDF_TYPE, Names
from prism_rdf.scopes import scopes_of
from prism_rdf.storage.overlay import Overlay
from prism_rdf.temporal.events import event_said, event_uuid
from prism_rdf.temporal.fold import Piece, Stated
from prism_rdf.temporal.states import fresh_states
from prism_rdf.values import Term

_NOTHING = Store()
_MOST_KEPT = 200_000  # values that passed; a title is said once, a status by everyone

_Value = tuple[NamedNode, NamedNode, Term]  # a type, a property, a value
_Forms = Mapping[object, Iterable[Statement]]  # an example of each


@dataclass(frozen=True)
class Case:
    """What is new about an entity: events, what they state, the states that begin, and the one that ends, whole.

    ``carried`` is what these states say that none of the events states.
    """

    entity: NewEntity
    node: NamedNode
    events: tuple[Event, ...]
    stated: tuple[Stated, ...]
    pieces: tuple[Piece, ...]
    carried: tuple[tuple[NamedNode, Term], ...] = ()
    ended: tuple[Statement, ...] = ()


class Precedents:
    """Judges by the types of one project, and keeps what passed."""

    def __init__(self, schema: Schema, tenant: str) -> None:
        self.schema = schema
        self._tenant = tenant
        self._passed: set[object] = set()

    def judge(self, cases: Collection[Case], writing: Writing) -> list[Violation]:
        """Return what the gate says against some cases, of which no value is an entity; nothing when all may pass."""
        values: dict[_Value, str] = {}
        forms: dict[object, Iterable[Statement]] = {}
        for case in cases:
            self._take_values(case, values)
            self._take_forms(case, forms, writing)
        found = self._refused_values(values) or self._refused_forms(forms, writing)
        if not found:
            if len(self._passed) > _MOST_KEPT:
                self._passed.clear()
            self._passed.update(values, forms)
        return found

    def _take_values(self, case: Case, values: dict[_Value, str]) -> None:
        """Take the values that have no precedent, each with the node to name in a violation."""
        kind = case.entity.type
        for each in case.stated:
            if each.value is not None and each.prop != RETIRED:
                self._take_value((kind, each.prop, each.value), each.node, values)
        for prop, value in case.carried:
            self._take_value((kind, prop, value), case.node.value, values)

    def _take_value(self, key: _Value, node: str, values: dict[_Value, str]) -> None:
        if key not in self._passed:
            values.setdefault(key, node)

    def _take_forms(self, case: Case, forms: dict[object, Iterable[Statement]], writing: Writing) -> None:
        """Take one of each form of event, of state that begins and of state that ends as the example to judge."""
        entity = case.entity
        for event in case.events:
            key = _form_of(event)
            if key not in self._passed and key not in forms:
                forms[key] = event_said(event, event_uuid(event, case.node), writing)
        for piece in case.pieces:
            held = frozenset((prop, len(values)) for prop, values in piece.props.items())
            key = (entity.type, bool(entity.source_memory), piece.void, piece.start == -inf, held)
            if key not in self._passed and key not in forms:
                identity = identity_said(entity, self._tenant, writing)
                forms[key] = [*identity, *fresh_states(case.node, [piece], writing)[1]]
        if case.ended:
            key = frozenset(predicate for _, predicate, _, _ in case.ended)
            if key not in self._passed and key not in forms:
                forms[key] = case.ended

    def _refused_values(self, values: Mapping[_Value, str]) -> list[Violation]:
        triples: list[Triple] = []
        for (kind, prop, value), node in values.items():
            said_by = NamedNode(node)
            triples += [Triple(said_by, RDF_TYPE, kind), Triple(said_by, prop, value)]
        return list(self.schema.gate.check({"fragment": triples})) if triples else []

    def _refused_forms(self, forms: _Forms, writing: Writing) -> list[Violation]:
        superclasses = self.schema.catalog.superclasses
        found: dict[Violation, None] = {}
        for said in forms.values():
            after = Overlay(_NOTHING, dict.fromkeys(Quad(*terms) for terms in said), ())
            found |= dict.fromkeys(self.schema.gate.check(scopes_of(after, writing.names, superclasses)))
        return list(found)


class PrecedentsByProject:
    """The precedents of each project of one store, dropped with its types."""

    def __init__(self, tenant: str) -> None:
        self._tenant = tenant
        self._known: dict[str, Precedents] = {}

    def of(self, names: Names, schema: Schema) -> Precedents:
        """Return the precedents of a project with these types."""
        found = self._known.get(names.namespace)
        if found is None or found.schema is not schema:
            found = self._known[names.namespace] = Precedents(schema, self._tenant)
        return found


def _form_of(event: Event) -> object:
    """Return all of an event but whom it changes, when, and which values it asserts."""
    said = tuple(
        (a.property == RETIRED, a.op, a.value is None, a.start is None, a.until is None) for a in event.assertions
    )
    texts = (event.source, event.cause_commit, event.cause_memory, event.description)
    precision = event.at.precision if event.at is not None else ""
    of_event = (event.event_type, precision, event.tier, event.level, event.sequence < 0, event.props_drift)
    return (*of_event, tuple(map(bool, texts)), said)
