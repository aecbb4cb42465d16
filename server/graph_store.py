"""The SPARQL 1.1 graph store protocol at /store: whole graphs are read, put, added to, removed; no SPARQL is seen.

A graph is named by ``?graph=IRI``, is the default graph by ``?default``, or has the URL of the request below /store/.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO
from uuid import uuid4

from flask import Blueprint, Response, request
from pyoxigraph import DefaultGraph, NamedNode, Quad, RdfFormat, parse

from prism_rdf.errors import BadArgument, NotFoundError
from prism_rdf.free import is_free

from .asking import Asker, Scope
from .caller import client_gone
from .failures import BadRequest, UnsupportedBody
from .negotiation import choose
from .parameters import OF_FORMAT, OF_SCOPE, refuse_unknown, scope_of_request, single, wanted_format
from .responding import etag_of, not_modified, respond

_LARGEST = 1 << 28  # bytes of a graph
_MULTIPART = "multipart/form-data"
_ALL = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
_FORMATS = (
    *(RdfFormat.TURTLE, RdfFormat.N_TRIPLES, RdfFormat.RDF_XML, RdfFormat.JSON_LD),
    *(RdfFormat.TRIG, RdfFormat.N_QUADS),
)


@dataclass(frozen=True)
class Target:
    """Which graph a request is about; None: the default graph."""

    graph: NamedNode | None

    def data(self, triples: Iterable[str]) -> str:
        lines = "\n".join(triples)
        return (
            f"INSERT DATA {{ {f'GRAPH {self.graph} {{' if self.graph else ''}\n{lines}\n}}{' }' if self.graph else ''}"
        )

    @property
    def made(self) -> str:
        return f"CREATE SILENT GRAPH {self.graph} ;\n" if self.graph else ""

    @property
    def emptied(self) -> str:
        return f"DROP SILENT GRAPH {self.graph} ;\n" if self.graph else "CLEAR DEFAULT ;\n"


def blueprint(asker: Asker) -> Blueprint:
    """Return the routes of the protocol over one open store."""
    routes = Blueprint("graph_store", __name__)

    @routes.before_request
    def take_a_whole_graph() -> None:
        request.max_content_length = _LARGEST

    @routes.get("/store")
    @routes.get("/store/<path:name>")
    def read(name: str = "") -> Response:
        return _read(asker, _target(name))

    @routes.put("/store")
    @routes.put("/store/<path:name>")
    def put(name: str = "") -> Response:
        target = _target(name)
        new = not _is_there(asker, target, Scope())
        return _written(asker, target.emptied + target.made + target.data(_triples(target)), 201 if new else 204)

    @routes.post("/store")
    @routes.post("/store/<path:name>")
    def post(name: str = "") -> Response:
        if not name and not _names_a_graph():
            target = Target(NamedNode(f"{request.base_url}/{uuid4()}"))
            response = _written(asker, target.made + target.data(_triples(target)), 201)
            response.headers["Location"] = target.graph.value if target.graph else ""
            return response
        target = _target(name)
        new = not _is_there(asker, target, Scope())
        return _written(asker, target.made + target.data(_triples(target)), 201 if new else 204)

    @routes.delete("/store")
    @routes.delete("/store/<path:name>")
    def delete(name: str = "") -> Response:
        target = _target(name)
        if is_free(target.graph, asker.prism.base) and not _is_there(asker, target, Scope()):
            raise _no_graph(target)
        return _written(asker, f"DROP GRAPH {target.graph}" if target.graph else "DROP DEFAULT", 204)

    return routes


def _names_a_graph() -> bool:
    return "graph" in request.args or "default" in request.args


def _target(name: str) -> Target:
    """Return which graph the request names. Raises BadArgument where it names none or two."""
    refuse_unknown(OF_SCOPE | OF_FORMAT | {"graph", "default"})
    graph = single("graph")
    named = [bool(name), graph is not None, "default" in request.args]
    if sum(named) != 1 or (graph is None and "graph" in request.args):
        raise BadArgument(
            "the request names no graph" if not any(named) else "the request names two graphs",
            rule="a graph is named by ?graph=IRI, by ?default, or by the URL below /store/",
            mend="name exactly one; /sparql answers questions about many",
        )
    if named[2]:
        return Target(None)
    iri = graph or request.base_url
    try:
        return Target(NamedNode(iri))
    except ValueError as error:
        raise BadArgument(
            f"{iri!r} is not the IRI of a graph", rule="a graph has an absolute IRI", mend="write it in full"
        ) from error


def _read(asker: Asker, target: Target) -> Response:
    scope = scope_of_request()
    if target.graph is not None:
        scope = Scope(**{**scope.__dict__, "default_graphs": (target.graph.value,)})
    form = choose("graph", request.accept_mimetypes, wanted_format())
    asker.check(scope)
    if not _is_there(asker, target, scope):
        raise _no_graph(target)
    etag = etag_of(asker.version(), _ALL, scope, form.name)
    return not_modified(etag) or respond(asker.ask(_ALL, scope), form, etag, client_gone(), managed=asker.managed)


def _is_there(asker: Asker, target: Target, scope: Scope) -> bool:
    """Return whether there is such a graph: the default graph always, a free graph even when it is empty."""
    if target.graph is None or target.graph.value in asker.free_graphs(scope.pid):
        return True
    if request.method not in ("GET", "HEAD"):
        return False
    return any(row[0] for row in asker.ask("ASK { ?s ?p ?o }", scope).rows())


def _no_graph(target: Target) -> NotFoundError:
    return NotFoundError(
        f"there is no graph {target.graph}", rule="a graph is there once it was put", mend="check its IRI"
    )


def _written(asker: Asker, update: str, status: int) -> Response:
    receipt = asker.update(update, pid=single("pid"))
    response = Response(status=status)
    del response.headers["Content-Type"]
    if receipt.commit is not None:
        response.headers["Prism-Commit"] = str(receipt.commit)
    return response


def _triples(target: Target) -> Iterator[str]:
    """Yield the triples of the body, or of every part of a form, each as a line of N-Triples."""
    base = target.graph.value if target.graph else request.base_url
    if request.mimetype != _MULTIPART:
        yield from _parsed(request.stream, request.mimetype, base, 0)
        return
    files = [file for _, file in request.files.items(multi=True)]
    if not files:
        raise UnsupportedBody(
            "the form has no file", rule="each graph of a form is a file with a Content-Type", mend="send one"
        )
    for number, file in enumerate(files):
        yield from _parsed(file.stream, file.mimetype, base, number)


def _parsed(source: IO[bytes], media_type: str, base: str, number: int) -> Iterator[str]:
    """Yield the triples of a document; blank nodes of several documents are told apart by their ``number``."""
    form = RdfFormat.from_media_type(media_type) if media_type else None
    if form not in _FORMATS:
        raise UnsupportedBody(
            f"a body of type {media_type or 'unknown'} is no graph",
            rule=f"a graph is {', '.join(each.media_type for each in _FORMATS)}",
            mend="set Content-Type",
        )
    try:
        for quad in parse(source, format=form, base_iri=base, rename_blank_nodes=True):
            yield _line(quad)
    except (SyntaxError, ValueError) as error:
        raise BadRequest(
            f"the body is not {form.name}: {error}",
            status=400,
            rule="a graph is written in its format",
            mend="mend that place, or say the format that it is in",
        ) from error


def _line(quad: Quad) -> str:
    if not isinstance(quad.graph_name, DefaultGraph):
        raise BadRequest(
            f"the body speaks of another graph, {quad.graph_name}",
            status=400,
            rule="one graph is written at a time",
            mend="send each graph by itself, or use SPARQL Update",
        )
    return f"{quad.subject} {quad.predicate} {quad.object} ."
