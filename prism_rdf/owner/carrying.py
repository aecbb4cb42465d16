"""Answers of any size over the wire: a SPARQL answer in pieces, what a verb yields in batches; it knows no verb.

Rows go as SPARQL TSV and graphs as N-Triples, which keep every term as it is. The receiver keeps a large answer in a
temporary file, so that neither the owner waits for a slow reader nor the reader's memory bounds the answer.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import Any

from pyoxigraph import QueryResultsFormat, RdfFormat, parse, parse_query_results

from prism_rdf.datasets import QueryAnswer
from prism_rdf.owner import codec
from prism_rdf.owner.wire import Channel, Message

_PIECE = 1 << 18  # bytes
_IN_MEMORY = 1 << 23  # bytes
_BATCH = 64  # items


def send_answer(channel: Channel, answer: QueryAnswer) -> None:
    """Send what the query found, then what ended it."""
    head = {
        "kind": answer.kind,
        "dataset": answer.dataset,
        "as_of": answer.as_of,
        "known_at": answer.known_at,
        "commit": answer.commit,
        "truncated": answer.truncated,
    }
    channel.send({"answer": head})
    with io.BufferedWriter(_Pieces(channel), _PIECE) as output:
        answer.write("nt" if answer.kind == "graph" else "tsv" if answer.kind == "select" else "json", output)
    channel.send({"end": True})


def receive_answer(channel: Channel, head: Message) -> QueryAnswer:
    """Return the answer as it was; raises what went wrong while it was found."""
    body = _Spool(_IN_MEMORY)
    while isinstance(piece := channel.receive(), bytes):
        body.write(piece)
    _check_end(piece)
    body.seek(0)
    results: Any
    if head["kind"] == "graph":
        results = (quad.triple for quad in parse(body, format=RdfFormat.N_TRIPLES))
    else:
        form = QueryResultsFormat.TSV if head["kind"] == "select" else QueryResultsFormat.JSON
        results = parse_query_results(body, form)
    return QueryAnswer(**head, _results=results)


def send_items(channel: Channel, items: Iterable[Any]) -> None:
    """Send what a verb yields, as it comes."""
    waiting = iter(items)
    while batch := list(islice(waiting, _BATCH)):
        channel.send({"items": batch})
    channel.send({"end": True})


def receive_items(channel: Channel, first: Message) -> Iterator[Any]:
    """Yield what the verb yields; raises what went wrong on the way."""
    reply: Message | bytes | None = first
    while isinstance(reply, dict) and "items" in reply:
        yield from reply["items"]
        reply = channel.receive()
    _check_end(reply)


def _check_end(reply: Message | bytes | None) -> None:
    if not isinstance(reply, dict):
        raise ConnectionResetError("the answer broke off")
    if "error" in reply:
        raise codec.error_of(reply["error"])


class _Spool(SpooledTemporaryFile[bytes]):
    """A temporary file that lives as long as the answer that is read from it."""

    def __del__(self) -> None:
        self.close()


class _Pieces(io.RawIOBase):
    """A file whose content goes over a channel."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._channel.send_bytes(bytes(data))
        return len(data)
