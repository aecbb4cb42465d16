"""Every term is described, every file is of the release, and generic tools can load the whole and reason over it."""

from __future__ import annotations

import io
import re
import shutil
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import owlready2
import pytest
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Store, parse

from prism_rdf import resources
from prism_rdf.namespaces import DCTERMS, OWL, PRISM, PROV, RDF_TYPE, RDFS, SKOS, TYPE

ROOT = Path(__file__).parent.parent.parent
FILES = resources.names("ontology", ".ttl")
ROOMS = ["canonical", "evidence", "review", "semantic", "temporal", "types/application", "types/system"]
OURS = (PRISM, TYPE)
EXTERNAL = (OWL, RDFS)
LABEL = NamedNode(RDFS + "label")
ONCE = (LABEL, NamedNode(SKOS + "definition"), NamedNode(SKOS + "example"), NamedNode(RDFS + "isDefinedBy"))
ONTOLOGY = NamedNode(OWL + "Ontology")
SUBCLASS = NamedNode(RDFS + "subClassOf")
SUBPROPERTY = NamedNode(RDFS + "subPropertyOf")


@cache
def store(*names: str) -> Store:
    made = Store()
    for name in names or FILES:
        made.load(resources.text(name), RdfFormat.TURTLE)
    return made


def terms(of: Store) -> list[NamedNode]:
    subjects = {quad.subject for quad in of if isinstance(quad.subject, NamedNode)}
    return sorted((node for node in subjects if node.value.startswith(OURS)), key=str)


def has(subject: str, predicate: NamedNode, value: str) -> bool:
    return Quad(NamedNode(subject), predicate, NamedNode(value)) in store()


def as_ntriples(quads: Iterable[Quad]) -> io.BytesIO:
    buffer = io.BytesIO()
    made = Store()
    made.extend(quads)
    made.dump(buffer, RdfFormat.N_TRIPLES, from_graph=DefaultGraph())
    buffer.seek(0)
    return buffer


def load(quads: Iterable[Quad]) -> owlready2.World:
    world = owlready2.World()
    world.get_ontology("https://w3id.org/prism-rdf/all#").load(fileobj=as_ntriples(quads))
    return world


def test_the_ontology_has_a_file_per_layer_and_per_zone() -> None:
    assert [f"ontology/{room}.ttl" for room in ROOMS] == FILES


@pytest.mark.parametrize("room", ROOMS)
def test_every_term_is_described_once_in_its_file(room: str) -> None:
    of = store(f"ontology/{room}.ttl")
    found = terms(of)
    assert len(found) >= 5
    for term in found:
        for predicate in ONCE:
            assert len(list(of.quads_for_pattern(term, predicate, None))) == 1, (term, predicate)
        defined = next(of.quads_for_pattern(term, ONCE[3], None)).object
        assert defined == NamedNode(f"https://w3id.org/prism-rdf/ontology/{room}"), term
        assert list(of.quads_for_pattern(term, RDF_TYPE, None)), term


def test_no_term_is_described_twice() -> None:
    assert len(terms(store())) == sum(len(terms(store(name))) for name in FILES)
    assert len(terms(store())) > 130


