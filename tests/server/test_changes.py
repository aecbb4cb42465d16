"""The change feed: lines at once, lines when a commit comes, events; and nobody waits for ever."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from prism_server import changes, create_app

from prism_rdf import Prism

STREAM = {"Accept": "text/event-stream"}


@pytest.fixture(scope="module")
def prism(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prism]:
    home: Path = tmp_path_factory.mktemp("home")
    with Prism.open(home / "stores", exclusive=True) as store:
        store.project("demo").entity("ADR", {"title": "One"})
        store.update("CREATE GRAPH <urn:g>", pid="other")
        store.project("demo").entity("ADR", {"title": "Two"})
        yield store


@pytest.fixture
def client(prism: Prism) -> FlaskClient:
    return create_app(prism).test_client()


def _commits(answer: Any) -> list[int]:
    assert answer.status_code == 200
    assert answer.mimetype == "application/x-ndjson"
    return [json.loads(line)["commit"] for line in answer.text.splitlines()]


def _add(prism: Prism) -> None:
    prism.update(f"CREATE GRAPH <urn:g{prism.commit_number}>", pid="demo")


def test_lines_are_those_of_the_log(client: FlaskClient, prism: Prism) -> None:
    answer = client.get("/changes?since=1")
    assert [json.loads(line) for line in answer.text.splitlines()] == list(prism.log(1))
    assert answer.headers["Prism-Commit"] == str(prism.commit_number)


def test_a_project_and_a_limit(client: FlaskClient, prism: Prism) -> None:
    assert _commits(client.get("/changes?pid=other")) == [2]
    first = client.get("/changes?limit=1&pid=demo")
    assert (_commits(first), first.headers["Prism-Commit"]) == ([1], "1")
    assert _commits(client.get(f"/changes?limit=1&pid=demo&since={first.headers['Prism-Commit']}")) == [3]
    none = client.get("/changes?pid=nobody")
    assert (_commits(none), none.headers["Prism-Commit"]) == ([], str(prism.commit_number))


def test_a_long_poll_ends_with_the_commit_it_waited_for(client: FlaskClient, prism: Prism) -> None:
    last = prism.commit_number
    writer = threading.Timer(0.3, _add, [prism])
    writer.start()
    began = time.monotonic()
    assert _commits(client.get(f"/changes?since={last}&wait=30")) == [last + 1]
    assert 0.2 < time.monotonic() - began < 20
    writer.join()


def test_a_long_poll_ends_without_one(client: FlaskClient, prism: Prism) -> None:
    assert _commits(client.get(f"/changes?since={prism.commit_number}&wait=1")) == []


def test_events_go_on_from_the_last_one_and_end(
    client: FlaskClient, prism: Prism, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "LONGEST_WAIT", 0.6)
    last = prism.commit_number
    writer = threading.Timer(0.2, _add, [prism])
    writer.start()
    answer = client.get("/changes?since=0", headers=STREAM | {"Last-Event-ID": str(last - 1)})
    writer.join()
    assert answer.mimetype == "text/event-stream"
    events = [dict(line.split(": ", 1) for line in each.splitlines()) for each in answer.text.split("\n\n")[1:-1]]
    told = [each for each in events if each.get("event") == "commit"]
    assert [int(each["id"]) for each in told] == [last, last + 1]
    assert json.loads(told[0]["data"])["commit"] == last


def test_only_some_may_wait_and_places_come_back(
    client: FlaskClient, prism: Prism, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "LONGEST_WAIT", 1.0)
    open_streams = [client.get("/changes", headers=STREAM, buffered=False) for _ in range(changes.MOST_WAITING)]
    refused = client.get("/changes", headers=STREAM)
    assert (refused.status_code, refused.json["error"]["code"]) == (503, "too-many-waiting")
    assert refused.headers["Retry-After"] == "5"
    waiting = client.get(f"/changes?since={prism.commit_number}&wait=1")
    assert waiting.status_code == 503
    for each in open_streams:
        each.close()
    assert client.get("/changes", headers=STREAM).status_code == 200


@pytest.mark.parametrize(
    "query",
    ["since=x", "since=-1", "since=99999", "since=1&since=2", "wait=61", "limit=0", "limit=10001", "sinc=1"],
)
def test_a_wrong_parameter_is_told(client: FlaskClient, query: str) -> None:
    answer = client.get(f"/changes?{query}")
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "bad-argument")
    assert answer.json["error"]["mend"]
