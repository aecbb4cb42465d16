"""Precision and recall of the proposals of duplicates on labelled pairs of public collections; asserts nothing.

    python bench/duplicates.py                 # what ships
    python bench/duplicates.py --learn         # learn the weights again, and with each collection left out
    python bench/duplicates.py --entities 10000

The data: one folder for each collection with valid.txt, each line two records and whether they are one thing; a record
is 'COL name VAL value …' and is called by its first column. A collection is the records of both sides. Each proposal
has to pass blocking first. Half of the pairs, by hash, is what weights are learned from; the other half is held out.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from prism_rdf.duplicates import MERGE_AT, REVIEW_AT
from prism_rdf.duplicates.collection import Record
from prism_rdf.duplicates.matching import Matcher
from prism_rdf.duplicates.weighing import WEIGHTS, Evidence

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "er-magellan"
_COLUMN = re.compile(r"COL (\S+) VAL (.*?)(?=\s*COL \S+ VAL |\s*$)")


@dataclass(frozen=True)
class Pair:
    """A labelled pair: what its two records show, whether blocking let it through, and which half it is in."""

    collection: str
    evidence: Evidence
    blocked: bool
    same: bool
    held_out: bool


@dataclass(frozen=True)
class Blocking:
    """How many pairs blocking left over of all that the records of a collection make."""

    records: int
    kept: int

    @property
    def reduction(self) -> float:
        return 1 - self.kept / (self.records * (self.records - 1) / 2)


def record(text: str) -> Record:
    """Return a record of a line of the data."""
    return {name: [value] for name, value in _COLUMN.findall(text.strip())}


def read(folder: Path) -> tuple[list[Pair], Blocking]:
    """Return the pairs of a collection, weighed, and what blocking makes of it."""
    lines = [line.split("\t") for line in (folder / "valid.txt").read_text(encoding="utf-8").splitlines()]
    rows = [(left.strip(), right.strip(), label.strip() == "1") for left, right, label in lines]
    at = {text: place for place, text in enumerate(dict.fromkeys(side for row in rows for side in row[:2]))}
    records = [record(text) for text in at]
    matcher = Matcher(records, naming=[next(iter(records[0]))])
    kept = set(matcher.candidates())
    pairs = [
        Pair(
            folder.name,
            matcher.weigh(at[left], at[right]),
            (min(at[left], at[right]), max(at[left], at[right])) in kept,
            same,
            hashlib.sha256(f"{left}\t{right}".encode()).digest()[-1] % 2 == 1,
        )
        for left, right, same in rows
    ]
    return pairs, Blocking(len(records), len(kept))


def wilson(hits: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson, 1927)."""
    if not of:
        return 0.0, 1.0
    share = hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    reach = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return middle - reach, middle + reach


@dataclass(frozen=True)
class Measured:
    """How many pairs were picked, how many of them are one thing, and how many there are to find."""

    hits: int
    picked: int
    to_find: int

    @property
    def precision(self) -> float:
        return self.hits / self.picked if self.picked else math.nan

    @property
    def recall(self) -> float:
        return self.hits / self.to_find if self.to_find else math.nan


Score = Callable[[Evidence], float]


def measured(pairs: Sequence[Pair], at_least: float, *, merge: bool = False, score: Score | None = None) -> Measured:
    """Return what proposing, or merging, at a threshold comes to."""
    chosen = score or (lambda evidence: evidence.score)
    picked = [
        pair
        for pair in pairs
        if pair.blocked and chosen(pair.evidence) >= at_least and (pair.evidence.mergeable or not merge)
    ]
    return Measured(sum(pair.same for pair in picked), len(picked), sum(pair.same for pair in pairs))


