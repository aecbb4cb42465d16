"""The commands that list what there is to speak of: types, references, names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def test_types_are_listed_with_their_properties(run: Run) -> None:
    lines = run("types").out.splitlines()
    assert lines[0].split() == ["type", "zone", "from", "properties"]
    assert len(lines) == 15
    assert any(line.startswith("ADR        project  shipped  authors, consulted, created, ") for line in lines)
    assert len(json.loads(run("types", "--json").out)) == 14


def test_a_type_is_shown_with_what_it_may_refer_to(run: Run) -> None:
    lines = run("types", "ADR").out.splitlines()
    assert lines[0] == "ADR  https://w3id.org/prism-rdf/type#ADR"
    assert "from   shipped, version 0.1.0" in lines
    assert "created      xsd:string  never changes" in lines
    assert "deciders     xsd:string  several values" in lines
    assert "    SUPERSEDES  ADR, Delta, SPEC" in lines
    [only] = json.loads(run("types", "ADR", "--json").out)
    assert only["name"] == "ADR"
    unknown = run("types", "Adr", "--json")
    assert (unknown.status, json.loads(unknown.err)["error"]["code"]) == (6, "unknown-type")


def test_types_are_known_before_there_is_a_store(run: Run, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert run("types", "--home", str(home)).out == run("types").out
    assert not home.exists()


def test_references_that_hold_are_listed(run: Run) -> None:
    expected = ["ADR-101  SUPERSEDES  ADR-002  2025-11-01T00:00:00Z"]
    assert run("references").out.splitlines()[1:] == expected
    assert run("references", "--source", "ADR-101", "--kind", "SUPERSEDES").out.splitlines()[1:] == expected
    assert run("references", "--target", "ADR-101").out.splitlines()[1:] == []
    assert json.loads(run("references", "--as-of", "2025-10-15", "--json").out) == []
    unknown = run("references", "--kind", "BEATS")
    assert (unknown.status, "BEATS" in unknown.err) == (2, True)


def test_a_name_is_resolved_and_explained(run: Run) -> None:
    found = json.loads(run("resolve", "ADR-001", "--json").out)
    assert found["identifier"] == "ADR-101"
    lines = run("resolve", "ADR-001").out.splitlines()
    assert lines[0] == "ADR-101"
    assert lines[1].startswith("why     'ADR-001' was its identifier from ")
    assert f"uuid    {found['uuid']}" in lines
    assert run("resolve", "nobody").status == 6
