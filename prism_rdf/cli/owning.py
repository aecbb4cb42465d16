"""The commands about the process that owns the store: who it is, and that it may leave."""

from __future__ import annotations

import typer

from prism_rdf.cli.options import Common, command
from prism_rdf.cli.pages import Contents
from prism_rdf.cli.terminal import print_json, print_pairs


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application, under ``prism owner``."""
    group = typer.Typer(cls=Contents, help="Say which process owns the store, or let it leave.", no_args_is_help=True)
    command(
        group,
        "status",
        """
        prism owner status
        prism owner status --json | jq .owner.pid
        """,
    )(status)
    command(
        group,
        "stop",
        """
        prism owner stop
        """,
    )(stop)
    app.add_typer(group, name="owner")


def status(common: Common) -> int:
    """Say which process owns the store.

    A daemon is started by the first command that needs it, and leaves after 300 seconds without a request
    (PRISM_OWNER_IDLE). This command starts none.
    """
    from prism_rdf import owner

    found = owner.status(common.folder())
    if common.json:
        print_json({"owner": found})
    elif found is None:
        print("no process owns the store; the next command starts one")
    else:
        print_pairs({name: value for name, value in found.items() if value != "" and name not in ("package", "code")})
    return 0


def stop(common: Common) -> int:
    """Let the daemon finish what it does and leave.

    `prism serve` and programs that opened the store for themselves are not stopped: exit code 7 names them.
    """
    from prism_rdf import owner

    stopped = owner.stop(common.folder())
    if common.json:
        print_json({"stopped": stopped})
    else:
        print("stopped" if stopped else "no process owns the store")
    return 0
