"""A home whose store is asked through its owner, as users have it; no daemon outlives its test."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from prism_rdf.cli import main
from prism_rdf.prism import Prism

WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True)
class Ran:
    """What a command gave back."""

    status: int
    out: str
    err: str


class Home:
    """The folder of the stores, and what one sees there of the owner of the default tenant's."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = path / "default"

    def open(self, **options: Any) -> Prism:
        return Prism.open(self.path, **options)

    def note(self) -> dict[str, Any]:
        found = json.loads((self.store / "owner.json").read_text("utf-8"))
        assert isinstance(found, dict)
        return found

    def pid(self) -> int:
        """The process of the owner that the note names; 0 where there is no note."""
        try:
            return int(self.note()["pid"])
        except (OSError, ValueError):
            return 0

    def log(self) -> str:
        return (self.store / "owner.log").read_text("utf-8")

    def worker(self, *words: str | int) -> subprocess.Popen[str]:
        """Start a program that uses the store; see worker.py."""
        command = [sys.executable, str(WORKER), str(self.path), *map(str, words)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def workers(self, running: list[subprocess.Popen[str]], seconds: float = 120.0) -> list[Any]:
        """Wait for the programs and return what each printed; what went wrong in one is shown."""
        found = []
        for worker in running:
            out, err = worker.communicate(timeout=seconds)
            assert worker.returncode == 0, err
            found.append(json.loads(out))
        return found

    def is_alive(self, pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True

    def wait_until(self, condition: Callable[[], bool], seconds: float = 20.0) -> None:
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until, "it took too long"
            time.sleep(0.01)

    def cli(self, *args: str) -> Ran:
        """Run a command line in this process, for speed: it asks the owner as any other would."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            status = main([*args, "--home", str(self.path)])
        return Ran(status, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose store has one commit: the project Counter, in demo."""
    path = tmp_path_factory.mktemp("written")
    with Prism.open(path, exclusive=True) as prism:
        prism.project("demo").entity("Project", {"name": "Counter"}, valid_from="2025")
    return path


def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PRISM_HOME", "PRISM_TENANT", "PRISM_PID", "PRISM_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PRISM_OWNER", "start")
    monkeypatch.setenv("PRISM_OWNER_IDLE", "60")


def _end(home: Home) -> None:
    if (pid := home.pid()) and pid != os.getpid():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home that is not there yet."""
    _environment(monkeypatch)
    found = Home(tmp_path / "home")
    yield found
    _end(found)


@pytest.fixture
def home(empty: Home, written: Path) -> Home:
    """A copy of ``written``, and nobody who owns it."""
    shutil.copytree(written, empty.path)
    return empty


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Prism, Prism]]:
    """Two decisions with one alias, asked through an owner and in this process."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        _environment(monkeypatch)
        home = Home(tmp_path_factory.mktemp("both") / "home")
        with home.open() as remote, Prism.in_memory() as local:
            for prism in (remote, local):
                project = prism.project("demo")
                for number in ("ADR-1", "ADR-2"):
                    made = {"number": number, "title": "One", "status": "Accepted"}
                    project.entity("ADR", made, valid_from="2025")
                    project.alias("the decision", number, kind="synonym", valid_from="2025")
            yield remote, local
        _end(home)
