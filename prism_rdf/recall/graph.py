"""The graph leg: memories about what the question names and about what that refers to; words do not matter here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from heapq import nlargest
from itertools import islice

from pyoxigraph import Literal, NamedNode

from prism_rdf.clock import Instant
from prism_rdf.namespaces import SKOS, Names
from prism_rdf.recall.legs import LegHealth, Question, Ranking
from prism_rdf.recall.memories import ABOUT, MENTIONS, MemoryReader
from prism_rdf.recall.surfaces import NameIndex
from prism_rdf.semantic.merges import members, preferred
from prism_rdf.semantic.references import KnownReference, references
from prism_rdf.storage.interface import GraphReader

_PREF_LABEL = NamedNode(SKOS + "prefLabel")
MOST_NEIGHBOURS = 200  # entities that are walked to, those with most edges first
MOST_MEMORIES = 5_000  # that are looked at for one entity or concept
MOST_READ = 1_000  # memories whose interval is read, those with the best score first
_OWN = 1_000  # what being about an anchor counts, in edges: more than any neighbour has


class GraphLeg:
    """Walks all kinds of reference both ways, one step from the anchors, and sums the edges for each entity reached.

    A memory scores the edges of what it is about, 1 for each anchor it only mentions, and most when it is about an
    anchor. What holds at as_of comes first, by score, then what was superseded, unless it is about an anchor called by
    a former name; of equal scores the newer first.
    Without anchors it falls back to co-occurrence: memories that mention the concepts whose label the question says.
    """

    name = "graph"

    def __init__(
        self,
        store: GraphReader,
        names: Names,
        last_commit: Callable[[], int],
        memories: MemoryReader | None = None,
    ) -> None:
        self._store = store
        self._names = names
        self._last_commit = last_commit
        self._memories = memories or MemoryReader(store, names)
        self._commit = -1
        self._concepts: NameIndex | None = None
        self._references: dict[tuple[str, Instant | None], list[tuple[str, KnownReference]]] = {}

    def search(self, question: Question, as_of: Instant, limit: int) -> Ranking:
        self._at_commit(self._last_commit())
        scores = self._from_anchors(question, as_of) if question.anchors else self._from_concepts(question)
        known_at = question.known_at
        wanted_past = {memory for anchor in question.former for memory in self._linked(ABOUT, anchor, known_at)}
        return self._ordered(scores, wanted_past, as_of, known_at)[:limit]

    def health(self) -> LegHealth:
        return LegHealth("ok", self._last_commit())

    def _from_anchors(self, question: Question, as_of: Instant) -> Counter[str]:
        edges: Counter[str] = Counter()
        known_at = question.known_at
        for anchor in question.anchors:
            walked = self._edges(anchor, known_at)
            edges.update(entity for entity, reference in walked if reference.holds(as_of))
        scores: Counter[str] = Counter()
        for entity, count in nlargest(MOST_NEIGHBOURS, edges.items(), key=lambda entry: (entry[1], entry[0])):
            if entity not in question.anchors:
                scores.update(dict.fromkeys(self._linked(ABOUT, entity, known_at), count))
        for anchor in question.anchors:
            scores.update(self._linked(MENTIONS, anchor, known_at))
            scores.update(dict.fromkeys(self._linked(ABOUT, anchor, known_at), _OWN))
        return scores

    def _from_concepts(self, question: Question) -> Counter[str]:
        scores: Counter[str] = Counter()
        concepts = {bearer for mention in self._labels().mentions(question.text) for bearer in mention.bearers}
        for concept in concepts:
            scores.update(self._memories_with(MENTIONS, NamedNode(concept)))
        return scores

    def _linked(self, predicate: NamedNode, entity: str, known_at: Instant | None) -> set[str]:
        """Return the memories linked to an entity or to what is merged into it."""
        return {memory for each in self._all_of(entity, known_at) for memory in self._memories_with(predicate, each)}

    def _all_of(self, entity: str, known_at: Instant | None) -> tuple[NamedNode, ...]:
        return members(self._store, self._names, NamedNode(entity), known_at)

    def _memories_with(self, predicate: NamedNode, what: NamedNode) -> set[str]:
        found = self._store.quads_for_pattern(None, predicate, what, self._names.graph("memory"))
        return {quad.subject.value for quad in islice(found, MOST_MEMORIES) if isinstance(quad.subject, NamedNode)}

    def _ordered(
        self, scores: Counter[str], wanted_past: set[str], as_of: Instant, known_at: Instant | None
    ) -> Ranking:
        """Return the best memories said by as_of."""
        timed = [
            (age[0] and memory not in wanted_past, -score, age[1], memory)
            for score, memory in nlargest(MOST_READ, ((score, memory) for memory, score in scores.items()))
            for age in (self._age(memory, as_of, known_at),)
            if age is not None
        ]
        return [(memory, float(-negated)) for _, negated, _, memory in sorted(timed)]

    def _age(self, memory: str, as_of: Instant, known_at: Instant | None) -> tuple[bool, int] | None:
        """Return (superseded, age in microseconds) at as_of; None for what was not yet said or is not believed."""
        times = self._memories.times(memory, known_at)
        if times is None or (times[0] is not None and as_of < times[0]):
            return None
        said, until = times
        return until is not None and until <= as_of, as_of.micros - said.micros if said else 2**63

    def _edges(self, entity: str, known_at: Instant | None) -> list[tuple[str, KnownReference]]:
        """Return (the other end, reference) for each reference from or to an entity, both with merges followed."""
        key = (entity, known_at)
        found = self._references.get(key)
        if found is None:
            found = self._references[key] = []
            for node in self._all_of(entity, known_at):
                outward = references(self._store, self._names, source=node, known_at=known_at)
                inward = references(self._store, self._names, target=node, known_at=known_at)
                ends = [(each.target, each) for each in outward] + [(each.source, each) for each in inward]
                found += ((preferred(self._store, self._names, end, known_at).value, each) for end, each in ends)
        return found

    def _labels(self) -> NameIndex:
        concepts = self._concepts
        if concepts is None:
            concepts = NameIndex()
            for quad in self._store.quads_for_pattern(None, _PREF_LABEL, None, self._names.graph("memory")):
                if isinstance(quad.object, Literal) and isinstance(quad.subject, NamedNode):
                    concepts.add(quad.object.value, quad.subject.value)
            self._concepts = concepts
        return concepts

    def _at_commit(self, number: int) -> None:
        """Forget what was read of the graph when there is a newer commit."""
        self._memories.at_commit(number)
        if number != self._commit:
            self._commit, self._concepts, self._references = number, None, {}
