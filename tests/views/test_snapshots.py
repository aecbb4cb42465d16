"""Snapshots: set-wise and entity by entity they say the same, and after a write they are never stale."""

from __future__ import annotations

import pytest

from prism_rdf import Prism
from prism_rdf.changes import Ground
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.snapshots import Snapshots
from prism_rdf.views import entity_view, world

EVERYTHING = "SELECT ?s ?p ?o { ?s ?p ?o }"
DAYS = ["2025-12-31", "2026-01-01", "2026-02-01", "2026-02-15", "2026-03-01", "2026-04-01", "2026-05-30"]


@pytest.fixture
def prism(tmp_path):
    with Prism.open(
        tmp_path / "home", exclusive=True, clock=ManualClock(Instant.parse("2026-06-01T00:00:00Z"))
    ) as prism:
        yield prism


def write_some(project):
    project.entity("ADR", {"number": "ADR-1", "title": "One", "deciders": ["a", "b"]}, valid_from="2026-01-01")
    project.entity("ADR", {"number": "ADR-2", "title": "Two"}, valid_from="2026-02-01")
    project.reference("ADR-1", "ADR-2", "SUPERSEDES", valid_from="2026-02-10", valid_until="2026-03-31")
    project.alias("First", "ADR-1", valid_from="2026-01-01", valid_until="2026-02-28")
    project.remember("ADR-1 was said", created_at="2026-02-20", about=["ADR-1"])


def later_writes(project):
    yield lambda: project.fact("ADR-1", "title", "Uno", valid_from="2026-02-15")
    yield lambda: project.fact("ADR-2", "title", "Dos", valid_from="2026-03-15")
    yield lambda: project.retire("ADR-2", valid_from="2026-04-15")
    yield lambda: project.correct("ADR-1", {"deciders": ["c"]}, valid_from="2026-01-01")
    yield lambda: project.fact("ADR-1", "title", "Ein", valid_from="2026-01-15", valid_until="2026-02-14")
    yield lambda: project.revert(project.prism.commit_number)  # names no entity, changes no state that holds now
    yield lambda: project.alias("Second", "ADR-1", kind="synonym", valid_from="2026-02-01")
    yield lambda: project.remember("ADR-1 was said again", created_at="2026-03-02", about=["ADR-1"])
    yield lambda: project.entity("SPEC", {"number": "SPEC-1", "title": "New"}, valid_from="2026-02-14")
    yield lambda: project.revert(project.prism.commit_number)


def triples(answer):
    return sorted(map(str, answer.rows()))


def fresh(prism, day, known_at=None):
    """What a snapshot built from nothing says."""
    prism._datasets.snapshots.clear()
    return triples(prism.sparql(EVERYTHING, as_of=day, known_at=known_at))


def test_set_wise_and_entity_by_entity_say_the_same(prism):
    project = prism.project("demo")
    write_some(project)
    for write in later_writes(project):
        write()
    above = Ground(prism.store, prism.tenant).schema(project.names).catalog.superclasses
    uuids = [row["uuid"] for row in project.list_entities(as_of="2026-03-20")]
    assert len(uuids) == 2
    for day in DAYS:
        at = Instant.parse(f"{day}T12:00:00Z")
        one_by_one = set()
        for uuid in uuids:
            one_by_one |= set(
                entity_view(prism.store, project.names, project.names.entity(uuid), at, above)
            )
        at_once = list(world(prism.store, project.names, at, above))
        assert len(at_once) == len(set(at_once))
        assert {t for t in at_once if t.subject in {t.subject for t in one_by_one}} == one_by_one


def test_after_each_write_a_kept_snapshot_is_as_a_fresh_one(prism):
    project = prism.project("demo")
    write_some(project)
    known = prism.commit_number
    before = {day: triples(prism.sparql(EVERYTHING, as_of=day, known_at=known)) for day in DAYS}
    for write in later_writes(project):
        for day in DAYS:
            prism.sparql(EVERYTHING, as_of=day)
        write()
        patched = {day: triples(prism.sparql(EVERYTHING, as_of=day)) for day in DAYS}
        assert patched == {day: fresh(prism, day) for day in DAYS}
        assert before == {day: triples(prism.sparql(EVERYTHING, as_of=day, known_at=known)) for day in DAYS}
        assert before == {day: fresh(prism, day, known) for day in DAYS}


def test_the_current_graph_is_the_snapshot_of_now(prism):
    project = prism.project("demo")
    write_some(project)
    for write in later_writes(project):
        write()
        only_current = "SELECT ?s ?p ?o { GRAPH <urn:prism:default/demo/graph/current> { ?s ?p ?o } }"
        now = prism.clock.now()
        assert triples(prism.sparql(only_current)) == triples(prism.sparql(only_current, as_of=now))


def test_snapshots_stay_within_their_bound(prism):
    project = prism.project("demo")
    write_some(project)
    ground = Ground(prism.store, prism.tenant)
    snapshots = Snapshots(ground, prism.base, prism.changes, most_quads=40)
    for day in DAYS * 2:
        at = Instant.parse(f"{day}T00:00:00Z")
        snapshots.at(["demo"], at, None, prism.commit_number)
        assert sum(kept.quads for kept in snapshots._kept.values()) <= 40 or len(snapshots._kept) == 1
