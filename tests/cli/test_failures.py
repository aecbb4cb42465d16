"""Every bad input is one clear message (thing, rule, mend) with its exit code, and leaves the disk as it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prism_rdf import cli
from prism_rdf.prism import Prism, Project

Run = Callable[..., Any]

# arguments, exit status, error code, words of the message
BAD = {
    "no such command": (["stat"], 2, "usage", "state"),
    "no entity given": (["state"], 2, "usage", "ENTITY"),
    "no such option": (["state", "ADR-101", "--as-off", "2025"], 2, "usage", "--as-off"),
    "limit of nothing": (["recall", "graph", "--limit", "0"], 2, "usage", "--limit"),
    "unknown entity": (["state", "ADR-999"], 6, "unknown-entity", "ADR-999"),
    "unknown uuid": (["history", "00000000-0000-4000-8000-000000000000"], 6, "unknown-entity", "00000000"),
    "unknown type": (["entities", "--type", "Nonsense"], 6, "unknown-type", "Nonsense"),
    "naive time": (["state", "ADR-101", "--as-of", "2025-10-30T12:00:00"], 2, "bad-time", "no zone"),
    "unparsable time": (["recall", "graph", "--as-of", "last week"], 2, "bad-time", "last week"),
    "impossible day": (["entities", "--as-of", "2025-02-30"], 2, "bad-time", "2025-02-30"),
    "year out of range": (["sparql", "ASK {}", "--as-of", "20250-01-01"], 2, "bad-time", "range"),
    "unknown commit": (["state", "ADR-101", "--known-at", "999"], 6, "not-found", "999"),
    "unknown project": (["--pid", "nope", "entities"], 6, "not-found", "nope"),
    "unusable project": (["--pid", "../x", "entities"], 2, "bad-argument", "../x"),
    "unusable tenant": (["--tenant", "a/b", "entities"], 2, "bad-argument", "a/b"),
    "tenant without a store": (["--tenant", "nobody", "entities"], 6, "not-found", "nobody"),
    "not SPARQL": (["sparql", "SELECT *\nWHERE { ?s ?p }"], 2, "bad-query", "line 2"),
    "an update": (["sparql", "DELETE WHERE { ?s ?p ?o }"], 2, "bad-query", "is an update"),
    "no query": (["sparql"], 2, "bad-argument", "no query"),
    "two queries": (["sparql", "ASK {}", "-f", "x.rq"], 2, "bad-argument", "two queries"),
    "no such query file": (["sparql", "-f", "nowhere.rq"], 6, "not-found", "nowhere.rq"),
    "graph as rows": (["sparql", "CONSTRUCT WHERE { ?s ?p ?o }", "--format", "csv"], 2, "bad-argument", "csv"),
    "rows as graph": (["sparql", "SELECT * { ?s ?p ?o }", "--format", "ttl"], 2, "bad-argument", "ttl"),
    "unknown format": (["sparql", "ASK {}", "--format", "docx"], 2, "usage", "--format"),
    "raw as of": (["sparql", "ASK {}", "--dataset", "raw", "--as-of", "2025"], 2, "bad-argument", "raw"),
    "ingest without project": (["ingest", "."], 2, "bad-argument", "project"),
    "ingest of nothing": (["ingest", "nowhere", "--pid", "demo"], 6, "not-found", "nowhere"),
    "validate nothing": (["validate", "nowhere.ttl"], 6, "not-found", "nowhere.ttl"),
    "host of others": (["serve", "--host", "0.0.0.0"], 5, "refused", "0.0.0.0"),
    "port out of range": (["serve", "--port", "99999"], 2, "usage", "--port"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(run: Run, case: str) -> None:
    args, status, code, words = BAD[case]
    ran = run(*args)
    assert (ran.status, ran.out) == (status, "")
    first, *more = ran.err.splitlines()
    assert first.startswith("error: ")
    assert words in first
    assert [line.split(":")[0].strip() for line in more if line.startswith("  ") and line[2] != " "][-2:] == [
        "rule",
        "mend",
    ]
    as_json = run(*args, "--json")
    assert (as_json.status, as_json.out) == (status, "")
    error = json.loads(as_json.err)["error"]
    assert error["code"] == code
    assert words in error["message"]


def test_a_query_that_is_not_utf8(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "latin.rq"
    file.write_bytes("# Übersicht\nASK {}".encode("latin-1"))
    ran = run("sparql", "-f", str(file))
    assert ran.status == 2
    assert "UTF-8" in ran.err


def _everything_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    "command",
    [["entities"], ["state", "ADR-1"], ["recall", "x"], ["sparql", "ASK {}"], ["check"], ["serve"], ["ingest", "."]],
    ids=lambda command: command[0],
)
def test_a_home_that_is_not_there_is_not_made(
    run: Run, tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "documents"
    empty.mkdir()
    monkeypatch.chdir(empty)
    ran = run(*command, "--home", str(tmp_path / "nowhere"), "--pid", "demo")
    assert ran.status == 6
    assert "error: " in ran.err
    assert list(tmp_path.iterdir()) == [empty]


def test_a_home_that_is_not_a_store_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "default").mkdir()
    (tmp_path / "default" / "letters.txt").write_text("dear", encoding="utf-8")
    records = tmp_path / "records"
    records.mkdir()
    (records / "ADR-001-x.md").write_text("# ADR-001: X\n\nStatus: Accepted\n", encoding="utf-8")
    before = _everything_in(tmp_path)
    for command in (["entities"], ["ingest", str(records), "--pid", "demo"]):
        ran = run(*command, "--home", str(tmp_path))
        assert ran.status == 5, ran
        assert ran.err.startswith("error: ")
    assert _everything_in(tmp_path) == before


def test_a_store_of_a_newer_version_is_left_alone(run: Run, tmp_path: Path) -> None:
    Prism.open(tmp_path).close()
    mark = tmp_path / "default" / "prism.json"
    mark.write_text(json.dumps(json.loads(mark.read_text("utf-8")) | {"format": 99}), encoding="utf-8")
    before = _everything_in(tmp_path)
    ran = run("entities", "--home", str(tmp_path), "--json")
    assert (ran.status, json.loads(ran.err)["error"]["code"]) == (5, "store-version")
    assert _everything_in(tmp_path) == before


def test_a_store_without_projects_says_how_to_begin(run: Run, tmp_path: Path) -> None:
    Prism.open(tmp_path).close()
    ran = run("entities", "--home", str(tmp_path))
    assert ran.status == 6
    assert "prism ingest" in ran.err


def test_a_store_in_use_is_busy(prism_process: Run, tmp_path: Path) -> None:
    with Prism.open(tmp_path):
        ran = prism_process("entities", "--home", str(tmp_path))
    assert ran.status == 7
    assert ran.err.startswith("error: ")
    assert "mend" in ran.err


def test_an_ambiguous_name_lists_the_candidates(run: Run, tmp_path: Path) -> None:
    with Prism.open(tmp_path) as prism:
        project = prism.project("demo")
        for title in ("One", "Two"):
            project.entity("ADR", {"number": f"ADR-{title}", "title": title, "status": "Accepted"}, valid_from="2025")
            project.alias("the decision", f"ADR-{title}", kind="synonym", valid_from="2025")
    ran = run("state", "the decision", "--home", str(tmp_path))
    assert ran.status == 4
    assert "ADR-One" in ran.err
    assert "ADR-Two" in ran.err
    error = json.loads(run("state", "the decision", "--home", str(tmp_path), "--json").err)["error"]
    assert len(error["candidates"]) == 2


def test_a_broken_invariant_is_a_finding(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = {"check": "overlapping-states", "entity": "urn:e", "detail": "two states at once"}
    monkeypatch.setattr(Project, "check", lambda self: [finding])
    ran = run("check")
    assert ran.status == 8
    assert "overlapping-states  urn:e   two states at once" in ran.out
    assert json.loads(run("check", "--json").out) == [finding]


def test_the_unforeseen_shows_no_traceback_unless_asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("disk on fire")

    monkeypatch.setattr(Project, "history", fail)
    ran = run("history", "ADR-101")
    assert ran.status == 1
    assert "disk on fire" in ran.err
    assert "PRISM_DEBUG=1" in ran.err
    assert "Traceback" not in ran.err
    monkeypatch.setenv("PRISM_DEBUG", "1")
    assert "Traceback" in run("history", "ADR-101").err


def test_an_interrupt_is_quiet(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Project, "history", interrupt)
    ran = run("history", "ADR-101")
    assert (ran.status, ran.out, ran.err) == (130, "", "")


def test_a_reader_that_goes_away_is_no_error(home: Path) -> None:
    command = [sys.executable, "-m", "prism_rdf.cli", "sparql", "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"]
    environment = os.environ | {"PRISM_HOME": str(home)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 128 + signal.SIGPIPE


def test_text_that_the_terminal_cannot_show_is_no_error(prism_process: Run) -> None:
    ran = prism_process("history", "ADR-101", env={"PYTHONIOENCODING": "ascii"})
    assert ran.status == 0
    assert "\\u2192" in ran.out


def test_main_without_arguments_shows_help(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["prism"])
    assert cli.main() in (0, 2)
    assert run("--help").status == 0
