"""The small interface behind which a quad store stands; no implementation lives here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QuerySolutions,
    QueryTriples,
    Triple,
    Variable,
)

QueryResult = QuerySolutions | QueryBoolean | QueryTriples
GraphName = NamedNode | BlankNode | DefaultGraph
MOST_AT_ONCE = 1_000_000  # quads that a store takes in by one step: more come in several


class GraphReader(Protocol):
    """What readers need; the names are pyoxigraph's, so that an in-memory ``pyoxigraph.Store`` serves in tests."""

    def quads_for_pattern(
        self,
        subject: NamedNode | BlankNode | Triple | None,
        predicate: NamedNode | None,
        object: NamedNode | BlankNode | Literal | Triple | None,
        graph_name: GraphName | None = None,
    ) -> Iterator[Quad]: ...

    def query(
        self,
        query: str,
        *,
        base_iri: str | None = None,
        prefixes: dict[str, str] | None = None,
        use_default_graph_as_union: bool = False,
        default_graph: Any = None,
        named_graphs: list[NamedNode | BlankNode] | None = None,
        substitutions: dict[Variable, Any] | None = None,
    ) -> QueryResult: ...


class GraphStore(GraphReader, Protocol):
    """A reader that can also apply one atomic change."""

    def apply(self, adds: Sequence[Quad], removes: Sequence[Quad]) -> None:
        """Remove, then add, in one atomic update."""
        ...

    def load(self, quads: Iterable[Quad]) -> None:
        """Add many quads fast and not atomically."""
        ...

    def load_text(self, nquads: str) -> None:
        """Add what N-Quads of new nodes say, MOST_AT_ONCE at most, in one step for readers; a crash may cut it."""
        ...

    def flush(self) -> None: ...

    def close(self) -> None: ...
