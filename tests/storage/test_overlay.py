"""A store as it will be, and one that is read once, answer every pattern as the store itself would."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, Store

from prism_rdf.storage.overlay import Overlay
from prism_rdf.storage.read_once import ReadOnce

NODES = [NamedNode(f"urn:{name}") for name in "abc"]
QUADS = [
    Quad(*each)
    for each in product(NODES[:2], NODES[:2], [*NODES[:2], Literal("x")], NODES[1:])  # type: ignore[arg-type]
]
PATTERNS = list(product([None, *NODES[:2]], [None, *NODES[:2]], [None, *NODES[:2], Literal("x")], [None, *NODES]))
some = st.lists(st.sampled_from(QUADS), unique=True)


def filled(quads) -> Store:
    store = Store()
    store.extend(quads)
    return store


@given(held=some, adds=some, more=some, removes=some)
def test_an_overlay_is_the_store_after_the_change(held, adds, more, removes):
    overlay = Overlay(filled(held), adds, removes)
    overlay.extend(more, [])
    after = filled([*(quad for quad in held if quad not in removes), *adds, *more])
    for pattern in PATTERNS:
        found = list(overlay.quads_for_pattern(*pattern))
        assert len(found) == len(set(found))
        assert set(found) == set(after.quads_for_pattern(*pattern))


@given(held=some, order=st.permutations(PATTERNS))
def test_what_is_read_once_says_what_the_store_says_in_whatever_order_it_is_asked(held, order):
    store = filled(held)
    reading = ReadOnce(store)
    for pattern in (*order, *order):
        assert set(reading.quads_for_pattern(*pattern)) == set(store.quads_for_pattern(*pattern))


def test_what_was_read_is_not_read_again():
    store = filled(QUADS[:1])
    reading = ReadOnce(store)
    quad = QUADS[0]
    assert list(reading.quads_for_pattern(quad.subject, None, None, quad.graph_name)) == [quad]
    store.remove(quad)
    assert list(reading.quads_for_pattern(quad.subject, None, None, quad.graph_name)) == [quad]
    assert list(reading.quads_for_pattern(quad.subject, quad.predicate, None, quad.graph_name)) == [quad]


def test_of_a_new_node_nothing_is_read():
    store = filled(QUADS)
    reading = ReadOnce(store)
    assert not reading.is_new(NODES[0], NODES[1])
    reading.take_as_new(NODES[:1])
    assert reading.is_new(NODES[0], NODES[1])
    assert list(reading.quads_for_pattern(NODES[0], None, None, NODES[1])) == []
    assert list(reading.quads_for_pattern(None, NODES[1], NODES[0], NODES[1])) == []
    missing = NamedNode("urn:nothing")
    assert list(reading.quads_for_pattern(missing, None, None, NODES[1])) == []
    assert reading.is_new(missing, NODES[1])
    assert not reading.is_new(missing, NODES[2])
