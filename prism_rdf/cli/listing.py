"""The commands that list what there is to speak of: types, references, resolve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from prism_rdf.cli.options import AsOf, Common, command
from prism_rdf.cli.terminal import print_json, print_line, print_pairs, print_table, value_text
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
    command(
        app,
        "references",
        """
        prism references --source ADR-7
        prism references --target ADR-3 --kind SUPERSEDES --as-of 2025-10-30
        """,
    )(references)
    command(
        app,
        "resolve",
        """
        prism resolve ADR-7
        prism resolve 'the graph decision' --as-of 2025-10-30 --json
        """,
    )(resolve)


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


def references(
    common: Common,
    source: Annotated[str | None, typer.Option("--source", metavar="ENTITY", help="Only from this one.")] = None,
    target: Annotated[str | None, typer.Option("--target", metavar="ENTITY", help="Only to this one.")] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="Only of this kind, such as SUPERSEDES.")
    ] = None,
    as_of: AsOf = None,
) -> int:
    """List the references that hold."""
    with common.project() as project:
        found = project.list_references(source, target, kind, as_of)
    if common.json:
        print_json(found)
        return 0
    rows = [
        (value_text(each["source"]), each["kind"], value_text(each["target"]), each["valid_from"], each["valid_until"])
        for each in found
    ]
    print_table(["source", "kind", "target", "from", "until"], rows, fixed=3)
    return 0


def resolve(
    common: Common,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A uuid, IRI, identifier or alias.")],
    as_of: AsOf = None,
) -> int:
    """Say which entity a name means, and why."""
    with common.project() as project:
        found = project.resolve_alias(name, as_of)
    if common.json:
        print_json(found)
        return 0
    print_line((found["identifier"] or found["uuid"], "bold"))
    print_pairs({"why": found["why"], "uuid": found["uuid"], "entity": found["entity"]})
    return 0
