"""Recall: one question, asked of all legs, fused, told apart by time; the three phases of the design meet here."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from pyoxigraph import Literal, NamedNode

from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import Names, meta_graph, prism
from prism_rdf.recall.anchors import Anchor, AnchorFinder, StateAt
from prism_rdf.recall.annotate import Annotation, annotate
from prism_rdf.recall.cues import Cues
from prism_rdf.recall.fusion import (
    RECIPES,
    SCORES,
    Fused,
    Recipe,
    boosted,
    fuse,
    in_session,
    reweighed,
    successors_first,
    versions_spread,
)
from prism_rdf.recall.legs import Asked, Leg, Question, asked_of
from prism_rdf.recall.memories import KnownMemory, MemoryReader
from prism_rdf.recall.saying import time_said
from prism_rdf.recall.selecting import Page, Selection, question_key
from prism_rdf.recall.surfaces import SurfaceIndex
from prism_rdf.recall.updates import latest_first, value_wanted
from prism_rdf.recall.words import query_terms
from prism_rdf.storage.changelog import LoggedChange
from prism_rdf.storage.interface import GraphReader

_log = logging.getLogger(__name__)

_POOL = 50  # of the best are looked at closely, or three times as many as are wanted
_AT_ONCE = 8  # legs asked at the same time: a model and an index leave each other a core
_DEEPEST = 12_500  # hits that a leg is asked for when few of them are wanted

Changes = Callable[[int], Iterable[LoggedChange]]


@dataclass(frozen=True)
class _Asking:
    """One question with all that it means; ``count`` hits are shown, up to and with this page.

    A leg that has seen the commit ``known`` knows all that the asker can know of; ``commit`` is the last one.
    """

    text: str
    anchors: Sequence[Anchor]
    as_of: Instant
    known_at: Instant | None
    selection: Selection
    count: int
    pool: int
    commit: int
    known: int
    recipe: Recipe


@dataclass(frozen=True)
class _Found:
    """The hits with their annotations, every memory that was looked at, and how the legs are."""

    hits: Sequence[tuple[Fused, Annotation]]
    memories: Mapping[str, KnownMemory]
    legs: dict[str, Any]

    def successor(self, memory: KnownMemory, as_of: Instant) -> str | None:
        """Return the memory of the same subject that took the place of one that has ended, if it was found too."""
        if not memory.ended_by(as_of) or not memory.subject or memory.until is None:
            return None
        later = [
            other
            for other in self.memories.values()
            if other.subject == memory.subject and other.start is not None and other.start >= memory.until
        ]
        return min(later, key=lambda other: (other.order, other.iri)).iri if later else None


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
        self._recipe = recipe or SCORES
        self._changes = changes
        self._finder: tuple[int, SurfaceIndex, AnchorFinder] | None = None
        self._threads = ThreadPoolExecutor(_AT_ONCE, "prism-leg")

    @property
    def legs(self) -> tuple[Leg, ...]:
        return self._legs

    def ask(
        self,
        text: str,
        as_of: Instant,
        known_at: Instant | None = None,
        limit: int = 10,
        prefer_wip: bool = True,
        explain: bool = False,
        *,
        selection: Selection | None = None,
        cursor: str = "",
        times: bool = False,
        recipe: str = "",
        known: int | None = None,
    ) -> dict[str, Any]:
        """Return ``{"query", "as_of", "time", "anchors", "hits", "cursor", "legs"}``: the best ``limit`` hits.

        Memories said after ``as_of``, and those not believed at ``known_at`` (None: now), are not found. ``selection``
        leaves out more. With ``times`` a time that the question says takes the place of ``as_of`` where it is about an
        entity that had a state then, and ``time`` tells so. ``cursor`` is that of an answer, for the hits after it. A
        leg that is not well is named under ``legs`` and left out; when names cannot be looked up, hits have no flag and
        ``anchors`` of ``legs`` says why. With ``explain`` each hit says how its score came about.
        ``recipe`` names another one than that of this recall. A leg that has seen the commit ``known`` (None: the last
        one) is not said to lag because others write meanwhile.
        Raises BadArgument.
        """
        if limit < 0:
            raise BadArgument(f"limit {limit} is negative", rule="a limit is 0 or more", mend="leave it out for 10")
        wanted = selection or Selection()
        key = question_key(text, wanted)
        page = Page.of(cursor, key) if cursor else Page(0, max(_POOL, 3 * limit), as_of, known_at, key)
        as_of, known_at = page.as_of, page.known_at
        commit = last_commit(self._store, self._names)
        self._memories.at_commit(commit)
        anchors, trouble = self._anchors(text, as_of, known_at, prefer_wip, commit)
        said = time_said(text, anchors) if times and not cursor else None
        if said is not None and said.at < as_of:
            then, _ = self._anchors(text, said.at, known_at, prefer_wip, commit)
            if said.sure or any(anchor.state is not None for anchor in then):
                anchors, as_of = then, said.at
            else:
                said = None
        asking = _Asking(
            text=text,
            anchors=anchors,
            as_of=as_of,
            known_at=known_at,
            selection=wanted,
            count=page.offset + limit,
            pool=page.pool,
            commit=commit,
            known=commit if known is None else known,
            recipe=self._named(recipe),
        )
        found = self._found(asking)
        shown = found.hits[page.offset : asking.count]
        more = len(found.hits) > asking.count and limit > 0
        return {
            "query": text,
            "as_of": as_of.iso(),
            "time": said.as_dict() if said is not None else None,
            "anchors": [anchor.as_dict() for anchor in anchors],
            "hits": [self._hit(hit, annotation, found, asking, explain) for hit, annotation in shown],
            "cursor": replace(page, offset=asking.count, as_of=as_of).cursor() if more else None,
            "legs": found.legs | ({"anchors": {"status": "failed", "detail": trouble}} if trouble else {}),
        }

    def _named(self, recipe: str) -> Recipe:
        if recipe and recipe not in RECIPES:
            rule = f"a recipe is one of {', '.join(sorted(RECIPES))}"
            raise BadArgument(f"{recipe!r} is no recipe", rule=rule, mend="leave it out for the default")
        return RECIPES[recipe] if recipe else self._recipe

    def _found(self, asking: _Asking) -> _Found:
        """Return the hits that are wanted, best first; of a narrow selection the legs are asked for more and more."""
        depth = max(asking.recipe.depth, 2 * asking.count)
        question = _question(asking.text, asking.anchors, asking.known_at)
        while True:
            asked = self._ask_legs(question, asking, depth)
            memories, fused = self._fused(asked, asking)
            legs = {name: one.as_dict(asking.commit) for name, one in asked.items()}
            found = _Found(self._annotated(fused, memories, asking), memories, legs)
            exhausted = all(len(one.ranking) < depth for one in asked.values())
            if len(found.hits) >= asking.count or not asking.selection.narrow or exhausted or depth >= _DEEPEST:
                return found
            depth = min(_DEEPEST, depth * 5)

    def _annotated(
        self, fused: Sequence[Fused], memories: Mapping[str, KnownMemory], asking: _Asking
    ) -> list[tuple[Fused, Annotation]]:
        """Return the hits that are wanted, one more than are shown, each with its flag."""
        kept: list[tuple[Fused, Annotation]] = []
        for hit in fused:
            if len(kept) > asking.count:
                break
            annotation = self._annotation(memories[hit.iri], asking)
            if asking.selection.admits_flag(annotation.flag):
                kept.append((hit, annotation))
        return kept

    def _annotation(self, memory: KnownMemory, asking: _Asking) -> Annotation:
        if not asking.anchors and not memory.ended_by(asking.as_of):
            return annotate(memory, (), asking.as_of)
        return annotate(replace(memory, content=self._text(memory.iri)), asking.anchors, asking.as_of)

    def _text(self, iri: str) -> str:
        return self._memories.content(iri)

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

    def _ask_legs(self, question: Question, asking: _Asking, depth: int) -> dict[str, Asked]:
        asked = self._threads.map(lambda leg: asked_of(leg, question, asking.as_of, depth, asking.known), self._legs)
        return {leg.name: each for leg, each in zip(self._legs, asked, strict=True)}

    def _fused(self, asked: Mapping[str, Asked], asking: _Asking) -> tuple[dict[str, KnownMemory], list[Fused]]:
        """Return what the legs found and is wanted: the best weighed closely, then the rest where it is asked for."""
        memories: dict[str, KnownMemory] = {}
        head: list[Fused] = []
        tail: list[Fused] = []
        for hit in fuse({name: one.ranking for name, one in asked.items()}, asking.recipe):
            if len(head) == asking.pool and asking.count < asking.pool and not asking.selection.narrow:
                break
            memory = self._memories.memory(hit.iri, asking.known_at)
            if memory is not None and memory.said_by(asking.as_of) and asking.selection.admits(memory, self._type_of):
                memories[hit.iri] = memory
                (head if len(head) < asking.pool else tail).append(hit)
        weighed = self._weighed(head, {hit.iri: memories[hit.iri] for hit in head}, asking)
        least = weighed[-1].score if weighed else 0.0
        return memories, [*weighed, *(hit.scored(min(hit.score, least)) for hit in tail)]

    def _weighed(self, fused: list[Fused], memories: Mapping[str, KnownMemory], asking: _Asking) -> list[Fused]:
        """Return the same hits by relevance, cues, age, and what was said later of the same."""
        recipe = asking.recipe
        said = {iri: memory.start for iri, memory in memories.items()}
        fused = reweighed(fused, said, asking.as_of, recipe)
        cues = Cues.of(asking.text)
        fused = boosted(fused, {iri: cues.boosts(memory, recipe) for iri, memory in memories.items()})
        series = {iri: memory.series for iri, memory in memories.items() if not memory.followed}
        fused = in_session(fused, series, recipe)
        subjects = {iri: memory.subject for iri, memory in memories.items()}
        superseded = {iri: memory.ended_by(asking.as_of) for iri, memory in memories.items()}
        present = all(anchor.named_as_now for anchor in asking.anchors)
        if present:
            fused = successors_first(fused, subjects, superseded, recipe)
        fused = versions_spread(fused, subjects, superseded, recipe, present=present)
        wanted = value_wanted(asking.text) if present else None
        if wanted is not None and recipe.updates:
            texts = {hit.iri: self._text(hit.iri) for hit in fused[: recipe.updates]}
            fused = latest_first(fused, memories, texts, wanted, recipe)
        return fused

    def _type_of(self, entity: str) -> str:
        return self._finder[1].type_name(entity) if self._finder is not None else ""

    def _hit(self, hit: Fused, annotation: Annotation, found: _Found, asking: _Asking, explain: bool) -> dict[str, Any]:
        memory = found.memories[hit.iri]
        told: dict[str, Any] = {
            "id": hit.iri,
            "content": self._text(hit.iri),
            "score": hit.score,
            "state_flag": annotation.flag,
            "state_summary": annotation.summary,
            "entity": annotation.entity,
            "source": memory.source or None,
            "valid_from": memory.start.iso() if memory.start else None,
            "valid_until": memory.until.iso() if memory.until else None,
            "superseded_by": found.successor(memory, asking.as_of),
            "evidence": None,
            "legs": dict(hit.ranks),
        }
        if explain:
            told["explain"] = {
                "recipe": asking.recipe.method,
                "recency": hit.recency,
                "boosts": dict(hit.boosts),
                "newer_than": hit.newer_than or None,
                "legs": {
                    leg: {
                        "rank": rank,
                        "score": hit.leg_scores[leg],
                        "weight": asking.recipe.weight(leg),
                        "share": hit.shares[leg],
                    }
                    for leg, rank in hit.ranks.items()
                },
            }
        return told


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
