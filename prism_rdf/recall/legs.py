"""What a leg of recall is: the question it is asked, its ranking, its health; no leg is written here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from prism_rdf.clock import Instant

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
