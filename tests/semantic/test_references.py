"""References: both ways, on both axes, each with its source; and what depends on a thing through others."""

from __future__ import annotations

import pytest

from prism_rdf import resources
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.model import Withdrawal


def rows(found):
    return [(each["source"]["identifier"], each["kind"], each["target"]["identifier"]) for each in found]


@pytest.fixture
def web(project, make):
    """SPEC-1 specifies the store; ADR-1 depends on it; Plan implements ADR-1; a journal only mentions it."""
    make("SPEC", number="SPEC-1", title="How the store behaves")
    make("Component", name="store")
    make("ADR", number="ADR-1", title="Use the store")
    make("Plan", title="plan")
    make("Journal", title="journal")
    project.reference("SPEC-1", "store", "SPECIFIES", valid_from="2025-01-01")
    project.reference("ADR-1", "SPEC-1", "DEPENDS_ON", valid_from="2025-02-01")
    project.reference("plan", "ADR-1", "IMPLEMENTS", valid_from="2025-03-01", valid_until="2025-12-31")
    project.reference("journal", "SPEC-1", "REFERENCES", valid_from="2025-01-01")
    return project


def test_an_entity_has_references_both_ways(web):
    both = rows(web.list_references(entity="SPEC-1", as_of="2025-06-01"))
    assert both == [
        ("ADR-1", "DEPENDS_ON", "SPEC-1"),
        ("journal", "REFERENCES", "SPEC-1"),
        ("SPEC-1", "SPECIFIES", "store"),
    ]
    assert rows(web.list_references(source="SPEC-1")) == both[2:]
    assert rows(web.list_references(target="SPEC-1")) == both[:2]
    assert rows(web.list_references(target="SPEC-1", kind="DEPENDS_ON")) == both[:1]
    assert rows(web.list_references(source="ADR-1", target="SPEC-1")) == both[:1]


def test_a_reference_holds_in_its_interval_and_as_it_was_believed(web, prism):
    then = prism.commit_number
    ends = [rows(web.list_references(source="plan", as_of=day)) for day in ("2025-02-28", "2025-12-31", "2026-01-01")]
    assert ends == [[], [("plan", "IMPLEMENTS", "ADR-1")], []]
    web.revert(then - 1)
    assert web.list_references(source="plan", as_of="2025-06-01") == []
    assert rows(web.list_references(source="plan", as_of="2025-06-01", known_at=then)) == ends[1]


def test_two_sources_are_two_references_and_one_triple(web, prism):
    for document in ("a.md", "b.md"):
        web.reference("ADR-1", "store", "DEPENDS_ON", valid_from="2025-05-01", source_document=document)
    triples = "SELECT ?s { ?s prism:DEPENDS_ON ?o . ?o prism:name 'store' }"
    found = web.list_references(source="ADR-1", target="store")
    assert sorted(each["provenance"] for each in found) == ["a.md", "b.md"]
    assert len(list(prism.sparql(triples).rows())) == 1
    web.revert(prism.commit_number)
    assert [each["provenance"] for each in web.list_references(source="ADR-1", target="store")] == ["a.md"]
    assert len(list(prism.sparql(triples).rows())) == 1
    web.revert(prism.commit_number - 2)
    assert list(prism.sparql(triples).rows()) == []


def affected(found):
    return [(each["entity"]["identifier"], each["depth"], each["kind"]) for each in found["affected"]]


def test_impact_is_what_depends_on_a_thing_through_others(web):
    told = web.impact("SPEC-1", "2025-06-01")
    assert affected(told) == [("ADR-1", 1, "DEPENDS_ON"), ("store", 1, "SPECIFIES"), ("plan", 2, "IMPLEMENTS")]
    [plan] = [each for each in told["affected"] if each["entity"]["identifier"] == "plan"]
    assert plan["type"] == "Plan"
    assert plan["of"]["identifier"] == "ADR-1"
    assert rows(plan["path"]) == [("ADR-1", "DEPENDS_ON", "SPEC-1"), ("plan", "IMPLEMENTS", "ADR-1")]
    assert affected(web.impact("SPEC-1")) == affected(told)[:2], "the plan is done"
    assert affected(web.impact("SPEC-1", "2025-06-01", depth=1)) == affected(told)[:2]
    assert affected(web.impact("SPEC-1", "2025-06-01", kinds=["DEPENDS_ON"])) == affected(told)[:1]
    assert affected(web.impact("SPEC-1", kinds=["REFERENCES"])) == [("journal", 1, "REFERENCES")]
    assert affected(web.impact("store")) == [], "who is specified does not touch the specification"
    assert affected(web.impact("SPEC-1", known_at=1)) == []


