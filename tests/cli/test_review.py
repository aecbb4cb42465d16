"""Review on the command line: by ids in a pipe, and key by key on a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from prism_rdf import Prism
from prism_rdf.cli.app import app

Run = Callable[..., Any]
PROMPT = "[q]uit > "
COMMANDS = ("list", "show", "accept", "reject", "undo")


@pytest.fixture
def go(project_of_its_own: Run, open_store: Prism) -> Run:
    """Commands in a project with two decisions, a project, and a guess of each kind."""
    project = open_store.project(os.environ["PRISM_PID"])
    project.entity("ADR", {"number": "ADR-7", "title": "Use a graph", "status": "Proposed"}, valid_from="2025-10-01")
    project.entity("ADR", {"number": "ADR-3", "title": "Use a table"}, valid_from="2025-01-01")
    project.entity("Project", {"name": "Prism"}, valid_from="2025-01-01")
    clue: dict[str, Any] = {"extractor": "verbs/2", "confidence": 0.8, "offsets": (10, 28), "source": "minutes.md"}
    clue |= {"quote": "ADR-7 was accepted", "valid_from": "2025-11-01"}
    project.fact("ADR-7", "status", "Accepted", tier=3, **clue)
    project.alias("PrismGR", "Prism", tier=3, quote="Prism (formerly prismgr)")
    project.reference("ADR-7", "ADR-3", "SUPERSEDES", tier=3, confidence=0.5)
    return project_of_its_own


def ids(go: Run, *options: str) -> list[str]:
    return [each["uuid"] for each in json.loads(go("review", "list", "--json", *options).out)["candidates"]]


def test_a_guess_says_that_it_awaits_review(go: Run) -> None:
    done = go("fact", "ADR-7", "status=Rejected", "--tier", "3")
    assert re.search(r"ADR-7: status = Rejected  from now, candidate [0-9a-f]{8}, commit \d+", done.out)
    assert "nothing of it is believed until it is promoted" in done.err
    clue = ("--quote", "P is Prism", "--extractor", "verbs/2", "--confidence", "0.8", "--offsets", "10", "20")
    told = json.loads(go("alias", "P", "Prism", "--tier", "3", *clue, "--json").out)
    shown = json.loads(go("review", "show", told["candidates"][0], "--json").out)["clues"][0]
    assert [shown[name] for name in ("quote", "extractor", "confidence", "start_offset", "end_offset")] == [
        *("P is Prism", "verbs/2", 0.8, 10, 20)
    ]
    assert go("resolve", "PrismGR").status == 6
    refused = go("alias", "P", "Prism", "--quote", "x")
    assert (refused.status, "belong to a guess" in refused.err) == (2, True)


def test_the_list_is_short_and_names_each(go: Run) -> None:
    lines = go("review", "list").out.splitlines()
    fact, alias, reference = ids(go)
    assert lines[0].split() == ["candidate", "kind", "conf", "guessed", "proposal"]
    assert [line.split()[0] for line in lines[1:]] == [fact[:8], alias[:8], reference[:8]]
    assert lines[1].endswith("ADR-7: status = Accepted from 2025-11-01")
    assert max(map(len, lines)) <= 80
    assert ids(go, "--kind", "alias") == [alias]
    assert ids(go, "--entity", "ADR-3") == [reference]
    page = go("review", "list", "--limit", "2")
    assert page.err.strip() == f"2 of 3; more: --cursor {alias}"
    assert ids(go, "--cursor", alias) == [reference]
    assert go("review", "list", "--status", "rejected").out == "no candidate is rejected\n"


def test_a_candidate_is_shown_whole(go: Run) -> None:
    shown = go("review", "show", ids(go)[0][:8]).out
    for text in (
        "pending  confidence 0.80",
        "ADR-7: status = Accepted",
        "2025-11-01T00:00:00Z → open",
        "status = Proposed, 2025-10-01T00:00:00Z → open",
        "“ADR-7 was accepted”",
        "minutes.md at 10-28, verbs/2, 0.80",
    ):
        assert text in shown
    assert "\x1b" not in shown
    assert json.loads(go("review", "show", ids(go)[0], "--json").out)["misfit"] is None
    assert go("review", "show", "ffffffff").status == 6


def test_accept_reject_and_undo(go: Run) -> None:
    fact, alias, reference = ids(go)
    done = go("review", "accept", fact[:8], "--as", "ada", "--note", "I was there")
    assert re.fullmatch(rf"{fact[:8]}  ADR-7: status = Accepted  promoted, commit \d+\n", done.out)
    blame = go("blame", "ADR-7", "status").out
    assert "promoted by ada: “ADR-7 was accepted”" in blame
    assert "I was there" in go("review", "show", fact).out
    both = go("review", "reject", alias[:8], reference[:8], "--as", "ada")
    assert (both.status, len(both.out.splitlines())) == (0, 2)
    assert ids(go) == []
    told = json.loads(go("review", "undo", alias, "--as", "ada", "--json").out)
    assert (told["status"], told["proposal"]) == ("pending", "Prism: formerly called PrismGR")
    assert ids(go) == [alias]


def test_edits_are_applied(go: Run) -> None:
    fact, alias, _ = ids(go)
    edits = ("--edit", "value=Rejected", "--edit", "valid_until=2025-12")
    assert go("review", "accept", fact, *edits, "--as", "ada").status == 0
    assert "Rejected" in go("state", "ADR-7", "--as-of", "2025-11-15").out
    assert "Proposed" in go("state", "ADR-7", "--as-of", "2026-01-15").out
    assert go("review", "accept", fact, alias, "--edit", "value=x").status == 2
    wrong = go("review", "accept", alias, "--edit", "colour=blue")
    assert (wrong.status, "nothing of a alias candidate" in wrong.err or "nothing of an alias" in wrong.err) == (
        2,
        True,
    )


def test_one_that_is_refused_does_not_stop_the_others(go: Run) -> None:
    fact, alias, reference = ids(go)
    go("alias", "prismgr", "ADR-3")
    done = go("review", "accept", alias, reference, "ffffffff", "--as", "ada")
    assert (done.status, len(done.out.splitlines())) == (3, 1)
    assert re.search(f"^error: {alias}: it does not fit: .*is a name of ADR-3", done.err, re.MULTILINE)
    assert "there is no candidate ffffffff" in done.err
    assert ids(go) == [fact, alias]
    assert go("review", "accept", alias).status == 5
    assert go("review", "accept", alias, "ffffffff").status == 5


def test_without_a_terminal_it_says_what_to_do(go: Run) -> None:
    done = go("review")
    assert (done.status, done.out) == (2, "")
    assert "prism review list" in done.err
    assert go("review", "--kind", "alias", "--json").status == 2


def test_options_may_stand_before_the_command(go: Run) -> None:
    assert len(json.loads(go("review", "--json", "list").out)["candidates"]) == 3


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_that_are_understood(name: str) -> None:
    shown = CliRunner().invoke(app, ["review", name, "--help"], prog_name="prism", terminal_width=200)
    examples = [line.split("|")[0].split()[1:] for line in shown.output.splitlines() if line.startswith("    prism ")]
    assert shown.exit_code == 0
    assert 2 <= len(examples) <= 3
    group = get_command(app).commands["review"]  # type: ignore[attr-defined]
    assert sorted(group.commands) == sorted(COMMANDS)
    for example in examples:
        assert example[:2] == ["review", name]


class Terminal:
    """A command on a terminal of a width, with what it wrote so far."""

    def __init__(self, args: Sequence[str], columns: int, env: Mapping[str, str]) -> None:
        self._mine, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PRISM_", "COLUMNS"))}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "prism_rdf.cli", *args],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=clean | {"TERM": "xterm-256color", "PRISM_OWNER": "never"} | dict(env),
        )
        os.close(theirs)
        self.written = ""
        self._read_to = 0

    def wait_for(self, text: str, seconds: float = 60.0) -> None:
        """Read until the text was written after all that was read before."""
        until = time.monotonic() + seconds
        while text not in self.written[self._read_to :]:
            assert time.monotonic() < until, f"no {text!r} after {self.written[-500:]!r}"
            self._read()
        self._read_to = self.written.index(text, self._read_to) + len(text)

    def _read(self) -> bool:
        if not select.select([self._mine], [], [], 0.2)[0]:
            return True
        try:
            data = os.read(self._mine, 65_536)
        except OSError:
            return False
        self.written += data.decode()
        return bool(data)

    def press(self, key: str, answer: str) -> None:
        """Press a key at the prompt, and read on until the answer comes."""
        self.wait_for(PROMPT)
        os.write(self._mine, key.encode())
        self.wait_for(answer)

    def type(self, line: str) -> None:
        os.write(self._mine, f"{line}\n".encode())

    def end(self) -> int:
        while self._read() and self.process.poll() is None:
            pass
        while self._read() and select.select([self._mine], [], [], 0)[0]:
            pass
        os.close(self._mine)
        return self.process.wait(30)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with three guesses, the second of which does not fit."""
    with Prism.open(tmp_path, exclusive=True) as prism:
        project = prism.project("demo")
        project.entity("ADR", {"number": "ADR-7", "status": "Proposed"}, valid_from="2025-10-01")
        project.entity("Project", {"name": "Prism"}, valid_from="2025-01-01")
        quote = (
            "After a long discussion of joins and of their cost at ten times the size, ADR-7 was accepted by all five"
        )
        project.fact("ADR-7", "status", "Accepted", tier=3, quote=quote, source="minutes.md", valid_from="2025-11-01")
        project.alias("ADR-7", "Prism", tier=3, quote="see ADR-7")
        project.alias("PrismGR", "Prism", tier=3, quote="Prism (formerly prismgr)", confidence=0.8)
    return tmp_path


