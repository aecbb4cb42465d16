"""Which type a document is of, by front matter, file name, heading or folder; and what becomes of its fields."""

from __future__ import annotations

import pytest

from prism_rdf import Prism
from prism_rdf.ingest import read
from prism_rdf.model import NewEntity
from prism_rdf.namespaces import local_name

FILES = {
    "docs/adr/0001-a.md": ("# A\n\n**Status:** Accepted\n", "ADR", "number", "ADR-0001"),
    "docs/spec-020-b.md": ("# Three layers\n", "SPEC", "number", "SPEC-020"),
    "notes/plan.md": ("# Plan #6: Six waves\n", "Plan", "number", "PLAN-6"),
    "todos/17-guide.md": ("# Write the guide\n", "TODO", "number", "TODO-17"),
    "delta-14.md": ("# Work in progress\n", "Delta", "number", "DELTA-14"),
    "journal/2026-04-20.md": ("# What was learned\n", "Journal", "title", "What was learned"),
    "retros/005-plan-6.md": ("# Plan 6\n", "Retro", "number", "RETRO-005"),
    "arch/gateway.md": (
        "---\ntype: component\nowner: Ada\nlanguage: Python\n---\n# Gateway\n",
        "Component",
        "owner",
        "Ada",
    ),
    "env/PRISM_HOME.md": (
        "---\nkind: environment variable\nname: PRISM_HOME\ndefault: ~/.prism\nrequired: no\n---\n# Where it lies\n",
        "EnvVar",
        "defaultValue",
        "~/.prism",
    ),
    "hosts.md": ("---\ntype: location\nfqdn: one.example.org\nport: 8443\n---\n# One\n", "Location", "port", 8443),
    "m.md": ("# Mode: Maintenance\n", "Mode", "name", "Maintenance"),
    "sessions/s1.md": ("---\nsummary: All settled\n---\n# First\n", "Session", "summary", "All settled"),
    "personas/reviewer.md": ("# Reviewer\n", "Persona", "name", "Reviewer"),
    "project.md": ("# Project: Prism\n", "Project", "name", "Prism"),
    "design/spec-7.rst": (":Status: Draft\n\nShape\n=====\n\nText.\n", "SPEC", "status", "Draft"),
}


@pytest.fixture
def project(repo):
    repo.commit(0, {path: text for path, (text, *_) in FILES.items()} | {"README.md": "# Read\n", "x.md": "# X\n"})
    with Prism.in_memory() as prism:
        made = prism.project("demo")
        made.report = made.ingest(repo.path)["report"]
        yield made


def test_each_of_the_fourteen_types_is_recognised(project) -> None:
    assert len({kind for _, kind, _, _ in FILES.values()}) == 14
    assert project.report["documents"] == len(FILES)
    assert [skipped["path"] for skipped in project.report["skipped"]] == ["README.md", "x.md"]
    assert project.report["failures"] == []
    states = {state["props"]["path"]: state for state in project.list_entities() if "path" in state["props"]}
    for path, (_, kind, prop, value) in FILES.items():
        state = states.get(path) or next(s for s in project.list_entities() if s["type"] == kind)
        assert (path, state["type"], state["props"][prop]) == (path, kind, value)


def test_a_dry_run_shows_all_that_and_writes_nothing(repo) -> None:
    repo.commit(0, {path: text for path, (text, *_) in FILES.items()} | {"x.md": "# X\n"})
    with Prism.in_memory() as prism:
        found = prism.project("demo").ingest(repo.path, dry_run=True)
        assert prism.commit_number == 0

    assert found["counts"]["SPEC"] == 2
    assert sum(found["counts"].values()) == len(FILES)
    why = {each["path"]: (each["type"], each["why"]) for each in found["recognised"]}
    assert why["docs/spec-020-b.md"] == ("SPEC", "its file name says SPEC-020")
    assert why["notes/plan.md"] == ("Plan", "its heading or front matter says PLAN-6")
    assert why["m.md"] == ("Mode", "its heading begins with Mode")
    assert why["arch/gateway.md"] == ("Component", "it says that it is a Component")
    assert why["personas/reviewer.md"] == ("Persona", "it lies in personas/")
    assert [skipped["path"] for skipped in found["report"]["skipped"]] == ["x.md"]


