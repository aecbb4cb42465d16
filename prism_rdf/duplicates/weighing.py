"""How likely two records are of one thing: a pure function over records, evidence, then a score; no store is read.

The score is a logistic regression over nine measures that know nothing of any schema. Its weights were learned from
one half (by hash) of the labelled pairs of eight public collections (Magellan: papers, songs, restaurants, beers,
products), each collection counting alike, and the measures were chosen by how well they carry over to a collection
that was left out; bench/duplicates.py learns and reports them again. What decides against a merge outright is no
matter of weights: see ``Evidence.against``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from prism_rdf.duplicates.aligning import Alignment, align
from prism_rdf.duplicates.collection import Cut, Vocabulary
from prism_rdf.duplicates.tokens import kind_of

_YEAR = re.compile(r"(1[89]|20)\d\d")
_MOST_TOLD, _MOST_ELSEWHERE, _MOST_CONTRADICTION, _MOST_NAMESAKES = 4.0, 8.0, 6.0, 5
_PER_PROPERTY = 2.0  # so that no long description outweighs all the rest
_ENOUGH = 1.0  # the weight of one token that no other record holds
_DOUBT = 0.75  # of pairs that a number tells apart, about three in four of the most alike are one thing all the same

INTERCEPT = -3.63
WEIGHTS: Mapping[str, float] = {
    "agreement": 1.60,  # of the names, by weight
    "missing": -1.25,  # weight of what both names say and the other record does not
    "told": 3.02,  # weight of what the names share
    "figure": 3.25,  # weight of the most telling number or code that both records hold
    "equal": 1.40,  # share of the properties of both that are the same
    "elsewhere": 1.21,  # weight of what they share outside of the names
    "contradiction": -1.95,  # weight of what they say of the same property and not of each other
    "namesakes": -3.20,  # how many others have the name of one of them
    "whole": 2.88,  # neither name holds what the other record does not, and they share more than the names
}


@dataclass(frozen=True)
class Evidence:
    """What speaks for and against two records being of one thing. ``left`` and ``right`` are as they were given."""

    names: Alignment  # of the two that agree most,
    called: tuple[str, str]  # and the properties that hold them
    measures: Mapping[str, float]
    identical: bool
    properties: Mapping[str, float]  # of each property that both have: how much agrees, in [0, 1]
    left_marks: tuple[str, ...] = ()  # numbers, codes and lone letters that only the left names hold
    right_marks: tuple[str, ...] = ()
    years: tuple[tuple[str, ...], tuple[str, ...]] = field(default=((), ()))
    namesakes: int = 0
    elsewhere: bool = False  # what agrees besides the names tells as much as a word that nobody else says

    @property
    def against(self) -> bool:
        """Say whether something tells the two apart that no likeness makes up for: a number, a code or a year."""
        return bool(self.left_marks or self.right_marks or self.years[0])

    @property
    def mergeable(self) -> bool:
        """Say whether the two may be merged unseen: nothing tells them apart, and more than a name agrees."""
        return not self.against and self.elsewhere

    @property
    def score(self) -> float:
        """Return how likely they are of one thing, in [0, 1]: 1 for what is identical, at most 0.75 for ``against``."""
        if self.identical:
            return 1.0
        logit = INTERCEPT + math.fsum(WEIGHTS[name] * value for name, value in self.measures.items())
        return (_DOUBT if self.against else 1.0) / (1.0 + math.exp(-logit))


def weigh(left: Cut, right: Cut, words: Vocabulary) -> Evidence:
    """Return the evidence on two records; the same from both sides but for which is left and which is right."""
    if left.order > right.order:
        return _turned(weigh(right, left, words))
    names, called = _best_names(left, right, words)
    missing = [
        [token for token in found if token not in other.bag]
        for found, other in ((names.left, right), (names.right, left))
    ]
    outside = words.total((left.bag & right.bag) - (left.naming & right.naming))
    agreeing = {prop: _agreement(left.rest[prop], right.rest[prop], words) for prop in _shared(left, right)}
    whole = float(not missing[0] and not missing[1] and names.total > 0)
    namesakes = max((words.bearers(name) for name in (*left.called, *right.called)), default=1) - 1
    measures = {
        "agreement": names.agreement,
        "missing": min(words.total(found) for found in missing),
        "told": min(names.shared, _MOST_TOLD) / _MOST_TOLD,
        "figure": max((words.weight(token) for token in _shared_figures(left, right)), default=0.0),
        "equal": sum(value == 1.0 for value in agreeing.values()) / len(agreeing) if agreeing else 0.0,
        "elsewhere": min(outside, _MOST_ELSEWHERE) / (_MOST_ELSEWHERE / 2),
        "contradiction": _contradiction(left, right, words),
        "namesakes": min(namesakes, _MOST_NAMESAKES) / _MOST_NAMESAKES,
        "whole": whole * min(1.0, outside / (_MOST_ELSEWHERE / 2)),
    }
    letters = _lone_letters(names)
    return Evidence(
        names=names,
        called=called,
        measures=measures,
        identical=bool(left.bag) and left.order == right.order,
        properties=agreeing,
        left_marks=tuple(sorted(_marks(left, right) | letters[0])),
        right_marks=tuple(sorted(_marks(right, left) | letters[1])),
        years=_years_apart(left, right),
        namesakes=max(0, namesakes - 1),
        elsewhere=outside >= _ENOUGH,
    )


def _turned(found: Evidence) -> Evidence:
    names = replace(
        found.names,
        left=found.names.right,
        right=found.names.left,
        respelled=tuple((right, left) for left, right in found.names.respelled),
    )
    return replace(
        found,
        names=names,
        called=(found.called[1], found.called[0]),
        left_marks=found.right_marks,
        right_marks=found.left_marks,
        years=(found.years[1], found.years[0]),
    )


def _best_names(left: Cut, right: Cut, words: Vocabulary) -> tuple[Alignment, tuple[str, str]]:
    found = [
        (align(one, other, words), (mine, yours))
        for mine, ones in left.names.items()
        for yours, others in right.names.items()
        for one in ones
        for other in others
    ]
    return max(found, key=lambda each: (each[0].agreement, each[0].shared), default=(Alignment(0.0, 0.0), ("", "")))


def _shared_figures(left: Cut, right: Cut) -> frozenset[str]:
    """Return the numbers and codes that both records hold, also where one of them writes it in two."""
    together = (left.figures & right.joined) | (right.figures & left.joined)
    return (left.figures & right.figures) | together


def _shared(left: Cut, right: Cut) -> list[str]:
    return sorted(left.rest.keys() & right.rest.keys())


def _agreement(left: Iterable[str], right: Iterable[str], words: Vocabulary) -> float:
    mine, yours = set(left), set(right)
    both = words.total(mine) + words.total(yours)
    return 1.0 if mine == yours else 2 * words.total(mine & yours) / both


def _contradiction(left: Cut, right: Cut, words: Vocabulary) -> float:
    """Return how much each of two records says of the same property that the other says nowhere."""
    apart = 0.0
    for prop in _shared(left, right):
        mine = words.total(set(left.rest[prop]) - right.bag)
        yours = words.total(set(right.rest[prop]) - left.bag)
        apart += min(mine, yours, _PER_PROPERTY)
    return min(apart, _MOST_CONTRADICTION) / _PER_PROPERTY


def _marks(record: Cut, other: Cut) -> set[str]:
    """Return the numbers and codes in the names of a record that the other one holds nowhere, however it writes them.

    A kind of name that the other one has none of says nothing.
    """
    found = set()
    for prop in record.names.keys() & other.names.keys():
        for name in record.names[prop]:
            together = {part for pair in pairwise(name) if "".join(pair) in other.bag for part in pair}
            found |= {token for token in name if kind_of(token) != "word" and token not in together}
    return found - other.bag - other.joined


def _lone_letters(names: Alignment) -> tuple[set[str], set[str]]:
    """Return the letters that tell two names apart, as in Plan A and Plan B; an initial of a name is not left over."""
    left, right = (
        {token for token in found if len(token) == 1 and kind_of(token) == "word"}
        for found in (names.left, names.right)
    )
    return (left, right) if left and right else (set(), set())


def _years_apart(left: Cut, right: Cut) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the years in two records when both name some and none is the same."""
    mine, yours = ({token for token in record.figures if _YEAR.fullmatch(token)} for record in (left, right))
    return ((), ()) if not mine or not yours or mine & yours else (tuple(sorted(mine)), tuple(sorted(yours)))
