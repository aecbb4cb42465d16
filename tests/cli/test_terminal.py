"""What differs on a terminal: colour, width, boxes; NO_COLOR and pipes have none of them."""

from __future__ import annotations

import os
import pty
import re
import sys
from pathlib import Path

import pytest

from prism_rdf.cli import terminal

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def on_a_terminal(home: Path, *args: str, columns: int = 80, **env: str) -> str:
    """Run the command on a pseudo terminal and return all that it wrote there."""
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLORTERM")}
    clean |= {"PRISM_HOME": str(home), "TERM": "xterm-256color", "COLUMNS": str(columns), **env}
    child, channel = pty.fork()
    if child == 0:
        os.execve(sys.executable, [sys.executable, "-m", "prism_rdf.cli", *args], clean)
    written = b""
    try:
        while chunk := os.read(channel, 4096):
            written += chunk
    except OSError:  # the end of a pseudo terminal on Linux
        pass
    os.close(channel)
    os.waitpid(child, 0)
    return written.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [60, 120])
def test_tables_fit_the_width(home: Path, columns: int) -> None:
    shown = on_a_terminal(home, "sparql", "SELECT ?s ?p ?o { ?s ?p ?o } ORDER BY ?s ?p", columns=columns)
    lines = _ANSI.sub("", shown).splitlines()
    assert max(map(len, lines)) <= columns
    assert any("─" in line for line in lines)
    assert "rows, as of now, commit" in lines[-1]


def test_flags_are_coloured_unless_told_otherwise(home: Path) -> None:
    coloured = on_a_terminal(home, "history", "ADR-101")
    assert "\x1b[" in coloured
    assert " current " in _ANSI.sub("", coloured)
    plain = on_a_terminal(home, "history", "ADR-101", NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*[34][0-7]", plain)


def test_errors_are_folded_not_cut(home: Path) -> None:
    shown = _ANSI.sub("", on_a_terminal(home, "state", "nobody", columns=50))
    assert max(map(len, shown.splitlines())) <= 50
    assert "prism recall finds it by words" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain ⟨ü⟩", "plain ⟨ü⟩"),
        ("a\x1b[31mred\x1b[0m", "a?red?"),
        ("bell\x07 back\x08", "bell? back?"),
        ("\x9b31m", "?31m"),
        ("right\u202eleft", "right?left"),
        ("tab\tline\n", "tab\tline\n"),
    ],
)
def test_nothing_steers_the_terminal(text: str, cleaned: str) -> None:
    assert terminal.clean(text) == cleaned


def test_values_of_every_shape_have_a_text() -> None:
    assert terminal.value_text(["a", 1, True]) == "a, 1, true"
    assert terminal.value_text({"ref": "urn:e", "identifier": "ADR-1"}) == "ADR-1"
    assert terminal.value_text({"ref": "urn:e", "identifier": None}) == "urn:e"
    assert terminal.interval(None, None) == "unknown → open"
