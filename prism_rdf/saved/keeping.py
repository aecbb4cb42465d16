"""Where saved queries lie: those that ship in queries/analyst/, those of a project in a free graph of its own.

A free graph goes wherever its store goes: into the change log, exports and backups. Each query is a node in it, below
the graph's own IRI, with its name as rdfs:label and its text as rdf:value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import PurePosixPath

from pyoxigraph import Literal, NamedNode

from prism_rdf import resources
from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import RDF, RDFS, Names
from prism_rdf.saved.heading import SavedQuery, read_query
from prism_rdf.storage.interface import GraphReader

_FOLDER = "queries/analyst"
_TEXT = NamedNode(f"{RDF}value")
_LABEL = NamedNode(f"{RDFS}label")


@cache
def shipped() -> tuple[SavedQuery, ...]:
    """Return the queries that ship with the package, by name."""
    files = resources.names(_FOLDER, ".rq")
    return tuple(read_query(PurePosixPath(file).stem, resources.text(file), "shipped") for file in files)


def queries_of(store: GraphReader, names: Names) -> tuple[SavedQuery, ...]:
    """Return the queries that a project can run, those that ship and its own, by name.

    One of its own that cannot be read, or whose name is that of one that ships by now, says so under ``problem``.
    """
    return tuple(sorted([*shipped(), *_own(store, names)], key=lambda query: (query.name, query.origin)))


def _own(store: GraphReader, names: Names) -> Iterator[SavedQuery]:
    graph, taken = graph_of(names), {each.name for each in shipped()}
    for quad in store.quads_for_pattern(None, _TEXT, None, graph):
        assert isinstance(quad.subject, NamedNode)
        assert isinstance(quad.object, Literal)
        name = quad.subject.value.removeprefix(f"{graph.value}/")
        try:
            query = read_query(name, quad.object.value, "project")
        except BadArgument as error:  # it was written by another way than the verb
            query = SavedQuery(name, quad.object.value, "", origin="project", problem=error.message)
        if name in taken:
            query = replace(query, problem="its name is that of a query that ships: add it under another one")
        yield query


def graph_of(names: Names) -> NamedNode:
    """Return the free graph that holds the queries of a project."""
    return NamedNode(f"{names.base}/{names.namespace}/free/queries")


def added(names: Names, name: str, text: str) -> str:
    """Return the SPARQL update that saves a query; it replaces one of this name."""
    graph, node = graph_of(names), _node(names, name)
    said = f"{node} {_LABEL} {Literal(name)} ; {_TEXT} {Literal(text)}"
    return f"{removed(names, name)} ; INSERT DATA {{ GRAPH {graph} {{ {said} }} }}"


def removed(names: Names, name: str) -> str:
    """Return the SPARQL update that takes a query away."""
    return f"DELETE WHERE {{ GRAPH {graph_of(names)} {{ {_node(names, name)} ?property ?value }} }}"


def _node(names: Names, name: str) -> NamedNode:
    return NamedNode(f"{graph_of(names).value}/{name}")
