"""What the random machine says to the store: times, properties, batches; and how the naive model reads them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from math import inf

from hypothesis import strategies as st
from naive_history import SECOND, Happened, Moment, Said, micros
from pyoxigraph import Literal, NamedNode

from prism_rdf.belief import END_RECORDED_AT, RECORDED_AT
from prism_rdf.clock import Edge, Instant
from prism_rdf.errors import BadArgument, BadTime, PrismError, ValidationError
from prism_rdf.model import RETIRED, Alias, Assertion, Event, Reference
from prism_rdf.namespaces import prism as term
from prism_rdf.temporal.tail import FRONTIER

MULTI = {"tags"}
IDENTITY = {"type", "uuid", "tenant", "namespace", "createdAt"}
TYPE = {name: NamedNode(f"https://w3id.org/prism-rdf/type#{name}") for name in ("Location", "Component")}
KIND = "RELATES_TO"
NINE_HOURS = timedelta(hours=9)


def instant(given, at):
    return Moment(given, at, at)


MOMENTS = [
    *(Moment(f"2026-01-0{d}", micros(2026, 1, d), micros(2026, 1, d + 1), "day") for d in range(1, 6)),
    Moment(date(2026, 1, 4), micros(2026, 1, 4), micros(2026, 1, 5), "day"),
    Moment("2025-12", micros(2025, 12), micros(2026), "month"),
    Moment("2026-01", micros(2026), micros(2026, 2), "month"),
    Moment("2025", micros(2025), micros(2026), "year"),
    Moment("2026", micros(2026), micros(2027), "year"),
    Moment("-0043", micros(-43), micros(-42), "year"),
    Moment("-0043-02", micros(-43, 2), micros(-43, 3), "month"),
    Moment("-0043-03-15", micros(-43, 3, 15), micros(-43, 3, 16), "day"),
    instant("2026-01-03T00:00:00Z", micros(2026, 1, 3)),
    instant("2026-01-03T01:00:00+01:00", micros(2026, 1, 3)),
    instant("2026-01-01T19:00:00-05:00", micros(2026, 1, 2)),
    instant("2026-01-03T05:30:00.5+05:30", micros(2026, 1, 3) + SECOND // 2),
    instant(datetime(2026, 1, 5, 9, tzinfo=timezone(NINE_HOURS)), micros(2026, 1, 5)),
    instant(Instant(micros(2026, 1, 4) + 1), micros(2026, 1, 4) + 1),
    Moment("2026-06-03", micros(2026, 6, 3), micros(2026, 6, 4), "day"),
    Moment("2026-07", micros(2026, 7), micros(2026, 8), "month"),
    instant("2027-01-01T00:00:00+09:00", micros(2027) - 9 * 3600 * SECOND),
]
GIVEN = [
    *({"status": value} for value in ("a", "b", "c", None)),
    *({"tags": value} for value in (["x"], ["y"], ["x", "y"], [], None)),
    *({"name": value} for value in ("n", "m", None)),
    {"status": "a", "tags": ["y"]},
    {"name": "m", "status": "b"},
    {"name": None, "status": None, "tags": None},
]
FIXED = [{"created": "2020"}, {"created": "2021"}]
TYPED = {"Location": [{"port": 80}, {"port": 443}, {"port": None}], "Component": [{"location": 0}, {"location": None}]}

index = st.integers(0, 99)
starts = st.one_of(st.none(), st.sampled_from(MOMENTS), st.sampled_from(MOMENTS))
ends = st.one_of(st.none(), st.none(), st.sampled_from(MOMENTS))
spans = st.sampled_from([None, MOMENTS[0], MOMENTS[-1]])  # few, so that the same is often said with another end
batches = st.lists(
    st.tuples(
        index,
        starts,
        st.integers(0, 2),
        st.integers(0, 1),
        st.lists(st.tuples(st.sampled_from(["status", "tags"]), index, starts, ends), min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=4,
)
BAD = [
    ("naive time", lambda p, e: p.fact(e, "status", "a", valid_from="2026-01-01T00:00:00"), BadTime),
    ("no such property", lambda p, e: p.fact(e, "title", "a"), ValidationError),
    ("wrong datatype", lambda p, e: p.fact(e, "status", 7), ValidationError),
    ("two values of one", lambda p, e: p.fact(e, "status", ["a", "b"]), BadArgument),
    ("no such entity", lambda p, e: p.fact(e.replace(e[:4], "beef"), "status", "a"), PrismError),
    ("no such event", lambda p, e: p.retract("urn:x:none"), PrismError),
    ("no such commit", lambda p, e: p.revert(10_000), PrismError),
    ("no such draft", lambda p, e: p.seal("00000000-0000-4000-8000-000000000000"), PrismError),
    ("not allowed between these", lambda p, e: p.reference(e, e, "IMPLEMENTS"), ValidationError),
]


def spoken(given, start, until, level=0, sequence=0):
    """Return what properties given to a verb say, as the model takes it; the event has no name yet."""
    told = []
    for prop, value in given.items():
        if value is None or prop in MULTI:
            told.append((prop, None, "clear"))
        if value is not None:
            told += [(prop, str(each), "add" if prop in MULTI else "set") for each in listed(value)]
    return tuple(Said("?", prop, value, op, start, until, level, sequence) for prop, value, op in told)


def listed(value):
    return value if isinstance(value, list) else [value]


def plain(value):
    return value["ref"] if isinstance(value, dict) else str(value)


def held(state):
    """Return the properties of State JSON as the model has them; None where nothing held."""
    if state["state"] is None:
        return None
    return {name: {plain(each) for each in listed(value)} for name, value in state["props"].items()}


def laid_over(draft, given):
    """Return the properties of a draft with those that are given laid over them."""
    said = {prop: {str(each) for each in listed(value)} for prop, value in given.items() if value is not None}
    return {
        prop: values for prop, values in {**draft, **{prop: said.get(prop, set()) for prop in given}}.items() if values
    }


def named(event, name):
    """Return an event of the model with its name in all that it says."""
    return replace(event, said=tuple(replace(each, event=name) for each in event.said))


def drawn_event(entity, drawn, name, number):
    """Return the event of the model that a batch draws; an assertion may have a start of its own."""
    _, at, level, sequence, assertions = drawn
    told = []
    for prop, choice, start, until in assertions:
        op = (["add", "remove", "clear"] if prop in MULTI else ["set", "set", "clear"])[choice % 3]
        value = None if op == "clear" else "xyz"[choice % 2]
        begins = (start if choice % 4 == 0 and start else at) or None
        edges = begins.first if begins else -inf, until.after if until else inf
        told.append(Said(name, prop, value, op, *edges, level, sequence))
    precision = at.precision if at else "instant"
    return Happened(entity, "batch", at.first if at else -inf, precision, tuple(told), "", number)


def to_assertion(said):
    values = {"port": int, "retired": "true".__eq__, "location": NamedNode}
    value = None if said.value is None else values.get(said.prop, str)(said.value)
    bounds = (None if abs(edge) == inf else Instant(int(edge)) for edge in (said.start, said.until))
    as_term = value if value is None or isinstance(value, NamedNode) else Literal(value)
    return Assertion(RETIRED if said.prop == "retired" else term(said.prop), as_term, said.op, *bounds)


def to_event(name, event):
    rank = event.said[0] if event.said else Said("", "", "", "", 0, 0)
    return Event(
        entity=event.entity,
        event_type=event.kind,
        at=None if event.start == -inf else Edge(Instant(int(event.start)), event.precision),
        assertions=tuple(to_assertion(said) for said in event.said),
        uuid=name.rsplit("/", 1)[-1],
        source=event.source,
        sequence=rank.sequence,
        level=rank.level,
        props_drift=event.drift,
    )


def to_span(span):
    bounds = {"start": None if span.start == -inf else Instant(int(span.start))}
    bounds["until"] = None if span.until == inf else Instant(int(span.until))
    layer, first, second = span.name
    if layer == "alias":
        return Alias(span.entity, first, second, **bounds)
    return Reference(span.entity, second.rsplit("/", 1)[-1], term(first), **bounds)


def believed_quads(prism):
    """Return what is believed now of all but drafts, system time and what was believed earlier left out."""
    quads = list(prism.store.quads_for_pattern(None, None, None))
    gone = {q.subject for q in quads if q.predicate in (term("withdrawnAt"), term("draftThread"), term("touchedAt"))}
    gone |= {q.object for q in quads if q.predicate == term("earlierBelief")}
    gone |= {q.object for q in quads if q.predicate == term("assertion") and q.subject in gone}
    system = {RECORDED_AT, END_RECORDED_AT, term("earlierBelief"), term("createdAt"), FRONTIER}
    return {
        q
        for q in quads
        if q.predicate not in system
        and not {q.subject, q.object, q.graph_name} & gone
        and "/-/" not in q.graph_name.value
    }
