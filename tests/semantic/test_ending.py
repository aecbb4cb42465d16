"""A name or a reference is taken away: as a mistake it never was; from a time on it was so until then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from prism_rdf import Prism, Project
from prism_rdf.errors import AmbiguousError, BadArgument, BadQuery, BadTime, NotFoundError, UnknownEntity


@pytest.fixture
def project() -> Iterator[Project]:
    with Prism.in_memory() as prism:
        demo = prism.project("demo")
        demo.entity("ADR", {"number": "ADR-1", "title": "Use a graph"}, valid_from="2025-01-01")
        demo.entity("ADR", {"number": "ADR-2", "title": "Use a table"}, valid_from="2025-01-01")
        yield demo


def held(project: Project, **when: Any) -> list[str]:
    return [each["kind"] for each in project.list_references("ADR-1", "ADR-2", **when)]


def test_a_mistaken_alias_means_nothing_and_was_believed_before(project: Project) -> None:
    commit = project.alias("the graph decision", "ADR-1", kind="synonym").commit
    project.unalias("The Graph  Decision")
    with pytest.raises(UnknownEntity) as error:
        project.resolve("the graph decision")
    assert "graph decision" not in error.value.mend, "nobody is asked whether what is withdrawn was meant"
    assert project.resolve_alias("the graph decision", known_at=commit)["identifier"] == "ADR-1"
    assert project.check() == []


def test_an_alias_ends_at_a_time(project: Project) -> None:
    project.alias("graph", "ADR-1", kind="synonym", valid_from="2025-01-01", source="a note")
    assert project.unalias("graph", valid_until="2025-06-30").commit is not None
    assert project.resolve_alias("graph", as_of="2025-06-30")["why"].endswith("until 2025-07-01T00:00:00Z")
    assert len(project.timeline("ADR-1")) == len(project.timeline("ADR-2")) + 2, "one alias, which begins and ends"
    assert project.unalias("graph", valid_until="2025-06-30").commit is None, "it was so already"
    with pytest.raises(BadTime):
        project.unalias("graph", valid_until="2024")


def test_whose_alias_it_is_must_be_known(project: Project) -> None:
    project.alias("it", "ADR-1", kind="synonym", valid_until="2025-03-01")
    project.alias("it", "ADR-2", kind="synonym", valid_from="2025-04-01")
    with pytest.raises(AmbiguousError) as error:
        project.unalias("it")
    assert {each["identifier"] for each in error.value.candidates} == {"ADR-1", "ADR-2"}
    project.unalias("it", "ADR-2")
    assert project.resolve_alias("it")["identifier"] == "ADR-1"
    with pytest.raises(NotFoundError, match="no alias 'ADR-1'"):
        project.unalias("ADR-1")


def test_a_mistaken_reference_holds_at_no_time(project: Project) -> None:
    project.reference("ADR-1", "ADR-2", "SUPERSEDES", valid_from="2025-02-01")
    project.reference("ADR-1", "ADR-2", "EXTENDS", valid_from="2025-02-01")
    project.unreference("ADR-1", "ADR-2", "SUPERSEDES")
    assert held(project) == held(project, as_of="2025-03-01") == ["EXTENDS"]
    with pytest.raises(NotFoundError, match="does not refer"):
        project.unreference("ADR-2", "ADR-1", "SUPERSEDES")
    assert project.check() == []


def test_a_reference_ends_at_a_time_whoever_said_it(project: Project) -> None:
    for source in ("a", "b"):
        project.reference("ADR-1", "ADR-2", "DEPENDS_ON", valid_from="2025-02-01", source_document=source)
    project.unreference("ADR-1", "ADR-2", "DEPENDS_ON", valid_until="2025-06-30")
    assert held(project) == []
    assert held(project, as_of="2025-06-30") == ["DEPENDS_ON", "DEPENDS_ON"]


@pytest.mark.parametrize("ref", [None, 7, b"ADR-1", ["ADR-1"]])
def test_what_is_no_text_names_nothing(project: Project, ref: Any) -> None:
    with pytest.raises(BadArgument, match="names no entity"):
        project.state_as_of(ref)


@pytest.mark.parametrize("text", ["", "  \n", None])
def test_no_question_is_no_question(project: Project, text: Any) -> None:
    with pytest.raises(BadArgument, match="no question"):
        project.recall(text)


@pytest.mark.parametrize(
    "text",
    [
        "DELETE WHERE { ?s ?p ?o }",
        "# all of it\nPREFIX x: <urn:x>\n  insert data { x:a x:b x:c }",
        "BASE <urn:x> WITH <urn:g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
    ],
)
def test_an_update_is_told_from_a_question(project: Project, text: str) -> None:
    with pytest.raises(BadQuery, match="is an update") as error:
        project.prism.sparql(text)
    assert "prism update" in error.value.mend
