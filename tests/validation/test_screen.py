"""What the screen passes, pySHACL finds to conform: on every case, on random shapes and data, on the known traps."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode, RdfFormat, Triple, parse
from pyshacl import validate
from pyshacl.errors import ConstraintLoadError
from rdflib import BNode, Graph
from rdflib.namespace import SH
from rdflib.term import Node

from prism_rdf import resources
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.type_shapes import type_shapes
from prism_rdf.namespaces import RDF, SHAPE
from prism_rdf.validation.engine import Outcome, Shapes
from prism_rdf.validation.gate import SHAPES_OF
from prism_rdf.validation.screen import Screen
from prism_rdf.validation.terms import to_rdflib, to_text

EXAMPLES = 5_000 if os.environ.get("PRISM_LONG") else 100
CASES = Path(__file__).parent.parent / "cases" / "shapes"
FILES = sorted(CASES.rglob("*.ttl"))
PREFIXES = """@prefix ex: <https://example.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
Finding = tuple[str, ...]


def triples(text: str) -> list[Triple]:
    return [quad.triple for quad in parse(PREFIXES + text, RdfFormat.TURTLE)]


def to_graph(given: list[Triple]) -> Graph:
    """Return an rdflib graph of the literals that the gate makes, which know more years than rdflib's own."""
    graph = Graph()
    for triple in given:
        graph.add((to_rdflib(triple.subject), to_rdflib(triple.predicate), to_rdflib(triple.object)))
    return graph


def told(node: Node | None) -> str:
    """Write a term; blank nodes get other labels in a report."""
    return "_:" if isinstance(node, BNode) else to_text(node)


def by_pyshacl(shapes: list[Triple], data: list[Triple]) -> set[Finding]:
    _, report, text = validate(to_graph(data), shacl_graph=to_graph(shapes))
    assert isinstance(report, Graph), text
    parts = (SH.focusNode, SH.resultPath, SH.value, SH.sourceShape, SH.resultSeverity, SH.sourceConstraintComponent)
    return {tuple(told(report.value(each, part)) for part in parts) for each in report.objects(None, SH.result)}


def by_shapes(outcome: Outcome) -> set[Finding]:
    return {
        (
            *(_unnamed(term) for term in (each.node, each.path, each.value, each.shape)),
            f"<{SH}{each.severity}>",
            each.component,
        )
        for each in outcome.results
    }


def _unnamed(term: str) -> str:
    return "_:" if term.startswith("_:") else term


@cache
def shipped() -> tuple[Triple, ...]:
    return tuple(
        quad.triple
        for name in resources.names("shapes", ".ttl")
        for quad in parse(resources.text(name), RdfFormat.TURTLE)
    )


@cache
def screens() -> tuple[Screen, Screen]:
    """Return the screens of the shipped shapes and of the types."""
    return Screen(shipped()), Screen(type_shapes(TypeCatalog.shipped()))


def decides(file: Path) -> bool:
    """Return whether the screen leaves nothing of a case open."""
    folder = file.parent.name
    data = triples(file.read_text(encoding="utf-8"))
    names = next((names for names in SHAPES_OF.values() if folder in names), ())
    shapes, types = screens()
    found = types.check(data) if folder.startswith("Type-") else shapes.check(data, [SHAPE + name for name in names])
    return not found.open


def test_the_screen_decides_all_valid_cases_and_no_invalid_one() -> None:
    """What stands beside the cases is held against pySHACL elsewhere, in tests/shapes."""
    decided = {file for file in FILES if decides(file)}
    valid = {file for file in FILES if file.stem.startswith("valid-")}
    print(f"the screen decides {len(decided & valid)} of {len(valid)} valid cases")
    assert len(valid) > 50
    assert decided == valid


