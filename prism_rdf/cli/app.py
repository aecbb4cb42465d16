"""The ``prism`` command as a whole: its commands, its help and its exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from prism_rdf.cli import (
    agents,
    asking,
    checking,
    claiming,
    comparing,
    doctor,
    drafting,
    duplicates,
    ending,
    identity,
    ingesting,
    maintaining,
    migrating,
    modelling,
    owning,
    querying,
    recording,
    review,
    saved,
    serving,
    starting,
    teaching,
    tokens,
    updating,
    watching,
)
from prism_rdf.cli.options import Common, HomeOption, JsonOption, PidOption, TenantOption
from prism_rdf.cli.pages import Contents

_EPILOG = """
Exit codes:

\b
  0 ok         3 partial: some files failed   6 not found
  1 unexpected 4 ambiguous                    7 busy or timed out
  2 usage      5 refused                      8 findings

Examples:

\b
  prism ingest docs/decisions --pid demo
  prism recall "which database" --as-of 2025-10-30
  prism state ADR-7
"""

app = typer.Typer(
    name="prism",
    cls=Contents,
    context_settings={"max_content_width": 120},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit status; errors are raised."""
    try:
        status = app(list(args), prog_name="prism", standalone_mode=False)
    except Exception as error:
        if type(error).__name__ != "NoArgsIsHelpError":  # typer brings the parser along under a name of its own
            raise
        typer.echo(error)
        return 2
    return status if isinstance(status, int) else 0


def _show_version(wanted: bool) -> None:
    if wanted:
        from prism_rdf.cli.serving import version_of

        typer.echo(f"prism {version_of('prism-rdf')}")
        raise typer.Exit


@app.callback(epilog=_EPILOG)
def _prism(
    ctx: typer.Context,
    home: HomeOption = None,
    tenant: TenantOption = None,
    pid: PidOption = None,
    json_output: JsonOption = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Knowledge with identity, meaning and time: what is true, what was true, and who says so."""
    ctx.obj = Common(home, tenant, pid, json_output)


_ROOMS = (
    *(
        starting,
        ingesting,
        watching,
        migrating,
        recording,
        ending,
        review,
        drafting,
        asking,
        comparing,
        identity,
        teaching,
        querying,
        saved,
        updating,
        checking,
        claiming,
    ),
    *(serving, agents, duplicates, maintaining, modelling, owning, doctor, tokens),
)
for room in _ROOMS:
    room.register(app)
