"""How far something long is, on stderr: a bar on a terminal, elsewhere a line now and then; stdout stays an answer."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SECONDS_BETWEEN_LINES = 2.0

Progress = Callable[[int, int, str], None]


@contextmanager
def progress(doing: str, done: str) -> Iterator[Progress]:
    """Show how far it is: ``doing`` beside the bar, such as reading; ``done`` in lines, such as read 3 of 8."""
    if not sys.stderr.isatty():
        yield _plain(done)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    with Bar(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(doing, total=None, rate="")

        def show(done: int, total: int, label: str) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, completed=done, total=total, rate=f"{speed:,.0f}/s" if speed else "")

        yield show


@contextmanager
def steps() -> Iterator[Callable[[str], None]]:
    """Show what is done just now, beside a spinner; elsewhere than on a terminal one line for each step."""
    if not sys.stderr.isatty():
        yield lambda doing: print(doing, file=sys.stderr)
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield status.update


def _plain(past: str) -> Progress:
    started = last = time.monotonic()

    def show(done: int, total: int, label: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES:
            print(f"{past} {done} of {total}, {done / (now - started):,.0f}/s", file=sys.stderr)
            last = now

    return show
