"""The command that takes in the tables of an older system, and lets its memories go in the end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism_rdf.cli.ingesting import PARTIAL, existing_store
from prism_rdf.cli.options import Common, command
from prism_rdf.cli.progress import progress
from prism_rdf.cli.terminal import one_line, print_json, print_line, print_pairs, print_table
from prism_rdf.errors import BadArgument

if TYPE_CHECKING:
    from prism_rdf.project import Project

FINDINGS = 8
_LISTED = 10
_COUNTED = ("rows", "entities", "states", "references", "aliases", "passages", "candidates", "legacy_memories")


def register(app: typer.Typer) -> None:
    """Add the command of this module to the application."""
    command(
        app,
        "migrate",
        """
        prism migrate exported/ --mapping prismgr.toml --pid PID-PGR01 --dry-run
        prism migrate postgresql://reader@db1/prism --mapping prismgr.toml --pid PID-PGR01
        prism migrate --drop-legacy --dry-run --pid PID-PGR01
        """,
    )(migrate)


def migrate(
    common: Common,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE", help="A CSV or JSON Lines file, a folder of them, a SQLite file, or postgresql://…"
        ),
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option("--mapping", metavar="FILE", help="What the columns mean: a TOML file.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing; show what would be, with first examples.")
    ] = False,
    drop_legacy: Annotated[
        bool, typer.Option("--drop-legacy", help="Let the older memories go; only when prism check finds nothing.")
    ] = False,
) -> int:
    """Take in the artifacts and memories of an older system's tables.

    Each row is an entity that begins at its created_at; what its body names are references. Running it again takes in
    what changed since, from updated_at on. A row that cannot be read never stops the rest: it is listed with its
    number, and the exit code is 3.
    """
    if drop_legacy:
        if source is not None or mapping is not None:
            raise BadArgument(
                "--drop-legacy reads no source",
                rule="older memories are dropped in a run of its own",
                mend="leave SOURCE and --mapping out",
            )
        return _drop(common, dry_run)
    if source is None or mapping is None:
        raise BadArgument(
            "a migration needs a source and a mapping",
            rule="prism migrate SOURCE --mapping FILE",
            mend="see `prism migrate --help`, and docs/cli.md for an example of a mapping",
        )
    return _take_in(common, source, mapping, dry_run)


def _take_in(common: Common, source: str, mapping: Path, dry_run: bool) -> int:
    from prism_rdf.migrating import migration

    pid = common.settings.require_pid()
    started = time.monotonic()
    with ExitStack() as stack:
        opened = [existing_store(common, stack)]
        known = opened[0].project(pid) if opened[0] is not None and pid in opened[0].projects() else None

        def project() -> Project:
            opened[0] = prism = opened[0] or stack.enter_context(common.store(create=True))
            return prism.project(pid)

        run = migration(source, mapping, pid, known, None if dry_run else project)
        with progress("rows", "taken in") as told:
            taken = run.run(told)
    answer = {"dry_run": dry_run, **taken.as_dict()}
    if common.json:
        print_json(answer)
    else:
        _print_report(answer, time.monotonic() - started)
    return PARTIAL if taken.report.bad_rows else 0


def _print_report(answer: Mapping[str, Any], seconds: float) -> None:
    report = answer["report"]
    if answer["dry_run"]:
        for kind, count in sorted(report["types"].items()):
            print_line((f"\n{kind}: {count} rows", "bold"))
            rows = [
                (each["identifier"] or each["id"], each["valid_from"], each["updated_at"], each["title"])
                for each in report["examples"]
                if each["type"] == kind
            ]
            print_table(("called", "valid from", "updated", "title"), rows, fixed=1)
    named = [f"{each['table']} {each['id']}: {each['identifier']}" for each in report["unknown"]]
    _print_some("named, and borne by nobody or by several: no reference", named)
    _print_some("rows left out, or a part of them", [_bad_row(each) for each in report["bad_rows"]])
    for note in report["notes"]:
        print_line((f"\nnote: {note}", ""))
    print()
    commits = answer["commits"]
    written = (
        f"commits {commits[0]} to {commits[-1]}" if len(commits) > 1 else f"commit {commits[0]}" if commits else ""
    )
    done = "nothing: this was a dry run" if answer["dry_run"] else written or "nothing changed"
    counts = {name.replace("_", " "): f"{report[name]:,}" for name in _COUNTED if report[name]}
    print_pairs(counts | {"written": done, "took": f"{seconds:.1f} s"})


def _drop(common: Common, dry_run: bool) -> int:
    with common.project() as project:
        found = project.drop_legacy(dry_run=dry_run)
    if common.json:
        print_json(found)
        return FINDINGS if found["findings"] else 0
    legacy = found["legacy"]
    if not legacy["memories"]:
        print_line(("there are no older memories", ""))
        return 0
    _print_some("findings of the check: they have to be mended first", [_finding(each) for each in found["findings"]])
    what = {
        "memories": f"{legacy['memories']:,}",
        "mentions": f"{legacy['mentions']:,} of {legacy['concepts']:,} concepts",
        "from": ", ".join(legacy["sources"]),
        "such as": one_line(legacy["examples"][0])[:200],
    }
    print_line(("would go" if dry_run else "gone; --known-at still shows them, prism forget removes them", "bold"))
    print_pairs(what, indent=2)
    return FINDINGS if found["findings"] else 0


def _bad_row(row: Mapping[str, Any]) -> str:
    named = f" ({row['id']})" if row["id"] else ""
    column = f", column {row['column']}" if row["column"] else ""
    return one_line(f"{row['table']}, row {row['number']}{named}{column}: {row['reason']}. Mend: {row['mend']}")


def _finding(finding: Mapping[str, Any]) -> str:
    return one_line(f"{finding['check']}: {finding['entity']} {finding['detail']}")


def _print_some(title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    print_line((f"\n{title}: {len(lines)}", "bold"))
    for line in lines[:_LISTED]:
        print_line((line, ""), indent=2)
    if len(lines) > _LISTED:
        print_line((f"and {len(lines) - _LISTED} more; --json lists them all", "dim"), indent=2)
