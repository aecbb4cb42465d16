"""The command that stays: documents are ingested as they change, and a line says how it stands."""

from __future__ import annotations

import json
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism_rdf.cli.ingesting import existing_store
from prism_rdf.cli.options import Common, MappingOption, RefOption, command
from prism_rdf.cli.terminal import clean, on_terminal, one_line

if TYPE_CHECKING:
    from rich.live import Live

    from prism_rdf.noticing import Noticing
    from prism_rdf.project import Project

_MOST_TOLD = 5  # of what failed in one run
_SAME_EACH_TIME = "nothing new since commit"


def register(app: typer.Typer) -> None:
    """Add the command of this module to the application."""
    command(
        app,
        "watch",
        """
        prism watch docs/decisions --pid demo
        prism watch . --pid service --ref main
        prism watch /mnt/notes --pid notes --poll --json
        """,
    )(watch)


def watch(
    common: Common,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="Git repositories, folders of one, or plain folders.")
    ],
    ref: RefOption = None,
    mapping: MappingOption = "",
    poll: Annotated[
        bool, typer.Option("--poll", help="Look every second: for drives and containers that do not tell of changes.")
    ] = False,
) -> int:
    """Ingest documents now, and again whenever they change, until Ctrl-C or SIGTERM.

    Of a repository new commits are read, and files that are not committed yet are mentioned; of a plain folder the
    files as they lie. A burst of changes is one ingestion. A file that cannot be read is told, and the watch goes on.
    Other commands and programs use the store meanwhile.
    """
    from prism_rdf.watching import noticing_of, runs

    pid = common.settings.require_pid()
    with ExitStack() as stack:
        store = existing_store(common, stack)
        known = store.project(pid) if store is not None else None
        seen = [noticing_of(path, known, ref=ref, mapping=mapping, polling=poll) for path in paths]
    told: queue.Queue[dict[str, Any] | Exception] = queue.Queue()
    one_at_a_time = threading.Lock()

    def follow(path: Path, seeing: Noticing) -> None:
        def ingest(progress: Callable[[int, int, str], None], changed: tuple[str, ...]) -> dict[str, Any]:
            with one_at_a_time:
                return _ingest(common, pid, (path, ref, mapping), progress, changed)

        try:
            for run in runs(seeing, ingest):
                told.put(run)
        except Exception as error:  # a defect must end the command, not only this thread
            told.put(error)

    with ExitStack() as stack, _until_told_to_stop(seen) as stopped:
        for seeing in seen:
            stack.enter_context(seeing)
        teller = stack.enter_context(_teller(common, seen))
        threads = [threading.Thread(target=follow, args=pair) for pair in zip(paths, seen, strict=True)]
        for thread in threads:
            thread.start()
        try:
            _tell_all(told, teller, stopped)
        finally:
            for seeing in seen:
                seeing.stop()
            for thread in threads:
                thread.join()
        while not told.empty():  # what was written as the signal came
            _tell(told.get(), teller)
    return 0


def _ingest(
    common: Common,
    pid: str,
    what: tuple[Path, str | None, str],
    progress: Callable[[int, int, str], None],
    changed: tuple[str, ...],
) -> dict[str, Any]:
    """Read what is new; the store is open only meanwhile, and made only when there is something to write."""
    from prism_rdf.ingesting import open_source
    from prism_rdf.watching import ingested

    path, ref, mapping = what

    with ExitStack() as stack:
        opened = [existing_store(common, stack)]
        known = opened[0].project(pid) if opened[0] else None

        def project() -> Project:
            opened[0] = prism = opened[0] or stack.enter_context(common.store(create=True))
            return prism.project(pid)

        source = open_source(path, pid, known, ref=ref, mapping=mapping)
        return ingested(source, known, project, progress, changed)


def _tell_all(
    told: queue.Queue[dict[str, Any] | Exception], teller: Callable[[dict[str, Any]], None], stopped: threading.Event
) -> None:
    while not stopped.is_set():
        try:
            _tell(told.get(timeout=0.2), teller)
        except queue.Empty:
            continue


def _tell(run: dict[str, Any] | Exception, teller: Callable[[dict[str, Any]], None]) -> None:
    if isinstance(run, Exception):
        raise run
    teller(run)


