"""The commands of saved queries: which there are, running one, adding and removing those of a project."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism_rdf.cli.options import AsOf, Common, KnownAt, command, known_at_of
from prism_rdf.cli.querying import Format, check_format, show_answer, text_of
from prism_rdf.cli.terminal import print_json, print_table
from prism_rdf.errors import BadArgument

if TYPE_CHECKING:
    from prism_rdf import Project

_NAME = Annotated[str, typer.Argument(metavar="NAME", help="What the query is called.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    command(
        app,
        "query",
        """
        prism query
        prism query changed-between --since 2025-10-01 --until 2025-11-01
        prism query impact changed=ADR-7 --as-of 2025-10-30 --format csv
        """,
        ignore_unknown_options=True,
    )(query)
    command(
        app,
        "add-query",
        """
        prism add-query late-risks late-risks.rq
        prism add-query late-risks late-risks.rq --replace --pid demo
        """,
    )(add_query)
    command(
        app,
        "remove-query",
        """
        prism remove-query late-risks
        prism remove-query late-risks --pid demo
        """,
    )(remove_query)


def query(
    common: Common,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which one; without it they are listed.")] = None,
    said: Annotated[
        list[str] | None, typer.Argument(metavar="[X=Y]…", help="Its parameters: x=y, --x y or --param x=y.")
    ] = None,
    param: Annotated[list[str] | None, typer.Option("--param", metavar="X=Y", help="A parameter of the query.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Print its text in place of running it.")] = False,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Stop it after so long; else 60.")
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option("--max-rows", metavar="N", min=1, help="Cut it after so many rows, and say so.")
    ] = None,
    form: Annotated[
        Format | None, typer.Option("--format", metavar="NAME", help="As `prism sparql` has them: table, json, csv …")
    ] = None,
) -> int:
    """Run a saved query, or list them."""
    check_format(form, as_json=common.json)
    with common.project() as project:
        if name is None:
            return _listed(project, as_json=common.json)
        if show:
            return _shown(project.saved_query(name), as_json=common.json)
        answer = project.run_query(
            name,
            as_of=as_of,
            known_at=known_at_of(known_at),
            timeout=timeout,
            max_rows=max_rows,
            **_parameters([*(param or ()), *(said or ())]),
        )
        return show_answer(answer, form, as_json=common.json)


def add_query(
    common: Common,
    name: _NAME,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of SPARQL with a header, or - for stdin.")],
    replace: Annotated[bool, typer.Option("--replace", help="In place of the one that has this name.")] = False,
) -> int:
    """Save a query of this project under a name."""
    text = text_of("query", None, file, f"add-query {name} FILE")
    with common.project() as project:
        receipt = project.add_query(text, name, replace=replace)
    if common.json:
        print_json(receipt.as_dict())
    else:
        print(f"saved {name}" if receipt.commit else f"{name} was saved already")
    return 0


def remove_query(common: Common, name: _NAME) -> int:
    """Take a saved query of this project away."""
    with common.project() as project:
        receipt = project.remove_query(name)
    if common.json:
        print_json(receipt.as_dict())
    else:
        print(f"removed {name}")
    return 0


def _parameters(words: Sequence[str]) -> dict[str, str]:
    """Return parameters by name, of ``x=y``, ``--x=y`` and ``--x y``. Raises BadArgument.

    >>> _parameters(["days=7", "--since", "2025", "--type=ADR"])
    {'days': '7', 'since': '2025', 'type': 'ADR'}
    """
    found: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.removeprefix("--").partition("=")
        if not equals:
            value = next(rest, "") if word.startswith("--") else ""
        name = name.replace("-", "_")
        if not name.isidentifier() or not value or name in found:
            raise BadArgument(
                f"{word!r} is given twice" if name in found else f"{word!r} is no parameter with its value",
                rule="parameters are said as x=y, --x y or --param x=y, each once",
                mend="prism query lists the parameters of each query",
            )
        found[name] = value
    return found


def _listed(project: Project, *, as_json: bool) -> int:
    known = project.queries()
    if as_json:
        print_json({"queries": known})
    else:
        print_table(
            ("name", "parameters", "what it finds"),
            [[each["name"], _brief(each["parameters"]), each["problem"] or each["summary"]] for each in known],
            fixed=1,
        )
    return 0


def _brief(parameters: Iterable[dict[str, Any]]) -> str:
    return " ".join(each["name"] if each["required"] else f"[{each['name']}]" for each in parameters)


def _shown(told: dict[str, Any], *, as_json: bool) -> int:
    if as_json:
        print_json(told)
    else:
        sys.stdout.write(told["text"].rstrip("\n") + "\n")
    return 0
