"""The store against the naive model: any order of arrival, both axes, after every single commit."""

from __future__ import annotations

from math import inf

import naive_history as naive
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from prism_rdf import Prism
from prism_rdf.belief import END_RECORDED_AT, RECORDED_AT
from prism_rdf.clock import Edge, Instant, ManualClock
from prism_rdf.model import RETIRED, Assertion, Event, NewEntity
from prism_rdf.namespaces import prism as term
from prism_rdf.temporal.tail import FRONTIER

DAY = 86_400_000_000
EPOCH = Instant.parse("2026-01-01T00:00:00Z").micros
ENTITY = "00000000-0000-5000-8000-000000000001"
PROPS = {"status": term("status"), "title": term("title"), "tags": term("tags"), "retired": RETIRED}
MULTI = {"tags"}
ADR = NamedNode("https://w3id.org/prism-rdf/type#ADR")


def instant(day):
    return None if abs(day) == inf else Instant(EPOCH + int(day) * DAY)


@st.composite
def events(draw):
    """An event with one or two assertions, in days; its name is unique by construction."""
    start = draw(st.one_of(st.integers(0, 8), st.integers(0, 8), st.just(-inf)))
    said = []
    for prop in draw(
        st.lists(st.sampled_from(["status", "title", "tags", "retired"]), min_size=1, max_size=2, unique=True)
    ):
        op = draw(st.sampled_from(["add", "remove", "clear"] if prop == "tags" else ["set", "set", "clear"]))
        value = draw(st.sampled_from(["true", "false"] if prop == "retired" else ["a", "b"]))
        length = draw(st.sampled_from([inf, inf, 1, 3]))
        until = inf if start == -inf else start + length
        said.append((prop, None if op == "clear" else value, op, start, until))
    return start, draw(st.sampled_from([0, 0, 1])), draw(st.sampled_from([0, 1])), tuple(said)


def to_event(number, drawn):
    start, level, sequence, said = drawn
    return Event(
        entity=ENTITY,
        event_type="test",
        at=None if start == -inf else Edge(instant(start)),
        assertions=tuple(
            Assertion(PROPS[p], None if v is None else Literal(v), op, instant(s), instant(u))
            for p, v, op, s, u in said
        ),
        uuid=f"00000000-0000-5000-9000-{number:012d}",
        level=level,
        sequence=sequence,
    )


def to_said(number, drawn):
    _, level, sequence, said = drawn
    event = f"urn:prism:default/t/event/00000000-0000-5000-9000-{number:012d}"
    micros = lambda day: day if abs(day) == inf else EPOCH + day * DAY  # noqa: E731
    return [naive.Said(event, p, v, op, micros(s), micros(u), level, sequence) for p, v, op, s, u in said if s < u]


def held(project, day, known_at=None):
    state = project.state_as_of(ENTITY, instant(day), known_at=known_at)
    if state["state"] is None:
        return None
    return {name: set(v) if isinstance(v, list) else {v} for name, v in state["props"].items()}


def write_all(project, drawn, order):
    project.write([NewEntity(ENTITY, ADR)])
    for number in order:
        project.write([to_event(number, drawn[number])])


def believed(prism):
    """Every quad that is believed now, system time and what was believed earlier left out."""
    quads = list(prism.store.quads_for_pattern(None, None, None))
    gone = {q.subject for q in quads if q.predicate == term("withdrawnAt")}
    gone |= {q.object for q in quads if q.predicate == term("earlierBelief")}
    system = {RECORDED_AT, END_RECORDED_AT, term("earlierBelief"), term("createdAt"), FRONTIER}
    return {
        q
        for q in quads
        if q.predicate not in system
        and not {q.subject, q.object, q.graph_name} & gone
        and "/-/" not in q.graph_name.value
    }


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(events(), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_every_order_tells_the_same_history_on_both_axes(drawn, random):
    order = list(range(len(drawn)))
    random.shuffle(order)
    days = [-1, *range(12)]
    with Prism.in_memory(clock=ManualClock(Instant.parse("2026-06-01T00:00:00Z"))) as one:
        project = one.project("t")
        write_all(project, drawn, order)
        for known, upto in enumerate(range(1, len(order) + 1), start=2):
            said = [s for number in order[:upto] for s in to_said(number, drawn[number])]
            known_at = known if known <= one.commit_number else None
            for day in days:
                assert held(project, day, known_at) == naive.at(said, EPOCH + day * DAY, MULTI)
        assert project.check() == []
        with Prism.in_memory(clock=ManualClock(Instant.parse("2026-06-01T00:00:00Z"))) as other:
            write_all(other.project("t"), drawn, range(len(drawn)))
            assert believed(one) == believed(other)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(events(), min_size=1, max_size=6))
def test_one_batch_and_many_commits_believe_the_same(drawn):
    with Prism.in_memory() as one, Prism.in_memory() as other:
        write_all(one.project("t"), drawn, range(len(drawn)))
        other.project("t").write([NewEntity(ENTITY, ADR), *(to_event(n, d) for n, d in enumerate(drawn))])
        assert believed(one) == believed(other)
