"""The commands that record: what they write, what they say of it, and what they refuse."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prism_rdf.cli.writing import props_of
from prism_rdf.errors import BadArgument

Run = Callable[..., Any]


@pytest.fixture
def write(project_of_its_own: Run) -> Run:
    """Run commands in a project that holds one decision and one place."""
    run = project_of_its_own
    made = run("entity", "ADR", "number=ADR-7", "title=Use a graph", "status=Proposed", "--valid-from", "2025-10-01")
    assert made.status == 0, made.err
    assert run("entity", "Location", "name=server1", "--valid-from", "2025-10-01").status == 0
    return run


def props(write: Run, entity: str, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(write("state", entity, "--json", *options).out)
    return found["props"] if found["state"] else {}


def test_an_entity_is_made_and_told_in_one_line(write: Run) -> None:
    ran = write("entity", "ADR", "number=ADR-8", "tags=a", "tags=b", "--valid-from", "2025")
    [line] = ran.out.splitlines()
    assert line.startswith("ADR-8: new ADR, number = ADR-8, tags = a, b  from 2025-01-01T00:00:00Z, commit ")
    assert props(write, "ADR-8", "--as-of", "2025-06-01") == {"number": "ADR-8", "tags": ["a", "b"]}
    made = json.loads(write("entity", "ADR", "number=ADR-9", "--json").out)
    assert made["created"] == [made["entity"]]
    assert props(write, made["uuid"])["number"] == "ADR-9"


def test_a_fact_holds_from_when_it_is_said_to(write: Run) -> None:
    ran = write("fact", "ADR-7", "status=Accepted", "--valid-from", "2025-11-01", "--valid-until", "2025-11-30")
    assert ran.out.startswith("ADR-7: status = Accepted  from 2025-11-01T00:00:00Z until 2025-12-01T00:00:00Z, commit ")
    days = ("2025-10-15", "2025-11-15", "2025-12-15")
    assert [props(write, "ADR-7", "--as-of", day)["status"] for day in days] == ["Proposed", "Accepted", "Proposed"]


def test_values_are_read_by_the_declared_datatype(write: Run) -> None:
    assert write("fact", "server1", "port=8080").status == 0
    assert props(write, "server1")["port"] == 8080
    assert write("entity", "EnvVar", "name=X", "required=true").status == 0
    assert props(write, "X")["required"] is True
    assert write("entity", "Session", "title=s", "startedAt=2025-10-30T14:00:00+02:00").status == 0
    assert props(write, "s")["startedAt"] == "2025-10-30T12:00:00Z"
    assert write("entity", "Component", "name=gateway", "location=server1").status == 0
    assert props(write, "gateway")["location"]["identifier"] == "server1"


def test_several_values_replace_the_old_ones_and_an_empty_one_takes_them_away(write: Run) -> None:
    write("fact", "ADR-7", "tags=rdf", "tags=time")
    assert props(write, "ADR-7")["tags"] == ["rdf", "time"]
    write("fact", "ADR-7", "tags=time")
    assert props(write, "ADR-7")["tags"] == ["time"]
    assert write("fact", "ADR-7", "tags=").out.startswith("ADR-7: no tags  from now, commit ")
    write("transition", "ADR-7", "status=")
    assert props(write, "ADR-7") == {"number": "ADR-7", "title": "Use a graph"}


def test_a_transition_bears_its_cause(write: Run) -> None:
    options = ["--event-type", "rename", "--description", "merged", "--cause-commit", "9f2c1e7", "--tier", "2"]
    ran = write("transition", "ADR-7", "number=ADR-107", "title=Use RDF", *options, "--source", "docs/7.md")
    assert ran.out.startswith("ADR-7: number = ADR-107, title = Use RDF  from now, commit ")
    [event] = json.loads(write("blame", "ADR-107", "title", "--json").out)["events"]
    expected = {"event_type": "rename", "description": "merged", "cause_commit": "9f2c1e7", "source": "docs/7.md"}
    assert {name: event[name] for name in expected} == expected
    assert event["tier"] == 2


def test_a_memory_can_be_the_cause(write: Run) -> None:
    write("remember", "The group voted for the graph", "--about", "ADR-7", "--created-at", "2025-10-30")
    [hit] = json.loads(write("recall", "voted graph", "--json").out)["hits"]
    write("fact", "ADR-7", "status=Accepted", "--cause-memory", hit["id"])
    [event] = json.loads(write("blame", "ADR-7", "status", "--json").out)["events"]
    assert event["cause_memory"] == hit["id"]


def test_a_correction_outranks_what_was_said(write: Run) -> None:
    write("fact", "ADR-7", "status=Accepted", "--valid-from", "2025-12-01")
    ran = write("correct", "ADR-7", "status=Rejected", "--valid-from", "2025-11-01")
    assert ran.out.startswith("ADR-7: corrected, status = Rejected  from 2025-11-01T00:00:00Z, commit ")
    assert props(write, "ADR-7")["status"] == "Rejected"


def test_only_reopen_ends_a_retirement(write: Run) -> None:
    assert write("retire", "ADR-7", "--valid-from", "2025-11-01").out.startswith("ADR-7: retired  from 2025-11-01")
    assert props(write, "ADR-7") == {}
    assert write("reopen", "ADR-7", "--valid-from", "2025-12-01").out.startswith("ADR-7: open again  from 2025-12-01")
    assert props(write, "ADR-7")["status"] == "Proposed"
    assert [entry["verb"] for entry in json.loads(write("log", "--json").out)][-2:] == ["retire", "reopen"]


def test_an_event_is_retracted_by_iri_or_uuid_and_a_commit_reverted(write: Run) -> None:
    commit = 0
    for undo in ("iri", "uuid", "revert"):
        commit = json.loads(write("fact", "ADR-7", f"status={undo}", "--json").out)["commit"]
        [event] = json.loads(write("blame", "ADR-7", "status", "--json").out)["events"]
        name = {"iri": event["event"], "uuid": event["event"].rsplit("/", 1)[-1], "revert": str(commit)}[undo]
        ran = write("revert" if undo == "revert" else "retract", name)
        assert "no longer believed" in ran.out
        assert props(write, "ADR-7")["status"] == "Proposed"
    again = write("revert", str(commit))
    assert (again.status, "nothing changed" in again.out) == (0, True)


def test_names_and_references(write: Run) -> None:
    ran = write("alias", "the graph decision", "ADR-7", "--kind", "synonym")
    assert ran.out.startswith("ADR-7: also called the graph decision  since ever, commit ")
    ran = write("alias", "ADR-007", "ADR-7", "--valid-until", "2025-10-31")
    assert ran.out.startswith("ADR-7: formerly called ADR-007  since ever until 2025-11-01T00:00:00Z, commit ")
    write("entity", "ADR", "number=ADR-3", "title=Use a table", "--valid-from", "2025-09-01")
    ran = write("reference", "the graph decision", "SUPERSEDES", "ADR-3", "--valid-from", "2025-11-01")
    assert ran.out.startswith("ADR-7: SUPERSEDES ADR-3  from 2025-11-01T00:00:00Z, commit ")
    [found] = json.loads(write("references", "--source", "ADR-007", "--json").out)
    assert (found["kind"], found["target"]["identifier"]) == ("SUPERSEDES", "ADR-3")


def test_a_text_is_remembered_from_stdin_too(write: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "We chose a graph " + "because joins hurt " * 9
    assert write("remember", long, "--about", "ADR-7").out.startswith("note about ADR-7: We chose a graph because")
    monkeypatch.setattr("sys.stdin", io.StringIO("Minutes of the\nvote\n"))
    ran = write("remember", "-", "--kind", "minutes")
    assert ran.out.startswith("minutes: Minutes of the vote  commit ")


def test_an_idempotency_key_makes_saying_it_again_harmless(write: Run) -> None:
    said = ("fact", "ADR-7", "status=Accepted", "--idempotency-key", "k1")
    first = json.loads(write(*said, "--json").out)
    assert f"commit {first['commit']}, written before under this key" in write(*said).out
    assert json.loads(write(*said, "--json").out) == {**first, "replayed": True}
    conflict = write("fact", "ADR-7", "status=Rejected", "--idempotency-key", "k1", "--json")
    assert (conflict.status, json.loads(conflict.err)["error"]["code"]) == (5, "idempotency-conflict")


def test_what_is_so_already_changes_nothing(write: Run) -> None:
    write("alias", "seven", "ADR-7", "--kind", "synonym")
    again = write("alias", "seven", "ADR-7", "--kind", "synonym")
    assert again.out == "ADR-7: also called seven  nothing changed: it was so already\n"
    assert json.loads(write("alias", "seven", "ADR-7", "--kind", "synonym", "--json").out)["commit"] is None


# arguments, exit status, error code, words of the message
BAD = {
    "no value": (["fact", "ADR-7", "status"], 2, "bad-argument", "'status' is not NAME=VALUE"),
    "no name": (["fact", "ADR-7", "=Accepted"], 2, "bad-argument", "'=Accepted' is not NAME=VALUE"),
    "two facts": (["fact", "ADR-7", "status=x", "title=y"], 2, "bad-argument", "one property, not 2"),
    "taken away and given": (["fact", "ADR-7", "tags=", "tags=x"], 2, "bad-argument", "tags is both"),
    "nothing said": (["transition", "ADR-7"], 2, "usage", "NAME=VALUE"),
    "two of a single one": (["fact", "ADR-7", "status=x", "status=y"], 2, "bad-argument", "takes one value"),
    "undeclared property": (["fact", "ADR-7", "staus=x"], 5, "validation", "'staus' is not declared"),
    "not an integer": (["fact", "server1", "port=80a"], 5, "validation", "xsd:integer"),
    "not a boolean": (["entity", "EnvVar", "name=Y", "secret=maybe"], 5, "validation", "xsd:boolean"),
    "naive instant": (["entity", "Session", "title=t", "startedAt=2025-10-30T12:00:00"], 2, "bad-time", "startedAt"),
    "reference to nothing": (["entity", "Component", "name=c", "location=nowhere"], 6, "unknown-entity", "nowhere"),
    "reference to another type": (["entity", "Component", "name=c", "location=ADR-7"], 5, "validation", "Location"),
    "unknown type": (["entity", "Adr", "number=ADR-1"], 6, "unknown-type", "Adr"),
    "unknown entity": (["fact", "ADR-999", "status=x"], 6, "unknown-entity", "ADR-999"),
    "naive time": (["fact", "ADR-7", "status=x", "--valid-from", "2025-10-30T12:00:00"], 2, "bad-time", "no zone"),
    "end before start": (
        ["fact", "ADR-7", "status=x", "--valid-from", "2025-10", "--valid-until", "2025-09"],
        2,
        "bad-time",
        "cannot hold",
    ),
    "no such tier": (["fact", "ADR-7", "status=x", "--tier", "4"], 2, "usage", "--tier"),
    "no memory": (["fact", "ADR-7", "status=x", "--cause-memory", "that chat"], 2, "bad-argument", "that chat"),
    "unknown event": (["retract", "that event"], 6, "not-found", "no event that event"),
    "unknown commit": (["revert", "99999"], 6, "not-found", "no commit 99999"),
    "no commit": (["revert", "last"], 2, "usage", "COMMIT"),
    "unknown kind of alias": (["alias", "x", "ADR-7", "--kind", "nickname"], 2, "usage", "--kind"),
    "alias of nothing": (["alias", " ", "ADR-7"], 2, "bad-argument", "surface form"),
    "unknown kind of reference": (["reference", "ADR-7", "BEATS", "server1"], 2, "bad-argument", "'BEATS'"),
    "kind not allowed": (["reference", "ADR-7", "SUPERSEDES", "server1"], 5, "validation", "SUPERSEDES"),
    "nothing to remember": (["remember", " "], 2, "bad-argument", "nothing to remember"),
    "about nothing": (["remember", "text", "--about", "ADR-999"], 6, "unknown-entity", "ADR-999"),
}


def test_bad_input_is_refused_and_nothing_is_written(write: Run) -> None:
    """All cases in one store: what they refuse must leave the log as it was."""
    before = write("log", "--json").out
    seen = 0
    for case, (args, status, code, words) in BAD.items():
        ran = write(*args)
        assert (ran.status, ran.out) == (status, ""), case
        assert words in ran.err.splitlines()[0], case
        assert [line.split(":")[0].strip() for line in ran.err.splitlines()[-2:]] == ["rule", "mend"], case
        assert json.loads(write(*args, "--json").err)["error"]["code"] == code, case
        seen += 1
    assert seen == len(BAD) == 27
    assert write("log", "--json").out == before


def test_a_refused_value_is_shown(write: Run) -> None:
    assert '  value: "80a"^^' in write("fact", "server1", "port=80a").err


@pytest.mark.parametrize(
    "command",
    [["entity", "ADR", "number=ADR-1"], ["remember", "The first word"]],
    ids=lambda command: command[0],
)
def test_the_first_write_makes_the_store(run: Run, tmp_path: Path, command: list[str]) -> None:
    home = tmp_path / "home"
    refused = run(*command, "--home", str(home))
    assert (refused.status, home.exists()) == (2, False)
    assert "--pid" in refused.err
    made = run(*command, "--home", str(home), "--pid", "new", "--json")
    assert json.loads(made.out)["commit"] == 1
    assert json.loads(run(*command, "--home", str(home), "--json").out)["commit"] == 2, "one project needs no --pid"
    assert json.loads(run(*command, "--home", str(home), "--pid", "other", "--json").out)["commit"] == 3
    assert run(*command, "--home", str(home)).status == 2, "several do"


@pytest.mark.parametrize(
    "command",
    [
        ["entity", "Adr", "number=ADR-1"],
        ["entity", "ADR", "numbr=ADR-1"],
        ["entity", "Location", "name=x", "port=y"],
        ["entity", "ADR", "number=ADR-1", "--valid-from", "soon"],
        ["remember", "text", "--about", "ADR-1"],
        ["fact", "ADR-1", "status=x"],
        ["transition", "ADR-1", "status=x"],
        ["correct", "ADR-1", "status=x"],
        ["retire", "ADR-1"],
        ["reopen", "ADR-1"],
        ["retract", "urn:x"],
        ["revert", "1"],
        ["alias", "x", "ADR-1"],
        ["reference", "ADR-1", "SUPERSEDES", "ADR-2"],
        ["wip", "ADR-1", "status=x"],
        ["seal", "ADR-1"],
        ["discard", "ADR-1"],
        ["drafts"],
        ["diff", "2025"],
        ["blame", "ADR-1", "status"],
        ["timeline", "ADR-1"],
        ["log"],
        ["log", "--follow"],
        ["references"],
        ["resolve", "ADR-1"],
    ],
    ids=" ".join,
)
def test_what_fails_makes_no_store(run: Run, tmp_path: Path, command: list[str]) -> None:
    home = tmp_path / "home"
    ran = run(*command, "--home", str(home), "--pid", "new")
    assert ran.status in (2, 5, 6)
    assert ran.err.startswith("error: ")
    assert not home.exists()


def test_properties_as_they_are_given() -> None:
    assert props_of(["a=b=c", "n= x ", "e="]) == {"a": "b=c", "n": " x ", "e": None}
    assert props_of([]) == {}
    with pytest.raises(BadArgument, match="not NAME=VALUE"):
        props_of(["a"])
