"""Queries with limits through ``Prism``: the same answers as without, of every dataset, after every write."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from prism_rdf import Prism, QueryStopped, QueryTimeout
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.config import Limits, query_limits
from prism_rdf.errors import BadArgument, BadQuery, NotFoundError, RefusedError

EVERYTHING = "SELECT ?s ?p ?o { ?s ?p ?o }"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o }"


@pytest.fixture
def prism(tmp_path: Path) -> Iterator[Prism]:
    clock = ManualClock(Instant.parse("2026-06-01T00:00:00Z"))
    with Prism.open(tmp_path / "home", exclusive=True, clock=clock) as prism:
        project = prism.project("demo")
        project.entity("ADR", {"number": "ADR-1", "title": "One", "deciders": ["a", "b"]}, valid_from="2026-01-01")
        project.entity("ADR", {"number": "ADR-2", "title": "Two"}, valid_from="2026-02-01")
        project.reference("ADR-1", "ADR-2", "SUPERSEDES", valid_from="2026-02-10", valid_until="2026-03-31")
        project.remember("ADR-1 was said", created_at="2026-02-20", about=["ADR-1"])
        yield prism


def both(prism: Prism, **options: Any) -> set[str]:
    here, there = prism.sparql(EVERYTHING, **options), prism.sparql(EVERYTHING, timeout=20, **options)
    assert (here.kind, here.variables, here.commit) == (there.kind, there.variables, there.commit)
    assert (here.dataset, here.as_of, here.known_at) == (there.dataset, there.as_of, there.known_at)
    rows = sorted(map(repr, here.rows()))
    assert sorted(map(repr, there.rows())) == rows
    return set(rows)


WORLDS: list[dict[str, Any]] = [
    {},
    {"pid": "demo"},
    {"dataset": "raw"},
    {"as_of": "2026-02-15"},
    {"as_of": "2026-05-30", "known_at": 2},
]


def test_a_worker_answers_as_this_process_does_whatever_is_written(prism: Prism) -> None:
    project = prism.project("demo")
    writes: list[Callable[[], Any]] = [
        lambda: project.fact("ADR-1", "title", "Uno", valid_from="2026-02-12"),
        lambda: project.correct("ADR-1", {"deciders": ["c"]}, valid_from="2026-01-01"),
        lambda: project.revert(prism.commit_number),
        lambda: project.entity("SPEC", {"number": "SPEC-1", "title": "New"}, valid_from="2026-02-14"),
    ]
    before = [both(prism, **world) for world in WORLDS]
    assert len(before[3] ^ before[0]) > 0
    for write in writes:
        write()
        assert [len(both(prism, **world)) > 0 for world in WORLDS] == [True] * 5
    assert both(prism, as_of="2026-02-15") != before[3]
    assert both(prism, as_of="2026-05-30", known_at=2) == before[4]
    assert len(os.listdir(prism.folder.workers / "copies")) <= 1


def test_all_kinds_of_answers_come_back_as_terms(prism: Prism) -> None:
    assert list(prism.sparql("ASK { ?s a type:ADR }", timeout=20).rows()) == [(True,)]
    graph = prism.sparql("CONSTRUCT { ?s a ?t } WHERE { ?s a ?t . FILTER(?t = type:ADR) }", timeout=20)
    assert len(list(graph.rows())) == 2
    turtle = prism.sparql("CONSTRUCT { ?s a type:ADR } WHERE { ?s a type:ADR }", timeout=20).serialize("ttl")
    assert turtle.startswith(b"@prefix")
    rows = list(prism.sparql("SELECT ?n ?none { ?d prism:number ?n } ORDER BY ?n", timeout=20).rows())
    assert [[term and term.value for term in row] for row in rows] == [["ADR-1", None], ["ADR-2", None]]
    with pytest.raises(BadArgument, match="does not fit"):
        prism.sparql("ASK {}", timeout=20).serialize("ttl")


def test_rows_are_cut_and_say_so(prism: Prism) -> None:
    answer = prism.sparql(EVERYTHING, max_rows=2)
    assert answer.truncated
    assert len(list(answer.rows())) == 2
    assert not prism.sparql("ASK {}", max_rows=2).truncated


def test_faults_are_the_same_as_without_limits(prism: Prism) -> None:
    told = []
    for options in ({}, {"timeout": 20}):
        with pytest.raises(BadQuery) as error:
            prism.sparql("SELECT * {\n ?s foo:bar ?o }", **options)
        told.append(error.value.as_dict())
        with pytest.raises(RefusedError, match="SERVICE"):
            prism.sparql("ASK { SERVICE <http://example.org/> { ?s ?p ?o } }", **options)
    assert told[0] == told[1]


def test_a_query_is_stopped_while_its_rows_are_read(prism: Prism) -> None:
    rows = prism.sparql("SELECT ?a ?d ?g { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", timeout=20).rows()
    next(iter(rows))
    [running] = prism.running()
    assert running["state"] == "sending"
    prism.stop_query(running["id"])
    with pytest.raises(QueryStopped, match="somebody asked"):
        list(rows)
    assert prism.running() == []
    with pytest.raises(NotFoundError, match=running["id"]):
        prism.stop_query(running["id"])


def test_with_limits_every_query_has_them(prism: Prism) -> None:
    prism.limit_queries(Limits(timeout=0.3, slow=0))
    for world in ({}, {"as_of": "2026-02-15"}, {"dataset": "raw"}):
        with pytest.raises(QueryTimeout):
            list(prism.sparql(ENDLESS, **world).rows())
    assert prism.folder is not None
    logged = (prism.folder.path / "slow-queries.jsonl").read_text().splitlines()
    assert len(logged) == 3
    assert '"as_of": "2026-02-15T23:59:59.999999Z"' in logged[1]


def test_what_is_forgotten_is_in_no_copy(prism: Prism) -> None:
    folder = prism.folder
    assert folder is not None
    project = prism.project("demo")
    project.remember("a secret word: xylophone", created_at="2026-02-21", about=["ADR-2"])
    prism.limit_queries(Limits(slow=0))
    both(prism)
    both(prism, as_of="2026-05-30")
    project.forget("ADR-2")
    assert os.listdir(folder.workers / "copies") == []
    assert not (folder.path / "slow-queries.jsonl").exists()
    assert not any("Two" in row for row in both(prism) | both(prism, as_of="2026-05-30"))


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Prism.open(home, exclusive=True) as prism:
        prism.project("demo").entity("ADR", {"number": "ADR-1", "title": "One"})
        both(prism)
        both(prism, as_of="2026-01-01")
        unread = prism.sparql(EVERYTHING, timeout=20)
        workers = prism.folder.workers
        assert workers.is_dir()
    assert not workers.exists()
    unread.close()
    (workers / "copies" / "3" / "1").mkdir(parents=True)  # as when the owner was killed
    with Prism.open(home, exclusive=True):
        assert not workers.exists()


def test_a_store_in_memory_can_have_limits_too() -> None:
    with Prism.in_memory() as prism:
        prism.project("demo").entity("ADR", {"number": "ADR-1", "title": "One"}, valid_from="2026-01-01")
        both(prism)
        prism.project("demo").fact("ADR-1", "title", "Uno")
        both(prism)
        both(prism, as_of="2026-01-15")
        values = " ".join(f"VALUES ?v{n} {{ {' '.join(map(str, range(100)))} }}" for n in range(6))
        with pytest.raises(QueryTimeout):
            prism.sparql(f"SELECT (COUNT(*) AS ?n) {{ {values} }}", timeout=0.2).serialize("json")


def test_limits_are_settings() -> None:
    assert query_limits({}, {}) == Limits()
    assert query_limits({"timeout": 5000}, {}).longest == 5000
    assert query_limits({"rows": 10}, {"PRISM_QUERY_ROWS": "20", "PRISM_QUERY_SLOW": "0.5"}) == Limits(
        rows=10, slow=0.5
    )
    for name, text in (("WORKERS", "0"), ("TIMEOUT", "-1"), ("MEMORY", "1.5"), ("SIZE", "big"), ("SLOW", "inf")):
        with pytest.raises(BadArgument, match=f"PRISM_QUERY_{name}"):
            query_limits({}, {f"PRISM_QUERY_{name}": text})
