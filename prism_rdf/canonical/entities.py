"""Identities: who each thing is, and nothing of what it is like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import Delta, Statement, Writing
from prism_rdf.errors import ValidationError, Violation
from prism_rdf.model import NewEntity
from prism_rdf.namespaces import RDF_TYPE, Names, article, local_name, prism
from prism_rdf.storage.about import objects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.values import instant_literal

UUID = prism("uuid")


def plan_entities(store: GraphReader, entities: Iterable[NewEntity], tenant: str, writing: Writing) -> Delta:
    """Return the change that records the identities; empty for those already there.

    Raises ValidationError when one is there with another type: an entity has exactly one, for ever.
    """
    return Delta.joined(_plan_entity(store, entity, tenant, writing) for entity in entities)


def _plan_entity(store: GraphReader, entity: NewEntity, tenant: str, writing: Writing) -> Delta:
    node = writing.names.entity(entity.uuid)
    known = type_of(store, writing.names, node)
    if known == entity.type:
        return Delta()
    if known is not None:
        was, said = (article(local_name(kind.value)) for kind in (known, entity.type))
        raise ValidationError(
            [
                Violation(
                    node=node.value,
                    path=RDF_TYPE.value,
                    value=entity.type.value,
                    shape="identity",
                    message=f"entity {entity.uuid} already is {was}; it cannot become {said}",
                    mend="make a new entity and refer from one to the other",
                )
            ]
        )
    return Delta(tuple(Quad(*said) for said in identity_said(entity, tenant, writing)))


def identity_said(entity: NewEntity, tenant: str, writing: Writing) -> list[Statement]:
    """Return what is said of an identity that is recorded now."""
    node, graph = writing.names.entity(entity.uuid), writing.names.graph("canonical")
    said: list[Statement] = [
        (node, RDF_TYPE, entity.type, graph),
        (node, UUID, Literal(entity.uuid), graph),
        (node, prism("tenant"), Literal(tenant), graph),
        (node, prism("namespace"), Literal(writing.names.namespace), graph),
        (node, prism("createdAt"), instant_literal(writing.now), graph),
    ]
    if entity.source_memory:
        said.append((node, prism("sourceMemory"), NamedNode(entity.source_memory), graph))
    return said


def type_of(store: GraphReader, names: Names, entity: NamedNode) -> NamedNode | None:
    """Return the type of an entity of this namespace; None when there is no such entity."""
    return next(iter(objects(store, entity, RDF_TYPE, names.graph("canonical"))), None)


def entities(store: GraphReader, names: Names, type_iri: NamedNode | None = None) -> Iterator[NamedNode]:
    """Yield the entities of a namespace, of one type or of all."""
    for quad in store.quads_for_pattern(None, RDF_TYPE, type_iri, names.graph("canonical")):
        if isinstance(quad.subject, NamedNode):
            yield quad.subject
