"""Measures of the time engine as ratios, each against a reference in the same run; asserts nothing.

    python bench/time_engine.py --states 10000 --per-entity 5

The references: for a write, one bare SPARQL update of as many quads in a store of its own plus one fsync of as many
bytes; for a state as of T, the one bare SPARQL query that finds it and what it holds; for a state now, the bare
look-ups of what is said about it and of what it holds; for SPARQL, the same query on a plain store of the snapshot.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad, Store

from prism_rdf import Instant, Prism, Project
from prism_rdf.clock import Edge
from prism_rdf.model import Assertion, Event, Intent, NewEntity
from prism_rdf.namespaces import PREFIXES, TYPE, derived_uuid, prism

ADR = NamedNode(TYPE + "ADR")
EPOCH = Instant.parse("2020-01-01T00:00:00Z")
QUERY = 'SELECT (COUNT(*) AS ?n) { ?d a type:ADR ; prism:status ?s FILTER(STRENDS(?s, "1")) }'


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


def milliseconds(act: Callable[[int], object], times: int) -> list[float]:
    """Return how long each of some calls took, in ms, sorted."""
    took = []
    for number in range(times):
        started = time.perf_counter()
        act(number)
        took.append((time.perf_counter() - started) * 1000)
    return sorted(took)


def p50(took: list[float]) -> float:
    return statistics.median(took)


def load(project: Project, states: int, per_entity: int, batch: int) -> float:
    """Write the histories in batches and return the facts (states) per second."""
    entities = states // per_entity
    started = time.perf_counter()
    size = max(1, batch // per_entity)
    for low in range(0, entities, size):
        indices = range(low, min(entities, low + size))
        project.write([intent for index in indices for intent in history(index, per_entity)], "bench")
    return entities * per_entity / (time.perf_counter() - started)


def bare_write(folder: Path, quads: int, times: int) -> list[float]:
    """Time one update of ``quads`` quads and one fsync of as many bytes, in a store of its own."""
    store = Store(str(folder / "bare"))
    log = os.open(folder / "bare.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def write(number: int) -> None:
        lines = [f"GRAPH <urn:g:{number}> {{ <urn:s:{number}> <urn:p:{i}> {i} }}" for i in range(quads)]
        text = "\n".join(lines)
        os.write(log, text.encode())
        os.fsync(log)
        store.update(f"INSERT DATA {{ {text} }}")

    took = milliseconds(write, times)
    os.close(log)
    return took


def look_ups(prism_store: Prism, project: Project, uuid: str) -> Callable[[int], object]:
    """Return the look-ups that a state as of T needs when its place is known: about it, and what it holds."""
    store = prism_store.store
    temporal = project.names.graph("temporal")
    entity = project.names.entity(uuid)
    state = next(store.quads_for_pattern(entity, prism("hasState"), None, temporal)).object

    def read(_: int) -> object:
        canonical = list(store.quads_for_pattern(entity, None, None, project.names.graph("canonical")))
        return (
            canonical,
            list(store.quads_for_pattern(state, None, None, temporal)),
            list(store.quads_for_pattern(entity, None, None, state)),
        )

    return read


def bare_as_of(prism_store: Prism, project: Project, uuid: str, at: Instant) -> Callable[[int], object]:
    """Return the one query that finds the state of an entity at an instant, and what it holds."""
    temporal, entity = project.names.graph("temporal"), project.names.entity(uuid)
    query = f"""SELECT ?state ?property ?value {{
        GRAPH {temporal} {{
            {entity} prism:hasState ?state . ?state prism:validFrom ?from . FILTER (?from <= "{at}"^^xsd:dateTime)
            FILTER NOT EXISTS {{ ?state prism:withdrawnAt ?withdrawn }}
            OPTIONAL {{ ?state prism:validUntil ?until }} FILTER (!BOUND(?until) || ?until > "{at}"^^xsd:dateTime) }}
        GRAPH ?state {{ {entity} ?property ?value }} }}"""
    return lambda _: list(prism_store.store.query(query, prefixes=PREFIXES))


def plain_store(prism_store: Prism, at: Instant | None) -> Store:
    """Return a plain store that holds the triples of the world now, or at ``at``."""
    answer = prism_store.sparql("SELECT ?s ?p ?o { ?s ?p ?o }", as_of=at)
    plain = Store()
    plain.bulk_extend(Quad(*row) for row in answer.rows())
    return plain


def row(what: str, measured: float, reference: float, unit: str = "ms") -> None:
    print(
        f"{what:<44}{measured:>12.3f} {unit:<9}{reference:>12.3f} {unit:<9}{measured / reference:>8.2f} x", flush=True
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--states", type=int, default=10_000)
    arguments.add_argument("--per-entity", type=int, default=5)
    arguments.add_argument("--batch", type=int, default=1000)
    arguments.add_argument("--times", type=int, default=200)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, Prism.open(Path(folder, "home"), exclusive=True) as store:
        project = store.project("bench")
        rate = load(project, chosen.states, chosen.per_entity, chosen.batch)
        print(f"{chosen.states:,} states, {chosen.per_entity} per entity: batch {rate:,.0f} facts/s")
        print(f"{'':<44}{'measured':>12} {'':<9}{'reference':>12} {'':<9}{'ratio':>8}")
        entities = chosen.states // chosen.per_entity
        uuids = [derived_uuid("bench", str(random.randrange(entities))) for _ in range(chosen.times)]
        middle = EPOCH.plus(days=chosen.per_entity // 2)
        bare = p50(milliseconds(look_ups(store, project, uuids[0]), chosen.times))
        bare_then = p50(milliseconds(bare_as_of(store, project, uuids[0], middle), chosen.times))
        took = p50(milliseconds(lambda n: project.state_as_of(uuids[n], middle), chosen.times))
        row("state as of T, p50", took, bare_then)
        row("state now, p50", p50(milliseconds(lambda n: project.state_as_of(uuids[n]), chosen.times)), bare)
        last = next(iter(store.changes(store.commit_number - 1)), None)
        project.fact(uuids[0], "status", "first")
        last = next(iter(store.changes(store.commit_number - 1)))
        reference = p50(bare_write(Path(folder), len(last.adds) + len(last.removes), chosen.times))
        writes = milliseconds(lambda n: project.fact(uuids[n], "status", f"W{n}"), chosen.times)
        row(f"one write at the tail, p50 ({len(last.adds)} quads)", p50(writes), reference)
        late = milliseconds(
            lambda n: project.fact(uuids[n], "status", f"L{n}", valid_from=EPOCH.plus(micros=n + 1)), chosen.times // 10
        )
        row(f"a late write, {chosen.per_entity} later states, p50", p50(late), reference)
        for name, at in (("now", None), ("as of T", middle)):
            cold = milliseconds(lambda _, at=at: list(store.sparql(QUERY, as_of=at).rows()), 1)[0]  # type: ignore[misc]
            plain = plain_store(store, at)
            reference = p50(milliseconds(lambda _, plain=plain: list(plain.query(QUERY, prefixes=PREFIXES)), 5))  # type: ignore[misc]
            warm = p50(milliseconds(lambda _, at=at: list(store.sparql(QUERY, as_of=at).rows()), 5))  # type: ignore[misc]
            row(f"SPARQL {name}, warm", warm, reference)
            row(f"SPARQL {name}, first", cold, reference)


if __name__ == "__main__":
    main()
