"""Rows of numbers in a file and the rows nearest to one; what the rows stand for is not known here.

Each row is kept twice: as it is, and as bytes, a quarter of the size. All bytes are read for a question, and what
comes out best is weighed by the rows themselves: this finds what reading all of the rows finds, in a fifth of the time.
Above ``SCANNED`` rows a graph of neighbours leads to most of what the bytes would have shown. All files are mapped into
memory, so an index larger than memory still works.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numkong
import numpy as np

SCANNED = 300_000  # rows of 384 numbers: 13 ms of the processor; see bench/recall/nearest.py
_TAIL = 30_000  # rows that are scanned beside a graph, until it takes them in
_STEP = 1_000  # rows that a graph takes in at once: about a second
_STEPS_SAVED = 50
_CONNECTIVITY, _EXPANSION_ADD, _EXPANSION_SEARCH = 24, 160, 320
_SCALE = 4  # bytes behind a row of bytes: what they are to be multiplied by


@dataclass(frozen=True)
class View:
    """The rows as they were at one time; safe to search from several threads, whatever is written meanwhile."""

    rows: Any
    small: Any
    scales: Any
    graph: Any
    graphed: int
    few: int
    lock: threading.Lock

    def search(self, vector: Any, limit: int, allowed: Any) -> list[tuple[int, float]]:
        """Return up to ``limit`` (row number, dot product) of the rows that are allowed, best first."""
        if not len(allowed) or limit < 1:
            return []
        if self.graph is None:
            near = self._scanned(vector, limit, allowed, 0)
        elif allowed.sum() <= self.few:
            near = np.flatnonzero(allowed)
        else:
            tail = self._scanned(vector, limit, allowed, self.graphed)
            near = np.concatenate([self._by_graph(vector, limit, allowed), tail])
        scores = self.rows[near] @ vector
        best = np.lexsort((near, -scores))[:limit]
        return list(zip(near[best].tolist(), scores[best].tolist(), strict=True))

    def _scanned(self, vector: Any, limit: int, allowed: Any, start: int) -> Any:
        """Return the numbers of the rows from ``start`` that their bytes say are near, twice as many as are wanted."""
        if start >= len(allowed):
            return np.zeros(0, np.int64)
        width = self.rows.shape[1]
        asked = _as_bytes(vector[None, :])[:, :width]
        scores = np.asarray(numkong.cdist(asked, self.small[start : len(allowed), :width], metric="dot"))[0]
        scores = np.where(allowed[start:], scores * self.scales[start : len(allowed)], -np.inf)
        place = max(0, len(scores) - 2 * limit - 50)
        least = np.partition(scores, place)[place]
        return np.flatnonzero((scores >= least) & allowed[start:]) + start

    def _by_graph(self, vector: Any, limit: int, allowed: Any) -> Any:
        """Ask the graph for more until enough of what it finds is allowed."""
        depth = limit * 2
        while True:
            with self.lock:
                keys = self.graph.search(vector, min(depth, self.graphed)).keys
            kept = keys[allowed[keys.astype(np.int64)]].astype(np.int64)
            if len(kept) >= limit or depth >= self.graphed:
                return kept
            depth *= 4


class Nearest:
    """The rows of one index. One thread writes; ``view`` is for those who search."""

    def __init__(self, folder: Path, dimension: int, scanned: int = SCANNED) -> None:
        self._folder = folder
        self._dimension = dimension
        self._most_scanned = scanned
        self._count = 0
        self._view: View | None = None
        self._graph: Any = None
        self._growing: Any = None
        self._lock = threading.Lock()  # one search of a graph at a time: its threads would share their notes

    def attach(self, count: int) -> None:
        """Map the first ``count`` rows, and cut off what a crash left behind them. Raises OSError, ValueError."""
        path = self._folder / "rows.f32"
        _cut(path, count * self._dimension * 4)
        if _size(path) < count * self._dimension * 4:
            raise ValueError(f"{path.name} holds fewer than {count} rows")
        self._count, self._view = count, None
        self._complete_small()
        self._read_graph()

    def append(self, rows: Any) -> None:
        """Write rows behind the others, on disk when this returns."""
        rows = np.ascontiguousarray(rows, np.float32)
        _write(self._folder / "rows.f32", rows)
        _write(self._folder / "rows.i8", _as_bytes(rows))
        self._count += len(rows)
        self._view = None

    def rows(self, numbers: Sequence[int]) -> Any:
        """Return a copy of some rows."""
        return np.array(self.view().rows[list(numbers)])

    def view(self) -> View:
        """Return the rows as they are now."""
        with self._lock:
            if self._view is None:
                small = self._mapped("rows.i8", np.int8, self._dimension + _SCALE)
                scales = small[:, self._dimension :].copy().view(np.float32)[:, 0]
                graphed = len(self._graph) if self._graph is not None else 0
                rows = self._mapped("rows.f32", np.float32, self._dimension)
                few = self._most_scanned // 10
                self._view = View(rows, small, scales, self._graph, graphed, few, self._lock)
            return self._view

    @property
    def untended(self) -> bool:
        """Whether the graph of neighbours lacks so many rows that it should take them in."""
        have = len(self._graph) if self._graph is not None else 0
        return self._count > self._most_scanned and self._count - have > min(_TAIL, self._most_scanned)

    def tend(self) -> None:
        """Take the next thousand rows into the graph, which serves once it has all; the one before serves until then.

        Raises OSError when the disk refuses.
        """
        if self._growing is None:
            self._growing = self._saved(view=False) or self._new_graph()
        have = len(self._growing)
        upto = min(have + _STEP, self._count)
        if have < upto:
            self._growing.add(np.arange(have, upto), self.rows(range(have, upto)))
        if upto == self._count or upto % (_STEP * _STEPS_SAVED) == 0:
            self._save()
        if upto == self._count:
            with self._lock:
                self._graph, self._growing, self._view = self._growing, None, None

    def close(self) -> None:
        """Let go of the files; a graph that was begun is kept, to go on with."""
        if self._growing is not None and len(self._growing):
            self._save()
        self._view = self._graph = self._growing = None
        self._count = 0

    def _mapped(self, name: str, kind: Any, width: int) -> Any:
        if not self._count:
            return np.zeros((0, width), kind)
        return np.memmap(self._folder / name, kind, "r", shape=(self._count, width))

    def _complete_small(self) -> None:
        """Write the bytes of the rows that lack them: a crash came in between, or an earlier release wrote the rows."""
        path, width = self._folder / "rows.i8", self._dimension + _SCALE
        _cut(path, self._count * width)
        have = _size(path) // width
        _cut(path, have * width)
        rows = self._mapped("rows.f32", np.float32, self._dimension)
        for start in range(have, self._count, 10_000):
            _write(path, _as_bytes(rows[start : start + 10_000]))

    def _new_graph(self) -> Any:
        from usearch.index import Index

        return Index(
            ndim=self._dimension,
            metric="ip",
            dtype="f16",
            connectivity=_CONNECTIVITY,
            expansion_add=_EXPANSION_ADD,
            expansion_search=_EXPANSION_SEARCH,
        )

    def _read_graph(self) -> None:
        """Map the graph that was saved, if it fits; one that is damaged, or knows rows that are gone, is made anew."""
        self._graph = self._growing = None
        if self._count <= self._most_scanned:
            return
        self._graph = self._saved(view=True)

    def _saved(self, *, view: bool) -> Any:
        path = self._folder / "graph.usearch"
        graph = self._new_graph()
        try:
            if path.exists():
                (graph.view if view else graph.load)(str(path))
                if 0 < len(graph) <= self._count:
                    return graph
        except Exception:  # usearch raises what it likes about a damaged file
            pass
        path.unlink(missing_ok=True)
        return None

    def _save(self) -> None:
        fresh = self._folder / "graph.fresh"
        self._growing.save(str(fresh))
        os.replace(fresh, self._folder / "graph.usearch")


def _as_bytes(rows: Any) -> Any:
    """Return rows as bytes from -127 to 127, each with its scale behind it."""
    peaks = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scales = np.where(peaks > 0, peaks, 1).astype(np.float32) / np.float32(127)
    return np.hstack([np.rint(rows / scales).astype(np.int8), scales.view(np.int8)])


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _cut(path: Path, size: int) -> None:
    if _size(path) > size:
        os.truncate(path, size)


def _write(path: Path, rows: Any) -> None:
    with path.open("ab") as file:
        file.write(rows.tobytes())
        file.flush()
        os.fsync(file.fileno())
