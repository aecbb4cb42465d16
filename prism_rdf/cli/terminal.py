"""How answers look on stdout: tables, badges, JSON; what is in them is decided by the commands.

On a terminal tables are drawn by rich in the width there is. Elsewhere they are plain columns two spaces apart, never
cut and never coloured, so that a pipe gets every character; programs read ``--json``.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BADGES = {
    "current": "black on green",
    "historical": "black on yellow",
    "wip": "black on cyan",
}


def clean(text: object) -> str:
    """Return the text without control characters: a document must not steer the reader's terminal.

    >>> clean("red \\x1b[31m alert")
    'red ? alert'
    """
    return _CONTROL.sub("?", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "?", str(text)))


def on_terminal() -> bool:
    return sys.stdout.isatty()


def drop_stdout() -> None:
    """Point stdout nowhere: its reader went away, and the interpreter's flush at exit must not complain of that."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def console() -> Console:
    """Return a console for a terminal; NO_COLOR, TERM and the width are rich's to read."""
    from rich.console import Console

    return Console(highlight=False)


Part = tuple[str, str]  # text and its style


def flag_part(flag: str | None) -> Part:
    """Return current, historical or wip as a coloured label, and a dash where nothing is known."""
    if flag is None:
        return "-", "dim"
    return (f" {flag} ", _BADGES.get(flag, "")) if on_terminal() else (flag, "")


def print_line(*parts: Part, indent: int = 0) -> None:
    """Print styled parts as one paragraph; on a terminal its lines are folded and indented alike."""
    from rich.padding import Padding
    from rich.text import Text

    line = Text.assemble(*((clean(text), style) for text, style in parts))
    if on_terminal():
        console().print(Padding(line, (0, 0, 0, indent)))
    else:
        print((" " * indent + line.plain).rstrip())


def one_line(text: object) -> str:
    """Return the text on one line, runs of white space as one space."""
    return " ".join(clean(text).split())


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def print_json(value: Any) -> None:
    print(json_text(value))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, fixed: int = 0) -> None:
    """Print a table; the first ``fixed`` columns are never folded on a terminal (names and times read badly cut)."""
    cells = [[one_line("" if value is None else value) for value in row] for row in rows]
    if not on_terminal():
        _print_columns(headings, cells)
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold", show_edge=False)
    for index, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=index < fixed)
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


_WIDEST = 60  # a longer cell sticks out: padding every other cell to it could make a table a thousand times larger


def _print_columns(headings: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    lines = [list(headings), *cells]
    widths = [min(_WIDEST, max(len(line[index]) for line in lines)) for index in range(len(headings))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def print_pairs(pairs: Mapping[str, object], *, indent: int = 0) -> None:
    """Print names and values below each other, the names as one column; an empty value is left out."""
    shown = {name: one_line(value) for name, value in pairs.items() if value not in (None, "")}
    if not shown:
        return
    width = max(map(len, shown))
    if not on_terminal():
        for name, value in shown.items():
            print(f"{' ' * indent}{name.ljust(width)}  {value}")
        return
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in shown.items():
        grid.add_row(Text(name), Text(value))
    console().print(Padding(grid, (0, 0, 0, indent)))


def interval(start: object, until: object) -> str:
    """Return a half-open interval for eyes.

    >>> interval("2025-10-28T00:00:00Z", None)
    '2025-10-28T00:00:00Z → open'
    """
    return f"{start or 'unknown'} → {until or 'open'}"


def value_text(value: Any) -> str:
    """Return a value of a state's props for eyes: lists joined, references by their identifier."""
    if isinstance(value, (list, tuple)):
        return ", ".join(value_text(item) for item in value)
    if isinstance(value, Mapping):
        return str(value.get("identifier") or value.get("ref") or "")
    return str(value).lower() if isinstance(value, bool) else str(value)
