"""What a sentence states: each case is a text of our own with all that is to be read from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prism_rdf.ingest.prose import Called, Changed, Finding, findings
from prism_rdf.ingest.prose_changes import date_in
from prism_rdf.ingest.prose_sentences import Named, sentences

CASES = json.loads(
    (Path(__file__).resolve().parent.parent / "cases" / "ingest" / "prose" / "sentences.json").read_text()
)


def test_there_are_as_many_cases_as_thought() -> None:
    assert len(CASES) == 92
    assert sum(not case["states"] for case in CASES) == 37


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"][:40])
def test_case(case) -> None:
    found = findings(case["text"], "markdown")

    assert sorted(map(in_words, found)) == sorted(case["states"])


def test_a_quote_has_its_place_in_the_text() -> None:
    text = "# ADR-9: Queues\n\nAll of it is *old*.  This ADR\nextends ADR-2. More follows.\n"

    [found] = findings(text, "markdown")

    assert found.quote.words == "This ADR\nextends ADR-2."
    assert text[found.quote.start : found.quote.end] == found.quote.words


def test_the_surer_of_two_readings_counts() -> None:
    vague, sure = findings("This extends ADR-2.\n\nThis ADR extends ADR-2.", "markdown")
    partly = findings("This ADR partially supersedes ADR-2.", "markdown")[0]

    assert (vague.quote.confidence, sure.quote.confidence, partly.quote.confidence) == (0.7, 0.9, 0.6)


def test_identifiers_are_found_as_they_are_told_to_be() -> None:
    def identify(text: str) -> list[tuple[int, int, str]]:
        at = text.find("RULE 7")
        return [(at, at + 6, "R7")] if at >= 0 else []

    [found] = findings("This decision extends RULE 7, not ADR-7.", "markdown", identify)

    assert in_words(found) == "EXTENDS self R7"


def test_code_blocks_of_plain_text_are_no_prose() -> None:
    text = "Title\n=====\n\nThis ADR extends ADR-2::\n\n    This ADR extends ADR-3.\n\nThis ADR extends ADR-4.\n"

    assert [in_words(each) for each in findings(text, "rst")] == ["EXTENDS self ADR-2", "EXTENDS self ADR-4"]


def test_sentences_end_where_they_end() -> None:
    text = "Use e.g. ADR-1. Then:\n\n- ADR-2\n- ADR-3 v1.2 is new. ADR-4"

    assert [text[each.start : each.end] for each in sentences(text, "markdown")] == [
        "Use e.g. ADR-1.",
        "Then:",
        "ADR-2",
        "ADR-3 v1.2 is new.",
        "ADR-4",
    ]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        (" on 2025-03-01.", "2025-03-01"),
        (" (March 3rd, 2025)", "2025-03-03"),
        (" by Ada on the 14th of May, 2012.", "2012-05-14"),
        (" in 2020.", "2020"),
        (" for good", ""),
        (" in Python 3.12", ""),
    ],
)
def test_dates_are_as_precise_as_they_are_said(text: str, date: str) -> None:
    assert date_in(text) == date


def in_words(found: Finding) -> str:
    if isinstance(found, Changed):
        return " ".join(filter(None, (named(found.document), found.status, found.when)))
    if isinstance(found, Called):
        return f"{found.name or named(found.document)} was {found.form}"
    return f"{found.kind} {named(found.source)} {named(found.target)}"


def named(end: Named) -> str:
    return end.identifier or end.href or "self"
