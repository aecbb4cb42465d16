"""A home with one small project, and ways to run the command: in this process, and as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

from prism_rdf.cli import main
from prism_rdf.cli.options import Common
from prism_rdf.prism import Prism


@dataclass(frozen=True)
class Ran:
    """What a command gave back."""

    status: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose only project, demo, has two decisions: one renumbered, and superseding the other."""
    path = tmp_path_factory.mktemp("home")
    with Prism.open(path) as prism:
        fill(prism, "demo")
    return path


def fill(prism: Prism, pid: str) -> None:
    project = prism.project(pid)
    first = {"number": "ADR-001", "title": "Use a graph", "status": "Proposed"}
    new = project.entity("ADR", first, valid_from="2025-10-01")["uuid"]
    project.transition(new, {"status": "Accepted"}, valid_from="2025-11-01")
    project.transition(
        new, {"number": "ADR-101", "title": "Use a graph\x1b[31m store"}, "rename", valid_from="2026-01-01"
    )
    second = {"number": "ADR-002", "title": "Use a table", "status": "Accepted"}
    old = project.entity("ADR", second, valid_from="2025-09-01")["uuid"]
    project.reference(new, old, "SUPERSEDES", valid_from="2025-11-01")


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command line in this process on the home, which options may change."""
    for name in ("PRISM_TENANT", "PRISM_PID", "PRISM_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PRISM_HOME", str(home))

    def go(*args: str) -> Ran:
        capsys.readouterr()
        status = main(args)
        out, err = capsys.readouterr()
        return Ran(status, out, err)

    return go


@pytest.fixture(scope="session")
def open_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prism]:
    """A store that is open all the while: opening it for each command is what takes the time."""
    with Prism.open(tmp_path_factory.mktemp("written"), exclusive=True) as prism:
        yield prism


@pytest.fixture
def project_of_its_own(run: Run, open_store: Prism, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run commands in a new, empty project of the open store."""
    monkeypatch.setattr(Common, "store", lambda self, **_: nullcontext(open_store))
    monkeypatch.setenv("PRISM_PID", f"p{len(open_store.projects())}")
    return run


@pytest.fixture
def prism_process(home: Path) -> Run:
    """Run the command as a process of its own, as a shell would."""

    def go(*args: str, env: Mapping[str, str] | None = None, stdin: str = "") -> Ran:
        command = [sys.executable, "-m", "prism_rdf.cli"]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PRISM_")}
        done = subprocess.run(
            [*command, *args],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            env=clean | {"PRISM_HOME": str(home), "PRISM_OWNER": "never"} | dict(env or {}),
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return go