def test_impact_cuts_circles_and_tells_each_thing_once_by_the_shortest_way(project, make):
    for name in "abcd":
        make("Component", name=name)
    for source, target in ("ba", "cb", "dc", "da", "ad"):
        project.reference(source, target, "DEPENDS_ON")
    assert affected(project.impact("a")) == [("b", 1, "DEPENDS_ON"), ("d", 1, "DEPENDS_ON"), ("c", 2, "DEPENDS_ON")]


def test_which_end_depends_is_said_by_the_ontology():
    ends = {kind.value.rpartition("#")[2]: end for kind, end in TypeCatalog.shipped().dependent_ends.items()}
    assert ends == {
        **dict.fromkeys(("DEPENDS_ON", "IMPLEMENTS", "EXTENDS", "FORMALIZES", "DOCUMENTS"), "source"),
        **dict.fromkeys(("SPECIFIES", "RESOLVES", "SUPERSEDES"), "target"),
    }


SHIPPED = [resources.text(name) for name in resources.names("ontology", ".ttl")]
OWN = """
@prefix prism: <https://w3id.org/prism-rdf/ns#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix ex: <https://example.org/> .
ex:DEPLOYS a owl:ObjectProperty, prism:ReferenceKind ; rdfs:subPropertyOf prism:DEPENDS_ON .
ex:PRAISES a owl:ObjectProperty, prism:ReferenceKind ; rdfs:subPropertyOf prism:REFERENCES .
ex:FEEDS a owl:ObjectProperty, prism:ReferenceKind ; prism:dependentEnd "target" ; rdfs:subPropertyOf ex:DEPLOYS .
"""


def test_a_kind_of_a_project_counts_as_the_kind_that_it_is_a_case_of():
    shipped = TypeCatalog.shipped()
    ends = {kind.value: end for kind, end in TypeCatalog.load([*SHIPPED, OWN]).dependent_ends.items()}
    assert len(ends) == len(shipped.dependent_ends) + 2
    assert ends["https://example.org/DEPLOYS"] == "source"
    assert ends["https://example.org/FEEDS"] == "target"


def test_impact_goes_by_the_kinds_of_the_project(project, make):
    shape = """
    @prefix sh: <http://www.w3.org/ns/shacl#> . @prefix type: <https://w3id.org/prism-rdf/type#> .
    ex:DEPLOYS rdfs:label "deploys" ; skos:definition "The source puts the target into service."@en .
    ex:DeploysShape a sh:NodeShape ; sh:targetSubjectsOf ex:DEPLOYS ; sh:name "deploys" ; sh:severity sh:Violation ;
        sh:message "Only components deploy. Choose RELATES_TO." ; sh:class type:Component .
    """
    own = OWN.partition("ex:PRAISES")[0]
    project.add_types(f"@prefix skos: <http://www.w3.org/2004/02/skos/core#> . {own} {shape}", "own.ttl")
    make("Component", name="fleet")
    make("Component", name="engine")
    project.reference("fleet", "engine", "DEPLOYS")
    told = project.impact("engine")
    assert affected(told) == [("fleet", 1, "DEPLOYS")]
    assert "DEPLOYS" in told["kinds"]


def test_withdrawing_one_reference_leaves_its_neighbours(web):
    [found] = web.list_references(source="SPEC-1")
    uuid = web.names.uuid_of(found["source"]["ref"])
    web.write([Withdrawal(web.names.reference(web.names.uuid_of(found["reference"])), uuid)])
    assert rows(web.list_references(entity="SPEC-1")) == [
        ("ADR-1", "DEPENDS_ON", "SPEC-1"),
        ("journal", "REFERENCES", "SPEC-1"),
    ]
