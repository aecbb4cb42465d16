"""SHACL made from the catalog: one closed shape per type, for what a state may say; nothing is validated here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from prism_rdf.canonical.catalog import EntityType, Property, TypeCatalog
from prism_rdf.namespaces import RDF, RDF_TYPE, RDFS, SH, SHAPE, XSD, article, local_name

_TRUE = Literal(True)
_ONE = Literal(1)
_NIL = NamedNode(RDF + "nil")
_SUBCLASS = NamedNode(RDFS + "subClassOf")


def type_shapes(catalog: TypeCatalog) -> tuple[Triple, ...]:
    """Return a shapes graph in which a node of a type has only what the type declares, in the declared form.

    The focus node is a state: it bears rdf:type (the type of its entity) and the snapshot's values. A value that
    refers to an entity is checked against its class, so its own rdf:type triples have to lie beside it. The
    superclasses of each type are said too, for whoever has only the shapes.
    """
    return tuple(triple for known in catalog.types for triple in _type_shape(known))


def _sh(name: str) -> NamedNode:
    return NamedNode(SH + name)


def _type_shape(known: EntityType) -> Iterator[Triple]:
    shape = NamedNode(f"{SHAPE}Type-{known.name}")
    names = ", ".join(declared.name for declared in sorted(known.properties, key=lambda each: each.name))
    yield from _described(
        shape,
        "NodeShape",
        f"State of {known.name}",
        f"What a state of {known.name} may say.",
        f"A state of {known.name} says something that {known.name} does not declare. "
        f"{known.name} declares: {names}; add the property to the type, or leave it out.",
    )
    yield Triple(shape, _sh("targetClass"), known.iri)
    yield Triple(shape, _sh("closed"), _TRUE)
    yield from _list_of(shape, _sh("ignoredProperties"), [RDF_TYPE])
    yield from (Triple(known.iri, _SUBCLASS, above) for above in known.superclasses)
    for declared in known.properties:
        own = NamedNode(f"{shape.value}-{declared.name}")
        yield Triple(shape, _sh("property"), own)
        yield from _property_shape(own, known, declared)


def _property_shape(shape: NamedNode, known: EntityType, declared: Property) -> Iterator[Triple]:
    what, example = _form(declared)
    rule = f"{declared.name} of {known.name} is {'any number of' if declared.multi else 'at most one'} {what}"
    yield from _described(
        shape, "PropertyShape", f"{known.name}: {declared.name}", f"{rule}.", f"{rule}. Give {example}."
    )
    yield Triple(shape, _sh("path"), declared.iri)
    if not declared.multi:
        yield Triple(shape, _sh("maxCount"), _ONE)
    if declared.object_class is not None:
        yield Triple(shape, _sh("nodeKind"), _sh("IRI"))
        yield Triple(shape, _sh("class"), declared.object_class)
    elif declared.datatype is not None:
        yield Triple(shape, _sh("datatype"), declared.datatype)
    else:
        yield Triple(shape, _sh("nodeKind"), _sh("Literal"))


def _form(declared: Property) -> tuple[str, str]:
    """Return what a value is, and how to give one."""
    each = "each" if declared.multi else "one"
    if declared.object_class is not None:
        name = local_name(declared.object_class.value)
        return f"reference to an entity of type {name}", f"the IRI of {each} entity that is recorded as {article(name)}"
    if declared.datatype is None:
        return "literal value", f"{each} value as a literal"
    datatype = declared.datatype.value
    short = f"xsd:{local_name(datatype)}" if datatype.startswith(XSD) else f"<{datatype}>"
    return f"value of type {short}", f"{each} value as a literal of {short}"


def _described(shape: NamedNode, kind: str, name: str, description: str, message: str) -> Iterator[Triple]:
    yield Triple(shape, RDF_TYPE, _sh(kind))
    yield Triple(shape, _sh("name"), Literal(name, language="en"))
    yield Triple(shape, _sh("description"), Literal(description, language="en"))
    yield Triple(shape, _sh("severity"), _sh("Violation"))
    yield Triple(shape, _sh("message"), Literal(message, language="en"))


def _list_of(subject: NamedNode, predicate: NamedNode, items: Sequence[NamedNode]) -> Iterator[Triple]:
    tail: NamedNode | BlankNode = _NIL
    for item in reversed(items):
        cell = BlankNode()
        yield Triple(cell, NamedNode(RDF + "first"), item)
        yield Triple(cell, NamedNode(RDF + "rest"), tail)
        tail = cell
    yield Triple(subject, predicate, tail)
