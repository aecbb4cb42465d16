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

from prism_rdf.cli import main
from prism_rdf.cli.app import app
from prism_rdf.cli.pages import SECTIONS

Run = Callable[..., Any]
PRISM: Any = get_command(app)  # making all commands anew takes a while
DOCS = Path(__file__).parents[2] / "docs"
COMMANDS = [
    *("ingest", "watch", "migrate", "entity", "fact", "transition", "correct", "retire", "reopen", "retract", "revert"),
    *(
        "start",
        *("claim", "evidence", "claims"),
        "alias",
        "unalias",
        "reference",
        "unreference",
        "remember",
        "wip",
        "seal",
        "discard",
        "drafts",
        "update",
        "load",
        "graphs",
    ),
    *("recall", "state", "history", "entities", "diff", "blame", "timeline", "explain", "log"),
    *(
        "references",
        "resolve",
        "impact",
        "merge",
        "unmerge",
        "query",
        "add-query",
        "remove-query",
        "sparql",
        "running",
        "stop-query",
        "check",
        "validate",
        "serve",
        "version",
    ),
    *("duplicates", "doctor", "backup", "restore", "export", "import", "rebuild", "reindex", "forget"),
]


ALL_COMMANDS = [*COMMANDS, "mcp", "model", "owner", "review", "token", "types"]  # these have commands of their own


def _commands_of(page: str) -> list[str]:
    return re.findall(r"^\$ (?:.* \| )?prism ([a-z].*)$", page, re.MULTILINE)


def _help(*path: str, width: int = 80) -> str:
    command, context = PRISM, PRISM.make_context("prism", ["--json"], resilient_parsing=True, terminal_width=width)
    for name in path:
        command = command.commands[name]
        options = {"resilient_parsing": True, "terminal_width": width}
        context = command.make_context(name, [], parent=context, **options)
    return str(command.get_help(context))


def test_these_are_the_commands() -> None:
    assert sorted(PRISM.commands) == sorted(ALL_COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_and_the_common_options(name: str) -> None:
    shown = _help(name, width=100)
    examples = [line for line in shown.splitlines() if line.startswith(("    prism ", "    curl "))]
    assert 2 <= len(examples) <= 3
    for option in ("--home", "--tenant", "--pid", "--json"):
        assert option in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_understood(name: str) -> None:
    """Each example is parsed by its command: no option in it is misspelt."""
    shown = _help(name, width=200)
    examples = [shlex.split(line.split("|")[0])[1:] for line in shown.splitlines() if line.startswith("    prism ")]
    assert examples
    for args in examples:
        PRISM.commands[args[0]].make_context(args[0], list(args[1:]), resilient_parsing=False)


def test_help_lists_the_exit_codes() -> None:
    shown = _help()
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
    PRISM.commands[name].make_context(name, args)


def test_the_pages_show_every_command() -> None:
    assert {line.split()[0] for line in SHOWN} == set(ALL_COMMANDS)


def test_every_command_stands_under_what_one_does_with_it() -> None:
    placed = [name for names in SECTIONS.values() for name in names]
    assert len(placed) == len(set(placed))
    assert set(ALL_COMMANDS) - {"mcp"} <= set(placed)
    shown = _help()
    assert "Others:" not in shown
    assert all(f"{title}:" in shown for title in SECTIONS)
    assert "..." not in shown.partition("Commands")[2], "what a command does is told whole"


def test_the_parser_names_no_python_types() -> None:
    for path in _paths(PRISM, ()):
        shown = _help(*path)
        assert re.findall(r" <(?:str|path|int|float|list\[|bool)", shown) == [], path
        assert max(map(len, shown.partition("Examples:")[0].splitlines())) <= 80, path


def _paths(command: Any, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [
        path,
        *(deeper for name, each in getattr(command, "commands", {}).items() for deeper in _paths(each, (*path, name))),
    ]


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    told, complaint = capsys.readouterr()
    assert told.startswith("Usage: prism")
    assert complaint == ""
