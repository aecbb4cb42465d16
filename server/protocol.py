"""The SPARQL 1.1 protocol at /sparql: requests in, answers out; the query itself is ``Prism.sparql``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, request

from prism_rdf.errors import BadArgument

from .asking import Asker, Scope
from .failures import NotBuilt, UnsupportedBody
from .negotiation import choose

if TYPE_CHECKING:
    from prism_rdf.datasets import QueryAnswer

_FORM = "application/x-www-form-urlencoded"
_QUERY = "application/sparql-query"
_UPDATE = "application/sparql-update"
_PARAMETERS = frozenset({"query", "update", "as-of", "known-at", "dataset", "pid", "format"})
_PROTOCOL_DATASET = frozenset({"default-graph-uri", "named-graph-uri", "using-graph-uri", "using-named-graph-uri"})


def blueprint(asker: Asker) -> Blueprint:
    """Return the routes of the protocol over one open store."""
    routes = Blueprint("protocol", __name__)

    @routes.route("/sparql", methods=["GET", "POST"])
    def sparql() -> Response:
        query = _query_of_request()
        found = asker.ask(query, scope_of_request())
        media_type, name = choose(found.kind, request.accept_mimetypes, _single("format"))
        response = Response(found.serialize(name), content_type=_with_charset(media_type))
        response.headers["Vary"] = "Accept"
        describe(response, found)
        return response

    return routes


def describe(response: Response, found: QueryAnswer) -> None:
    """Say in the headers which world was seen."""
    response.headers["Prism-Dataset"] = found.dataset
    response.headers["Prism-Commit"] = str(found.commit)
    if found.dataset == "current":
        response.headers["Prism-As-Of"] = str(found.as_of or "now")
    if found.known_at is not None:
        response.headers["Prism-Known-At"] = str(found.known_at)


def scope_of_request() -> Scope:
    """Return what the parameters of the request say; raise BadArgument for one given twice."""
    return Scope(_single("pid"), _single("as-of"), _single("known-at"), _single("dataset") or "current")


def _query_of_request() -> str:
    _refuse_unknown_parameters()
    if _single("update") is not None or request.mimetype == _UPDATE:
        raise NotBuilt(
            "SPARQL Update is not built yet",
            rule="a write goes through a verb, so that it is checked and keeps its history",
            mend="write with a verb of the Python class Project, or with `prism ingest`",
        )
    if request.method == "POST" and request.mimetype not in (_FORM, _QUERY):
        raise UnsupportedBody(
            f"a body of type {request.mimetype or 'unknown'} is no query",
            rule=f"POST takes {_QUERY}, or a form with the field query",
            mend=f"set Content-Type: {_QUERY}",
        )
    if request.method == "POST" and request.mimetype == _QUERY:
        try:
            return request.get_data().decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadArgument("the query is not UTF-8", rule="a query is UTF-8 text", mend="encode it so") from error
    query = _single("query")
    if query is None:
        raise BadArgument(
            "the request has no query", rule="exactly one parameter query is needed", mend="add ?query=… or send a form"
        )
    return query


def _refuse_unknown_parameters() -> None:
    for name in request.values:
        if name in _PROTOCOL_DATASET:
            raise BadArgument(
                f"parameter {name} is not supported",
                rule="the dataset is chosen by dataset, pid, as-of and known-at",
                mend="use dataset=raw and name the graphs in the query with GRAPH",
            )
        if name not in _PARAMETERS:
            raise BadArgument(
                f"unknown parameter {name!r}",
                rule=f"parameters are {', '.join(sorted(_PARAMETERS))}",
                mend="check its spelling",
            )


def _single(name: str) -> str | None:
    values = request.values.getlist(name)
    if len(values) > 1:
        raise BadArgument(f"parameter {name} is given {len(values)} times", rule="it is given once", mend="drop one")
    return values[0] if values and values[0].strip() else None


def _with_charset(media_type: str) -> str:
    return f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
