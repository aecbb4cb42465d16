"""The examples of the README run, in the order in which they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 1


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_a_program_prints_what_its_comments_say(program: str, tmp_path: Path) -> None:
    expected = re.findall(r"print\(.*\)\s+# (.*)", program)
    assert expected, "an example of the README prints something, with the output as a comment"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout.splitlines(), done.stderr) == (expected, "")
