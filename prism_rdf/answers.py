"""The JSON shapes of the doors, made from what the rooms return; docs/architecture.md and the doors name them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pyoxigraph import NamedNode

from prism_rdf.canonical.catalog import EntityType, Property, TypeCatalog
from prism_rdf.canonical.entities import type_of
from prism_rdf.canonical.schemas import Schemas
from prism_rdf.clock import Instant
from prism_rdf.model import State
from prism_rdf.namespaces import Names, local_name, short
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.read import sealed_at, snapshot, states_of, whole_snapshot
from prism_rdf.values import Term, python_of
from prism_rdf.views import flag_of

SHIPPED = "shipped"
_IDENTIFIER_ORDER = ("number", "name", "title", "pid", "fqdn")


def iso(instant: Instant | None) -> str | None:
    return None if instant is None else instant.iso()


def identifier_of(props: Mapping[NamedNode, Sequence[Term]], identifying: Collection[NamedNode] = ()) -> str | None:
    """Return what a state is called; None when it has nothing to be called by.

    Its number, else its name, else another one of the ``identifying`` properties of its project, else title, pid, fqdn.
    """
    by_name = {local_name(prop.value): values for prop, values in props.items()}
    order = _order(frozenset(identifying))
    return next((by_name[name][0].value for name in order if by_name.get(name)), None)


@lru_cache(maxsize=64)
def _order(identifying: frozenset[NamedNode]) -> tuple[str, ...]:
    own = sorted({local_name(prop.value) for prop in identifying}.difference(_IDENTIFIER_ORDER))
    return (*_IDENTIFIER_ORDER[:2], *own, *_IDENTIFIER_ORDER[2:])


def state_json(
    store: GraphReader, names: Names, catalog: TypeCatalog, state: State, now: Instant, known_at: Instant | None = None
) -> dict[str, Any]:
    """Return the State JSON of a state believed at ``known_at`` (None: now).

    ``flag`` says what the state is now, whatever instant was asked for.
    """
    entity = NamedNode(state.entity)
    type_iri = type_of(store, names, entity)
    kind = catalog.type(type_iri) if type_iri else None
    props = whole_snapshot(store, names, state, known_at)
    return {
        "entity": state.entity,
        "uuid": names.uuid_of(state.entity),
        "type": kind.name if kind else None,
        "identifier": identifier_of(props, catalog.identifying),
        "state": state.iri,
        "valid_from": iso(state.valid_from),
        "valid_until": iso(state.valid_until),
        "recorded_at": iso(state.recorded_at),
        "commit_status": state.commit_status,
        "flag": flag_of(state, now),
        "props": _props_json(store, names, kind, props, now),
    }


def _props_json(
    store: GraphReader,
    names: Names,
    kind: EntityType | None,
    props: Mapping[NamedNode, Sequence[Term]],
    now: Instant,
) -> dict[str, Any]:
    multi = {prop.iri for prop in kind.properties if prop.multi} if kind else set()
    shown: dict[str, Any] = {}
    for prop, terms in props.items():
        values = [value_json(store, names, term, now) for term in terms]
        shown[local_name(prop.value)] = values if prop in multi else values[0]
    return dict(sorted(shown.items()))


def value_json(store: GraphReader, names: Names, term: Term, now: Instant) -> Any:
    return entity_json(store, names, term, now) if isinstance(term, NamedNode) else python_of(term)


def entity_json(store: GraphReader, names: Names, entity: NamedNode, at: Instant) -> dict[str, Any]:
    """Return an entity as others refer to it, with what it is called at ``at``."""
    return {"ref": entity.value, "identifier": identifier_now(store, names, entity, at)}


def identifier_now(store: GraphReader, names: Names, entity: NamedNode, at: Instant) -> str | None:
    """Return what an entity is called at ``at``, else what it was called last; None when it never had a name."""
    state = sealed_at(store, names, entity, at)
    if state is None or state.void:
        states = [s for s in states_of(store, names, entity) if s.commit_status == "committed" and not s.void]
        state = states[-1] if states else None
    if state is None:
        return None
    return identifier_of(snapshot(store, NamedNode(state.iri)), Schemas.read(store, names).catalog.identifying)


def type_json(
    known: EntityType,
    can_reference: Mapping[str, Sequence[str]],
    file_of: Callable[[NamedNode], str],
    versions: Mapping[str, str],
) -> dict[str, Any]:
    """Return what a type declares, with which kinds it may refer to which types, and where all that is declared.

    ``file_of`` gives the project's own file that declares a term, empty for what ships; ``versions`` that of each.
    """
    file = file_of(known.iri)
    props = [(prop, prop in known.immutable) for prop in known.properties]
    return {
        "name": known.name,
        "iri": known.iri.value,
        "zone": known.zone,
        "ptype": known.ptype or None,
        "origin": file or SHIPPED,
        "version": versions[file],
        "superclasses": [short(above.value) for above in known.superclasses],
        "immutable": [prop.name for prop in known.immutable],
        "mutable": [prop.name for prop in known.mutable],
        "properties": [_property_json(prop, fixed, file_of(prop.iri) or SHIPPED) for prop, fixed in props],
        "can_reference": {kind: list(types) for kind, types in can_reference.items()},
    }


def _property_json(prop: Property, immutable: bool, origin: str) -> dict[str, Any]:
    return {
        "name": prop.name,
        "iri": prop.iri.value,
        "datatype": short(prop.datatype.value) if prop.datatype is not None else None,
        "class": short(prop.object_class.value) if prop.object_class is not None else None,
        "multi": prop.multi,
        "immutable": immutable,
        "identifying": prop.identifying,
        "origin": origin,
    }


def changes_json(
    store: GraphReader,
    names: Names,
    was: Mapping[NamedNode, Sequence[Term]],
    now: Mapping[NamedNode, Sequence[Term]],
    kind: EntityType | None,
    at: Instant,
) -> dict[str, dict[str, Any]]:
    """Return what differs: property name to ``{"from", "to"}``; None, or an empty list, where there is nothing.

    Entities that are referred to are called as they are at ``at``.
    """
    multi = {prop.iri for prop in kind.properties if prop.multi} if kind else set()

    def shown(prop: NamedNode, values: Sequence[Term]) -> Any:
        listed = [value_json(store, names, value, at) for value in values]
        return listed if prop in multi else next(iter(listed), None)

    return {
        local_name(prop.value): {"from": shown(prop, was.get(prop, ())), "to": shown(prop, now.get(prop, ()))}
        for prop in sorted({*was, *now}, key=str)
        if was.get(prop) != now.get(prop)
    }
