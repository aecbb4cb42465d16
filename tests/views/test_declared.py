"""A dataset that is declared by a request or by FROM: of the world's graphs and free ones, and refused otherwise."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from prism_rdf.errors import BadArgument, RefusedError
from prism_rdf.prism import Prism

CURRENT = "urn:prism:default/demo/graph/current"
OTHER = "urn:prism:default/other/graph/current"
TITLES = "SELECT ?title {from} {{ ?adr prism:title ?title }}"
IN_GRAPHS = "SELECT ?title {from} {{ GRAPH ?graph {{ ?adr prism:title ?title }} }}"


@pytest.fixture(scope="module")
def prism() -> Iterator[Prism]:
    with Prism.in_memory() as store:
        for pid in ("demo", "other"):
            store.project(pid).entity(
                "ADR", {"number": "ADR-1", "title": f"of {pid}", "status": "Accepted"}, valid_from="2025-01-01"
            )
        yield store


def titles(prism: Prism, query: str = TITLES, clause: str = "", **options: object) -> list[str]:
    answer = prism.sparql(query.format(**{"from": clause}), **options)  # type: ignore[arg-type]
    return sorted(row[0].value for row in answer.rows())


@pytest.mark.parametrize("options", [{}, {"as_of": "2025-06-01"}, {"dataset": "raw"}], ids=["now", "past", "raw"])
def test_the_default_graph_is_the_one_declared(prism: Prism, options: dict[str, str]) -> None:
    assert titles(prism, clause=f"FROM <{CURRENT}>", **options) == ["of demo"]
    assert titles(prism, default_graphs=[OTHER], **options) == ["of other"]
    assert titles(prism, default_graphs=[CURRENT, OTHER], **options) == ["of demo", "of other"]
    assert titles(prism, clause=f"FROM <{CURRENT}>", default_graphs=[OTHER], **options) == ["of other"]


@pytest.mark.parametrize("options", [{}, {"as_of": "2025-06-01"}, {"dataset": "raw"}], ids=["now", "past", "raw"])
def test_named_graphs_are_those_declared_and_the_default_graph_is_empty_then(
    prism: Prism, options: dict[str, str]
) -> None:
    assert titles(prism, IN_GRAPHS, f"FROM NAMED <{OTHER}>", **options) == ["of other"]
    assert titles(prism, IN_GRAPHS, named_graphs=[CURRENT], **options) == ["of demo"]
    assert titles(prism, named_graphs=[CURRENT], **options) == []
    assert titles(prism, IN_GRAPHS, default_graphs=[CURRENT], **options) == []


def test_a_free_graph_may_be_declared_of_the_present_only(prism: Prism) -> None:
    assert titles(prism, default_graphs=["urn:my:graph"]) == []
    with pytest.raises(RefusedError, match="not in this dataset") as refused:
        titles(prism, default_graphs=["urn:my:graph"], as_of="2025-06-01")
    assert "no past" in refused.value.rule


@pytest.mark.parametrize(
    "graph",
    [
        "urn:prism:default/demo/graph/temporal",
        "urn:prism:default/-/graph/meta",
        "urn:prism:default/demo/state/1",
        OTHER,
    ],
)
def test_what_is_not_of_the_world_of_a_project_is_refused(prism: Prism, graph: str) -> None:
    for options in ({"default_graphs": [graph]}, {"named_graphs": [graph]}, {"clause": f"FROM NAMED <{graph}>"}):
        with pytest.raises(RefusedError, match="not in this dataset"):
            titles(prism, pid="demo", **options)  # type: ignore[arg-type]


def test_an_iri_that_is_written_in_escapes_reaches_nothing_more(prism: Prism) -> None:
    hidden = OTHER.replace("other", "\\u006fther")
    with pytest.raises(RefusedError, match=f"the graph <{OTHER}> is not in this dataset"):
        titles(prism, clause=f"FROM <{CURRENT}> FROM <{hidden}>", pid="demo")


def test_an_iri_that_is_none_is_told(prism: Prism) -> None:
    with pytest.raises(BadArgument, match="not the IRI of a graph"):
        titles(prism, default_graphs=["not an iri"])
