"""The graph leg: memories about what the question names and about what that refers to; words do not matter here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from heapq import nlargest
from itertools import islice

from pyoxigraph import Literal, NamedNode

from prism_rdf.belief import VALID_FROM, belief_at
from prism_rdf.clock import Instant
from prism_rdf.namespaces import SKOS, Names
from prism_rdf.recall.legs import LegHealth, Question, Ranking
from prism_rdf.recall.memories import ABOUT, CREATED_AT, MENTIONS
from prism_rdf.recall.surfaces import NameIndex
from prism_rdf.semantic.references import references
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import GraphReader

_PREF_LABEL = NamedNode(SKOS + "prefLabel")
MOST_NEIGHBOURS = 200  # entities that are walked to, those with most edges first
MOST_MEMORIES = 5_000  # that are looked at for one entity or concept
MOST_READ = 1_000  # memories whose interval is read, those with the best score first
_OWN = 1_000  # what being about an anchor counts, in edges: more than any neighbour has


class GraphLeg:
    """Walks all kinds of reference both ways, one step from the anchors, and sums the edges for each entity reached.

    A memory scores the edges of what it is about, 1 for each anchor it only mentions, and most when it is about an
    anchor. What holds at as_of comes first, by score, then what was superseded; of equal scores the newer first.
    Without anchors it falls back to co-occurrence: memories that mention the concepts whose label the question says.
    """

    name = "graph"

    def __init__(self, store: GraphReader, names: Names, last_commit: Callable[[], int]) -> None:
        self._store = store
        self._names = names
        self._last_commit = last_commit
        self._concepts: tuple[int, NameIndex] | None = None

    def search(self, question: Question, as_of: Instant, limit: int) -> Ranking:
        scores = self._from_anchors(question, as_of) if question.anchors else self._from_concepts(question)
        return self._ordered(scores, as_of, question.known_at, limit)

    def health(self) -> LegHealth:
        return LegHealth("ok", self._last_commit())

    def _from_anchors(self, question: Question, as_of: Instant) -> Counter[str]:
        edges: Counter[str] = Counter()
        for anchor in question.anchors:
            node = NamedNode(anchor)
            outward = references(self._store, self._names, source=node, known_at=question.known_at)
            inward = references(self._store, self._names, target=node, known_at=question.known_at)
            edges.update(reference.target.value for reference in outward if reference.holds(as_of))
            edges.update(reference.source.value for reference in inward if reference.holds(as_of))
        scores: Counter[str] = Counter()
        for entity, count in nlargest(MOST_NEIGHBOURS, edges.items(), key=lambda entry: (entry[1], entry[0])):
            if entity not in question.anchors:
                scores.update(dict.fromkeys(self._memories(ABOUT, entity), count))
        for anchor in question.anchors:
            scores.update(self._memories(MENTIONS, anchor))
            scores.update(dict.fromkeys(self._memories(ABOUT, anchor), _OWN))
        return scores

    def _from_concepts(self, question: Question) -> Counter[str]:
        scores: Counter[str] = Counter()
        concepts = {bearer for mention in self._labels().mentions(question.text) for bearer in mention.bearers}
        for concept in concepts:
            scores.update(self._memories(MENTIONS, concept))
        return scores

    def _memories(self, predicate: NamedNode, what: str) -> set[str]:
        found = self._store.quads_for_pattern(None, predicate, NamedNode(what), self._names.graph("memory"))
        return {quad.subject.value for quad in islice(found, MOST_MEMORIES) if isinstance(quad.subject, NamedNode)}

    def _ordered(self, scores: Counter[str], as_of: Instant, known_at: Instant | None, limit: int) -> Ranking:
        """Return the best memories said by as_of; those that hold then, and behind them what was superseded."""
        timed = [
            (age, -score, memory, score)
            for score, memory in nlargest(MOST_READ, ((score, memory) for memory, score in scores.items()))
            for age in (self._age(memory, as_of, known_at),)
            if age is not None
        ]
        timed.sort(key=lambda entry: (entry[0][0], entry[1], entry[0][1], entry[2]))
        return [(memory, float(score)) for _, _, memory, score in timed[:limit]]

    def _age(self, memory: str, as_of: Instant, known_at: Instant | None) -> tuple[bool, int] | None:
        """Return (superseded, age in microseconds) at as_of; None for what was not yet said or is not believed."""
        graph = self._names.graph("memory")
        node = about(self._store, NamedNode(memory), graph)
        belief = belief_at(self._store, node, graph, known_at)
        said = node.instant(VALID_FROM) or node.instant(CREATED_AT)
        if belief is None or (said is not None and as_of < said):
            return None
        until = belief.until(known_at)
        return until is not None and until <= as_of, as_of.micros - said.micros if said else 2**63

    def _labels(self) -> NameIndex:
        commit = self._last_commit()
        if self._concepts is None or self._concepts[0] != commit:
            index = NameIndex()
            for quad in self._store.quads_for_pattern(None, _PREF_LABEL, None, self._names.graph("memory")):
                if isinstance(quad.object, Literal) and isinstance(quad.subject, NamedNode):
                    index.add(quad.object.value, quad.subject.value)
            self._concepts = (commit, index)
        return self._concepts[1]
