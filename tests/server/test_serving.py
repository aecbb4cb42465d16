"""``prism serve`` as a process: it says where it is, answers as of a time, has one owner, and stops cleanly."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from prism_server import running

from prism_rdf.prism import Prism

NUMBER = "SELECT ?number { ?adr a type:ADR ; prism:number ?number }"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with Prism.open(tmp_path) as prism:
        demo = prism.project("demo")
        made = demo.entity("ADR", {"number": "ADR-001", "title": "A", "status": "Accepted"}, valid_from="2025-10-01")
        demo.transition(made["uuid"], {"number": "ADR-101"}, "rename", valid_from="2026-01-01")
    return tmp_path


def start(home: Path, *args: str) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PRISM_")}
    environment["PRISM_OWNER"] = "never"
    return subprocess.Popen(
        [sys.executable, "-m", "prism_rdf.cli", "serve", "--home", str(home), *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


@pytest.fixture
def server(home: Path) -> Iterator[subprocess.Popen[str]]:
    with start(home, "--port", "0", "--json") as process:
        yield process
        process.kill()


def url_of(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    lines = [server.stdout.readline() for _ in range(5)]
    return str(json.loads("".join(lines))["url"])


def numbers(url: str, **parameters: str) -> list[str]:
    query = urlencode({"query": NUMBER, "format": "csv", **parameters})
    with urlopen(f"{url}sparql?{query}", timeout=20) as answer:
        return str(answer.read().decode()).split()[1:]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_it_answers_and_stops_cleanly(server: subprocess.Popen[str], home: Path, number: signal.Signals) -> None:
    url = url_of(server)
    assert url.startswith("http://127.0.0.1:")
    assert numbers(url) == ["ADR-101"]
    assert numbers(url, **{"as-of": "2025-10-30"}) == ["ADR-001"]
    with urlopen(f"{url}health", timeout=20) as answer:
        assert json.load(answer)["status"] == "ok"
    with start(home, "--port", "0") as second:
        _, complaint = second.communicate(timeout=30)
    assert second.returncode == 7, complaint
    assert complaint.startswith("error: ")
    server.send_signal(number)
    _, complaint = server.communicate(timeout=20)
    assert (server.returncode, complaint) == (0, "")
    Prism.open(home).close()  # the store is free again


def test_a_port_in_use_is_busy(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with start(home, "--port", str(port)) as process:
            _, complaint = process.communicate(timeout=30)
    assert process.returncode == 7
    assert f"port {port}" in complaint
    assert "--port" in complaint


def test_a_small_answer_is_sent_at_once() -> None:
    with running._listener("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