@contextmanager
def _until_told_to_stop(seen: Sequence[Noticing]) -> Iterator[threading.Event]:
    """Have Ctrl-C and SIGTERM end the watch; a second Ctrl-C ends the program at once."""
    stopped = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()
        for seeing in seen:
            seeing.stop()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    for number in before:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _teller(common: Common, seen: Sequence[Noticing]) -> Iterator[Callable[[dict[str, Any]], None]]:
    names = ", ".join(str(seeing.folder) for seeing in seen)
    how = "looking every second" if any(seeing.polling for seeing in seen) else "as it happens"
    if common.json:
        say({"outcome": "watching", "path": [str(seeing.folder) for seeing in seen], "polling": how != "as it happens"})
        yield say
        say({"outcome": "stopped"})
    elif on_terminal():
        from rich.live import Live

        from prism_rdf.cli.terminal import console

        with Live(console=console(), auto_refresh=False, transient=True) as live:
            yield _Lines(names, how, live).tell
        print("stopped")
    else:
        yield _Lines(names, how, None).tell
        print("stopped", flush=True)


def say(value: Mapping[str, Any]) -> None:
    """Print one line of JSON at once."""
    print(json.dumps(value, ensure_ascii=False, default=str), flush=True)


class _Lines:
    """One line for each run that changed something or failed; on a terminal a line below says how it stands."""

    def __init__(self, names: str, how: str, live: Live | None) -> None:
        self._live, self._failed, self._noted = live, dict[str, set[str]](), dict[str, set[str]]()
        self._documents: dict[str, int] = {}
        self._last = ""
        self._line(f"watching {names} ({how}); Ctrl-C stops it")
        self._stand("reading")

    def tell(self, run: dict[str, Any]) -> None:
        path, report, at = run["path"], run["report"], run["at"][11:19]
        if run["error"]:
            why = one_line(f"{run['error']['message']}. Mend: {run['error']['mend']}")
            self._only_new(self._failed, path, [f"failed  {why}"], at)
        else:
            self._documents[path] = report["documents"]
            if run["commits"]:
                self._last = f"{at}, commit {run['commits'][-1]}"
                self._line(f"{at}  ingested: {_counts(report)}, commit {run['commits'][-1]}")
            elif path not in self._noted:
                self._line(f"{at}  nothing new: {report['documents']} documents")
            for name in run["retired"]:
                self._line(f"{at}  retired, since its file went: {name}")
            for name in run["reopened"]:
                self._line(f"{at}  current again, since its file is back: {name}")
            failed = [f"failed  {_failure(f)}" for f in report["failures"]]
            self._only_new(self._failed, path, [*failed, *(f"refused  {_refusal(r)}" for r in report["refused"])])
            notes = [note for note in report["notes"] if not note.startswith(_SAME_EACH_TIME)]
            gone = [f"gone, and current until you retire it: {name}" for name in run["left_behind"]]
            self._only_new(self._noted, path, [f"note  {note}" for note in (*notes, *gone)])
        self._stand("waiting")

    def _only_new(self, known: dict[str, set[str]], path: str, lines: Sequence[str], at: str = "") -> None:
        """Print what was not said of the path before; what is mended may be said again."""
        fresh = [line for line in lines if line not in known.get(path, ())]
        known[path] = set(lines)
        for line in fresh[:_MOST_TOLD]:
            self._line(f"{at:8}  {line}")
        if len(fresh) > _MOST_TOLD:
            self._line(f"          and {len(fresh) - _MOST_TOLD} more; --json lists them all")

    def _line(self, text: str) -> None:
        if self._live is not None:
            from rich.text import Text

            self._live.console.print(Text(clean(text)))
        else:
            print(clean(text), flush=True)

    def _stand(self, doing: str) -> None:
        if self._live is not None:
            from rich.text import Text

            count = sum(self._documents.values())
            parts = [doing, f"{count:,} documents", f"last ingested {self._last}" if self._last else ""]
            line = Text("  ·  ".join(filter(None, parts)), style="dim", no_wrap=True, overflow="ellipsis")
            self._live.update(line, refresh=True)


def _counts(report: Mapping[str, Any]) -> str:
    names = ("documents", "states", "references", "memories")
    return ", ".join(f"{report[name]:,} {name}" for name in names)


def _refusal(refused: Mapping[str, Any]) -> str:
    return one_line(f"{refused['what']}: {refused['reason']}. Mend: {refused['mend']}")


def _failure(failure: Mapping[str, Any]) -> str:
    where = f"{failure['path']}:{failure['line']}" if failure["line"] else failure["path"]
    return one_line(f"{where}: {failure['reason']}. Mend: {failure['mend']}")
