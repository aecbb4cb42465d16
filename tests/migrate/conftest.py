"""A small older system, PrismGR: artifacts in several tables, memories, and what they mention; and runs over it."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from prism_rdf import Prism

MAPPING = """
source = "prismgr"
zone = "Europe/Berlin"

[[artifacts]]
table = "adrs"
type = "ADR"
[artifacts.columns]
number = { column = "no", form = "ADR-{}" }
tags = { column = "tags", split = ';' }
[artifacts.references]
formalizes = "FORMALIZES"
replaced_by = { kind = "SUPERSEDES", inverse = true }

[[artifacts]]
table = "artifacts"
[artifacts.types]
project = "Project"
spec = "SPEC"
plan = "Plan"
[artifacts.columns]
type = "kind"
number = { column = "no", form = "{type}-{}" }
pid = "pid"

[[memories]]
table = "memories"

[[mentions]]
table = "mentions"
[mentions.columns]
memory = "memory_id"
concept = "concept"

[[alias]]
name = "PrismGR"
of = "PID-PGR01"

[[alias]]
name = "prismgr"
of = "Prism"
"""
ADRS: list[dict[str, Any]] = [
    {
        "id": "a22",
        "no": 22,
        "title": "Keep one layer",
        "status": "Superseded",
        "body": "# Keep one layer\n\nOne layer is enough.",
        "created_at": "2026-01-10 09:00:00",
        "updated_at": None,
        "tags": "graph",
        "formalizes": None,
        "replaced_by": "a23",
    },
    {
        "id": "a23",
        "no": 23,
        "title": "Adopt three layers",
        "status": "Accepted",
        "body": "# Adopt three layers\n\n## Context\n\nAs Plan #6 asks. `ADR-22` is code, ADR-77 is nowhere.\n\n"
        "## Decision\n\nThree layers, see SPEC-020.",
        "created_at": "2026-04-20 10:00:00",
        "updated_at": "2026-05-01 08:00:00",
        "tags": "graph; time",
        "formalizes": "SPEC-20",
        "replaced_by": None,
    },
]
ARTIFACTS: list[dict[str, Any]] = [
    {"id": 1, "kind": "project", "title": "Prism", "pid": "PID-PGR01", "created_at": "2025-09-01T00:00:00Z"},
    {
        "id": 2,
        "kind": "spec",
        "no": 20,
        "title": "Tri-graph",
        "status": "frozen",
        "body": "# SPEC-020: Tri-graph\n\nThree graphs.",
        "created_at": "2026-04-19T00:00:00Z",
    },
    {"id": 3, "kind": "plan", "no": 6, "title": "Six waves", "body": "SPEC-020 in waves.", "created_at": "2026-04-21"},
]
MEMORIES: list[dict[str, Any]] = [
    {"id": "m1", "content": "PrismGR installation needs the old database.", "created_at": "2026-02-01T00:00:00Z"},
    {"id": "m2", "content": "The sea was calm.", "created_at": "2026-02-02T00:00:00Z"},
]
MENTIONS = [
    {"memory_id": "m1", "concept": "installation"},
    {"memory_id": "m1", "concept": "lighthouse"},
    {"memory_id": "m2", "concept": "lighthouse"},
]


class OldSystem:
    """The tables as Python rows; ``write`` makes a folder of files, ``sqlite`` a database of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables = {
            "adrs": [dict(row) for row in ADRS],
            "artifacts": [dict(row) for row in ARTIFACTS],
            "memories": [dict(row) for row in MEMORIES],
            "mentions": [dict(row) for row in MENTIONS],
        }
        self.mapping = folder / "mapping.toml"
        self.mapping.write_text(MAPPING)

    def write(self) -> Path:
        target = self.folder / "exported"
        target.mkdir(exist_ok=True)
        for name, rows in self.tables.items():
            if name == "artifacts":
                lines = "".join(json.dumps(row) + "\n" for row in rows)
                (target / f"{name}.jsonl").write_text(lines)
            else:
                with (target / f"{name}.csv").open("w", newline="") as file:
                    writer = csv.DictWriter(file, list(rows[0]))
                    writer.writeheader()
                    writer.writerows(rows)
        return target

    def columns(self, name: str) -> list[str]:
        return list(dict.fromkeys(key for row in self.tables[name] for key in row))

    def sqlite(self) -> Path:
        target = self.folder / "old.db"
        target.unlink(missing_ok=True)
        with sqlite3.connect(target) as db:
            for name, rows in self.tables.items():
                columns = self.columns(name)
                db.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
                marks = ", ".join("?" * len(columns))
                db.executemany(f"INSERT INTO {name} VALUES ({marks})", [[r.get(c) for c in columns] for r in rows])
        db.close()
        return target


@pytest.fixture
def old(tmp_path: Path) -> OldSystem:
    return OldSystem(tmp_path)


@pytest.fixture
def prism() -> Iterator[Prism]:
    with Prism.in_memory() as prism:
        yield prism


@pytest.fixture(scope="session")
def graph_of() -> Callable[[Prism], set[tuple[str, ...]]]:
    """Return all that a store holds but for system time and bookkeeping."""

    def graph(prism: Prism) -> set[tuple[str, ...]]:
        rows = prism.sparql("SELECT ?g ?o ?p ?s { GRAPH ?g { ?s ?p ?o } }", dataset="raw").rows()
        return {
            (s.value, p.value, str(o), g.value)
            for g, o, p, s in rows
            if not p.value.endswith(("recordedAt", "endRecordedAt"))
            and "/-/" not in g.value
            and not (p.value.endswith("#createdAt") and "/entity/" in s.value)
        }

    return graph
