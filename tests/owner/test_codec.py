"""What crosses the wire arrives as it was: values, intents, errors, and nothing that was never sent."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from types import MappingProxyType
from typing import Any, get_args

import pytest
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from prism_rdf import model
from prism_rdf.clock import Edge, Instant
from prism_rdf.errors import AmbiguousError, BadArgument, BadQuery, PrismError, Violation
from prism_rdf.errors import ValidationError as Refused
from prism_rdf.namespaces import XSD
from prism_rdf.owner import codec
from prism_rdf.owner.wire import dumps, loads
from prism_rdf.storage.changelog import LoggedChange

P, Q = NamedNode("urn:p"), NamedNode("urn:ü")
AT = Instant(-62_198_755_200_000_001)
ASSERTION = model.Assertion(P, Literal("1", datatype=NamedNode(XSD + "integer")), "add", AT, None)
TERMS = (
    NamedNode("urn:ü"),
    Literal("text"),
    Literal("Haus", language="de"),
    Literal("1.50", datatype=NamedNode(XSD + "decimal")),
    Literal('line\n"quoted"\\\t\x00'),
    BlankNode("b1"),
    Triple(P, P, Literal("x")),
    Quad(P, P, Triple(P, P, Q), Q),
    Quad(P, P, Literal("x"), DefaultGraph()),
)
VALUES = (
    None,
    True,
    0,
    -(10**30),
    1.5,
    "",
    "ü\n\x00\ud800",
    [1, ["a", None]],
    {"a": {"b": [1]}},
    AT,
    Edge(AT, "day"),
    date(2025, 1, 2),
    datetime(2025, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
    datetime(2025, 1, 2, tzinfo=timezone(timedelta(hours=-3))),
    datetime(2025, 1, 2),
    Decimal("1.50"),
    b"\x00\xff",
    *TERMS,
)
INTENTS = (
    model.NewEntity("u", P, "m"),
    model.Event("u", "rename", Edge(AT, "year"), (ASSERTION, model.Assertion(P, None, "clear")), tier=2, level=1),
    model.Event("u", "created", None, (), props_drift=False),
    model.Alias("u", "Prism\u00a0GR", "synonym", 3, start=AT),
    model.Reference("a", "b", P, AT, None, 2, "doc", "sha"),
    model.Memory("text", "note", AT, about=("u", "v"), mentions=("entity:u",), heading="h"),
    model.DraftVersion("u", "t", {P: (Literal("a"), Q), Q: ()}, AT, "working_tree"),
    model.DraftEnd("u", "t", AT, "discarded"),
    model.Merge("a", "b", 2, "m", "doc", "the same"),
    model.Difference("a", "b", 2, "doc", "two of them"),
    model.Bookmark("git:abc", "digest", "sha", '{"documents": 3}'),
    model.TypeText("risks.ttl", "@prefix : <urn:x#> .\n", "risks.ttl"),
    model.TypeText("risks.ttl", None),
    model.Withdrawal(P, "u"),
    model.Candidate(model.Fact("u", P, (Literal("a"), Q), "add", Edge(AT, "day"), AT), model.Clue("q", confidence=0.5)),
    model.Candidate(model.Alias("u", "Prism"), undated=True),
    model.Evidence("u", P, Literal("a"), model.Clue("q", "doc", 1, 4), "contradicts", 2, AT, None),
    model.FreeChange((Quad(P, P, Literal("a"), Q),), (), (Q,), (P,)),
    model.Ruling("u", "promoted", "ada", edited=("value",), applied=P),
)


@pytest.mark.parametrize("value", [*VALUES, *INTENTS], ids=lambda value: type(value).__name__)
def test_a_value_arrives_as_it_was(value: Any) -> None:
    found = loads(dumps({"value": [value]}))["value"][0]
    assert found == value
    assert type(found) is type(value)


def test_every_kind_of_intent_was_tried() -> None:
    assert {type(intent) for intent in INTENTS} == set(get_args(model.Intent))


def test_answers_arrive_as_they_were() -> None:
    quads = (Quad(P, P, Literal("x", language="en"), Q), Quad(BlankNode("b"), P, Q, Q))
    change = LoggedChange(3, AT, "demo", "fact", quads, ())
    receipt = model.Receipt(3, AT, ("urn:e",), ("note",), True)
    assert loads(dumps([change, receipt])) == [change, receipt]


def test_what_is_like_a_list_or_a_mapping_becomes_one() -> None:
    assert loads(dumps([(1, 2), iter([3]), frozenset({4})])) == [[1, 2], [3], [4]]
    assert loads(dumps(MappingProxyType({"a": 1}))) == {"a": 1}


@pytest.mark.parametrize("value", [object(), {P: 1}, {"$prism": "no such kind", "v": 1}, print])
def test_what_has_no_form_is_refused(value: Any) -> None:
    with pytest.raises(BadArgument):
        loads(dumps([value]))


ERRORS = (
    BadArgument("a", rule="b", mend="c"),
    BadQuery("a", line=2, column=3),
    AmbiguousError("a", candidates=[{"uuid": "u", "why": "w"}]),
    Refused([Violation("n", "p", "v", "s", "m", "d"), Violation("n", "p", "v", "s", "m")]),
    PrismError("a", node="n"),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_arrives_as_it_was(error: PrismError) -> None:
    found = codec.error_of(loads(dumps(codec.error_json(error))))
    assert type(found) is type(error)
    assert vars(found) == vars(error)
    assert (str(found), found.as_dict()) == (str(error), error.as_dict())


def test_an_error_of_an_unknown_class_is_still_an_error() -> None:
    body = codec.error_json(BadArgument("a", rule="b")) | {"class": "os.system"}
    found = codec.error_of(body)
    assert (type(found), found.rule) == (PrismError, "b")
