"""The shapes made from a catalog say of each property what the catalog says, for a project's own types too."""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store, Triple, parse

from prism_rdf import resources
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.type_shapes import type_shapes
from prism_rdf.namespaces import RDFS, SH, SHAPE, XSD, prism
from prism_rdf.validation.gate import Gate

OWN = """
@prefix ex: <https://example.org/types#> .
@prefix prism: <https://w3id.org/prism-rdf/ns#> .
@prefix type: <https://w3id.org/prism-rdf/type#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:RFC a owl:Class, prism:Type ; rdfs:subClassOf type:ADR ; prism:mutableProperty ex:area, ex:note, ex:obsoletes .
ex:area a owl:DatatypeProperty ; rdfs:range xsd:integer ; prism:multiValued true .
ex:note a owl:DatatypeProperty ; rdfs:range rdfs:Literal .
ex:obsoletes a owl:ObjectProperty ; rdfs:range ex:RFC .
"""


def shipped() -> Store:
    store = Store()
    store.extend(quad_of(triple) for triple in type_shapes(TypeCatalog.shipped()))
    return store


def quad_of(triple: Triple) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object)


def values(store: Store, subject: str, predicate: str) -> list[object]:
    return [quad.object for quad in store.quads_for_pattern(NamedNode(subject), NamedNode(SH + predicate), None)]


def test_each_type_has_a_closed_shape_with_all_its_properties() -> None:
    store = shipped()
    for known in TypeCatalog.shipped().types:
        shape = f"{SHAPE}Type-{known.name}"
        assert values(store, shape, "targetClass") == [known.iri]
        assert values(store, shape, "closed") == [Literal(True)]
        paths = {values(store, own.value, "path")[0] for own in values(store, shape, "property")}  # type: ignore[attr-defined]
        assert paths == {declared.iri for declared in known.properties}


def test_cardinality_and_range_follow_the_declaration() -> None:
    store = shipped()
    assert values(store, f"{SHAPE}Type-ADR-title", "maxCount") == [Literal(1)]
    assert values(store, f"{SHAPE}Type-ADR-title", "datatype") == [NamedNode(XSD + "string")]
    assert values(store, f"{SHAPE}Type-ADR-deciders", "maxCount") == []
    assert values(store, f"{SHAPE}Type-Session-persona", "class") == [TypeCatalog.shipped().type("Persona").iri]
    assert values(store, f"{SHAPE}Type-Session-persona", "datatype") == []


def test_the_superclasses_are_said_too() -> None:
    adr = TypeCatalog.shipped().type("ADR").iri
    above = {quad.object for quad in shipped().quads_for_pattern(adr, NamedNode(RDFS + "subClassOf"), None)}
    assert {prism("Document"), prism("Entity")} <= above


def test_a_projects_own_type_is_enforced_with_what_it_inherits() -> None:
    texts = [resources.text(name) for name in resources.names("ontology", ".ttl")]
    catalog = TypeCatalog.load([*texts, OWN])
    gate = Gate(lambda: type_shapes(catalog))

    def faults(said: str) -> set[str]:
        data = [quad.triple for quad in parse(f"{OWN.partition('ex:RFC')[0]} {said}", RdfFormat.TURTLE)]
        return {violation.shape.strip("<>").removeprefix(SHAPE) for violation in gate.check({"snapshot": data})}

    assert (
        faults(
            'ex:s a ex:RFC ; prism:title "TCP" ; ex:area 1, 2 ; ex:note "any"@en ; ex:obsoletes ex:t . ex:t a ex:RFC .'
        )
        == set()
    )
    assert faults('ex:s a ex:RFC ; ex:area "internet" .') == {"Type-RFC-area"}
    assert faults("ex:s a ex:RFC ; ex:note ex:node .") == {"Type-RFC-note"}
    assert faults("ex:s a ex:RFC ; ex:obsoletes ex:t . ex:t a type:ADR .") == {"Type-RFC-obsoletes"}
    assert faults("ex:s a type:ADR ; ex:area 1 .") == {"Type-ADR"}
