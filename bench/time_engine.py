"""Measures of the time engine as ratios, each against a reference in the same run; asserts nothing.

    python bench/time_engine.py --states 10000 --per-entity 5
    python bench/time_engine.py --states 1000000 --per-entity 5 --home /var/tmp/million

A measure and its reference are taken in turns, so that what else the machine does falls on both; p50 of each is
printed. On a busy machine ``--cpu`` counts the time of the processor instead, which leaves out waiting for the disk.
The references:

- a state as of T: the one bare SPARQL query that finds it and what it holds; a state now: the bare look-ups of whose
  it is, whether that is merged or has a draft, which state is the last, what is said about it and what it holds; each
  of the same entities;
- a write: one bare SPARQL update that makes the same change in a copy of the same store, plus one fsync of its bytes;
- SPARQL now: the same query on a plain store on disk of the same triples; SPARQL as of T: on one in memory, as a
  snapshot is; the first query as of T, which makes the snapshot, is set against filling that plain store.

Every state is written as a caller does, in batches. With ``--home`` the store is kept there, and measured again
without loading when it is there already.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Store

from prism_rdf import Instant, Prism, Project
from prism_rdf.clock import Edge
from prism_rdf.model import Assertion, Event, Intent, Memory, NewEntity
from prism_rdf.namespaces import PREFIXES, RDF_TYPE, TYPE, derived_uuid, prism
from prism_rdf.storage.changelog import LoggedChange
from prism_rdf.storage.embedded import EmbeddedStore

ADR = NamedNode(TYPE + "ADR")
EPOCH = Instant.parse("2000-01-01T00:00:00Z")
BY_NUMBER = 'SELECT ?d ?t { ?d prism:number "ADR-17" ; prism:title ?t }'
QUERIES = {
    "count by a filter": 'SELECT (COUNT(*) AS ?n) { ?d a type:ADR ; prism:status ?s FILTER(STRENDS(?s, "1")) }',
    "anything said": 'SELECT (COUNT(*) AS ?n) { ?d a type:ADR ; ?p ?o FILTER(?o = "Title 7") }',
    "one by its number": BY_NUMBER,
}
SLOW = 20  # how often a measure is taken that takes long
Act = Callable[[int], object]
clock = time.perf_counter


def history(index: int, states: int) -> Iterator[Intent]:
    """Yield an entity with ``states`` states, one a day, of three properties."""
    uuid = derived_uuid("bench", str(index))
    yield NewEntity(uuid, ADR)
    for day in range(states):
        at = EPOCH.plus(days=day)
        said = [Assertion(prism("status"), Literal(f"S{day}"))]
        if day == 0:
            said += [
                Assertion(prism("number"), Literal(f"ADR-{index}")),
                Assertion(prism("title"), Literal(f"Title {index}")),
            ]
        yield Event(uuid, "fact", Edge(at), tuple(said), source="bench")


def batches(entities: range, per_entity: int, batch: int) -> Iterator[list[Intent]]:
    """Yield the histories of some entities, about ``batch`` states at a time."""
    size = max(1, batch // per_entity)
    for low in range(0, len(entities), size):
        yield [intent for index in entities[low : low + size] for intent in history(index, per_entity)]


def load_by_verbs(project: Project, entities: range, per_entity: int, batch: int) -> float:
    """Write the histories in batches; return the facts (states) per second."""
    took = 0.0
    for intents in batches(entities, per_entity, batch):
        started = clock()
        project.write(intents, "bench")
        took += clock() - started
    return len(entities) * per_entity / took


def milliseconds(act: Callable[[], object]) -> float:
    started = clock()
    act()
    return (clock() - started) * 1000


def in_turns(act: Act, reference: Act, times: int) -> tuple[float, float]:
    """Return the medians of what some calls took, and as many of their reference, in ms."""
    ours, theirs = [], []
    for number in range(times):
        started = clock()
        act(number)
        between = clock()
        reference(number)
        theirs.append((clock() - between) * 1000)
        ours.append((between - started) * 1000)
    return statistics.median(ours), statistics.median(theirs)


class Bare:
    """A copy of the store and a file, for the bare update that makes a change which was made, and one fsync of it."""

    def __init__(self, store: EmbeddedStore, folder: Path) -> None:
        store.backup(folder / "bare")
        self._store = Store(str(folder / "bare"))
        self._log = os.open(folder / "bare.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def repeat(self, change: LoggedChange) -> float:
        """Make the change; return how many ms it took, the writing of the update's text left out."""
        steps = (("DELETE", change.removes), ("INSERT", change.adds))
        text = " ;\n".join(
            f"{verb} DATA {{ {' '.join(f'GRAPH {q.graph_name} {{ {q.triple} }}' for q in quads)} }}"
            for verb, quads in steps
            if quads
        )

        def write() -> None:
            os.write(self._log, text.encode())
            os.fsync(self._log)
            self._store.update(text)

        return milliseconds(write)