VALUES = [
    *("ex:a", "ex:b", "ex:c", "_:x"),
    *('"x"', '"xyz"', '""', '"X"'),
    *('"x"@en', '"y"@en', '"x"@en-gb', '"x"@EN'),
    *("1", '"01"^^xsd:integer', '"x"^^xsd:integer', "7"),
    *('"5"^^xsd:nonNegativeInteger', '"-5"^^xsd:nonNegativeInteger', "1.0", "2.5"),
    *('"1,0"^^xsd:decimal', "1e3", '"NaN"^^xsd:double', '"2.5"^^xsd:float'),
    *("true", '"yes"^^xsd:boolean', '"2026-04-19T08:00:00Z"^^xsd:dateTime', '"2026-04-19T08:00:00"^^xsd:dateTime'),
    *(
        '"soon"^^xsd:dateTime',
        '"-0044-03-15T00:00:00Z"^^xsd:dateTime',
        '"12026-01-01T00:00:00Z"^^xsd:dateTime',
        '"2026-04-19"^^xsd:date',
    ),
    *('"2026-02-30"^^xsd:date', '"-0044-03-15"^^xsd:date', '"2026"^^xsd:gYear', '"a b"^^xsd:anyURI'),
    '"x"^^ex:own',
]
TYPES = ("xsd:string", "rdf:langString", "xsd:integer", "xsd:decimal", "xsd:double", "xsd:boolean", "xsd:dateTime")
MORE_TYPES = ("xsd:date", "xsd:anyURI", "xsd:gYear", "xsd:nonNegativeInteger", "ex:own")
KINDS = ("IRI", "BlankNode", "Literal", "BlankNodeOrIRI", "BlankNodeOrLiteral", "IRIOrLiteral")
value = st.sampled_from(VALUES)
small = st.integers(0, 3)
listed = st.lists(value, max_size=6, unique=True).map(lambda items: f"( {' '.join(items)} )")
BOUNDS = ("1", "2.5", "5e0", '"2026-01-01T00:00:00Z"^^xsd:dateTime', '"2026-01-01T00:00:00"^^xsd:dateTime', '"m"')


def one(name: str, parameter: st.SearchStrategy[object]) -> st.SearchStrategy[str]:
    return parameter.map(lambda said: f"sh:{name} {said}")


OF_VALUES = [
    one("datatype", st.sampled_from(TYPES + MORE_TYPES)),
    one("nodeKind", st.sampled_from(KINDS).map(lambda kind: f"sh:{kind}")),
    one("class", st.sampled_from(["ex:C1", "ex:C2", "ex:C1, ex:C2"])),
    one("in", listed),
    one("hasValue", value),
    one("pattern", st.sampled_from(['"Z$"', '"^x"', '"X" ; sh:flags "i"', '"x", "y"', '"^$"'])),
    one("minLength", small),
    one("maxLength", small),
    one("languageIn", st.sampled_from(['( "en" )', '( "en-GB" "de" )', '( "*" )'])),
    *(one(f"{side}{kind}", st.sampled_from(BOUNDS)) for side in ("min", "max") for kind in ("Inclusive", "Exclusive")),
]
OF_PATHS = [one("minCount", small), one("maxCount", small), one("uniqueLang", st.sampled_from(["true", "false"]))]
UNKNOWN = [
    one("equals", st.just("ex:q")),
    one("disjoint", st.just("ex:q")),
    one("qualifiedValueShape", st.just("[ sh:nodeKind sh:IRI ] ; sh:qualifiedMinCount 1")),
]
SAID = st.sampled_from(["", "sh:severity sh:Warning", "sh:deactivated true", "sh:deactivated false", "rdfs:label 'x'"])


def name_of(constraint: str) -> str:
    return constraint.split()[0]


@st.composite
def bodies(draw: st.DrawFn, depth: int, path: bool) -> str:
    """Return what a shape says, the path of a property shape included."""
    choice = [*OF_VALUES, *(OF_PATHS + UNKNOWN if path else [])]
    parts = draw(st.lists(st.one_of(choice), max_size=3, unique_by=name_of))
    if path:
        parts.append(
            draw(st.sampled_from(["sh:path ex:p", "sh:path ex:p", "sh:path ex:q", "sh:path [ sh:inversePath ex:p ]"]))
        )
    parts.append(draw(SAID))
    if depth and draw(st.booleans()):
        inner = st.builds("[ {} ]".format, st.booleans().flatmap(lambda with_path: bodies(depth - 1, with_path)))
        name = draw(st.sampled_from(["or", "and", "xone", "not", "node"]))
        if name == "node":
            parts.append(f"sh:node [ {draw(bodies(depth - 1, False))} ]")
        elif name == "not":
            parts.append(f"sh:not {draw(inner)}")
        else:
            parts.append(f"sh:{name} ( {' '.join(draw(st.lists(inner, min_size=1, max_size=2)))} )")
    if depth and draw(st.booleans()):
        parts.append(f"sh:property [ {draw(bodies(depth - 1, True))} ]")
    return " ; ".join(part for part in parts if part)


