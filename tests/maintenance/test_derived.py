"""The derived graphs are held against their computation, and `rebuild` makes them right, without a commit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyoxigraph import Literal, NamedNode, Quad
from whole_stores import START, fill, quads

from prism_rdf import Prism
from prism_rdf.changes import DUE_AT
from prism_rdf.clock import ManualClock
from prism_rdf.namespaces import Names, meta_graph
from prism_rdf.namespaces import prism as term
from prism_rdf.temporal.tail import FRONTIER, TAIL

NAMES = Names("urn:prism:default", "demo")
META = meta_graph("urn:prism:default")
Break = Callable[[Prism], tuple[list[Quad], list[Quad]]]


@pytest.fixture
def filled():
    with Prism.in_memory(clock=ManualClock(START)) as prism:
        fill(prism)
        yield prism


def one(prism: Prism, predicate: NamedNode, graph: NamedNode) -> Quad:
    return next(prism.store.quads_for_pattern(None, predicate, None, graph))


def current(predicate: str, value: str | None) -> Break:
    """Take a statement out of the current graph, and put another one in its place."""

    def broken(prism: Prism) -> tuple[list[Quad], list[Quad]]:
        old = one(prism, term(predicate), NAMES.graph("current"))
        put = [Quad(old.subject, old.predicate, Literal(value), old.graph_name)] if value else []
        return put, [old]

    return broken


def nobody(prism: Prism) -> tuple[list[Quad], list[Quad]]:
    return [Quad(NAMES.entity("nobody"), term("title"), Literal("x"), NAMES.graph("current"))], []


def due(prism: Prism) -> tuple[list[Quad], list[Quad]]:
    return [], [one(prism, DUE_AT, META)]


def tail(prism: Prism) -> tuple[list[Quad], list[Quad]]:
    old = one(prism, TAIL, NAMES.graph("tail"))
    states = [quad.object for quad in prism.store.quads_for_pattern(old.subject, term("hasState"), None, None)]
    other = next(state for state in states if state != old.object)
    return [Quad(old.subject, TAIL, other, old.graph_name)], [old]


def frontier(prism: Prism) -> tuple[list[Quad], list[Quad]]:
    return [], [one(prism, FRONTIER, NAMES.graph("tail"))]


BREAKS = {
    "a value is missing": (current("title", None), "stale-current", "missing prism:title"),
    "a value is wrong": (current("status", "Maybe"), "stale-current", "surplus prism:status Maybe"),
    "somebody is not there": (nobody, "stale-current", "surplus prism:title x"),
    "what comes due is not known": (due, "stale-current", "missing prism:dueAt"),
    "the tail is another state": (tail, "stale-tail", "surplus prism:tail"),
    "the frontier lacks an assertion": (frontier, "stale-tail", "missing prism:frontier"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_stale_derived_graph_is_found_and_made_right(filled, name):
    broken, check, said = BREAKS[name]
    before, commits = quads(filled), filled.commit_number
    assert filled.project("demo").check() == []
    adds, removes = broken(filled)
    filled.store.apply(adds, removes)
    found = [each for each in filled.project("demo").check() if each["check"] == check]
    assert len(found) == 1
    assert said in found[0]["detail"]
    assert found[0]["entity"].startswith("urn:prism:default/demo/entity/")
    assert filled.project("other").check() == []

    assert filled.rebuild() == {"demo": 1, "other": 0}
    assert quads(filled) == before
    assert filled.commit_number == commits
    assert filled.project("demo").check() == []


def test_everything_derived_can_be_made_anew(filled):
    before = quads(filled)
    derived = [q for q in before if q.graph_name in (NAMES.graph("current"), NAMES.graph("tail"))]
    filled.store.apply([], derived)
    assert {each["check"] for each in filled.project("demo").check()} >= {"stale-current", "stale-tail"}
    assert filled.rebuild("demo") == {"demo": 2}
    assert quads(filled) == before


def test_rebuilding_what_is_right_changes_nothing(filled):
    before = quads(filled)
    assert filled.rebuild() == {"demo": 0, "other": 0}
    assert quads(filled) == before


def test_a_rebuilt_store_goes_on(filled):
    filled.store.apply([], list(filled.store.quads_for_pattern(None, None, None, NAMES.graph("tail"))))
    filled.rebuild("demo")
    project = filled.project("demo")
    project.transition("ADR-002", {"title": "Use no table"}, valid_from="2026-01-01")
    assert project.state_as_of("ADR-002", "2025-12-31")["props"]["title"] == "Use a table"
    assert project.state_as_of("ADR-002", "2026-01-01")["props"]["title"] == "Use no table"
    assert project.check() == []
