"""Whether all that a project holds fits the shapes, node by node; what may be written at all is the gate's to say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from pyoxigraph import NamedNode

from prism_rdf.belief import EARLIER_BELIEF, RECORDED_AT
from prism_rdf.canonical.schemas import Schema, epochs
from prism_rdf.canonical.texts import texts_of
from prism_rdf.clock import Instant
from prism_rdf.errors import Violation
from prism_rdf.namespaces import Names
from prism_rdf.scopes import held_nodes, scopes_of_nodes
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import GraphReader

_CHUNK = 20  # what is kept longer costs twice as much where the memory is full of a store
Held = tuple[NamedNode, NamedNode]  # a node and its graph


def unfit(store: GraphReader, names: Names) -> Iterator[Violation]:
    """Yield what of a project breaks a shape, each node by the types that were believed when it was recorded."""
    turns = epochs(texts_of(store, names))
    for chunk in _chunks(held_nodes(store, names)):
        for schema, nodes in _by_schema(store, chunk, names, turns):
            yield from schema.gate.check(scopes_of_nodes(nodes, store, names, schema.catalog.superclasses))


def _by_schema(
    store: GraphReader, chunk: Sequence[Held], names: Names, turns: Sequence[tuple[Instant, Schema]]
) -> Iterable[tuple[Schema, Sequence[Held]]]:
    if not turns:
        return [(Schema.shipped(), chunk)]
    found: dict[Schema, list[Held]] = {}
    for node, graph in chunk:
        recorded = _first_recorded(store, node, graph, names)
        schemas = [schema for turn, schema in turns if recorded is None or turn <= recorded]
        found.setdefault(schemas[-1] if schemas else Schema.shipped(), []).append((node, graph))
    return found.items()


def _first_recorded(store: GraphReader, subject: NamedNode, graph: NamedNode, names: Names) -> Instant | None:
    """Return when what a node is about was first recorded: its state, or the node itself."""
    if graph.value.startswith(names.state("").value):
        subject, graph = graph, names.graph("temporal")
    node = about(store, subject, graph)
    told = [node, *(about(store, each, graph) for each in node.iris(EARLIER_BELIEF))]
    return min((at for each in told if (at := each.instant(RECORDED_AT)) is not None), default=None)


def _chunks(nodes: Iterable[Held]) -> Iterator[list[Held]]:
    remaining = iter(nodes)
    while chunk := list(islice(remaining, _CHUNK)):
        yield chunk
