"""Every shape has valid and invalid cases beside their expected results, and says how to mend what it finds."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
import rdflib
from pyoxigraph import NamedNode, RdfFormat, Triple, parse
from pyshacl import validate
from rdflib import Graph, URIRef
from rdflib.namespace import RDF, SH

from prism_rdf import resources
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.type_shapes import type_shapes
from prism_rdf.namespaces import PREFIXES, SHAPE
from prism_rdf.validation.gate import SHAPES_OF, Gate, Scope

CASES = Path(__file__).parent.parent / "cases" / "shapes"
FILES = sorted(CASES.rglob("*.ttl"))
IDS = [f"{file.parent.name}/{file.stem}" for file in FILES]
SHAPE_FILES = {
    "canonical": {"Identity", "TypeText"},
    "temporal": {"SupersessionEvent", "Assertion", "State", "EntityStates", "Draft", "EarlierBelief"},
    "semantic": {"Alias", "Reference", "Merge", "Difference", *SHAPES_OF["link"]},
    "evidence": {"Memory", "Concept", "Evidence"},
    "review": {"FactCandidate", "AliasCandidate", "ReferenceCandidate", "Clue", "Ruling"},
}
Findings = set[tuple[str, str]]


@pytest.fixture(scope="module")
def gate() -> Gate:
    return Gate(lambda: type_shapes(TypeCatalog.shipped()))


@cache
def shipped_graph() -> Graph:
    graph = Graph()
    for name in resources.names("shapes", ".ttl"):
        graph.parse(data=resources.text(name), format="turtle")
    return graph


@cache
def type_graph() -> Graph:
    return Graph().parse(data="".join(f"{triple} .\n" for triple in type_shapes(TypeCatalog.shipped())), format="nt")


@cache
def shapes_graph() -> Graph:
    return shipped_graph() + type_graph()


def scope_of(shape: str) -> Scope:
    if shape.startswith("Type-"):
        return "snapshot"
    return next(scope for scope, names in SHAPES_OF.items() if shape in names)


def triples(file: Path) -> list[Triple]:
    return [quad.triple for quad in parse(file.read_text(encoding="utf-8"), RdfFormat.TURTLE)]


def short(iri: str) -> str:
    iri = iri.strip("<>")
    prefix = next((name for name, start in PREFIXES.items() if iri.startswith(start)), None)
    return f"{prefix}:{iri.removeprefix(PREFIXES[prefix])}" if prefix else iri


def expected(file: Path) -> Findings:
    beside = file.with_suffix(".json")
    if file.stem.startswith("valid-"):
        assert not beside.exists(), "a valid case expects nothing"
        return set()
    return {(entry["shape"], entry["path"]) for entry in json.loads(beside.read_text(encoding="utf-8"))}


def test_the_cases_are_all_found() -> None:
    assert len(FILES) == 414
    assert all(file.stem.startswith(("valid-", "invalid-")) for file in FILES)


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_a_case_yields_exactly_what_stands_beside_it(gate: Gate, file: Path) -> None:
    found = gate.check({scope_of(file.parent.name): triples(file)})
    assert {(short(each.shape).removeprefix("shape:"), short(each.path)) for each in found} == expected(file)
    assert all(each.message and each.mend and each.node for each in found)


@pytest.mark.parametrize("folder", sorted({file.parent.name for file in FILES}))
def test_pyshacl_itself_says_the_same(gate: Gate, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases of a shape go to pyshacl.validate in one graph, each with nodes of its own.

    pySHACL cannot read years before 1, which the gate can; and of a link it tells neither path nor value.
    """
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)  # as pySHACL does when it loads a file itself
    scope = scope_of(folder)
    data = Graph()
    together: list[Triple] = []
    for number, file in enumerate(file for file in FILES if file.parent.name == folder):
        own = file.read_text(encoding="utf-8").replace("https://example.org/", f"https://example.org/{number}/")
        own = own.replace('"-0044-', '"2026-')
        data.parse(data=own, format="turtle")
        together += [quad.triple for quad in parse(own, RdfFormat.TURTLE)]
    _, report, _ = validate(data, shacl_graph=type_graph() if scope == "snapshot" else shipped_graph())
    assert isinstance(report, Graph)
    judged = tuple(SHAPE + name for name in SHAPES_OF.get(scope, (folder,)))
    parts = [SH.focusNode, SH.sourceShape, SH.sourceConstraintComponent] + ([] if scope == "link" else [SH.resultPath])
    theirs = {
        tuple(str(report.value(result, part) or "") for part in parts)
        for result in report.subjects(RDF.type, SH.ValidationResult)
        if str(report.value(result, SH.sourceShape)).startswith(judged)
    }
    found = [each for each in gate.check({scope: together}) if each.shape.strip("<>") != SHAPE]
    ours = {
        tuple(part.strip('<>"') for part in (each.node, each.shape, each.component, each.path))[: len(parts)]
        for each in found
    }
    assert theirs == ours
    assert len(ours) >= len([file for file in FILES if file.match(f"{folder}/invalid-*.ttl")])


def test_every_shape_of_every_file_is_applied_in_some_scope() -> None:
    for name, wanted in SHAPE_FILES.items():
        graph = Graph().parse(data=resources.text(f"shapes/{name}.ttl"), format="turtle")
        found = {str(shape).removeprefix(SHAPE) for shape in graph.subjects(RDF.type, SH.NodeShape)}
        assert found == wanted
    applied = {name for names in SHAPES_OF.values() for name in names}
    assert applied == set().union(*SHAPE_FILES.values())


def described() -> list[URIRef]:
    kinds = (SH.NodeShape, SH.PropertyShape)
    return sorted(
        shape for kind in kinds for shape in shapes_graph().subjects(RDF.type, kind) if isinstance(shape, URIRef)
    )


def test_every_shape_is_named_described_and_says_how_to_mend() -> None:
    shapes = described()
    assert len(shapes) > 250
    for shape in shapes:
        for said in (SH.name, SH.description, SH.severity, SH.message):
            assert len(set(shapes_graph().objects(shape, said))) == 1, (shape, said)
        rule, _, mend = str(shapes_graph().value(shape, SH.message)).partition(". ")
        assert rule, shape
        assert mend, f"{shape} does not say what to do"


def test_every_hand_written_shape_is_broken_by_some_case() -> None:
    broken = {shape for file in FILES for shape, _ in expected(file)}
    untested = {str(shape).removeprefix(SHAPE) for shape in described()} - broken
    assert {shape for shape in untested if not shape.startswith("Type-")} == set()
    valid = {file.parent.name for file in FILES if file.stem.startswith("valid-")}
    assert valid >= set().union(*SHAPE_FILES.values())


def test_shapes_use_no_sparql() -> None:
    for name in resources.names("shapes", ".ttl"):
        assert "sh:sparql" not in resources.text(name), name


def test_shapes_speak_only_of_terms_of_the_ontology() -> None:
    said = {
        term.value
        for name in resources.names("shapes", ".ttl")
        for quad in parse(resources.text(name), RdfFormat.TURTLE)
        for term in (quad.predicate, quad.object)
        if isinstance(term, NamedNode) and term.value.startswith((PREFIXES["prism"], PREFIXES["type"]))
    }
    known = {
        quad.subject.value
        for name in resources.names("ontology", ".ttl")
        for quad in parse(resources.text(name), RdfFormat.TURTLE)
        if isinstance(quad.subject, NamedNode)
    }
    assert said - known == set()
