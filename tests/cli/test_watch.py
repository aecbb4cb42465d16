"""``prism watch`` as a process: what changes in a repository or a folder is ingested as it happens; it ends well."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pygit2
import pytest

from prism_rdf.cli import main
from prism_rdf.prism import Prism

pytestmark = pytest.mark.slow  # real processes that wait for real files

RECORD = "# ADR-{n}: {title}\n\n**Status:** {status}\n\nWe chose the {title}.\n"
PATIENCE = 45.0


class Watch:
    """A running ``prism watch --json``, whose lines are read as they come."""

    def __init__(self, home: Path, *args: str) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PRISM_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "prism_rdf.cli", "watch", *args, "--pid", "demo", "--home", str(home)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean | {"PRISM_OWNER": "never", "PRISM_EMBEDDER": "none"},
        )
        self.lines: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in iter(self.process.stdout.readline, ""):
            self.lines.append(line)

    def wait_for(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the first line not yet seen that fits."""
        until, at = time.monotonic() + PATIENCE, 0
        while time.monotonic() < until:
            while at < len(self.lines):
                said = json.loads(self.lines[at])
                at += 1
                if fits(said):
                    del self.lines[:at]
                    return said
            time.sleep(0.05)
        raise AssertionError(f"not said within {PATIENCE} s: {self.lines}, {self.process.poll()}")

    def stop(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Watch]]:
    begun: list[Watch] = []

    def go(*args: str) -> Watch:
        begun.append(Watch(tmp_path / "home", *args))
        return begun[-1]

    yield go
    for watch in begun:
        if watch.process.poll() is None:
            watch.process.kill()
        watch.process.communicate()


def _status(home: Path) -> list[str]:
    with Prism.open(home, create=False) as prism:
        return [state["props"]["status"] for state in prism.project("demo").list_entities()]


def _ingested(said: dict[str, Any]) -> bool:
    return said["outcome"] == "ingested"


def _record(file: Path, status: str = "Proposed", n: int = 1, title: str = "lamp") -> None:
    file.write_text(RECORD.format(n=n, title=title, status=status), encoding="utf-8")


def _commit(root: Path) -> None:
    git = pygit2.Repository(str(root))
    git.index.add_all()
    git.index.write()
    who = pygit2.Signature("A", "a@example.org")
    parents = [] if git.head_is_unborn else [git.head.target]
    git.create_commit("HEAD", who, who, "change", git.index.write_tree(), parents)


def test_a_commit_becomes_a_state_while_the_watch_goes_on(tmp_path: Path, start: Callable[..., Watch]) -> None:
    root = tmp_path / "repo"
    pygit2.init_repository(root, initial_head="main")
    watch = start(str(root), "--json")
    assert watch.wait_for(lambda said: said["outcome"] == "failed")["error"]["code"] == "not-found"  # no commit yet

    _record(root / "ADR-001-lamp.md")
    _commit(root)
    assert watch.wait_for(_ingested)["report"]["documents"] == 1
    assert _status(tmp_path / "home") == ["Proposed"]

    _record(root / "ADR-001-lamp.md", "Accepted")
    said = watch.wait_for(lambda said: said["outcome"] == "unchanged" and said["changed"])
    assert "1 changed files are not committed" in said["report"]["notes"][0]
    assert _status(tmp_path / "home") == ["Proposed"]

    (root / "ADR-002-broken.md").write_bytes(b"a\0b")
    _commit(root)
    said = watch.wait_for(_ingested)
    assert [failure["path"] for failure in said["report"]["failures"]] == ["ADR-002-broken.md"]
    assert _status(tmp_path / "home") == ["Accepted"]

    assert watch.stop(signal.SIGTERM) == 0
    watch.wait_for(lambda said: said["outcome"] == "stopped")


@pytest.mark.parametrize("how", ["as it happens", "polling"])
def test_files_of_a_folder_are_ingested_as_they_change(tmp_path: Path, start: Callable[..., Watch], how: str) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    _record(root / "ADR-001-lamp.md")
    watch = start(str(root), "--json", *(["--poll"] if how == "polling" else []))
    assert watch.wait_for(lambda said: said["outcome"] == "watching")["polling"] is (how == "polling")
    assert watch.wait_for(_ingested)["report"]["documents"] == 1

    temporary = root / ".ADR-001-lamp.md.swp"  # as editors save: written beside, then renamed
    _record(temporary, "Accepted")
    temporary.replace(root / "ADR-001-lamp.md")
    (root / "picture.png").write_bytes(b"no document")
    said = watch.wait_for(_ingested)
    assert [Path(path).name for path in said["changed"]] == ["ADR-001-lamp.md"]
    assert _status(tmp_path / "home") == ["Accepted"]

    for n in range(2, 32):  # a burst is one ingestion
        _record(root / f"ADR-{n:03}-lamp.md", n=n, title=f"lamp {n}")
    assert watch.wait_for(_ingested)["report"]["documents"] == 31

    (root / "ADR-002-lamp.md").unlink()
    said = watch.wait_for(lambda said: bool(said.get("changed")))
    assert (said["left_behind"], said["retired"]) == ([], ["ADR-002-lamp.md"])
    assert len(_status(tmp_path / "home")) == 30
    _record(root / "ADR-002-lamp.md", n=2, title="lamp 2")
    assert watch.wait_for(lambda said: bool(said.get("changed")))["reopened"] == ["ADR-002-lamp.md"]
    assert len(_status(tmp_path / "home")) == 31
    assert watch.stop(signal.SIGINT) == 0


def test_several_paths_are_watched_and_told_in_plain_lines(tmp_path: Path, start: Callable[..., Watch]) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for n, root in enumerate((one, other), start=1):
        root.mkdir()
        _record(root / f"ADR-{n}-lamp.md", n=n)
    watch = start(str(one), str(other))
    until = time.monotonic() + PATIENCE
    while sum("ingested: 1 documents" in line for line in watch.lines) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    assert watch.stop(signal.SIGINT) == 0
    assert watch.lines[0] == f"watching {one}, {other} (as it happens); Ctrl-C stops it\n"
    assert sum("ingested: 1 documents" in line for line in watch.lines) == 2
    assert watch.lines[-1] == "stopped\n"
    assert len(_status(tmp_path / "home")) == 2


def test_what_cannot_be_watched_is_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--pid", "demo", "--home", str(tmp_path / "home")]
    assert main(["watch", str(tmp_path / "nowhere"), *given]) == 6
    assert "there is no" in capsys.readouterr().err
    (tmp_path / "bad.toml").write_text("[[document]]\ntype = 'Plan'\n")
    assert main(["watch", str(tmp_path), "--mapping", str(tmp_path / "bad.toml"), *given]) == 2
    assert not (tmp_path / "home").exists()
