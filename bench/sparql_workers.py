"""Queries in worker processes against ``oxigraph serve`` on the same data, and how soon a query that kills is stopped.

    python bench/sparql_workers.py [--entities 50000] [--seconds 3]

Needs ``pip install oxigraph``. Each entity has six triples. Prints, for 1 to 8 clients, the requests per second of both
servers and their ratio; for one client in process, through the pool and over HTTP, where the time of a point query
goes; what an answer right after a write takes; and for each killer the time to its error and the memory given back.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat, serialize

from prism_rdf import Prism
from prism_rdf.config import Limits
from prism_rdf.errors import PrismError

P = "urn:p:"
POINT = "SELECT ?p ?o { <urn:s:%d> ?p ?o }"
BOUND = {
    "join and count": f"SELECT (COUNT(*) AS ?n) {{ ?s <{P}kind> 'kind 3' ; <{P}next> ?t . ?t <{P}kind> ?k }}",
    "filter": f"SELECT ?s ?l {{ ?s <{P}label> ?l FILTER(CONTAINS(?l, '99')) }}",
    "group": f"SELECT ?k (AVG(?n) AS ?mean) {{ ?s <{P}kind> ?k ; <{P}size> ?n }} GROUP BY ?k",
}
VALUES = " ".join(f"VALUES ?v{n} {{ {' '.join(map(str, range(100)))} }}" for n in range(6))
KILLERS = {
    "cross join of VALUES": f"SELECT (COUNT(*) AS ?n) {{ {VALUES} }}",
    "endless path": f"SELECT (COUNT(*) AS ?n) {{ ?a (<{P}next>|^<{P}next>)* ?b }}",
    "huge sort": "SELECT * { ?a ?b ?c . ?d ?e ?f } ORDER BY ?c ?f",
    "huge construct": "CONSTRUCT { ?a ?e ?f } WHERE { ?a ?b ?c . ?d ?e ?f }",
    "regular expressions": "ASK { ?a ?b ?c . ?d ?e ?f FILTER REGEX(CONCAT(STR(?c), STR(?f)), '(.*e){9}(.*v){99}x') }",
    "doubling a text": "SELECT (STRLEN(?v40) AS ?n) { BIND('0123456789' AS ?v0) "
    + " ".join(f"BIND(CONCAT(?v{n}, ?v{n}) AS ?v{n + 1})" for n in range(40))
    + " }",
}


def quads(entities: int) -> Iterator[Quad]:
    for number in range(entities):
        node = NamedNode(f"urn:s:{number}")
        yield Quad(node, NamedNode(P + "label"), Literal(f"entity {number}"))
        yield Quad(node, NamedNode(P + "kind"), Literal(f"kind {number % 10}"))
        yield Quad(node, NamedNode(P + "size"), Literal(number % 997))
        for step, name in ((1, "next"), (17, "near"), (4099, "far")):
            yield Quad(node, NamedNode(P + name), NamedNode(f"urn:s:{(number * 7 + step) % entities}"))


class Client:
    """One keep-alive connection to a SPARQL endpoint."""

    def __init__(self, port: int, path: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._path = path

    def ask(self, query: str) -> int:
        headers = {"Content-Type": "application/sparql-query", "Accept": "application/sparql-results+json"}
        self._connection.request("POST", self._path, query, headers)
        response = self._connection.getresponse()
        body = response.read()
        assert response.status == 200, (response.status, body[:300])
        return len(body)


@contextmanager
def process(command: list[str], port: int) -> Iterator[int]:
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while True:
            try:
                http.client.HTTPConnection("127.0.0.1", port, timeout=5).request("GET", "/")
                break
            except OSError:
                assert running.poll() is None, command
                assert time.monotonic() < until, command
                time.sleep(0.05)
        yield port
    finally:
        running.terminate()
        running.wait()


def throughput(port: int, path: str, clients: int, seconds: float, query: Callable[[int], str]) -> float:
    """Return the requests per second of so many clients, each with a connection of its own."""
    counts, until = [0] * clients, time.monotonic() + seconds

    def work(place: int) -> None:
        client, number = Client(port, path), place
        while time.monotonic() < until:
            client.ask(query(number))
            number += clients
            counts[place] += 1

    threads = [threading.Thread(target=work, args=(place,)) for place in range(clients)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.monotonic() - began)


def compare(entities: int, seconds: float, ours: int, theirs: int) -> None:
    kinds: dict[str, Callable[[int], str]] = {"point": lambda n: POINT % (n * 7919 % entities)}
    kinds |= {name: (lambda n, text=text: text) for name, text in BOUND.items()}  # type: ignore[misc]
    print(f"{'requests/s':16} clients    prism  oxigraph  ratio")
    for name, query in kinds.items():
        for clients in (1, 2, 4, 8):
            halves = [
                throughput(port, path, clients, seconds / 2, query)
                for port, path in ((ours, "/sparql"), (theirs, "/query")) * 2
            ]
            mine, other = halves[0] + halves[2], halves[1] + halves[3]
            print(f"{name:16} {clients:7} {mine / 2:8.1f}  {other / 2:8.1f}  {mine / other:5.2f}", flush=True)


def profile(prism: Prism, entities: int) -> None:
    """Print what a point query takes in this process, and through the pool; wall time and CPU of this process."""

    def asked(number: int, **options: float) -> None:
        b"".join(prism.sparql(POINT % (number * 7919 % entities), **options).stream("json"))  # type: ignore[arg-type]

    def bare(number: int) -> None:
        found = prism.store.query(POINT % (number * 7919 % entities))
        assert found.serialize(format=QueryResultsFormat.JSON)  # type: ignore[union-attr, call-overload]

    asked(0, timeout=30)
    ways = {"the engine alone": bare, "in this process": asked, "through a worker": lambda n: asked(n, timeout=30)}
    for name, way in ways.items():
        began, cpu = time.perf_counter(), time.process_time()
        for number in range(500):
            way(number)
        spent = (time.perf_counter() - began) * 2, (time.process_time() - cpu) * 2
        print(f"point query, {name:17} {spent[0]:6.2f} ms, of it CPU of this process {spent[1]:5.2f} ms")
    after = []
    for number in range(100):
        prism.update(f"INSERT DATA {{ <urn:new:{number}> <{P}label> 'new' }}")
        began = time.perf_counter()
        answer = prism.sparql(f"SELECT (COUNT(*) AS ?n) {{ ?s <{P}label> 'new' }}", timeout=30).serialize("csv")
        after.append((time.perf_counter() - began) * 1000)
        assert answer.split() == [b"n", str(number + 1).encode()]
    after.sort()
    print(f"an answer right after a write     {after[50]:6.2f} ms p50, {after[95]:.2f} ms p95; all 100 saw their write")


def stop_killers(prism: Prism, limit: float) -> None:
    print(f"\n{'killer, limit ' + str(limit) + ' s':26} seconds  memory of workers after  ended by")
    for name, query in KILLERS.items():
        began = time.monotonic()
        try:
            prism.sparql(query, timeout=limit).serialize("nt" if query.startswith("CONSTRUCT") else "json")
            ended = "it answered"
        except PrismError as error:
            ended = error.code
        seconds = time.monotonic() - began
        print(f"{name:26} {seconds:7.2f}  {_memory_of_workers():17.0f} MiB  {ended}", flush=True)


def _memory_of_workers() -> float:
    total = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue
        if re.search(rf"^PPid:\t{os.getpid()}$", text, re.MULTILINE) and (rss := re.search(r"VmRSS:\s+(\d+)", text)):
            total += int(rss[1])
    return total / 1024


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--entities", type=int, default=50_000)
    arguments.add_argument("--seconds", type=float, default=3.0)
    arguments.add_argument("--limit", type=float, default=2.0)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, other = Path(folder) / "home", Path(folder) / "oxigraph"
        data = Path(folder) / "data.nq"
        serialize(quads(given.entities), str(data), format=RdfFormat.N_QUADS)
        subprocess.run(["oxigraph", "load", "-l", str(other), "-f", str(data)], check=True, capture_output=True)
        with Prism.open(home, exclusive=True, managed=False) as prism:
            prism.store.load(quads(given.entities))
            prism.limit_queries(Limits(memory=1024))
            print(f"{given.entities * 6:,} triples")
            profile(prism, given.entities)
            stop_killers(prism, given.limit)
        print()
        ours = ["-P", "-m", "prism_rdf.cli", "serve", "--home", str(home), "--port", "18080"]
        theirs = [shutil.which("oxigraph") or "oxigraph", "serve", "-l", str(other), "-b", "127.0.0.1:18081"]
        with process([sys.executable, *ours], 18080) as mine, process(theirs, 18081) as rival:
            compare(given.entities, given.seconds, mine, rival)


if __name__ == "__main__":
    main()
