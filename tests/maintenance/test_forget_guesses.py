"""Forgetting reaches the guesses: what is about the thing or quotes it goes, and is not guessed again; others stay."""

from __future__ import annotations

import pytest
from canary import CANARY
from whole_stores import files_with, quads

from prism_rdf import Prism
from prism_rdf.model import Alias, Candidate, Clue


def test_what_is_about_it_or_quotes_it_goes_and_a_guess_with_another_source_stays(filled, home):
    prism, ids = filled
    project = prism.project("demo")
    assert project.list_candidates(status=None)["total"] == 6
    listed = project.forget(CANARY, dry_run=True)["going"]
    project.forget(CANARY)
    [left] = project.list_candidates(status=None)["candidates"]
    assert (left["surface_form"], left["status"], left["entity"]["ref"].endswith(ids["other"])) == (
        "the two",
        "rejected",
        True,
    )
    assert [clue["source"] for clue in left["clues"]] == ["docs/b.md"]
    assert [(ruling["reviewer"], ruling["note"]) for ruling in left["rulings"]] == [("grace", None)]
    assert files_with(home, CANARY) == []
    going = [each["what"] for each in listed]
    assert (going.count("candidate"), going.count("ruling")) == (5, 1)
    names = project.names
    [review] = {quad.graph_name for quad in quads(prism) if quad.graph_name == names.graph("review")}
    nodes = {quad.subject.value.split("/")[-2] for quad in quads(prism) if quad.graph_name == review}
    assert nodes == {"candidate", "clue", "ruling"}
    assert project.check() == []


def test_what_went_is_not_guessed_again(filled):
    prism, ids = filled
    project = prism.project("demo")
    project.forget(CANARY)
    [kept] = project.list_candidates(status=None)["candidates"]
    again = [
        Candidate(Alias(ids["other"], f"son of {CANARY}"), Clue(quote="its other name")),
        Candidate(Alias(ids["other"], "the two"), Clue(quote=f"{CANARY} calls it the two", source="docs/a.md")),
        Candidate(Alias(ids["thing"], "anything"), Clue(quote="x")),
        Candidate(Alias(ids["other"], "a new name"), Clue(source_memory=ids["memory"])),
    ]
    receipt = project.write(again)
    assert receipt.commit is None
    assert receipt.notes[0] == "left out, because it was forgotten here: 4 candidate"
    assert receipt.candidates == (kept["candidate"],)


def test_a_forgotten_memory_takes_its_clues_along(prism: Prism, home):
    project = prism.project("demo")
    project.entity("ADR", {"number": "ADR-1", "title": "First"}, valid_from="2025-01-01")
    [memory] = project.remember(f"{CANARY} once said that ADR-1 is called the first of all", source="a.md").created
    [alone] = project.alias(
        "the first of all", "ADR-1", tier=3, quote="called the first of all", cause_memory=memory
    ).candidates
    [both] = project.alias("the start", "ADR-1", tier=3, cause_memory=memory).candidates
    project.alias("the start", "ADR-1", tier=3, source="b.md")
    project.forget(memory)
    assert [row["candidate"] for row in project.list_candidates()["candidates"]] == [both]
    assert [clue["source"] for clue in project.candidate(both)["clues"]] == ["b.md"]
    with pytest.raises(Exception, match="no candidate"):
        project.candidate(alone)
    assert files_with(home, CANARY) == []