def bare_now(project: Project, uuids: list[str]) -> Act:
    """Return the look-ups that the state now needs."""
    store, names = project.prism.store, project.names
    canonical, semantic, temporal, tail = map(names.graph, ("canonical", "semantic", "temporal", "tail"))

    def read(number: int) -> object:
        entity = names.entity(uuids[number])
        of_type = list(store.quads_for_pattern(entity, RDF_TYPE, None, canonical))
        merged = list(store.quads_for_pattern(None, prism("mergedEntity"), entity, semantic))
        drafted = list(store.quads_for_pattern(None, prism("draftOf"), entity, temporal))
        state = next(store.quads_for_pattern(entity, prism("tail"), None, tail)).object
        about = list(store.quads_for_pattern(state, None, None, temporal))
        return of_type, merged, drafted, about, list(store.quads_for_pattern(None, None, None, state))

    return read


def bare_as_of(project: Project, uuids: list[str], at: Instant) -> Act:
    """Return the one query that finds the state of an entity at an instant, and what it holds."""
    text = f"""SELECT ?state ?property ?value {{
        GRAPH {project.names.graph("temporal")} {{
            $entity prism:hasState ?state . ?state prism:validFrom ?from . FILTER (?from <= "{at}"^^xsd:dateTime)
            FILTER NOT EXISTS {{ ?state prism:withdrawnAt ?withdrawn }}
            OPTIONAL {{ ?state prism:validUntil ?until }} FILTER (!BOUND(?until) || ?until > "{at}"^^xsd:dateTime) }}
        GRAPH ?state {{ $entity ?property ?value }} }}"""
    asked = [text.replace("$entity", str(project.names.entity(uuid))) for uuid in uuids]

    def read(number: int) -> object:
        answer = project.prism.store.query(asked[number], prefixes=PREFIXES)
        assert isinstance(answer, QuerySolutions)
        return list(answer)

    return read


def row(what: str, measured: float, reference: float) -> None:
    print(f"{what:<46}{measured:>12,.3f}{reference:>14,.3f}{measured / reference:>8.2f}", flush=True)


def chosen_uuids(entities: int, times: int) -> list[str]:
    return [derived_uuid("bench", str(random.randrange(entities))) for _ in range(times)]


