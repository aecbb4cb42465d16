"""The same tables in a real PostgreSQL server are the same histories as from files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from prism_rdf import BadArgument, NotFoundError, Prism

PID = "PID-PGR01"
TYPES = {"no": "integer", "created_at": "timestamptz", "updated_at": "timestamp", "tags": "text[]"}


def test_a_driver_that_is_not_installed_is_told(prism: Prism, old: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(NotFoundError, match="driver of PostgreSQL") as told:
        prism.project(PID).migrate("postgresql://localhost/x", old.mapping)
    assert told.value.mend == "pip install 'prism-rdf[postgres]'"


def test_a_server_that_does_not_answer_is_told(prism: Prism, old: Any, tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    with pytest.raises(NotFoundError, match="no PostgreSQL answers") as told:
        prism.project(PID).migrate(f"postgresql://me:secret@/x?host={tmp_path}", old.mapping)
    assert "secret" not in str(told.value.as_dict())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
    pgserver = pytest.importorskip("pgserver", reason="no PostgreSQL to start: pip install pgserver brings one")
    started = pgserver.get_server(tmp_path_factory.mktemp("pg"))
    yield started.get_uri()
    started.cleanup()


def _fill(server: str, old: Any) -> None:
    import psycopg

    with psycopg.connect(server) as db:
        for name, rows in old.tables.items():
            columns = old.columns(name)
            dated = {} if name == "adrs" else {"tags": "text"}
            types = {**TYPES, **dated, **({"created_at": "timestamp"} if name == "adrs" else {})}
            db.execute(f"DROP TABLE IF EXISTS {name}".encode())
            db.execute(f"CREATE TABLE {name} ({', '.join(c + ' ' + types.get(c, 'text') for c in columns)})".encode())
            marks = ", ".join(["%s"] * len(columns))
            for row in rows:
                values = [_value(row.get(column), types.get(column, "text")) for column in columns]
                db.execute(f"INSERT INTO {name} VALUES ({marks})".encode(), values)


def _value(value: Any, kind: str) -> Any:
    if value is None or kind == "integer":
        return value
    return [part.strip() for part in value.split(";")] if kind == "text[]" else str(value)


@pytest.mark.slow  # starts a PostgreSQL server
def test_postgresql_tells_what_files_tell(
    server: str, prism: Prism, old: Any, graph_of: Callable[[Prism], set[tuple[str, ...]]]
) -> None:
    old.tables["artifacts"][2]["created_at"] = "2026-04-21T00:00:00Z"  # a column holds instants, or days
    _fill(server, old)
    found = prism.project(PID).migrate(server, old.mapping)["report"]
    assert (found["entities"], found["legacy_memories"], found["bad_rows"]) == (5, 2, [])
    assert prism.project(PID).migrate(server, old.mapping)["commits"] == []
    with Prism.in_memory() as elsewhere:
        elsewhere.project(PID).migrate(old.write(), old.mapping)
        assert graph_of(elsewhere) == graph_of(prism)

    query = 'table = "adrs"\nquery = "SELECT * FROM adrs WHERE title LIKE \'%nowhere%\'"'
    old.mapping.write_text(old.mapping.read_text().replace('table = "adrs"', query, 1))
    assert prism.project(PID).migrate(server, old.mapping)["report"]["types"].get("ADR") is None
    old.mapping.write_text(old.mapping.read_text().replace("FROM adrs", "FROM adrz", 1))
    with pytest.raises(BadArgument, match='relation "adrz" does not exist'):
        prism.project(PID).migrate(server, old.mapping)
