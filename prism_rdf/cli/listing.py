"""The command that lists the types there are, what they declare and what they may refer to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from prism_rdf.cli.options import Common, command
from prism_rdf.cli.terminal import print_json, print_line, print_pairs, print_table
from prism_rdf.errors import NotFoundError, UnknownType


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    command(
        app,
        "types",
        """
        prism types
        prism types ADR
        prism types --json | jq '.[] | {name, mutable}'
        """,
    )(types)


def types(
    common: Common,
    type_name: Annotated[
        str | None, typer.Argument(metavar="TYPE", help="Only this one, with all it declares.")
    ] = None,
) -> int:
    """List the types, their properties, and what they may refer to.

    Where there is no store or project yet, these are the types that a new one has.
    """
    found = _types_of(common)
    if type_name is not None:
        found = [_one_of(found, type_name)]
    if common.json:
        print_json(found)
    elif type_name is not None:
        _print_type(found[0])
    else:
        rows = [(each["name"], each["zone"], _properties(each)) for each in found]
        print_table(["type", "zone", "properties"], rows, fixed=2)
    return 0


def _types_of(common: Common) -> list[dict[str, Any]]:
    from prism_rdf.prism import Prism

    try:
        with common.project() as project:
            return project.list_types()
    except NotFoundError:
        with Prism.in_memory() as empty:
            return empty.project("new").list_types()


def _one_of(found: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    for each in found:
        if name in (each["name"], each["iri"]):
            return each
    raise UnknownType(
        f"there is no type {name!r}",
        rule="an entity has one of the types that the ontology of its project declares",
        mend=f"the types are: {', '.join(each['name'] for each in found)}",
        node=name,
    )


def _properties(found: Mapping[str, Any]) -> str:
    return ", ".join(sorted([*found["immutable"], *found["mutable"]]))


def _print_type(found: Mapping[str, Any]) -> None:
    print_line((found["name"], "bold"), (f"  {found['iri']}", "dim"))
    print_pairs(
        {
            "zone": found["zone"],
            "ptype": found["ptype"],
            "never change": ", ".join(found["immutable"]),
            "may change": ", ".join(found["mutable"]),
        }
    )
    print_line(("\nmay refer to", "bold"))
    print_pairs({kind: ", ".join(targets) for kind, targets in found["can_reference"].items()}, indent=4)
