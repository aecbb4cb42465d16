"""The entities of a project at an instant as records to compare: what each is called, what it says, what it refers to.

Each has the record that was entered of it, whatever it is merged into: a merge is no evidence for another one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.answers import identifier_of
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.clock import Instant
from prism_rdf.namespaces import RDF_TYPE, Names, local_name, prism
from prism_rdf.semantic.differences import kept_apart
from prism_rdf.semantic.merges import merged_entities
from prism_rdf.storage.interface import GraphReader
from prism_rdf.values import Term
from prism_rdf.views import ALT_LABEL, HIDDEN_LABEL
from prism_rdf.world import parsed, world_text

ALSO_CALLED, FORMERLY_CALLED = "also called", "formerly called"
_IDENTITY = frozenset(prism(name) for name in ("uuid", "tenant", "namespace", "createdAt", "sourceMemory"))
_CREATED = prism("createdAt")
Said = dict[NamedNode, list[Term]]


def entity_records(
    store: GraphReader, names: Names, catalog: TypeCatalog, at: Instant, type_iri: NamedNode | None
) -> dict[str, Any]:
    """Return the entities of one type or of all at ``at``, and what is known of pairs of them already.

    ``{"entities": [{"entity", "uuid", "type", "identifier", "created_at", "into", "record"}], "naming": [property],
    "apart": [[uuid, uuid]], "linked": [[uuid, uuid, kind]]}``: ``into`` is the uuid of what the entity is merged into
    in the end, or None, ``record`` maps a property to its values as text, ``naming`` are the properties that hold
    names, ``apart`` are pairs that were said to be two or whose merge was taken back, ``linked`` those of which one
    refers to the other.
    """
    said = _said(parsed(world_text(store, names, at, lambda _: (), None, catalog.identifying, merges=False)))
    into = merged_entities(store, names)
    called = {entity: identifier_of(props, catalog.identifying) for entity, props in said.items()}
    found = [
        {
            "entity": entity.value,
            "uuid": names.uuid_of(entity.value),
            "type": local_name(kind.value),
            "identifier": called[entity],
            "created_at": props[_CREATED][0].value,
            "into": names.uuid_of(_end(into, entity).value) if entity in into else None,
            "record": _record(props, called),
        }
        for entity, props in said.items()
        if (kind := props[RDF_TYPE][0]) == (type_iri or kind)
    ]
    listed = {each["entity"] for each in found}
    linked = [
        [names.uuid_of(entity.value), names.uuid_of(value.value), local_name(prop.value)]
        for entity, props in said.items()
        for prop, values in props.items()
        for value in values
        if isinstance(value, NamedNode) and entity.value in listed and value.value in listed and value != entity
    ]
    identifying = {local_name(prop.value) for prop in catalog.identifying}
    return {
        "entities": sorted(found, key=lambda each: each["uuid"]),
        "naming": sorted(identifying | {ALSO_CALLED, FORMERLY_CALLED}),
        "apart": sorted(sorted(names.uuid_of(end.value) for end in ends) for ends in kept_apart(store, names)),
        "linked": sorted(linked),
    }


def _end(into: Mapping[NamedNode, NamedNode], entity: NamedNode) -> NamedNode:
    """Return the entity at the end of a chain of merges, which is no circle in a sound store."""
    seen = {entity}
    while (after := into.get(entity)) is not None and after not in seen:
        seen.add(after)
        entity = after
    return entity


def _said(view: Iterable[Quad]) -> dict[NamedNode, Said]:
    """Return what is said of each entity that has a type, by property."""
    found: defaultdict[NamedNode, Said] = defaultdict(dict)
    for quad in view:
        if isinstance(quad.subject, NamedNode) and isinstance(quad.object, (NamedNode, Literal)):
            found[quad.subject].setdefault(quad.predicate, []).append(quad.object)
    return {entity: said for entity, said in found.items() if RDF_TYPE in said}


def _record(said: Said, called: dict[NamedNode, str | None]) -> dict[str, list[str]]:
    record = {}
    for prop, values in said.items():
        if prop != RDF_TYPE and prop not in _IDENTITY:
            name = {ALT_LABEL: ALSO_CALLED, HIDDEN_LABEL: FORMERLY_CALLED}.get(prop, local_name(prop.value))
            record[name] = sorted(_text(value, called) for value in values)
    return record


def _text(value: Term, called: dict[NamedNode, str | None]) -> str:
    """Return a value as text; an entity is what it is called."""
    if isinstance(value, NamedNode):
        return called.get(value) or local_name(value.value)
    return value.value
