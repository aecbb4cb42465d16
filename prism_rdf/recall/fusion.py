"""How the rankings of several legs become one, and how time bears on it: pure arithmetic over memory IRIs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, nextafter
from types import MappingProxyType

from prism_rdf.clock import Instant

_MICROS_PER_DAY = 86_400_000_000


@dataclass(frozen=True)
class Recipe:
    """How recall weighs what it finds.

    ``k`` and ``weights`` are those of the reciprocal rank fusion (a leg that is not named weighs 1), ``depth`` how
    many a leg is asked for, ``half_life`` and ``recency`` (how much of a score age can take away) those of
    ``reweighed``, ``near`` the share of a superseded hit's score from which its successor passes it, ``spread`` what
    each further version of a passage keeps of its score.
    """

    k: int = 20
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({"lexical": 1.5, "graph": 1.0}))
    depth: int = 100
    half_life: float = 180.0
    recency: float = 0.2
    near: float = 0.7
    spread: float = 0.8

    @property
    def reach(self) -> float:
        """The share of another hit's score from which time alone could still lift a hit above it."""
        return (1 - self.recency) * min(self.near, self.spread)

    def weight(self, leg: str) -> float:
        return self.weights.get(leg, 1.0)


@dataclass(frozen=True)
class Fused:
    """A memory found by some legs: its score, and by leg the rank (from 1) and the leg's own score."""

    iri: str
    score: float
    ranks: Mapping[str, int]
    leg_scores: Mapping[str, float]
    recency: float = 1.0


def fuse(rankings: Mapping[str, Sequence[tuple[str, float]]], recipe: Recipe) -> list[Fused]:
    """Return what any leg found, best first: the score is the sum of weight / (k + rank) over the legs.

    Weighted reciprocal rank fusion (G. Cormack, C. Clarke, S. Büttcher, SIGIR 2009, there with k = 60). A second
    occurrence in one ranking is ignored. Equal scores are ordered by IRI.

    >>> [(hit.iri, round(hit.score, 4)) for hit in fuse({"lexical": [("a", 9.0), ("b", 5.0)]}, Recipe())]
    [('a', 0.0714), ('b', 0.0682)]
    """
    scores: dict[str, float] = {}
    ranks: dict[str, dict[str, int]] = {}
    leg_scores: dict[str, dict[str, float]] = {}
    for leg, ranking in rankings.items():
        for rank, (iri, score) in enumerate(ranking, start=1):
            if leg in ranks.setdefault(iri, {}):
                continue
            scores[iri] = scores.get(iri, 0.0) + recipe.weight(leg) / (recipe.k + rank)
            ranks[iri][leg] = rank
            leg_scores.setdefault(iri, {})[leg] = score
    return _ranked(Fused(iri, score, ranks[iri], leg_scores[iri]) for iri, score in scores.items())


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

    With the share of .2, a very old memory keeps four fifths of its score. At k = 20 that is what lies between rank 1
    and rank 6: age decides between neighbours, and never makes a relevant memory vanish.
    """
    return _ranked(
        Fused(hit.iri, hit.score * (1 - recipe.recency + recipe.recency * fresh), hit.ranks, hit.leg_scores, fresh)
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
        lifted.append(Fused(hit.iri, score, hit.ranks, hit.leg_scores, hit.recency))
    return _ranked(lifted)


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
        sunk.append(Fused(hit.iri, hit.score * recipe.spread**count, hit.ranks, hit.leg_scores, hit.recency))
    return _ranked(sunk)


def _ranked(hits: Iterable[Fused]) -> list[Fused]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.iri))
