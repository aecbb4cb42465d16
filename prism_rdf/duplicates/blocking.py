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
_MOST_PIECES = 60  # of one record, the rarest
_SHARE = 0.02  # of the collection may be neighbours of one record,
_FEWEST, _MOST = 3, 12  # within these bounds
_EVERY = 500  # records


def candidate_pairs(records: Sequence[Cut], progress: Progress | None = None) -> Iterator[tuple[int, int]]:
    """Yield the pairs to compare as positions (i, j), i < j, each once; at most 12 for each record, in a fixed order.

    Memory is that of the index: at most 100 entries for each piece.
    """
    held: Counter[str] = Counter()
    for record in records:
        held.update(_pieces(record))
    blocks, chosen = _index(records, held)
    weight = {piece: math.log(1 + len(records) / len(block)) ** 2 for piece, block in blocks.items()}
    kept = max(_FEWEST, min(_MOST, int(_SHARE * len(records))))
    seen: set[int] = set()
    for i, pieces in enumerate(chosen):
        shared: defaultdict[int, float] = defaultdict(float)
        for piece in pieces:
            more = weight[piece]
            for j in blocks[piece]:
                shared[j] += more
        shared.pop(i, None)
        for _, j in nsmallest(kept, [(-more, j) for j, more in shared.items()]):
            low, high = min(i, j), max(i, j)
            if low * len(records) + high not in seen:
                seen.add(low * len(records) + high)
                yield low, high
        if progress is not None and i % _EVERY == 0:
            progress(i, len(records), "compared")


def _index(records: Sequence[Cut], held: Counter[str]) -> tuple[dict[str, list[int]], list[list[str]]]:
    blocks: defaultdict[str, list[int]] = defaultdict(list)
    chosen = []
    for i, record in enumerate(records):
        telling = [piece for piece in _pieces(record) if 1 < held[piece] <= _LARGEST_BLOCK]
        pieces = sorted(telling, key=lambda piece: (held[piece], piece))[:_MOST_PIECES]
        chosen.append(pieces)
        for piece in pieces:
            blocks[piece].append(i)
    return blocks, chosen


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
