"""One entity over time: what is said of it at /entity/PID/ENTITY in RDF, and the list of its states at /timemap."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from flask import Blueprint, Response, request
from pyoxigraph import NamedNode

from .asking import Asker
from .caller import client_gone
from .memento import LINK_FORMAT, mementos, say_time, timemap_json, timemap_link_format
from .negotiation import choose, wants_page
from .parameters import OF_FORMAT, OF_TIME, refuse_unknown, scope_of_request, single, wanted_format
from .responding import etag_of, not_modified, respond
from .workbench import ABOUT, page_for

_SAID = "CONSTRUCT {{ {iri} ?p ?o . ?s ?q {iri} }} WHERE {{ {{ {iri} ?p ?o }} UNION {{ ?s ?q {iri} }} }}"
_JSON = "application/json"


def blueprint(asker: Asker) -> Blueprint:
    """Return the routes of the entities of one open store. ENTITY is what it is for all doors."""
    routes = Blueprint("entities", __name__)

    @routes.get("/entity/<pid>/<path:entity>")
    def entity_at(pid: str, entity: str) -> Response:
        refuse_unknown(OF_TIME | OF_FORMAT)
        scope = replace(scope_of_request(), pid=pid)
        asker.check(scope)
        node = asker.prism.project(pid).resolve(entity, scope.as_of, asker.known_at(scope))
        if wants_page(request.accept_mimetypes, wanted_format()):
            return page_for(asker, ABOUT.format(iri=node), scope)
        form = choose("graph", request.accept_mimetypes, wanted_format())
        query = _SAID.format(iri=node)
        etag = etag_of(asker.version(), query, scope, form.name)
        known = not_modified(etag)
        if known is not None:
            return known
        found = asker.ask(query, scope)
        response = respond(found, form, etag, client_gone(), managed=asker.managed)
        say_time(response, found.as_of, str(found.as_of) if found.as_of else None, _timemap(pid, node))
        return response

    @routes.get("/timemap/<pid>/<path:entity>")
    def timemap(pid: str, entity: str) -> Response:
        refuse_unknown({"known-at", "format"})
        scope = replace(scope_of_request(), pid=pid, as_of=None)
        asker.check(scope)
        project, known = asker.prism.project(pid), asker.known_at(scope)
        node = project.resolve(entity, None, known)
        resource, own = _address("entity", pid, node), _timemap(pid, node)
        found = mementos(project.history(node.value, known), resource)
        wanted = single("format") or request.accept_mimetypes.best_match([LINK_FORMAT, _JSON])
        if wanted in ("json", _JSON):
            return Response(timemap_json(resource, own, found), content_type=_JSON)
        return Response(timemap_link_format(resource, own, found), content_type=LINK_FORMAT)

    return routes


def _timemap(pid: str, node: NamedNode) -> str:
    return _address("timemap", pid, node)


def _address(what: str, pid: str, node: NamedNode) -> str:
    """Return the address of an entity by its uuid, which no rename changes."""
    uuid = node.value.rsplit("/", 1)[-1]
    return f"{request.url_root}{what}/{quote(pid)}/{quote(uuid)}"
