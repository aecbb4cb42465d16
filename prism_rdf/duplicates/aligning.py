"""Which tokens of two names say the same: equal, written together, shortened or misspelled; no score is made here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz.distance import OSA

from prism_rdf.duplicates.collection import Vocabulary
from prism_rdf.duplicates.tokens import kind_of

_INITIAL, _SHORTENED = 0.8, 0.85
_SHORTEST_BEGINNING = 3
_SHORTEST_MISSPELLED, _LONG = 4, 8


@dataclass(frozen=True)
class Alignment:
    """What two names share, by weight; what only one of them holds; and which tokens agree but for their spelling."""

    shared: float
    total: float
    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    respelled: tuple[tuple[str, str], ...] = ()

    @property
    def agreement(self) -> float:
        """Return the share of the weight of both names that agrees (Dice), in [0, 1]."""
        return min(1.0, 2 * self.shared / self.total) if self.total else 0.0


def align(left: Sequence[str], right: Sequence[str], words: Vocabulary) -> Alignment:
    """Pair the tokens of two names, each at most once, whatever their order.

    Numbers and codes agree only when they are equal, or written together on one side and apart on the other.
    """
    mine, yours, both = list(left), [], []
    for token in right:
        if token in mine:
            mine.remove(token)
            both.append(token)
        else:
            yours.append(token)
    pairing = _Pairing(mine, yours, words)
    if mine and yours:
        pairing.written_together(left, right)
        pairing.spelled_alike()
    shared = words.total(both) + pairing.shared
    total = words.total(left) + words.total(right)
    return Alignment(shared, total, tuple(pairing.left), tuple(pairing.right), tuple(pairing.respelled))


class _Pairing:
    """The tokens of two names that are not equal, while they are paired."""

    def __init__(self, left: list[str], right: list[str], words: Vocabulary) -> None:
        self.left = left
        self.right = right
        self.shared = 0.0
        self.respelled: list[tuple[str, str]] = []
        self._words = words

    def written_together(self, left: Sequence[str], right: Sequence[str]) -> None:
        """Pair a token with the two neighbours that it is made of, such as 5disc with 5 and disc."""
        for first, second in pairwise(left):
            if self._take(self.left, self.right, first, second):
                self.respelled.append((f"{first} {second}", first + second))
        for first, second in pairwise(right):
            if self._take(self.right, self.left, first, second):
                self.respelled.append((first + second, f"{first} {second}"))

    def _take(self, apart: list[str], together: list[str], first: str, second: str) -> bool:
        if first + second not in together or first not in apart or second not in apart:
            return False
        if first == second and apart.count(first) < 2:
            return False
        together.remove(first + second)
        apart.remove(first)
        apart.remove(second)
        self.shared += self._words.total((first + second, first, second)) / 2
        return True

    def spelled_alike(self) -> None:
        """Pair words that look like spellings of one, the most alike first."""
        found = [(likeness(x, y), x, y) for x in set(self.left) for y in set(self.right)]
        for alike, x, y in sorted((each for each in found if each[0]), key=lambda each: (-each[0], each[1:])):
            while x in self.left and y in self.right:
                self.left.remove(x)
                self.right.remove(y)
                self.shared += alike * self._words.total((x, y)) / 2
                self.respelled.append((x, y))


def likeness(one: str, other: str) -> float:
    """Return how much two different words look like spellings of one, in [0, 1); 0 for numbers, codes and most words.

    An initial or a beginning stands for the word; else a slip is allowed (two in long words), none in the first letter.
    Slips are counted as optimal string alignment: a letter more, less, other, or two swapped.

    >>> likeness("j", "john"), likeness("jonh", "john"), likeness("2004", "2005")
    (0.8, 0.75, 0.0)
    """
    if one[0] != other[0] or kind_of(one) != "word" or kind_of(other) != "word":
        return 0.0
    short, long = sorted((one, other), key=len)
    if len(short) == 1:
        return _INITIAL if len(long) > 1 else 0.0
    if len(short) >= _SHORTEST_BEGINNING and long.startswith(short):
        return _SHORTENED
    if len(short) < _SHORTEST_MISSPELLED:
        return 0.0
    allowed = 1 if len(short) < _LONG else 2
    slips = OSA.distance(short, long, score_cutoff=allowed)
    return 1 - slips / len(long) if slips <= allowed else 0.0
