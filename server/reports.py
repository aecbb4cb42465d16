"""A refused write as RDF: what the gate found, as a sh:ValidationReport, for a client that takes RDF; else JSON."""

from __future__ import annotations

from flask import Flask, Response, request

from prism_rdf.errors import ValidationError
from prism_rdf.updating.reporting import report_in

from . import failures
from .negotiation import GRAPH

_JSON = "application/json"


def install(app: Flask) -> None:
    """Make the application answer what the gate refuses in the format that the client takes."""
    app.register_error_handler(ValidationError, answer)


def answer(error: ValidationError) -> Response:
    """Return the report: as JSON unless the client names a format of RDF."""
    chosen = request.accept_mimetypes.best_match([_JSON, *GRAPH], default=_JSON) if request.accept_mimetypes else _JSON
    if chosen == _JSON:
        return failures.answer(error)
    media_type = f"{chosen}; charset=utf-8" if chosen.startswith("text/") else chosen
    body = report_in(error, GRAPH[chosen])
    response = Response(body, status=error.http_status, content_type=media_type)
    response.headers["Vary"] = "Accept"
    return response
