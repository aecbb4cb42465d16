"""The rules of phase 3, case by case: tests/cases/recall/annotation.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prism_rdf.clock import Instant
from prism_rdf.recall.anchors import Anchor, Form
from prism_rdf.recall.annotate import annotate
from prism_rdf.recall.memories import KnownMemory
from prism_rdf.recall.words import key_of

CASES = json.loads(
    (Path(__file__).resolve().parent.parent / "cases" / "recall" / "annotation.json").read_text(encoding="utf-8")
)
AS_OF = "2026-11-30T12:00:00Z"


def instant(text: str | None) -> Instant | None:
    return Instant.parse(text) if text else None


def spans(given: list[list[str | None]]) -> tuple[tuple[Instant | None, Instant | None], ...]:
    return tuple((instant(start), instant(until)) for start, until in given)


def form(text: str, kind: str, standing: Any, now: str, borne: Any, others: Any = ()) -> Form:
    return Form(text, key_of(text), kind, standing, now, spans(borne), spans(others))


def anchor(name: str) -> Anchor:
    given = CASES["anchors"][name]
    forms = tuple(form(*entry) for entry in given["forms"])
    state = {"state": "urn:s", "commit_status": given["state"]} if given["state"] else None
    return Anchor(name, given["type"], given["identifier"], forms[0], forms, state, instant(given.get("since")))


def memory(given: dict[str, Any]) -> KnownMemory:
    return KnownMemory(
        iri="urn:m",
        content=given["content"],
        kind=given.get("kind", "note"),
        heading=given.get("heading", ""),
        about=tuple(given.get("about", ())),
        start=instant(given["start"]),
        until=instant(given.get("until")),
    )


def test_all_cases_are_here() -> None:
    assert len(CASES["cases"]) == CASES["count"]


@pytest.mark.parametrize("case", CASES["cases"], ids=[case["why"] for case in CASES["cases"]])
def test_annotation(case: dict[str, Any]) -> None:
    found = annotate(
        memory(case["memory"]), [anchor(name) for name in case["anchors"]], Instant.parse(case.get("as_of", AS_OF))
    )
    assert (found.flag, found.summary) == (case["flag"], case["summary"])
    if "entity" in case:
        assert found.entity == case["entity"]


def test_the_order_of_anchors_does_not_turn_doubt_into_current() -> None:
    text = KnownMemory("urn:m", "ADR-044 and ADR-604", start=Instant.parse("2026-02-01T00:00:00Z"))
    one, other = anchor("truth"), anchor("vocab")
    at = Instant.parse(AS_OF)
    assert annotate(text, [one, other], at).flag == annotate(text, [other, one], at).flag == "historical"
