"""The gate: scopes apart, links by type, lexical forms as a store keeps them, and nothing heavy until it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse
from pyshacl import validate
from rdflib import Graph, URIRef
from rdflib.namespace import RDF, SH

from prism_rdf import resources
from prism_rdf.canonical.catalog import EntityType, TypeCatalog
from prism_rdf.canonical.type_shapes import type_shapes
from prism_rdf.namespaces import PRISM, RDF_TYPE, SHAPE, TYPE, XSD, prism
from prism_rdf.validation.can_reference import allowed_references, shipped_branches
from prism_rdf.validation.gate import KINDS, Gate

CATALOG = TypeCatalog.shipped()
PREFIXES = """@prefix ex: <https://example.org/> .
@prefix prism: <https://w3id.org/prism-rdf/ns#> .
@prefix type: <https://w3id.org/prism-rdf/type#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


@pytest.fixture(scope="module")
def gate() -> Gate:
    return Gate(lambda: type_shapes(CATALOG))


def triples(text: str) -> list[Triple]:
    return [quad.triple for quad in parse(PREFIXES + text, RdfFormat.TURTLE)]


def linked(kind: NamedNode, source: EntityType, target: EntityType, name: str = "") -> list[Triple]:
    ends = (NamedNode(f"urn:source{name}"), NamedNode(f"urn:target{name}"))
    found = [Triple(ends[0], kind, ends[1])]
    for end, known in zip(ends, (source, target), strict=True):
        found += [Triple(end, RDF_TYPE, each) for each in (known.iri, *known.superclasses)]
    return found


