"""Each tool answers good input as its schema says, and bad input with the code, the mend and what to call instead."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from prism_rdf import mcp
from prism_rdf.mcp import Caller
from prism_rdf.mcp.table import VERBS
from prism_rdf.mcp.tool import told_by
from prism_rdf.prism import Prism

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "cases/mcp/verbs.json").read_text("utf-8"))
AGENT = Caller(agent="tester", pid="demo", forgets=True)
LIKE = {
    "$uuid": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "$iri": re.compile(r"urn:prism:default/demo/.+"),
    "$number": re.compile(r"[1-9]\d*"),
    "$text": re.compile(r"(?s).+"),
}


def test_every_tool_has_a_case_of_good_and_of_bad_input() -> None:
    names = {verb.name for verb in VERBS}
    assert {case["tool"] for case in CASES if "answer" in case} == names
    assert {case["tool"] for case in CASES if "error" in case} == names
    assert len(CASES) == 81


def test_each_case_is_answered_as_it_says(store: tuple[Prism, dict[str, str]]) -> None:
    """The cases run in their order over one connection; the client holds answers against the output schemas."""
    prism, known = store

    async def all_cases() -> None:
        async with Client(mcp.server(prism, lambda _: AGENT)) as client:
            for case in CASES:
                given = {
                    name: known.get(value, value) if isinstance(value, str) else value
                    for name, value in case["arguments"].items()
                }
                result = await client.call_tool(case["tool"], given)
                told = told_by(result)
                assert result.structured_content == (None if result.is_error else told)
                if "error" in case:
                    assert result.is_error, case
                    _check_error(case, told["error"])
                else:
                    assert not result.is_error, (case, told)
                    for path, expected in case["answer"].items():
                        _check_value(case, _at(told, path), expected)

    anyio.run(all_cases)


def _check_error(case: dict[str, Any], error: dict[str, Any]) -> None:
    assert error["code"] == case["error"], case
    assert case["says"] in f"{error['message']} {error['mend']}", (case, error)
    assert set(case.get("instead", ())) <= set(error["call_instead"]), (case, error)
    assert error["rule"]
    assert error["mend"]
    assert "prism review" not in error["mend"], "the mend speaks of tools"


def _check_value(case: dict[str, Any], found: Any, expected: Any) -> None:
    if isinstance(expected, str) and expected in LIKE:
        assert LIKE[expected].fullmatch(str(found)), (case, found)
    else:
        assert found == expected, (case, found)


def _at(told: Any, path: str) -> Any:
    for part in path.split("."):
        told = told[int(part)] if isinstance(told, list) else told[part]
    return told
