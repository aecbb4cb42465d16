"""A history told anew without an event is the history of a store that never had it, quad for quad, on both axes."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad
from whole_stores import START, quads

from prism_rdf import Prism
from prism_rdf.clock import Edge, Instant, ManualClock
from prism_rdf.maintenance.retelling import retell
from prism_rdf.model import RETIRED, Assertion, Event, Intent, Memory, NewEntity, Withdrawal
from prism_rdf.namespaces import Names
from prism_rdf.namespaces import prism as term

NAMES = Names("urn:prism:default", "demo")
ENTITY = "00000000-0000-5000-8000-000000000001"
ADR = NamedNode("https://w3id.org/prism-rdf/type#ADR")
DAY0 = Instant.parse("2026-01-01T00:00:00Z")


@st.composite
def assertions(draw: st.DrawFn) -> Assertion:
    prop = draw(st.sampled_from(["status", "title", "tags", "retired"]))
    op = draw(st.sampled_from(["add", "remove", "clear"] if prop == "tags" else ["set", "set", "clear"]))
    value = None if op == "clear" else Literal(draw(st.sampled_from("ab"))) if prop != "retired" else Literal(True)
    start = DAY0.plus(days=draw(st.integers(0, 6)))
    until = draw(st.sampled_from([None, None, start.plus(days=2)]))
    return Assertion(RETIRED if prop == "retired" else term(prop), value, op, start, until)


@st.composite
def events(draw: st.DrawFn) -> tuple[Assertion, ...]:
    return tuple(draw(st.lists(assertions(), min_size=1, max_size=2, unique_by=lambda a: a.property)))


def event(number: int, said: tuple[Assertion, ...]) -> Event:
    at = Edge(min(a.start for a in said if a.start))
    return Event(ENTITY, "test", at, said, uuid=f"00000000-0000-5000-9000-{number:012}")


def told(prism: Prism) -> set[Quad]:
    """What is stored of the states and the tail."""
    store, temporal = prism.store, NAMES.graph("temporal")
    states = {q.object for q in store.quads_for_pattern(NAMES.entity(ENTITY), term("hasState"), None, temporal)}
    beliefs = {q.object for q in quads(prism) if q.subject in states and q.predicate == term("earlierBelief")}
    return {
        quad
        for quad in quads(prism)
        if quad.graph_name in states
        or quad.subject in states | beliefs
        or quad.object in states
        or quad.graph_name == NAMES.graph("tail")
    }


def write(prism: Prism, commits: list[list[Intent]]) -> None:
    for number, intents in enumerate(commits):
        filler = Memory(f"commit {number}", "note", DAY0)  # so that each is a commit, whatever is left out
        prism.project("demo").write([*intents, filler])


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(events(), min_size=1, max_size=6), st.data())
def test_leaving_an_event_out_is_as_if_it_had_never_been_said(drawn, data):
    gone = data.draw(st.one_of(st.none(), st.integers(0, len(drawn) - 1)))
    withdrawn = data.draw(st.one_of(st.none(), st.integers(0, len(drawn) - 1)))
    said = [event(number, each) for number, each in enumerate(drawn)]
    commits: list[list[Intent]] = [[NewEntity(ENTITY, ADR)], *([each] for each in said)]
    if withdrawn is not None:
        commits += [[Withdrawal(NAMES.event(said[withdrawn].uuid), ENTITY)], [said[withdrawn]]]
    never = [[each for each in commit if gone is None or not _is_about(each, said[gone])] for commit in commits]
    with Prism.in_memory(clock=ManualClock(START)) as one, Prism.in_memory(clock=ManualClock(START)) as other:
        write(one, commits)
        write(other, never)
        left_out = {NAMES.event(said[gone].uuid)} if gone is not None else set()
        numbers = {change: number for number, change in enumerate(_times(one, len(commits)), 1)}
        anew = retell(one.site.ground, NAMES, NAMES.entity(ENTITY), left_out, numbers.__getitem__)
        assert set(anew.quads) == told(other)
        assert {quad for quad in told(one) if not _of(anew, quad)} == set()


def _is_about(intent: Intent, gone: Event) -> bool:
    return intent == gone or (isinstance(intent, Withdrawal) and intent.node == NAMES.event(gone.uuid))


def _times(prism: Prism, count: int) -> list[Instant]:
    return [prism.system_time(number) for number in range(1, count + 1)]  # type: ignore[misc]


def _of(anew: object, quad: Quad) -> bool:
    sealed = anew.sealed  # type: ignore[attr-defined]
    return quad.graph_name == NAMES.graph("tail") or bool({quad.subject, quad.object, quad.graph_name} & sealed)
