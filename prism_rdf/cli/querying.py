"""The commands that ask SPARQL, see what is being asked and stop it, and how answers look."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism_rdf.cli.options import AsOf, Common, KnownAt, command, known_at_of
from prism_rdf.cli.terminal import on_terminal, print_json, print_line, print_table
from prism_rdf.errors import BadArgument, NotFoundError

if TYPE_CHECKING:
    from prism_rdf.datasets import QueryAnswer

_PARTIAL = 3  # exit code: not all of it
_PLURAL = {"query": "queries", "update": "updates"}


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
    rdf = "rdf"
    jsonld = "jsonld"
    trig = "trig"
    nq = "nq"


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    command(
        app,
        "sparql",
        """
        prism sparql 'SELECT ?adr ?status { ?adr a type:ADR ; prism:status ?status }'
        prism sparql -f accepted.rq --as-of 2025-10-30 --format csv
        prism sparql 'CONSTRUCT WHERE { ?s prism:SUPERSEDES ?o }' --format ttl
        """,
    )(sparql)
    command(
        app,
        "running",
        """
        prism running
        prism running --json | jq '.queries[].seconds'
        """,
    )(running)
    command(
        app,
        "stop-query",
        """
        prism stop-query q7
        prism running --json | jq -r '.queries[].id' | xargs -n 1 prism stop-query
        """,
    )(stop_query)


def sparql(
    common: Common,
    query: Annotated[str | None, typer.Argument(metavar="QUERY", help="The query, or - to read it from stdin.")] = None,
    file: Annotated[
        Path | None, typer.Option("-f", "--file", metavar="FILE", help="Read the query from a file.")
    ] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    prefer_wip: Annotated[
        bool,
        typer.Option("--prefer-wip", help="Entities as their drafts have them, marked by prism:commitStatus."),
    ] = False,
    dataset: Annotated[
        Dataset, typer.Option("--dataset", help="The world at one time, or all graphs as stored.")
    ] = Dataset.current,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Stop it after so long; else 60.")
    ] = None,
    max_rows: Annotated[
        int | None,
        typer.Option("--max-rows", metavar="N", min=1, help="Cut it after so many rows, and say so."),
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format", metavar="NAME", help="Rows: table json csv tsv xml; graphs: ttl nt rdf jsonld trig nq"
        ),
    ] = None,
) -> int:
    """Ask a SPARQL query of the world now, or as of a time."""
    text = text_of("query", query, file, "sparql 'SELECT …'")
    check_format(form, as_json=common.json)
    with common.store() as prism:
        answer = prism.sparql(
            text,
            pid=common.named_pid(prism),
            as_of=as_of,
            known_at=known_at_of(known_at),
            prefer_wip=prefer_wip,
            dataset=dataset.value,
            timeout=timeout,
            max_rows=max_rows,
        )
        return show_answer(answer, form, as_json=common.json)


def check_format(form: Format | None, *, as_json: bool) -> None:
    """Raise BadArgument for a format that --json contradicts."""
    if as_json and form not in (None, Format.json, Format.jsonld):
        raise BadArgument(
            f"--json and --format {form.value} contradict each other",
            rule="an answer has one format",
            mend="leave one of them out",
        )


def show_answer(answer: QueryAnswer, form: Format | None, *, as_json: bool) -> int:
    """Write an answer in a format that fits it, and return the exit code: whether that is all of it."""
    chosen = _fitting_format(form, answer.kind, as_json=as_json)
    if chosen is Format.table:
        _print_rows(answer)
    else:
        _write(answer, chosen)
    if answer.truncated:
        print("the answer is cut: there are more rows than it may have", file=sys.stderr)
    return _PARTIAL if answer.truncated else 0


def running(common: Common) -> int:
    """List the SPARQL queries that wait, run, or are being read, with how long each has been asked."""
    with common.store() as prism:
        found = prism.running()
    if common.json:
        print_json({"queries": found})
    elif not found:
        print("no query is running")
    else:
        names = ("id", "state", "seconds", "who", "query")
        print_table(names, [[each[name] for name in names] for each in found], fixed=3)
    return 0


def stop_query(
    common: Common,
    query: Annotated[str, typer.Argument(metavar="ID", help="As `prism running` lists it.")],
) -> int:
    """Stop a SPARQL query that runs; who asked it is told."""
    with common.store() as prism:
        prism.stop_query(query)
    if common.json:
        print_json({"stopped": query})
    else:
        print(f"stopped {query}")
    return 0


def text_of(what: str, given: str | None, file: Path | None, example: str) -> str:
    """Return a query or an update that comes as an argument, by stdin or from a file. Raises BadArgument."""
    if (given is None) == (file is None):
        raise BadArgument(
            f"no {what} was given" if given is None else f"two {_PLURAL[what]} were given",
            rule=f"{'an' if what[0] in 'aeiou' else 'a'} {what} comes as an argument or from a file",
            mend=f"write prism {example}, or -f FILE in place of the text",
        )
    try:
        if given == "-" or file == Path("-"):
            return sys.stdin.read()
        return given if file is None else file.read_text("utf-8")  # type: ignore[return-value]
    except UnicodeDecodeError as error:
        raise BadArgument(
            f"{file or 'stdin'} is not UTF-8 text", rule=f"the {what} is UTF-8", mend="save it as UTF-8"
        ) from error
    except OSError as error:
        raise NotFoundError(
            f"cannot read {file}: {error.strerror}", rule="-f names a readable file", mend="check the path"
        ) from error


def _fitting_format(form: Format | None, kind: str, *, as_json: bool) -> Format:
    """Return the format asked for, else a default that fits the kind of the answer; a graph has no table."""
    if form is None and as_json:
        return Format.jsonld if kind == "graph" else Format.json
    if form is None or form is Format.table:
        return {"select": Format.table, "ask": Format.csv}.get(kind, Format.ttl)
    return form


def _print_rows(answer: QueryAnswer) -> None:
    from prism_rdf.values import term_text

    rows = [[term_text(term) for term in row] for row in answer.rows()]
    print_table(answer.variables, rows)
    if on_terminal():
        seen = f"as of {answer.as_of or 'now'}" if answer.dataset == "current" else "raw graphs"
        print_line((f"{len(rows)} row{'' if len(rows) == 1 else 's'}, {seen}, commit {answer.commit}", "dim"))


def _write(answer: QueryAnswer, form: Format) -> None:
    data = answer.serialize(form.value)
    sys.stdout.flush()
    sys.stdout.buffer.write(data if data.endswith(b"\n") else data + b"\n")