@st.composite
def shapes_graphs(draw: st.DrawFn) -> str:
    """Return one to three node shapes with property shapes that have names, and perhaps one that is shared."""
    text = []
    for number in range(draw(st.integers(1, 3))):
        target = draw(
            st.sampled_from(["targetNode ex:a", "targetClass ex:C0", "targetSubjectsOf ex:p", "targetObjectsOf ex:q"])
        )
        closed = draw(
            st.sampled_from(["", "", "; sh:closed true", "; sh:closed true ; sh:ignoredProperties ( rdf:type ex:q )"])
        )
        text.append(f"ex:S{number} a sh:NodeShape ; sh:{target} {closed} .")
        body = draw(bodies(1, False))
        text.append(f"ex:S{number} {body} ." if body else "")
        for each in range(draw(st.integers(0, 2))):
            text.append(f"ex:S{number} sh:property ex:P{number}-{each} . ex:P{number}-{each} {draw(bodies(1, True))} .")
    if len(text) > 3 and draw(st.booleans()):
        text.append("ex:S0 sh:node ex:S1 .")
    return "\n".join(text)


@st.composite
def data_graphs(draw: st.DrawFn) -> str:
    said = draw(
        st.lists(
            st.tuples(st.sampled_from(["ex:a", "ex:b", "_:x"]), st.sampled_from(["ex:p", "ex:q"]), value), max_size=8
        )
    )
    kinds = draw(
        st.lists(
            st.tuples(st.sampled_from(["ex:a", "ex:b", "ex:c", "_:x"]), st.sampled_from(["ex:C0", "ex:C1", "ex:C2"]))
        )
    )
    text = [" ".join(triple) + " ." for triple in said] + [f"{node} a {kind} ." for node, kind in kinds]
    return "\n".join([*text, draw(st.sampled_from(["", "ex:C2 rdfs:subClassOf ex:C1 ."]))])


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(shapes_graphs(), data_graphs())
def test_random_shapes_say_of_random_data_what_pyshacl_says(shapes: str, data: str) -> None:
    """A node that the screen passes wrongly would be a result of pySHACL that is missing here."""
    rules, said = triples(shapes), triples(data)
    assert by_shapes(Shapes(rules).check(said)) == by_pyshacl(rules, said)


@pytest.mark.parametrize("datatype", TYPES + MORE_TYPES)
@pytest.mark.parametrize("value", VALUES)
def test_a_value_that_passes_by_its_datatype_does_so_by_pyshacl(datatype: str, value: str) -> None:
    rules = triples(
        f"ex:S a sh:NodeShape ; sh:targetNode ex:a ; sh:property [ sh:path ex:p ; sh:datatype {datatype} ] ."
    )
    said = triples(f"ex:a ex:p {value} .")
    assert Screen(rules).check(said).open or by_pyshacl(rules, said) == set()


DECIDED = {
    "xsd:string": '"x"',
    "rdf:langString": '"x"@en',
    "xsd:integer": "-7",
    "xsd:decimal": "1.50",
    "xsd:double": "1e3",
    "xsd:float": '"INF"^^xsd:float',
    "xsd:boolean": '"0"^^xsd:boolean',
    "xsd:dateTime": '"-0044-03-15T00:00:00Z"^^xsd:dateTime',
    "xsd:date": '"2026-04-19"^^xsd:date',
    "xsd:gYear": '"2026"^^xsd:gYear',
    "xsd:anyURI": '"https://example.org/"^^xsd:anyURI',
}


