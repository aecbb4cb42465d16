"""A project's own types: all verbs go by them, they change without touching what is recorded, and never by halves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from own_types import ALL, HEAD, KIND, SHAPE, TYPES

from prism_rdf.errors import BadArgument, NotFoundError, RefusedError, UnknownType, ValidationError
from prism_rdf.model import TypeText
from prism_rdf.prism import Prism
from prism_rdf.project import Project


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reasoner takes seconds to start, and has a test of its own."""
    monkeypatch.setenv("PATH", "")


@pytest.fixture
def project() -> Iterator[Project]:
    with Prism.in_memory() as prism:
        project = prism.project("atlas")
        project.add_types(ALL, "risks.ttl")
        yield project
        assert project.check() == []


def risk(project: Project, name: str = "R-1", **props: Any) -> str:
    made = project.entity("Risk", {"riskId": name, "severity": "low", **props}, valid_from="2026-01-01")
    return str(made["uuid"])


def named(project: Project, query: str, **options: Any) -> list[str]:
    return sorted(row[0].value for row in project.prism.sparql(query, pid=project.pid, **options).rows())


ABOVE = "SELECT ?name { ?s a type:Component ; prism:name ?name }"


def test_every_verb_goes_by_the_types_of_the_project(project: Project) -> None:
    project.entity("Service", {"name": "gateway"}, valid_from="2026-01-01")
    risk(project, affects="gateway")
    state = project.state_as_of("R-1")
    assert (state["type"], state["identifier"]) == ("Risk", "R-1")
    assert state["props"]["affects"]["identifier"] == "gateway"
    assert project.resolve_alias("R-1", as_of="2026-02-01")["identifier"] == "R-1"
    project.fact("R-1", "severity", "high", valid_from="2026-03-01")
    assert project.blame("R-1", "severity")["values"] == ["high"]
    assert [entry["props"]["severity"] for entry in project.diff("2026-02-01")] == [{"from": "low", "to": "high"}]
    project.entity("ADR", {"number": "ADR-1"})
    project.reference("ADR-1", "R-1", "MITIGATES")
    assert [found["kind"] for found in project.list_references(target="R-1")] == ["MITIGATES"]
    assert [found["type"] for found in project.list_entities("Risk")] == ["Risk"]
    assert named(project, ABOVE) == named(project, ABOVE, as_of="2026-02-01") == ["gateway"]
    project.remember("R-1 came up again in the review", about=["R-1"])
    assert project.recall("what about R-1?")["anchors"][0]["identifier"] == "R-1"


def test_recall_learns_by_what_entities_are_named(project: Project) -> None:
    project.remember("nothing yet")
    risk(project, label="the great flood")
    assert project.recall("the great flood")["anchors"] == []
    project.add_types(
        ALL.replace("my:label a owl:DatatypeProperty", "my:label a owl:DatatypeProperty ; prism:identifying true"),
        "risks.ttl",
    )
    assert len(project.recall("the great flood")["anchors"]) == 1


