"""Help answers at once, shows examples that run as they stand, and lists the exit codes."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from prism_rdf.cli.app import app

Run = Callable[..., Any]
DOCS = Path(__file__).parents[2] / "docs"
COMMANDS = [
    *("ingest", "watch", "migrate", "entity", "fact", "transition", "correct", "retire", "reopen", "retract", "revert"),
    *("start", "alias", "reference", "remember", "wip", "seal", "discard", "drafts"),
    *("recall", "state", "history", "entities", "diff", "blame", "timeline", "explain", "log"),
    *(
        "references",
        "resolve",
        "impact",
        "merge",
        "unmerge",
        "sparql",
        "check",
        "validate",
        "serve",
        "version",
    ),
    *("duplicates", "backup", "restore", "export", "import", "rebuild", "reindex", "forget"),
]


ALL_COMMANDS = [*COMMANDS, "mcp", "model", "owner", "review", "token", "types"]  # these have commands of their own


def _commands_of(page: str) -> list[str]:
    return re.findall(r"^\$ (?:.* \| )?prism ([a-z].*)$", page, re.MULTILINE)


def test_these_are_the_commands() -> None:
    assert sorted(get_command(app).commands) == sorted(ALL_COMMANDS)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_and_the_common_options(name: str) -> None:
    shown = CliRunner().invoke(app, [name, "--help"], prog_name="prism", terminal_width=100)
    assert shown.exit_code == 0
    examples = [line for line in shown.output.splitlines() if line.startswith(("    prism ", "    curl "))]
    assert 2 <= len(examples) <= 3
    for option in ("--home", "--tenant", "--pid", "--json"):
        assert option in shown.output


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_understood(name: str) -> None:
    """Each example is parsed by its command: no option in it is misspelt."""
    commands = get_command(app)
    shown = CliRunner().invoke(app, [name, "--help"], terminal_width=200).output
    examples = [shlex.split(line.split("|")[0])[1:] for line in shown.splitlines() if line.startswith("    prism ")]
    assert examples
    for args in examples:
        commands.commands[args[0]].make_context(args[0], list(args[1:]), resilient_parsing=False)  # type: ignore[attr-defined]


def test_help_lists_the_exit_codes() -> None:
    shown = CliRunner().invoke(app, ["--help"]).output
    for code, word in (
        (2, "usage"),
        (3, "partial"),
        (4, "ambiguous"),
        (5, "refused"),
        (6, "not found"),
        (7, "busy"),
        (8, "findings"),
    ):
        assert f"{code} {word}" in shown


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from prism_rdf.cli import main; main(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "prism_rdf.cli.app" in loaded
    for heavy in ("rdflib", "pyshacl", "whoosh", "flask", "uvicorn", "owlready2", "pygit2", "rich", "prism_rdf.prism"):
        assert heavy not in loaded


SHOWN = [line for page in ("cli.md", "http.md") for line in _commands_of((DOCS / page).read_text("utf-8"))]


@pytest.mark.parametrize("line", SHOWN)
def test_commands_shown_on_the_pages_are_understood(line: str) -> None:
    name, *args = shlex.split(line)
    get_command(app).commands[name].make_context(name, args)  # type: ignore[attr-defined]


def test_the_pages_show_every_command() -> None:
    assert {line.split()[0] for line in SHOWN} == set(ALL_COMMANDS)
