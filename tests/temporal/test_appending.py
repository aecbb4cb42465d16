"""A batch that only goes on with known histories comes to the same graph, and the same refusals, as any other."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from prism_rdf import Prism
from prism_rdf.appending import Appender
from prism_rdf.clock import Instant, ManualClock, start_of
from prism_rdf.errors import PrismError, ValidationError
from prism_rdf.model import Assertion, Event, NewEntity
from prism_rdf.namespaces import TYPE, derived_uuid
from prism_rdf.namespaces import prism as term

NOW = Instant.parse("2026-06-01T00:00:00Z")
ADR = NamedNode(TYPE + "ADR")
LATER = [f"2025-{month:02}" for month in range(2, 13)]  # what a batch of this number says goes on with the history
TIMES = [
    "later",
    "later",
    "later",
    "later",
    None,
    "2024",
    "2025",
    "2025-03",
    "2025-03-04",
    "2026-01-01",
    "2026-05-31T12:00:00Z",
    "2027-01-01",
]
SAID = st.tuples(
    st.sampled_from([*["title", "status"] * 4, "number", "tags", "deciders", "created", "retired", "port"]),
    st.sampled_from([*["set"] * 7, "add", "remove", "clear"]),
    st.sampled_from(["Accepted", "Draft", 'Held "so" \\', ""]),
    st.sampled_from([*[None] * 9, "2026-03-01", "2027-02-01"]),
)
EVENTS = st.tuples(
    st.integers(0, 1),
    st.sampled_from(TIMES),
    st.lists(SAID, min_size=1, max_size=2),
    st.sampled_from(["fact", "fact", "correction"]),
)
BATCHES = st.lists(st.lists(EVENTS, min_size=1, max_size=2), min_size=1, max_size=6)


def uuid_of(number: int) -> str:
    return derived_uuid("n", str(number))


def assertion(prop: str, op: str, text: str, until: str | None) -> Assertion:
    value = Literal(True) if prop == "retired" else Literal(text)
    ends = None if until is None else start_of(until).instant
    return Assertion(term(prop), None if op == "clear" else value, op, None, ends)


def event_of(drawn, batch: int, order: int) -> Event:
    entity, at, said, kind = drawn
    at = LATER[batch] if at == "later" else at
    stated = tuple(assertion(*each) for each in said)
    level = 1 if kind == "correction" else 0
    return Event(uuid_of(entity), kind, None if at is None else start_of(at), stated, level=level, sequence=order)


def told(entity: int, at: str, **props: object) -> Event:
    said = tuple(Assertion(term(name), Literal(value)) for name, value in props.items())
    return Event(uuid_of(entity), "fact", start_of(at), said)


def begun(prism: Prism) -> None:
    said = [told(each, "2025-01-01", title=f"T{each}", status="Draft", number=f"ADR-{each}") for each in (0, 1)]
    prism.project("demo").write([*(NewEntity(uuid_of(each), ADR) for each in (0, 1)), *said])


def outcomes(batches, monkeypatch, *, appending: bool):
    """Return what becomes of each batch, all quads of the store or what is refused, and how many were appended."""
    clock, found, appended = ManualClock(NOW), [], []
    plan = Appender.plan

    def planned(self, intents, writing):
        change = plan(self, intents, writing) if appending else None
        appended.append(change is not None)
        return change

    monkeypatch.setattr(Appender, "plan", planned)
    with Prism.in_memory(clock=clock) as prism:
        begun(prism)
        for batch in batches:
            clock.advance(micros=1_000_000)
            try:
                prism.project("demo").write(batch)
            except ValidationError as error:
                found.append({(each.path, each.value, each.message) for each in error.report})
            except PrismError as error:
                found.append(type(error))
            else:
                found.append(set(prism.store.quads_for_pattern(None, None, None)))
        assert prism.project("demo").check() == []
        clock.advance(days=400)
        prism.bring_up_to_date()
        found.append(set(prism.store.quads_for_pattern(None, None, None)))
    return found, sum(appended)


@settings(max_examples=60, deadline=None)
@given(drawn=BATCHES)
def test_any_batches_come_to_the_same_graph(drawn):
    batches = [[event_of(each, at, order) for order, each in enumerate(batch)] for at, batch in enumerate(drawn)]
    told = []
    for appending in (True, False):
        with pytest.MonkeyPatch.context() as monkeypatch:
            told.append(outcomes(batches, monkeypatch, appending=appending)[0])
    assert told[0] == told[1]


APPENDED = {
    "a property changes": [told(0, "2026-01-01", status="Accepted")],
    "several at once": [told(0, "2026-01-01", status="Accepted", title="Other")],
    "several events of one entity": [told(0, "2026-01-01", status="A"), told(0, "2026-02-01", status="B")],
    "several entities": [told(0, "2026-01-01", status="A"), told(1, "2026-02-01", status="A")],
    "a property that was not said before": [told(0, "2026-01-01", tags="x")],
    "a value that comes back": [told(0, "2026-01-01", status="A"), told(0, "2026-02-01", status="Draft")],
    "the same twice": [told(0, "2026-01-01", status="A"), told(0, "2026-01-01", status="A")],
}
LEFT = {
    "what holds already": [told(0, "2026-01-01", status="Draft")],
    "what begins in the future": [told(0, "2027-01-01", status="A")],
    "what is late": [told(0, "2024-01-01", status="A")],
    "what begins with the last state": [told(0, "2025-01-01", status="A")],
    "a retirement": [told(0, "2026-01-01", retired=True)],
    "what ends": [
        Event(
            uuid_of(0),
            "fact",
            start_of("2026-01-01"),
            (Assertion(term("status"), Literal("A"), "set", None, start_of("2026-02-01").instant),),
        )
    ],
    "an unknown entity": [told(7, "2026-01-01", status="A")],
    "a value of another kind": [told(0, "2026-01-01", title=3)],
    "a property that the type does not have": [told(0, "2026-01-01", port="80")],
    "a new entity": [NewEntity(uuid_of(7), ADR), told(7, "2026-01-01", title="Seven")],
    "an event without a type": [Event(uuid_of(0), "", start_of("2026"), told(0, "2026", title="x").assertions)],
    "a value removed": [
        Event(uuid_of(0), "fact", start_of("2026"), (Assertion(term("title"), Literal("T0"), "remove"),))
    ],
}


@pytest.mark.parametrize("name", [*APPENDED, *LEFT])
def test_what_goes_on_is_appended_and_all_else_is_left_to_plan(name):
    batch = {**APPENDED, **LEFT}[name]
    told = []
    for appending in (True, False):
        with pytest.MonkeyPatch.context() as monkeypatch:
            told.append(outcomes([batch], monkeypatch, appending=appending))
    assert told[0][0] == told[1][0]
    assert told[0][1] == (name in APPENDED), "which way it goes"


MEANWHILE = {
    "an alias": lambda project: project.alias("Zero", uuid_of(0)),
    "a reference": lambda project: project.reference(uuid_of(0), uuid_of(1), "DEPENDS_ON"),
    "a reference that ends": lambda project: project.reference(
        uuid_of(0), uuid_of(1), "DEPENDS_ON", valid_from="2025-02-01", valid_until="2026-07-01"
    ),
    "a draft": lambda project: project.wip(uuid_of(0), {"status": "Held"}),
    "a merge": lambda project: project.merge(uuid_of(1), uuid_of(0)),
    "the other way round": lambda project: project.merge(uuid_of(0), uuid_of(1)),
    "a retirement that ended": lambda project: (
        project.retire(uuid_of(0), valid_from="2025-05-01"),
        project.reopen(uuid_of(0), valid_from="2025-06-01"),
    ),
    "a retraction": lambda project: project.retract(
        (
            project.write([told(0, "2026-01-01", status="Wrong")]),
            project.blame(uuid_of(0), "status")["events"][0]["event"],
        )[1]
    ),
}


@pytest.mark.parametrize("name", MEANWHILE)
def test_whatever_else_is_known_of_the_entity(name):
    held = []
    for appending in (True, False):
        with pytest.MonkeyPatch.context() as monkeypatch:
            if not appending:
                monkeypatch.setattr(Appender, "plan", lambda *_: None)
            monkeypatch.setattr("prism_rdf.drafting.uuid4", lambda: derived_uuid("draft", name), raising=False)
            clock = ManualClock(NOW)
            with Prism.in_memory(clock=clock) as prism:
                begun(prism)
                project = prism.project("demo")
                MEANWHILE[name](project)
                clock.advance(micros=1_000_000)
                project.write([told(0, "2026-02-01", status="Accepted"), told(1, "2026-02-01", title="One")])
                clock.advance(days=60)
                prism.bring_up_to_date()
                assert project.check() == []
                held.append(set(prism.store.quads_for_pattern(None, None, None)))
    assert held[0] == held[1]
