"""Many readers and some writers on one `prism serve`: no error, no torn read, and how long each kind of request takes.

    python bench/many_readers.py [--minutes 10] [--readers 32] [--entities 5000]

Three writers change things that belong together, each time in one commit: two properties of a decision, twenty counters
of a free graph by one operation, twenty of another by two operations; a fourth records facts about the past. What a
reader sees must be whole, and be what the commit that the answer names has left behind. Ends with 1 otherwise.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from urllib.parse import quote, urlencode

from time_engine import history

from prism_rdf import Prism

_PID = "bench"
_COUNTERS = range(20)
_READERS_OF_A_PROCESS = 8
_PAUSE = 0.05  # seconds between two writes of a writer
_PAST = "2000-01-02T12:00:00Z"


def _free(name: str) -> str:
    return f"urn:free:{name}"


@dataclass
class Seen:
    """What one worker saw: the time of each request in seconds, and values as (place, commit, value)."""

    times: dict[str, list[float]] = field(default_factory=dict)
    values: list[tuple[str, int, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def take(self, other: Seen) -> None:
        for kind, times in other.times.items():
            self.times.setdefault(kind, []).extend(times)
        self.values += other.values
        self.faults += other.faults


class Worker:
    """One connection that is kept, and what was seen over it."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.seen = Seen()

    def send(self, kind: str, method: str, path: str, body: str = "", content: str = "") -> tuple[int, str]:
        """Return the commit that the answer names, and its body; 0 where it is a fault, which is noted."""
        headers = {"Content-Type": content} if content else {}
        begun = time.perf_counter()
        try:
            self._connection.request(method, path, body.encode() or None, {**headers, "Accept": "*/*"})
            response = self._connection.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            self.seen.faults.append(f"{kind}: {type(error).__name__}: {error}")
            return 0, ""
        self.seen.times.setdefault(kind, []).append(time.perf_counter() - begun)
        if response.status >= 300:
            self.seen.faults.append(f"{kind}: {response.status} {text[:200]}")
            return 0, ""
        return int(response.headers.get("Prism-Commit") or 0), text

    def ask(self, kind: str, query: str, **parameters: str) -> tuple[int, list[str]]:
        """Return the commit and the rows of a SELECT."""
        path = f"/sparql?{urlencode({'query': query, 'format': 'csv', **parameters})}"
        commit, text = self.send(kind, "GET", path)
        return commit, text.splitlines()[1:]

    def update(self, kind: str, text: str) -> int:
        return self.send(kind, "POST", "/sparql", text, "application/sparql-update")[0]

    def verb(self, verb: str, **said: object) -> int:
        """Return the number of the commit that a verb made."""
        _, text = self.send(f"write: {verb}", "POST", f"/api/{_PID}/{verb}", json.dumps(said), "application/json")
        return int(json.loads(text)["commit"]) if text else 0


def write_pair(worker: Worker, number: int, entities: int) -> None:
    props = {"status": f"W{number}", "title": f"W{number}"}
    commit = worker.verb("transition", entity="ADR-0", props=props)
    worker.seen.values.append(("pair", commit, f"W{number}"))


def write_at_once(worker: Worker, number: int, entities: int) -> None:
    graph = _free("once")
    commit = worker.update(
        "write: one operation",
        f"DELETE {{ GRAPH <{graph}> {{ ?c <urn:n> ?n }} }} INSERT {{ GRAPH <{graph}> {{ ?c <urn:n> {number} }} }} "
        f"WHERE {{ GRAPH <{graph}> {{ ?c <urn:n> ?n }} }}",
    )
    worker.seen.values.append(("once", commit, str(number)))


def write_in_two(worker: Worker, number: int, entities: int) -> None:
    graph = _free("two")
    data = " ".join(f"<urn:c:{each}> <urn:n> {number} ." for each in _COUNTERS)
    text = f"DELETE WHERE {{ GRAPH <{graph}> {{ ?c ?p ?n }} }} ; INSERT DATA {{ GRAPH <{graph}> {{ {data} }} }}"
    worker.seen.values.append(("two", worker.update("write: two operations", text), str(number)))


