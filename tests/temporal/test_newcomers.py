"""A batch of nothing but new histories is written as text: to the same graph, with the same refusals, as any other."""

from __future__ import annotations

from itertools import count
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from prism_rdf import Prism, fresh
from prism_rdf.clock import Instant, ManualClock, start_of
from prism_rdf.commit import LAST_COMMIT
from prism_rdf.errors import PrismError, RefusedError, ValidationError
from prism_rdf.model import Assertion, Event, NewEntity
from prism_rdf.namespaces import TYPE, derived_uuid
from prism_rdf.namespaces import prism as term

NOW = Instant.parse("2026-06-01T00:00:00Z")
ADR, COMPONENT = NamedNode(TYPE + "ADR"), NamedNode(TYPE + "Component")
WHOLE = 1_000_000
TIMES = [None, "2025", "2025-03", "2025-03-04", "2026-05-31T12:00:00Z", "2027-01-01", "-0044-03-15"]
VALUES = ["Accepted", 'Held "so"\nand so \\', "Ünïcode 🙂", "", "x" * 50]
SAID = st.tuples(
    st.sampled_from(["title", "status", "number", "tags", "retired", "deciders"]),
    st.sampled_from(["set", "set", "set", "add", "remove", "clear"]),
    st.sampled_from(VALUES),
    st.sampled_from([None, None, "2025-06-01", "2027-02-01", "2024-01-01"]),
)
EVENTS = st.tuples(
    st.integers(0, 3),
    st.sampled_from(TIMES),
    st.lists(SAID, min_size=1, max_size=3),
    st.sampled_from(["fact", "rename", "correction"]),
    st.integers(0, 2),
    st.sampled_from(["", "rows"]),
)


def event_of(drawn) -> Event:
    entity, at, said, kind, level, source = drawn
    stated = tuple(assertion(*each) for each in said)
    edge = None if at is None else start_of(at)
    return Event(derived_uuid("n", str(entity)), kind, edge, stated, level=level, sequence=level, source=source)


def assertion(prop: str, op: str, text: str, until: str | None) -> Assertion:
    value = Literal(True) if prop == "retired" else Literal(text)
    ends = None if until is None else start_of(until).instant
    return Assertion(term(prop), None if op == "clear" else value, op, None, ends)


def new(*numbers: int, kind: NamedNode = ADR) -> list[NewEntity]:
    return [NewEntity(derived_uuid("n", str(number)), kind) for number in numbers]


def quads(prism: Prism):
    return set(prism.store.quads_for_pattern(None, None, None))


def written(monkeypatch, intents, least: int):
    """Return all quads of a store with the batch in it, now and when all has come due; or what the refusal names."""
    monkeypatch.setattr(fresh, "_LEAST", least)
    clock = ManualClock(NOW)
    with Prism.in_memory(clock=clock) as prism:
        try:
            receipt = prism.project("demo").write(intents)
        except ValidationError as error:
            return {(violation.path, violation.value) for violation in error.report}
        except PrismError as error:
            return type(error)
        assert prism.project("demo").check() == []
        held = quads(prism)
        clock.advance(days=400)
        prism.bring_up_to_date()
        return receipt, held, quads(prism)


@settings(max_examples=25, deadline=None)
@given(drawn=st.lists(EVENTS, min_size=1, max_size=8))
def test_any_batch_comes_to_the_same_graph(drawn):
    events = [event_of(each) for each in drawn]
    intents = [*new(*sorted({each[0] for each in drawn})), *events]
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert written(monkeypatch, intents, 1) == written(monkeypatch, intents, WHOLE)


def told(number: int, at: str = "2025-01-01", **props: object) -> Event:
    said = tuple(Assertion(term(name), Literal(value)) for name, value in props.items())
    return Event(derived_uuid("n", str(number)), "fact", start_of(at), said)


