"""The commands for work in progress: a draft stands beside the sealed state until it is sealed or discarded."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def write(project_of_its_own: Run) -> Run:
    """Run commands in a project that holds one decision."""
    run = project_of_its_own
    assert run("entity", "ADR", "number=ADR-7", "title=Use a graph", "status=Proposed").status == 0
    return run


def state(write: Run, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(write("state", "ADR-7", "--json", *options).out)
    return found


def test_a_draft_is_begun_gone_on_with_and_sealed(write: Run) -> None:
    begun = json.loads(write("wip", "ADR-7", "status=Accepted", "--source", "session_intent", "--json").out)
    ran = write("wip", "ADR-7", "tags=rdf", "tags=time")
    assert ran.out.startswith(f"ADR-7: draft {begun['wip']}, tags = rdf, time  commit ")
    assert (state(write)["flag"], state(write)["props"]["tags"]) == ("wip", ["rdf", "time"])
    assert state(write, "--sealed")["props"]["status"] == "Proposed"
    sealed = write("seal", begun["wip"], "tags=rdf", "--description", "as decided")
    assert sealed.out.startswith("ADR-7: draft sealed, tags = rdf  from now, commit ")
    assert (state(write)["flag"], state(write)["props"]["status"]) == ("current", "Accepted")
    told = write("blame", "ADR-7", "tags").out
    assert "event   wip_sealed at " in told
    assert "why     as decided" in told
    assert "draft   sealed with other values" in told


def test_a_draft_is_sealed_and_discarded_by_the_name_of_its_entity(write: Run) -> None:
    write("wip", "ADR-7", "status=Accepted")
    assert write("seal", "ADR-7").out.startswith("ADR-7: draft sealed  from now, commit ")
    write("wip", "ADR-7", "status=Rejected")
    assert write("discard", "adr-7").out.startswith("adr-7: draft discarded  commit ")
    assert state(write)["props"]["status"] == "Accepted"


def test_drafts_are_listed_the_longest_untouched_first(write: Run) -> None:
    assert write("drafts").out == "entity  touched  source  draft\n"
    new = json.loads(write("wip", "ADR-7", "status=Accepted", "--json").out)["wip"]
    write("entity", "ADR", "number=ADR-8")
    old = json.loads(write("wip", "ADR-8", "status=x", "--at", "2025-10-30", "--source", "working_tree", "--json").out)
    lines = [line.split() for line in write("drafts").out.splitlines()[1:]]
    assert [(line[0], line[2], line[3]) for line in lines] == [
        ("ADR-8", "working_tree", old["wip"]),
        ("ADR-7", "explicit", new),
    ]
    assert lines[0][1] == "2025-10-30T00:00:00Z"
    stale = json.loads(write("drafts", "--stale-after-days", "30", "--json").out)
    assert [draft["wip"] for draft in stale] == [old["wip"]]


def test_a_value_is_taken_out_of_the_draft(write: Run) -> None:
    write("wip", "ADR-7", "status=Accepted", "title=Use RDF")
    write("wip", "ADR-7", "status=")
    assert state(write)["props"]["status"] == "Proposed"
    write("seal", "ADR-7", "title=")
    assert state(write)["props"]["title"] == "Use a graph"


# arguments, exit status, error code, words of the message
BAD = {
    "draft of nothing": (["wip", "ADR-9", "status=x"], 6, "unknown-entity", "ADR-9"),
    "draft that says nothing": (["wip", "ADR-7", "status="], 2, "bad-argument", "says nothing"),
    "unknown source": (["wip", "ADR-7", "status=x", "--source", "dream"], 2, "usage", "--source"),
    "undeclared property": (["wip", "ADR-7", "colour=x"], 5, "validation", "colour"),
    "no open draft": (["seal", "ADR-7"], 6, "not-found", "no draft ADR-7"),
    "no draft at all": (["discard", "the draft"], 6, "not-found", "no draft the draft"),
    "days of nothing": (["drafts", "--stale-after-days", "-1"], 2, "usage", "--stale-after-days"),
}


def test_bad_input_is_refused_and_nothing_is_written(write: Run) -> None:
    before = write("log", "--json").out
    seen = 0
    for case, (args, status, code, words) in BAD.items():
        ran = write(*args)
        assert (ran.status, ran.out) == (status, ""), case
        assert words in ran.err.splitlines()[0], case
        assert json.loads(write(*args, "--json").err)["error"]["code"] == code, case
        seen += 1
    assert seen == len(BAD) == 7
    assert write("log", "--json").out == before


def test_a_draft_is_sealed_once(write: Run) -> None:
    wip = json.loads(write("wip", "ADR-7", "status=Accepted", "--json").out)["wip"]
    write("seal", wip)
    for command in ("seal", "discard"):
        again = write(command, wip, "--json")
        assert (again.status, json.loads(again.err)["error"]["code"]) == (5, "refused")
        assert "it was sealed" in json.loads(again.err)["error"]["message"]
