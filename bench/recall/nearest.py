"""How fast and how well rows near to one are found: numpy over all, bytes then rows, a graph of neighbours.

    python bench/recall/nearest.py                          # 100,000 rows; the graph takes some minutes to make
    python bench/recall/nearest.py --rows 300000 --no-graph

Rows are mixtures of the real vectors that development.py keeps, with noise of their own. Times are of the wall and of
the processor; recall is the share of the ten nearest (by numpy, over all) that is found.
"""

from __future__ import annotations

import argparse
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from prism_rdf.recall.nearest import Nearest

_LIMIT = 100
_QUESTIONS = 200
Found = list[tuple[int, float]]


def vectors(path: Path) -> Any:
    rows = [np.frombuffer(row, np.float32) for (row,) in sqlite3.connect(path).execute("SELECT b FROM v")]
    return np.unique(np.vstack(rows), axis=0)


def mixed(real: Any, count: int, random: np.random.Generator) -> Any:
    """Return so many rows of length 1: the real ones first, then what lies between two of them."""
    rows = real[:count]
    while len(rows) < count:
        step = min(20_000, count - len(rows))
        first, second = (real[random.integers(len(real), size=step)] for _ in range(2))
        noise = 0.02 * random.standard_normal(first.shape)
        rows = np.vstack([rows, (0.8 * first + 0.35 * second + noise).astype(np.float32)])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def timed(name: str, search: Callable[[Any], Found], asked: Any, wanted: list[set[int]]) -> None:
    wall, used, same = [], [], 0
    for vector, ten in zip(asked, wanted, strict=True):
        begun, processor = time.perf_counter(), time.process_time()
        found = search(vector)
        wall.append(time.perf_counter() - begun)
        used.append(time.process_time() - processor)
        same += len(ten & {row for row, _ in found[:10]})
    cells = [1000 * np.percentile(values, part) for values in (wall, used) for part in (50, 95)]
    share = same / sum(map(len, wanted))
    print(f"| {name} | {share:.3f} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |", flush=True)


def by_numpy(rows: Any) -> Callable[[Any], Found]:
    def search(vector: Any) -> Found:
        scores = rows @ vector
        best = np.argpartition(-scores, _LIMIT)[:_LIMIT]
        best = best[np.argsort(-scores[best])]
        return list(zip(best.tolist(), scores[best].tolist(), strict=True))

    return search


def filled(folder: Path, rows: Any, scanned: int) -> Nearest:
    near = Nearest(folder, rows.shape[1], scanned=scanned)
    for start in range(0, len(rows), 10_000):
        near.append(rows[start : start + 10_000])
    return near


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--vectors", type=Path, default=Path("~/.cache/prism/bench/vectors.db").expanduser())
    parser.add_argument("--no-graph", action="store_true")
    options = parser.parse_args()
    random = np.random.default_rng(7)
    real = vectors(options.vectors)
    rows = mixed(real, options.rows, random)
    asked = mixed(real, len(real) + _QUESTIONS, random)[len(real) :]
    exact, allowed = by_numpy(rows), np.ones(len(rows), bool)
    wanted = [{row for row, _ in exact(vector)[:10]} for vector in asked]
    print(f"{len(rows):,} rows of {rows.shape[1]} numbers, {len(asked)} questions\n")
    print("| search | recall@10 | wall ms p50 | p95 | processor ms p50 | p95 |\n|---|---|---|---|---|---|")
    timed("numpy, all rows", exact, asked, wanted)
    with TemporaryDirectory() as folder:
        view = filled(Path(folder), rows, len(rows)).view()
        timed("bytes, then rows", lambda vector: view.search(vector, _LIMIT, allowed), asked, wanted)
    if not options.no_graph:
        with TemporaryDirectory() as folder:
            near, begun = filled(Path(folder), rows, 1), time.process_time()
            while near.untended:
                near.tend()
            graph, used = near.view(), time.process_time() - begun
            timed("graph of neighbours", lambda vector: graph.search(vector, _LIMIT, allowed), asked, wanted)
            print(f"\nmaking the graph took {used:.0f} s of the processor")


if __name__ == "__main__":
    main()
