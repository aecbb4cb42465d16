"""The commands that compare and explain, and the log that can be followed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from prism_rdf.cli import comparing
from prism_rdf.prism import Prism

Run = Callable[..., Any]


def test_diff_of_the_project(run: Run) -> None:
    assert run("diff", "2025-10-15", "2026-01-15").out.splitlines() == [
        "ADR-101  ADR  changed",
        "    number            ADR-001 → ADR-101",
        "    status            Proposed → Accepted",
        "    title             Use a graph → Use a graph? store",
        "    SUPERSEDES began  ADR-002",
    ]
    assert run("diff", "2025-09-15", "2025-10-15").out.splitlines() == [
        "ADR-001  ADR  appeared",
        "    number  ADR-001",
        "    status  Proposed",
        "    title   Use a graph",
    ]
    assert run("diff", "2025-10-15", "2025-10-16").out == "no difference\n"


def test_diff_of_one_entity_as_json(run: Run) -> None:
    [found] = json.loads(run("diff", "2025-10-15", "--entity", "ADR-101", "--json").out)
    assert found["change"] == "changed"
    assert found["props"]["status"] == {"from": "Proposed", "to": "Accepted"}
    [began] = found["references"]["began"]
    assert (began["kind"], began["target"]["identifier"]) == ("SUPERSEDES", "ADR-002")
    assert json.loads(run("diff", "2025-10-15", "--entity", "ADR-002", "--json").out) == []
    assert json.loads(run("diff", "2025-10-15", "--known-at", "1", "--json").out) == []


def test_what_vanished_shows_what_it_was(project_of_its_own: Run) -> None:
    run = project_of_its_own
    run("entity", "ADR", "number=ADR-7", "status=Proposed", "--valid-from", "2025-10-01")
    run("retire", "ADR-7", "--valid-from", "2025-11-01")
    assert run("diff", "2025-10-15").out.splitlines() == [
        "ADR-7  ADR  vanished",
        "    number  ADR-7",
        "    status  Proposed",
    ]


def test_blame_names_value_event_cause_and_commit(project_of_its_own: Run) -> None:
    run = project_of_its_own
    run("entity", "ADR", "number=ADR-7", "tags=rdf", "--valid-from", "2025-10-01")
    run("fact", "ADR-7", "status=Accepted", "--valid-from", "2025-11-01", "--cause-commit", "9f2c1e7")
    told = dict(line.split(maxsplit=1) for line in run("blame", "ADR-7", "status").out.splitlines()[1:] if line)
    assert told["value"] == "Accepted"
    assert told["since"] == "2025-11-01T00:00:00Z"
    assert told["event"] == "fact at 2025-11-01T00:00:00Z"
    assert told["cause"] == "9f2c1e7"
    found = json.loads(run("blame", "ADR-7", "status", "--json").out)
    assert told["commit"].startswith(f"{found['events'][0]['commit']}, recorded at 20")
    assert told["id"] == found["events"][0]["event"]
    assert run("blame", "ADR-7", "status", "--as-of", "2025-10-15").out == "ADR-7  status\nvalue  (none)\n"
    assert "value  rdf\n" in run("blame", "ADR-7", "tags").out


def test_timeline_tells_changes_names_and_references(project_of_its_own: Run) -> None:
    run = project_of_its_own
    run("entity", "ADR", "number=ADR-3", "--valid-from", "2025-09-01")
    run("entity", "ADR", "number=ADR-7", "status=Proposed", "--valid-from", "2025-10-01")
    run("reference", "ADR-7", "SUPERSEDES", "ADR-3", "--valid-from", "2025-10-02")
    run("alias", "ADR-007", "ADR-7", "--valid-from", "2025-08", "--valid-until", "2025-10-02")
    run("fact", "ADR-7", "status=Accepted", "--valid-from", "2025-11-01", "--description", "vote")
    run("retire", "ADR-7", "--valid-from", "2025-12-01")
    run("reopen", "ADR-7", "--valid-from", "2025-12-24")
    first = json.loads(run("log", "--json").out)[0]["commit"]
    assert run("timeline", "ADR-7").out.splitlines() == [
        "ADR-7",
        "",
        "2025-08-01T00:00:00Z  former name begins",
        "    name  ADR-007",
        "",
        "2025-10-01T00:00:00Z  created",
        "    number  ADR-7",
        "    status  Proposed",
        f"    commit {first + 1}",
        "",
        "2025-10-02T00:00:00Z  reference begins",
        "    SUPERSEDES  ADR-3",
        "",
        "2025-10-03T00:00:00Z  former name ends",
        "    name  ADR-007",
        "",
        "2025-11-01T00:00:00Z  fact",
        "    status  Proposed → Accepted",
        f"    commit {first + 4}, vote",
        "",
        "2025-12-01T00:00:00Z  retired",
        f"    commit {first + 5}",
        "",
        "2025-12-24T00:00:00Z  reopened",
        "    number  ADR-7",
        "    status  Accepted",
        f"    commit {first + 6}",
    ]
    kinds = [entry["kind"] for entry in json.loads(run("timeline", "ADR-7", "--json").out)]
    assert kinds == ["alias", "state", "reference", "alias", "state", "state", "state"]


def test_log_lists_the_commits(run: Run) -> None:
    lines = [line.split() for line in run("log").out.splitlines()]
    assert lines[0] == ["commit", "recorded", "project", "verb", "entities"]
    assert [(line[0], line[2], line[3]) for line in lines[1:3]] == [
        ("1", "demo", "entity"),
        ("2", "demo", "transition"),
    ]
    assert lines[1][4] == "ADR-101", "entities bear the name that they have now"
    assert {name.rstrip(",") for name in lines[-1][4:]} == {"ADR-101", "ADR-002"}
    found = json.loads(run("log", "--since", "3", "--json").out)
    assert [entry["commit"] for entry in found] == [4, 5]
    assert json.loads(run("log", "--since", "99", "--json").out) == []


def test_log_is_of_all_projects_or_of_one(project_of_its_own: Run, open_store: Prism) -> None:
    run = project_of_its_own
    run("entity", "ADR", "number=ADR-7")
    mine, other = os.environ["PRISM_PID"], f"{os.environ['PRISM_PID']}-other"
    open_store.project(other).remember("A word")
    assert {entry["pid"] for entry in json.loads(run("log", "--json").out)} == {mine}
    os.environ["PRISM_PID"] = ""
    assert {mine, other} <= {entry["pid"] for entry in json.loads(run("log", "--json").out)}


def test_a_commit_of_many_entities_names_a_few(project_of_its_own: Run, open_store: Prism) -> None:
    run = project_of_its_own
    for number in range(1, 6):
        run("entity", "ADR", f"number=ADR-{number}")
    about = [option for number in range(1, 6) for option in ("--about", f"ADR-{number}")]
    since = open_store.commit_number
    run("remember", "All five", *about)
    assert run("log", "--since", str(since)).out.rstrip().endswith(" and 2 more")
    open_store.load(b"<urn:a> <urn:b> 1, 2, 3 .", "urn:free", format="ttl", pid=os.environ["PRISM_PID"])
    last = run("log", "--since", str(since + 1)).out.rstrip()
    assert " load " in last
    assert last.endswith("none; 12 quads added, 1 removed"), (
        "three triples, and what the store says of graph and commit"
    )


@pytest.mark.parametrize("as_json", [False, True])
def test_following_shows_each_commit_as_it_is_made(
    project_of_its_own: Run, open_store: Prism, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    """While the command waits, others write; then Ctrl-C."""
    run = project_of_its_own
    run("entity", "ADR", "number=ADR-7")
    waits: list[int] = []

    def wait() -> None:
        waits.append(open_store.commit_number)
        if len(waits) == 3:
            raise KeyboardInterrupt
        open_store.project(os.environ["PRISM_PID"]).fact("ADR-7", "status", f"s{len(waits)}")

    monkeypatch.setattr(comparing, "_waiting", lambda: wait)
    ran = run("log", "--follow", "--since", str(open_store.commit_number - 1), *(["--json"] if as_json else []))
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert len(lines) == 3
    numbers = [json.loads(line)["commit"] if as_json else int(line.split()[0]) for line in lines]
    assert numbers == waits
    if not as_json:
        assert [line.split()[3:] for line in lines] == [["entity", "ADR-7"], *[["fact", "ADR-7"]] * 2]


@contextmanager
def following(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "prism_rdf.cli", "log", "--follow"]
    environment = os.environ | {"PRISM_HOME": str(home)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().split()[0] == b"1"
            yield process
        finally:
            process.kill()


def test_following_ends_when_its_reader_goes_away(home: Path) -> None:
    """It has nothing more to write, and notices all the same."""
    with following(home) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait(30) == 128 + signal.SIGPIPE
        assert process.stderr.read() == b""


def test_following_ends_with_an_interrupt(home: Path) -> None:
    with following(home) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(4):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stderr.read() == b""


# arguments, exit status, error code, words of the message
BAD = {
    "no time": (["diff"], 2, "usage", "BEFORE"),
    "unparsable time": (["diff", "yesterday"], 2, "bad-time", "yesterday"),
    "diff of nothing": (["diff", "2025", "--entity", "ADR-999"], 6, "unknown-entity", "ADR-999"),
    "undeclared property": (["blame", "ADR-101", "colour"], 5, "validation", "colour"),
    "blame of nothing": (["blame", "ADR-999", "status"], 6, "unknown-entity", "ADR-999"),
    "timeline of nothing": (["timeline", "ADR-999"], 6, "unknown-entity", "ADR-999"),
    "unknown commit": (["timeline", "ADR-101", "--known-at", "99"], 6, "not-found", "99"),
    "since nothing": (["log", "--since", "-1"], 2, "usage", "--since"),
    "log of no project": (["log", "--pid", "nope"], 6, "not-found", "nope"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(run: Run, case: str) -> None:
    args, status, code, words = BAD[case]
    ran = run(*args)
    assert (ran.status, ran.out) == (status, "")
    assert words in ran.err.splitlines()[0]
    assert json.loads(run(*args, "--json").err)["error"]["code"] == code
