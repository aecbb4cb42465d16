"""The doctor finds what is wrong, says what to do, and calls an installation well that is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from prism_rdf.cli import doctor

Run = Callable[..., Any]


def findings(out: str, part: str) -> list[dict[str, str]]:
    return [each for each in json.loads(out)["findings"] if each["part"] == part]


def test_a_sound_store_is_well(run: Run) -> None:
    done = run("doctor", "--full", "--json")
    assert (done.status, json.loads(done.out)["well"]) == (0, True)
    assert findings(done.out, "content")[0]["detail"] == "it answers: commit 5, 1 project"
    assert findings(done.out, "check demo")[0]["detail"] == "every invariant holds"
    assert {each["status"] for each in findings(done.out, "recall demo")} <= {"ok", "note"}


def test_what_is_not_there_is_a_note_with_what_to_do(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PRISM_EMBEDDER", raising=False)
    monkeypatch.setenv("PRISM_MODEL", str(tmp_path))
    monkeypatch.setenv("PRISM_HOEM", "x")
    done = run("doctor", "--home", str(tmp_path))
    assert done.status == 0
    assert "there is no store of tenant 'default'" in done.out
    assert "→ run prism model install" in done.out
    assert "nobody reads PRISM_HOEM" in done.out


def test_a_full_disk_and_a_missing_package_are_problems(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: SimpleNamespace(free=1024))
    monkeypatch.setattr(doctor, "version_of", lambda name: "not installed" if name == "rdflib" else "1.0")
    done = run("doctor", "--json")
    assert done.status == 8
    assert findings(done.out, "disk")[0]["status"] == "problem"
    (packages, _) = findings(done.out, "packages")
    assert "rdflib" in packages["detail"]
    assert "-m pip install" in packages["mend"]


def test_a_store_of_another_kind_is_a_problem_and_no_crash(run: Run, tmp_path: Path) -> None:
    (tmp_path / "default").mkdir()
    (tmp_path / "default" / "prism.json").write_text("not json")
    done = run("doctor", "--home", str(tmp_path))
    assert done.status == 8
    assert "problem  store" in done.out
