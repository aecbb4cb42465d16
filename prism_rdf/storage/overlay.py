"""A store as it will be once a change is applied; for planners, which must see what they are about to write."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from pyoxigraph import NamedNode, Quad

from prism_rdf.storage.interface import GraphReader, QueryResult

_Grouped = dict[Any, dict[Any, dict[Quad, None]]]  # by graph, then by subject, each quad once and in order


class Overlay:
    """Reads through to ``store``, less ``removes``, plus ``adds``. Pattern look-ups only; it cannot run SPARQL.

    Values of ``adds`` are compared as they are, so they have to be as the store gives them back (``canonical_term``).
    """

    def __init__(self, store: GraphReader, adds: Iterable[Quad], removes: Iterable[Quad]) -> None:
        self._store = store
        self._adds: _Grouped = {}
        self._removes: _Grouped = {}
        self._by_value: dict[Any, dict[tuple[Any, Any], list[Quad]]] = {}
        self.graphs: Collection[Any] = ()
        self.extend(adds, removes)

    def extend(self, adds: Iterable[Quad], removes: Iterable[Quad]) -> None:
        """Let the change be larger by these; none of them is among those before."""
        self._by_value.clear()
        for quads, grouped in ((adds, self._adds), (removes, self._removes)):
            for quad in quads:
                grouped.setdefault(quad.graph_name, {}).setdefault(quad.subject, {})[quad] = None
        self.graphs = {**self._adds, **self._removes}.keys()

    def added(self, graph: NamedNode) -> Mapping[Any, Collection[Quad]]:
        """Return what the change adds to a graph, by subject."""
        return self._adds.get(graph, {})

    def changes(self, graph: NamedNode) -> Iterator[tuple[Any, Collection[Quad]]]:
        """Yield each subject of which the change says something in a graph, with the quads that come or go."""
        adds, removes = self._adds.get(graph, {}), self._removes.get(graph, {})
        for subject, quads in adds.items():
            yield subject, {**quads, **removes[subject]} if subject in removes else quads
        yield from ((subject, quads) for subject, quads in removes.items() if subject not in adds)

    def quads_for_pattern(self, subject: Any, predicate: Any, object: Any, graph_name: Any = None) -> Iterator[Quad]:
        """Yield the quads of the pattern after the change; removals count before additions."""
        if graph_name is not None and graph_name not in self.graphs:
            return self._store.quads_for_pattern(subject, predicate, object, graph_name)
        return self._changed(subject, predicate, object, graph_name)

    def _changed(self, subject: Any, predicate: Any, object: Any, graph_name: Any) -> Iterator[Quad]:
        for quad in self._store.quads_for_pattern(subject, predicate, object, graph_name):
            if not _has(self._removes, quad) and not _has(self._adds, quad):
                yield quad
        yield from self._added(subject, predicate, object, graph_name)

    def _added(self, subject: Any, predicate: Any, object: Any, graph_name: Any) -> Iterable[Quad]:
        if graph_name is None:
            return [quad for graph in self._adds for quad in self._added(subject, predicate, object, graph)]
        graph = self._adds.get(graph_name)
        if graph is None:
            return ()
        if subject is not None and predicate is not None and object is not None:
            quad = Quad(subject, predicate, object, graph_name)  # of which a long history has many alike
            return (quad,) if quad in graph.get(subject, ()) else ()
        if subject is not None:
            found: Iterable[Quad] = graph.get(subject, ())
        elif predicate is not None and object is not None:
            return self._valued(graph_name).get((predicate, object), ())
        else:
            found = (quad for group in graph.values() for quad in group)
        if predicate is None and object is None:
            return found
        return (
            quad
            for quad in found
            if (predicate is None or quad.predicate == predicate) and (object is None or quad.object == object)
        )

    def _valued(self, graph_name: Any) -> dict[tuple[Any, Any], list[Quad]]:
        """Return the quads added to a graph by property and value."""
        valued = self._by_value.get(graph_name)
        if valued is None:
            valued = self._by_value[graph_name] = {}
            for group in self._adds[graph_name].values():
                for quad in group:
                    valued.setdefault((quad.predicate, quad.object), []).append(quad)
        return valued

    def query(self, query: str, **options: Any) -> QueryResult:
        """Always raises: a planner reads patterns."""
        raise TypeError("an overlay answers patterns only; run SPARQL on the store")


def _has(grouped: _Grouped, quad: Quad) -> bool:
    graph = grouped.get(quad.graph_name)
    return graph is not None and quad in graph.get(quad.subject, ())