REFUSED = {
    "a value outside of a shape": (lambda p: p.fact("R-1", "severity", "huge"), "Say low or high"),
    "a state without what a shape wants": (lambda p: p.entity("Risk", {"riskId": "R-2"}), "Say low or high"),
    "what is wanted taken away": (lambda p: p.fact("R-1", "severity", None), "Say low or high"),
    "what never changes": (lambda p: p.fact("R-1", "riskId", "R-9"), "retract the event that says so"),
    "a reference the wrong way": (lambda p: p.reference("R-1", "ADR-1", "MITIGATES"), "Swap them"),
    "a reference to another class": (lambda p: p.fact("R-1", "affects", p.resolve("ADR-1")), "recorded as a Service"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused_with_the_mend_of_the_project(project: Project, case: str) -> None:
    risk(project)
    project.entity("ADR", {"number": "ADR-1"})
    before = project.prism.commit_number
    act, mend = REFUSED[case]
    with pytest.raises(ValidationError) as caught:
        act(project)
    assert any(mend in violation.mend for violation in caught.value.report)
    assert project.prism.commit_number == before


def test_a_reference_that_its_shape_refuses_is_told_once_in_the_words_of_the_project(project: Project) -> None:
    risk(project)
    project.entity("ADR", {"number": "ADR-1"})
    with pytest.raises(ValidationError) as caught:
        project.reference("R-1", "ADR-1", "MITIGATES")
    [told] = caught.value.report
    assert caught.value.message == told.message
    assert told.mend.startswith("Swap them")


def test_what_is_wrong_with_a_file_is_told_without_the_middle_of_a_long_token(project: Project) -> None:
    with pytest.raises(ValidationError, match=r"a\.ttl is not Turtle") as caught:
        project.add_types({"a.ttl": "@prefix my: <urn:my#> .\nmy:a " + "x" * 200_000 + " my:b ."})
    assert len(caught.value.message) < 400
    assert " … " in caught.value.message


def test_drafts_and_late_words_are_not_held_to_what_only_a_whole_state_can_say(project: Project) -> None:
    risk(project)
    project.wip("R-1", {"label": "flood"})
    project.correct("R-1", {"label": "water"}, valid_from="2026-01-01")
    project.fact("R-1", "label", "late", valid_from="2026-02-01")  # outranked: no state shows it
    assert project.state_as_of("R-1", prefer_wip=False)["props"]["label"] == "water"
    assert project.seal("R-1").commit is not None


def test_other_projects_know_nothing_of_it(project: Project) -> None:
    other = project.prism.project("other")
    with pytest.raises(UnknownType, match="Risk"):
        other.entity("Risk", {"title": "x"})
    other.add_types(
        HEAD + "my:Risk a owl:Class, prism:Type ; rdfs:subClassOf prism:Entity ; prism:mutableProperty prism:name .",
        "own.ttl",
    )
    other.entity("Risk", {"name": "x"})
    assert [known["origin"] for known in other.list_types() if known["name"] == "Risk"] == ["own.ttl"]
    assert [each["file"] for each in project.list_type_files()] == ["risks.ttl"]


def test_types_are_listed_with_all_they_declare(project: Project) -> None:
    listed = {known["name"]: known for known in project.list_types()}
    assert len(listed) == 16
    risk_type = listed["Risk"]
    assert (risk_type["origin"], risk_type["version"], risk_type["zone"]) == ("risks.ttl", "1", "project")
    props = {prop["name"]: prop for prop in risk_type["properties"]}
    assert props["riskId"] == {
        "name": "riskId",
        "iri": "https://example.org/my#riskId",
        "datatype": "xsd:string",
        "class": None,
        "multi": False,
        "immutable": True,
        "identifying": True,
        "origin": "risks.ttl",
    }
    assert props["affects"]["class"] == "https://example.org/my#Service"
    assert props["title"]["origin"] == listed["ADR"]["origin"] == "shipped"
    assert listed["ADR"]["can_reference"]["MITIGATES"] == ["Risk"]
    assert "MITIGATES" not in listed["Risk"]["can_reference"]
    assert "Service" in listed["Component"]["can_reference"]["DEPENDS_ON"]


def test_a_shape_of_a_shipped_kind_allows_more_pairs_and_takes_none_away(project: Project) -> None:
    risk(project)
    risk(project, "R-2")
    with pytest.raises(ValidationError):
        project.reference("R-1", "R-2", "DEPENDS_ON")
    more = """my:more a sh:NodeShape ; sh:targetSubjectsOf prism:DEPENDS_ON ; sh:class my:Risk ;
        sh:property [ sh:path prism:DEPENDS_ON ; sh:class my:Risk ] ."""
    project.add_types(HEAD + more, "more.ttl")
    project.reference("R-1", "R-2", "DEPENDS_ON")
    project.entity("Plan", {"number": "Plan-1"})
    project.entity("ADR", {"number": "ADR-1"})
    project.reference("Plan-1", "ADR-1", "DEPENDS_ON")
    listed = {known["name"]: known for known in project.list_types()}
    assert listed["Risk"]["can_reference"]["DEPENDS_ON"] == ["Risk"]
    with pytest.raises(ValidationError):
        project.reference("R-1", "Plan-1", "DEPENDS_ON")


def test_a_change_of_superclasses_is_seen_at_once_now_and_as_of(project: Project) -> None:
    risk(project)
    query = "SELECT ?id { ?s a prism:Document ; <https://example.org/my#riskId> ?id }"
    as_of = {"as_of": "2026-02-01"}
    known = project.prism.commit_number
    assert named(project, query) == named(project, query, **as_of) == []
    document = ALL.replace(
        "my:Risk a owl:Class, prism:Type ; rdfs:subClassOf prism:Entity",
        "my:Risk a owl:Class, prism:Type ; rdfs:subClassOf prism:Document",
    )
    project.add_types(document, "risks.ttl")
    assert named(project, query) == named(project, query, **as_of) == ["R-1"]
    assert named(project, query, known_at=known, **as_of) == []
    assert project.prism.rebuild("atlas") == {"atlas": 0}


def test_what_holds_now_and_would_be_refused_is_told_before_it_is(project: Project) -> None:
    risk(project)
    project.entity("ADR", {"number": "ADR-1"})
    project.reference("ADR-1", "R-1", "MITIGATES")
    stricter = ALL.replace('( "low" "high" )', '( "high" )').replace("sh:class prism:Document", "sh:class type:Plan")
    told = project.add_types(stricter, "risks.ttl", dry_run=True)
    assert [(each["identifier"], each["what"], each["property"]) for each in told["misfits"]] == [
        ("R-1", "state", "severity"),
        ("ADR-1", "reference", "MITIGATES"),
    ]
    assert (told["commit"], told["misfit_count"]) == (None, 2)
    with pytest.raises(ValidationError, match="2 things that hold now would be refused") as caught:
        project.add_types(stricter, "risks.ttl")
    assert "--accept-misfits" in caught.value.mend
    assert project.list_type_files()[0]["version"] == 1
    assert project.add_types(stricter, "risks.ttl", accept_misfits=True)["misfit_count"] == 2
    assert project.state_as_of("R-1")["props"]["severity"] == "low"
    with pytest.raises(ValidationError, match="severity"):
        project.fact("R-1", "title", "Flood")
    project.transition("R-1", {"title": "Flood", "severity": "high"})
    assert project.state_as_of("R-1", "2026-02-01")["props"]["severity"] == "low"
    again = project.add_types(stricter + "\n# the same\n", "risks.ttl")
    assert again["misfit_count"] == 0


def test_what_is_no_longer_declared_can_be_taken_away(project: Project) -> None:
    risk(project, label="flood")
    project.add_types(ALL.replace("my:label, ", ""), "risks.ttl", accept_misfits=True)
    with pytest.raises(ValidationError, match="not declared"):
        project.fact("R-1", "label", "water")
    project.transition("R-1", {"label": None, "title": "Flood"})
    assert "label" not in project.state_as_of("R-1")["props"]
    assert project.state_as_of("R-1", "2026-02-01")["props"]["label"] == "flood"


def test_what_was_said_keeps_its_meaning_when_a_property_gets_several_values_and_one_again(project: Project) -> None:
    risk(project, label="a")
    project.fact("R-1", "label", "b", valid_from="2026-02-01")
    several = ALL.replace("my:label a owl:DatatypeProperty", "my:label a owl:DatatypeProperty ; prism:multiValued true")
    assert project.add_types(several, "risks.ttl")["misfit_count"] == 0
    assert project.state_as_of("R-1")["props"]["label"] == ["b"]
    project.fact("R-1", "label", ["c", "d"], valid_from="2026-03-01")
    assert project.state_as_of("R-1", "2026-02-15")["props"]["label"] == ["b"]
    assert project.add_types(ALL, "risks.ttl", dry_run=True)["misfit_count"] == 1
    project.add_types(ALL, "risks.ttl", accept_misfits=True)
    project.fact("R-1", "label", "e", valid_from="2026-04-01")
    assert project.state_as_of("R-1")["props"]["label"] == "e"
    assert sorted(row["props"].get("label") for row in project.history("R-1")) == ["a", "b", "c", "e"]


def test_a_property_that_changed_can_be_made_one_that_never_does(project: Project) -> None:
    risk(project, label="a")
    project.fact("R-1", "label", "b", valid_from="2026-02-01")
    fixed = ALL.replace("immutableProperty my:riskId", "immutableProperty my:riskId, my:label").replace(
        "my:label, my:affects", "my:affects"
    )
    told = project.add_types(fixed, "risks.ttl", dry_run=True)
    assert [each["message"] for each in told["misfits"]] == ["label is to change no more, and it was a, then b"]
    project.add_types(fixed, "risks.ttl", accept_misfits=True)
    project.fact("R-1", "title", "late", valid_from="2026-01-15")  # folds the whole history anew
    with pytest.raises(ValidationError, match="never changes"):
        project.fact("R-1", "label", "c", valid_from="2026-03-01")


def test_a_type_or_kind_that_is_in_use_cannot_go(project: Project) -> None:
    for number in range(5):
        risk(project, f"R-{number}")
    project.entity("ADR", {"number": "ADR-1"})
    project.reference("ADR-1", "R-1", "MITIGATES")
    for accept in (False, True):
        with pytest.raises(ValidationError) as caught:
            project.remove_types("risks.ttl", accept_misfits=accept)
        said = [violation.message for violation in caught.value.report]
        assert len(said) == 2
        assert said[0].startswith("Risk cannot go: 5 entities are of it (R-")
        assert said[0].endswith(" and 2 more)")
        assert said[1] == "MITIGATES cannot go: 1 reference is of it"
    with pytest.raises(ValidationError, match="cannot go"):
        project.write([TypeText("risks.ttl", None)])
    assert project.add_types(HEAD + TYPES + KIND, "risks.ttl")["commit"] is not None


def test_what_nothing_is_of_can_go(project: Project) -> None:
    done = project.remove_types("risks.ttl")
    assert done["types"]["removed"] == ["Risk", "Service"]
    assert done["kinds"]["removed"] == ["MITIGATES"]
    with pytest.raises(UnknownType):
        project.entity("Risk", {"title": "x"})
    assert project.list_type_files() == []
    with pytest.raises(NotFoundError, match=r"no file of types 'risks\.ttl'"):
        project.remove_types("risks.ttl")
    assert project.add_types(ALL, "risks.ttl")["types"]["added"] == ["Risk", "Service"]


def test_adding_the_same_again_changes_nothing(project: Project) -> None:
    assert project.add_types(ALL, "risks.ttl")["commit"] is None
    key = {"idempotency_key": "k"}
    first = project.add_types(HEAD, "more.ttl", **key)
    again = project.add_types(HEAD, "more.ttl", **key)
    assert (again["commit"], again["replayed"]) == (first["commit"], True)


BAD = {
    "an unsound file": (lambda p: p.add_types("my:Risk", "bad.ttl"), ValidationError, "not Turtle"),
    "one of two files": (lambda p: p.add_types({"a.ttl": HEAD, "b.ttl": "."}), ValidationError, "b.ttl is not Turtle"),
    "unsound without the verb": (lambda p: p.write([TypeText("bad.ttl", "my:Risk")]), ValidationError, "not Turtle"),
    "a name with a path": (lambda p: p.add_types(HEAD, "../risks.ttl"), BadArgument, "cannot be the name"),
    "a name without ttl": (lambda p: p.add_types(HEAD, "risks"), BadArgument, "cannot be the name"),
    "a file that builds on another, without it": (
        lambda p: (
            p.add_types(HEAD + "my:X a owl:Class, prism:Type ; rdfs:subClassOf my:Risk .", "x.ttl"),
            p.remove_types("risks.ttl"),
        ),
        ValidationError,
        "x.ttl: the type X is not a kind of entity",
    ),
    "a revert": (lambda p: p.revert(p.prism.commit_number), RefusedError, "changed the types in risks.ttl"),
}


@pytest.mark.parametrize("case", BAD)
def test_nothing_is_taken_in_by_halves(project: Project, case: str) -> None:
    act, error, says = BAD[case]
    known = project.type_texts()
    with pytest.raises(error, match=says):
        act(project)
    assert {name: text for name, text in project.type_texts().items() if name != "x.ttl"} == known
    assert project.prism.schema("atlas").catalog.type("Risk").name == "Risk"


def test_java_missing_is_no_error_and_says_so(project: Project) -> None:
    told = project.add_types(HEAD + SHAPE.replace("Risk-state", "Risk-more"), "more.ttl")
    assert told["reasoner"]["status"] == "java-missing"
    assert told["commit"] is not None
