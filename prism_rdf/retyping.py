"""What a change of a project's types does to what is recorded: whom it concerns, and what it may not leave behind.

States are not touched: each stays valid as of its time. Which of those that hold now no longer fit is in misfits.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pyoxigraph import Literal, NamedNode

from prism_rdf.belief import Delta
from prism_rdf.canonical.entities import entities
from prism_rdf.canonical.schemas import Schema, Schemas, faults
from prism_rdf.canonical.texts import believed, texts_of
from prism_rdf.errors import ValidationError, Violation
from prism_rdf.namespaces import Names, local_name
from prism_rdf.semantic.merges import merged_entities
from prism_rdf.semantic.references import references
from prism_rdf.storage.interface import GraphReader
from prism_rdf.storage.overlay import Overlay

_NAMED = 3  # of those that keep a type from going


def taught(store: GraphReader, names: Names, schemas: Schemas, delta: Delta) -> Schema:
    """Return the types of a project as they are after ``delta``, which changes its files.

    Raises ValidationError with all that is wrong with the files, or with what is still of a type that goes.
    """
    texts = believed(texts_of(Overlay(store, delta.adds, delta.removes), names))
    found = faults(tuple(texts.items()))
    if found:
        raise ValidationError(found)
    after = Schema.of(texts)
    left = tuple(left_behind(store, names, schemas.of(store, names), after))
    if left:
        raise ValidationError(left)
    return after


def left_behind(store: GraphReader, names: Names, before: Schema, after: Schema) -> Iterator[Violation]:
    """Yield each type and kind of reference that is gone ``after``, and that something recorded is of."""
    types = {known.iri for known in after.catalog.types}
    for known in before.catalog.types:
        if known.iri not in types:
            members = list(entities(store, names, known.iri))
            if members:
                shown = ", ".join(_called(store, names, each, before) for each in islice(members, _NAMED))
                more = f" and {len(members) - _NAMED} more" if len(members) > _NAMED else ""
                yield _in_use(known.iri, f"{_count(len(members), 'entity is', 'entities are')} of it ({shown}{more})")
    for kind in before.catalog.kinds.values():
        if kind not in after.catalog.kinds.values():
            held = references(store, names, kind=kind)
            if held:
                yield _in_use(kind, f"{_count(len(held), 'reference is', 'references are')} of it")


def concerned(store: GraphReader, names: Names, before: Schema, after: Schema) -> tuple[NamedNode, ...]:
    """Return the entities that stand otherwise in the current graph: their superclasses, or what names them."""
    found: dict[NamedNode, None] = {}
    for known in before.catalog.types:
        if set(known.superclasses) != set(after.catalog.superclasses(known.iri)):
            found.update(dict.fromkeys(entities(store, names, known.iri)))
    if before.catalog.identifying != after.catalog.identifying:
        found.update(dict.fromkeys(merged_entities(store, names).values()))
    return tuple(found)


def _in_use(iri: NamedNode, what: str) -> Violation:
    name = local_name(iri.value)
    return Violation(
        node=str(iri),
        path="",
        value="",
        shape="what is recorded keeps its type and its kind for ever",
        message=f"{name} cannot go: {what}",
        mend=f"keep the declaration of {name}; forget or take back what is of it first if it was a mistake",
    )


def _called(store: GraphReader, names: Names, entity: NamedNode, schema: Schema) -> str:
    for prop in sorted(schema.catalog.identifying, key=str):
        for quad in store.quads_for_pattern(entity, prop, None, names.graph("current")):
            if isinstance(quad.object, Literal):
                return quad.object.value
    return names.uuid_of(entity.value)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
