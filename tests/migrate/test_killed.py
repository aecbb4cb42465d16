"""A migration that is killed anywhere and begun again comes to what an undisturbed one comes to."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prism_rdf import Prism

pytestmark = pytest.mark.slow

RUN = """
import sys
from prism_rdf import Prism
with Prism.open(sys.argv[1], exclusive=True) as prism:
    prism.project("PID-PGR01").migrate(sys.argv[2], sys.argv[3])
"""
ROWS = 200
KILLS = 4


def test_killed_at_random_points(old: Any, tmp_path: Path, graph_of: Callable[[Prism], set[tuple[str, ...]]]) -> None:
    chance = random.Random(4)
    for n in range(30, 30 + ROWS):
        other = chance.randint(22, n - 1)
        said = chance.choice(("extends", "supersedes", "is based on", "mentions"))
        row = {**old.tables["adrs"][1], "id": f"a{n}", "no": n, "title": f"Decision {n}", "formalizes": None}
        body = f"# Decision {n}\n\nThis decision {said} ADR-{other}.\n\n## Context\n\nIt was long ago."
        old.tables["adrs"].append({**row, "body": body})
        old.tables["memories"].append({"id": f"m{n}", "content": f"Of ADR-{n}.", "created_at": "2026-02-01T00:00:00Z"})
    source = old.sqlite()

    def command(home: Path) -> list[str]:
        return [sys.executable, "-c", RUN, str(home), str(source), str(old.mapping)]

    begun = time.monotonic()
    subprocess.run(command(tmp_path / "whole"), check=True)
    took = time.monotonic() - begun
    killed = 0
    for _ in range(KILLS):
        process = subprocess.Popen(command(tmp_path / "killed"))
        try:
            process.wait(chance.uniform(0.15, 0.8) * took)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
    subprocess.run(command(tmp_path / "killed"), check=True)

    assert killed > 1
    with (
        Prism.open(tmp_path / "whole", exclusive=True) as whole,
        Prism.open(tmp_path / "killed", exclusive=True) as resumed,
    ):
        assert whole.project("PID-PGR01").list_candidates("reference")["total"] > ROWS / 2
        assert graph_of(resumed) == graph_of(whole)
        assert resumed.project("PID-PGR01").check() == []
    print(f"killed {killed} times; {took:.0f} s undisturbed")
