"""The commands that look for faults: check the store, validate files before they are written."""

from __future__ import annotations

import typer

from prism_rdf.cli.options import Common, command
from prism_rdf.cli.terminal import print_json, print_table

FINDINGS = 8


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    command(
        app,
        "check",
        """
        prism check
        prism check --pid demo --json | jq length
        """,
    )(check)


def check(common: Common) -> int:
    """Check the invariants of the store.

    They are the queries in queries/checks: no gap, no overlap, no cycle, exactly one type, and so on.
    Exit code 8 when one is broken.
    """
    with common.project() as project:
        findings = project.check()
    if common.json:
        print_json(findings)
    elif findings:
        print_table(
            ["check", "entity", "detail"],
            [(finding["check"], finding["entity"], finding["detail"]) for finding in findings],
            fixed=1,
        )
    else:
        print("no findings")
    return FINDINGS if findings else 0
