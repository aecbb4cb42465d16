"""How an owner comes, shows itself, gives way and goes; and what one is told who cannot have the store."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from prism_rdf.clock import Instant, ManualClock
from prism_rdf.errors import BadArgument, BusyError, NotFoundError, StoreVersionError
from prism_rdf.owner.place import Place
from prism_rdf.owner.reaching import knock
from prism_rdf.prism import Prism

# An owner of another release: the arguments are home, version, and what takes it so many seconds.
OTHER_RELEASE = """
import os, sys, time
from prism_rdf.owner import build, daemon
from prism_rdf.prism import Prism
home, version, seconds = sys.argv[1:]
build.describe = lambda: {"version": version, "package": "elsewhere", "code": 0}
slow = lambda prism: time.sleep(float(seconds)) or ["waited"]
Prism.projects = slow
sys.exit(daemon.run(home, "default", os.open(os.devnull, os.O_WRONLY)))
"""


def other_release(home: Any, version: str, seconds: float = 0) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", OTHER_RELEASE, str(home.path), version, str(seconds)])
    home.wait_until(lambda: home.pid() == process.pid and home.note()["socket"])
    return process


def test_starters_race_and_one_owner_comes_of_it(home: Any) -> None:
    running = [home.worker("look") for _ in range(8)]
    assert home.workers(running) == [1] * 8
    assert home.log().count("owns the store") == 1


def test_only_its_user_may_use_the_socket_and_the_note_says_who_it_is(home: Any) -> None:
    with home.open():
        note = home.note()
        mode = os.stat(note["socket"]).st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
        assert (note["door"], note["socket"]) == ("daemon", str(home.store / "owner.sock"))
        assert {"pid", "version", "started_at"} <= set(note)


def test_an_idle_owner_goes_and_comes_again(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRISM_OWNER_IDLE", "0.3")
    with home.open() as prism:
        first = home.pid()
        home.wait_until(lambda: not home.is_alive(first))
        left = {path.name for path in home.store.iterdir()}
        assert not left & {"owner.sock", "owner.json"}
        assert "nobody asked" in home.log()
        assert prism.projects() == ["demo"]
        assert home.pid() not in (0, first)


def test_a_dead_owner_is_replaced_without_a_word(home: Any) -> None:
    with home.open() as prism:
        first = home.pid()
        os.kill(first, signal.SIGKILL)
        assert prism.project("demo").fact("Counter", "description", "B").commit == 2
        second = home.pid()
        assert second != first
        note = home.note()
        os.kill(second, signal.SIGKILL)
        misleading = note | {"pid": os.getpid(), "door": "exclusive"}  # of a process that is another one now
        (home.store / "owner.json").write_text(json.dumps(misleading), "utf-8")
        assert prism.projects() == ["demo"]
        third = home.pid()
        os.kill(third, signal.SIGTERM)
        home.wait_until(lambda: not home.is_alive(third))
        assert "signal 15" in home.log()
        assert prism.commit_number == 2


def test_an_owner_that_cannot_be_reached_any_more_goes(home: Any) -> None:
    with home.open() as prism:
        first = home.pid()
        (home.store / "owner.sock").unlink()
        assert prism.projects() == ["demo"], "who is connected stays so"
        with home.open() as second:
            assert second.projects() == ["demo"]
        assert home.pid() not in (0, first)


def test_a_path_too_long_for_a_socket(home: Any) -> None:
    deep = home.path.parent / ("deep" * 20) / ("deeper" * 10)
    deep.parent.mkdir()
    home.path.rename(deep)
    home.path, home.store = deep, deep / "default"
    with home.open():
        socket = Path(home.note()["socket"])
        assert len(os.fsencode(socket)) < 104
        assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    assert home.cli("owner", "stop").out == "stopped\n"
    assert not socket.parent.exists()
    with home.open() as prism:
        assert prism.projects() == ["demo"]


def test_an_owner_of_an_older_release_finishes_and_gives_way(home: Any) -> None:
    with other_release(home, "0.0.1", seconds=1.0) as old:
        answers: list[Any] = []
        waiting = threading.Thread(target=lambda: answers.append(home.cli("owner", "status", "--json").out))
        waiting.start()
        waiting.join()
        assert json.loads(answers[0])["owner"]["version"] == "0.0.1"
        slow = threading.Thread(target=lambda: answers.append(_ask_the_old_one(home)))
        slow.start()
        time.sleep(0.3)
        with home.open() as prism:
            assert prism.projects() == ["demo"]
            assert home.pid() not in (0, old.pid)
        slow.join()
        assert answers[1] == {"result": ["waited"]}
        assert old.wait(timeout=20) == 0


def _ask_the_old_one(home: Any) -> Any:
    link = knock(Place.of(home.store))
    assert link is not None
    link.channel.send({"verb": "projects", "pid": None, "options": {}})
    try:
        return link.channel.receive()
    finally:
        link.channel.close()


def test_an_owner_of_a_newer_release_stays(home: Any) -> None:
    with other_release(home, "99.0") as newer:
        with pytest.raises(StoreVersionError) as caught:
            home.open()
        assert "upgrade" in caught.value.mend
        ran = home.cli("entities", "--json")
        assert (ran.status, json.loads(ran.err)["error"]["code"]) == (5, "store-version")
        assert newer.poll() is None
        newer.terminate()


def test_an_exclusive_program_tells_others_who_it_is(home: Any) -> None:
    with home.open(exclusive=True):
        ran = home.cli("entities")
        assert ran.status == 7
        assert all(word in ran.err for word in (f"process {os.getpid()}", "exclusive program", "since", "mend"))
        for options in ({}, {"exclusive": True}):
            with pytest.raises(BusyError, match=f"process {os.getpid()}"):
                home.open(**options)
        status = json.loads(home.cli("owner", "status", "--json").out)["owner"]
        assert (status["pid"], status["door"]) == (os.getpid(), "exclusive")
        assert home.cli("owner", "stop").status == 7
    assert "Counter" in home.cli("entities").out


def test_a_daemon_gives_way_to_an_exclusive_program(home: Any) -> None:
    with home.open() as prism:
        daemon = home.pid()
        with home.open(exclusive=True) as alone:
            assert alone.projects() == ["demo"]
            assert home.pid() == os.getpid()
            home.wait_until(lambda: not home.is_alive(daemon))
            with pytest.raises(BusyError, match="exclusive program"):
                prism.projects()
        assert prism.projects() == ["demo"]


def test_an_exclusive_program_that_died_holds_nothing(home: Any) -> None:
    script = "import sys, os; from prism_rdf import Prism; Prism.open(sys.argv[1], exclusive=True); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", script, str(home.path)], check=False).returncode == 9
    assert home.note()["door"] == "exclusive"
    with home.open() as prism:
        assert prism.projects() == ["demo"]


def test_a_clock_needs_a_store_of_ones_own(home: Any) -> None:
    clock = ManualClock(Instant.parse("2100-01-01T00:00:00Z"))
    with pytest.raises(BadArgument, match="clock"):
        home.open(clock=clock)
    with home.open(exclusive=True, clock=clock) as prism:
        made = prism.project("demo").entity("Project", {"name": "B"})
        assert made["recorded_at"].startswith("2100-01-01T00:00:00")


def test_what_keeps_an_owner_from_starting_is_told(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRISM_OWNER_IDLE", "soon")
    with pytest.raises(BadArgument, match="PRISM_OWNER_IDLE"):
        home.open()
    monkeypatch.setenv("PRISM_OWNER_IDLE", "60")
    monkeypatch.setenv("PYTHONPATH", str(home.path / "broken"))
    broken = home.path / "broken" / "pyoxigraph"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('no such engine')", "utf-8")
    with pytest.raises(BusyError, match="no such engine"):
        home.open()
    monkeypatch.delenv("PYTHONPATH")
    with home.open() as prism:
        assert prism.commit_number == 1


def test_reading_a_store_that_is_not_there_starts_nothing(empty: Any) -> None:
    empty.path.mkdir()
    with pytest.raises(NotFoundError):
        empty.open(create=False)
    assert empty.cli("owner", "status").status == 6
    assert list(empty.path.iterdir()) == []


def test_never_means_that_no_daemon_is_started(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRISM_OWNER", "never")
    with home.open() as prism:
        assert type(prism) is Prism
        assert home.pid() == os.getpid()
    monkeypatch.setenv("PRISM_OWNER", "start")
    with home.open():
        daemon = home.pid()
    monkeypatch.setenv("PRISM_OWNER", "never")
    with home.open() as prism:
        assert prism.projects() == ["demo"]
        assert home.pid() == daemon
    monkeypatch.setenv("PRISM_OWNER", "sometimes")
    with pytest.raises(BadArgument, match="PRISM_OWNER"):
        home.open()


def test_a_store_that_was_moved_away_leaves_its_place_to_another(home: Any) -> None:
    with home.open():
        first = home.pid()
        home.store.rename(home.path.parent / "elsewhere")
        with home.open() as fresh:
            assert fresh.projects() == []
            second = home.pid()
            assert second != first
            os.kill(first, signal.SIGTERM)
            home.wait_until(lambda: not home.is_alive(first))
            assert home.pid() == second, "what the first one cleans up is its own"
            assert fresh.projects() == []
