"""Free graphs: which graphs are the user's own, and what a change of them writes; what they say is not interpreted.

The meta graph names each free graph with the project that it belongs to: ``{base}/{ns}/free/…`` to ``ns``, one of any
other IRI to the project that wrote it first, or to the store (``-``) when that was none. In a store that is unmanaged
every graph is free, the default graph too, but for what the store keeps of itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad

from prism_rdf.belief import Delta, Writing
from prism_rdf.errors import RefusedError
from prism_rdf.model import FreeChange, Intent
from prism_rdf.namespaces import RDF_TYPE, STORE, Names, meta_graph, prism
from prism_rdf.storage.interface import GraphName, GraphReader

FREE_GRAPH = prism("FreeGraph")
MANAGED = prism("managed")
_NAMESPACE = prism("namespace")


def is_free(graph: object, base: str, managed: bool = True) -> bool:
    """Return whether a graph is the user's own.

    >>> is_free(NamedNode("urn:prism:t/demo/free/notes"), "urn:prism:t")
    True
    >>> is_free(NamedNode("urn:prism:t/demo/graph/temporal"), "urn:prism:t")
    False
    """
    if not isinstance(graph, NamedNode):
        return not managed and isinstance(graph, DefaultGraph)
    if not graph.value.startswith(f"{base}/") and graph.value != base:
        return True
    namespace, _, rest = graph.value.removeprefix(f"{base}/").partition("/")
    if not managed:
        return namespace != STORE
    return namespace != STORE and rest.startswith("free/") and rest != "free/"


def project_of(store: GraphReader, graph: NamedNode, base: str) -> str | None:
    """Return the project to which a free graph belongs; None for one that is not there and whose IRI tells none."""
    if graph.value.startswith(f"{base}/"):
        return graph.value.removeprefix(f"{base}/").partition("/")[0]
    found = store.quads_for_pattern(graph, _NAMESPACE, None, meta_graph(base))
    return next((quad.object.value for quad in found if isinstance(quad.object, Literal)), None)


def free_graphs(store: GraphReader, base: str, projects: Collection[str] | None = None) -> list[NamedNode]:
    """Return the free graphs that there are, sorted: of some projects, or all."""
    found = store.quads_for_pattern(None, RDF_TYPE, FREE_GRAPH, meta_graph(base))
    graphs = sorted((quad.subject for quad in found if isinstance(quad.subject, NamedNode)), key=str)
    return graphs if projects is None else [each for each in graphs if project_of(store, each, base) in projects]


def is_there(store: GraphReader, graph: NamedNode, base: str) -> bool:
    """Return whether there is such a free graph; it may be empty."""
    found = store.quads_for_pattern(graph, RDF_TYPE, FREE_GRAPH, meta_graph(base))
    return next(found, None) is not None


def is_unmanaged(store: GraphReader, base: str) -> bool:
    """Return whether what a store holds says that all of its graphs are free; an empty one says nothing."""
    return next(store.quads_for_pattern(NamedNode(base), MANAGED, Literal(False), meta_graph(base)), None) is not None


def check_managed(intents: Iterable[Intent], managed: bool) -> None:
    """Raise RefusedError for what would be recorded with a history in a store of free graphs alone."""
    if not managed and not all(isinstance(intent, FreeChange) for intent in intents):
        raise RefusedError(
            "an unmanaged store has no entities, and records no history",
            rule="in an unmanaged store every graph is free, and written by SPARQL UPDATE",
            mend="use prism update or prism load, or another store",
        )


def plan_free(store: GraphReader, changes: Iterable[FreeChange], managed: bool, writing: Writing) -> Delta:
    """Return the quads of the changes, and what is said of graphs that come or go. Raises RefusedError."""
    return Delta.joined(_plan_one(store, change, managed, writing) for change in changes)


def _plan_one(store: GraphReader, change: FreeChange, managed: bool, writing: Writing) -> Delta:
    base, meta = writing.names.base, meta_graph(writing.names.base)
    filled: set[GraphName] = {quad.graph_name for quad in change.adds}
    emptied: set[GraphName] = {quad.graph_name for quad in change.removes}
    for graph in {*filled, *emptied, *change.made, *change.dropped}:
        if not is_free(graph, base, managed):
            raise RefusedError(
                f"{graph} is not a free graph",
                rule=f"free graphs are {base}/PROJECT/free/NAME and those of any IRI that is not of this store",
                mend="write it into a free graph; what the store itself keeps is changed by its verbs",
                node=str(getattr(graph, "value", "")),
            )
    made = {graph for graph in {*filled, *change.made} if isinstance(graph, NamedNode)} - set(change.dropped)
    new = sorted((graph for graph in made if not is_there(store, graph, base)), key=str)
    gone = [graph for graph in change.dropped if is_there(store, graph, base)]
    adds = [quad for graph in new for quad in _named(graph, writing.names, meta)]
    if not managed and not is_unmanaged(store, base):
        adds.append(Quad(NamedNode(base), MANAGED, Literal(False), meta))
    removes = (quad for graph in gone for quad in store.quads_for_pattern(graph, None, None, meta))
    return Delta((*change.adds, *adds), (*change.removes, *removes))


def _named(graph: NamedNode, names: Names, meta: NamedNode) -> Iterator[Quad]:
    within = graph.value.startswith(f"{names.base}/")
    owner = graph.value.removeprefix(f"{names.base}/").partition("/")[0] if within else names.namespace
    yield Quad(graph, RDF_TYPE, FREE_GRAPH, meta)
    yield Quad(graph, _NAMESPACE, Literal(owner), meta)
