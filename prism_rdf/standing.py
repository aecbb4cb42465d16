"""What holds at an instant as believed at a system time, of all nodes of one graph at once; node by node is belief.py.

Each set is read by one query when it is first asked for, so who asks for little reads little.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pyoxigraph import NamedNode, QuerySolutions

from prism_rdf.belief import EARLIER_BELIEF, END_RECORDED_AT, RECORDED_AT, VALID_FROM, VALID_UNTIL, WITHDRAWN_AT
from prism_rdf.clock import Instant
from prism_rdf.storage.interface import GraphReader
from prism_rdf.values import instant_literal


@dataclass(frozen=True)
class Standing:
    """The nodes of ``graph`` with an interval, at ``at`` as believed at ``known_at`` (None: now).

    A node's belief is carried by the node itself or by an earlier belief of it. ``over`` speaks of what carries a
    belief: who has ended by ``at`` as was known.
    """

    store: GraphReader
    graph: NamedNode
    at: Instant
    known_at: Instant | None = None

    @cached_property
    def later(self) -> frozenset[NamedNode]:
        """Return the nodes that begin after ``at``."""
        return self._where(VALID_FROM, ">", self.at)

    @cached_property
    def begun(self) -> frozenset[NamedNode]:
        """Return the nodes that begin at ``at`` or before; one since ever is not among them."""
        return self._where(VALID_FROM, "<=", self.at)

    @cached_property
    def over(self) -> frozenset[NamedNode]:
        ended = self._where(VALID_UNTIL, "<=", self.at)
        return ended if self.known_at is None else ended - self._where(END_RECORDED_AT, ">", self.known_at)

    @cached_property
    def _unbelieved(self) -> frozenset[NamedNode]:
        if self.known_at is None:
            return self._where(WITHDRAWN_AT)
        return self._where(WITHDRAWN_AT, "<=", self.known_at) | self._where(RECORDED_AT, ">", self.known_at)

    @cached_property
    def _earlier(self) -> Mapping[NamedNode, list[NamedNode]]:
        found: dict[NamedNode, list[NamedNode]] = {}
        for quad in self.store.quads_for_pattern(None, EARLIER_BELIEF, None, self.graph):
            if isinstance(quad.subject, NamedNode) and isinstance(quad.object, NamedNode):
                found.setdefault(quad.subject, []).append(quad.object)
        return found

    def believed(self, node: NamedNode) -> NamedNode | None:
        """Return what carries the belief in a node; None when it is not believed."""
        if node not in self._unbelieved:
            return node
        earlier = () if self.known_at is None else self._earlier.get(node, ())
        return next((each for each in earlier if each not in self._unbelieved), None)

    def holds(self, node: NamedNode) -> bool:
        """Return whether a node is believed to hold at ``at``."""
        carrier = self.believed(node)
        return carrier is not None and node not in self.later and carrier not in self.over

    def _where(self, predicate: NamedNode, comparison: str = "", limit: Instant | None = None) -> frozenset[NamedNode]:
        beyond = f"FILTER (?value {comparison} {instant_literal(limit)})" if limit is not None else ""
        answer = self.store.query(f"SELECT ?node {{ GRAPH {self.graph} {{ ?node {predicate} ?value {beyond} }} }}")
        assert isinstance(answer, QuerySolutions)
        return frozenset(row[0] for row in answer)