@pytest.mark.slow
def test_the_queue_is_worked_through_key_by_key(home: Path) -> None:
    terminal = Terminal(["review", "--as", "ada"], 80, {"PRISM_HOME": str(home)})
    terminal.wait_for("1 of 3")
    terminal.wait_for("\x1b[1;4mADR-7\x1b[0m was")  # the words are marked
    terminal.press("e", "entity [ADR-7]")
    for asked, line in (("", ""), ("property", ""), ("value", "Rejected"), ("valid_from", ""), ("valid_until", "")):
        terminal.wait_for(asked)
        terminal.type(line)
    terminal.wait_for("edited: ")
    terminal.press("a", "2 of 3")
    terminal.press("a", "it does not fit: 'ADR-7' is a name of ADR-7")
    terminal.press("r", "3 of 3")
    terminal.press("u", "2 of 3")
    terminal.press("s", "3 of 3")
    terminal.press("a", "2 promoted, 1 skipped, 1 pending")
    assert terminal.end() == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.written)
    assert not [line for line in plain.splitlines() if len(line.rstrip()) > 80]
    with Prism.open(home, exclusive=True) as prism:
        project = prism.project("demo")
        assert project.state_as_of("ADR-7")["props"]["status"] == "Rejected"
        assert project.resolve_alias("prismgr")["identifier"] == "Prism"
        [left] = project.list_candidates()["candidates"]
        assert [ruling["status"] for ruling in left["rulings"]] == ["rejected", "pending"]
        assert project.blame("ADR-7", "status")["events"][0]["review"]["reviewer"] == "ada"


@pytest.mark.slow
def test_colour_can_be_turned_off_and_one_can_leave(home: Path) -> None:
    terminal = Terminal(["review", "--kind", "alias"], 120, {"PRISM_HOME": str(home), "NO_COLOR": "1"})
    terminal.press("x", "press one of the keys")
    terminal.press("q", "3 pending")
    assert terminal.end() == 0
    assert not re.search(r"\x1b\[[0-9;]*(3[0-7]|4[0-7])m", terminal.written)
