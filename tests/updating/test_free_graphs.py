"""Free graphs under random updates: the same quads as Oxigraph makes of them, and again from the change log."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, DefaultGraph, Quad, Store

from prism_rdf import Prism
from prism_rdf.errors import IdempotencyConflict, RefusedError
from prism_rdf.storage.changelog import read_log
from prism_rdf.updating.pending import Pending
from prism_rdf.updating.scope import Scope

_GRAPHS = ("<urn:g1>", "<urn:g2>", "<urn:g3>")


def _held(store: Store) -> list[Quad]:
    return [q for q in store if isinstance(q.graph_name, DefaultGraph) or "urn:g" in q.graph_name.value]


def _same(one: list[Quad], other: list[Quad]) -> bool:
    canonical = []
    for quads in (one, other):
        dataset = Dataset(quads)
        dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
        canonical.append(dataset)
    return len(one) == len(other) and canonical[0] == canonical[1]


def _operation(rng: random.Random) -> str:
    """Return one operation that fails nowhere; the same text means the same to everybody."""
    node, other, number = f"<urn:n{rng.randint(1, 6)}>", f"<urn:n{rng.randint(1, 6)}>", rng.randint(1, 4)
    label = f"b{rng.randint(0, 1_000_000)}"  # of one operation alone
    graph, second = rng.choice(_GRAPHS), rng.choice(_GRAPHS)
    return rng.choice(
        [
            f"INSERT DATA {{ GRAPH {graph} {{ {node} <urn:p> {other}, {number}.50 ; <urn:q> 'x'@EN }} }}",
            f"INSERT DATA {{ {node} <urn:p> _:{label} . GRAPH {graph} {{ _:{label} <urn:q> {number} }} }}",
            f"DELETE DATA {{ GRAPH {graph} {{ {node} <urn:p> {other} }} }}",
            f"DELETE DATA {{ {node} <urn:p> {number} }}",
            f"DELETE WHERE {{ GRAPH {graph} {{ ?s <urn:p> {number}.5 }} }}",
            f"WITH {graph} DELETE {{ ?s <urn:p> ?o }} INSERT {{ ?s <urn:r> ?o, [ <urn:of> ?s ] }} "
            f"WHERE {{ ?s <urn:p> ?o FILTER(isLiteral(?o) || ?s = {node}) }}",
            f"INSERT {{ GRAPH {graph} {{ ?s ?p ?o }} ?o ?p ?s . ?s <urn:none> ?unbound }} "
            f"USING {second} WHERE {{ ?s ?p ?o FILTER(?s != {node}) }}",
            f"DELETE {{ GRAPH ?g {{ ?s <urn:r> ?o }} }} WHERE {{ GRAPH ?g {{ ?s <urn:r> ?o . {node} ?any ?thing }} }}",
            f"INSERT {{ GRAPH {graph} {{ ?s <urn:count> ?n }} }} "
            "WHERE { SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s }",
            f"COPY SILENT GRAPH {graph} TO GRAPH {second}",
            f"ADD SILENT DEFAULT TO GRAPH {graph}",
            f"ADD SILENT {graph} TO DEFAULT",
            f"MOVE SILENT GRAPH {graph} TO GRAPH {second}",
            f"CLEAR SILENT GRAPH {graph}",
            f"DROP SILENT GRAPH {graph}",
            f"CREATE SILENT GRAPH {graph}",
            "DROP DEFAULT" if rng.random() < 0.2 else "CREATE SILENT GRAPH <urn:g3>",
        ]
    )


def _requests(rng: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        yield " ;\n".join(_operation(rng) for _ in range(rng.randint(1, 3)))


@pytest.mark.parametrize("seed", range(3))
def test_random_updates_give_what_oxigraph_makes_of_them(seed: int) -> None:
    reference = Store()
    with Prism.in_memory(managed=False) as prism:
        for text in _requests(random.Random(seed), 25):
            reference.update(text)
            prism.update(text)
            assert _same(_held(prism.store._store), list(reference)), text
        names = {name.value for name in reference.named_graphs()}
        filled = {quad.graph_name.value for quad in reference if not isinstance(quad.graph_name, DefaultGraph)}
        assert filled <= set(prism.free_graphs()) <= names | filled


def test_a_store_on_disk_does_the_same_and_its_log_tells_it_again(tmp_path: Path) -> None:
    reference, seed = Store(), 99
    with Prism.open(tmp_path, exclusive=True, managed=False) as prism:
        for text in _requests(random.Random(seed), 12):
            reference.update(text)
            prism.update(text)
        held = _held(prism.store._store)
        graphs = prism.free_graphs()
        folder, last = prism.folder, prism.commit_number
        assert folder is not None
        assert not folder.trial.exists()
    assert _same(held, list(reference))
    told: set[Quad] = set()
    for change in read_log(folder.log):
        assert told.issuperset(change.removes) or change.removes[-1].predicate.value.endswith("lastCommit")
        told = (told - set(change.removes)) | set(change.adds)
    assert {quad for quad in told if quad in held} == set(held)
    with Prism.open(tmp_path, exclusive=True) as again:
        assert not again.managed
        assert again.commit_number == last
        assert (set(_held(again.store._store)), again.free_graphs()) == (set(held), graphs)


def test_a_commit_that_only_the_log_has_is_replayed_with_its_blank_nodes(tmp_path: Path) -> None:
    with Prism.open(tmp_path, exclusive=True) as prism:
        prism.update("INSERT DATA { GRAPH <urn:g1> { _:a <urn:p> _:b . _:b <urn:p> 1 } }")
        before = set(prism.store._store)
        prism.update("DELETE { GRAPH <urn:g1> { ?s <urn:p> 1 } } WHERE { GRAPH <urn:g1> { ?s <urn:p> 1 } }")
        after = set(prism.store._store)
        prism.store._store.clear()  # as if the machine had stopped between the log and the store
        prism.store._store.extend(before)
    with Prism.open(tmp_path, exclusive=True) as again:
        assert set(again.store._store) == after


def test_all_of_a_request_or_nothing() -> None:
    with Prism.in_memory() as prism:
        with pytest.raises(RefusedError):
            prism.update("INSERT DATA { GRAPH <urn:g1> { <urn:a> <urn:p> 1 } } ; CREATE GRAPH <urn:g1>")
        assert prism.commit_number == 0
        assert prism.free_graphs() == []


def test_a_prologue_may_stand_before_each_operation() -> None:
    with Prism.in_memory() as prism:
        prism.update(
            "BASE <http://example.org/> CREATE GRAPH <g> ;\n"
            "PREFIX g: <http://example.org/> INSERT DATA { GRAPH g:g { <s> g:p 1 } } ; ADD g:g TO <h> ;"
        )
        assert prism.free_graphs() == ["http://example.org/g", "http://example.org/h"]


def test_what_was_said_before_is_no_commit_and_a_key_is_used_once() -> None:
    text = "INSERT DATA { GRAPH <urn:g1> { <urn:a> <urn:p> 1 } }"
    with Prism.in_memory() as prism:
        first = prism.update(text, pid="demo", idempotency_key="k")
        assert (first.commit, first.notes) == (1, ("1 triple added, 0 removed",))
        assert prism.update(text, pid="demo").commit is None
        again = prism.update(text, pid="demo", idempotency_key="k")
        assert (again.commit, again.replayed) == (1, True)
        with pytest.raises(IdempotencyConflict):
            prism.update("CREATE GRAPH <urn:g2>", pid="demo", idempotency_key="k")
        assert prism.commit_number == 1


def test_a_free_graph_belongs_to_the_project_that_wrote_it_first() -> None:
    with Prism.in_memory() as prism:
        prism.update("CREATE GRAPH <urn:mine> ; CREATE GRAPH <urn:prism:default/demo/free/notes>", pid="demo")
        prism.update("CREATE GRAPH <urn:yours>", pid="other")
        assert prism.free_graphs("demo") == ["urn:mine", "urn:prism:default/demo/free/notes"]
        assert prism.free_graphs() == [*prism.free_graphs("demo"), "urn:yours"]
        prism.update("DROP GRAPH <urn:mine>", pid="demo")
        prism.update("CREATE GRAPH <urn:mine>", pid="other")
        assert prism.free_graphs("other") == ["urn:mine", "urn:yours"]


def test_an_update_of_a_project_reads_what_is_in_its_scope() -> None:
    count = "INSERT { GRAPH <urn:seen> { ?g <urn:holds> ?n } } WHERE { SELECT ?g (COUNT(*) AS ?n) %s GROUP BY ?g }"
    with Prism.in_memory() as prism:
        prism.update("INSERT DATA { GRAPH <urn:g1> { <urn:a> <urn:p> 1 } }", pid="demo")
        prism.update("INSERT DATA { GRAPH <urn:g2> { <urn:a> <urn:p> 1 } }", pid="other")
        prism.update(count % "{ GRAPH ?g { ?s ?p ?o } }", pid="demo")
        answer = prism.sparql("SELECT ?g { GRAPH <urn:seen> { ?g ?p ?n } }", pid="demo")
        assert [row[0].value for row in answer.rows()] == ["urn:g1"]


def test_too_much_is_refused() -> None:
    with Prism.in_memory(managed=False) as prism:
        pending = Pending(prism.store, Scope(prism.store, prism.base, None, (), managed=False), None, most=3)
        quads = _quads_of("<urn:a> <urn:p> 1, 2, 3, 4")
        with pytest.raises(RefusedError, match="more than 3 quads"):
            pending.change((), quads)


def _quads_of(triples: str) -> list[Quad]:
    store = Store()
    store.update(f"INSERT DATA {{ {triples} }}")
    return list(store)
