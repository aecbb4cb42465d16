"""What a door does when the owner leaves or dies in the middle, against an owner that plays a part; and a crowd."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from prism_rdf.errors import BadArgument, BusyError
from prism_rdf.owner import build, serving
from prism_rdf.owner.line import Line
from prism_rdf.owner.place import Hold, Holder, Place
from prism_rdf.owner.wire import Channel
from prism_rdf.prism import Prism

Part = Callable[[Channel, dict[str, Any]], None]


@contextmanager
def owner_who(folder: Path, *parts: Part) -> Iterator[tuple[Line, list[dict[str, Any]]]]:
    """Yield a line to an owner that plays one part for each connection, and the requests that it got."""
    place = Place.of(folder)
    lock = place.lock()
    assert lock.take()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "owner.sock"))
    listener.listen()
    hold = Hold.begin(place, lock, Holder(1, "daemon", "0", "2026-01-01T00:00:00Z"))
    hold.announce(socket=str(folder / "owner.sock"))
    requests: list[dict[str, Any]] = []

    def play() -> None:
        for part in parts:
            connection, _ = listener.accept()
            channel = Channel(connection)
            channel.send({"owner": {**build.describe(), "door": "daemon"}})
            while isinstance(request := channel.receive(), dict):
                requests.append(request)
                part(channel, request)
                if part is not answer:
                    break
            channel.close()

    playing = threading.Thread(target=play)
    playing.start()
    line = Line(folder, "default")
    try:
        yield line, requests
    finally:
        line.close()
        playing.join()
        listener.close()
        hold.release()


def answer(channel: Channel, request: dict[str, Any]) -> None:
    channel.send({"result": request["options"].get("idempotency_key", "no key")})


def die(channel: Channel, request: dict[str, Any]) -> None:
    """Close without a word."""


def die_answering(channel: Channel, request: dict[str, Any]) -> None:
    channel.send({"answer": {"kind": "select"}})
    channel.send_bytes(b"?a")


def leave(channel: Channel, request: dict[str, Any]) -> None:
    channel.send({"leaving": True})


def test_a_request_that_was_not_begun_is_made_again_whatever_it_does(tmp_path: Path) -> None:
    with owner_who(tmp_path, leave, leave, answer) as (line, requests):
        assert line.ask("demo", "backup", {}, reads=False) == "no key"
        assert len(requests) == 3


@pytest.mark.parametrize("death", [die, die_answering])
def test_a_read_is_made_once_more(tmp_path: Path, death: Part) -> None:
    with owner_who(tmp_path, death, answer) as (line, requests):
        assert line.ask(None, "projects", {}, reads=True) == "no key"
        assert len(requests) == 2


def test_a_read_of_which_owners_die_is_not_made_for_ever(tmp_path: Path) -> None:
    with owner_who(tmp_path, die, die) as (line, requests):
        with pytest.raises(BusyError, match="died while it was asked to sparql"):
            line.ask(None, "sparql", {}, reads=True)
        assert len(requests) == 2


def test_a_write_with_a_key_is_made_once_more_with_the_same_key(tmp_path: Path) -> None:
    with owner_who(tmp_path, die, answer) as (line, requests):
        assert line.ask("demo", "fact", {"idempotency_key": "k"}, reads=False) == "k"
        assert requests[0] == requests[1]


def test_a_write_of_which_owners_die_names_its_key(tmp_path: Path) -> None:
    with owner_who(tmp_path, die, die) as (line, _):
        with pytest.raises(BusyError) as caught:
            line.ask("demo", "fact", {"idempotency_key": "k7"}, reads=False)
        assert "'k7'" in caught.value.mend
        assert "may or may not" in caught.value.rule


def test_a_write_without_a_key_is_not_made_again(tmp_path: Path) -> None:
    with owner_who(tmp_path, die) as (line, requests):
        with pytest.raises(BusyError) as caught:
            line.ask(None, "backup", {}, reads=False)
        assert "prism log" in caught.value.mend
        assert len(requests) == 1


@contextmanager
def server_of(prism: Prism, folder: Path) -> Iterator[serving.Server]:
    place = Place.of(folder)
    lock = place.lock()
    assert lock.take()
    hold = Hold.begin(place, lock, Holder(1, "serve", "0", "2026-01-01T00:00:00Z"))
    server = serving.Server(prism, place, hold)
    running = threading.Thread(target=server.run)
    running.start()
    try:
        yield server
    finally:
        server.leave("the test is over")
        running.join()
        hold.release()


def test_more_programs_than_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 3)
    with Prism.in_memory() as prism, server_of(prism, tmp_path):
        lines = [Line(tmp_path, "default") for _ in range(10)]
        for _ in range(3):
            assert [line.ask(None, "commit_number", {}, reads=True) for line in lines] == [0] * 10
        for line in lines:
            line.close()


def test_what_the_owner_does_not_understand_is_an_error_and_not_its_end(tmp_path: Path) -> None:
    with Prism.in_memory() as prism, server_of(prism, tmp_path):
        line = Line(tmp_path, "default")
        with pytest.raises(BadArgument, match="no such kind"):
            line.ask(None, "changes", {"since": {"$prism": "no such kind", "v": 0}}, reads=True)
        with pytest.raises(BadArgument, match="no verb"):
            line.ask(None, "close", {}, reads=True)
        assert line.ask(None, "projects", {}, reads=True) == []
        line.close()


def test_an_unforeseen_failure_is_told_and_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(prism: Prism) -> list[str]:
        raise ZeroDivisionError("once")

    monkeypatch.setattr(Prism, "projects", fail)
    with Prism.in_memory() as prism, server_of(prism, tmp_path):
        line = Line(tmp_path, "default")
        with pytest.raises(Exception, match="ZeroDivisionError: once"):
            line.ask(None, "projects", {}, reads=True)
        assert line.ask(None, "commit_number", {}, reads=True) == 0
        line.close()
    assert "unforeseen failure of projects" in caplog.text