def write_late(worker: Worker, number: int, entities: int) -> None:
    chosen, second = f"ADR-{random.randrange(1, entities)}", number % 3600
    said = {"entity": chosen, "property": "status", "value": f"L{number}"}
    worker.verb("fact", **said, valid_from=f"2000-01-03T{second // 60 % 24:02}:{second % 60:02}:00Z")


def read_pair(worker: Worker, entities: int) -> None:
    commit, rows = worker.ask(
        "read: a pair", "SELECT ?s ?t { ?d prism:number 'ADR-0' ; prism:status ?s ; prism:title ?t }"
    )
    if commit:
        worker.seen.values.append(("pair", commit, _same(rows)))


def read_counters(name: str) -> Callable[[Worker, int], None]:
    def read(worker: Worker, entities: int) -> None:
        query = f"SELECT ?n {{ GRAPH <{_free(name)}> {{ ?c <urn:n> ?n }} }}"
        commit, rows = worker.ask("read: counters", query, **{"named-graph-uri": _free(name)})
        if commit:
            worker.seen.values.append((name, commit, _same(rows) if len(rows) == len(_COUNTERS) else f"{rows}"))

    return read


def read_point(worker: Worker, entities: int) -> None:
    number = random.randrange(1, entities)
    _, rows = worker.ask("read: a point", f"SELECT ?t {{ ?d prism:number 'ADR-{number}' ; prism:title ?t }}")
    if rows != [f"Title {number}"]:
        worker.seen.faults.append(f"the title of ADR-{number} is {rows}")


def read_past(worker: Worker, entities: int) -> None:
    number = random.randrange(1, entities)
    query = f"SELECT ?s {{ ?d prism:number 'ADR-{number}' ; prism:status ?s }}"
    _, rows = worker.ask("read: a point in the past", query, **{"as-of": _PAST})
    if rows != ["S1"]:
        worker.seen.faults.append(f"the status of ADR-{number} was {rows}")


def read_state(worker: Worker, entities: int) -> None:
    number = random.randrange(1, entities)
    _, text = worker.send(
        "read: state as of T", "GET", f"/api/{_PID}/state_as_of?entity=ADR-{number}&as-of={quote(_PAST)}"
    )
    if text and json.loads(text)["props"]["status"] != "S1":
        worker.seen.faults.append(f"the state of ADR-{number} was {text[:200]}")


def read_count(worker: Worker, entities: int) -> None:
    _, rows = worker.ask(
        "read: count by a filter", 'SELECT (COUNT(*) AS ?n) { ?d prism:title ?t FILTER REGEX(?t, "^Title .*7$") }'
    )
    if rows != [str(sum(str(each).endswith("7") for each in range(1, entities)))]:
        worker.seen.faults.append(f"the count was {rows}")


WRITERS = (write_pair, write_at_once, write_in_two, write_late)
READERS = (read_pair, read_counters("once"), read_counters("two"), read_point, read_past, read_state)
RARELY = 50  # of so many reads one is a query over all entities


def _same(rows: list[str]) -> str:
    """Return the one value that all cells have; all of them where they differ."""
    cells = {cell for row in rows for cell in re.split(",", row)}
    return cells.pop() if len(cells) == 1 else f"{sorted(cells)}"


def writing(port: int, writer: Callable[[Worker, int, int], None], entities: int, until: float) -> Seen:
    worker, number = Worker(port), 0
    while time.time() < until:
        number += 1
        writer(worker, number, entities)
        time.sleep(_PAUSE)
    return worker.seen


def reading(port: int, entities: int, until: float) -> Seen:
    worker = Worker(port)
    while time.time() < until:
        if random.randrange(RARELY) == 0:
            read_count(worker, entities)
        else:
            random.choice(READERS)(worker, entities)
    return worker.seen


