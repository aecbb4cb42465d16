"""The process that evaluates queries on copies of stores: asked over a connection, it may be killed at any moment.

Requests are JSON, one at a time. ``{"drop": […]}`` closes stores. ``{"store", "open", "follow", "query", "options",
"commit", "counter", "max_rows"}`` opens a copy (``open``: its folder) or goes on with the one it has, follows the
changes, asks the query, and answers ``{"kind", "variables", "commit", "truncated"}``; then ``{"write": format,
"prefixes"}`` has the answer sent as ``b"D…"`` pieces and an end, ``{"write": null}`` gives it up. What fails is
``{"error", "text"}``.
"""

from __future__ import annotations

import io
import json
import os
import re
import resource
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from pyoxigraph import (
    DefaultGraph,
    NamedNode,
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    QueryTriples,
    RdfFormat,
    Store,
    parse,
    parse_query_results,
    serialize,
)

from prism_rdf.workers.confining import confine
from prism_rdf.workers.formats import GRAPH_FORMATS, RESULT_FORMATS

_PIECE = 1 << 16  # bytes
_IN_MEMORY = 1 << 23  # bytes
_MIB = 1 << 20
Message = dict[str, Any]


class Worker:
    """One end of the connection to the owner of the stores."""

    def __init__(self, owner: Connection) -> None:
        self._owner = owner
        self._stores: dict[str, Store] = {}
        self._commits: dict[str, int] = {}

    def run(self) -> None:
        """Answer until the owner closes the connection."""
        while True:
            try:
                request = json.loads(self._owner.recv_bytes())
            except EOFError:
                return
            try:
                self._answer(request)
            except SyntaxError as error:
                self._fail("syntax", error)
            except MemoryError as error:
                self._fail("memory", error)
            except BrokenPipeError:
                return
            except (OSError, RuntimeError) as error:
                services = request.get("services")
                kind = "disk" if isinstance(error, OSError) else "failure"
                self._fail("service" if services else kind, error, services=services)
            except Exception as error:
                self._fail("failure", error)

    def _answer(self, request: Message) -> None:
        for key in request.get("drop", ()):
            self._stores.pop(key, None)
        if "query" not in request:
            return
        store = self._brought_up_to_date(request)
        results: Any = store.query(request["query"], **_options(request["options"]))
        kind = "ask" if isinstance(results, QueryBoolean) else "select"
        kind = "graph" if isinstance(results, QueryTriples) else kind
        variables = [v.value for v in results.variables] if isinstance(results, QuerySolutions) else []
        truncated = False
        if request["max_rows"] is not None and kind != "ask":
            results, truncated = _cut(results, request["max_rows"])
        commit = self._commits[request["store"]]
        self._send({"kind": kind, "variables": variables, "commit": commit, "truncated": truncated})
        wanted = json.loads(self._owner.recv_bytes())
        if wanted["write"] is not None:
            pieces = _Pieces(self._owner)
            with io.BufferedWriter(pieces, _PIECE) as output:
                try:
                    _write(results, wanted, output)
                except BaseException:
                    pieces.given_up = True
                    raise
            self._send({"peak": _peak()})

    def _brought_up_to_date(self, request: Message) -> Store:
        key = request["store"]
        if request["open"] is not None:
            self._stores.pop(key, None)
            self._stores[key] = Store(request["open"])
        store = self._stores[key]
        for removes, adds in request["follow"]:
            for quad in parse(removes, format=RdfFormat.N_QUADS):
                store.remove(quad)
            store.extend(parse(adds, format=RdfFormat.N_QUADS))
        if request["commit"] is not None:
            self._commits[key] = request["commit"]
        elif request["open"] is not None or request["follow"]:
            self._commits[key] = _counted(store, request["counter"])
        return store

    def _fail(self, kind: str, error: BaseException, **more: Any) -> None:
        self._send({"error": kind, "text": str(error) or type(error).__name__, **more})

    def _send(self, message: Message) -> None:
        self._owner.send_bytes(b"J" + json.dumps(message).encode("utf-8", "surrogatepass"))


class _Pieces(io.RawIOBase):
    """A file whose content goes to the owner; once it is given up what is left goes nowhere."""

    def __init__(self, owner: Connection) -> None:
        self._owner = owner
        self.given_up = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if not self.given_up:
            self._owner.send_bytes(b"D" + bytes(data))
        return len(data)


class _Lines(io.RawIOBase):
    """A file that takes so many whole lines, and then refuses more."""

    def __init__(self, output: IO[bytes], most: int) -> None:
        self._output = output
        self._left = most
        self.full = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self.full:  # the engine tries once more to write what it has left
            raise _Full
        text = bytes(data)
        lines = text.count(b"\n")
        if lines > self._left or (lines == self._left and not text.endswith(b"\n")):
            end = 0
            for _ in range(self._left):
                end = text.index(b"\n", end) + 1
            self._output.write(text[:end])
            self.full = True
            raise _Full
        self._left -= lines
        self._output.write(text)
        return len(data)


class _Full(Exception):
    """No further line is taken."""


def _cut(results: QuerySolutions | QueryTriples, most: int) -> tuple[Any, bool]:
    """Return the first ``most`` rows, to be written once, and whether there were more.

    They pass through a form of one line a row, which the engine writes and reads faster than rows come to Python.
    """
    spool = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - it is read after this
    of_rows = isinstance(results, QuerySolutions)
    lines: Any = _Lines(spool, most + of_rows)  # the first line of TSV names the columns
    with suppress(_Full):
        if isinstance(results, QuerySolutions):
            results.serialize(lines, format=QueryResultsFormat.TSV)
        else:
            serialize(results, lines, format=RdfFormat.N_TRIPLES)
    spool.seek(0)
    if of_rows:
        return parse_query_results(spool, QueryResultsFormat.TSV), lines.full
    return (quad.triple for quad in parse(spool, format=RdfFormat.N_TRIPLES)), lines.full


def _write(results: Any, wanted: Message, output: IO[bytes]) -> None:
    if isinstance(results, (QuerySolutions, QueryBoolean)):
        results.serialize(output, format=RESULT_FORMATS[wanted["write"]])
    else:
        serialize(results, output, format=GRAPH_FORMATS[wanted["write"]], prefixes=wanted["prefixes"])


def _options(options: Message) -> Message:
    """Return the options of a query; graphs come as IRIs, null is the default graph."""
    lists = ("default_graph", "named_graphs")
    return {
        name: [DefaultGraph() if iri is None else NamedNode(iri) for iri in value] if name in lists else value
        for name, value in options.items()
    }


def _counted(store: Store, counter: list[str]) -> int:
    subject, predicate, graph = map(NamedNode, counter)
    found = store.quads_for_pattern(subject, predicate, None, graph)
    return max((int(str(getattr(quad.object, "value", 0))) for quad in found), default=0)


def _peak() -> int:
    """Return the most memory that this program ever had, in bytes.

    What the system reports of the process counts the program that started it too, until this one took its place.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    found = re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _end_with_owner() -> None:
    """Wait for the end of the owner, whatever ends it: it has the other end of stdin."""
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    """Serve the connection of the file descriptor named first, within so many MiB of memory; then come ports."""
    handle, memory, *ports = map(int, sys.argv[1:])
    confine(ports)
    with suppress(ValueError, OSError):  # a system that knows no such limit
        resource.setrlimit(resource.RLIMIT_DATA, (memory * _MIB, memory * _MIB))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_end_with_owner, daemon=True).start()
    with Connection(handle) as owner:
        Worker(owner).run()


if __name__ == "__main__":
    main()
