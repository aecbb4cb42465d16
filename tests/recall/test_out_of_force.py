"""A text of today about a decision that no longer counts is current, and says that the decision is not in force."""

from __future__ import annotations

import pytest

from prism_rdf import Prism


@pytest.mark.parametrize(
    ("status", "summary"),
    [
        ("Superseded by ADR-400", "[current: ADR ADR-404, its status is Superseded by ADR-400]"),
        ("❌ Deprecated", "[current: ADR ADR-404, its status is ❌ Deprecated]"),
        ("Accepted", "[current: ADR ADR-404]"),
        ("Accepted, supersedes ADR-1", "[current: ADR ADR-404]"),
    ],
)
def test_the_summary_tells_a_status_that_is_out_of_force(status, summary):
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.entity("ADR", {"number": "ADR-404", "title": "Dynamic RBAC", "status": status})
        project.remember("ADR-404 says how roles are given.", about=["ADR-404"])
        [hit] = project.recall("ADR-404 roles")["hits"]
        assert (hit["state_flag"], hit["state_summary"]) == ("current", summary)