REFUSED = {
    "a value of another kind": [*new(1, 2), told(1, title="One"), told(2, title=3)],
    "a property that the type does not have": [*new(1), told(1, title="One", port="80")],
    "an unknown type": [*new(1, kind=NamedNode(TYPE + "Nothing")), told(1, title="One")],
    "an entity that is not there": [*new(1), told(1, title="One"), told(2, title="Two")],
    "a property that never changes": [
        *new(1),
        told(1, created="2025-01-01"),
        told(1, "2025-02-01", created="2025-02-01"),
    ],
    "an event without a type": [
        *new(1),
        Event(derived_uuid("n", "1"), "", start_of("2025"), told(1, title="x").assertions),
    ],
    "no such tier": [
        *new(1),
        Event(derived_uuid("n", "1"), "fact", start_of("2025"), told(1, title="x").assertions, tier=7),  # type: ignore[arg-type]
    ],
    "two types": [*new(1), *new(1, kind=COMPONENT), told(1, title="One")],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_refused_alike(monkeypatch, name):
    outcomes = [written(monkeypatch, REFUSED[name], least) for least in (1, WHOLE)]
    assert not isinstance(outcomes[0], tuple), "it was not refused"
    assert outcomes[0] == outcomes[1]


def large(prism: Prism, first: int = 0) -> list:
    return [each for n in range(first, first + 200) for each in (*new(n), told(n, title=f"T{n}", status="Accepted"))]


def test_a_refused_batch_leaves_nothing(tmp_path):
    with Prism.open(tmp_path, exclusive=True, clock=ManualClock(NOW)) as prism:
        prism.project("demo").write(large(prism))
        before, log = quads(prism), (prism.folder.log).read_bytes()
        with pytest.raises(ValidationError):
            prism.project("demo").write([*large(prism, 500), *new(999), told(999, title=4)])
        assert quads(prism) == before
        assert prism.folder.log.read_bytes() == log


def test_it_is_durable_and_told_once(tmp_path, monkeypatch):
    with Prism.open(tmp_path, exclusive=True, clock=ManualClock(NOW)) as prism:
        project = prism.project("demo")
        receipt = project.write(large(prism), "rows", "key-1")
        assert project.write(large(prism), "rows", "key-1").replayed
        assert project.write(large(prism)).commit is None, "what is there already changes nothing"
        assert len(receipt.created) == 200
        held = quads(prism)
        monkeypatch.setattr(prism.store, "apply", refusing)
        with pytest.raises(RefusedError, match="disk"):
            project.write(large(prism, 1000))
        with pytest.raises(RefusedError, match="logged and not yet in the store"):
            project.fact(derived_uuid("n", "1"), "title", "More")
    with Prism.open(tmp_path, exclusive=True, clock=ManualClock(NOW)) as prism:
        assert prism.commit_number == 2, "what was logged is completed"
        assert {quad for quad in held if quad.predicate != LAST_COMMIT} < quads(prism)
        assert prism.project("demo").check() == []
        assert prism.project("demo").state_as_of(derived_uuid("n", "1100"))["props"]["title"] == "T1100"


def test_more_than_a_store_takes_in_at_once_goes_the_ordinary_way(tmp_path, monkeypatch):
    held, loaded = [], []
    for most in (fresh.MOST_AT_ONCE, 1000):
        monkeypatch.setattr(fresh, "MOST_AT_ONCE", most)
        with Prism.open(tmp_path / str(most), exclusive=True, clock=ManualClock(NOW)) as prism:
            load_text = prism.store.load_text
            monkeypatch.setattr(
                prism.store, "load_text", lambda text, load=load_text: (loaded.append(text), load(text))
            )
            prism.project("demo").write(large(prism))
            held.append(quads(prism))
    assert held[0] == held[1]
    assert len(loaded) == 1


def refusing(adds, removes):
    raise RefusedError("the disk is full", rule="r", mend="m")


@pytest.mark.slow
def test_nobody_sees_a_part_of_it(tmp_path):
    """Readers count two things that come together, over and over, while batches are written."""
    with Prism.open(tmp_path, exclusive=True) as prism:
        project, torn, reads, going = prism.project("demo"), [], count(), [True]

        def read():
            while going:
                [row] = prism.sparql(
                    "SELECT (COUNT(DISTINCT ?d) AS ?n) (COUNT(DISTINCT ?s) AS ?m) "
                    "{ ?d a type:ADR . OPTIONAL { ?d prism:status ?s0 BIND(?d AS ?s) } }"
                ).rows()
                next(reads)
                if int(row[0].value) % 200 or row[0] != row[1]:
                    torn.append(row)

        readers = [Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        for first in range(0, 4000, 200):
            project.write(large(prism, first))
        going.clear()
        for reader in readers:
            reader.join()
        assert torn == []
        assert next(reads) > 20