def test_front_matter_that_no_property_takes_is_left_alone_and_lists_are_values(repo) -> None:
    repo.commit(
        0, {"ADR-1.md": "---\nstatus: Accepted\ndeciders: [Ada, Grace]\nauthor: Joan\nmood: good\n---\n# ADR-1: A\n"}
    )
    repo.commit(1, {"ADR-1.md": "---\nstatus: Accepted\ndeciders: Ada\n---\n# ADR-1: A\n"})
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.ingest(repo.path)
        then, now = (state["props"] for state in project.history("ADR-1"))

    assert (sorted(then["deciders"]), then["authors"], now["deciders"]) == (["Ada", "Grace"], ["Joan"], ["Ada"])
    assert "authors" not in now
    assert "mood" not in then


def test_what_never_changes_stays_and_what_a_property_does_not_take_is_reported(repo) -> None:
    repo.commit(0, {"ADR-1.md": "---\nstatus: A\ncreated: 2020-01-01\n---\n# ADR-1: A\n"})
    second = repo.commit(1, {"ADR-1.md": "---\nstatus: B\ncreated: 2021-01-01\n---\n# ADR-1: A\n"})
    third = repo.commit(2, {"one.md": "---\ntype: location\nport: high\n---\n# One\n"})
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        report = project.ingest(repo.path)["report"]
        states = [state["props"] for state in project.history("ADR-1")]

    assert [(state["status"], state["created"]) for state in states] == [("A", "2020-01-01"), ("B", "2020-01-01")]
    assert [(f["path"], f["commit"], f["reason"]) for f in report["failures"]] == [
        ("ADR-1.md", second, "created of an ADR never changes, and this version changes it"),
        ("one.md", third, "port of a Location cannot be 'high'"),
    ]


def test_a_type_of_the_project_is_known_by_its_name(repo) -> None:
    text = """@prefix prism: <https://w3id.org/prism-rdf/ns#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix x: <https://example.org/t#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
x:Risk a owl:Class, prism:Type ; rdfs:subClassOf prism:Document ; rdfs:label "Risk"@en ; prism:zone "project" ;
    skos:definition "Something that may go wrong."@en ;
    prism:mutableProperty prism:title, prism:status, prism:path, x:severity .
x:severity a owl:DatatypeProperty ;
    rdfs:label "severity"@en ; skos:definition "How bad."@en ; rdfs:range xsd:integer ."""
    repo.commit(0, {"r.md": "---\ntype: risk\nseverity: 3\n---\n# Fire\n"})
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.add_types(text, "risks.ttl")
        project.ingest(repo.path)
        assert project.state_as_of("Fire")["props"]["severity"] == 3


def test_references_between_series_are_found_in_text_and_fields(repo, told) -> None:
    repo.commit(
        0,
        {
            "spec-020.md": "---\nimplements: ADR-23\n---\n# Layers\n\nAs Plan #6 had it, not plan 7 or `RETRO-5`.\n",
            "ADR-23.md": "# ADR-23: Adopt\n",
            "plan-6.md": "# Six waves\n",
            "retro-5.md": "# Back\n",
            "spec-21.rst": "Ring\n====\n\nAfter SPEC-20::\n\n    PLAN-6\n\n``RETRO-5`` too.\n",
        },
    )

    assert [(s, k, t) for s, k, t, _, _ in told(repo).references()] == [
        ("spec-020.md", "IMPLEMENTS", "ADR-23.md"),
        ("spec-020.md", "REFERENCES", "plan-6.md"),
        ("spec-21.rst", "REFERENCES", "spec-020.md"),
    ]


def test_the_type_of_a_document_is_that_of_its_first_version(repo, told) -> None:
    repo.commit(0, {"a.md": "---\ntype: plan\n---\n# A\n"})
    repo.commit(1, {"a.md": "---\ntype: retro\n---\n# A\n\nMore.\n"})

    made = [intent for intent in read(repo.path, "demo").intents if isinstance(intent, NewEntity)]

    assert [local_name(intent.type.value) for intent in made] == ["Plan"]