def _in_threads(acts: list[Callable[[], Seen]]) -> Seen:
    seen: list[Seen] = []
    threads = [threading.Thread(target=lambda act=act: seen.append(act())) for act in acts]  # type: ignore[misc]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = Seen()
    for each in seen:
        whole.take(each)
    return whole


def _readers(port: int, entities: int, until: float, count: int, found: multiprocessing.Queue[Seen]) -> None:
    found.put(_in_threads([lambda: reading(port, entities, until)] * count))


def run(port: int, readers: int, entities: int, minutes: float) -> tuple[Seen, Seen]:
    """Let readers (in processes of their own) and writers go on for some minutes; return what they saw."""
    until, spawn = time.time() + 60 * minutes, multiprocessing.get_context("spawn")
    found: multiprocessing.Queue[Seen] = spawn.Queue()
    counts = [min(_READERS_OF_A_PROCESS, readers - low) for low in range(0, readers, _READERS_OF_A_PROCESS)]
    processes = [spawn.Process(target=_readers, args=(port, entities, until, count, found)) for count in counts]
    for process in processes:
        process.start()
    written = _in_threads([lambda writer=writer: writing(port, writer, entities, until) for writer in WRITERS])  # type: ignore[misc]
    seen = Seen()
    for _ in processes:
        seen.take(found.get(timeout=600))
    for process in processes:
        process.join()
    return seen, written


def torn(seen: Seen, written: Seen) -> Iterator[str]:
    """Yield each value that a reader saw and that the commit named beside it had not left behind."""
    for place in ("pair", "once", "two"):
        made = sorted((commit, value) for name, commit, value in written.values if name == place)
        commits = [commit for commit, _ in made]
        for name, commit, value in seen.values:
            if name == place:
                before = bisect_right(commits, commit)
                expected = made[before - 1][1] if before else "0"
                if value != expected:
                    yield f"{place} at commit {commit}: {value} instead of {expected}"


@contextmanager
def served(home: Path, entities: int) -> Iterator[int]:
    """Serve a store with so many decisions of five states, and what the writers change."""
    with Prism.open(home, exclusive=True) as prism:
        project = prism.project(_PID)
        for low in range(0, entities, 1000):
            project.write([each for index in range(low, min(low + 1000, entities)) for each in history(index, 5)])
        project.transition("ADR-0", {"status": "0", "title": "0"})
        for name in ("once", "two"):
            data = " ".join(f"<urn:c:{each}> <urn:n> 0 ." for each in _COUNTERS)
            prism.update(f"INSERT DATA {{ GRAPH <{_free(name)}> {{ {data} }} }}")
    command = [sys.executable, "-m", "prism_rdf.cli", "serve", "--port", "0", "--home", str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline().split()[1].rstrip("/").rsplit(":", 1)[1])
        finally:
            server.terminate()


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=10)
    arguments.add_argument("--readers", type=int, default=32)
    arguments.add_argument("--entities", type=int, default=5000)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, served(Path(folder, "home"), chosen.entities) as port:
        seen, written = run(port, chosen.readers, chosen.entities, chosen.minutes)
    print(f"| {'request':<24} | {'times':>8} | {'p50 ms':>8} | {'p95 ms':>8} | {'p99 ms':>8} |\n|---|---|---|---|---|")
    for kind, times in sorted({**seen.times, **written.times}.items()):
        cuts = quantiles(times, n=100)
        print(
            f"| {kind:<24} | {len(times):>8,} | " + " | ".join(f"{1000 * cuts[at]:>8.1f}" for at in (49, 94, 98)) + " |"
        )
    faults, parts = [*seen.faults, *written.faults], list(torn(seen, written))
    print(f"{len(seen.values):,} values compared with their commits: {len(parts)} torn; {len(faults)} errors")
    for each in (*faults[:10], *parts[:10]):
        print(each)
    return 1 if faults or parts else 0


if __name__ == "__main__":
    sys.exit(main())
