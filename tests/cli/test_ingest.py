"""``prism ingest`` and ``prism recall``: a history becomes answers, and a bad file never stops the rest."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
BODY = "# {number}: {title}\n\n**Status:** {status}\n\nWe chose the {title} because a lighthouse needs one.\n"


def _git(folder: Path, *args: str, date: str = "2025-10-01T00:00:00Z") -> None:
    names = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A"}
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "GIT_COMMITTER_EMAIL": "a@example.org"}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, env=os.environ | names | dates | quiet)


def _write(file: Path, **said: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(BODY.format(**said), encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A decision that is proposed, accepted, and renumbered, in three commits."""
    root = tmp_path / "service"
    decisions = root / "docs"
    _write(decisions / "ADR-001-lamp.md", number="ADR-001", title="lamp", status="Proposed")
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "Propose a lamp")
    _write(decisions / "ADR-001-lamp.md", number="ADR-001", title="lamp", status="Accepted")
    _git(root, "commit", "-qam", "Accept it", date="2025-11-01T00:00:00Z")
    _git(root, "mv", "docs/ADR-001-lamp.md", "docs/ADR-101-lamp.md")
    _write(decisions / "ADR-101-lamp.md", number="ADR-101", title="lamp", status="Accepted")
    _git(root, "commit", "-qam", "Renumber it", date="2026-01-01T00:00:00Z")
    return root


@pytest.fixture
def ingest(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run commands on a new home with the project demo."""
    monkeypatch.setenv("PRISM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PRISM_PID", "demo")
    return run


def test_a_history_is_read_once(ingest: Run, repository: Path) -> None:
    first = ingest("ingest", str(repository))
    assert first.status == 0, first.err
    assert "documents   1" in first.out
    assert "written     commit 1" in first.out
    again = ingest("ingest", str(repository))
    assert again.status == 0
    assert "written     nothing changed" in again.out
    assert json.loads(ingest("ingest", str(repository), "--json").out)["receipt"]["commit"] is None
    then = ingest("state", "ADR-101", "--as-of", "2025-10-15").out.splitlines()
    assert then[0] == "ADR-001  ADR  historical"
    assert any(line.split() == ["status", "Proposed"] for line in then)
    assert ingest("check").status == 0


def test_recall_tells_then_from_now(ingest: Run, repository: Path) -> None:
    ingest("ingest", str(repository))
    answer = json.loads(ingest("recall", "ADR-001 lighthouse", "--json").out)
    flags = {hit["source"].split("@")[0]: hit["state_flag"] for hit in reversed(answer["hits"])}
    assert flags["docs/ADR-101-lamp.md"] == "current"
    assert flags["docs/ADR-001-lamp.md"] == "historical"
    shown = ingest("recall", "ADR-001 lighthouse", "--explain").out
    assert " 1  " in shown
    assert "ADR-101: lamp" in shown
    assert "current ADR is ADR-101, this reflects ADR-001" in shown
    assert "lexical  ok" in shown
    assert ingest("recall", "ADR-001 lighthouse", "--limit", "1").out.count("→") == 1
    before = json.loads(ingest("recall", "lighthouse", "--as-of", "2025-09", "--json").out)
    assert before["hits"] == []
    assert "nothing found" in ingest("recall", "lighthouse", "--as-of", "2025-09").out


def test_bad_files_are_listed_and_the_rest_is_read(ingest: Run, tmp_path: Path) -> None:
    records = tmp_path / "records"
    _write(records / "ADR-001-good.md", number="ADR-001", title="lamp", status="Accepted")
    (records / "ADR-002-latin.md").write_bytes("# ADR-002: Übersicht\n".encode("latin-1"))
    (records / "ADR-003-yaml.md").write_text("---\nstatus: [open\n---\n# ADR-003: X\n", encoding="utf-8")
    ran = ingest("ingest", str(records))
    assert ran.status == 3
    assert "failed, and left out: 2" in ran.out
    for words in ("ADR-002-latin.md", "UTF-8", "ADR-003-yaml.md", "YAML", "Mend: "):
        assert words in ran.out
    assert [state["identifier"] for state in json.loads(ingest("entities", "--json").out)] == ["ADR-001"]
    report = json.loads(ingest("ingest", str(records), "--json").out)["report"]
    assert {failure["path"] for failure in report["failures"]} == {"ADR-002-latin.md", "ADR-003-yaml.md"}


def test_a_bad_version_names_its_commit(ingest: Run, repository: Path) -> None:
    (repository / "docs" / "ADR-101-lamp.md").write_bytes(b"# ADR-101: \xff\n")
    _git(repository, "commit", "-qam", "Break it", date="2026-02-01T00:00:00Z")
    ran = ingest("ingest", str(repository))
    assert ran.status == 3
    tip = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=repository, text=True)
    assert f"docs/ADR-101-lamp.md:1 in commit {tip[:12]}" in ran.out


@pytest.mark.parametrize("content", [{}, {"notes.txt": "no decision"}, {"README.md": "# Read me\n"}], ids=str)
def test_a_folder_without_records_makes_no_store(ingest: Run, tmp_path: Path, content: dict[str, str]) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, text in content.items():
        (folder / name).write_text(text, encoding="utf-8")
    ran = ingest("ingest", str(folder))
    assert (ran.status, ran.out) == (6, "")
    assert "holds no decision record" in ran.err
    assert not (tmp_path / "home").exists()


def test_a_branch_needs_a_repository_that_has_it(ingest: Run, repository: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    _write(plain / "ADR-001-good.md", number="ADR-001", title="lamp", status="Accepted")
    assert ingest("ingest", str(plain), "--ref", "main").status == 6
    absent = ingest("ingest", str(repository), "--ref", "nowhere")
    assert absent.status == 6
    assert "nowhere" in absent.err
    assert "main" in absent.err
    assert not (tmp_path / "home").exists()
    assert ingest("ingest", str(repository), "--ref", "main~2").status == 0
    assert ingest("state", "ADR-001").out.startswith("ADR-001  ADR  current")
