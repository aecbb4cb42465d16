"""``prism migrate`` on the command line: a dry run, a run with a bad row, a second run, the end of what is older."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
MAPPING = """
source = "prismgr"
[[artifacts]]
table = "adrs"
type = "ADR"
[artifacts.columns]
number = { column = "no", form = "ADR-{}" }
[[memories]]
table = "memories"
[memories.columns]
mentions = "concepts"
"""


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    (tmp_path / "adrs.csv").write_text(
        "id,no,title,status,body,created_at,updated_at\n"
        "1,1,Use a lamp,Accepted,See ADR-2.,2025-10-01T00:00:00Z,\n"
        "2,2,Use a horn,Accepted,,2025-09-01T00:00:00Z,\n"
        "3,3,No date,Accepted,,,\n"
    )
    (tmp_path / "memories.csv").write_text(
        'id,content,created_at,concepts\nm,The horn is loud.,2025-09-02,"horn, sea"\n'
    )
    (tmp_path / "mapping.toml").write_text(MAPPING)
    return tmp_path


def test_a_migration_from_the_dry_run_to_the_end(project_of_its_own: Run, exported: Path) -> None:
    run, given = project_of_its_own, (str(exported), "--mapping", str(exported / "mapping.toml"))
    dry = run("migrate", *given, "--dry-run")
    assert dry.status == 3
    assert "ADR: 2 rows" in dry.out
    assert "ADR-1   2025-10-01T00:00:00Z           Use a lamp" in dry.out
    assert "nothing: this was a dry run" in dry.out

    first = run("migrate", *given)
    assert first.status == 3
    assert "adrs, row 3 (3), column created_at: is empty" in first.out
    assert "legacy memories  1" in first.out
    assert "written          commits" in first.out
    assert "ADR-1" in run("references", "ADR-2").out

    again = json.loads(run("migrate", *given, "--json").out)
    assert (again["commits"], again["report"]["rows"], len(again["report"]["bad_rows"])) == ([], 4, 1)

    would = run("migrate", "--drop-legacy", "--dry-run")
    assert would.status == 0
    assert "would go" in would.out
    assert "2 of 2 concepts" in would.out
    assert run("migrate", "--drop-legacy").out.startswith("gone")
    assert run("migrate", "--drop-legacy").out == "there are no older memories\n"
    assert "are not brought back" in run("migrate", *given).out


def test_findings_of_the_check_keep_what_is_older(
    project_of_its_own: Run, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prism_rdf.project import Project

    run = project_of_its_own
    run("migrate", str(exported), "--mapping", str(exported / "mapping.toml"))
    finding = {"check": "stale-current", "entity": "urn:x", "detail": "differs"}
    monkeypatch.setattr(Project, "check", lambda self: [finding])
    assert run("migrate", "--drop-legacy", "--dry-run").status == 8
    refused = run("migrate", "--drop-legacy")
    assert refused.status == 5
    assert "stale-current: urn:x differs" in refused.err


def test_a_call_that_cannot_be_meant_is_told(run: Run, exported: Path, tmp_path: Path) -> None:
    home = ("--home", str(tmp_path / "none"), "--pid", "new")
    assert run("migrate", *home).status == 2
    assert run("migrate", str(exported), "--drop-legacy", *home).status == 2
    assert run("migrate", str(exported), "--mapping", str(exported / "nowhere.toml"), *home).status == 6
    rows = (exported / "adrs.csv").read_text()
    (exported / "adrs.csv").write_text(rows.replace("2025-09-01T00:00:00Z", "2025-09-01 00:00"))
    naive = run("migrate", str(exported), "--mapping", str(exported / "mapping.toml"), *home)
    assert naive.status == 2
    assert "adrs, row 2, column created_at: time '2025-09-01 00:00' has no zone" in naive.err
    assert not (tmp_path / "none").exists()
