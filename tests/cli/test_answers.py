"""What the reading commands answer, for eyes and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prism_rdf.prism import Prism

Run = Callable[..., Any]
STATUS = "SELECT ?number ?status { ?adr a type:ADR ; prism:number ?number ; prism:status ?status } ORDER BY ?number"


def test_state_now_and_then_is_one_entity(run: Run) -> None:
    now = json.loads(run("state", "ADR-101", "--json").out)
    then = json.loads(run("state", "ADR-101", "--as-of", "2025-10-15", "--json").out)
    assert now["uuid"] == then["uuid"]
    assert (now["props"]["number"], now["flag"]) == ("ADR-101", "current")
    assert (then["props"]["number"], then["props"]["status"], then["flag"]) == ("ADR-001", "Proposed", "historical")


def test_state_for_eyes(run: Run) -> None:
    lines = run("state", "ADR-101", "--as-of", "2025-10-15").out.splitlines()
    assert lines[0] == "ADR-001  ADR  historical"
    assert "status    Proposed" in lines
    assert "valid     2025-10-01T00:00:00Z → 2025-11-01T00:00:00Z" in lines


def test_state_before_the_first_says_why(run: Run) -> None:
    ran = run("state", "ADR-101", "--as-of", "2015")
    assert (ran.status, ran.out) == (0, "its first state begins at 2025-10-01T00:00:00Z\n")
    assert json.loads(run("state", "ADR-101", "--as-of", "2015", "--json").out)["state"] is None


def test_known_at_takes_a_commit_number(run: Run) -> None:
    assert "ADR-001" in run("state", "ADR-101", "--known-at", "1").out.splitlines()[0]
    assert "ADR-101" in run("state", "ADR-101", "--known-at", "3").out.splitlines()[0]


def test_history_lists_what_changed(run: Run) -> None:
    out = run("history", "ADR-101").out
    assert [line for line in out.splitlines() if "→" in line] == [
        "2025-10-01T00:00:00Z → 2025-11-01T00:00:00Z  historical",
        "2025-11-01T00:00:00Z → 2026-01-01T00:00:00Z  historical",
        "2026-01-01T00:00:00Z → open  current",
    ]
    assert out.count("Use a graph") == 2, "an unchanged title is not repeated"
    assert len(json.loads(run("history", "ADR-101", "--json").out)) == 3


def test_entities_are_plain_columns_in_a_pipe(run: Run) -> None:
    assert run("entities").out.splitlines() == [
        "identifier  type  status    title",
        "ADR-002     ADR   Accepted  Use a table",
        "ADR-101     ADR   Accepted  Use a graph? store",
    ]
    cut = run("entities", "--type", "ADR", "--limit", "1")
    assert len(cut.out.splitlines()) == 2
    assert "--limit" in cut.err, "a cut list says so"
    assert run("entities", "--type", "SPEC").out.splitlines() == ["identifier  type  status  title"]


def test_control_characters_of_a_document_do_not_reach_the_terminal(run: Run) -> None:
    for command in (("state", "ADR-101"), ("history", "ADR-101"), ("entities",), ("sparql", "SELECT * { ?s ?p ?o }")):
        assert "\x1b" not in run(*command).out
    assert "\\u001b" in run("entities", "--json").out


def test_sparql_tables_and_formats(run: Run) -> None:
    assert run("sparql", STATUS).out.splitlines() == ["number   status", "ADR-002  Accepted", "ADR-101  Accepted"]
    assert "ADR-001  Proposed" in run("sparql", STATUS, "--as-of", "2025-10-15").out
    assert run("sparql", STATUS, "--format", "csv").out.split() == [
        "number,status",
        "ADR-002,Accepted",
        "ADR-101,Accepted",
    ]
    assert len(json.loads(run("sparql", STATUS, "--json").out)["results"]["bindings"]) == 2
    assert run("sparql", "ASK { ?s a type:ADR }").out == "true\n"
    graph = "CONSTRUCT WHERE { ?a prism:SUPERSEDES ?b }"
    assert "prism:SUPERSEDES" in run("sparql", graph).out
    assert run("sparql", graph, "--format", "nt").out.count("\n") == 1
    assert isinstance(json.loads(run("sparql", graph, "--json").out), list | dict)
    raw = "SELECT DISTINCT ?state { GRAPH ?state { ?entity prism:number ?n } FILTER(CONTAINS(STR(?state), '/state/')) }"
    assert len(run("sparql", raw, "--dataset", "raw", "--format", "csv").out.split()) == 5


def test_sparql_from_a_file_and_from_stdin(run: Run, prism_process: Run, tmp_path: Path) -> None:
    file = tmp_path / "status.rq"
    file.write_text(STATUS, encoding="utf-8")
    assert run("sparql", "-f", str(file)).out == run("sparql", STATUS).out
    assert prism_process("sparql", "-", stdin=STATUS).out == run("sparql", STATUS).out


def test_check_of_a_sound_store(run: Run) -> None:
    assert run("check").out == "no findings\n"
    ran = run("check", "--json")
    assert (ran.status, json.loads(ran.out)) == (0, [])


def test_options_stand_before_the_command_or_after_it(run: Run, tmp_path: Path) -> None:
    assert json.loads(run("--json", "history", "ADR-101").out) == json.loads(run("history", "ADR-101", "--json").out)
    assert run("--pid", "demo", "state", "ADR-101").status == 0
    assert run("--pid", "nope", "state", "ADR-101", "--pid", "demo").status == 0, "the later one holds"
    assert run("--home", str(tmp_path), "entities").status == 6


def test_one_project_needs_no_pid_and_several_do(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Prism.open(tmp_path) as prism:
        for pid in ("alpha", "beta"):
            prism.project(pid).entity("ADR", {"number": f"ADR-{pid}", "title": pid, "status": "Accepted"})
    monkeypatch.setenv("PRISM_HOME", str(tmp_path))
    refused = run("entities")
    assert refused.status == 2
    assert "alpha, beta" in refused.err
    assert "ADR-alpha" in run("entities", "--pid", "alpha").out
    monkeypatch.setenv("PRISM_PID", "beta")
    assert "ADR-beta" in run("entities").out
    assert "ADR-alpha" not in run("sparql", "SELECT ?n { ?s prism:number ?n }").out
    monkeypatch.delenv("PRISM_PID")
    assert len(run("sparql", "SELECT ?n { ?s prism:number ?n }").out.split()) == 3, "SPARQL asks all projects"


def test_version(run: Run) -> None:
    versions = json.loads(run("version", "--json").out)
    assert {"prism", "python", "pyoxigraph"} <= versions.keys()
    assert run("--version").out == f"prism {versions['prism']}\n"
