"""What a foreign hand wrote past the gate is found by `check`, whatever node it is about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyoxigraph import Literal, NamedNode, Quad
from whole_stores import START, fill

from prism_rdf import Prism
from prism_rdf.clock import ManualClock
from prism_rdf.maintenance.fitting import unfit
from prism_rdf.namespaces import RDF_TYPE, Names
from prism_rdf.namespaces import prism as term
from prism_rdf.scopes import held_nodes

NAMES = Names("urn:prism:default", "demo")


@pytest.fixture
def filled() -> Iterator[Prism]:
    with Prism.in_memory(clock=ManualClock(START)) as prism:
        fill(prism)
        yield prism


def of_type(prism: Prism, kind: str, layer: str) -> NamedNode:
    found = prism.store.quads_for_pattern(None, RDF_TYPE, term(kind), NAMES.graph(layer))
    return min((quad.subject for quad in found if isinstance(quad.subject, NamedNode)), key=str)


def an_identity(prism: Prism) -> tuple[NamedNode, NamedNode]:
    quad = next(prism.store.quads_for_pattern(None, term("uuid"), None, NAMES.graph("canonical")))
    assert isinstance(quad.subject, NamedNode)
    return quad.subject, NAMES.graph("canonical")


def a_snapshot(prism: Prism) -> tuple[NamedNode, NamedNode]:
    quad = next(prism.store.quads_for_pattern(None, term("hasState"), None, NAMES.graph("temporal")))
    assert isinstance(quad.subject, NamedNode)
    assert isinstance(quad.object, NamedNode)
    return quad.subject, quad.object


PLACES = {
    "identity": (an_identity, "An identity carries a property that does not belong to it"),
    "states of an entity": (
        lambda prism: (an_identity(prism)[0], NAMES.graph("temporal")),
        "In the temporal graph an entity carries nothing but links to its states",
    ),
    "snapshot": (a_snapshot, "says something that"),
    **{
        name: (lambda prism, kind=kind, layer=layer: (of_type(prism, kind, layer), NAMES.graph(layer)), message)
        for name, kind, layer, message in (
            ("event", "SupersessionEvent", "temporal", "An event carries a property that no event has"),
            ("state", "State", "temporal", "The record of a state carries a property that no state has"),
            ("alias", "Alias", "semantic", "An alias carries a property that no alias has"),
            ("reference", "Reference", "semantic", "A reference carries a property that no reference has"),
            ("memory", "Memory", "memory", "A memory carries a property that no memory has"),
        )
    },
}


@pytest.mark.parametrize("place", PLACES)
def test_a_property_that_does_not_belong_to_a_node_is_found(filled: Prism, place: str) -> None:
    find, message = PLACES[place]
    node, graph = find(filled)
    assert filled.project("demo").check() == []
    filled.store.apply([Quad(node, term("colour"), Literal("blue"), graph)], [])
    (found,) = [each for each in filled.project("demo").check() if each["check"] == "breaks-a-shape"]
    assert found["entity"] == (graph if place == "snapshot" else node).value
    assert found["detail"].startswith('prism:colour "blue": ')
    assert message in found["detail"]
    assert not [each for each in filled.project("other").check() if each["check"] == "breaks-a-shape"]


def test_every_kind_of_node_is_held_against_its_shapes_once(filled: Prism) -> None:
    nodes = list(held_nodes(filled.store, NAMES))
    assert len(nodes) == len(set(nodes)) > 30
    layers = {graph.value.rpartition("/graph/")[2] for _, graph in nodes if "/graph/" in graph.value}
    assert {"canonical", "temporal", "semantic", "memory"} <= layers
    assert {"current", "tail"}.isdisjoint(layers)
    assert list(unfit(filled.store, NAMES)) == []
