"""The query that finds drafts which nobody has touched for some days agrees with the verb."""

from __future__ import annotations

import pytest

from prism_rdf import Prism


@pytest.fixture
def project():
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        for number in range(1, 5):
            project.entity("ADR", {"number": f"ADR-{number}", "title": "Use RDF"}, valid_from="2025-01-01")
        yield project


def stale(project, days):
    """Return the names and the touches that the query finds, in its order."""
    answer = project.run_query("stale-drafts", days=days)
    assert list(answer.variables) == ["draft", "entity", "name", "source", "touched"]
    return [(row[2] and row[2].value, row[4].value[:10]) for row in answer.rows()]


def test_only_open_drafts_that_were_not_touched_lately_are_found(project):
    assert stale(project, 30) == []
    project.wip("ADR-1", {"status": "x"}, "working_tree", at="2025-06-01")
    project.wip("ADR-2", {"status": "x"}, at="2025-03-01")
    project.wip("ADR-3", {"status": "x"})
    closed = project.wip("ADR-4", {"status": "x"}, at="2025-04-01")
    project.discard(closed["wip"])
    assert stale(project, 30) == [("ADR-2", "2025-03-01"), ("ADR-1", "2025-06-01")]
    assert [draft["identifier"] for draft in project.drafts(stale_after_days=30)] == ["ADR-2", "ADR-1"]
    project.wip("ADR-2", {"status": "y"})
    assert stale(project, 30) == [("ADR-1", "2025-06-01")]
    assert len(stale(project, 0)) == 3


def test_only_drafts_of_the_project_are_found_and_one_may_lack_a_name(project):
    project.wip("ADR-1", {"status": "x"}, at="2025-06-01")
    other = project.prism.project("other")
    nameless = other.entity("ADR", {"status": "Proposed"})["uuid"]
    other.wip(nameless, {"status": "x"}, at="2025-05-01")
    assert stale(project, 30) == [("ADR-1", "2025-06-01")]
    assert stale(other, 30) == [(None, "2025-05-01")]