def test_importing_the_gate_and_making_the_type_shapes_loads_neither_rdflib_nor_pyshacl() -> None:
    code = """import sys
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.type_shapes import type_shapes
from prism_rdf.validation import checks, gate, can_reference, report, files
gate.Gate(lambda: type_shapes(TypeCatalog.shipped()))
type_shapes(TypeCatalog.shipped())
assert not {"rdflib", "pyshacl", "owlready2"} & set(sys.modules)"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_one_sound_write_passes(gate: Gate) -> None:
    assert (
        gate.check(
            {
                "identity": triples(
                    """ex:adr a type:ADR ; prism:uuid "0b6e3c1e-8a54-5f0e-9d3b-2f5f2c9c7a10" ; prism:tenant "default" ;
                        prism:namespace "demo" ; prism:createdAt "2026-04-19T08:00:00Z"^^xsd:dateTime ."""
                ),
                "snapshot": triples('ex:state a type:ADR ; prism:title "Three layers" ; prism:deciders "A", "B" .'),
                "link": linked(prism("FORMALIZES"), CATALOG.type("ADR"), CATALOG.type("SPEC")),
                "memory": [],
            }
        )
        == ()
    )


def test_a_violation_names_node_path_value_shape_message_and_mend(gate: Gate) -> None:
    (found,) = gate.check({"snapshot": triples('ex:state a type:ADR ; prism:colour "blue" .')})
    assert found.node == "<https://example.org/state>"
    assert found.path == f"<{PRISM}colour>"
    assert found.value == '"blue"'
    assert found.shape == f"<{SHAPE}Type-ADR>"
    assert found.message == "A state of ADR says something that ADR does not declare"
    assert found.mend.startswith("ADR declares: authors, consulted,")


def test_the_same_fault_is_reported_once(gate: Gate) -> None:
    """A literal of the wrong datatype breaks the datatype and the pattern of its shape."""
    (found,) = gate.check({"snapshot": triples('ex:state a type:Session ; prism:startedAt "soon" .')})
    assert "startedAt of Session" in found.message


def test_a_node_that_no_shape_looks_at_does_not_slip_through(gate: Gate) -> None:
    for scope in ("identity", "event", "state", "snapshot", "alias", "reference", "memory"):
        (found,) = gate.check({scope: triples('ex:it a ex:Odd ; ex:says "anything" .')})  # type: ignore[dict-item]
        assert found.node == "<https://example.org/it>"
        assert found.value == "<https://example.org/Odd>"
        assert scope in found.message


@pytest.mark.parametrize(
    ("year", "sound"),
    [("-9999", True), ("-0044", True), ("0000", True), ("2026", True), ("12026", True), ("26", False)],
)
def test_years_beyond_those_of_python_are_instants(gate: Gate, year: str, sound: bool) -> None:
    text = f"""ex:state a prism:State ; prism:commitStatus "committed" ;
        prism:recordedAt "2026-04-19T08:00:00Z"^^xsd:dateTime ;
        prism:validFrom "{year}-03-15T00:00:00Z"^^xsd:dateTime ."""
    assert (gate.check({"state": triples(text)}) == ()) is sound


@pytest.mark.parametrize(
    ("value", "datatype", "sound"),
    [
        ("8443", "integer", True),
        ("+8443", "integer", True),
        ("8_443", "integer", False),
        ("8443.0", "decimal", False),
        ("", "integer", False),
    ],
)
def test_an_ill_formed_literal_is_refused_without_a_word_on_the_log(
    gate: Gate, value: str, datatype: str, sound: bool, caplog: pytest.LogCaptureFixture
) -> None:
    state = NamedNode("urn:state")
    port = Literal(value, datatype=NamedNode(XSD + datatype))
    found = gate.check(
        {"snapshot": [Triple(state, RDF_TYPE, NamedNode(TYPE + "Location")), Triple(state, prism("port"), port)]}
    )
    assert (found == ()) is sound
    assert caplog.records == []


def test_a_refused_link_names_its_own_two_ends(gate: Gate) -> None:
    persona, variable, adr = (CATALOG.type(name) for name in ("Persona", "EnvVar", "ADR"))
    supersedes = prism("SUPERSEDES")
    links = linked(supersedes, variable, persona, "1") + linked(supersedes, adr, adr, "2")
    found = gate.check({"link": links + linked(supersedes, variable, persona, "3")})
    assert [(each.node, each.path, each.value) for each in found] == [
        ("<urn:source1>", str(supersedes), "<urn:target1>"),
        ("<urn:source3>", str(supersedes), "<urn:target3>"),
    ]
    assert found[0].message.startswith("SUPERSEDES leads only from a thing to one of its own family")
    assert found[0].mend.startswith("Choose RELATES_TO")


def test_a_kind_that_no_shape_rules_is_refused(gate: Gate) -> None:
    (found,) = gate.check({"link": linked(NamedNode("urn:ADMIRES"), CATALOG.type("ADR"), CATALOG.type("ADR"))})
    assert "no shape says which types urn:ADMIRES may lead from" in found.message
    assert "sh:targetSubjectsOf <urn:ADMIRES>" in found.mend


def test_the_kinds_of_the_gate_are_those_of_the_ontology() -> None:
    assert set(KINDS) == set(CATALOG.kinds)


def test_every_pair_of_types_is_judged_as_pyshacl_would_and_as_the_list_of_types_says(gate: Gate) -> None:
    """One type of each family stands for all of it: 10 kinds, each with 5 x 5 types."""
    known = [CATALOG.type(name) for name in ("ADR", "Plan", "Component", "EnvVar", "Persona")]
    allowed = allowed_references(CATALOG)
    shapes = Graph().parse(data=resources.text("shapes/semantic.ttl"), format="turtle")
    data = Graph()
    ours: set[str] = set()
    told: set[str] = set()
    for kind in KINDS:
        for source in known:
            for target in known:
                name = f"/{kind}/{source.name}/{target.name}"
                link = linked(prism(kind), source, target, name)
                data.parse(data="".join(f"{triple} .\n" for triple in link[:1]), format="nt")
                for triple in link[1:]:
                    data.add(tuple(URIRef(term.value) for term in triple))  # type: ignore[union-attr,arg-type]
                if gate.check({"link": link}):
                    ours.add(f"urn:source{name}")
                if target.name not in allowed[source.iri].get(kind, ()):
                    told.add(f"urn:source{name}")
    _, report, _ = validate(data, shacl_graph=shapes)
    assert isinstance(report, Graph)
    results = report.subjects(RDF.type, SH.ValidationResult)
    theirs = {str(report.value(result, SH.focusNode)) for result in results}
    assert ours == theirs
    assert ours == told
    assert 80 < len(ours) < 200


def test_every_kind_has_branches_and_allows_something() -> None:
    assert {branch.kind for branch in shipped_branches()} == set(CATALOG.kinds.values())
    assert all(branch.sources and branch.targets for branch in shipped_branches())
    of_adr = allowed_references(CATALOG)[CATALOG.type("ADR").iri]
    assert set(of_adr) == set(KINDS)
    assert of_adr["SUPERSEDES"] == ("ADR", "Delta", "SPEC")
    assert "SUPERSEDES" not in allowed_references(CATALOG)[CATALOG.type("Session").iri]
