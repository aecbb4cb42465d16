"""The SPARQL 1.1 graph store protocol at /store: whole graphs are read, put, added to, removed; no SPARQL is seen.

A graph is named by ``?graph=IRI``, is the default graph by ``?default``, or has the URL of the request below /store/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any
from uuid import uuid4

from flask import Blueprint, Response, request
from pyoxigraph import BlankNode, DefaultGraph, NamedNode, RdfFormat, Triple, parse

from prism_rdf.errors import BadArgument, NotFoundError, Unreadable
from prism_rdf.free import is_free
from prism_rdf.namespaces import derived_uuid

from .asking import Asker, Scope
from .caller import client_gone
from .conditions import conditioned
from .failures import BadRequest, UnsupportedBody
from .negotiation import choose
from .parameters import OF_FORMAT, OF_SCOPE, refuse_unknown, scope_of_request, single, wanted_format
from .responding import etag_of, not_modified, respond

if TYPE_CHECKING:
    from prism_rdf.model import Receipt

_LARGEST = 1 << 28  # bytes of a graph
_MULTIPART, _FIELDS = "multipart/form-data", "application/x-www-form-urlencoded"
_ALL = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
_FORMATS = (
    *(RdfFormat.TURTLE, RdfFormat.N_TRIPLES, RdfFormat.RDF_XML, RdfFormat.JSON_LD),
    *(RdfFormat.TRIG, RdfFormat.N_QUADS),
)


@dataclass(frozen=True)
class Target:
    """Which graph a request is about; None: the default graph."""

    graph: NamedNode | None

    @property
    def base(self) -> str:
        """Return what relative IRIs start from."""
        return self.graph.value if self.graph else request.base_url

    @property
    def iri(self) -> str | None:
        return self.graph.value if self.graph else None


def blueprint(asker: Asker) -> Blueprint:
    """Return the routes of the protocol over one open store."""
    routes = Blueprint("graph_store", __name__)

    @routes.before_request
    def take_a_whole_graph() -> None:
        request.max_content_length = _LARGEST
        if request.mimetype == _FIELDS:  # what curl says of a body unless it is told
            _form_of(request.mimetype)

    @routes.get("/store")
    @routes.get("/store/<path:name>")
    def read(name: str = "") -> Response:
        return _read(asker, _target(name))

    @routes.put("/store")
    @routes.put("/store/<path:name>")
    def put(name: str = "") -> Response:
        return _loaded(asker, _target(name), replaces=True)

    @routes.post("/store")
    @routes.post("/store/<path:name>")
    def post(name: str = "") -> Response:
        if name or _names_a_graph():
            return _loaded(asker, _target(name))
        key = request.headers.get("Idempotency-Key")
        name = derived_uuid("graph", single("pid") or "", key) if key else str(uuid4())
        target = Target(NamedNode(f"{request.base_url}/{name}"))
        response = _loaded(asker, target)
        response.status_code = 201  # also when it is answered again
        response.headers["Location"] = target.iri or ""
        return response

    @routes.delete("/store")
    @routes.delete("/store/<path:name>")
    def delete(name: str = "") -> Response:
        target = _target(name)

        def there() -> None:
            if is_free(target.graph, asker.prism.base) and not _is_there(asker, target, Scope()):
                raise _no_graph(target)

        return _updated(asker, target, f"DROP GRAPH {target.graph}" if target.graph else "DROP DEFAULT", there)

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


def _loaded(asker: Asker, target: Target, *, replaces: bool = False) -> Response:
    """Write what was sent into a graph; into the world of a project as an update, which the verbs take apart."""
    new = not _is_there(asker, target, Scope())
    if target.graph is None and asker.managed:
        said = "".join(_lines(target))
        return _updated(asker, target, f"{'CLEAR DEFAULT ; ' if replaces else ''}INSERT DATA {{\n{said}}}")
    body, form = _body(target)
    with conditioned(asker, lambda: _is_there(asker, target, Scope())):
        receipt = asker.load(body, target.iri, form, target.base, pid=single("pid"), replaces=replaces)
    return _done(receipt, 201 if new else 204)


def _updated(asker: Asker, target: Target, update: str, needed: Callable[[], None] | None = None) -> Response:
    with conditioned(asker, lambda: _is_there(asker, target, Scope()), needed):
        return _done(asker.update(update, pid=single("pid")), 204)


def _done(receipt: Receipt, status: int) -> Response:
    response = Response(status=status)
    del response.headers["Content-Type"]
    if receipt.commit is not None:
        response.headers["Prism-Commit"] = str(receipt.commit)
    return response


def _body(target: Target) -> tuple[bytes, str]:
    """Return what was sent and its media type: as it came where it can be of one graph only, else as N-Triples."""
    if request.mimetype != _MULTIPART and not _form_of(request.mimetype).supports_datasets:
        return request.get_data(), request.mimetype
    return "".join(_lines(target)).encode(), RdfFormat.N_TRIPLES.media_type


def _lines(target: Target) -> Iterator[str]:
    """Yield the triples of the body, or of every part of a form, as lines of N-Triples."""
    names: dict[tuple[int, BlankNode], BlankNode] = {}
    for number, (source, media_type) in enumerate(_documents()):
        for triple in _parsed(source, _form_of(media_type), target.base):
            yield f"{_named(triple, number, names)} .\n"


def _documents() -> Iterator[tuple[IO[bytes], str]]:
    if request.mimetype != _MULTIPART:
        yield request.stream, request.mimetype
        return
    files = [file for _, file in request.files.items(multi=True)]
    if not files:
        raise UnsupportedBody(
            "the form has no file", rule="each graph of a form is a file with a Content-Type", mend="send one"
        )
    yield from ((file.stream, file.mimetype) for file in files)


def _form_of(media_type: str) -> RdfFormat:
    form = RdfFormat.from_media_type(media_type) if media_type else None
    if form not in _FORMATS:
        raise UnsupportedBody(
            f"a body of type {media_type or 'unknown'} is no graph",
            rule=f"a graph is {', '.join(each.media_type for each in _FORMATS)}",
            mend="set Content-Type",
        )
    return form


def _parsed(source: IO[bytes], form: RdfFormat, base: str) -> Iterator[Triple]:
    try:
        for quad in parse(source, format=form, base_iri=base):
            if not isinstance(quad.graph_name, DefaultGraph):
                raise _of_another_graph(quad.graph_name)
            yield quad.triple
    except (SyntaxError, ValueError) as error:
        raise Unreadable(
            f"the body is not {form.name}: {error}",
            rule="a graph is written in its format",
            mend="mend that place, or say the format that it is in",
        ) from error


def _named(term: Any, number: int, names: dict[tuple[int, BlankNode], BlankNode]) -> Any:
    """Return a term with blank nodes told apart by document, and named alike when the same is sent again."""
    if isinstance(term, BlankNode):
        return names.setdefault((number, term), BlankNode(f"n{len(names)}"))
    if isinstance(term, Triple):
        subject, object = (_named(end, number, names) for end in (term.subject, term.object))
        return Triple(subject, term.predicate, object)
    return term


def _of_another_graph(graph: NamedNode | BlankNode) -> BadRequest:
    return BadRequest(
        f"the body speaks of another graph, {graph}",
        status=400,
        rule="one graph is written at a time",
        mend="send each graph by itself, or use SPARQL Update",
    )
