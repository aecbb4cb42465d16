"""Why a state is what it is: what set each value, and what else was said of the same time and does not count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from prism_rdf import Prism, Project


@pytest.fixture
def project() -> Iterator[Project]:
    with Prism.in_memory() as prism:
        demo = prism.project("demo")
        demo.entity("ADR", {"number": "ADR-1", "title": "Use a graph", "status": "Proposed"}, valid_from="2025-01-01")
        demo.fact("ADR-1", "status", "Accepted", valid_from="2025-06-01", source="minutes", description="the vote")
        demo.correct("ADR-1", {"title": "Use a graph store"}, valid_from="2025-01-01")
        demo.fact("ADR-1", "title", "Use graphs", valid_from="2025-03-01")
        yield demo


def told(project: Project, name: str, **when: Any) -> dict[str, Any]:
    return {each["property"]: each for each in project.explain("ADR-1", **when)["state"]}[name]


def test_each_value_names_what_set_it_and_what_it_outranks(project: Project) -> None:
    status = told(project, "status")
    assert (status["value"], status["since"]) == ("Accepted", "2025-06-01T00:00:00Z")
    assert [(each["source"], each["description"]) for each in status["events"]] == [("minutes", "the vote")]
    assert [(each["value"], each["by"]) for each in status["outranked"]] == [("Proposed", "a later beginning")]
    title = told(project, "title")
    assert title["value"] == "Use a graph store"
    assert [(each["value"], each["by"]) for each in title["outranked"]] == [
        ("Use graphs", "a correction"),
        ("Use a graph", "a correction"),
    ]
    assert told(project, "number")["outranked"] == []


def test_it_is_told_of_a_time_as_believed_at_a_time(project: Project) -> None:
    assert told(project, "status", as_of="2025-02")["outranked"] == []
    assert told(project, "status", as_of="2025-02")["value"] == "Proposed"
    assert told(project, "title", known_at=2)["value"] == "Use a graph"
    assert project.explain("ADR-1", as_of="2024")["state"] == []