@pytest.mark.parametrize(
    "constraint",
    [
        *(f"sh:datatype {datatype} ; sh:in ( {value} )" for datatype, value in DECIDED.items()),
        "sh:minCount 1 ; sh:maxCount 1 ; sh:in ( 7 )",
        "sh:minLength 1 ; sh:maxLength 3 ; sh:pattern '^X' ; sh:flags 'i' ; sh:in ( \"xyz\" )",
        "sh:minInclusive 1 ; sh:maxExclusive 2.5 ; sh:in ( 1.0 )",
        "sh:minExclusive '2026-01-01T00:00:00Z'^^xsd:dateTime ; sh:in ( '2026-04-19T08:00:00Z'^^xsd:dateTime )",
        "sh:languageIn ( 'en' ) ; sh:uniqueLang true ; sh:in ( 'x'@en-gb )",
        "sh:hasValue ex:b ; sh:nodeKind sh:IRI ; sh:class ex:C1 ; sh:in ( ex:b )",
        "sh:node [ sh:property [ sh:path ex:q ; sh:minCount 1 ] ] ; sh:in ( ex:b )",
        "sh:property [ sh:path ex:q ; sh:maxCount 1 ] ; sh:in ( ex:b )",
        "sh:or ( [ sh:datatype xsd:string ] [ sh:nodeKind sh:IRI ] ) ; sh:in ( ex:b )",
        "sh:and ( [ sh:class ex:C1 ] [ sh:nodeKind sh:IRI ] ) ; sh:in ( ex:b )",
        "sh:not [ sh:minCount -1 ] ; sh:deactivated true ; sh:in ( ex:b )",
    ],
)
def test_the_screen_decides_by_what_it_knows(constraint: str) -> None:
    """The value of each constraint is the one of its sh:in, so that there is one that satisfies it."""
    rules = triples(f"ex:S a sh:NodeShape ; sh:targetNode ex:a ; sh:property [ sh:path ex:p ; {constraint} ] .")
    value = next(quad.object for quad in rules if quad.predicate == FIRST and quad.subject == listed_in(rules))
    said = [*triples("ex:b a ex:C1 ; ex:q 1 ."), Triple(NamedNode("https://example.org/a"), P, value)]
    screened = Screen(rules).check(said)
    assert screened.open == {}
    assert [node for node, _ in screened.unseen] == [NamedNode("https://example.org/b")]
    if "deactivated" not in constraint:
        assert by_pyshacl(rules, said) == set()


def listed_in(rules: list[Triple]) -> object:
    return next(triple.object for triple in rules if triple.predicate == NamedNode(str(SH["in"])))


FIRST = NamedNode(RDF + "first")
P = NamedNode("https://example.org/p")
SHAPE_OF_A = "ex:S a sh:NodeShape ; sh:targetClass ex:A ; sh:property ex:S-p . ex:S-p sh:path ex:p "


@pytest.mark.parametrize(
    "constraint",
    [
        "sh:equals ex:p",
        "sh:not [ sh:datatype xsd:integer ]",
        "sh:xone ( [ sh:datatype xsd:string ] [ sh:datatype xsd:integer ] )",
        "sh:qualifiedValueShape [ sh:datatype xsd:string ] ; sh:qualifiedMinCount 1",
        "sh:sparql [ sh:select 'SELECT $this WHERE { $this <urn:no> ?value }' ]",
        "sh:minInclusive 'a'",
        "sh:pattern 'x' ; sh:flags 'q'",
    ],
)
def test_what_the_screen_does_not_know_is_asked_of_pyshacl(constraint: str) -> None:
    rules, said = triples(f"{SHAPE_OF_A} ; {constraint} ."), triples("ex:a a ex:A ; ex:p 'x' . ex:b a ex:A .")
    screened = Screen(rules).check(said)
    (shape, rule), nodes = next(iter(screened.open.items()))
    assert (shape, rule) == (NamedNode("https://example.org/S"), NamedNode("https://example.org/S-p"))
    assert NamedNode("https://example.org/a") in nodes
    assert by_shapes(Shapes(rules).check(said)) == by_pyshacl(rules, said)


