"""The SPARQL 1.1 protocol at /sparql: requests in, answers out; query and update themselves are verbs of ``Prism``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flask import Blueprint, Response, jsonify, request

from prism_rdf.errors import BadArgument
from prism_rdf.reach import TOKEN

from .asking import Asker, Scope
from .caller import client_gone
from .conditions import conditioned
from .description import describe_service
from .failures import UnsupportedBody
from .negotiation import choose, wants_page
from .parameters import OF_FORMAT, OF_SCOPE, many, refuse_unknown, scope_of_request, single, wanted_format
from .responding import etag_of, not_modified, respond
from .workbench import page_for

_FORM = "application/x-www-form-urlencoded"
_QUERY = "application/sparql-query"
_UPDATE = "application/sparql-update"
_OF_QUERY = frozenset({"default-graph-uri", "named-graph-uri"})
_OF_UPDATE = frozenset({"using-graph-uri", "using-named-graph-uri"})
_PARAMETERS = OF_SCOPE | OF_FORMAT | _OF_QUERY | _OF_UPDATE | {"query", "update"}
_LARGEST = 1 << 26  # bytes of a request
_RELATIVE = re.compile(r"<(?![A-Za-z][A-Za-z0-9+.-]*:)[^<>\"{}|^`\\\s]*>")


@dataclass(frozen=True)
class Operation:
    """What a request asks for, and its text."""

    kind: str
    text: str


def blueprint(asker: Asker) -> Blueprint:
    """Return the routes of the protocol over one open store."""
    routes = Blueprint("protocol", __name__)

    @routes.route("/sparql", methods=["GET", "POST"], strict_slashes=False)
    def sparql() -> Response:
        request.max_content_length = request.max_form_memory_size = _LARGEST
        if request.method == "GET" and not set(request.args) - OF_FORMAT:
            return _description(asker)
        operation = _operation_of_request()
        if operation.kind == "update":
            return _updated(asker, operation.text)
        scope = scope_of_request()
        if wants_page(request.accept_mimetypes, wanted_format()):
            return page_for(asker, operation.text, scope)
        return _answered(asker, operation.text, scope)

    return routes


def _answered(asker: Asker, query: str, scope: Scope) -> Response:
    wanted = wanted_format() or request.accept_mimetypes.to_header()
    etag = etag_of(asker.version(), query, scope, wanted)
    known = not_modified(etag)
    if known is not None:
        return known
    found = asker.ask(query, scope)
    form = choose(found.kind, request.accept_mimetypes, wanted_format())
    return respond(found, form, etag, client_gone(), managed=asker.managed)


def _description(asker: Asker) -> Response:
    if wants_page(request.accept_mimetypes, wanted_format()):
        return page_for(asker)
    return describe_service(asker, choose("graph", request.accept_mimetypes, wanted_format()))


def _updated(asker: Asker, text: str) -> Response:
    """Carry out an update; return what was written as JSON."""
    for name in sorted(_PARAMETERS - _OF_UPDATE - {"update", "pid"}):
        if many(name):
            raise BadArgument(
                f"{name} does not belong to an update",
                rule="an update takes pid, using-graph-uri and using-named-graph-uri",
                mend=f"leave {name} out",
            )
    with conditioned(asker, lambda: True):
        receipt = asker.update(
            text,
            pid=single("pid"),
            using_graphs=many("using-graph-uri"),
            using_named_graphs=many("using-named-graph-uri"),
        )
    response = jsonify(receipt.as_dict())
    if receipt.commit is not None:
        response.headers["Prism-Commit"] = str(receipt.commit)
    return response


def _operation_of_request() -> Operation:
    """Return the one query or update that a request is; raise BadArgument, UnsupportedBody where it is none or two."""
    if request.method == "POST":
        _check_body()
    refuse_unknown(_PARAMETERS)
    given = [(kind, text) for kind in ("query", "update") if (text := single(kind)) is not None]
    if request.method == "POST" and request.mimetype in (_QUERY, _UPDATE):
        given.append(("query" if request.mimetype == _QUERY else "update", _text_of_body()))
    if len(given) != 1:
        raise BadArgument(
            f"the request has {'both a query and an update' if len({k for k, _ in given}) > 1 else 'two texts'}"
            if given
            else "the request has no query",
            rule="a request is one query or one update",
            mend="send them one after the other" if given else "add ?query=… or send a form",
        )
    kind, text = given[0]
    if kind == "update" and request.method == "GET":
        raise BadArgument("an update came by GET", rule="GET changes nothing", mend="send the update with POST")
    for name in sorted(_OF_QUERY if kind == "update" else _OF_UPDATE):
        if many(name):
            raise BadArgument(
                f"{name} does not belong to {'an update' if kind == 'update' else 'a query'}",
                rule="a query takes default-graph-uri and named-graph-uri, an update using-graph-uri and "
                "using-named-graph-uri",
                mend=f"leave {name} out, or use the other one",
            )
    return Operation(kind, _with_base(text))


def _with_base(text: str) -> str:
    """Return a text whose relative IRIs begin at this address, which is the base that the service defines."""
    if not _RELATIVE.search(text):
        return text
    tokens = [(each.lastgroup, each[0]) for each in TOKEN.finditer(text)]
    relative = any(kind == "iri" and _RELATIVE.match(said) for kind, said in tokens)
    own = any(kind == "word" and said.upper() == "BASE" for kind, said in tokens)
    return f"BASE <{request.base_url}> {text}" if relative and not own else text


def _check_body() -> None:
    """Refuse a body of a type or a charset that is none of the protocol's."""
    if request.mimetype not in (_FORM, _QUERY, _UPDATE):
        raise UnsupportedBody(
            f"a body of type {request.mimetype or 'unknown'} is neither query nor update",
            rule=f"POST takes {_QUERY}, {_UPDATE}, or a form with the field query or update",
            mend=f"set Content-Type: {_QUERY}",
        )
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    if charset not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedBody(
            f"a body in {charset} is not taken", rule="queries and updates are UTF-8", mend="encode the body as UTF-8"
        )


def _text_of_body() -> str:
    try:
        return request.get_data().decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadArgument("the body is not UTF-8", rule="a query is UTF-8 text", mend="encode it so") from error
