"""The command that answers agents over MCP on stdin and stdout; what its tools do lives in ``prism_rdf.mcp``."""

from __future__ import annotations

from typing import Annotated

import typer

from prism_rdf.cli import mcp_install
from prism_rdf.cli.options import Common, HomeOption, JsonOption, PidOption, TenantOption
from prism_rdf.cli.pages import Contents

_EXAMPLES = """
Examples:

\b
  prism mcp --pid atlas --agent planner
  prism mcp --read-only
  claude mcp add prism -- prism mcp --pid atlas
"""


def register(app: typer.Typer) -> None:
    """Add the command of this module to the application."""
    group = typer.Typer(cls=Contents, invoke_without_command=True, rich_markup_mode=None)
    group.callback(epilog=_EXAMPLES)(mcp)
    mcp_install.register(group)
    app.add_typer(group, name="mcp")


def mcp(
    ctx: typer.Context,
    tier: Annotated[
        int | None,
        typer.Option(
            "--tier",
            metavar="N",
            min=1,
            max=3,
            help="Highest tier it may claim: 1 a person, 2 an agent, 3 guesses. [PRISM_TIER]",
        ),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer only the tools that change nothing.")] = False,
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="Who works through it; default what the client calls itself.")
    ] = "",
    allow_forget: Annotated[
        bool, typer.Option("--allow-forget", help="Also offer prism_forget, which removes for good.")
    ] = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
    pid: PidOption = None,
    json_output: JsonOption = False,
) -> int:
    """Answer an agent over MCP on stdin and stdout.

    An MCP client starts it; it ends when the client leaves. Any number may run beside other commands on one store,
    which is made when it is not there yet. What an agent says of no tier is of tier 2.
    """
    ctx.obj = common = ctx.obj.with_later(Common(home, tenant, pid, json_output))
    if ctx.invoked_subcommand is not None:
        return 0
    from prism_rdf.config import resolve
    from prism_rdf.mcp import Caller, run_stdio
    from prism_rdf.mcp.callers import ALL, READ_ONLY
    from prism_rdf.prism import Prism
    from prism_rdf.tiers import known

    settings = resolve(common.home, common.tenant, common.pid, tier=tier)
    with Prism.open(settings.home, settings.tenant, create=not read_only, tier=known(settings.tier)) as prism:
        caller = Caller(
            agent=agent,
            pid=settings.pid,
            tier=prism.tier,
            scopes=READ_ONLY if read_only else ALL,
            forgets=allow_forget,
        )
        run_stdio(prism, caller)
    return 0
