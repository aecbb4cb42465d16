"""The change log: one JSON line for each commit, on disk before the store changes; it knows nothing of meaning.

A line is complete or it does not count: it ends in a newline and carries a checksum of its own text, so a torn
last line (a crash in the middle of writing, never acknowledged) is recognised and cut off on open.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyoxigraph import Quad, RdfFormat, parse, serialize

from prism_rdf.clock import Instant
from prism_rdf.errors import RefusedError, StorageFailed
from prism_rdf.storage.folder import sync_folder

_BLOCK = 65_536
_MOST_PLACES = 10_000
_NUMBERED = re.compile(rb'[0-9a-f]{8} \{"n":(\d+),')


@dataclass(frozen=True)
class LoggedChange:
    """One commit as it was written."""

    number: int
    recorded_at: Instant
    namespace: str
    verb: str
    adds: tuple[Quad, ...]
    removes: tuple[Quad, ...]


@dataclass(frozen=True)
class LoggedText:
    """One commit as its line has it: what it added and removed are N-Quads, a quad to a line."""

    number: int
    recorded_at: Instant
    namespace: str
    verb: str
    adds: str
    removes: str

    def change(self, wanted: Callable[[str], bool] | None = None) -> LoggedChange:
        """Return the commit; of many graphs only those quads whose graph is ``wanted`` by its IRI, the others unread.

        A quad of the default graph is taken for one of the IRI that stands last in it.
        """
        adds, removes = (_quads(each if wanted is None else _part(each, wanted)) for each in (self.adds, self.removes))
        return LoggedChange(self.number, self.recorded_at, self.namespace, self.verb, adds, removes)


class ChangeLog:
    """An append-only file. ``append`` returns only after fsync; ``path`` None keeps nothing (a store in memory)."""

    def __init__(self, path: Path | None) -> None:
        self._path: Path | None = None
        self._file: Any = None
        self._last = 0
        self._newest = 0  # number of the last commit that was appended; 0 where none was
        self._places: dict[int, int] = {}  # where the last ones begin
        if path is not None:
            self.move(path)

    def move(self, path: Path) -> None:
        """Go on in the file ``path``, made when it is not there."""
        self.close()
        self._newest, self._places = 0, {}
        fresh = not path.exists()
        self._path = path
        self._file = open(path, "a+b", buffering=0)  # noqa: SIM115  (held until close)
        if fresh:
            sync_folder(path.parent)
        self._cut_torn_tail(path)

    def append(self, change: LoggedChange, more: str = "") -> None:
        """Write one commit and fsync; on any error nothing of it stays in the file. ``more`` it adds, as N-Quads."""
        self._last = self._write(_record_of(change, more))
        self._newest, self._places[change.number] = change.number, self._last
        if len(self._places) > _MOST_PLACES:
            del self._places[next(iter(self._places))]

    def abort(self, number: int) -> None:
        """Record that the last commit was rolled back and must not be replayed; on a full disk, cut it off."""
        try:
            self._write({"n": number, "aborted": True})
        except RefusedError:
            os.ftruncate(self._file.fileno(), self._last)
            os.fsync(self._file.fileno())

    def read(self, since: int) -> Iterator[LoggedChange]:
        """Yield the commits with a number greater than ``since``, in order, without the aborted ones.

        The place to begin is known, or else found by bisection: the cost does not grow with what lies before it.
        """
        return (text.change() for text in self.read_texts(since))

    def read_texts(self, since: int) -> Iterator[LoggedText]:
        """Yield what ``read`` does, before the quads are read."""
        if self._path is None or since >= self._newest > 0:
            return iter(())
        return _texts(self._path, since, self._places.get(since + 1))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def size(self) -> int:
        """The length of the file in bytes: all that was acknowledged so far, and nothing else."""
        return self._path.stat().st_size if self._path is not None else 0

    def _write(self, record: dict[str, Any]) -> int:
        """Append a record, and return where in the file it begins."""
        if self._file is None:
            return 0
        start: int = self._file.seek(0, os.SEEK_END)
        try:
            rest = memoryview(_line(record))
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            os.ftruncate(self._file.fileno(), start)
            raise StorageFailed(
                f"the change log cannot be written: {error.strerror}",
                rule="a write is acknowledged only once its log entry is on disk",
                mend="free some disk space or mend the permissions, then write again; nothing was changed",
            ) from error
        return start

    def _cut_torn_tail(self, path: Path) -> None:
        end = size = path.stat().st_size
        with path.open("rb") as file:
            while end:
                start = max(0, end - _BLOCK)
                file.seek(start)
                newline = file.read(end - start).rfind(b"\n")
                if newline >= 0:
                    end = start + newline + 1
                    break
                end = start
        if end < size:
            os.ftruncate(self._file.fileno(), end)


def write_log(path: Path, changes: Iterable[LoggedChange | LoggedText]) -> None:
    """Write a whole change log into a new file, on disk when this returns."""
    with path.open("xb") as file:
        file.writelines(_line(_record_of(change)) for change in changes)
        file.flush()
        os.fsync(file.fileno())


def read_log(path: Path, since: int = 0) -> Iterator[LoggedChange]:
    """Yield the commits of a change log with a number greater than ``since``, without the aborted ones."""
    return (text.change() for text in _texts(path, since, None))


def _texts(path: Path, since: int, start: int | None) -> Iterator[LoggedText]:
    """Yield them as texts; ``start`` is the byte at which the first of them begins, where that is known."""
    waiting: LoggedText | None = None
    for record in _records(path, since, start):
        if record.get("aborted"):
            waiting = None
            continue
        if waiting is not None:
            yield waiting
        waiting = _text(record)
    if waiting is not None:
        yield waiting


def _records(path: Path, since: int, start: int | None) -> Iterator[dict[str, Any]]:
    """Yield the records with a number greater than ``since``; numbers never fall from line to line."""
    with path.open("rb") as file:
        low, high = start or 0, path.stat().st_size if since and start is None else 0
        while low < high:
            middle = (low + high) // 2
            file.seek(middle)
            if middle:
                file.readline()
            line = file.readline()
            if not line.endswith(b"\n") or _number(path, middle, line) > since:
                high = middle
            else:
                low = middle + 1
        file.seek(low)
        if low and start is None:
            file.readline()
        for line in file:
            if not line.endswith(b"\n"):
                return  # it is being written just now
            record = _record(path, file.tell(), line)
            if record["n"] > since:
                yield record


def _number(path: Path, place: int, line: bytes) -> int:
    number = _NUMBERED.match(line)
    return int(number[1]) if number else int(_record(path, place, line)["n"])


def _record(path: Path, place: int, line: bytes) -> dict[str, Any]:
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        raise RefusedError(
            f"{path} is damaged near byte {place}",
            rule="every line of the change log carries its own checksum",
            mend="restore the store from a backup; the log is never edited by hand",
        )
    record: dict[str, Any] = json.loads(text)
    return record


def _record_of(change: LoggedChange | LoggedText, more: str = "") -> dict[str, Any]:
    adds, removes = (each if isinstance(each, str) else nquads(each) for each in (change.adds, change.removes))
    return {
        "n": change.number,
        "at": change.recorded_at.iso(),
        "ns": change.namespace,
        "verb": change.verb,
        "add": more + adds,
        "del": removes,
    }


def _line(record: dict[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _text(record: dict[str, Any]) -> LoggedText:
    return LoggedText(
        number=record["n"],
        recorded_at=Instant.parse(record["at"]),
        namespace=record["ns"],
        verb=record["verb"],
        adds=record["add"],
        removes=record["del"],
    )


def _part(text: str, wanted: Callable[[str], bool]) -> str:
    """Return the lines whose graph is wanted."""
    known: dict[str, bool] = {}
    kept = []
    for line in text.split("\n"):
        graph = line[line.rfind("<") + 1 : -3]  # <graph> .
        if graph not in known:
            known[graph] = wanted(graph)
        if known[graph]:
            kept.append(line)
    return "\n".join(kept)


def nquads(quads: Iterable[Quad]) -> str:
    """Return quads as lines of text; empty when there are none."""
    return serialize(quads, format=RdfFormat.N_QUADS).decode()  # type: ignore[union-attr]


def _quads(text: str) -> tuple[Quad, ...]:
    return tuple(parse(text.encode(), format=RdfFormat.N_QUADS))
