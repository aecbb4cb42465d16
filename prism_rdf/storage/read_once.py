"""A store of which every pattern is read once: for planning one commit, while nobody else can write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyoxigraph import NamedNode, Quad

from prism_rdf.storage.interface import GraphReader, QueryResult


class ReadOnce:
    """Answers a pattern from ``store`` the first time and from memory ever after; what is written meanwhile is missed.

    What is known about the whole of a subject answers what is asked of one of its properties.
    """

    def __init__(self, store: GraphReader) -> None:
        self._store = store
        self._kept: dict[tuple[Any, ...], tuple[Quad, ...]] = {}
        self._new: set[Any] = set()

    def take_as_new(self, nodes: Iterable[object]) -> None:
        """Read nothing of these nodes any more, nor of graphs of their names: the store does not speak of them."""
        self._new.update(nodes)

    def is_new(self, node: object, graph: NamedNode | None = None) -> bool:
        """Return whether it is known by now that a node is new, or that a graph says nothing about it."""
        return node in self._new or self._kept.get((node, None, None, graph)) == ()

    def quads_for_pattern(self, subject: Any, predicate: Any, object: Any, graph_name: Any = None) -> Iterator[Quad]:
        """Yield the quads of the pattern."""
        if subject in self._new or object in self._new or graph_name in self._new:
            return iter(())
        key = (subject, predicate, object, graph_name)
        found = self._kept.get(key)
        if found is None:
            whole = self._kept.get((subject, None, None, graph_name)) if subject is not None else None
            if whole is None:
                found = tuple(self._store.quads_for_pattern(subject, predicate, object, graph_name))
            else:
                found = tuple(
                    quad
                    for quad in whole
                    if (predicate is None or quad.predicate == predicate) and (object is None or quad.object == object)
                )
            self._kept[key] = found
        return iter(found)

    def query(self, query: str, **options: Any) -> QueryResult:
        """Ask the store, each time anew."""
        return self._store.query(query, **options)
