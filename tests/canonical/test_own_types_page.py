"""The page about a project's own types: its file is taken in, its commands do what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from prism_rdf.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "types.md").read_text("utf-8")
TURTLE = re.search(r"```turtle\n(.+?)```", PAGE, re.DOTALL)
BLOCKS = [
    re.findall(r"^\$ prism (.+)$", block, re.MULTILINE)
    for block in re.findall(r"```console\n(.+?)```", PAGE, re.DOTALL)
]


def test_the_example_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert TURTLE is not None
    assert [len(block) for block in BLOCKS] == [9, 4, 1]
    monkeypatch.setenv("PRISM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "")  # what the reasoner says has a test of its own
    for name in ("PRISM_PID", "PRISM_TENANT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "risks.ttl").write_text(TURTLE[1], encoding="utf-8")
    shown = {}
    for line in BLOCKS[0]:
        assert main(shlex.split(line)) == 0, line
        shown[line.split()[0]] = capsys.readouterr().out
    assert "names the entity" in shown["types"]
    assert "affects" in shown["state"]
    assert shown["sparql"].split() == ["name", "gateway"]
    for line in BLOCKS[1]:
        assert main(shlex.split(line)) == 5, line
    refused = capsys.readouterr().err
    for said in ("MITIGATES leads from", "Say low, high or critical", "never changes", "A risk has a severity"):
        assert said in refused
    assert main(shlex.split(BLOCKS[2][0])) == 0
