"""A store as it will be once a change is applied; for planners, which must see what they are about to write."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from pyoxigraph import Quad, Store

from prism_rdf.storage.interface import GraphReader, QueryResult


class Overlay:
    """Reads through to ``store``, less ``removes``, plus ``adds``. Pattern look-ups only; it cannot run SPARQL."""

    def __init__(self, store: GraphReader, adds: Iterable[Quad], removes: Collection[Quad]) -> None:
        self._store = store
        self._adds = Store()
        self._adds.bulk_extend(adds)
        self._removes = frozenset(removes)

    def quads_for_pattern(self, subject: Any, predicate: Any, object: Any, graph_name: Any = None) -> Iterator[Quad]:
        """Yield the quads of the pattern after the change; removals count before additions."""
        for quad in self._store.quads_for_pattern(subject, predicate, object, graph_name):
            if quad not in self._removes and quad not in self._adds:
                yield quad
        yield from self._adds.quads_for_pattern(subject, predicate, object, graph_name)

    def query(self, query: str, **options: Any) -> QueryResult:
        """Always raises: a planner reads patterns."""
        raise TypeError("an overlay answers patterns only; run SPARQL on the store")
