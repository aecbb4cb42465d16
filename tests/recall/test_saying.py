"""Time that a question says, and which memories are wanted: over the small world, and pure."""

from __future__ import annotations

import time
from typing import Any, Protocol

import pytest

from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import Names
from prism_rdf.recall.saying import time_said
from prism_rdf.recall.selecting import Selection

NAMES = Names("urn:prism:test", "demo")


class Asking(Protocol):
    def ask(self, text: str, as_of: Any = ..., **options: Any) -> dict[str, Any]: ...

    def hits(self, text: str, as_of: Any = ..., **options: Any) -> dict[str, Any]: ...


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("as of 2025-10-30, who led?", "2025-10-30T23:59:59.999999Z"),
        ("who led in March 2025", "2025-03-31T23:59:59.999999Z"),
        ("who led in Mar 2025", "2025-03-31T23:59:59.999999Z"),
        ("who led on March 5, 2025?", "2025-03-05T23:59:59.999999Z"),
        ("who led on 5th March 2025?", "2025-03-05T23:59:59.999999Z"),
        ("who led in 2024?", "2024-12-31T23:59:59.999999Z"),
        ("what held before 2025-03", "2025-02-28T23:59:59.999999Z"),
        ("who led in 1999-13", None),
        ("who led on February 30, 2025", None),
        ("who led after March 2025", None),
        ("in 2048 tokens of 20480", "2048-12-31T23:59:59.999999Z"),
        ("grounding before the renumbering", None),
        ("nothing", None),
    ],
)
def test_times(text: str, at: str | None) -> None:
    said = time_said(text, ())
    assert (said.at.iso() if said else None) == at


def test_before_the_renumbering_is_the_last_instant_of_the_old_number(asking: Asking) -> None:
    answer = asking.ask("ADR-808 grounding before it was renumbered", times=True)
    assert answer["time"]["said"] == "before it was renumbered"
    assert answer["as_of"] == answer["time"]["as_of"]
    assert answer["anchors"][0]["identifier"] == "ADR-044"
    assert asking.ask("ADR-808 grounding before it was renumbered")["time"] is None


def test_a_time_at_which_nothing_is_known_of_what_is_named_is_no_as_of(asking: Asking) -> None:
    answer = asking.ask("ADR-808 grounding in 1990", times=True)
    assert (answer["time"], answer["as_of"]) == (None, "2026-11-30T12:00:00Z")
    assert asking.ask("grounding as of 1990", times=True)["hits"] == []


def test_pages_are_the_whole_list_in_parts(asking: Asking) -> None:
    whole = [hit["id"] for hit in asking.ask("Prism grounding ADR-044", limit=50)["hits"]]
    cursor, parts = "", []
    for _ in range(20):
        answer = asking.ask("Prism grounding ADR-044", limit=3, cursor=cursor)
        parts += [hit["id"] for hit in answer["hits"]]
        cursor = answer["cursor"]
        if cursor is None:
            break
    assert len(whole) > 6
    assert parts == whole


def test_a_cursor_belongs_to_its_question(asking: Asking) -> None:
    cursor = asking.ask("Prism grounding ADR-044", limit=2)["cursor"]
    for wrong in (cursor, "nonsense", "!!!"):
        with pytest.raises(BadArgument, match="cursor"):
            asking.ask("another", cursor=wrong)


@pytest.mark.parametrize(
    ("selection", "check"),
    [
        (Selection(kind="note"), lambda hit: True),
        (Selection(flag="historical"), lambda hit: hit["state_flag"] == "historical"),
        (Selection(flag="none"), lambda hit: hit["state_flag"] is None),
        (Selection(mode="current"), lambda hit: hit["state_flag"] != "historical"),
        (Selection(source="docs/adr/"), lambda hit: hit["source"].startswith("docs/adr/")),
        (Selection(entity=NAMES.entity("truth").value), lambda hit: hit["entity"] == NAMES.entity("truth").value),
        (Selection(type="adr"), lambda hit: hit["entity"] is not None),
    ],
)
def test_filters(asking: Asking, selection: Selection, check: Any) -> None:
    hits = asking.ask("Prism grounding ADR-044", limit=50, selection=selection)["hits"]
    everything = asking.ask("Prism grounding ADR-044", limit=50)["hits"]
    assert hits
    assert all(check(hit) for hit in hits)
    assert {hit["id"] for hit in hits} < {hit["id"] for hit in everything}


def test_filters_that_are_none_are_refused() -> None:
    with pytest.raises(BadArgument, match="flag"):
        Selection(flag="old")


def test_what_was_superseded_names_its_successor(asking: Asking) -> None:
    hits = asking.hits("probabilistic truth convergence grounding vote", limit=20)
    assert hits["truth-v1"]["superseded_by"] == NAMES.memory("truth-v2").value
    assert hits["truth-v3"]["superseded_by"] is None


@pytest.mark.parametrize(
    "word", ["may ", "in 2024 ", "before the ", "in March ", "what is my ", "as of 2025-10-30 ", "A: "]
)
def test_a_long_question_is_read_in_time(asking: Asking, word: str) -> None:
    begun = time.process_time()
    asking.ask(word * (10_000 // len(word)), times=True)
    assert time.process_time() - begun < 2


def test_an_instant_survives_a_page(asking: Asking) -> None:
    then = Instant.parse("2025-12-15T00:00:00Z")
    answer = asking.ask("grounding", then, limit=1)
    assert asking.ask("grounding", limit=1, cursor=answer["cursor"])["as_of"] == then.iso()
