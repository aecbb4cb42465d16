"""How the rankings of several legs become one, and how time bears on it: pure arithmetic over memory IRIs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, nextafter, prod
from statistics import fmean, pstdev
from types import MappingProxyType
from typing import Literal

from prism_rdf.clock import Instant

_MICROS_PER_DAY = 86_400_000_000


@dataclass(frozen=True)
class Recipe:
    """How recall weighs what it finds; ``SCORES`` and ``RANKS`` are the two that have a name.

    With ``method`` "scores" the score is the cosine of the vector leg, plus ``weights`` times the share that a hit has
    of the best score of each other leg that scores by words, plus the same of the share 1 / (1 + rank / k) of a leg
    that only ranks. With "rrf" it is the sum of weight / (k + rank), the weight times ``gate`` of how far the best of
    the leg stands out from the rest. A leg that is not named weighs 1. ``depth`` is how many a leg is asked for.

    What follows is multiplied: ``first_person`` for what the asker said, asked by "I" and "my"; ``named`` for what a
    speaker or a source said that the question names; ``dated`` for what is of the month or year it says; up to
    ``session`` more for a series whose best hit is good. ``half_life`` and ``recency`` (how much of a score age can
    take away) are those of ``reweighed``, ``near`` the share of a superseded hit's score from which its successor
    passes it, ``spread`` what each further version of a passage keeps of its score. ``updates`` is how many of the best
    hits are looked at for what was said later of the same, ``update_near`` and ``update_cover`` which of them count:
    see ``recall.updates``. The measurements are in docs/decisions/ADR-104.
    """

    method: Literal["scores", "rrf"] = "scores"
    k: int = 20
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({"lexical": 0.5, "graph": 0.3}))
    gate: tuple[float, float] = (0.5, 0.125)
    depth: int = 100
    first_person: float = 1.35
    named: float = 1.25
    dated: float = 1.2
    session: float = 0.1
    half_life: float = 180.0
    recency: float = 0.2
    near: float = 0.7
    spread: float = 0.8
    updates: int = 8
    update_near: float = 0.4
    update_cover: float = 0.5

    def weight(self, leg: str) -> float:
        return self.weights.get(leg, 1.0)


SCORES = Recipe()
RANKS = Recipe(method="rrf", weights=MappingProxyType({"lexical": 1.25, "graph": 1.0}))
RECIPES: Mapping[str, Recipe] = MappingProxyType({"scores": SCORES, "rrf": RANKS})
_RANKS_ONLY = frozenset({"graph"})  # its scores count edges, and say little across questions
_COSINES = frozenset({"vector"})
_MOST_GATED = 100


@dataclass(frozen=True)
class Fused:
    """A memory found by some legs: its score, by leg the rank (from 1), the leg's own score, and its share."""

    iri: str
    score: float
    ranks: Mapping[str, int]
    leg_scores: Mapping[str, float]
    shares: Mapping[str, float] = field(default_factory=dict)
    recency: float = 1.0
    boosts: Mapping[str, float] = field(default_factory=dict)
    newer_than: str = ""

    def times(self, factor: float, name: str = "") -> Fused:
        """Return the hit with its score times a factor, told as a boost of that name if it has one."""
        boosts = {**self.boosts, name: factor} if name else self.boosts
        return self.scored(self.score * factor, boosts=boosts)

    def scored(self, score: float, *, recency: float | None = None, boosts: Mapping[str, float] | None = None) -> Fused:
        """Return the hit with another score; made without ``replace``, which takes five times as long."""
        return Fused(
            self.iri,
            score,
            self.ranks,
            self.leg_scores,
            self.shares,
            self.recency if recency is None else recency,
            self.boosts if boosts is None else boosts,
            self.newer_than,
        )


def fuse(rankings: Mapping[str, Sequence[tuple[str, float]]], recipe: Recipe) -> list[Fused]:
    """Return what any leg found, best first, by the method of the recipe.

    Weighted reciprocal rank fusion is by G. Cormack, C. Clarke, S. Büttcher (SIGIR 2009, there with k = 60). What a leg
    did not find has none of its share; of the vector leg a little less than the last that it did find, since that leg
    has a score for everything. A second occurrence in one ranking is ignored. Equal scores are ordered by IRI.

    >>> [(hit.iri, round(hit.score, 4)) for hit in fuse({"lexical": [("a", 9.0), ("b", 4.5)]}, SCORES)]
    [('a', 0.5), ('b', 0.25)]
    >>> [(hit.iri, round(hit.score, 4)) for hit in fuse({"vector": [("a", 0.9), ("b", 0.8)]}, RANKS)]
    [('a', 0.0476), ('b', 0.0455)]
    """
    ranks: dict[str, dict[str, int]] = {}
    leg_scores: dict[str, dict[str, float]] = {}
    shares: dict[str, dict[str, float]] = {}
    for leg, ranking in rankings.items():
        weight = leg_weight(leg, ranking, recipe)
        best = max((score for _, score in ranking), default=0.0)
        for rank, (iri, score) in enumerate(ranking, start=1):
            if leg in ranks.setdefault(iri, {}):
                continue
            ranks[iri][leg] = rank
            leg_scores.setdefault(iri, {})[leg] = score
            shares.setdefault(iri, {})[leg] = _share(leg, rank, score, best, weight, recipe)
    unseen = {}
    if recipe.method == "scores":
        unseen = {
            leg: 0.9 * max(0.0, ranking[-1][1]) for leg, ranking in rankings.items() if leg in _COSINES and ranking
        }
    return ranked(
        Fused(iri, sum({**unseen, **given}.values()), ranks[iri], leg_scores[iri], given)
        for iri, given in shares.items()
    )


