"""What one graph says about one subject, read once and typed; for nodes whose shape the engine wrote itself."""

from __future__ import annotations

from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.clock import Instant
from prism_rdf.storage.interface import GraphReader


class About:
    """The quads of a subject in a graph. A getter of a missing property gives None or the default."""

    __slots__ = ("_objects", "node", "quads")

    def __init__(self, node: NamedNode, quads: tuple[Quad, ...]) -> None:
        self.node = node
        self.quads = quads
        self._objects: dict[NamedNode, list[Any]] | None = None

    def _of(self, predicate: NamedNode) -> list[Any] | tuple[()]:
        found = self._objects
        if found is None:  # most nodes are asked for nothing, or for much
            found = self._objects = {}
            for quad in self.quads:
                found.setdefault(quad.predicate, []).append(quad.object)
        return found.get(predicate, ())

    def iris(self, predicate: NamedNode) -> tuple[NamedNode, ...]:
        return tuple([each for each in self._of(predicate) if isinstance(each, NamedNode)])

    def iri(self, predicate: NamedNode) -> NamedNode | None:
        for each in self._of(predicate):
            if isinstance(each, NamedNode):
                return each
        return None

    def term(self, predicate: NamedNode) -> NamedNode | Literal | None:
        for each in self._of(predicate):
            if isinstance(each, (NamedNode, Literal)):
                return each
        return None

    def terms(self, predicate: NamedNode) -> tuple[NamedNode | Literal, ...]:
        return tuple([each for each in self._of(predicate) if isinstance(each, (NamedNode, Literal))])

    def texts(self, predicate: NamedNode) -> tuple[str, ...]:
        return tuple([each.value for each in self._of(predicate) if isinstance(each, Literal)])

    def text(self, predicate: NamedNode, default: str = "") -> str:
        for each in self._of(predicate):
            if isinstance(each, Literal):
                return each.value
        return default

    def number(self, predicate: NamedNode, default: int = 0) -> int:
        text = self.text(predicate)
        return int(text) if text else default

    def instants(self, predicate: NamedNode) -> tuple[Instant, ...]:
        return tuple(map(Instant.parse, self.texts(predicate)))

    def instant(self, predicate: NamedNode) -> Instant | None:
        text = self.text(predicate)
        return Instant.parse(text) if text else None


def about(store: GraphReader, node: NamedNode, graph: NamedNode) -> About:
    """Read what ``graph`` says about ``node``."""
    return About(node, tuple(store.quads_for_pattern(node, None, None, graph)))


def subjects(store: GraphReader, predicate: NamedNode, object: NamedNode, graph: NamedNode) -> tuple[NamedNode, ...]:
    """Return the subjects that have this value, in no particular order."""
    found = [quad.subject for quad in store.quads_for_pattern(None, predicate, object, graph)]
    return tuple([node for node in found if isinstance(node, NamedNode)])


def objects(store: GraphReader, subject: NamedNode, predicate: NamedNode, graph: NamedNode) -> tuple[NamedNode, ...]:
    """Return the IRIs that a subject has for a property, in no particular order."""
    found = [quad.object for quad in store.quads_for_pattern(subject, predicate, None, graph)]
    return tuple([node for node in found if isinstance(node, NamedNode)])
