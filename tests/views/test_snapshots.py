"""Snapshots: set-wise and entity by entity they say the same, and after a write they are never stale."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, Quad

from prism_rdf import Prism, snapshots
from prism_rdf.changes import Ground
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.model import TypeText
from prism_rdf.namespaces import PREFIXES
from prism_rdf.namespaces import prism as term
from prism_rdf.snapshots import Snapshots
from prism_rdf.world import world_text

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


def test_of_many_changes_a_snapshot_is_made_anew(prism, monkeypatch):
    monkeypatch.setattr(snapshots, "ALWAYS_PATCHED", 2)
    project = prism.project("demo")
    write_some(project)
    prism.sparql(EVERYTHING, as_of=DAYS[2])
    [before] = prism._datasets.snapshots._kept.values()
    project.fact("ADR-1", "title", "Uno", valid_from="2026-01-15")
    patched = triples(prism.sparql(EVERYTHING, as_of=DAYS[2]))
    assert [before] == list(prism._datasets.snapshots._kept.values())
    for number in range(3, 6):
        project.entity("ADR", {"number": f"ADR-{number}"}, valid_from="2026-01-01")
    anew = triples(prism.sparql(EVERYTHING, as_of=DAYS[2]))
    assert before not in prism._datasets.snapshots._kept.values()
    assert len(anew) > len(patched)
    assert anew == fresh(prism, DAYS[2])


def test_types_that_change_change_a_kept_snapshot(prism):
    text = """@prefix my: <https://example.org/my#> . my:Rule a owl:Class, prism:Type ; rdfs:subClassOf prism:ABOVE .
        my:weight a owl:DatatypeProperty ; rdfs:range xsd:integer . my:Rule prism:mutableProperty my:weight ."""
    known = "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in PREFIXES.items()) + text
    project = prism.project("demo")
    project.write([TypeText("my.ttl", known.replace("ABOVE", "Entity"))])
    project.entity("Rule", {"weight": 1}, valid_from="2026-01-01")
    documents = "SELECT ?d { ?d a prism:Document }"
    assert list(prism.sparql(documents, as_of=DAYS[2]).rows()) == []
    before = prism.commit_number
    project.write([TypeText("my.ttl", known.replace("ABOVE", "Document"))])
    assert len(list(prism.sparql(documents, as_of=DAYS[2]).rows())) == 1
    assert list(prism.sparql(documents, as_of=DAYS[2], known_at=before).rows()) == []


def test_what_is_written_while_a_snapshot_is_made_is_in_it_as_a_whole(prism, monkeypatch):
    project = prism.project("demo")
    write_some(project)
    writes = later_writes(project)

    def interrupted(*args):
        for text in world_text(*args):
            yield text
            for write in writes:
                write()

    monkeypatch.setattr(snapshots, "world_text", interrupted)
    answer = prism.sparql(EVERYTHING, as_of=DAYS[3])
    assert list(writes) == []
    assert answer.commit == prism.commit_number
    assert triples(answer) == fresh(prism, DAYS[3])


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
    kept_few = Snapshots(ground, prism.base, prism.changes, most_quads=40)
    for day in DAYS * 2:
        at = Instant.parse(f"{day}T00:00:00Z")
        kept_few.at(["demo"], at, None, prism.commit_number)
        assert sum(kept.quads for kept in kept_few._kept.values()) <= 40 or len(kept_few._kept) == 1


@pytest.mark.parametrize("with_drafts", [False, True])
def test_a_snapshot_that_differs_is_found_and_made_anew(prism, with_drafts):
    project = prism.project("demo")
    entity = project.entity("ADR", {"number": "ADR-7", "status": "Proposed"}, valid_from="2025-01-01")["entity"]
    question = 'SELECT ?s { ?d prism:number "ADR-7" ; prism:status ?s }'

    def asked() -> list[str]:
        rows = prism.sparql(question, as_of=None if with_drafts else "2025-02-01", prefer_wip=with_drafts).rows()
        return [row[0].value for row in rows]

    assert asked() == ["Proposed"]
    assert project.check() == []
    [kept] = prism._datasets.snapshots._kept.values()
    graph = project.names.graph("current")
    right = next(kept.store.quads_for_pattern(None, term("status"), None, graph))
    kept.store.apply([Quad(right.subject, right.predicate, Literal("Rejected"), graph)], [right])
    assert asked() == ["Rejected"]
    assert prism.project("other").check() == []
    [found] = project.check()
    assert (found["check"], found["entity"]) == ("stale-snapshot", entity)
    assert found["detail"].endswith("missing prism:status Proposed; surplus prism:status Rejected")
    assert ("with drafts" in found["detail"]) == with_drafts
    assert project.check() == []
    assert asked() == ["Proposed"]