def rarely(per_entity: int) -> int:
    """Return how often to do what takes longer the longer a history is."""
    return max(3, min(SLOW, 20_000 // per_entity))


def reads(project: Project, entities: int, per_entity: int, times: int) -> None:
    uuids, middle, known_at = (
        chosen_uuids(entities, times),
        EPOCH.plus(days=per_entity // 2),
        project.prism.commit_number,
    )
    then = bare_as_of(project, uuids, middle)
    row("state as of T", *in_turns(lambda n: project.state_as_of(uuids[n], middle), then, times))
    row("state now", *in_turns(lambda n: project.state_as_of(uuids[n]), bare_now(project, uuids), times))
    some = min(times, SLOW)
    row("state as of T, known at K", *in_turns(lambda n: project.state_as_of(uuids[n], middle, known_at), then, some))


def writes(project: Project, bare: Bare, entities: int, per_entity: int, times: int) -> None:
    uuids, store = chosen_uuids(entities, times), project.prism
    slow = rarely(per_entity)

    def late(days: int) -> Act:
        starts = [EPOCH.plus(days=days, micros=micros + 1) for micros in range(slow)]
        return lambda n: project.fact(uuids[n], "status", f"L{n}", valid_from=starts[n])

    middle = per_entity // 2
    for what, act, often in (
        ("one write at the tail", lambda n: project.fact(uuids[n], "status", f"W{n}"), times),
        (f"a late write, {per_entity - 1:,} later states", late(0), slow),
        (f"a late write, {per_entity - 1 - middle:,} later states", late(middle), slow),
    ):
        ours, theirs, quads = [], [], 0
        for number in range(often):
            ours.append(milliseconds(lambda n=number, act=act: act(n)))  # type: ignore[misc]
            change = next(iter(store.changes(store.commit_number - 1)))
            theirs.append(bare.repeat(change))
            quads = len(change.adds) + len(change.removes)
        row(f"{what} ({quads} quads)", statistics.median(ours), statistics.median(theirs))


def sparql(project: Project, folder: Path, entities: int, per_entity: int) -> None:
    middle = EPOCH.plus(days=per_entity // 2)
    warm(project, None, Store(str(folder / "plain")))
    first = milliseconds(lambda: ask(project, BY_NUMBER, middle))
    triples = list(project.prism.sparql("SELECT ?s ?p ?o { ?s ?p ?o }", as_of=middle).rows())
    quads, plain = [Quad(*triple) for triple in triples], Store()
    row(f"SPARQL as of T, first ({len(quads):,} triples)", first, milliseconds(lambda: plain.bulk_extend(quads)))
    warm(project, middle, plain)
    patched, again = [], []
    for number, uuid in enumerate(chosen_uuids(entities, rarely(per_entity))):
        project.fact(uuid, "status", f"P{number}", valid_from=EPOCH.plus(micros=number + 1))
        patched.append(milliseconds(lambda: ask(project, BY_NUMBER, middle)))
        again.append(milliseconds(lambda: ask(project, BY_NUMBER, middle)))
    row("SPARQL as of T, first after a write", statistics.median(patched), statistics.median(again))


def ask(project: Project, query: str, at: Instant | None) -> object:
    return list(project.prism.sparql(query, as_of=at).rows())


def warm(project: Project, at: Instant | None, plain: Store) -> None:
    """Compare queries with the same ones on a plain store, which is filled here unless it is already."""
    if not len(plain):
        answer = project.prism.sparql("SELECT ?s ?p ?o { ?s ?p ?o }", as_of=at)
        plain.bulk_extend(Quad(*triple) for triple in answer.rows())
    often = SLOW if len(plain) < 500_000 else 5

    def bare(query: str) -> object:
        answer = plain.query(query, prefixes=PREFIXES)
        assert isinstance(answer, QuerySolutions)
        return list(answer)

    for what, query in QUERIES.items():
        ask(project, query, at)
        ours = in_turns(lambda _, q=query: ask(project, q, at), lambda _, q=query: bare(q), often)  # type: ignore[misc]
        row(f"SPARQL {'as of T' if at else 'now'}, {what}", *ours)


def options() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--states", type=int, default=10_000)
    arguments.add_argument("--per-entity", type=int, default=5)
    arguments.add_argument("--batch", type=int, default=1000, help="facts in one commit")
    arguments.add_argument(
        "--memories", type=int, default=1000, help="beside them, for queries to leave aside or reach"
    )
    arguments.add_argument("--times", type=int, default=200)
    arguments.add_argument("--home", type=Path, help="keep the store in this folder")
    arguments.add_argument("--only", choices=["reads", "writes", "sparql"], action="append")
    arguments.add_argument("--cpu", action="store_true", help="count processor time, without waiting")
    return arguments.parse_args()


def main() -> None:
    global clock
    chosen = options()
    clock = time.process_time if chosen.cpu else time.perf_counter
    per_entity, entities = chosen.per_entity, chosen.states // chosen.per_entity
    parts = chosen.only or ["reads", "writes", "sparql"]
    with (
        tempfile.TemporaryDirectory() as folder,
        Prism.open(chosen.home or Path(folder, "home"), exclusive=True) as store,
    ):
        project = store.project("bench")
        print(f"{chosen.states:,} states, {per_entity:,} per entity", flush=True)
        if not store.commit_number:
            rate = load_by_verbs(project, range(entities), per_entity, chosen.batch)
            print(f"batches of {chosen.batch:,} by verbs: {rate:,.0f} facts/s", flush=True)
        project.write([Memory(f"Memory {n}", "note", EPOCH, key=str(n)) for n in range(chosen.memories)])
        print(f"{'':<46}{'measured, ms':>12}{'reference, ms':>14}{'ratio':>8}", flush=True)
        if "reads" in parts:
            reads(project, entities, per_entity, chosen.times)
        if "writes" in parts:
            writes(project, Bare(store.store, Path(folder)), entities, per_entity, chosen.times)
        if "sparql" in parts:
            sparql(project, Path(folder), entities, per_entity)
        print(f"most memory in use: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
