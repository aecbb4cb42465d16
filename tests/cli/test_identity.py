"""The commands of names and references, as a user sees them, in a pipe."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def told(project_of_its_own: Run) -> Run:
    """Run commands in a project with a thing that was entered twice, and what depends on it."""
    run = project_of_its_own
    said = (
        "entity Project name=Prism --valid-from 2025-01-01",
        "entity Project name=Duplicate --valid-from 2024-01-01",
        "entity SPEC number=SPEC-20 title=Tri-graph --valid-from 2025-01-01",
        "entity ADR number=ADR-23 title=Adopt --valid-from 2025-01-01",
        "alias PRDF Duplicate --kind synonym",
        "reference SPEC-20 SPECIFIES Duplicate --valid-from 2025-01-01",
        "reference ADR-23 DEPENDS_ON SPEC-20 --valid-from 2025-02-01",
    )
    for line in said:
        ran = run(*line.split())
        assert ran.status == 0, ran.err
    return run


def lines(ran: Any) -> list[str]:
    assert ran.status == 0, ran.err
    return ran.out.splitlines()


def test_a_dry_run_lists_what_would_move_and_nothing_is_written(told: Run) -> None:
    before = told("log").out
    shown = lines(told("merge", "Duplicate", "Prism", "--dry-run"))
    assert shown == [
        "Duplicate → Prism  dry run: nothing is written",
        "  names       Duplicate (name); PRDF (synonym)",
        "  references  SPEC-20 SPECIFIES Duplicate",
        "what differs",
        "property  Duplicate says  Prism says",
        "name      Duplicate       Prism",
    ]
    assert json.loads(told("merge", "Duplicate", "Prism", "--dry-run", "--json").out)["counts"]["names"] == 2
    assert told("log").out == before


def test_a_merge_is_told_followed_and_taken_back(told: Run) -> None:
    [line] = lines(told("merge", "Duplicate", "Prism", "--description", "entered twice"))
    assert line.startswith("Duplicate: is Prism, with 2 names, 1 reference  commit ")
    shown = lines(told("resolve", "prdf"))
    assert shown[0] == "Prism"
    assert shown[1].startswith("why     'PRDF' is another name of it; merged into Prism (")
    assert shown[2] == "chain   prdf → Duplicate → Prism"
    assert lines(told("references", "Prism"))[1].split("  ")[:1] == ["SPEC-20"]
    assert "Prism (as Duplicate)" in told("references", "Prism").out
    assert [line.split()[0] for line in lines(told("entities"))[1:]] == ["ADR-23", "Prism", "SPEC-20"]
    assert "merged into Prism" in told("entities", "--merged").out
    assert "of Duplicate, merged" in told("history", "Prism", "--merged").out
    assert "merge   Duplicate → Prism" in told("timeline", "Prism").out
    assert "merged into  Prism" in told("state", "Prism", "--as-of", "2024-06-01").out
    ran = told("fact", "PRDF", "phase=beta")
    assert ran.out.startswith("Prism: phase = beta")
    assert "note: Duplicate is merged into Prism: this is recorded of urn:" in ran.err
    assert lines(told("unmerge", "Duplicate"))[0].startswith("Duplicate: is an entity of its own again  commit ")
    assert lines(told("resolve", "PRDF"))[0] == "Duplicate"
    ran = told("unmerge", "Duplicate")
    assert (ran.status, ran.err.splitlines()[0]) == (5, "error: Duplicate is not merged into another entity")


def test_impact_is_a_tree(told: Run) -> None:
    shown = lines(told("impact", "SPEC-20"))
    assert shown[0].startswith("SPEC-20  as of ")
    assert shown[1:] == [
        "├─ ADR-23  ADR, DEPENDS_ON it",
        "└─ Duplicate  Project, it SPECIFIES this",
        "2 depend on it",
    ]
    assert told("entity", "Plan", "title=waves").status == 0
    assert told("reference", "waves", "IMPLEMENTS", "ADR-23").status == 0
    shown = lines(told("impact", "SPEC-20"))
    assert shown[1:3] == ["├─ ADR-23  ADR, DEPENDS_ON it", "│  └─ waves  Plan, IMPLEMENTS it"]
    assert lines(told("impact", "SPEC-20", "--depth", "1"))[-1] == "2 depend on it"
    assert lines(told("impact", "SPEC-20", "--kind", "SPECIFIES"))[-1] == "1 depends on it"
    assert lines(told("impact", "SPEC-20", "--as-of", "2025-01-15"))[-1] == "1 depends on it"
    assert lines(told("impact", "waves"))[-1] == "0 depend on it"
    assert len(json.loads(told("impact", "SPEC-20", "--json").out)["affected"]) == 3


def test_references_are_shown_both_ways_and_as_known(told: Run) -> None:
    both = [line.split()[:3] for line in lines(told("references", "SPEC-20"))[1:]]
    assert both == [["ADR-23", "DEPENDS_ON", "SPEC-20"], ["SPEC-20", "SPECIFIES", "Duplicate"]]
    assert len(lines(told("references", "SPEC-20", "--as-of", "2025-01-15"))) == 2
    assert len(lines(told("references", "SPEC-20", "--known-at", "2020-01-01"))) == 1
    assert told("references", "SPEC-20", "--source", "ADR-23").status == 2


def test_a_name_that_nobody_bears_is_told_with_those_like_it(told: Run) -> None:
    ran = told("resolve", "Prisn")
    assert ran.status == 6
    assert "did you mean 'Prism'?" in ran.err


def test_the_log_names_each_entity_by_its_own_name_whatever_it_is_merged_into(told: Run) -> None:
    before = lines(told("log"))
    lines(told("merge", "Duplicate", "Prism"))
    after = lines(told("log"))
    assert [line.split() for line in after[:-1]] == [line.split() for line in before]
    assert sorted(after[-1].split("merge", 1)[1].replace(",", "").split()) == ["Duplicate", "Prism"]
