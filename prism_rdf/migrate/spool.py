"""Rows as they were understood, kept on disk in the order of their history, so that memory stays small."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import lru_cache
from types import TracebackType

from prism_rdf.clock import Instant
from prism_rdf.ingest.identifiers import exact_key, loose_key
from prism_rdf.migrate.understanding import Artifact, Link, OldMemory
from prism_rdf.model import Memory

_TABLES = """
CREATE TABLE artifact (tab INTEGER, id TEXT, stood INTEGER, begin INTEGER, number INTEGER, data TEXT,
    PRIMARY KEY (tab, id, stood))
    WITHOUT ROWID;
CREATE TABLE name (loose TEXT, exact TEXT, uuid TEXT, since INTEGER, PRIMARY KEY (loose, exact, uuid)) WITHOUT ROWID;
CREATE TABLE said (tab INTEGER, id TEXT, stood INTEGER, data TEXT, PRIMARY KEY (tab, id, stood)) WITHOUT ROWID;
CREATE TABLE fresh (source TEXT, uuid TEXT, content TEXT, at INTEGER, UNIQUE (source, content));
CREATE TABLE memory (id TEXT PRIMARY KEY, number INTEGER, data TEXT) WITHOUT ROWID;
CREATE TABLE mention (memory TEXT, concept TEXT, number INTEGER, PRIMARY KEY (memory, concept)) WITHOUT ROWID;
"""


class Spool:
    """A temporary database of its own, gone when it is closed; use it as a context manager."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("")  # on disk, where what does not fit the cache goes
        self._db.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_TABLES}")

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def add(self, artifact: Artifact, uuid: str) -> Artifact | None:
        """Keep an artifact; return the one that says something else of the same id and time, which stays."""
        key = (artifact.table, artifact.id, artifact.stood.micros)
        data = _text(artifact)
        try:
            self._db.execute(
                "INSERT INTO artifact VALUES (?, ?, ?, ?, ?, ?)", (*key, artifact.created.micros, artifact.number, data)
            )
        except sqlite3.IntegrityError:
            [(kept,)] = self._db.execute("SELECT data FROM artifact WHERE tab = ? AND id = ? AND stood = ?", key)
            before = _artifact(kept)
            return None if _text(before, number=artifact.number) == data else before
        for name in artifact.names:
            self._db.execute(
                "INSERT INTO name VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET since = min(since, excluded.since)",
                (loose_key(name), exact_key(name), uuid, artifact.created.micros),
            )
        return None

    def add_memory(self, memory: OldMemory) -> bool:
        """Keep a memory; return False when there is one of this id."""
        data = json.dumps([memory.content, memory.created.micros])
        try:
            self._db.execute("INSERT INTO memory VALUES (?, ?, ?)", (memory.id, memory.number, data))
        except sqlite3.IntegrityError:
            return False
        for concept in memory.concepts:
            self.add_mention(memory.id, concept, memory.number)
        return True

    def add_mention(self, memory: str, concept: str, number: int) -> None:
        self._db.execute("INSERT OR IGNORE INTO mention VALUES (?, ?, ?)", (memory, concept, number))

    @property
    def count(self) -> int:
        """Return how many artifacts and memories there are."""
        [(count,)] = self._db.execute("SELECT (SELECT count(*) FROM artifact) + (SELECT count(*) FROM memory)")
        return int(count)

    def artifacts(self) -> Iterator[Artifact]:
        """Yield the artifacts, each one's versions together and oldest first."""
        found = self._db.execute("SELECT data FROM artifact ORDER BY tab, id, stood")
        yield from (_artifact(data) for (data,) in found)

    def memories(self) -> Iterator[OldMemory]:
        """Yield the memories with all that they mention."""
        for id_, number, data in self._db.execute("SELECT id, number, data FROM memory ORDER BY id"):
            content, created = json.loads(data)
            named = self._db.execute("SELECT concept FROM mention WHERE memory = ? ORDER BY concept", (id_,))
            yield OldMemory(number, id_, content, Instant(created), tuple(concept for (concept,) in named))

    def lost_mentions(self) -> Iterator[tuple[int, str]]:
        """Yield (row, memory) of mentions whose memory is not there."""
        yield from self._db.execute(
            "SELECT number, memory FROM mention WHERE memory NOT IN (SELECT id FROM memory) ORDER BY number"
        )

    def begin_of(self, table: int, id_: str) -> int | None:
        """Return since when there is an artifact, in microseconds; None when there is none."""
        [(begin,)] = self._db.execute("SELECT min(begin) FROM artifact WHERE tab = ? AND id = ?", (table, id_))
        return None if begin is None else int(begin)

    @lru_cache(maxsize=65_536)  # noqa: B019  one spool is one run
    def called(self, name: str) -> tuple[tuple[str, int], ...]:
        """Return (uuid, since) of what bears a name: as it is written, else without leading zeros."""
        for where, key in (("exact", exact_key(name)), ("loose", loose_key(name))):
            rows = self._db.execute(
                f"SELECT uuid, min(since) FROM name WHERE loose = ? AND {where} = ? GROUP BY uuid",
                (loose_key(name), key),
            ).fetchall()
            if rows:
                return tuple(rows)
        return ()

    def keep_said(self, artifact: Artifact, links: Iterable[Link]) -> None:
        """Keep what the body of an artifact says of others, for when all of them are there."""
        data = json.dumps([[link.kind, link.text, link.inverse] for link in links])
        key = (artifact.table, artifact.id, artifact.stood.micros)
        self._db.execute("INSERT OR REPLACE INTO said VALUES (?, ?, ?, ?)", (*key, data))

    def keep_fresh(self, passage: Memory, uuid: str) -> None:
        """Keep a passage whose prose is to be read, once, for when all that it may speak of is there."""
        at = passage.created_at.micros
        self._db.execute("INSERT OR IGNORE INTO fresh VALUES (?, ?, ?, ?)", (passage.source, uuid, passage.content, at))

    def fresh(self) -> Iterator[Memory]:
        """Yield the passages whose prose is to be read."""
        for source, uuid, content, at in self._db.execute("SELECT * FROM fresh ORDER BY rowid"):
            yield Memory(content, "passage", Instant(at), source, about=(uuid,), start=Instant(at), tier=2)

    def said(self, artifact: Artifact) -> tuple[Link, ...]:
        key = (artifact.table, artifact.id, artifact.stood.micros)
        found = self._db.execute("SELECT data FROM said WHERE tab = ? AND id = ? AND stood = ?", key).fetchone()
        return tuple(Link(*each) for each in json.loads(found[0])) if found else ()


def _text(artifact: Artifact, number: int | None = None) -> str:
    said = asdict(artifact)
    said["created"], said["stood"] = artifact.created.micros, artifact.stood.micros
    said["number"] = artifact.number if number is None else number
    return json.dumps(said, sort_keys=True)


def _artifact(data: str) -> Artifact:
    said = json.loads(data)
    said["created"], said["stood"] = Instant(said["created"]), Instant(said["stood"])
    said["values"] = {name: tuple(values) for name, values in said["values"].items()}
    said["links"] = tuple(Link(**link) for link in said["links"])
    said["told"] = tuple(said["told"])
    return Artifact(**said)
