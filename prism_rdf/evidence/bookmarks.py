"""Bookmarks: how far a source was read, so that the next reading goes on there; no source is read here.

A source is a repository or a folder of documents; for an agent it is the project itself, so far as the agent knows it.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import Delta, Writing
from prism_rdf.model import Bookmark
from prism_rdf.namespaces import RDF_TYPE, Names, derived_uuid, meta_graph, prism
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import GraphReader
from prism_rdf.values import Term

_NAMESPACE, _SOURCE = prism("namespace"), prism("source")
_MAPPING, _COMMIT, _COUNTS = prism("mapping"), prism("readUntil"), prism("readSoFar")
_AGENT = "agent:"


def place_of(agent: str) -> str:
    """Return the source under which it is kept how far an agent knows a project."""
    return f"{_AGENT}{agent}"


def is_place(mark: Bookmark) -> bool:
    """Return whether a bookmark is an agent's own place: whoever may read may move it."""
    return mark.source.startswith(_AGENT)


def plan_bookmarks(store: GraphReader, bookmarks: Iterable[Bookmark], writing: Writing) -> Delta:
    """Return what moves the bookmarks on: bookkeeping, of which no earlier place is kept."""
    adds: list[Quad] = []
    removes: list[Quad] = []
    graph = meta_graph(writing.names.base)
    for mark in bookmarks:
        node = bookmark_node(mark.source, mark.mapping, writing.names)
        says: dict[NamedNode, Term] = {
            RDF_TYPE: prism("Bookmark"),
            _NAMESPACE: Literal(writing.names.namespace),
            _SOURCE: Literal(mark.source),
            _MAPPING: Literal(mark.mapping),
            _COMMIT: Literal(mark.commit),
            _COUNTS: Literal(mark.counts),
        }
        wanted = {Quad(node, predicate, value, graph) for predicate, value in says.items()}
        stored = set(store.quads_for_pattern(node, None, None, graph))
        adds += sorted(wanted - stored, key=str)
        removes += sorted(stored - wanted, key=str)
    return Delta(tuple(adds), tuple(removes))


def bookmark_node(source: str, mapping: str, names: Names) -> NamedNode:
    """Return the bookmark's IRI, which follows from the project, the source and the mapping."""
    return NamedNode(f"{names.base}/-/bookmark/{derived_uuid('bookmark', names.namespace, source, mapping)}")


def bookmarks_of(store: GraphReader, names: Names, source: str) -> tuple[Bookmark, ...]:
    """Return the bookmarks of a source in a project, one for each mapping by which it was read."""
    graph = meta_graph(names.base)
    found = []
    for quad in store.quads_for_pattern(None, _SOURCE, Literal(source), graph):
        assert isinstance(quad.subject, NamedNode)
        node = about(store, quad.subject, graph)
        if node.iri(RDF_TYPE) == prism("Bookmark") and node.text(_NAMESPACE) == names.namespace:
            found.append(Bookmark(source, node.text(_MAPPING), node.text(_COMMIT), node.text(_COUNTS)))
    return tuple(sorted(found, key=lambda mark: mark.mapping))
