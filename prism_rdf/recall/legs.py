"""What a leg of recall is, and how one is asked: the question, its ranking, its health; no leg is written here."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from prism_rdf.clock import Instant

_log = logging.getLogger(__name__)

Ranking = list[tuple[str, float]]
Status = Literal["ok", "absent", "lagging", "failed"]


@dataclass(frozen=True)
class Question:
    """What is asked: the words, the entities they name, and names to add because an old one was used.

    ``anchors`` are entity IRIs, the surest first; ``former`` those of them that were called by a former name.
    ``unnamed`` is the text without the names it was anchored by: what is asked about them. ``known_at`` None means as
    believed now.
    """

    text: str
    unnamed: str = ""
    anchors: tuple[str, ...] = ()
    former: frozenset[str] = frozenset()
    expansions: tuple[str, ...] = ()
    known_at: Instant | None = None


@dataclass(frozen=True)
class LegHealth:
    """How a leg is: ``position`` is the last commit it has seen, ``detail`` says what is wrong and what to do."""

    status: Status = "ok"
    position: int | None = None
    detail: str = ""


class Leg(Protocol):
    """One way of finding memories. A leg whose health is not ok is named in the answer and not asked."""

    @property
    def name(self) -> str: ...

    def search(self, question: Question, as_of: Instant, limit: int) -> Ranking:
        """Return up to ``limit`` (memory IRI, score), best first, of memories said by ``as_of``."""
        ...

    def health(self) -> LegHealth: ...


@dataclass(frozen=True)
class AbsentLeg:
    """The seat of a leg that is not there; ``detail`` says why, and what to do to have it."""

    name: str
    detail: str = field(default="")

    def search(self, question: Question, as_of: Instant, limit: int) -> Ranking:
        return []

    def health(self) -> LegHealth:
        return LegHealth("absent", None, self.detail)


@dataclass(frozen=True)
class Asked:
    """What one leg answered."""

    health: LegHealth
    ranking: Ranking

    def as_dict(self, commit: int) -> dict[str, Any]:
        """Return what an answer tells of the leg; ``commit`` is the last one of the store."""
        health = self.health
        found: dict[str, Any] = {
            "status": health.status,
            "position": health.position,
            "behind": None if health.position is None else max(0, commit - health.position),
            "found": len(self.ranking),
        }
        return found | ({"detail": health.detail} if health.detail else {})


def asked_of(leg: Leg, question: Question, as_of: Instant, limit: int, known: int) -> Asked:
    """Ask a leg that is well; one that has seen the commit ``known`` does not lag. Raises nothing."""
    try:
        health = leg.health()
        if health.status == "lagging" and (health.position or 0) >= known > 0:
            health = LegHealth("ok", health.position)
        return Asked(health, leg.search(question, as_of, limit) if health.status == "ok" else [])
    except Exception as error:  # a leg is a guest: it may fail in any way, and the others still answer
        _log.warning("leg %s failed", leg.name, exc_info=True)
        return Asked(LegHealth("failed", None, f"{type(error).__name__}: {error}"), [])
