"""Which pairs of a collection are worth comparing: those that share rare pieces of their names; nothing is judged here.

Comparing all pairs of 10,000 records would be 50 million comparisons. Each record is compared with the few that share
most with it, counted over tokens and three-letter pieces that few records hold (k nearest neighbours on an inverted
index, as in meta-blocking: Papadakis et al., "Blocking and Filtering Techniques for Entity Resolution", 2020).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from heapq import nsmallest
from itertools import pairwise

from prism_rdf.duplicates.collection import Cut

Progress = Callable[[int, int, str], None]

_PIECE = 3  # letters
_LARGEST_BLOCK = 100  # a piece that more records hold tells none of them apart, and costs its square
_MOST_PIECES = 100  # of one record, the rarest
_SHARE = 0.02  # of the collection may be neighbours of one record,
_FEWEST, _MOST = 3, 12  # within these bounds
_LEAST = 0.15  # of what a record holds another one has to share
_EVERY = 500  # records


def candidate_pairs(records: Sequence[Cut], progress: Progress | None = None) -> Iterator[tuple[int, int]]:
    """Yield the pairs to compare as positions (i, j), i < j, each once; at most 12 for each record, in a fixed order.

    Memory is that of the index: at most 100 entries for each piece.
    """
    index = _Index(records)
    kept = max(_FEWEST, min(_MOST, int(_SHARE * len(records))))
    seen: set[int] = set()
    for i in range(len(records)):
        for j in index.nearest(i, kept):
            low, high = min(i, j), max(i, j)
            if low * len(records) + high not in seen:
                seen.add(low * len(records) + high)
                yield low, high
        if progress is not None and i % _EVERY == 0:
            progress(i, len(records), "compared")


class _Index:
    """Which records hold a piece, and how much each piece tells."""

    def __init__(self, records: Sequence[Cut]) -> None:
        held: Counter[str] = Counter()
        for record in records:
            held.update(_pieces(record))
        self._weight = {piece: math.log(1 + len(records) / holders) ** 2 for piece, holders in held.items()}
        self._blocks: defaultdict[str, list[int]] = defaultdict(list)
        self._chosen: list[list[str]] = []
        self._total: list[float] = []
        for i, record in enumerate(records):
            pieces = _pieces(record)
            self._total.append(math.fsum(self._weight[piece] for piece in pieces))
            telling = [piece for piece in pieces if 1 < held[piece] <= _LARGEST_BLOCK]
            self._chosen.append(sorted(telling, key=lambda piece: (held[piece], piece))[:_MOST_PIECES])
            for piece in self._chosen[-1]:
                self._blocks[piece].append(i)

    def nearest(self, i: int, most: int) -> list[int]:
        """Return the records that share most with record ``i``, at least a part of what the lesser of both holds."""
        shared: defaultdict[int, float] = defaultdict(float)
        for piece in self._chosen[i]:
            more = self._weight[piece]
            for j in self._blocks[piece]:
                shared[j] += more
        mine = self._total[i]
        near = [(-more, j) for j, more in shared.items() if j != i and more >= _LEAST * min(mine, self._total[j])]
        return [j for _, j in nsmallest(most, near)]


def _pieces(record: Cut) -> set[str]:
    """Return the tokens of a record, the neighbours in its names, and three-letter pieces of names written together.

    Where many are called John and many Smith, few are called both.
    """
    found = set(record.bag)
    for name in record.called:
        found.update(" ".join(sorted(pair)) for pair in pairwise(name))
        joined = "".join(name)
        found.update(f"#{joined[at : at + _PIECE]}" for at in range(len(joined) - _PIECE + 1))
    return found
