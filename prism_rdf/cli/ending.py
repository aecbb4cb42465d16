"""The commands that take a name or a reference away: as a mistake, or from a time on."""

from __future__ import annotations

from typing import Annotated

import typer

from prism_rdf.cli.completing import entities as entities_begun
from prism_rdf.cli.options import Common, KindArgument, SourceArgument, TargetArgument, command
from prism_rdf.cli.writing import Said, name_of, saying, told
from prism_rdf.clock import end_of


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    command(
        app,
        "unalias",
        """
        prism unalias 'the graph decision'
        prism unalias PrismGR --entity Prism --valid-until 2025-06-30
        """,
    )(unalias)
    command(
        app,
        "unreference",
        """
        prism unreference ADR-7 SUPERSEDES ADR-3
        prism unreference ADR-7 DEPENDS_ON ADR-5 --valid-until 2025-11-01
        """,
    )(unreference)


Until = Annotated[
    str | None,
    typer.Option("--valid-until", metavar="TIME", help="It was so until then; left out: it never was, by mistake."),
]


@saying("idempotency_key")
def unalias(
    common: Common,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The alias, as it is written.")],
    said: Said,
    entity: Annotated[
        str | None,
        typer.Option(
            "--entity", metavar="ENTITY", autocompletion=entities_begun, help="Whose it is, where several bear it."
        ),
    ] = None,
    valid_until: Until = None,
) -> int:
    """Take an alias away: it was recorded by mistake, or was the name until a time.

    An identifier is no alias: prism transition changes it.
    """
    with common.project() as project:
        receipt = project.unalias(name, entity, valid_until=valid_until, **said)
    return told(common, receipt, name, _outcome("an alias", valid_until))


@saying("idempotency_key")
def unreference(
    common: Common,
    source: SourceArgument,
    kind: KindArgument,
    target: TargetArgument,
    said: Said,
    valid_until: Until = None,
) -> int:
    """Take a reference away: it was recorded by mistake, or held until a time."""
    with common.project() as project:
        ends = ["", ""] if common.json else [name_of(project, end) for end in (source, target)]
        receipt = project.unreference(source, target, kind, valid_until=valid_until, **said)
    return told(common, receipt, ends[0], f"{kind} {ends[1]}: {_outcome('so', valid_until)}")


def _outcome(what: str, until: str | None) -> str:
    return f"{what} until {end_of(until).instant}" if until is not None else "no longer believed"
