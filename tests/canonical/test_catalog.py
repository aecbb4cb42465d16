"""The catalog of types: what ships, what a project may add, and what it says when asked for something unknown."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from prism_rdf import resources
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.errors import BadArgument, NotFoundError, UnknownType, ValidationError
from prism_rdf.namespaces import RDFS, TYPE, XSD, prism

SYSTEM = {"Project", "Persona", "Session"}
DOCUMENTS = {"ADR", "SPEC", "Plan", "TODO", "Delta", "Journal", "Retro"}
THINGS = {"Component", "EnvVar", "Location", "Mode"}
KINDS = [
    "REFERENCES",
    "IMPLEMENTS",
    "EXTENDS",
    "RELATES_TO",
    "SUPERSEDES",
    "DEPENDS_ON",
    "SPECIFIES",
    "FORMALIZES",
    "RESOLVES",
    "DOCUMENTS",
]
STRING = NamedNode(XSD + "string")

HEADER = """
@prefix ex: <https://example.org/types#> .
@prefix prism: <https://w3id.org/prism-rdf/ns#> .
@prefix type: <https://w3id.org/prism-rdf/type#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


@pytest.fixture(scope="module")
def shipped() -> TypeCatalog:
    return TypeCatalog.shipped()


def project(*more: str) -> TypeCatalog:
    texts = [resources.text(name) for name in resources.names("ontology", ".ttl")]
    return TypeCatalog.load([*texts, *(HEADER + text for text in more)])


def test_fourteen_types_ship_in_two_zones(shipped: TypeCatalog) -> None:
    assert [known.name for known in shipped.types] == sorted(SYSTEM | DOCUMENTS | THINGS)
    for known in shipped.types:
        expected = ("system", "") if known.name in SYSTEM else ("project", "application")
        assert (known.zone, known.ptype) == expected, known.name
        assert known.iri.value == TYPE + known.name
        assert prism("Entity") in known.superclasses
        assert (prism("Document") in known.superclasses) == (known.name in DOCUMENTS), known.name
        assert known.immutable, known.name
        assert any(declared.identifying for declared in known.properties), known.name


def test_the_values_of_front_matter_stay_strings(shipped: TypeCatalog) -> None:
    for name in DOCUMENTS:
        known = shipped.type(name)
        mutable = {declared.name: declared for declared in known.mutable}
        for wanted in ("title", "number", "status", "path", "date"):
            assert mutable[wanted].datatype == STRING, (name, wanted)
            assert not mutable[wanted].multi


def test_a_project_has_a_fixed_pid_and_a_changing_name(shipped: TypeCatalog) -> None:
    known = shipped.type(NamedNode(TYPE + "Project"))
    assert [declared.name for declared in known.immutable] == ["pid"]
    assert {"name", "fqdn", "status", "description", "path"} <= {declared.name for declared in known.mutable}


def test_identifying_properties_are_the_five_of_the_design(shipped: TypeCatalog) -> None:
    assert shipped.identifying == {prism(name) for name in ("title", "name", "pid", "fqdn", "number")}


def test_several_deciders_but_one_title(shipped: TypeCatalog) -> None:
    adr = shipped.type("ADR")
    assert adr.property("deciders").multi
    assert not adr.property(prism("title")).multi


def test_a_reference_valued_property_has_a_class_and_no_datatype(shipped: TypeCatalog) -> None:
    persona = shipped.type("Session").property("persona")
    assert persona.object_class == NamedNode(TYPE + "Persona")
    assert persona.datatype is None


def test_the_ten_kinds_by_name_and_by_iri(shipped: TypeCatalog) -> None:
    assert sorted(shipped.kinds) == sorted(KINDS)
    assert shipped.kind("FORMALIZES") == shipped.kind(prism("FORMALIZES")) == prism("FORMALIZES")


@pytest.mark.parametrize(
    ("ask", "error", "thing", "mend"),
    [
        (lambda catalog: catalog.type("adr"), UnknownType, "no type 'adr'", "did you mean 'ADR'? the types are: ADR,"),
        (lambda catalog: catalog.type("Zebra"), UnknownType, "no type 'Zebra'", "the types are: ADR, Component,"),
        (
            lambda catalog: catalog.type("ADR").property("titel"),
            ValidationError,
            "property 'titel' is not declared for type ADR",
            "did you mean 'title'? ADR declares: authors,",
        ),
        (lambda catalog: catalog.kind("supersede"), BadArgument, "'supersede'", "did you mean 'SUPERSEDES'?"),
        (lambda catalog: catalog.property_by_iri("colour"), NotFoundError, "'colour'", "declare it"),
    ],
)
def test_what_is_unknown_is_named_with_what_is_known(shipped, ask, error, thing, mend) -> None:
    with pytest.raises(error) as caught:
        ask(shipped)
    assert thing in caught.value.message
    assert mend in caught.value.mend


def test_a_project_adds_a_type_with_properties_and_a_kind_without_code() -> None:
    catalog = project(
        """ex:RFC a owl:Class, prism:Type ; rdfs:subClassOf type:ADR ; prism:zone "project" ; prism:ptype "standards" ;
             prism:mutableProperty ex:area , ex:note .
           ex:area a owl:DatatypeProperty ; rdfs:range xsd:integer ; prism:multiValued true .
           ex:note a owl:DatatypeProperty ; rdfs:range rdfs:Literal .
           ex:OBSOLETES a owl:ObjectProperty, prism:ReferenceKind ; rdfs:subPropertyOf prism:REFERENCES ."""
    )
    rfc = catalog.type("RFC")
    assert rfc.ptype == "standards"
    assert rfc.property("area").multi
    assert rfc.property("area").datatype == NamedNode(XSD + "integer")
    assert rfc.property("note").datatype is None
    assert rfc.property("title") == catalog.type("ADR").property("title")
    assert {prism("Document"), prism("Entity"), NamedNode(TYPE + "ADR")} <= set(rfc.superclasses)
    assert catalog.kind("OBSOLETES").value == "https://example.org/types#OBSOLETES"
    assert catalog.property_by_iri("https://example.org/types#area") == rfc.property("area")


def test_a_circle_of_classes_ends() -> None:
    catalog = project("ex:Odd a prism:Type ; rdfs:subClassOf ex:Even, prism:Entity . ex:Even rdfs:subClassOf ex:Odd .")
    assert NamedNode("https://example.org/types#Even") in catalog.type("Odd").superclasses
    assert catalog.type("Odd").iri not in catalog.type("Odd").superclasses
    assert NamedNode(RDFS + "Resource") not in catalog.type("Odd").superclasses


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("ex:A a prism:Type .", "not a kind of entity"),
        ("ex:A a prism:Type ; rdfs:subClassOf prism:Entity ; prism:mutableProperty ex:lost .", "not described"),
        ("ex:ADR a prism:Type ; rdfs:subClassOf prism:Entity .", "two types are named 'ADR'"),
        (
            """ex:A a prism:Type ; rdfs:subClassOf prism:Entity ; prism:mutableProperty prism:title, ex:title .
               ex:title a owl:DatatypeProperty .""",
            "two properties of A are named 'title'",
        ),
        (
            """ex:A a prism:Type ; rdfs:subClassOf prism:Entity ;
                 prism:mutableProperty prism:title ; prism:immutableProperty prism:title .""",
            "two properties of A are named 'title'",
        ),
        ("ex:A a prism:Type", "not Turtle"),
    ],
)
def test_an_unsound_ontology_is_refused_with_the_place(text: str, thing: str) -> None:
    with pytest.raises(BadArgument, match=thing):
        project(text)
