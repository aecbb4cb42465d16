"""The commands of types: what they print, and their exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from own_types import ALL, HEAD

Run = Callable[..., Any]


@pytest.fixture
def taught(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run commands on a store whose project has types of its own, in the folder where their file lies."""
    monkeypatch.setenv("PATH", "")  # no java
    monkeypatch.setenv("PRISM_HOME", str(tmp_path / "own"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "risks.ttl").write_text(ALL, "utf-8")
    assert run("types", "add", "risks.ttl", "--pid", "atlas").status == 0
    assert run("entity", "Risk", "riskId=R-1", "severity=low").status == 0
    return run


def stricter(folder: Path) -> str:
    (folder / "v2").mkdir()
    (folder / "v2" / "risks.ttl").write_text(ALL.replace('( "low" "high" )', '( "high" )'), "utf-8")
    return "v2/risks.ttl"


def test_adding_says_what_it_did_and_that_java_is_missing(taught: Run) -> None:
    again = taught("types", "add", "risks.ttl")
    assert (again.status, again.out) == (0, "risks.ttl: nothing changed, it was so already\n")
    Path("team.ttl").write_text(
        HEAD + "my:Team a owl:Class, prism:Type ; rdfs:subClassOf prism:Entity ; prism:mutableProperty prism:name .",
        "utf-8",
    )
    tried = taught("types", "add", "team.ttl", "--dry-run").out.splitlines()
    assert tried[0] == "team.ttl: type Team added  nothing was written"
    assert tried[1].startswith("Java is missing, so the reasoner HermiT was not asked")
    assert taught("types", "add", "team.ttl").out.startswith("team.ttl: type Team added  commit 3")
    assert [each["file"] for each in json.loads(taught("types", "files", "--json").out)] == ["risks.ttl", "team.ttl"]
    assert taught("types", "remove", "team.ttl").out.startswith("team.ttl: type Team removed  commit 4")


def test_a_dry_run_makes_no_store(taught: Run, tmp_path: Path) -> None:
    tried = taught("types", "add", "risks.ttl", "--dry-run", "--home", str(tmp_path / "none"))
    assert tried.status == 0
    assert not (tmp_path / "none").exists()


def test_misfits_are_shown_refused_and_accepted(taught: Run, tmp_path: Path) -> None:
    path = stricter(tmp_path)
    tried = taught("types", "add", path, "--dry-run")
    assert tried.status == 8
    assert "1 misfit: what holds now and would be refused from then on" in tried.out
    assert tried.out.splitlines()[-1] == 'R-1     severity  "low"  A risk has a severity'
    checked = json.loads(taught("types", "check", path, "--json").out)
    assert [finding["message"] for finding in checked["findings"]] == ["R-1 would be refused: A risk has a severity"]
    refused = taught("types", "add", path)
    assert refused.status == 5
    assert "1 thing that holds now would be refused" in refused.err
    assert "--accept-misfits" in refused.err
    accepted = taught("types", "add", path, "--accept-misfits", "--json")
    assert (accepted.status, json.loads(accepted.out)["misfit_count"]) == (0, 1)


def test_what_is_wrong_with_files_is_told_at_once(taught: Run) -> None:
    Path("bad.ttl").write_text(HEAD + "my:X a owl:Class, prism:Type ; rdfs:subClassOf my:Risks .", "utf-8")
    checked = taught("types", "check", "bad.ttl")
    assert checked.status == 8
    assert "did you mean Risk?" in checked.out
    assert checked.out.splitlines()[-1] == "3 findings in 1 file"
    refused = taught("types", "add", "bad.ttl", "--json")
    assert (refused.status, len(json.loads(refused.err)["error"]["report"])) == (5, 3)
    assert taught("types", "check", "risks.ttl").out == "no findings in 1 file\n"


def test_files_of_types_that_cannot_be_read(taught: Run, tmp_path: Path) -> None:
    stricter(tmp_path)
    Path("latin.ttl").write_bytes(b"# caf\xe9")
    for args, status, says in (
        (("nowhere.ttl",), 6, "no file nowhere.ttl"),
        (("v2",), 2, "v2 is a folder"),
        (("latin.ttl",), 2, "not UTF-8"),
        (("risks.ttl", "v2/risks.ttl"), 2, "two files are named risks.ttl"),
    ):
        refused = taught("types", "add", *args)
        assert (refused.status, says in refused.err) == (status, True), args
    assert taught("types", "remove", "other.ttl").status == 6
    assert "cannot go: 1 entity is of it (R-1)" in taught("types", "remove", "risks.ttl").err


def test_what_was_not_taken_in_from_the_folder_is_listed(taught: Run, tmp_path: Path) -> None:
    folder = tmp_path / "own" / "default" / "types" / "atlas"
    folder.mkdir(parents=True)
    (folder / "broken.ttl").write_text("my:", "utf-8")
    shown = taught("types")
    assert shown.status == 0
    assert "kinds of reference of risks.ttl: MITIGATES" in shown.out
    assert "broken.ttl was not taken in (nothing of it holds): broken.ttl is not Turtle" in shown.out


def test_files_of_data_are_held_to_the_types_of_the_project(taught: Run, tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text(
        HEAD
        + """my:one a my:Risk ; my:riskId "R-7" ; my:severity "huge" .
        my:adr a type:ADR ; prism:title "x" . my:one my:MITIGATES my:adr .""",
        "utf-8",
    )
    found = json.loads(taught("validate", "data.ttl", "--json").out)["findings"]
    assert {finding["message"] for finding in found} >= {"A risk has a severity", "Only a document mitigates a risk"}
