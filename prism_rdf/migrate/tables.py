"""Rows of CSV, JSON Lines, SQLite and PostgreSQL, one after the other as they are; what they mean is said elsewhere."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prism_rdf.errors import BadArgument, NotFoundError, PrismError
from prism_rdf.migrate.mapping import Table

_CSV, _JSONL = (".csv", ".tsv"), (".jsonl", ".ndjson")
_LARGEST_FIELD = 64 * 1024 * 1024
_FETCHED = 500  # rows of a database that are in memory at once
_POSTGRES = ("postgresql://", "postgres://")


@dataclass(frozen=True)
class Row:
    """The row of this number, from 1; ``problem`` says why it could not be read."""

    number: int
    values: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""


def rows(source: str, table: Table, alone: bool) -> Iterator[Row]:
    """Yield the rows of a table of a source: a file, a folder of files, a SQLite database or a PostgreSQL address.

    ``alone``: the mapping has only this table, so a file need not bear its name. Raises NotFoundError, BadArgument.
    """
    if source.startswith(_POSTGRES):
        return _checked(_postgres(source, table), table, source)
    path = Path(source)
    if path.is_file() and _begins_with(path, b"SQLite format 3"):
        return _checked(_sqlite(path, table), table, source)
    file = _file(path, table, alone)
    if table.query:
        raise BadArgument(
            f"the query of {table.name} cannot be asked of {path}",
            rule="only a database answers queries",
            mend="leave query out, and let the mapping name the columns",
        )
    return _jsonl(file) if file.suffix.lower() in _JSONL else _checked(_csv(file), table, source)


def _begins_with(path: Path, data: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(data)) == data


def _file(path: Path, table: Table, alone: bool) -> Path:
    if path.is_dir():
        found = [path / f"{table.name}{suffix}" for suffix in (*_CSV, *_JSONL)]
        there = [file for file in found if file.is_file()]
        if there:
            return there[0]
        raise NotFoundError(
            f"{path} holds no {table.name}.csv or {table.name}.jsonl",
            rule="in a folder each table of the mapping is a file of its name",
            mend="name the tables in the mapping as the files are called",
        )
    if not path.is_file():
        raise NotFoundError(
            f"there is no {path}",
            rule="a source is a CSV or JSON Lines file, a folder of them, a SQLite file or a postgresql:// address",
            mend="check the path",
        )
    if path.suffix.lower() not in (*_CSV, *_JSONL):
        raise BadArgument(
            f"{path.name} is no table that can be read",
            rule=f"tables are files that end in {', '.join((*_CSV, *_JSONL))}, or in a SQLite file",
            mend="export it as CSV or JSON Lines",
        )
    if not alone and path.stem != table.name:
        raise NotFoundError(
            f"{path.name} is not the table {table.name} of the mapping",
            rule="one file is one table",
            mend="give the folder that holds a file for each table",
        )
    return path


def _csv(path: Path) -> Iterator[Row]:
    csv.field_size_limit(_LARGEST_FIELD)
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        dialect = "excel-tab" if path.suffix.lower() == ".tsv" else "excel"
        reader = csv.DictReader(file, dialect=dialect, restkey="", strict=True)
        number = 0
        while True:
            number += 1
            try:
                values = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(number, problem=f"is no CSV: {error}")
                continue
            if values.get(""):
                yield Row(number, values, f"has more fields than the {len(values) - 1} columns of the first line")
            elif None in values.values():
                yield Row(number, values, "has fewer fields than the first line has columns")
            else:
                yield _utf_8(Row(number, values))


def _jsonl(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                values = json.loads(line.decode("utf-8-sig"))
            except (ValueError, RecursionError) as error:
                yield Row(number, problem=f"is no JSON: {error}")
                continue
            yield Row(number, values) if isinstance(values, dict) else Row(number, problem="is no JSON object")


def _sqlite(path: Path, table: Table) -> Iterator[Row]:
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        connection.text_factory = lambda data: data.decode(errors="surrogateescape")
        connection.row_factory = sqlite3.Row
        try:
            cursor = connection.execute(table.query or f'SELECT * FROM "{table.name.replace(chr(34), chr(34) * 2)}"')
            yield from (_utf_8(Row(n, dict(row))) for n, row in enumerate(_fetched(cursor), start=1))
        except sqlite3.Error as error:
            raise _no_table(table, path.name, str(error)) from error


def _postgres(address: str, table: Table) -> Iterator[Row]:
    try:
        import psycopg
        from psycopg.rows import dict_row
        from psycopg.sql import SQL, Identifier
    except ImportError as error:
        raise NotFoundError(
            "the driver of PostgreSQL is not installed",
            rule="it comes with the extra postgres",
            mend="pip install 'prism-rdf[postgres]'",
        ) from error
    try:
        with psycopg.connect(address) as connection:
            connection.read_only = True
            with connection.cursor(name="prism_migrate", row_factory=dict_row) as cursor:
                cursor.itersize = _FETCHED
                asked = SQL("SELECT * FROM {}").format(Identifier(*table.name.split(".")))
                cursor.execute(table.query.encode() if table.query else asked)
                yield from (Row(number, row) for number, row in enumerate(cursor, start=1))
    except psycopg.OperationalError as error:
        raise NotFoundError(
            f"no PostgreSQL answers: {str(error).strip().splitlines()[0]}",
            rule="an address is postgresql://USER:PASSWORD@HOST:PORT/DATABASE; the password may be in PGPASSWORD",
            mend="start the server, or check the address",
        ) from error
    except psycopg.Error as error:
        raise _no_table(table, "the database", str(error).strip().splitlines()[0]) from error


def _fetched(cursor: sqlite3.Cursor) -> Iterator[Any]:
    while found := cursor.fetchmany(_FETCHED):
        yield from found


def _utf_8(row: Row) -> Row:
    """Return the row, with a problem where a text of it is not UTF-8."""
    for name, value in row.values.items():
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError:
                return Row(row.number, row.values, f"is not UTF-8 in the column {name}")
    return row


def _checked(found: Iterator[Row], table: Table, source: str) -> Iterator[Row]:
    """Yield the rows; raise BadArgument when the mapping names a column that the table does not have."""
    for index, row in enumerate(found):
        if index == 0 and not row.problem:
            given = [*table.columns.values(), *(link.column for link in table.links)]
            missing = sorted({column.name for column in given if column.given} - set(row.values))
            if missing:
                raise BadArgument(
                    f"the table {table.name} has no column {', '.join(missing)}",
                    rule="the mapping names columns that are there",
                    mend=f"its columns are: {', '.join(map(str, row.values))}",
                )
        yield row


def _no_table(table: Table, where: str, reason: str) -> PrismError:
    what = f"the query of {table.name}" if table.query else f"the table {table.name}"
    return BadArgument(
        f"{what} cannot be read of {where}: {reason}",
        rule="the mapping names a table or a query of the source",
        mend="mend the mapping",
    )