def test_only_the_nodes_that_are_open_are_asked_about() -> None:
    rules = triples(f"{SHAPE_OF_A} ; sh:minCount 1 ; sh:maxCount 1 ; sh:severity sh:Warning .")
    said = triples("ex:a a ex:A ; ex:p 1 . ex:b a ex:A . ex:c a ex:A ; ex:p 1, 2 . ex:d ex:p 3 .")
    screened = Screen(rules).check(said)
    ((_, nodes),) = screened.open.items()
    assert [str(node) for node in nodes] == ["<https://example.org/b>", "<https://example.org/c>"]
    outcome = Shapes(rules).check(said)
    assert [(each.node, each.severity) for each in outcome.results] == [(str(node), "Warning") for node in nodes]
    assert outcome.unseen == (("<https://example.org/d>", ""),)


def test_a_value_that_a_shape_looks_at_is_seen_though_it_is_no_subject() -> None:
    rules = triples("ex:S a sh:NodeShape ; sh:targetObjectsOf ex:q ; sh:nodeKind sh:IRI .")
    said = triples("ex:a ex:q ex:b, 'x' . ex:b ex:p 1 .")
    outcome = Shapes(rules).check(said)
    assert [each.value for each in outcome.results] == ['"x"']
    assert outcome.unseen == (("<https://example.org/a>", ""),)


@pytest.mark.parametrize(
    "bound", ["sh:minInclusive 0.0", "sh:maxInclusive 1.0", "sh:maxExclusive 1e0", "sh:minExclusive 0"]
)
def test_no_bound_allows_what_is_not_a_number(bound: str) -> None:
    shapes = Shapes(triples(f"{SHAPE_OF_A} ; {bound} ."))
    (found,) = shapes.check(triples("ex:a a ex:A ; ex:p 'NaN'^^xsd:double, 0.5 .")).results
    assert found.value.startswith('"NaN"')


def test_a_shape_that_leads_back_to_itself_is_left_to_pyshacl() -> None:
    rules = triples("ex:S a sh:NodeShape ; sh:targetClass ex:A ; sh:property [ sh:path ex:p ; sh:node ex:S ] .")
    said = triples("ex:a a ex:A ; ex:p ex:b . ex:b ex:p ex:a .")
    assert len(Screen(rules).check(said).open) == 1


def test_a_constraint_component_of_ones_own_is_left_to_pyshacl() -> None:
    component = """ex:Odd a sh:ConstraintComponent ; sh:parameter [ sh:path ex:odd ] ;
        sh:validator [ a sh:SPARQLAskValidator ; sh:ask "ASK { FILTER ($value = $odd) }" ] ."""
    own = f"{SHAPE_OF_A} ; ex:odd 3 ."
    said = triples("ex:a a ex:A ; ex:p 4 .")
    assert Screen(triples(own)).check(said).open == {}
    assert len(Shapes(triples(own + component)).check(said).results) == 1


def test_shapes_that_pyshacl_cannot_read_say_so_when_they_are_compiled() -> None:
    shapes = Shapes(triples(f"{SHAPE_OF_A} ; sh:maxCount 'many' ."))
    with pytest.raises(ConstraintLoadError):
        _ = shapes.compiled


def test_a_triple_term_has_no_place_in_what_is_judged() -> None:
    with pytest.raises(ValueError, match="triple term"):
        Shapes(triples(f"{SHAPE_OF_A} .")).check(triples("ex:a a ex:A ; ex:p <<( ex:a ex:p ex:b )>> ."))


def test_a_sound_write_loads_neither_pyshacl_nor_rdflib() -> None:
    code = """import sys
from pyoxigraph import Literal, NamedNode, Triple
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.type_shapes import type_shapes
from prism_rdf.namespaces import RDF_TYPE, TYPE, prism
from prism_rdf.validation.gate import Gate
state = NamedNode("urn:state")
triples = [Triple(state, RDF_TYPE, NamedNode(TYPE + "ADR")), Triple(state, prism("title"), Literal("One"))]
gate = Gate(lambda: type_shapes(TypeCatalog.shipped()))
assert gate.check({"snapshot": triples}) == ()
assert not {"rdflib", "pyshacl"} & set(sys.modules)
assert len(gate.check({"snapshot": [*triples, Triple(state, prism("colour"), Literal("blue"))]})) == 1
assert "pyshacl" in sys.modules"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
