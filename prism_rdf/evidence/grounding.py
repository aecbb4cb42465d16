"""How a claim stands by what is said for and against it: the weight of a source, of a side, and the status; a formula.

A statement weighs what its tier weighs (``TIER_WEIGHT``) times its confidence (1 where none is given). A source counts
once for each side, by its strongest statement there, however often it repeats itself. A side weighs 1 − Π(1 − w) over
its sources, as if each were right or wrong by itself: a single authority is enough, and sources that agree add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal, get_args

from prism_rdf.errors import BadArgument
from prism_rdf.model import Stance

Status = Literal["AFFIRMATIVE", "CONTESTED", "CONTRADICTORY", "INSUFFICIENT_DATA", "UNCLASSIFIED"]
STATUSES: tuple[Status, ...] = get_args(Status)
WORST_FIRST: tuple[Status, ...] = (
    "CONTRADICTORY", "CONTESTED", "INSUFFICIENT_DATA", "AFFIRMATIVE", "UNCLASSIFIED",
)  # fmt: skip
TIER_WEIGHT: Mapping[int, float] = {1: 0.95, 2: 0.8, 3: 0.4}
ENOUGH = 0.5
# The names that another evidential store gives them.
_OTHER_NAMES: Mapping[str, Status] = {
    "WELL_GROUNDED": "AFFIRMATIVE",
    "MIXED_GROUNDING": "CONTESTED",
    "WEAK_GROUNDING": "INSUFFICIENT_DATA",
    "POORLY_GROUNDED": "INSUFFICIENT_DATA",
    "CONTRADICTED": "CONTRADICTORY",
}


@dataclass(frozen=True)
class Said:
    """One statement for or against a claim; ``source`` is who it counts for."""

    stance: Stance
    source: str
    tier: int
    confidence: float | None = None

    @property
    def weight(self) -> float:
        return TIER_WEIGHT[self.tier] * (1.0 if self.confidence is None else self.confidence)


@dataclass(frozen=True)
class Grounding:
    """How a claim stands: both sides from 0 to 1, and from how many sources."""

    status: Status
    support: float
    contradiction: float
    supporting: int
    contradicting: int


def independent(source: str) -> str:
    """Return the document that a source is: without the version, place or passage in it.

    >>> independent("docs/ADR-7.md@3f2a#char=10,42"), independent("talk with Ada")
    ('docs/ADR-7.md', 'talk with Ada')
    """
    return source.partition("@")[0].partition("#")[0].strip() or source


def ground(statements: Iterable[Said]) -> Grounding:
    """Return how a claim stands by all statements that hold.

    >>> one, other = Said("supports", "a", 1), Said("contradicts", "b", 2)
    >>> ground([one]).status, ground([one, other]).status, ground([other]).status, ground([]).status
    ('AFFIRMATIVE', 'CONTESTED', 'CONTRADICTORY', 'UNCLASSIFIED')
    >>> ground([Said("supports", "a", 3), Said("supports", "a", 3)]).status
    'INSUFFICIENT_DATA'
    """
    sides: dict[Stance, dict[str, float]] = {"supports": {}, "contradicts": {}}
    for said in statements:
        side = sides[said.stance]
        side[said.source] = max(side.get(said.source, 0.0), said.weight)
    support, contradiction = (_together(sides[stance].values()) for stance in ("supports", "contradicts"))
    counts = len(sides["supports"]), len(sides["contradicts"])
    return Grounding(_status(support, contradiction, sum(counts)), support, contradiction, *counts)


def _together(weights: Iterable[float]) -> float:
    return round(1 - prod(1 - weight for weight in sorted(weights)), 6)


def _status(support: float, contradiction: float, sources: int) -> Status:
    if not sources:
        return "UNCLASSIFIED"
    if contradiction >= ENOUGH:
        return "CONTESTED" if support >= ENOUGH else "CONTRADICTORY"
    return "AFFIRMATIVE" if support >= ENOUGH else "INSUFFICIENT_DATA"


def known_status(name: str) -> Status:
    """Return the status of this name, in any case, or of a name that it has elsewhere; raise BadArgument for no status.

    >>> known_status("contested"), known_status("Contradicted")
    ('CONTESTED', 'CONTRADICTORY')
    """
    asked = name.strip().upper().replace("-", "_").replace(" ", "_")
    for status in STATUSES:
        if asked == status:
            return status
    if asked in _OTHER_NAMES:
        return _OTHER_NAMES[asked]
    raise BadArgument(
        f"there is no status {name!r}",
        rule=f"a claim is {', '.join(STATUSES)}",
        mend="choose one of these",
    )