def leg_weight(leg: str, ranking: Sequence[tuple[str, float]], recipe: Recipe) -> float:
    """Return what a leg weighs for one question: by ranks, a leg whose best hit does not stand out weighs less.

    Standing out is (best - mean) / deviation of the scores of its first hundred; the weight is taken times base + slope
    × that, from a half to one and a half.
    """
    weight = recipe.weight(leg)
    scores = [score for _, score in ranking[:_MOST_GATED]]
    if recipe.method == "scores" or leg in _RANKS_ONLY or len(scores) < 3:
        return weight
    deviation = pstdev(scores)
    base, slope = recipe.gate
    return weight * min(1.5, max(0.5, base + slope * (scores[0] - fmean(scores)) / deviation)) if deviation else weight


def _share(leg: str, rank: int, score: float, best: float, weight: float, recipe: Recipe) -> float:
    if recipe.method == "rrf":
        return weight / (recipe.k + rank)
    if leg in _COSINES:
        return weight * max(0.0, score)
    if leg in _RANKS_ONLY or best <= 0:
        return weight / (1 + (rank - 1) / recipe.k)
    return weight * score / best


def boosted(fused: Iterable[Fused], boosts: Mapping[str, Mapping[str, float]]) -> list[Fused]:
    """Return the same memories, each score times what its memory is boosted by, by name."""
    return ranked(
        hit.scored(hit.score * prod(boosts[hit.iri].values()), boosts=boosts[hit.iri]) if boosts.get(hit.iri) else hit
        for hit in fused
    )


def in_session(fused: Sequence[Fused], series: Mapping[str, str], recipe: Recipe) -> list[Fused]:
    """Return the same memories, each score × (1 + session × best score of its series / best score of all)."""
    best: dict[str, float] = {}
    for hit in fused:
        if series.get(hit.iri):
            best[series[hit.iri]] = max(best.get(series[hit.iri], 0.0), hit.score)
    top = max((hit.score for hit in fused), default=0.0)
    if top <= 0 or len(best) < 2:
        return list(fused)
    gains = {iri: 1 + recipe.session * best[name] / top for iri, name in series.items() if name in best}
    return ranked(hit.times(gain, "session") if gain else hit for hit in fused for gain in (gains.get(hit.iri, 0.0),))


def recency(said: Instant | None, as_of: Instant, half_life: float) -> float:
    """Return exp(-age in days / half_life), from 1 for something new to 0; 0 when the age is unknown.

    (The first brief calls the constant a half-life; after it, e⁻¹ = .37 is left.)
    """
    if said is None:
        return 0.0
    return exp(-max(0, as_of.micros - said.micros) / _MICROS_PER_DAY / half_life)


def reweighed(
    fused: Sequence[Fused], said: Mapping[str, Instant | None], as_of: Instant, recipe: Recipe
) -> list[Fused]:
    """Return the same memories ordered by score × (1 - recency_share + recency_share × recency); nothing is added.

    With the share of .2, a very old memory keeps four fifths of its score: age decides between neighbours, and never
    makes a relevant memory vanish.
    """
    return ranked(
        hit.scored(hit.score * (1 - recipe.recency + recipe.recency * fresh), recency=fresh)
        for hit in fused
        for fresh in (recency(said.get(hit.iri), as_of, recipe.half_life),)
    )


def successors_first(
    fused: Sequence[Fused], subjects: Mapping[str, str], superseded: Mapping[str, bool], recipe: Recipe
) -> list[Fused]:
    """Return the same memories, each of them that holds above the superseded ones of its subject it comes near to.

    Near is ``recipe.near`` of the superseded one's score; less near, relevance has more to say than time. A memory
    without a subject stays where it is.
    """
    best_past: dict[str, float] = {}
    lifted = []
    for hit in fused:
        if superseded.get(hit.iri, False) and subjects.get(hit.iri):
            subject = subjects[hit.iri]
            best_past[subject] = max(best_past.get(subject, 0.0), hit.score)
    for hit in fused:
        ahead = 0.0 if superseded.get(hit.iri, False) else best_past.get(subjects.get(hit.iri, ""), 0.0)
        near = hit.score < ahead and hit.score >= recipe.near * ahead
        score = nextafter(ahead, 2 * ahead) if near else hit.score
        lifted.append(hit.scored(score) if near else hit)
    return ranked(lifted)


def versions_spread(
    fused: Sequence[Fused],
    subjects: Mapping[str, str],
    superseded: Mapping[str, bool],
    recipe: Recipe,
    *,
    present: bool,
) -> list[Fused]:
    """Return the same memories, the superseded ones sinking by ``recipe.spread`` for each of their subject above them.

    Versions of one passage are nearly the same text, so they are found together; without this ten hits are one
    passage ten times. What holds does not count when the question is not about the present.
    """
    above: dict[str, int] = {}
    sunk = []
    for hit in fused:
        subject = subjects.get(hit.iri, "")
        is_past = superseded.get(hit.iri, False)
        count = above.get(subject, 0) if subject and is_past else 0
        above[subject] = above.get(subject, 0) + (is_past or present)
        sunk.append(hit.times(recipe.spread**count) if count else hit)
    return ranked(sunk)


def ranked(hits: Iterable[Fused]) -> list[Fused]:
    """Return hits best first; equal scores by IRI."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.iri))
