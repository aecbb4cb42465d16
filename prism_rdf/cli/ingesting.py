"""The command that reads documents with their history into the store, and what it tells while and after reading."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism_rdf.cli.options import Common, command
from prism_rdf.cli.progress import progress
from prism_rdf.cli.terminal import print_json, print_line, print_pairs
from prism_rdf.errors import NotFoundError

if TYPE_CHECKING:
    from prism_rdf import Prism
    from prism_rdf.ingest import Failure, IngestReport

PARTIAL = 3
_LISTED = 3  # of what was left out; --json lists everything


def register(app: typer.Typer) -> None:
    """Add the command of this module to the application."""
    command(
        app,
        "ingest",
        """
        prism ingest docs/decisions --pid demo
        prism ingest ../service --pid service --ref main
        prism ingest docs/decisions --pid demo --json | jq .report.failures
        """,
    )(ingest)


def ingest(
    common: Common,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A git repository, a folder of one, or a plain folder.")],
    ref: Annotated[
        str | None, typer.Option("--ref", metavar="BRANCH", help="What to read in place of the checked-out branch.")
    ] = None,
) -> int:
    """Read decision records with all their history.

    One entity per document through renames and renumberings, one state per change, dated by its commit. Running it
    again changes nothing. A file that cannot be read never stops the rest: it is listed, and the exit code is 3.
    """
    from prism_rdf.ingest import read
    from prism_rdf.model import Receipt

    pid = common.settings.require_pid()
    started = time.monotonic()
    with ExitStack() as stack:
        prism = _existing_store(common, stack)
        resolve = prism.project(pid).bearer_uuid if prism else None
        with progress("reading", "read") as told:
            proposal = read(path, pid, ref=ref, progress=told, resolve=resolve)
        receipt, gone = Receipt(commit=None, recorded_at=None), list[str]()
        if proposal.intents:
            prism = prism or stack.enter_context(common.store(create=True))
            with _patience(f"writing {len(proposal.intents):,} statements"):
                receipt = prism.project(pid).write(proposal.intents, "ingest")
            gone = prism.project(pid).left_behind(path, proposal.intents)
    report = proposal.report
    if common.json:
        print_json({"receipt": receipt.as_dict(), "report": report.as_dict(), "left_behind": gone})
    else:
        _print_some("read earlier and no longer in the folder: they stay current until you retire them", gone)
        _print_report(report, receipt.commit, time.monotonic() - started)
        for note in receipt.notes:
            print_line((f"\nnote: {note}", ""))
    return PARTIAL if report.failures else 0


def _existing_store(common: Common, stack: ExitStack) -> Prism | None:
    """Return the store if there is one.

    Reading comes before making: a path that cannot be read must not leave an empty store behind.
    """
    try:
        return stack.enter_context(common.store())
    except NotFoundError:
        return None


@contextmanager
def _patience(message: str) -> Iterator[None]:
    """Say on stderr what takes a while."""
    if not sys.stderr.isatty():
        print(message, file=sys.stderr)
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(message):
        yield


def _print_report(report: IngestReport, commit: int | None, seconds: float) -> None:
    _print_some("files without a mark of a decision record", [f"{s.path}: {s.why}" for s in report.skipped])
    _print_some(
        "references to nothing: no document bears the identifier",
        [f"{d.document}: {d.identifier}, since {d.at}" for d in report.dangling],
    )
    _print_some(
        "references left out: several documents bear the identifier",
        [f"{a.document}: {a.identifier}, since {a.at}: {', '.join(a.candidates)}" for a in report.ambiguous],
    )
    _print_some(
        "numbers that several documents bore at once",
        [f"{d.number}, since {d.at}: {d.outcome} ({', '.join(d.documents)})" for d in report.duplicates],
    )
    _print_some("failed, and left out", [_failure_line(f) for f in report.failures], most=len(report.failures))
    for note in report.notes:
        print_line((f"\nnote: {note}", ""))
    print()
    counts = ("documents", "versions", "states", "references", "aliases", "memories")
    outcome = f"commit {commit}" if commit is not None else "nothing changed"
    print_pairs(
        {name: f"{getattr(report, name):,}" for name in counts} | {"written": outcome, "took": f"{seconds:.1f} s"}
    )


def _failure_line(failure: Failure) -> str:
    where = f"{failure.path}:{failure.line}" if failure.line else failure.path
    version = f" in commit {failure.commit[:12]}" if failure.commit else ""
    return f"{where}{version}: {failure.reason}. Rule: {failure.rule}. Mend: {failure.mend}"


def _print_some(title: str, lines: Sequence[str], most: int = _LISTED) -> None:
    """Print at most so many lines under a title with their count, and say how many more there are."""
    if not lines:
        return
    print_line((f"\n{title}: {len(lines)}", "bold"))
    for line in lines[:most]:
        print_line((line, ""), indent=2)
    if len(lines) > most:
        print_line((f"and {len(lines) - most} more; --json lists them all", "dim"), indent=2)
