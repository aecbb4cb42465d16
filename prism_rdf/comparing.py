"""What differs between two instants: of one entity, and of a whole project."""

from __future__ import annotations

from typing import Any

from pyoxigraph import NamedNode

from prism_rdf import answers
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.entities import entities, type_of
from prism_rdf.clock import Instant
from prism_rdf.namespaces import Names, local_name
from prism_rdf.semantic.references import KnownReference, references
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.read import sealed_at, snapshot
from prism_rdf.values import Term

Held = dict[NamedNode, tuple[Term, ...]] | None


def diff_entity(
    store: GraphReader,
    names: Names,
    catalog: TypeCatalog,
    entity: NamedNode,
    before: Instant,
    after: Instant,
    known_at: Instant | None,
) -> dict[str, Any] | None:
    """Return how an entity at ``after`` differs from ``before``; None when it does not.

    ``change`` is appeared, vanished or changed; ``props`` maps names to ``{"from", "to"}``; ``references`` lists those
    that began and ended in between.
    """
    was, now = _held(store, names, entity, before, known_at), _held(store, names, entity, after, known_at)
    known = references(store, names, source=entity, known_at=known_at)
    began = [_reference(store, names, r, after) for r in known if r.holds(after) and not r.holds(before)]
    ended = [_reference(store, names, r, after) for r in known if r.holds(before) and not r.holds(after)]
    type_iri = type_of(store, names, entity)
    kind = catalog.type(type_iri) if type_iri else None
    props = answers.changes_json(store, names, was or {}, now or {}, kind, after)
    if not props and not began and not ended:
        return None
    return {
        "entity": entity.value,
        "uuid": names.uuid_of(entity.value),
        "type": kind.name if kind else None,
        "identifier": answers.identifier_of(now or was or {}, catalog.identifying),
        "change": "appeared" if was is None else "vanished" if now is None else "changed",
        "props": props,
        "references": {"began": began, "ended": ended},
    }


def diff_project(
    store: GraphReader,
    names: Names,
    catalog: TypeCatalog,
    before: Instant,
    after: Instant,
    known_at: Instant | None,
) -> list[dict[str, Any]]:
    """Return the differences of every entity of a project that has one, by type and identifier."""
    found = (diff_entity(store, names, catalog, e, before, after, known_at) for e in entities(store, names))
    return sorted(
        (each for each in found if each is not None),
        key=lambda each: (str(each["type"]), str(each["identifier"]), each["uuid"]),
    )


def _held(store: GraphReader, names: Names, entity: NamedNode, at: Instant, known_at: Instant | None) -> Held:
    state = sealed_at(store, names, entity, at, known_at)
    return None if state is None or state.void else snapshot(store, NamedNode(state.iri))


def _reference(store: GraphReader, names: Names, known: KnownReference, at: Instant) -> dict[str, Any]:
    return {"kind": local_name(known.kind.value), "target": answers.entity_json(store, names, known.target, at)}
