"""Malformed requests against a real server: random methods, headers, bodies, encodings. No 5xx, no hang, no leak.

``python bench/http_fuzz.py [--requests 20000] [--seed 1]`` starts `prism serve` on a store of its own and prints what
was answered, how long the slowest answer took, and the memory of the server before and after. It ends with 1 when
there was a 5xx, a hang, or growth by more than a half.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from prism_rdf.prism import Prism

_SLOWEST = 20.0  # seconds after which a request hangs; /changes may be asked to wait, and is asked for less
_MOMENT = 0.2  # seconds
_METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "FOO", "G\xcbT", "")
_PATHS = (
    *("/", "/sparql", "/store", "/api", "/openapi.json", "/health", "/ready", "/metrics", "/jobs", "/changes", "/mcp"),
    *("/api/demo/fact", "/api/demo/entity", "/api/demo/recall", "/api/demo/history", "/api/demo/list_entities"),
    *("/api/demo/remember", "/api/demo/add_types", "/api/demo/review", "/api/demo/wip", "/api/-/log", "/api/-/export"),
    *("/jobs/x", "/timemap/demo/ADR-1", "/static/workbench.css", "/store/x", "/api/%2e%2e/x", "/%00", "/..//..", "*"),
)
_NAMES = (
    *("query", "update", "pid", "as-of", "known-at", "dataset", "format", "default-graph-uri", "graph", "default"),
    *(
        "entity",
        "text",
        "limit",
        "since",
        "wait",
        "cursor",
        "timeout",
        "max-rows",
        "type-name",
        "prefer-wip",
        "\xe9",
        "",
    ),
)
_TEXTS = (
    *(
        "",
        " ",
        "0",
        "-1",
        "9" * 30,
        "1e9",
        "NaN",
        "true",
        "null",
        "demo",
        "ADR-1",
        "2025",
        "2025-13-45",
        "-0001",
        "now",
    ),
    *(
        "SELECT * { ?s ?p ?o }",
        "SELECT (1/0 AS ?x) {}",
        "SELECT * {",
        "ASK { }",
        "DROP ALL",
        "INSERT DATA { <a> <b> 1 }",
    ),
    *(
        "CONSTRUCT WHERE { ?s ?p ?o } LIMIT 1",
        "SELECT * { ?s ?p+ ?o FILTER REGEX(?o, '(a+)+$') }",
        "\u202e\u0000",
        "\U0001f600",
    ),
    *("%", "%zz", "%ff%fe", "'; --", "../../etc/passwd", "<script>", "urn:x", "http://[", "a" * 5_000, "{}", "[[[["),
)
_TYPES = (
    *("application/json", "application/sparql-query", "application/sparql-update", "application/x-www-form-urlencoded"),
    *(
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "text/turtle",
        "application/rdf+xml",
        "application/ld+json",
    ),
    *("application/n-quads", "text/plain; charset=utf-16", "application/json; charset=latin-1", "x", "\xff/\xfe", ""),
)
_HEADERS = (
    *("Accept", "Accept-Encoding", "Accept-Datetime", "Authorization", "Content-Encoding", "Cookie", "Expect", "Range"),
    *("If-None-Match", "If-Match", "If-Modified-Since", "Idempotency-Key", "Last-Event-ID", "Origin", "Referer", "TE"),
    *("Access-Control-Request-Method", "X-HTTP-Method-Override", "Upgrade", "Connection", "Mcp-Session-Id", "X-\xe9"),
)
_VALUES = (
    *(
        "",
        "*/*",
        "gzip",
        "gzip;q=nan",
        "text/html;q=x,,;",
        "*",
        '"',
        "W/",
        "bytes=0-",
        "Bearer ",
        "Bearer \xff",
        "Basic Og==",
    ),
    *(
        "a" * 9_000,
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Fri, 99 Foo",
        "close",
        "websocket",
        "100-continue",
        "http://[::1",
        "-1",
    ),
)
_MOST = 1 << 17  # bytes of a body


@dataclass
class Seen:
    """What the server answered."""

    statuses: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)
    slowest: float = 0.0


def a_body(dice: random.Random) -> bytes:
    """Return bytes that are JSON, nearly JSON, RDF, a form, or nothing at all."""
    kind = dice.randrange(9)
    if kind == 0:
        return dice.randbytes(dice.choice((0, 1, 30, 4_000, _MOST)))
    if kind == 1:
        return json.dumps(_a_value(dice, 4)).encode("utf-8", "surrogatepass")
    if kind == 2:
        given = {
            dice.choice(
                ("entity", "props", "property", "value", "type_name", "content", "tier", "text", "x")
            ): _a_value(dice, 2)
            for _ in range(4)
        }
        return json.dumps(given).encode("utf-8", "surrogatepass")
    if kind == 3:
        return b"[" * dice.choice((10, 1_000, 60_000))
    if kind == 4:
        return (
            b'{"entity": "ADR-1", "property": "status", "value": '
            + dice.choice((b"NaN", b"1e999", b"9" * 6_000, b'"\\ud800"', b"\xff"))
            + b"}"
        )
    if kind == 5:
        return dice.choice(
            (
                b"<urn:a> <urn:b> <urn:c> .",
                b"<a> <b>",
                b"@prefix : <",
                b"<rdf:RDF",
                b'{"@context": "http://127.0.0.1:9/"}',
                b"\xef\xbb\xbf",
            )
        )
    if kind == 6:
        return b"&".join(_quoted(dice) for _ in range(dice.randrange(5)))
    if kind == 7:
        return (
            b'--x\r\nContent-Disposition: form-data; name="f"; filename="g.ttl"\r\n\r\n'
            + dice.randbytes(20)
            + dice.choice((b"", b"\r\n--x--\r\n"))
        )
    return dice.choice(_TEXTS).encode("utf-8", "surrogatepass")


def _a_value(dice: random.Random, depth: int) -> object:
    kind = dice.randrange(8 if depth else 6)
    if kind == 6:
        return [_a_value(dice, depth - 1) for _ in range(dice.randrange(4))]
    if kind == 7:
        return {dice.choice((*_NAMES, "status", "title")): _a_value(dice, depth - 1) for _ in range(dice.randrange(4))}
    return (dice.choice(_TEXTS), dice.randrange(-5, 5), 10 ** dice.randrange(40), None, True, 0.5)[kind]


def _quoted(dice: random.Random) -> bytes:
    name, text = dice.choice(_NAMES), dice.choice(_TEXTS)
    raw = f"{name}={text}".encode("utf-8", "surrogatepass")
    if dice.random() < 0.2:
        return raw.replace(b" ", b"+").replace(b"&", b"")
    return b"".join(bytes([byte]) if chr(byte).isalnum() or byte in b"=-" else b"%%%02X" % byte for byte in raw)


@dataclass(frozen=True)
class Request:
    """The bytes of a request; ``whole`` says that the server need not wait for more of it."""

    data: bytes
    whole: bool


def a_request(dice: random.Random) -> Request:
    """Return a request that is HTTP on the outside in most cases, and anything within."""
    strange = dice.random() < 0.2
    method = dice.choice(_METHODS if strange else ("GET", "GET", "POST", "POST", "POST", "PUT", "DELETE"))
    target = dice.choice(_PATHS).encode("latin-1")
    if dice.random() < 0.6:
        target += b"?" + b"&".join(_quoted(dice) for _ in range(dice.randrange(1, 4)))
    body = b"" if method in ("GET", "HEAD") and not strange else a_body(dice)
    version = dice.choice((b"HTTP/1.1", b"HTTP/9.9", b"HTTP/1.0", b"")) if strange else b"HTTP/1.1"
    lines = [b" ".join((method.encode("latin-1"), target, version))]
    lines.append(
        b"Host: " + (dice.choice((b"", b"evil.example", b"[::1", b"127.0.0.1:x")) if strange else b"127.0.0.1")
    )
    if body or method == "POST":
        media = dice.choice(("application/json",)) if b"/api/" in target and not strange else dice.choice(_TYPES)
        lines.append(b"Content-Type: " + media.encode("latin-1"))
    for _ in range(dice.randrange(3)):
        name, value = dice.choice(_HEADERS), dice.choice(_VALUES)
        if strange or (name.isascii() and value.isascii()):
            lines.append(f"{name}: {value}".encode("latin-1"))
    whole = True
    framing = dice.random()
    if framing < 0.05:
        lines.append(b"Transfer-Encoding: chunked")
        body = dice.choice((b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body), b"zz\r\n", b"5\r\nabc"))
        whole = body.endswith(b"0\r\n\r\n")
    elif framing < 0.08:
        lines.append(b"Content-Length: " + dice.choice((b"-1", b"x", b"99999999999", b"3, 4")))
        whole = False
    else:
        lines.append(b"Content-Length: %d" % len(body))
    lines.append(b"Connection: close")
    end = dice.choice((b"\r\n", b"\n", b"\r")) if strange else b"\r\n"
    return Request(end.join([*lines, b"", b""]) + body, whole and end == b"\r\n")


def ask(port: int, request: Request, patience: float) -> tuple[str, float]:
    """Return the status of the answer, ``cut`` where the connection was closed without one, or ``silent``; and when.

    A request that is not whole is left after a moment, as by a client that dies.
    """
    began = time.monotonic()
    got = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=patience if request.whole else _MOMENT) as line:
            line.sendall(request.data)
            while piece := line.recv(1 << 16):
                got = got or piece
    except TimeoutError:
        return "silent" if request.whole else "left", time.monotonic() - began
    except OSError:
        pass
    status = re.match(rb"HTTP/1\.\d (\d{3})", got)
    return status[1].decode() if status else "cut", time.monotonic() - began


def fuzz(port: int, requests: int, seed: int) -> Seen:
    """Send the requests one after the other, and keep what should not be."""
    dice, seen = random.Random(seed), Seen()
    for number in range(requests):
        request = a_request(dice)
        status, seconds = ask(port, request, _SLOWEST)
        seen.statuses[status] += 1
        seen.slowest = max(seen.slowest, seconds)
        if status == "silent" or (status.startswith("5") and status not in ("503", "504")):
            seen.bad.append(f"{status} to request {number}: {request.data[:400]!r}")
    return seen


def memory_of(pid: int) -> int:
    """Return the resident memory of a process and of those that it started, in MiB."""
    total = 0
    for each in [pid, *_children_of(pid)]:
        status = Path(f"/proc/{each}/status").read_text()
        total += int(re.search(r"VmRSS:\s+(\d+)", status)[1]) if "VmRSS" in status else 0  # type: ignore[index]
    return total // 1024


def _children_of(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(each) for each in found.read_text().split()] if found.exists() else []


class Served:
    """A real `prism serve` on a store of its own, on a free port."""

    def __init__(self, home: Path) -> None:
        with Prism.open(home, exclusive=True) as prism:
            for number in range(1, 6):
                props = {"number": f"ADR-{number}", "title": f"Decision {number}", "status": "Accepted"}
                prism.project("demo").entity("ADR", props)
        environment = {**os.environ, "PRISM_HOME": str(home), "PRISM_EMBEDDER": "none"}
        command = [sys.executable, "-m", "prism_rdf.cli", "serve", "--port", "0", "--json"]
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout is not None
        text = b""
        while b"}" not in text:
            line = self.process.stdout.readline()
            assert line, "the server did not start"
            text += line
        self.port = int(json.loads(text)["url"].rstrip("/").rsplit(":", 1)[1])

    def close(self) -> int:
        self.process.terminate()
        status = self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="prism-fuzz-") as home:
        served = Served(Path(home))
        try:
            fuzz(served.port, 500, options.seed + 1)  # threads, workers and caches are there from then on
            before = memory_of(served.process.pid)
            seen = fuzz(served.port, options.requests, options.seed)
            after = memory_of(served.process.pid)
            ready = b"GET /ready HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
            alive, _ = ask(served.port, Request(ready, True), _SLOWEST)
        finally:
            ended = served.close()
    print(f"{options.requests:,} requests: {dict(sorted(seen.statuses.items()))}")
    print(f"slowest {seen.slowest:.2f} s; memory {before} MiB before, {after} MiB after; ready {alive}; exit {ended}")
    for each in seen.bad[:20]:
        print(each)
    return int(bool(seen.bad) or alive != "200" or ended != 0 or after > before * 1.5)


if __name__ == "__main__":
    sys.exit(main())
