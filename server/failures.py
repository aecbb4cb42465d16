"""Errors as HTTP answers: one JSON shape for all, and the few errors only this door can meet.

UsageError            400
├── Unauthenticated   401   no token, or none that is known
├── NotAcceptable     406   no format that the client takes
├── UnsupportedBody   415   a body that is no query
└── UnknownPath       404   or a method it does not take (405), and what else HTTP itself refuses
RefusedError          422
├── Forbidden         403   the token lacks a scope, or does not reach the project
└── PreconditionFailed 412  the store is not as If-Match or If-None-Match say
BusyError             503
├── TooManyRequests   429   of one token
└── TooManyWaiting    503   as many as may wait for commits do
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from flask import Flask, Response, json
from werkzeug.exceptions import HTTPException

from prism_rdf.errors import BusyError, PrismError, RefusedError, UsageError

_LOG = logging.getLogger("prism_server")


class NotAcceptable(UsageError):
    code = "not-acceptable"
    http_status = 406


class UnsupportedBody(UsageError):
    code = "unsupported-body"
    http_status = 415


class BadRequest(UsageError):
    """What HTTP itself refuses: unknown paths, methods, hosts, bodies that are too large."""

    code = "bad-request"
    headers: Mapping[str, str] = {}

    def __init__(self, message: str, *, status: int, rule: str = "", mend: str = "") -> None:
        super().__init__(message, rule=rule, mend=mend)
        self.http_status = status


class UnknownPath(UsageError):
    code = "unknown-path"
    http_status = 404


class Unauthenticated(UsageError):
    """The request carries no token, or none that is known: what is wrong with it is not said."""

    code = "unauthenticated"
    http_status = 401
    headers: Mapping[str, str] = {"WWW-Authenticate": 'Bearer realm="prism"'}


class Forbidden(RefusedError):
    code = "forbidden"
    http_status = 403
    headers: Mapping[str, str] = {}


class PreconditionFailed(RefusedError):
    code = "precondition-failed"
    http_status = 412


class TooManyRequests(BusyError):
    code = "too-many-requests"
    http_status = 429

    def __init__(self, message: str, *, retry_after: int, rule: str = "", mend: str = "") -> None:
        super().__init__(message, rule=rule, mend=mend)
        self.retry_after = retry_after


class TooManyWaiting(BusyError):
    code = "too-many-waiting"
    retry_after = 5


def install(app: Flask) -> None:
    """Make the application answer every failure in the JSON shape of all doors."""
    app.register_error_handler(PrismError, answer)
    app.register_error_handler(HTTPException, _http_failure)
    app.register_error_handler(Exception, _unexpected)


def answer(error: PrismError) -> Response:
    """Return the error as JSON with its status, and the headers that go with it."""
    body = json.dumps(error.as_dict(), ensure_ascii=False) + "\n"
    response = Response(body.encode("utf-8", "replace"), status=error.http_status, mimetype="application/json")
    response.headers.extend(getattr(error, "headers", {}))
    if isinstance(error, BusyError):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def _http_failure(error: HTTPException) -> Response:
    status = error.code or 500
    if status == 404:
        return answer(
            UnknownPath(
                "there is nothing at this path",
                rule="paths are /, /sparql, /queries, /store, /entity, /timemap, /changes, /api, /jobs, /openapi.json, "
                "/health, /ready and /metrics",
                mend="see docs/http.md",
            )
        )
    failure = answer(
        BadRequest(
            f"{error.name}: {error.description}",
            status=status,
            rule="the request is not one this server takes",
            mend="see docs/http.md",
        )
    )
    allowed = getattr(error, "valid_methods", None)
    if allowed:
        failure.headers["Allow"] = ", ".join(sorted(allowed))
    return failure


def _unexpected(error: Exception) -> Response:
    _LOG.error("unexpected failure", exc_info=error)
    return answer(
        PrismError(
            "the server failed to answer this request",
            rule="this should not happen: it is a defect of prism",
            mend="look into the server's log for the details, and report them",
        )
    )
