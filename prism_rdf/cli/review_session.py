"""Working through the queue in a terminal: one candidate at a time, one key for each decision; nothing is judged."""

from __future__ import annotations

import os
import sys
import termios
import tty
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from prism_rdf.cli.review_card import print_card
from prism_rdf.cli.terminal import print_line, value_text
from prism_rdf.errors import PrismError

if TYPE_CHECKING:
    from prism_rdf import Project

_KEYS = (("a", "accept"), ("r", "reject"), ("s", "skip"), ("e", "edit"), ("n", "note"), ("u", "undo"), ("q", "quit"))
_PAGE = 200
_EDITABLE = {
    "fact": ("entity", "property", "value"),
    "alias": ("entity", "surface_form", "alias_kind"),
    "reference": ("source", "reference_kind", "target"),
}
_TAKEN_OUT = "-"
_END = "\x04"  # Ctrl-D


class Session:
    """One reviewer and the candidates that are pending when the session begins."""

    def __init__(self, project: Project, reviewer: str, kind: str | None, entity: str | None) -> None:
        self._project = project
        self._reviewer = reviewer
        self._waiting = _pending(project, kind, entity)
        self._position = 0
        self._ruled: list[int] = []  # positions, in the order of their rulings
        self._counts: Counter[str] = Counter()
        self._edits: dict[str, Any] = {}
        self._note = ""

    def run(self) -> int:
        """Show one after the other until the last or until the reviewer quits; return the exit status."""
        if not self._waiting:
            print("no candidate is pending")
            return 0
        with _keys():
            self._work_through()
        self._print_summary()
        return 0

    def _work_through(self) -> None:
        while self._position < len(self._waiting):
            found = self._project.candidate(self._waiting[self._position])
            if found["status"] != "pending":  # ruled on elsewhere meanwhile
                self._position += 1
                continue
            print()
            print_card(found, f"{self._position + 1} of {len(self._waiting)}")
            if not self._decided(found):
                return

    def _decided(self, found: Mapping[str, Any]) -> bool:
        """Ask until the candidate is decided on; return False to quit."""
        while True:
            key = self._key()
            if key == "q":
                return False
            if key in ("a", "r"):
                if self._rule(found, "promote" if key == "a" else "reject"):
                    return True
            elif key == "s":
                self._counts["skipped"] += 1
                self._move_on()
                return True
            elif key == "e":
                self._edit(found)
            elif key == "n":
                self._note = _asked("note", self._note) or ""
            elif key == "u":
                if self._take_back():
                    return True
            else:
                print("press one of the keys in brackets")

    def _key(self) -> str:
        hints = " ".join(f"[{key}]{word.removeprefix(key)}" for key, word in _KEYS)
        termios.tcflush(sys.stdin, termios.TCIFLUSH)  # a key that was pressed before rules on what nobody has seen
        print(f"{hints} > ", end="", flush=True)
        key = os.read(sys.stdin.fileno(), 1).decode("utf-8", "replace").lower()
        if key in ("", _END):
            key = "q"
        print(dict(_KEYS).get(key, ""))
        return key

    def _rule(self, found: Mapping[str, Any], decision: Any) -> bool:
        """Rule on the candidate and move on; say why where it is refused, and stay."""
        edits = self._edits if decision == "promote" else None
        try:
            told = self._project.review(
                found["uuid"], decision, reviewer=self._reviewer, note=self._note, edits=edits or None
            )
        except PrismError as error:
            _print_refusal(error)
            return False
        self._counts[told["status"]] += 1
        print_line((f"{told['status']}, commit {told['commit']}", "dim"))
        self._ruled.append(self._position)
        self._move_on()
        return True

    def _move_on(self) -> None:
        self._position += 1
        self._edits, self._note = {}, ""

    def _take_back(self) -> bool:
        """Undo the last ruling of this session and go back to its candidate."""
        if not self._ruled:
            print("nothing was ruled on in this session yet")
            return False
        position = self._ruled[-1]
        before = self._project.candidate(self._waiting[position])["status"]
        try:
            self._project.review(self._waiting[position], "undo", reviewer=self._reviewer)
        except PrismError as error:
            _print_refusal(error)
            return False
        self._ruled.pop()
        self._counts[before] -= 1
        self._position, self._edits, self._note = position, {}, ""
        return True

    def _edit(self, found: Mapping[str, Any]) -> None:
        """Ask for each part of the proposal; the edits are applied when it is accepted."""
        print_line((f"enter keeps what stands in brackets, {_TAKEN_OUT} takes it out", "dim"))
        for name in (*_EDITABLE[found["kind"]], "valid_from", "valid_until"):
            shown = self._edits[name] if name in self._edits else found[name]
            said = _asked(name, value_text(shown) if shown is not None else "")
            if said is not None:
                several = name == "value" and isinstance(found[name], list)
                self._edits[name] = None if said == _TAKEN_OUT else _split(said) if several else said
        if self._edits:
            shown = {name: "nothing" if each is None else value_text(each) for name, each in self._edits.items()}
            said = ", ".join(f"{name} = {each}" for name, each in shown.items())
            print_line(("edited: ", "bold"), (said, ""))

    def _print_summary(self) -> None:
        counts = [f"{self._counts[word]} {word}" for word in ("promoted", "rejected", "skipped") if self._counts[word]]
        left = self._project.list_candidates(limit=1)["total"]
        print()
        print(", ".join([*counts, f"{left} pending"]))


def _pending(project: Project, kind: str | None, entity: str | None) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = project.list_candidates(kind, "pending", entity, limit=_PAGE, cursor=cursor)  # type: ignore[arg-type]
        found += [each["uuid"] for each in page["candidates"]]
        cursor = page["cursor"]
        if cursor is None:
            return found


@contextmanager
def _keys() -> Iterator[None]:
    """Let the terminal give each key as it is pressed, and not show it."""
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


@contextmanager
def _lines() -> Iterator[None]:
    """Let the terminal give whole lines, which can be corrected while they are typed."""
    now = termios.tcgetattr(sys.stdin)
    cooked = [*now]
    cooked[3] |= termios.ICANON | termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, cooked)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, now)


def _split(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _asked(name: str, shown: str) -> str | None:
    """Return what is typed for a name, None where nothing is."""
    with _lines():
        try:
            return input(f"  {name} [{shown}]: ").strip() or None
        except EOFError:
            print()
            return None


def _print_refusal(error: PrismError) -> None:
    print_line((error.message, "red"))
    if error.mend:
        print_line((error.mend, "dim"), indent=2)
