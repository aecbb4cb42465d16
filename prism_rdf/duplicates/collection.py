"""Records cut into tokens, and what a collection of them teaches about its words; pairs are not compared here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from prism_rdf.duplicates.tokens import kind_of, tokens

Record = Mapping[str, Sequence[str]]  # property to values, all as text; a property that is missing says nothing


@dataclass(frozen=True)
class Cut:
    """A record in tokens: what it is called, by property, and what else is said of it, by property."""

    names: Mapping[str, tuple[tuple[str, ...], ...]]
    rest: Mapping[str, tuple[str, ...]]

    @cached_property
    def called(self) -> tuple[tuple[str, ...], ...]:
        """Return every name once, in order."""
        return tuple(sorted({name for names in self.names.values() for name in names}))

    @cached_property
    def naming(self) -> frozenset[str]:
        """Return the tokens of all its names."""
        return frozenset(token for name in self.called for token in name)

    @cached_property
    def bag(self) -> frozenset[str]:
        """Return every token that stands anywhere in the record."""
        return self.naming.union(*self.rest.values())

    @cached_property
    def figures(self) -> frozenset[str]:
        """Return the numbers and codes that stand anywhere in the record."""
        return frozenset(token for token in self.bag if kind_of(token) != "word")

    @cached_property
    def joined(self) -> frozenset[str]:
        """Return what neighbouring tokens make when they are written together."""
        parts = (*(name for names in self.names.values() for name in names), *self.rest.values())
        return frozenset(first + second for part in parts for first, second in pairwise(part))

    @cached_property
    def order(self) -> tuple[object, ...]:
        """Return what sorts records the same way always, so that a pair is the same pair from both sides."""
        return tuple(sorted(self.names.items())), tuple(sorted(self.rest.items()))


def cut(record: Record, naming: Collection[str]) -> Cut:
    """Return a record in tokens; ``naming`` are the properties whose values are names. Empty values say nothing."""
    found = {prop: [tokens(value) for value in sorted(values)] for prop, values in sorted(record.items())}
    told = {prop: tuple(value for value in values if value) for prop, values in found.items()}
    return Cut(
        names={prop: values for prop, values in told.items() if values and prop in naming},
        rest={
            prop: tuple(token for value in values for token in value)
            for prop, values in told.items()
            if values and prop not in naming
        },
    )


class Vocabulary:
    """How many records of a collection hold each token, and so how much it tells that two of them share it."""

    def __init__(self, records: Iterable[Cut]) -> None:
        self._holders: Counter[str] = Counter()
        self._bearers: Counter[tuple[str, ...]] = Counter()
        size = 0
        for record in records:
            self._holders.update(record.bag)
            self._bearers.update({_unordered(name) for name in record.called})
            size += 1
        self._size = max(size, 2)
        most = math.log(1 + self._size)
        self._weights = {token: math.log(1 + self._size / held) / most for token, held in self._holders.items()}

    def holders(self, token: str) -> int:
        """Return how many records hold the token."""
        return self._holders[token]

    def bearers(self, name: Sequence[str]) -> int:
        """Return how many records are called so, whatever the order of the words."""
        return self._bearers[_unordered(name)]

    def weight(self, token: str) -> float:
        """Return how telling a token is, in (0, 1]: log(1 + records / its holders) / log(1 + records)."""
        return self._weights.get(token, 1.0)

    def total(self, found: Iterable[str]) -> float:
        """Return the weights of some tokens, added in an order of their own, so that a sum is the same every time."""
        return math.fsum([self._weights.get(token, 1.0) for token in found])


def _unordered(name: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(name))
