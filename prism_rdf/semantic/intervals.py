"""Nodes that hold for a while: written once, ended, found again by the same name; aliases and references are such."""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import NamedNode, Quad

from prism_rdf.belief import VALID_FROM, Delta, Writing, belief_of, record, say_again
from prism_rdf.clock import Instant
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import GraphReader
from prism_rdf.values import instant_literal


def plan_interval(
    store: GraphReader,
    node: NamedNode,
    says: Sequence[Quad],
    start: Instant | None,
    until: Instant | None,
    writing: Writing,
) -> Delta:
    """Return what makes ``node`` believed over [start, until) in the semantic graph.

    ``says`` is what it says beside its interval. A known node is only ended, never reopened by saying less: an open
    end leaves an end already known as it is.
    """
    graph = writing.names.graph("semantic")
    belief = belief_of(about(store, node, graph))
    if belief is None:
        began = (Quad(node, VALID_FROM, instant_literal(start), graph),) if start is not None else ()
        return Delta((*says, *began, *record(node, graph, until, writing)))
    return say_again(node, graph, belief, until, writing)
