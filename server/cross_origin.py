"""What pages of other sites are told of the answers (CORS); who may ask at all is said by the tokens.

A page of this machine is shown the answers, and any page that sends a token: a token is never sent by a browser alone.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from flask import Flask, Response, request

from .loopback import is_loopback

_METHODS = "GET, HEAD, POST, PUT, DELETE, OPTIONS"
_ASKED = "Accept, Accept-Datetime, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID"
_TOLD = (
    "Content-Location, ETag, Link, Location, Memento-Datetime, Prism-As-Of, Prism-Commit, Prism-Dataset, "
    "Prism-Known-At, Prism-Truncated, Retry-After"
)
_DAY = "86400"  # seconds
_ORIGIN = re.compile(r"https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:\d+)?")


def install(app: Flask) -> None:
    """Have every answer say which page may read it, and answer what browsers ask beforehand."""

    @app.after_request
    def tell_the_browser(response: Response) -> Response:
        response.vary.add("Origin")
        origin = request.headers.get("Origin", "")
        asks_beforehand = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
        if _ORIGIN.fullmatch(origin) and (asks_beforehand or "Authorization" in request.headers or _is_here(origin)):
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = _TOLD
            if asks_beforehand:
                response.headers["Access-Control-Allow-Methods"] = _METHODS
                response.headers["Access-Control-Allow-Headers"] = _ASKED
                response.headers["Access-Control-Max-Age"] = _DAY
        return response


def _is_here(origin: str) -> bool:
    try:
        return is_loopback(urlsplit(origin).hostname or "")
    except ValueError:
        return False
