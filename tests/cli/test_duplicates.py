"""prism duplicates: proposals, merging when told to, keeping two apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prism_rdf.prism import Prism

Run = Callable[..., Any]


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """A home with one decision entered twice."""
    with Prism.open(tmp_path) as prism:
        project = prism.project("demo")
        for number, title in (("ADR-007", "Write in one atomic update"), ("adr-7", "Write in one atomic udpate")):
            project.entity("ADR", {"number": number, "title": title, "deciders": ["Kofi Mensah", "Bo Chen"]})
        for number in range(12):
            project.entity("ADR", {"number": f"ADR-{100 + number}", "title": f"Something about {chr(97 + number) * 4}"})
    return tmp_path


def test_pairs_are_shown_with_their_reasons(run: Run, twice: Path) -> None:
    shown = run("duplicates", "--home", str(twice))
    assert shown.status == 0
    assert "merge   ADR-007  =  adr-7  ADR" in shown.out
    assert "same number; same deciders" in shown.out
    assert "1 pair; 14 entities" in shown.out


def test_as_json_they_are_the_answer_of_the_verb(run: Run, twice: Path) -> None:
    answer = json.loads(run("duplicates", "--home", str(twice), "--json").out)
    assert [pair["decision"] for pair in answer["pairs"]] == ["merge"]
    assert sorted(answer["blocked"]) == ["compared", "entities", "possible"]


def test_nothing_is_merged_but_by_merge(run: Run, twice: Path) -> None:
    assert "1 would be merged" in run("duplicates", "--home", str(twice), "--merge", "--dry-run").out
    assert "1 pair" in run("duplicates", "--home", str(twice)).out
    assert "1 merged, the second into the first" in run("duplicates", "--home", str(twice), "--merge").out
    assert "no duplicates found" in run("duplicates", "--home", str(twice)).out


def test_two_are_kept_apart(run: Run, twice: Path) -> None:
    said = run("duplicates", "--home", str(twice), "--different", "ADR-007", "adr-7", "--description", "a draft")
    assert "ADR-007 and adr-7 are two" in said.out
    assert "no duplicates found: 14 entities" in run("duplicates", "--home", str(twice)).out


def test_one_of_the_two_is_usage_with_what_is_missing(run: Run, twice: Path) -> None:
    done = run("duplicates", "--home", str(twice), "--different", "ADR-007")
    assert done.status == 2
    assert "rule: --different is followed by as many values as it takes" in done.err
    assert "mend: give them all" in done.err


@pytest.mark.parametrize(
    "options",
    [
        ("--merge", "--different", "ADR-007", "adr-7"),
        ("--dry-run",),
        ("--merge", "--as-of", "2020"),
        ("--description", "why"),
        ("--at-least", "0.1"),
    ],
)
def test_options_that_make_no_sense_together_are_usage(run: Run, twice: Path, options: tuple[str, ...]) -> None:
    assert run("duplicates", "--home", str(twice), *options).status == 2
