"""Queries through an owner: seen and stopped by others, ended with who asked them, and gone with a killed owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from prism_rdf import Prism
from prism_rdf.errors import PrismError, QueryStopped, QueryTimeout
from prism_rdf.owner import status
from prism_rdf.storage.folder import open_folder

ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o . ?p ?q ?r }"
ASKING = """
import sys
from prism_rdf import Prism
with Prism.open(sys.argv[1]) as prism:
    prism.sparql(sys.argv[2])
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PRISM_OWNER", "start")
    monkeypatch.setenv("PRISM_OWNER_IDLE", "3")
    monkeypatch.setenv("PRISM_QUERY_SLOW", "0")
    with Prism.open(tmp_path / "home") as prism:
        for number in range(5):
            prism.project("demo").entity("ADR", {"number": f"ADR-{number}", "title": "x"})
    return tmp_path / "home"


def waited(condition: Callable[[], bool], seconds: float = 15.0) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


def test_others_see_a_query_and_stop_it(home: Path) -> None:
    told: list[PrismError] = []

    def ask() -> None:
        try:
            asking.sparql(ENDLESS)
        except QueryStopped as error:
            told.append(error)

    with Prism.open(home) as asking, Prism.open(home) as other:
        thread = threading.Thread(target=ask)
        thread.start()
        assert waited(lambda: len(other.running()) == 1)
        [running] = other.running()
        assert (running["query"], running["who"]) == (ENDLESS, f"process {os.getpid()}")
        other.stop_query(running["id"])
        thread.join(5)
        assert [str(error) for error in told] == ["the query was stopped: somebody asked for that"]
        with pytest.raises(QueryTimeout) as late:
            other.sparql(ENDLESS, timeout=0.3)
        assert late.value.http_status == 504
        answer = other.sparql("SELECT ?d { ?d a type:ADR }", max_rows=2)
        assert answer.truncated
        assert len(list(answer.rows())) == 2


def test_a_query_ends_with_who_asked_it(home: Path) -> None:
    with Prism.open(home) as prism:
        asking = subprocess.Popen([sys.executable, "-P", "-c", ASKING, str(home), ENDLESS])
        assert waited(lambda: [each["state"] for each in prism.running()] == ["running"])
        assert prism.running()[0]["who"] == f"process {asking.pid}"
        asking.kill()
        asking.wait()
        assert waited(lambda: prism.running() == [], 3)
    log = home / "default" / "slow-queries.jsonl"
    assert waited(lambda: log.exists() and '"outcome": "query-stopped"' in log.read_text())


def test_nothing_is_left_of_a_killed_owner(home: Path) -> None:
    folder = open_folder(home, "default", create=False)
    with Prism.open(home) as prism:
        asking = subprocess.Popen([sys.executable, "-P", "-c", ASKING, str(home), ENDLESS], stderr=subprocess.DEVNULL)
        assert waited(lambda: [each["state"] for each in prism.running()] == ["running"])
        owner = status(folder)
    assert owner is not None
    asking.kill()
    workers = _children(owner["pid"])
    assert len(workers) == 1
    os.kill(owner["pid"], signal.SIGKILL)
    asking.wait()
    assert waited(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), 5)
    assert folder.workers.is_dir()
    with Prism.open(home, exclusive=True) as prism:
        assert not folder.workers.exists()
        assert len(list(prism.sparql("SELECT ?d { ?d a type:ADR }", timeout=20).rows())) == 5


def _children(pid: int) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*/status"):
        try:
            if f"\nPPid:\t{pid}\n" in place.read_text():
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found
