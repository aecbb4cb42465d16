"""Rows of numbers in a file and the rows nearest to one: exact below a size, by a graph of neighbours above it.

What the rows stand for is not known here. The file is mapped into memory, so an index larger than memory still works.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

EXACT = 150_000  # rows of 384 numbers: exact takes 10 to 15 ms there; see bench/recall
_CONNECTIVITY, _EXPANSION_ADD, _EXPANSION_SEARCH = 24, 160, 320
_SAVED_EVERY = 50_000


class Nearest:
    """The rows of one index. Not safe for threads: its owner holds a lock."""

    def __init__(self, folder: Path, dimension: int, exact: int = EXACT) -> None:
        self._folder = folder
        self._dimension = dimension
        self._exact = exact
        self._count = 0
        self._map: Any = None
        self._graph: Any = None
        self._saved = 0

    def attach(self, count: int) -> None:
        """Map the first ``count`` rows, and cut off what a crash left behind them. Raises OSError, ValueError."""
        path = self._path
        wanted = count * self._dimension * 4
        if path.exists() and path.stat().st_size > wanted:
            os.truncate(path, wanted)
        if (path.stat().st_size if path.exists() else 0) < wanted:
            raise ValueError(f"{path.name} holds fewer than {count} rows")
        self._count = count
        self._map = None
        if count > self._exact:
            self._read_graph()

    def append(self, rows: Any) -> None:
        """Write rows behind the others, on disk when this returns."""
        with self._path.open("ab") as file:
            file.write(np.ascontiguousarray(rows, np.float32).tobytes())
            file.flush()
            os.fsync(file.fileno())
        self._count += len(rows)
        self._map = None
        if self._count > self._exact:
            self._grow_graph()

    def rows(self, numbers: Sequence[int]) -> Any:
        """Return a copy of some rows."""
        return np.array(self._mapped()[list(numbers)])

    def search(self, vector: Any, limit: int, allowed: Any) -> list[tuple[int, float]]:
        """Return up to ``limit`` (row number, dot product) of the rows that are allowed, best first."""
        if self._count == 0:
            return []
        if self._count <= self._exact or allowed.sum() <= self._exact // 10:
            return self._search_exactly(vector, limit, allowed)
        return self._search_graph(vector, limit, allowed)

    def close(self) -> None:
        if self._graph is not None and self._saved < self._count:
            self._save_graph()
        self._map = self._graph = None
        self._count = self._saved = 0

    @property
    def _path(self) -> Path:
        return self._folder / "rows.f32"

    def _mapped(self) -> Any:
        if self._map is None:
            self._map = np.memmap(self._path, np.float32, "r", shape=(self._count, self._dimension))
        return self._map

    def _search_exactly(self, vector: Any, limit: int, allowed: Any) -> list[tuple[int, float]]:
        scores = np.where(allowed, self._mapped() @ vector, -np.inf)
        few = min(limit, len(scores))
        best = np.argpartition(-scores, few - 1)[:few]
        ordered = best[np.lexsort((best, -scores[best]))]
        return [(int(row), float(scores[row])) for row in ordered if np.isfinite(scores[row])]

    def _search_graph(self, vector: Any, limit: int, allowed: Any) -> list[tuple[int, float]]:
        """Ask the graph for more until enough of what it finds is allowed."""
        depth = limit * 2
        while True:
            found = self._graph.search(vector, min(depth, self._count))
            kept = [int(key) for key in found.keys if allowed[key]]
            if len(kept) >= limit or depth >= self._count:
                break
            depth *= 4
        scores = self._mapped()[kept] @ vector
        ordered = sorted(zip(kept, scores.tolist(), strict=True), key=lambda each: (-each[1], each[0]))
        return ordered[:limit]

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
        """Read the graph that was saved, if it fits, and add the rows that came later."""
        path = self._folder / "graph.usearch"
        self._graph = self._new_graph()
        if path.exists():
            try:
                self._graph.load(str(path))
            except Exception:  # a damaged graph is made anew from the rows
                self._graph = self._new_graph()
        if len(self._graph) > self._count:
            self._graph = self._new_graph()
        self._saved = len(self._graph)
        self._grow_graph()

    def _grow_graph(self) -> None:
        if self._graph is None:
            self._graph = self._new_graph()
        have = len(self._graph)
        if have < self._count:
            self._graph.add(np.arange(have, self._count), np.array(self._mapped()[have:]))
        if self._count - self._saved >= _SAVED_EVERY:
            self._save_graph()

    def _save_graph(self) -> None:
        fresh = self._folder / "graph.fresh"
        self._graph.save(str(fresh))
        os.replace(fresh, self._folder / "graph.usearch")
        self._saved = self._count
