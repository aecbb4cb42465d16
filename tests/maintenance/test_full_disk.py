"""On a full disk a write is refused with a clear error, and what was acknowledged can be read, then and later."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pyoxigraph import Literal
from whole_stores import quads

from prism_rdf import Prism, Project
from prism_rdf.errors import RefusedError
from prism_rdf.namespaces import prism as term

WRITER = """
import os, resource, sys
from prism_rdf import Prism
from prism_rdf.errors import RefusedError
from prism_rdf.storage import changelog

home, what = sys.argv[1:]
if what == "store":
    changelog.nquads = lambda quads: ""  # the log stays so short that the store meets the limit first
with Prism.open(home, exclusive=True) as prism:
    for number in range(30):
        prism.project("demo").remember(f"{number} " + "x" * 2_000)
    log = prism.folder.log
with Prism.open(home, exclusive=True) as prism:  # whose own log is short again
    project = prism.project("demo")
    limit = log.stat().st_size + 30_000 if what == "change log" else 150_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    number = 29
    try:
        while True:
            project.remember(f"{number + 1} " + "x" * 2_000)
            number += 1
    except RefusedError as error:
        print(error.message)
    print(number + 1, prism.commit_number, project.check())
    try:
        project.remember("x" * 40_000)
    except RefusedError as error:
        print(error.mend)
    print(prism.commit_number)
"""


@pytest.mark.parametrize("what", ["change log", "store"])
def test_a_file_that_may_not_grow_is_a_full_disk(tmp_path, what):
    ran = subprocess.run(
        [sys.executable, "-c", WRITER, tmp_path / "home", what],
        capture_output=True,
        text=True,
        timeout=100,
        env=os.environ,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    message, state, *mend, last = ran.stdout.splitlines()
    assert f"the {what} cannot be written" in message
    written, number, findings = state.split(" ", 2)
    assert int(written) == int(number) > 30
    assert findings == "[]"
    if what == "store":  # opened anew it has a new file, which may grow
        assert (int(last), mend) == (int(number) + 1, [])
    else:
        assert int(last) == int(number)
        assert "free some disk space" in mend[0]

    with Prism.open(tmp_path / "home", exclusive=True) as prism:
        assert prism.commit_number == int(last)
        found = {q.object for q in quads(prism) if q.predicate == term("content")}
        assert found >= {Literal(f"{n} " + "x" * 2_000) for n in range(int(number))}
        assert len(found) == int(last)
        assert prism.project("demo").remember("there is room again").commit == int(last) + 1


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A file system of 12 MB, where this process may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this process may not mount a file system")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def fill_up(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)


def write_until_refused(project: Project) -> str:
    for number in range(10_000):
        try:
            project.remember(f"{number} " + "y" * 4_000)
        except RefusedError as error:
            return str(error)
    return "the disk is never full"


def test_a_full_disk_refuses_writes_and_maintenance_and_stays_readable(small_disk):
    ballast = small_disk / "ballast"
    with Prism.open(small_disk / "home", exclusive=True) as prism:
        project = prism.project("demo")
        project.entity("ADR", {"number": "ADR-1", "title": "Here to stay"}, valid_from="2025-01-01")
        fill_up(ballast)
        assert "No space left" in write_until_refused(project)
        last = prism.commit_number
        for act in (
            lambda: prism.backup(small_disk / "copy"),
            lambda: prism.export(small_disk / "all.trig"),
            lambda: project.forget("ADR-1"),
        ):
            with pytest.raises(RefusedError, match=r"(?i)no space left"):
                act()
        assert prism.commit_number == last
        assert project.state_as_of("ADR-1")["props"]["title"] == "Here to stay"
        assert project.check() == []
        assert sorted(path.name for path in small_disk.iterdir()) == ["ballast", "home"]
    ballast.unlink()
    with Prism.open(small_disk / "home", exclusive=True) as prism:
        assert prism.commit_number == last
        assert prism.project("demo").check() == []
        assert prism.project("demo").forget("ADR-1")["commit"] == last + 1
