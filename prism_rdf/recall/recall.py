"""Recall: one question, asked of all legs, fused, told apart by time; the three phases of the design meet here."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyoxigraph import Literal, NamedNode

from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import Names, meta_graph, prism
from prism_rdf.recall.anchors import Anchor, AnchorFinder, StateAt
from prism_rdf.recall.annotate import annotate
from prism_rdf.recall.fusion import Fused, Recipe, fuse, reweighed, successors_first, versions_spread
from prism_rdf.recall.legs import Leg, LegHealth, Question, Ranking
from prism_rdf.recall.memories import KnownMemory, MemoryReader
from prism_rdf.recall.surfaces import SurfaceIndex
from prism_rdf.recall.words import query_terms
from prism_rdf.storage.changelog import LoggedChange
from prism_rdf.storage.interface import GraphReader

_log = logging.getLogger(__name__)

Changes = Callable[[int], Iterable[LoggedChange]]


@dataclass(frozen=True)
class _Asked:
    """What one leg answered."""

    health: LegHealth
    ranking: Ranking


class Recall:
    """Answers questions about one namespace. It reads the store and its legs, and writes nothing.

    ``state_at(entity, as_of, known_at, prefer_wip)`` gives State JSON. ``changes(since)``, if given, yields the
    commits after a number, so that the index of names follows the log instead of being built anew. ``memories`` may be
    shared with a leg.
    """

    def __init__(
        self,
        store: GraphReader,
        names: Names,
        identifying: Iterable[NamedNode],
        legs: Sequence[Leg],
        state_at: StateAt,
        *,
        recipe: Recipe | None = None,
        changes: Changes | None = None,
        memories: MemoryReader | None = None,
    ) -> None:
        self._store = store
        self._memories = memories or MemoryReader(store, names)
        self._names = names
        self._identifying = tuple(identifying)
        self._legs = tuple(legs)
        self._state_at = state_at
        self._recipe = recipe or Recipe()
        self._changes = changes
        self._finder: tuple[int, SurfaceIndex, AnchorFinder] | None = None

    def ask(
        self,
        text: str,
        as_of: Instant,
        known_at: Instant | None = None,
        limit: int = 10,
        prefer_wip: bool = True,
        explain: bool = False,
    ) -> dict[str, Any]:
        """Return ``{"query", "as_of", "anchors", "hits", "legs"}``, with at most ``limit`` hits, best first.

        Memories said after ``as_of``, and those not believed at ``known_at`` (None: now), are not found. A leg that is
        not well is named under ``legs`` and left out; when names cannot be looked up, hits have no flag and ``anchors``
        of ``legs`` says why. With ``explain`` each hit says how its score came about.
        Raises BadArgument for a negative limit.
        """
        if limit < 0:
            raise BadArgument(f"limit {limit} is negative", rule="a limit is 0 or more", mend="leave it out for 10")
        commit = last_commit(self._store, self._names)
        self._memories.at_commit(commit)
        anchors, trouble = self._anchors(text, as_of, known_at, prefer_wip, commit)
        asked = self._ask_legs(_question(text, anchors, known_at), as_of)
        memories, fused = self._fused(asked, as_of, known_at, max(limit, 1))
        subjects = {iri: memory.subject for iri, memory in memories.items()}
        superseded = {iri: memory.ended_by(as_of) for iri, memory in memories.items()}
        present = all(anchor.named_as_now for anchor in anchors)
        if present:
            fused = successors_first(fused, subjects, superseded, self._recipe)
        fused = versions_spread(fused, subjects, superseded, self._recipe, present=present)
        legs = {name: _leg_json(one, commit) for name, one in asked.items()}
        return {
            "query": text,
            "as_of": as_of.iso(),
            "anchors": [anchor.as_dict() for anchor in anchors],
            "hits": [self._hit(hit, memories[hit.iri], anchors, as_of, explain) for hit in fused[:limit]],
            "legs": legs | ({"anchors": {"status": "failed", "detail": trouble}} if trouble else {}),
        }

    def _anchors(
        self, text: str, as_of: Instant, known_at: Instant | None, prefer_wip: bool, commit: int
    ) -> tuple[list[Anchor], str]:
        try:
            return self._find_in(commit).find(text, as_of, known_at, prefer_wip), ""
        except Exception as error:  # whatever breaks here, what was found can still be shown
            _log.warning("anchors of a question cannot be found", exc_info=True)
            return [], f"{type(error).__name__}: {error}"

    def _find_in(self, commit: int) -> AnchorFinder:
        """Return a finder for this commit; the index of names is carried on from an earlier one where possible."""
        if self._finder is not None and self._finder[0] == commit:
            return self._finder[2]
        surfaces = self._carried_on(commit) or SurfaceIndex.build(self._store, self._names, self._identifying)
        finder = AnchorFinder(self._store, self._names, self._identifying, surfaces, self._state_at)
        self._finder = (commit, surfaces, finder)
        return finder

    def _carried_on(self, commit: int) -> SurfaceIndex | None:
        """Return the index of names with the commits since; None when the log does not reach from there to here."""
        if self._finder is None or self._changes is None or self._finder[0] > commit:
            return None
        since, surfaces, _ = self._finder
        changes = list(self._changes(since))
        if not changes or changes[-1].number < commit:
            return None
        surfaces.apply(changes)
        return surfaces

    def _ask_legs(self, question: Question, as_of: Instant) -> dict[str, _Asked]:
        asked: dict[str, _Asked] = {}
        for leg in self._legs:
            try:
                health = leg.health()
                ranking = leg.search(question, as_of, self._recipe.depth) if health.status == "ok" else []
            except Exception as error:  # a leg is a guest: it may fail in any way, and the others still answer
                _log.warning("leg %s failed", leg.name, exc_info=True)
                health, ranking = LegHealth("failed", None, f"{type(error).__name__}: {error}"), []
            asked[leg.name] = _Asked(health, ranking)
        return asked

    def _fused(
        self, asked: Mapping[str, _Asked], as_of: Instant, known_at: Instant | None, limit: int
    ) -> tuple[dict[str, KnownMemory], list[Fused]]:
        """Return what the legs found, by relevance and age; of the tail only what could still rise among the hits."""
        memories: dict[str, KnownMemory] = {}
        kept: list[Fused] = []
        for hit in fuse({name: one.ranking for name, one in asked.items()}, self._recipe):
            if len(kept) >= limit and hit.score < self._recipe.reach * kept[limit - 1].score:
                break
            memory = self._memories.memory(hit.iri, known_at)
            if memory is not None and memory.said_by(as_of):
                memories[hit.iri] = memory
                kept.append(hit)
        said = {iri: memory.start for iri, memory in memories.items()}
        return memories, reweighed(kept, said, as_of, self._recipe)

    def _hit(
        self, hit: Fused, memory: KnownMemory, anchors: Sequence[Anchor], as_of: Instant, explain: bool
    ) -> dict[str, Any]:
        memory = replace(memory, content=self._memories.content(hit.iri))
        annotation = annotate(memory, anchors, as_of)
        found: dict[str, Any] = {
            "id": hit.iri,
            "content": memory.content,
            "score": hit.score,
            "state_flag": annotation.flag,
            "state_summary": annotation.summary,
            "entity": annotation.entity,
            "source": memory.source or None,
            "valid_from": memory.start.iso() if memory.start else None,
            "valid_until": memory.until.iso() if memory.until else None,
            "evidence": None,
            "legs": dict(hit.ranks),
        }
        if explain:
            found["explain"] = {
                "recency": hit.recency,
                "legs": {
                    leg: {
                        "rank": rank,
                        "score": hit.leg_scores[leg],
                        "weight": self._recipe.weight(leg),
                        "share": self._recipe.weight(leg) / (self._recipe.k + rank),
                    }
                    for leg, rank in hit.ranks.items()
                },
            }
        return found


def last_commit(store: GraphReader, names: Names) -> int:
    """Return the number of the last commit of the store; 0 before the first."""
    for quad in store.quads_for_pattern(NamedNode(names.base), prism("lastCommit"), None, meta_graph(names.base)):
        if isinstance(quad.object, Literal):
            return int(quad.object.value)
    return 0


def _question(text: str, anchors: Sequence[Anchor], known_at: Instant | None) -> Question:
    """Return the question with what its former names mean now; a name that somebody bears now means only that."""
    said_now = {anchor.matched.key for anchor in anchors if anchor.named_as_now}
    return Question(
        text=text,
        unnamed=_without(text, [anchor.matched.text for anchor in anchors]),
        anchors=tuple(anchor.entity for anchor in anchors),
        former=frozenset(anchor.entity for anchor in anchors if not anchor.named_as_now),
        expansions=tuple(
            anchor.identifier
            for anchor in anchors
            if not anchor.named_as_now
            and anchor.matched.key not in said_now
            and anchor.identifier != anchor.matched.text
        ),
        known_at=known_at,
    )


def _without(text: str, names: Sequence[str]) -> str:
    """Return a text without some names; nothing when nothing else is left, or when none was in it."""
    rest = text
    for name in names:
        rest = re.sub(rf"\b{re.escape(name)}\b", " ", rest, flags=re.IGNORECASE)
    return rest.strip() if rest != text and query_terms(rest) else ""


def _leg_json(one: _Asked, commit: int) -> dict[str, Any]:
    health = one.health
    found: dict[str, Any] = {
        "status": health.status,
        "position": health.position,
        "behind": None if health.position is None else max(0, commit - health.position),
        "found": len(one.ranking),
    }
    return found | ({"detail": health.detail} if health.detail else {})