def row(name: str, pairs: Sequence[Pair], blocking: Blocking | None = None) -> str:
    """Return one line of the table."""
    passed = Measured(sum(p.same and p.blocked for p in pairs), 1, sum(p.same for p in pairs)).recall
    merge, queue = measured(pairs, MERGE_AT, merge=True), measured(pairs, REVIEW_AT)
    reduced = (
        f"{blocking.records:6d} {passed:6.3f} {blocking.reduction:6.3f}" if blocking else f"{'':6} {passed:6.3f} {'':6}"
    )
    return (
        f"{name:26} {reduced}  {merge.precision:6.3f} {merge.recall:6.3f} {f'{merge.hits}/{merge.picked}':>9}"
        f"  {queue.precision:6.3f} {queue.recall:6.3f} {f'{queue.hits}/{queue.picked}':>10}"
    )


def report(found: dict[str, tuple[list[Pair], Blocking]]) -> None:
    """Print the table: blocking, what would be merged, what is proposed at all."""
    print(f"merge at >= {MERGE_AT}, propose at >= {REVIEW_AT}; P precision, R recall of the labelled pairs")
    print(
        f"{'collection':26} {'size':>6} {'block':>6} {'reduc':>6}  {'P':>6} {'R':>6} {'merged':>9}"
        f"  {'P':>6} {'R':>6} {'proposed':>10}"
    )
    for name, (pairs, blocking) in found.items():
        print(row(name, pairs, blocking))
    every = [pair for pairs, _ in found.values() for pair in pairs]
    for name, some in {
        "pooled": every,
        "pooled, held out": [pair for pair in every if pair.held_out],
        "pooled, learned from": [pair for pair in every if not pair.held_out],
    }.items():
        merge = measured(some, MERGE_AT, merge=True)
        low, high = wilson(merge.hits, merge.picked)
        print(f"{row(name, some)}\n{'':26} 95 % interval of the precision of merging: [{low:.4f}, {high:.4f}]")
    held_out = [pair for pair in every if pair.held_out]
    print("other thresholds of merging, held out:", end=" ")
    thresholds = {at_least: measured(held_out, at_least, merge=True) for at_least in (0.9, 0.93, 0.95, 0.98, 0.99)}
    print(", ".join(f"{at_least}: P {m.precision:.3f} R {m.recall:.3f}" for at_least, m in thresholds.items()))


def learned(pairs: Sequence[Pair]) -> tuple[float, dict[str, float]]:
    """Return the weights of a logistic regression by Newton's method, each collection counting alike (L2 of 1)."""
    names = list(WEIGHTS)
    sizes: dict[str, int] = {}
    for pair in pairs:
        sizes[pair.collection] = sizes.get(pair.collection, 0) + 1
    rows = [[1.0, *(pair.evidence.measures[name] for name in names)] for pair in pairs]
    share = [500 / sizes[pair.collection] for pair in pairs]
    width = len(names) + 1
    weights = [0.0] * width
    for _ in range(15):
        slope = [-weight if place else 0.0 for place, weight in enumerate(weights)]
        bend = [[float(i == j and i > 0) for j in range(width)] for i in range(width)]
        for pair, values, counts in zip(pairs, rows, share, strict=True):
            likely = 1 / (1 + math.exp(-sum(w * v for w, v in zip(weights, values, strict=True))))
            off, spread = counts * (pair.same - likely), counts * likely * (1 - likely)
            for i, value in enumerate(values):
                slope[i] += off * value
                for j in range(i + 1):
                    bend[i][j] += spread * value * values[j]
        full = [[bend[max(i, j)][min(i, j)] for j in range(width)] for i in range(width)]
        weights = [weight + step for weight, step in zip(weights, solved(full, slope), strict=True)]
    return weights[0], dict(zip(names, weights[1:], strict=True))


def solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Return x of matrix · x = right, by elimination."""
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for place in range(len(rows)):
        best = max(range(place, len(rows)), key=lambda line: abs(rows[line][place]))
        rows[place], rows[best] = rows[best], rows[place]
        for line in range(len(rows)):
            if line != place:
                times = rows[line][place] / rows[place][place]
                rows[line] = [value - times * other for value, other in zip(rows[line], rows[place], strict=True)]
    return [line[-1] / line[place] for place, line in enumerate(rows)]


def scoring(weights: tuple[float, dict[str, float]]) -> Score:
    """Return the score that these weights make."""

    def score(evidence: Evidence) -> float:
        if evidence.identical:
            return 1.0
        logit = weights[0] + sum(weights[1][name] * value for name, value in evidence.measures.items())
        return (0.75 if evidence.against else 1.0) / (1 + math.exp(-logit))

    return score


def learn(found: dict[str, tuple[list[Pair], Blocking]]) -> None:
    """Print the weights, and how each collection fares with weights that were learned from the others alone."""
    every = [pair for pairs, _ in found.values() for pair in pairs if not pair.held_out]
    intercept, weights = learned(every)
    print(f"intercept {intercept:.2f}", ", ".join(f"{name} {weight:.2f}" for name, weight in weights.items()))
    print("learned from the other collections alone:")
    sums = [0, 0, 0]
    for name, (pairs, _) in found.items():
        score = scoring(learned([pair for pair in every if pair.collection != name]))
        merge, queue = measured(pairs, MERGE_AT, merge=True, score=score), measured(pairs, REVIEW_AT, score=score)
        sums = [total + part for total, part in zip(sums, (merge.hits, merge.picked, merge.to_find), strict=True)]
        print(
            f"{name:26} merged {merge.hits}/{merge.picked} = {merge.precision:.3f}, recall {merge.recall:.3f};"
            f" proposed {queue.precision:.3f}, recall {queue.recall:.3f}"
        )
    print(f"{'pooled':26} merged {sums[0]}/{sums[1]} = {sums[0] / sums[1]:.3f}, recall {sums[0] / sums[2]:.3f}")


def speed(size: int) -> None:
    """Print how long it takes to find the doubles among so many made-up people, one in ten of them entered twice."""
    chance = random.Random(7)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "in", "os")]
    people = []
    for number in range(size):
        words = [
            "".join(chance.choices(syllables, k=chance.randint(2, 3))).title() for _ in range(chance.randint(2, 3))
        ]
        if number % 10 == 9:
            earlier = people[number - 5]
            name = earlier["name"][0]
            cut = chance.randrange(1, len(name) - 1)
            people.append({**earlier, "name": [name[:cut] + name[cut + 1 :]]})
            continue
        people.append(
            {
                "name": [" ".join(words)],
                "city": [chance.choice(syllables) * 2],
                "born": [str(chance.randint(1940, 2000))],
            }
        )
    started = time.process_time()
    matcher = Matcher(people, naming=["name"])
    cut_at = time.process_time()
    candidates = list(matcher.candidates())
    blocked = time.process_time()
    proposed = list(matcher.pairs(REVIEW_AT))
    done = time.process_time()
    doubles = {(number - 5, number) for number in range(9, size, 10)}
    kept = len(doubles & set(candidates)) / len(doubles)
    print(
        f"{size} records: cut {cut_at - started:.1f} s, block {blocked - cut_at:.1f} s ({len(candidates)} pairs,"
        f" {kept:.3f} of the doubles), block and weigh {done - blocked:.1f} s CPU; {len(proposed)} proposed,"
        f" {len(doubles & {(min(i, j), max(i, j)) for i, j, _ in proposed})} of {len(doubles)} doubles"
    )


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the collections")
    parser.add_argument("--learn", action="store_true", help="learn the weights again")
    parser.add_argument("--entities", type=int, help="only measure the speed on so many made-up records")
    args = parser.parse_args()
    if args.entities:
        speed(args.entities)
        return
    found = {folder.name: read(folder) for folder in sorted(args.data.iterdir()) if (folder / "valid.txt").exists()}
    report(found)
    if args.learn:
        learn(found)


if __name__ == "__main__":
    main()
