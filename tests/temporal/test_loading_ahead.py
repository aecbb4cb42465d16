"""Of a large commit much is loaded ahead of its update: nobody sees it before the rest, and it never stays without."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal

from prism_rdf import Prism, commit
from prism_rdf.clock import Edge, Instant, ManualClock
from prism_rdf.commit import Committer
from prism_rdf.errors import RefusedError
from prism_rdf.model import Assertion, Event, NewEntity
from prism_rdf.namespaces import TYPE, NamedNode, derived_uuid
from prism_rdf.namespaces import prism as term
from prism_rdf.validation.checks import run_checks

START = Instant.parse("2026-01-01T00:00:00Z")
OLD, NEW = derived_uuid("old"), derived_uuid("new")


def said(uuid: str, day: int, **props: str) -> Event:
    stated = tuple(Assertion(term(name), Literal(value)) for name, value in props.items())
    return Event(uuid, "fact", Edge(START.plus(days=day)), stated, source="test")


FIRST = [NewEntity(OLD, NamedNode(TYPE + "ADR")), said(OLD, 0, number="ADR-1", title="One", status="Proposed")]
LARGE = [
    NewEntity(NEW, NamedNode(TYPE + "ADR")),
    said(NEW, 0, number="ADR-2", title="Two"),
    said(NEW, 3, title="Two and a half"),
    said(OLD, 1, status="Accepted"),
    said(OLD, 2, status="Held"),
]


@pytest.fixture(autouse=True)
def every_commit_is_large(monkeypatch):
    monkeypatch.setattr(commit, "MANY", 1)


def opened(home) -> Prism:
    return Prism.open(home, exclusive=True, clock=ManualClock(Instant.parse("2026-06-01T00:00:00Z")))


def quads(prism: Prism):
    return set(prism.store.quads_for_pattern(None, None, None))


def answers(prism: Prism):
    """Return what the verbs and SPARQL say, which is what can be seen."""
    project = prism.project("demo")
    kinds = "SELECT ?type (COUNT(*) AS ?n) { GRAPH ?g { ?s a ?type } } GROUP BY ?type"
    return (
        [
            project.history(OLD),
            project.state_as_of(OLD, "2026-05-01"),
            project.blame(OLD, "status"),
            project.timeline(OLD),
        ],
        {tuple(map(str, row)) for row in prism.sparql("SELECT ?s ?p ?o { ?s ?p ?o }").rows()},
        {tuple(map(str, row)) for row in prism.sparql(kinds, dataset="raw").rows()},
        project.check(),
        list(prism.log()),
    )


def test_the_store_says_the_same_in_the_end(tmp_path, monkeypatch):
    with opened(tmp_path / "ahead") as prism:
        for intents in (FIRST, LARGE):
            prism.project("demo").write(intents)
        ahead = quads(prism)
    monkeypatch.setattr(commit, "MANY", 10_000)
    with opened(tmp_path / "at once") as prism:
        for intents in (FIRST, LARGE):
            prism.project("demo").write(intents)
        assert quads(prism) == ahead


def test_nothing_of_it_is_seen_before_the_update(tmp_path, monkeypatch):
    with opened(tmp_path) as prism:
        prism.project("demo").write(FIRST)
        before, held, seen = answers(prism), quads(prism), []
        apply = prism.store.apply

        def watched(adds, removes):
            seen.append((answers(prism), len(quads(prism) - held), len(adds)))
            apply(adds, removes)

        monkeypatch.setattr(prism.store, "apply", watched)
        prism.project("demo").write(LARGE)
        [(meanwhile, loaded, applied)] = seen
        assert meanwhile == before
        assert loaded > applied / 2
        assert answers(prism) != before


def failing(prism: Prism, monkeypatch, times: int) -> None:
    apply, left = prism.store.apply, [None] * times

    def refuse(adds, removes):
        if left:
            left.pop()
            raise RefusedError("the disk is full", rule="r", mend="m")
        apply(adds, removes)

    monkeypatch.setattr(prism.store, "apply", refuse)


def test_an_update_that_fails_takes_it_back(tmp_path, monkeypatch):
    with opened(tmp_path) as prism:
        prism.project("demo").write(FIRST)
        before = quads(prism)
        failing(prism, monkeypatch, times=1)
        with pytest.raises(RefusedError, match="the disk is full"):
            prism.project("demo").write(LARGE)
        assert quads(prism) == before
        assert prism.project("demo").write(LARGE).commit == 2
        assert prism.project("demo").state_as_of(NEW)["props"]["title"] == "Two and a half"


def test_what_cannot_be_taken_back_is_completed_when_the_store_is_opened_again(tmp_path, monkeypatch):
    with opened(tmp_path) as prism:
        prism.project("demo").write(FIRST)
        failing(prism, monkeypatch, times=3)
        with pytest.raises(RefusedError, match="the disk is full"):
            prism.project("demo").write(LARGE)
        with pytest.raises(RefusedError, match="logged and not yet in the store"):
            prism.project("demo").fact(OLD, "title", "More")
        assert prism.commit_number == 1
    check_complete(tmp_path)


def test_it_is_completed_by_the_next_write_once_there_is_room(tmp_path, monkeypatch):
    with opened(tmp_path) as prism:
        prism.project("demo").write(FIRST)
        failing(prism, monkeypatch, times=2)
        with pytest.raises(RefusedError, match="the disk is full"):
            prism.project("demo").write(LARGE)
        assert prism.project("demo").fact(OLD, "title", "More").commit == 3
        assert prism.project("demo").state_as_of(NEW)["props"]["title"] == "Two and a half"
        assert prism.project("demo").state_as_of(OLD)["props"]["title"] == "More"
        assert prism.project("demo").check() == []


def test_a_crash_between_the_two_is_mended_when_the_store_is_opened(tmp_path, monkeypatch):
    with opened(tmp_path) as prism:
        prism.project("demo").write(FIRST)
        failing(prism, monkeypatch, times=1)
        monkeypatch.setattr(Committer, "_take_back", lambda *_: None)
        with pytest.raises(RefusedError, match="the disk is full"):
            prism.project("demo").write(LARGE)
    check_complete(tmp_path)


def check_complete(home) -> None:
    with opened(home) as prism:
        project = prism.project("demo")
        assert prism.commit_number == 2
        assert project.write(LARGE).commit is None
        assert [state["props"]["status"] for state in project.history(OLD)] == ["Proposed", "Accepted", "Held"]
        assert run_checks(prism.store, project.names) == ()
        assert project.check() == []
