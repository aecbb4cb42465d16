"""The fold against the naive model, for any assertions in any order."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import naive_history as naive
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from prism_rdf.model import RETIRED
from prism_rdf.temporal.fold import Stated, fold
from prism_rdf.temporal.tail import frontier

PROPS = {name: NamedNode(f"urn:p:{name}") for name in ("status", "title", "tags", "notes")} | {"retired": RETIRED}
MULTI = {"tags", "notes"}
OPS = {"tags": ["add", "remove", "clear"], "notes": ["set", "add", "remove", "clear"]}  # notes: its type changed
INSTANTS = st.integers(min_value=0, max_value=12)


@st.composite
def assertions(draw):
    prop = draw(st.sampled_from(["status", "status", "title", "tags", "tags", "notes", "notes", "retired"]))
    start = draw(st.one_of(INSTANTS, st.just(-inf)))
    until = draw(st.one_of(INSTANTS, st.just(inf), st.just(inf)))
    op = draw(st.sampled_from(OPS.get(prop, ["set", "set", "set", "clear"])))
    value = draw(st.sampled_from(["true", "false"] if prop == "retired" else ["a", "b", "c"]))
    return naive.Said(
        event=f"e{draw(st.integers(0, 99))}",
        prop=prop,
        value=None if op == "clear" else value,
        op=op,
        start=start,
        until=until,
        level=draw(st.sampled_from([0, 0, 0, 1])),
        sequence=draw(st.sampled_from([0, 0, 1])),
    )


def stated(said):
    value = None if said.value is None else Literal(said.value)
    return Stated(said.event, PROPS[said.prop], value, said.op, said.start, said.until, said.level, said.sequence)


def held(piece):
    if piece is None or piece.void:
        return None
    names = {iri: name for name, iri in PROPS.items()}
    return {names[prop]: {term.value for term in values} for prop, values in piece.props.items()}


def piece_at(pieces, when):
    return next((piece for piece in pieces if piece.start <= when < piece.until), None)


@settings(max_examples=400, deadline=None)
@given(st.lists(assertions(), max_size=12))
def test_the_fold_is_what_the_naive_model_says_at_every_instant(said):
    said = [a for a in said if a.start < a.until]
    pieces = fold([stated(a) for a in said])
    for when in [-1, *range(14), 99]:
        assert held(piece_at(pieces, when)) == naive.at(said, when, MULTI)


@settings(max_examples=200, deadline=None)
@given(st.lists(assertions(), max_size=10), st.randoms())
def test_any_order_gives_the_same_pieces(said, random):
    shuffled = list(said)
    random.shuffle(shuffled)
    assert fold([stated(a) for a in said]) == fold([stated(a) for a in shuffled])


@settings(max_examples=200, deadline=None)
@given(st.lists(assertions(), max_size=12))
def test_pieces_have_no_gap_no_overlap_no_zero_length_and_no_equal_neighbours(said):
    pieces = fold([stated(a) for a in said])
    for before, after in pairwise(pieces):
        assert before.until == after.start
        assert before.start < before.until
        assert (before.void, before.props) != (after.void, after.props)
    if pieces:
        assert pieces[-1].until == inf
        assert not pieces[0].void
        assert all(piece.causes for piece in pieces)


def tag(event, value, start, until=inf, level=0):
    return naive.Said(event, "tags", value, "add", start, until, level)


@settings(max_examples=200, deadline=None)
@given(st.lists(assertions(), max_size=8), st.lists(assertions(), max_size=6))
@example([tag("e1", "x", 0, level=1), tag("e2", "x", 0, 5)], [tag("e3", "y", 3, 5)])
def test_what_the_frontier_leaves_out_would_change_no_piece_from_there_on(old, later):
    """The store appends like this, one event at a time: it keeps what can still matter, and folds that with the new."""
    whole = kept = [stated(a) for a in old]
    pieces = fold(kept)
    for said in later:
        since = pieces[-1].start if pieces else inf
        if said.start <= since:
            continue
        whole, kept = [*whole, stated(said)], [*frontier(kept, since), stated(said)]
        pieces = fold(kept, since)
        assert pieces[1:] == tuple(piece for piece in fold(whole) if piece.start > since)


def one(event, value, start, until=inf, **rank):
    return Stated(event, PROPS["status"], Literal(value), "set", start, until, **rank)


CASES = [
    ("a late document about March leaves May alone", [one("may", "M", 5), one("march", "L", 3)], 6, "M"),
    ("a bounded assertion shows again what still covers", [one("base", "B", 0), one("span", "S", 2, 4)], 4, "B"),
    ("inside its span the bounded assertion holds", [one("base", "B", 0), one("span", "S", 2, 4)], 3, "S"),
    ("a correction outranks by being one", [one("fix", "F", 1, level=1), one("later", "L", 5)], 6, "F"),
    ("of one instant the source's order decides", [one("z", "1", 3, sequence=1), one("a", "2", 3, sequence=2)], 3, "2"),
    ("an unknown start reaches back", [one("ever", "E", -inf), one("then", "T", 3)], -1000, "E"),
]


@pytest.mark.parametrize(("why", "said", "when", "value"), CASES, ids=[case[0] for case in CASES])
def test_rank(why, said, when, value):
    piece = piece_at(fold(said), when)
    assert piece.props[PROPS["status"]] == (Literal(value),), why


def test_only_reopen_ends_a_retirement():
    retire = Stated("r", RETIRED, Literal("true"), "set", 2, inf)
    later = one("later", "L", 5)
    reopen = Stated("o", RETIRED, Literal("false"), "set", 7, inf)
    pieces = fold([one("first", "F", 0), retire, later, reopen])
    assert [(p.start, p.until, p.void) for p in pieces] == [(0, 2, False), (2, 7, True), (7, inf, False)]
    assert pieces[2].props[PROPS["status"]] == (Literal("L"),)
    assert pieces[2].causes == ("o",)


def test_blame_names_the_event_that_set_the_value():
    pieces = fold([one("base", "B", 0), one("span", "S", 2, 4)])
    assert [piece.setters[PROPS["status"]] for piece in pieces] == [("base",), ("span",), ("base",)]
    assert [piece.causes for piece in pieces] == [("base",), ("span",), ("span",)]
