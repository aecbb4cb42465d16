"""The commands that read documents into the store, show what would be read, and say why an entity is what it is."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism_rdf.cli.options import (
    AsOf,
    Common,
    EntityArgument,
    KnownAt,
    MappingOption,
    RefOption,
    command,
    known_at_of,
)
from prism_rdf.cli.progress import progress
from prism_rdf.cli.terminal import interval, one_line, print_json, print_line, print_pairs, print_table, value_text
from prism_rdf.errors import NotFoundError

if TYPE_CHECKING:
    from prism_rdf import Prism
    from prism_rdf.ingest import Failure, Ingestion, IngestReport, Outcome
    from prism_rdf.project import Project

PARTIAL = 3
_LISTED = 3  # of what was left out; --json lists everything
_EXAMPLES = 3  # of each type in a dry run

_OUTRANKED = 3  # statements that are shown of each property


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    command(
        app,
        "ingest",
        """
        prism ingest docs/decisions --pid demo
        prism ingest ../peps --pid peps --mapping peps --dry-run
        prism ingest docs/decisions --pid demo --json | jq .report.failures
        """,
    )(ingest)
    command(
        app,
        "explain",
        """
        prism explain ADR-808
        prism explain ADR-808 --as-of 2025-10-30
        prism explain "PEP 484" --json | jq .files
        """,
    )(explain)


def ingest(
    common: Common,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A git repository, a folder of one, or a plain folder.")],
    ref: RefOption = None,
    mapping: MappingOption = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing; show what would be recognised as what.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Read all commits, not only those that are new since the last run.")
    ] = False,
) -> int:
    """Read documents with all their history.

    One entity per document through renames and renumberings, one state per change, dated by its commit. Running it
    again takes in what is new. What the files of a project mean can be said in .prism/ingest.toml below PATH. A file
    that cannot be read never stops the rest: it is listed, and the exit code is 3.
    """
    from prism_rdf.ingest import take_in
    from prism_rdf.ingesting import open_source

    pid = common.settings.require_pid()
    started = time.monotonic()
    with ExitStack() as stack:
        opened = [existing_store(common, stack)]
        known = opened[0].project(pid) if opened[0] else None
        source = open_source(path, pid, known, ref=ref, mapping=mapping)
        if dry_run:
            return _dry_run(common, source)

        def project() -> Project:
            opened[0] = prism = opened[0] or stack.enter_context(common.store(create=True))
            return prism.project(pid)

        with progress("commits", "read") as told:
            taken = take_in(source, known, project, again=again, progress=told)
        gone = project().left_behind(path, taken.intents) if taken.intents else []
    if common.json:
        print_json({**taken.as_dict(), "left_behind": gone})
    else:
        _print_some("read earlier and no longer in the folder: they stay current until you retire them", gone)
        _print_report(taken.report, _outcome(taken), time.monotonic() - started)
        for note in taken.receipt.notes:
            print_line((f"\nnote: {note}", ""))
    return PARTIAL if taken.report.failures or taken.report.refused or taken.report.failed_before else 0


def _outcome(taken: Outcome) -> str:
    if not taken.commits:
        return "nothing changed"
    first, last = taken.commits[0], taken.commits[-1]
    return f"commit {last}" if first == last else f"commits {first} to {last}"


def _dry_run(common: Common, source: Ingestion) -> int:
    with progress("commits", "read") as told:
        found = source.dry_run(told)
    if common.json:
        print_json(found)
        return 0
    for kind, count in found["counts"].items():
        print_line((f"\n{kind}: {count}", "bold"))
        examples = [each for each in found["recognised"] if each["type"] == kind][:_EXAMPLES]
        rows = [(each["path"], each["number"], each["title"], each["why"]) for each in examples]
        print_table(("file", "identifier", "title", "because"), rows)
    _print_report(source.report, "nothing: this was a dry run", None)
    return 0


def explain(common: Common, entity: EntityArgument, as_of: AsOf = None, known_at: KnownAt = None) -> int:
    """Say why an entity is what it is, and the one document that it is.

    For each property what set it, and what else was said of the same time, and by what that is outranked. Then its
    files and identifiers over time, and the commits in which it was made, moved, renumbered, deleted or brought back,
    each with what it was known again by. Why a hit ranks where it does: prism recall --explain.
    """
    with common.project() as project:
        found = project.explain(entity, as_of, known_at_of(known_at))
    if common.json:
        print_json(found)
        return 0
    print_line((f"{found['identifier'] or found['uuid']}  {found['type']}", "bold"))
    print_pairs({"entity": found["entity"], "as of": found["as_of"] if as_of else ""})
    if found["state"]:
        print_line(("\nwhat it is", "bold"))
    for prop in found["state"]:
        _print_property(prop)
    for title in ("identifiers", "files"):
        if found[title]:
            print_line((f"\n{title}", "bold"))
            for span in found[title]:
                print_line((str(span["name"]), ""), (f"  {interval(span['from'], span['until'])}", "dim"), indent=2)
    print_line(("\nwhat made it so", "bold"))
    for chapter in found["story"]:
        print_line((f"{chapter['at'] or 'unknown'}  ", ""), (chapter["event_type"], "bold"), indent=2)
        print_pairs(_told(chapter), indent=6)
    return 0


def _print_property(prop: Mapping[str, Any]) -> None:
    value = one_line(value_text(prop["value"])) if prop["value"] not in (None, []) else "(none)"
    since = f"  since {prop['since'] or 'ever'}" if prop["events"] else ""
    print_line((prop["property"], "bold"), (f" = {value}", ""), (since, "dim"), indent=2)
    for event in prop["events"]:
        print_line((_event(event), "dim"), indent=6)
    for event in prop["outranked"][:_OUTRANKED]:
        other = "nothing" if event["value"] is None else one_line(value_text(event["value"]))
        print_line((f"not {other}: {_event(event)}; outranked by {event['by']}", "dim"), indent=6)
    more = len(prop["outranked"]) - _OUTRANKED
    if more > 0:
        print_line((f"and {more} more that are outranked", "dim"), indent=6)


def _event(event: Mapping[str, Any]) -> str:
    """Return who said something, when and why, in a line."""
    parts = [f"{event['event_type']} at {event['at'] or 'an unknown time'}", f"tier {event['tier']}"]
    parts += [one_line(event[name]) for name in ("source", "description") if event[name]]
    parts += [f"from {event['cause_commit'][:12]}"] if event["cause_commit"] else []
    return ", ".join([*parts, f"recorded in commit {event['commit']}"])


def _told(chapter: Mapping[str, Any]) -> dict[str, str]:
    lines = {
        name: " → ".join(str(end) for end in (change["from"], change["to"]) if end is not None)
        for name, change in chapter["changes"].items()
    }
    if chapter["known_by"]:
        lines["because"] = one_line(chapter["known_by"])
    if chapter["cause_commit"]:
        lines["commit"] = f"{chapter['cause_commit'][:12]} {one_line(chapter['description'] or '')}".strip()
    elif chapter["source"]:
        lines["source"] = one_line(chapter["source"])
    return lines


def existing_store(common: Common, stack: ExitStack) -> Prism | None:
    """Return the store if there is one.

    Reading comes before making: a path that cannot be read must not leave an empty store behind.
    """
    try:
        return stack.enter_context(common.store())
    except NotFoundError:
        return None


def _print_report(report: IngestReport, outcome: str, seconds: float | None) -> None:
    _print_some("files that are no document of a known kind", [f"{s.path}: {s.why}" for s in report.skipped])
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
        [f"{d.number}, since {d.at}{_of(d.commit)}: {d.outcome} ({', '.join(d.documents)})" for d in report.duplicates],
    )
    _print_some("failed, and left out", [_failure_line(f) for f in report.failures], most=len(report.failures))
    _print_some(
        "refused by a rule, and left out", [f"{r.what}: {r.reason}. Mend: {r.mend}" for r in report.refused], most=20
    )
    for note in report.notes:
        print_line((f"\nnote: {note}", ""))
    print()
    counts = ("documents", "versions", "states", "references", "aliases", "memories", "candidates")
    took = {"took": f"{seconds:.1f} s"} if seconds is not None else {}
    print_pairs({name: f"{getattr(report, name):,}" for name in counts} | {"written": outcome} | took)


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


def _of(commit: str) -> str:
    return f" in commit {commit[:12]}" if commit else ""
