"""Answers keep to their size: pages bring everything once, texts are cut, and all descriptions together stay small."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp import Client

from prism_rdf import mcp
from prism_rdf.errors import BadArgument
from prism_rdf.mcp import Caller
from prism_rdf.mcp.budget import fitted, page, shortened, text_of, tokens_of
from prism_rdf.prism import Prism

AGENT = Caller(agent="tester", pid="large", forgets=True)
ENTITIES = 24


def pages_of(items: list[dict[str, Any]], max_tokens: int) -> Iterator[dict[str, Any]]:
    cursor = ""
    while True:
        answer = page({"kind": "x"}, "items", items, "id", cursor, max_tokens)
        yield answer
        if not answer["cursor"]:
            return
        cursor = answer["cursor"]


@pytest.mark.parametrize("max_tokens", [200, 400, 4_000])
def test_pages_bring_each_item_once_and_fit(max_tokens: int) -> None:
    items = [{"id": f"i{number}", "text": "x" * (number % 90)} for number in range(120)]
    pages = list(pages_of(items, max_tokens))
    assert [each for answer in pages for each in answer["items"]] == items
    assert all(tokens_of(answer) <= max_tokens for answer in pages)
    behind = 0
    for answer in pages:
        behind += len(answer["items"])
        assert answer["left_out"] == len(items) - behind


def test_a_page_begins_behind_the_last_item_though_others_came_and_went() -> None:
    items = [{"id": f"i{number}", "text": "x" * 200} for number in range(20)]
    first = page({}, "items", items, "id", "", 400)
    seen = len(first["items"])
    assert 0 < seen < 20
    grown = [{"id": "new", "text": ""}, *items[1:]]
    assert page({}, "items", grown, "id", first["cursor"], 400)["items"][0] == items[seen]
    without = [each for each in items if each["id"] != items[seen - 1]["id"]]
    assert page({}, "items", without, "id", first["cursor"], 400)["items"][0] == items[seen + 1]


@pytest.mark.parametrize("cursor", ["x", "x:1", ":", "-1:i3"])
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(BadArgument, match="no cursor"):
        page({}, "items", [{"id": "a"}], "id", cursor, 400)


def test_one_item_that_is_too_large_is_cut_and_says_so() -> None:
    answer = page({}, "items", [{"id": "a", "text": "word " * 10_000}, {"id": "b"}], "id", "", 400)
    assert tokens_of(answer) <= 400
    assert answer["items"][0]["text"].endswith("more characters)")


def test_what_fits_is_left_alone_and_what_does_not_says_that_it_is_shortened() -> None:
    small = {"props": {"title": "x"}}
    assert fitted(small, 200) is small
    large = {"props": {"tags": [f"tag {number}" for number in range(5_000)]}, "cursor": "c" * 100}
    cut = fitted(large, 500)
    assert tokens_of(cut) <= 500
    assert cut["shortened"]
    assert cut["cursor"] == large["cursor"]
    assert cut["props"]["tags"][-1].endswith("more)")


def test_values_of_other_kinds_are_never_cut() -> None:
    value = {"n": 1, "b": True, "none": None, "list": [1, 2, 3], "nested": {"text": "short"}}
    assert shortened(value, 10) == {**value, "list": [1, 2]}


@pytest.fixture(scope="module")
def large() -> Iterator[Prism]:
    """A store whose every answer would be far too long."""
    with Prism.in_memory() as prism:
        project = prism.project("large")
        for number in range(ENTITIES):
            props = {"number": f"ADR-{number}", "title": f"Decision {number}", "description": "because " * 700}
            project.entity("ADR", props, valid_from="2026-01-10")
        for number in range(1, 13):
            project.reference("ADR-0", f"ADR-{number}", "RELATES_TO")
            project.fact(
                "ADR-1", "description", f"{number} reasons " * 200, valid_from=f"2026-02-01T10:{number:02}:00Z"
            )
            project.fact("ADR-2", "status", f"S{number}", tier=3, quote="it may well be so " * 150)
        for number in range(14):
            project.remember(f"The graph store of decision {number}. " + "It holds graphs. " * 300, about=["ADR-3"])
        yield prism


ASKED: list[tuple[str, dict[str, Any], str]] = [
    ("prism_start", {}, ""),
    ("semantic_recall", {"query": "graph store", "limit": 14}, "hits"),
    ("prism_list_types", {"max_tokens": 300}, "types"),
    ("prism_list_entities", {"limit": 100}, "entities"),
    ("prism_list_references", {"source": "ADR-0"}, "references"),
    ("prism_history", {"entity_uuid": "ADR-1"}, "states"),
    ("prism_diff", {"before": "2026-01-01"}, "changes"),
    ("prism_list_fact_candidates", {"limit": 50}, "candidates"),
    ("prism_sparql", {"query": "SELECT ?d { ?e prism:description ?d }"}, "rows"),
    ("prism_state_as_of", {"entity_uuid": "ADR-0"}, ""),
]


def test_default_answers_fit_and_the_cursor_brings_the_rest(large: Prism) -> None:
    async def all_asked() -> None:
        async with Client(mcp.server(large, lambda _: AGENT)) as client:
            for tool, arguments, name in ASKED:
                seen: list[str] = []
                cursor: str | None = ""
                for _ in range(ENTITIES):
                    more = {"cursor": cursor} if cursor else {}
                    result = await client.call_tool(tool, {**arguments, **more})
                    assert not result.is_error, result.content
                    told = result.structured_content
                    assert tokens_of(told) <= arguments.get("max_tokens", 4_000), tool
                    seen += [text_of(each) for each in told.get(name, ())]
                    cursor = told.get("cursor") if name else None
                    if not cursor:
                        break
                assert not cursor, tool
                if name:
                    assert len(seen) == EXPECTED[tool], tool

    anyio.run(all_asked)


EXPECTED = {
    "semantic_recall": 14,
    "prism_list_types": 14,
    "prism_list_entities": ENTITIES,
    "prism_list_references": 12,
    "prism_history": 13,
    "prism_diff": ENTITIES,
    "prism_list_fact_candidates": 12,
    "prism_sparql": ENTITIES,
}


def test_all_descriptions_together_stay_small() -> None:
    async def listed() -> int:
        with Prism.in_memory() as prism:
            async with Client(mcp.server(prism, lambda _: AGENT)) as client:
                tools = (await client.list_tools()).tools
        described = [(tool.name, tool.description, json.dumps(tool.input_schema)) for tool in tools]
        assert len(described) >= 29
        assert all(description for _, description, _ in described)
        return sum(tokens_of("".join(map(str, each))) for each in described)

    assert anyio.run(listed) <= 8_000
