"""The commands call the verbs, say what they did, and end with the right exit code."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from prism_rdf.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(made: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command line on a copy of the filled store, without leaving an owner behind."""
    shutil.copytree(made / "home", home)
    for name in ("PRISM_TENANT", "PRISM_PID", "PRISM_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PRISM_HOME", str(home))
    monkeypatch.setenv("PRISM_OWNER", "never")

    def go(*args: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return status, out, err

    return go


def test_backup_and_restore(run, tmp_path):
    status, out, _ = run("backup", tmp_path / "copy")
    assert (status, out.split(":")[0]) == (0, f"backed up commit 18 to {tmp_path / 'copy'}")
    assert run("backup", tmp_path / "copy")[0] == 5
    status, out, err = run("restore", tmp_path / "copy")
    assert (status, out) == (5, "")
    assert "never written over" in err
    status, out, _ = run("restore", tmp_path / "copy", "--home", tmp_path / "new", "--at", "3", "--json")
    assert status == 0
    assert json.loads(out)["commit"] == 3
    assert run("restore", tmp_path / "copy", "--home", tmp_path / "never", "--at", "2020")[0] == 6
    assert run("check", "--pid", "demo", "--home", tmp_path / "new")[:2] == (0, "no findings\n")


@pytest.mark.parametrize("name", ["all.trig", "all.nq", "all.jsonld"])
def test_export_and_import(run, tmp_path, name):
    status, out, _ = run("export", tmp_path / name)
    assert status == 0
    assert out.endswith(f"statements to {tmp_path / name}\n")
    assert run("import", tmp_path / name)[0] == 5
    status, out, _ = run("import", tmp_path / name, "--home", tmp_path / "new", "--json")
    assert status == 0
    assert json.loads(out)["projects"] == ["demo", "other"]
    assert run("check", "--pid", "demo", "--home", tmp_path / "new")[:2] == (0, "no findings\n")


def test_an_export_to_stdout_is_only_that(run, tmp_path):
    status, out, err = run("export", "--format", "nquads", "--pid", "other")
    assert (status, err) == (0, "")
    (tmp_path / "other.nq").write_text(out, "utf-8")
    assert run("import", tmp_path / "other.nq", "--home", tmp_path / "new")[0] == 0


def test_a_broken_import_is_reported_line_by_line(run, tmp_path):
    run("export", tmp_path / "all.nq")
    with (tmp_path / "all.nq").open("a") as file:
        file.write("<urn:s> <urn:p> <urn:o> <urn:prism:default/demo/graph/mine> .\n" * 2)
        file.write("<urn:s> <urn:p> <urn:o> <urn:prism:default/nobody/graph/current> .\n")
    status, _, err = run("import", tmp_path / "all.nq", "--home", tmp_path / "new")
    assert status == 5
    assert "graph/mine" in err
    assert "nobody" in err
    (tmp_path / "bad.nq").write_text("no statement\n")
    status, _, err = run("import", tmp_path / "bad.nq", "--home", tmp_path / "new")
    assert (status, "line 1" in err) == (5, True)
    assert not (tmp_path / "new").exists()


def test_rebuild(run):
    assert run("rebuild", "current", "--pid", "demo", "--json")[:2] == (0, '{\n  "demo": 0\n}\n')
    assert run("rebuild", "current")[0] == 0
    assert run("rebuild", "everything")[0] == 2
    assert run("rebuild", "current", "--pid", "nobody")[0] == 6


def test_forget(run):
    status, planned, _ = run("forget", "ADR-002", "--pid", "demo", "--dry-run")
    assert status == 0
    assert "would go: " in planned
    assert "backups" in planned
    status, out, _ = run("forget", "ADR-002", "--pid", "demo", "--json")
    assert status == 0
    done = json.loads(out)
    assert f"would go: {len(done['going'])}" in planned
    assert run("forget", "ADR-002", "--pid", "demo")[0] == 6
    assert run("state", "ADR-002", "--pid", "demo")[0] == 6
    assert run("state", "ADR-001", "--pid", "demo")[0] == 0
    assert run("check", "--pid", "demo")[:2] == (0, "no findings\n")
