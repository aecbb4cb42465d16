"""Updates within the limits of queries: the same change as without, whatever the terms; a WHERE that is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, NamedNode

from prism_rdf import Prism, QueryStopped, QueryTimeout
from prism_rdf.config import Limits

ENDLESS = (
    "INSERT { GRAPH <urn:g> { <urn:a> <urn:n> ?n } } WHERE { { SELECT (COUNT(*) AS ?n) "
    f"{{ {' '.join(f'?s{i} ?p{i} ?o{i} .' for i in range(16))} }} }} }}"  # of a few triples, and more rows than end
)
FILL = """
INSERT DATA {
  GRAPH <urn:g> {
    <urn:a> <urn:p> _:b , "tab\\t\\"quote\\" \\n" , "chat"@fr , 1 , 1.5 , 1e3 , true , "2026-01-01"^^<urn:own> .
    _:b <urn:p> _:c . _:c <urn:q> 2
  }
}
"""
CHANGES = [
    "DELETE { GRAPH <urn:g> { ?s <urn:p> ?o } } INSERT { GRAPH <urn:h> { ?s <urn:p2> ?o } } "
    "WHERE { GRAPH <urn:g> { ?s <urn:p> ?o } }",
    "DELETE WHERE { GRAPH <urn:g> { ?s <urn:p> ?b . ?b <urn:p> ?c . ?c <urn:q> ?n } }",
    "INSERT { GRAPH <urn:g> { ?s <urn:r> ?unbound . ?s <urn:r> 3 } } WHERE { GRAPH <urn:g> { ?s <urn:q> ?n } }",
    "INSERT { GRAPH <urn:g> { <urn:z> <urn:r> 4 } } WHERE { }",
    # the second operation reads what the first one wrote
    "INSERT DATA { GRAPH <urn:h> { <urn:y> <urn:p> 5 } } ; "
    "INSERT { GRAPH <urn:g> { ?s <urn:p3> ?o } } WHERE { GRAPH <urn:h> { ?s <urn:p> ?o } }",
    'DELETE { ?d prism:title ?t } INSERT { ?d prism:title "Two" } WHERE { ?d prism:number "ADR-1" ; prism:title ?t }',
]


@pytest.fixture
def prism(tmp_path: Path) -> Iterator[Prism]:
    with Prism.open(tmp_path / "home", exclusive=True) as prism:
        prism.project("demo").entity("ADR", {"number": "ADR-1", "title": "One"})
        yield prism


def _limits(timeout: float = 30.0) -> Limits:
    return Limits(timeout=timeout, longest=30.0, memory=600, workers=1, queue=0, size=64, rows=1, slow=5.0)


def _changed(home: Path, text: str, limits: Limits | None) -> tuple[set[str], object, tuple[str, ...]]:
    """Return the free graphs and the title after an update, and what its receipt notes."""
    with Prism.open(home, exclusive=True) as prism:
        prism.project("demo").entity("ADR", {"number": "ADR-1", "title": "One"})
        prism.update(FILL, pid="demo")
        if limits is not None:
            prism.limit_queries(limits)
        notes = prism.update(text, pid="demo").notes
        graphs = [NamedNode(each) for each in prism.free_graphs()]
        found = Dataset(quad for graph in graphs for quad in prism.store.quads_for_pattern(None, None, None, graph))
        found.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
        state = prism.project("demo").state_as_of("ADR-1")
        return {str(quad) for quad in found}, state["props"]["title"], notes


@pytest.mark.parametrize("text", CHANGES)
def test_a_worker_finds_what_this_process_does_and_nothing_is_cut(text: str, tmp_path: Path) -> None:
    within = _changed(tmp_path / "within", text, _limits())
    assert within == _changed(tmp_path / "without", text, None)


def test_a_where_without_end_is_stopped_and_lets_other_writers_go_on(prism: Prism) -> None:
    prism.limit_queries(_limits(timeout=0.5))
    commit, began = prism.commit_number, time.monotonic()
    with pytest.raises(QueryTimeout):
        prism.update(ENDLESS, pid="demo")
    assert time.monotonic() - began < 5
    assert prism.commit_number == commit
    assert prism.free_graphs() == []
    prism.limit_queries(_limits())
    prism.update("INSERT { GRAPH <urn:g> { ?d <urn:t> 1 } } WHERE { ?d prism:number 'ADR-1' }", pid="demo")
    assert prism.free_graphs() == ["urn:g"]


def test_a_where_is_listed_and_stopped_as_queries_are_and_waits_for_none(prism: Prism) -> None:
    prism.limit_queries(_limits())
    waiting = prism.sparql("SELECT * { ?s ?p ?o }", timeout=30)  # the only place there is
    ended: list[BaseException] = []

    def write() -> None:
        try:
            prism.update(ENDLESS, pid="demo")
        except QueryStopped as error:
            ended.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(200):
        found = [each for each in prism.running() if each["dataset"] == "update" and each["state"] == "running"]
        if found:
            break
        time.sleep(0.05)
    (one,) = found
    prism.stop_query(one["id"])
    writer.join(10)
    assert [type(error) for error in ended] == [QueryStopped]
    waiting.close()
    assert prism.commit_number == 1