@pytest.mark.parametrize("room", ROOMS)
def test_a_header_bears_version_licence_title_and_creator(room: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    of = store(f"ontology/{room}.ttl")
    (header,) = of.quads_for_pattern(None, RDF_TYPE, ONTOLOGY)
    said = {quad.predicate.value: quad.object for quad in of.quads_for_pattern(header.subject, None, None)}
    assert header.subject == NamedNode(f"https://w3id.org/prism-rdf/ontology/{room}")
    assert said[OWL + "versionInfo"] == Literal(project["version"])
    assert said[OWL + "versionIRI"] == NamedNode(f"https://w3id.org/prism-rdf/ontology/{project['version']}/{room}")
    assert said[SKOS + "changeNote"].value.startswith(f"{project['version']}: ")
    assert said[DCTERMS + "license"] == NamedNode("https://www.apache.org/licenses/LICENSE-2.0")
    assert said[DCTERMS + "creator"] == Literal("Prism RDF contributors")
    assert said[DCTERMS + "title"].value.startswith("Prism RDF")


def test_the_ontology_lines_up_with_the_standards() -> None:
    for name in ("Entity", "State", "Memory", "Alias", "Reference"):
        assert has(PRISM + name, SUBCLASS, PROV + "Entity"), name
    assert has(PRISM + "SupersessionEvent", SUBCLASS, PROV + "Activity")
    assert has(PRISM + "causedBy", SUBPROPERTY, PROV + "wasGeneratedBy")
    assert has(PRISM + "causeMemory", SUBPROPERTY, PROV + "used")
    assert has(PRISM + "Concept", SUBCLASS, SKOS + "Concept")
    assert has(PRISM + "title", SUBPROPERTY, DCTERMS + "title")
    assert has(PRISM + "REFERENCES", SUBPROPERTY, DCTERMS + "references")
    kinds = {quad.subject for quad in store().quads_for_pattern(None, RDF_TYPE, NamedNode(PRISM + "ReferenceKind"))}
    below = {quad.subject for quad in store().quads_for_pattern(None, SUBPROPERTY, NamedNode(PRISM + "REFERENCES"))}
    assert kinds == below | {NamedNode(PRISM + "REFERENCES")}
    assert len(kinds) == 10


def test_every_foreign_term_that_is_aligned_with_is_declared() -> None:
    above = {
        quad.object
        for predicate in (SUBCLASS, SUBPROPERTY)
        for quad in store().quads_for_pattern(None, predicate, None)
        if isinstance(quad.object, NamedNode) and not quad.object.value.startswith((*OURS, *EXTERNAL))
    }
    assert len(above) > 10
    for term in above:
        assert list(store().quads_for_pattern(term, RDF_TYPE, None)), term


def test_every_term_that_the_code_uses_is_in_the_ontology() -> None:
    known = {term.value.removeprefix(PRISM) for term in terms(store())}
    used: dict[str, str] = {}
    for room in ("prism_rdf", "server"):
        for file in (ROOT / room).rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            used |= {name: str(file.relative_to(ROOT)) for name in re.findall(r"""\bprism\(["'](\w+)["']\)""", text)}
    for name in [*resources.names("queries", ".rq"), *resources.names("shapes", ".ttl")]:
        used |= dict.fromkeys(re.findall(r"\bprism:(\w+)", resources.text(name)), name)
    assert len(used) > 40
    assert {name: where for name, where in used.items() if name not in known} == {}


def test_owlready2_holds_the_fourteen_types_as_python_classes() -> None:
    world = load(store())
    types = {cls.name: cls for cls in world.classes() if cls.iri.startswith(TYPE)}
    assert len(types) == 14
    document, entity = world[PRISM + "Document"], world[PRISM + "Entity"]
    assert issubclass(types["ADR"], document)
    assert issubclass(types["EnvVar"], entity)
    assert not issubclass(types["EnvVar"], document)
    adr = types["ADR"]("example")
    adr.title = ["Adopt three layers"]
    adr.FORMALIZES = [types["SPEC"]("other")]
    assert adr.title == ["Adopt three layers"]
    assert isinstance(adr.FORMALIZES[0], document)
    assert issubclass(world[PRISM + "FORMALIZES"], owlready2.ObjectProperty)


def examples() -> list[Quad]:
    """Return the valid cases of the shapes as data, each with nodes of its own: something to reason about.

    HermiT reads no more than milliseconds.
    """
    found: list[Quad] = []
    for number, file in enumerate(sorted((ROOT / "tests" / "cases" / "shapes").rglob("valid-*.ttl"))):
        text = file.read_text(encoding="utf-8").replace("https://example.org/", f"https://example.org/{number}/")
        found += parse(re.sub(r"(:\d\d\.\d{3})\d*Z", r"\1Z", text), RdfFormat.TURTLE)
    assert len(found) > 300
    return found


@pytest.mark.java
@pytest.mark.skipif(shutil.which("java") is None, reason="the reasoner HermiT needs Java, and there is no java here")
def test_hermit_finds_the_ontology_and_its_examples_consistent() -> None:
    world = load([*store(), *examples()])
    owlready2.sync_reasoner_hermit(world, infer_property_values=False, debug=0)
    assert list(world.inconsistent_classes()) == []


@pytest.mark.java
@pytest.mark.skipif(shutil.which("java") is None, reason="the reasoner HermiT needs Java, and there is no java here")
def test_hermit_finds_an_event_that_is_also_a_state_inconsistent() -> None:
    node = NamedNode("https://example.org/odd")
    odd = [Quad(node, RDF_TYPE, NamedNode(PRISM + name)) for name in ("State", "SupersessionEvent")]
    world = load([*store(), *odd])
    with pytest.raises(owlready2.OwlReadyInconsistentOntologyError):
        owlready2.sync_reasoner_hermit(world, infer_property_values=False, debug=0)
