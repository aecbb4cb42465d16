"""Bad input of every verb of the time engine: refused by name, and the store is the same, quad for quad."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, serialize

from prism_rdf import Prism
from prism_rdf.clock import Edge, Instant, ManualClock
from prism_rdf.errors import (
    BadArgument,
    BadTime,
    NotFoundError,
    RefusedError,
    UnknownEntity,
    UnknownType,
    ValidationError,
)
from prism_rdf.model import (
    Alias,
    Assertion,
    DraftEnd,
    DraftVersion,
    Event,
    Memory,
    NewEntity,
    Reference,
)
from prism_rdf.namespaces import TYPE
from prism_rdf.namespaces import prism as term

NOON = Instant.parse("2026-05-01T12:00:00Z")
ONE, TWO, NOBODY = (f"00000000-0000-4000-8000-00000000000{n}" for n in range(3))
LOCATION, COMPONENT = NamedNode(TYPE + "Location"), NamedNode(TYPE + "Component")
NAIVE = "2026-05-01T12:00:00"


CLOCK = ManualClock(Instant.parse("2026-06-01T00:00:00Z"))


def filled(home):
    """Return a store on disk with two entities; one has an open, a sealed and a discarded draft."""
    prism = Prism.open(home, exclusive=True, clock=CLOCK)
    project = prism.project("demo")
    project.write([NewEntity(ONE, LOCATION), NewEntity(TWO, COMPONENT)])
    props = {"name": "server1", "port": 80, "created": "2020", "tags": ["x"]}
    project.transition(ONE, props, valid_from="2026-01-01", source="a note")
    project.transition(TWO, {"name": "gateway"}, valid_from="2026-01-01")
    project.seal(project.wip(ONE, {"status": "up"})["wip"])
    project.discard(project.wip(ONE, {"status": "down"})["wip"])
    project.wip(ONE, {"status": "draft"})
    return prism


def threads(prism):
    """Return the uuids of the draft threads, by what became of them."""
    rows = prism.sparql("SELECT ?d ?how { ?d a prism:Draft OPTIONAL { ?d prism:outcome ?how } }", dataset="raw").rows()
    return {how.value if how else "open": draft.value.rsplit("/", 1)[-1] for draft, how in rows}


@pytest.fixture(scope="module")
def prism(tmp_path_factory):
    """One store for all cases, since none changes it."""
    with filled(tmp_path_factory.mktemp("refused") / "home") as prism:
        yield prism


def content(prism):
    """Return the store as sorted N-Quads."""
    lines = serialize(prism.store.quads_for_pattern(None, None, None), format=RdfFormat.N_QUADS)
    return b"\n".join(sorted(lines.splitlines()))


def said(**more):
    event = Event(ONE, "test", Edge(NOON), (Assertion(term("status"), Literal("a")),))
    return replace(event, **more)


def batch(*intents):
    """A batch whose first intent is sound: all or nothing."""
    return lambda project, _: project.write([Alias(TWO, "Gate", "synonym"), *intents])


DRAFT = DraftVersion(ONE, NOBODY, {term("status"): (Literal("a"),)}, NOON)
CASES = {
    # Times
    "a naive start": (lambda p, _: p.transition(ONE, {"status": "a"}, valid_from=NAIVE), BadTime, "no zone"),
    "a naive end": (lambda p, _: p.correct(ONE, {"status": "a"}, valid_until=NAIVE), BadTime, "no zone"),
    "a naive touch": (lambda p, _: p.wip(ONE, {"status": "a"}, at=NAIVE), BadTime, "no zone"),
    "a naive sealing": (lambda p, t: p.seal(t["open"], valid_from=NAIVE), BadTime, "no zone"),
    "a naive retirement": (lambda p, _: p.retire(ONE, valid_from=NAIVE), BadTime, "no zone"),
    "a naive reference": (lambda p, _: p.reference(ONE, TWO, "RELATES_TO", valid_from=NAIVE), BadTime, "no zone"),
    "a naive question": (lambda p, _: p.state_as_of(ONE, NAIVE), BadTime, "no zone"),
    "a naive system time": (lambda p, _: p.state_as_of(ONE, known_at=NAIVE), BadTime, "no zone"),
    "the thirtieth of February": (lambda p, _: p.fact(ONE, "status", "a", valid_from="2026-02-30"), BadTime, "read"),
    "the end of a year that is over": (
        lambda p, _: p.fact(ONE, "status", "a", valid_from="2026-05", valid_until="2025"),
        BadTime,
        "cannot hold",
    ),
    "a name that ends before it begins": (
        lambda p, _: p.alias("Gate", TWO, valid_from="2026-05", valid_until="2026-04"),
        BadTime,
        "cannot hold",
    ),
    "a reference that ends before it begins": (
        lambda p, _: p.reference(ONE, TWO, "RELATES_TO", valid_from="2026-05", valid_until="2026-04"),
        BadTime,
        "cannot hold",
    ),
    # Things that are not there
    "an event on an unknown entity": (batch(said(entity=NOBODY)), UnknownEntity, NOBODY),
    "a draft of an unknown entity": (batch(replace(DRAFT, entity=NOBODY)), UnknownEntity, NOBODY),
    "a name of an unknown entity": (batch(Alias(NOBODY, "Other")), UnknownEntity, NOBODY),
    "a reference to an unknown entity": (batch(Reference(ONE, NOBODY, term("RELATES_TO"))), UnknownEntity, NOBODY),
    "retracting a state": (lambda p, _: p.retract(p.state_as_of(ONE)["state"]), NotFoundError, "no event"),
    "sealing a state": (lambda p, _: p.seal(p.state_as_of(TWO)["state"].rsplit("/", 1)[-1]), NotFoundError, "draft"),
    "ending an unknown draft": (batch(DraftEnd(ONE, NOBODY, NOON, "sealed")), RefusedError, "not open"),
    "reverting a commit to come": (lambda p, _: p.revert(1_000), NotFoundError, "no commit 1000"),
    "asking about a commit to come": (lambda p, _: p.history(ONE, known_at=1_000), NotFoundError, "no commit 1000"),
    "an unknown type": (lambda p, _: p.entity("Spaceship", {"name": "x"}), UnknownType, "Spaceship"),
    "an unknown kind": (lambda p, _: p.reference(ONE, TWO, "ADMIRES"), BadArgument, "ADMIRES"),
    # Drafts that are over
    "sealing what is sealed": (lambda p, t: p.seal(t["sealed"]), RefusedError, "not open: it was sealed"),
    "sealing what is discarded": (lambda p, t: p.seal(t["discarded"]), RefusedError, "it was discarded"),
    "discarding what is sealed": (lambda p, t: p.discard(t["sealed"]), RefusedError, "it was sealed"),
    "ending a draft twice": (
        lambda p, t: p.write([DraftEnd(ONE, t["sealed"], NOON, "sealed")]),
        RefusedError,
        "it was sealed",
    ),
    "a second open draft": (batch(DRAFT), ValidationError, "more than one draft"),
    # Values
    "sealing with a wrong datatype": (lambda p, t: p.seal(t["open"], {"port": "eighty"}), ValidationError, "port"),
    "a text for a number": (lambda p, _: p.fact(ONE, "port", "eighty"), ValidationError, "port"),
    "a number for a text in a batch": (
        batch(said(assertions=(Assertion(term("status"), Literal(7)),))),
        ValidationError,
        "status",
    ),
    "a place that is a component": (lambda p, _: p.fact(TWO, "location", TWO), ValidationError, "Location"),
    "a property of another type": (lambda p, _: p.transition(TWO, {"port": 80}), ValidationError, "port"),
    "a property of another type in a batch": (
        batch(said(entity=TWO, assertions=(Assertion(term("port"), Literal(80)),))),
        ValidationError,
        "does not declare",
    ),
    "a list for one value": (lambda p, _: p.correct(ONE, {"port": [80, 81]}), BadArgument, "takes one value"),
    "an entity that says nothing": (lambda p, _: p.entity("Location", {}), BadArgument, "at least one"),
    "a reference that the shapes do not allow": (
        lambda p, _: p.reference(ONE, TWO, "IMPLEMENTS"),
        ValidationError,
        "IMPLEMENTS",
    ),
    "an empty name": (lambda p, _: p.alias("  ", ONE), BadArgument, "surface form"),
    # What never changes
    "another type": (batch(NewEntity(ONE, COMPONENT)), ValidationError, "cannot become"),
    "an immutable property": (lambda p, _: p.fact(ONE, "created", "2021"), ValidationError, "never changes"),
    "an immutable property, of before": (
        lambda p, _: p.fact(ONE, "created", "2019", valid_from="2025", valid_until="2025"),
        ValidationError,
        "never changes",
    ),
    "an immutable property, cleared": (lambda p, _: p.fact(ONE, "created", None), ValidationError, "never changes"),
    "an immutable property, sealed": (
        lambda p, t: p.seal(t["open"], {"created": "2021"}),
        ValidationError,
        "never changes",
    ),
    "an immutable property in a batch": (
        batch(said(assertions=(Assertion(term("created"), Literal("2021")),))),
        ValidationError,
        "never changes",
    ),
    # The form of what is written by hand
    "an event without a type": (batch(said(event_type="")), ValidationError, "type"),
    "an event of a negative level": (batch(said(level=-1)), ValidationError, "level"),
    "an event of an unknown tier": (batch(said(tier=4)), ValidationError, "tier"),
    "a memory that ends before it begins": (
        batch(Memory("x", "note", NOON, until=NOON.plus(days=-1))),
        ValidationError,
        "cannot hold",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_and_nothing_has_changed(prism, case):
    act, error, says = CASES[case]
    project, number = prism.project("demo"), prism.commit_number
    before = content(prism)
    with pytest.raises(error, match=says) as caught:
        act(project, threads(prism))
    assert caught.value.rule
    assert caught.value.mend
    assert content(prism) == before
    assert prism.commit_number == number
    assert project.check() == []


def test_it_is_not_there_after_opening_again_either(tmp_path):
    with filled(tmp_path / "home") as prism:
        before = content(prism)
        for case in ("a second open draft", "an immutable property in a batch"):
            with pytest.raises(ValidationError):
                CASES[case][0](prism.project("demo"), threads(prism))
    with Prism.open(tmp_path / "home", exclusive=True, clock=CLOCK) as again:
        assert content(again) == before
        assert again.project("demo").fact(ONE, "status", "b").commit == again.commit_number
