"""Saved queries at /queries: which there are, and the answer of one, in every format; they are verbs of ``Project``."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, Response, jsonify, request

from prism_rdf.errors import BadArgument
from prism_rdf.project import Project

from .asking import Asker, Scope
from .caller import client_gone
from .negotiation import choose, wants_page
from .parameters import OF_FORMAT, OF_TIME, refuse_unknown, scope_of_request, single, wanted_format
from .responding import etag_of, not_modified, respond
from .workbench import page_for

_OWN = OF_TIME | OF_FORMAT | {"pid", "timeout", "max-rows"}


def blueprint(asker: Asker) -> Blueprint:
    """Return the routes of the saved queries of one open store."""
    routes = Blueprint("queries", __name__)

    @routes.get("/queries", strict_slashes=False)
    def queries() -> Response:
        refuse_unknown({"pid"})
        return jsonify({"queries": _project(asker).queries()})

    @routes.get("/queries/<name>")
    def answer(name: str) -> Response:
        project, scope = _project(asker), scope_of_request()
        bound = project.bind_query(name, as_of=scope.as_of, known_at=asker.known_at(scope), **_parameters())
        raw = bound["dataset"] == "raw"
        scope = replace(scope, pid=None if raw else project.pid, dataset=bound["dataset"])
        if wants_page(request.accept_mimetypes, wanted_format()):
            return page_for(asker, bound["query"], scope)
        return _answered(asker, bound["query"], scope, confined=bound["origin"] == "shipped")

    return routes


def _answered(asker: Asker, query: str, scope: Scope, *, confined: bool) -> Response:
    wanted = wanted_format() or request.accept_mimetypes.to_header()
    etag = etag_of(asker.version(), query, scope, wanted)
    known = not_modified(etag)
    if known is not None:
        return known
    found = asker.ask(query, scope, confined=confined)
    form = choose(found.kind, request.accept_mimetypes, wanted_format())
    return respond(found, form, etag, client_gone(), managed=asker.managed)


def _project(asker: Asker) -> Project:
    """Return the project of ``pid``, else the only one that the caller reaches. Raises BadArgument, NotFoundError."""
    known, pid = asker.projects(), single("pid")
    if pid is None and len(known) != 1:
        raise BadArgument(
            f"there are {len(known)} projects, and the request names none",
            rule="a saved query is asked of one project",
            mend=f"add pid=, one of {', '.join(known)}" if known else "a project begins with its first write",
        )
    named = pid or known[0]
    asker.check(Scope(pid=named))
    return asker.prism.project(named)


def _parameters() -> dict[str, str]:
    """Return what the URL says beside what every question takes: the parameters of the query."""
    found: dict[str, str] = {}
    for name in request.args:
        if name not in _OWN:
            value = single(name)
            if value is not None:
                found[name.replace("-", "_")] = value
    return found
