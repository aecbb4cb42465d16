"""An answer of SPARQL as an HTTP response: what was seen, buffered or streamed, whole or broken off."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from flask import Response, request

from prism_rdf.errors import PrismError
from prism_rdf.services import services_of

from .asking import Scope
from .caller import BrokenOff
from .compressing import SMALLEST, compressed, takes_gzip
from .memento import say_time
from .negotiation import Format

if TYPE_CHECKING:
    from prism_rdf.datasets import QueryAnswer

BUFFER = 1 << 18  # bytes; an answer up to this size is sent as a whole
VARY = "Accept, Accept-Encoding, Accept-Datetime"
_VOLATILE = re.compile(r"\b(now|rand|uuid|struuid|bnode)\s*\(", re.IGNORECASE)
_LOG = logging.getLogger("prism_server")


def etag_of(version: str, query: str, scope: Scope, form: str) -> str | None:
    """Return the entity tag of an answer; None where asking twice may give two answers of one state of the store.

    It begins with the ``stamp`` of that state.
    """
    moving = scope.as_of is None and scope.known_at is not None  # as of the very moment of the question
    if _VOLATILE.search(query) or moving or services_of(query):
        return None
    return stamp(version) + _digest(repr((query, scope, form, takes_gzip(request.accept_encodings))))


def stamp(version: str) -> str:
    """Return how the tags of all answers of one state of the store begin, and of no other."""
    return _digest(version) + "-"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def not_modified(etag: str | None) -> Response | None:
    """Return the answer without a body where the client has it already."""
    if etag is None or request.method not in ("GET", "HEAD") or not request.if_none_match.contains(etag):
        return None
    response = Response(status=304)
    _validate(response, etag)
    return response


def respond(found: QueryAnswer, form: Format, etag: str | None, gone: Callable[[], bool], *, managed: bool) -> Response:
    """Return the answer. What fails before the first bytes are sent is raised; later it breaks the transfer.

    ``gone`` tells that the client has left, so that nobody waits for the rest.
    """
    pieces = found.stream(form.name)
    head, ended = _begun(pieces)
    if found.truncated and head:
        head[0] = form.marked(head[0])
    whole = head if ended else chain(head, _watched(pieces, gone))
    size = sum(map(len, head))
    packed = takes_gzip(request.accept_encodings) and (not ended or size >= SMALLEST)
    body = compressed(whole) if packed else whole
    response = Response(b"".join(body) if ended else body, content_type=form.content_type)
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    describe(response, found, managed=managed)
    _validate(response, etag)
    return response


def describe(response: Response, found: QueryAnswer, *, managed: bool) -> None:
    """Say in the headers which world was seen, and whether all of it is there; what is not managed has no past."""
    response.headers["Prism-Dataset"] = found.dataset
    response.headers["Prism-Commit"] = str(found.commit)
    if found.dataset == "current" and managed:
        response.headers["Prism-As-Of"] = str(found.as_of or "now")
    if found.known_at is not None:
        response.headers["Prism-Known-At"] = str(found.known_at)
    if found.truncated:
        response.headers["Prism-Truncated"] = "true"
    if request.method in ("GET", "HEAD") and found.dataset == "current" and managed:
        say_time(response, found.as_of, str(found.as_of) if found.as_of else None)


def _validate(response: Response, etag: str | None) -> None:
    response.headers["Vary"] = VARY
    if etag is None:
        response.headers["Cache-Control"] = "no-store"
    else:
        response.set_etag(etag)
        response.headers["Cache-Control"] = "no-cache"  # kept, and asked about before it is used


def _begun(pieces: Iterator[bytes]) -> tuple[list[bytes], bool]:
    """Return the pieces of a first buffer, and whether that is all."""
    head: list[bytes] = []
    size = 0
    for piece in pieces:
        head.append(piece)
        size += len(piece)
        if size > BUFFER:
            return head, False
    return head, True


def _watched(pieces: Iterator[bytes], gone: Callable[[], bool]) -> Iterator[bytes]:
    try:
        for piece in pieces:
            if gone():
                _LOG.info("a client left before the end of its answer")
                return
            yield piece
    except PrismError as error:
        _LOG.warning("an answer broke off: %s", error)
        raise BrokenOff from error
