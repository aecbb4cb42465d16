"""The command that asks SPARQL, and how its answers look."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism_rdf.cli.options import AsOf, Common, KnownAt, command
from prism_rdf.cli.terminal import on_terminal, print_line, print_table
from prism_rdf.errors import BadArgument, NotFoundError

if TYPE_CHECKING:
    from prism_rdf.prism import QueryAnswer


class Dataset(StrEnum):
    """What a query sees: the world at one time, or the named graphs as they are stored."""

    current = "current"
    raw = "raw"


class Format(StrEnum):
    """How an answer is written: a table, a format of SPARQL results, or one of RDF."""

    table = "table"
    json = "json"
    csv = "csv"
    tsv = "tsv"
    xml = "xml"
    ttl = "ttl"
    nt = "nt"
    jsonld = "jsonld"


_RESULTS = (Format.json, Format.csv, Format.tsv, Format.xml)
_GRAPHS = (Format.ttl, Format.nt, Format.xml, Format.jsonld)


def register(app: typer.Typer) -> None:
    """Add the command of this module to the application."""
    command(
        app,
        "sparql",
        """
        prism sparql 'SELECT ?adr ?status { ?adr a type:ADR ; prism:status ?status }'
        prism sparql -f accepted.rq --as-of 2025-10-30 --format csv
        prism sparql 'CONSTRUCT WHERE { ?s prism:SUPERSEDES ?o }' --format ttl
        """,
    )(sparql)


def sparql(
    common: Common,
    query: Annotated[str | None, typer.Argument(metavar="QUERY", help="The query, or - to read it from stdin.")] = None,
    file: Annotated[
        Path | None, typer.Option("-f", "--file", metavar="FILE", help="Read the query from a file.")
    ] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    dataset: Annotated[
        Dataset, typer.Option("--dataset", help="The world at one time, or all graphs as stored.")
    ] = Dataset.current,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="json csv tsv xml for rows, ttl nt xml jsonld for graphs. Default: table."),
    ] = None,
) -> int:
    """Ask a SPARQL query of the world now, or as of a time."""
    text = _query_text(query, file)
    with common.store() as prism:
        pid = common.named_pid(prism)
        answer = prism.sparql(text, pid=pid, as_of=as_of, known_at=known_at, dataset=dataset.value)
        chosen = form or _default_format(answer, as_json=common.json)
        if chosen is Format.table and answer.kind == "select":
            _print_rows(answer)
        else:
            _write(answer, chosen)
    if chosen is Format.table and on_terminal():
        print_line((f"as of {answer.as_of}, commit {answer.commit}, dataset {dataset.value}", "dim"))
    return 0


def _query_text(query: str | None, file: Path | None) -> str:
    if (query is None) == (file is None):
        raise BadArgument(
            "no query was given" if query is None else "two queries were given",
            rule="a query comes as an argument or from a file",
            mend="write prism sparql 'SELECT …', or prism sparql -f FILE",
        )
    try:
        if query == "-" or file == Path("-"):
            return sys.stdin.read()
        return query if file is None else file.read_text("utf-8")  # type: ignore[return-value]
    except UnicodeDecodeError as error:
        raise BadArgument(
            f"{file or 'stdin'} is not UTF-8 text", rule="a query is UTF-8", mend="save it as UTF-8"
        ) from error
    except OSError as error:
        raise NotFoundError(
            f"cannot read {file}: {error.strerror}", rule="-f names a readable file", mend="check the path"
        ) from error


def _default_format(answer: QueryAnswer, *, as_json: bool) -> Format:
    if answer.kind == "graph":
        return Format.jsonld if as_json else Format.ttl
    return Format.json if as_json else Format.table


def _print_rows(answer: QueryAnswer) -> None:
    from prism_rdf.model import term_text

    rows = [[term_text(term) for term in row] for row in answer.rows]
    print_table([str(variable).removeprefix("?") for variable in answer.variables], rows)
    if on_terminal():
        print(f"{len(rows)} row{'' if len(rows) == 1 else 's'}")


def _write(answer: QueryAnswer, form: Format) -> None:
    if answer.kind == "graph" and form is Format.table:
        form = Format.ttl
    if answer.kind == "ask" and form is Format.table:
        form = Format.csv
    fitting = _GRAPHS if answer.kind == "graph" else _RESULTS
    if form not in fitting:
        raise BadArgument(
            f"format {form.value} does not fit the answer of this query",
            rule=f"{'a graph' if answer.kind == 'graph' else 'an answer of rows, yes or no'} can be written as "
            + ", ".join(item.value for item in fitting),
            mend="choose one of these with --format",
        )
    data = answer.serialize(form.value)
    sys.stdout.flush()
    sys.stdout.buffer.write(data if data.endswith(b"\n") else data + b"\n")
