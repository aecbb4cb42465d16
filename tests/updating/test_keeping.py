"""Free graphs through backup, restore, export, import and forgetting, and through a kill in the middle of updates."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, DefaultGraph, NamedNode

from prism_rdf import Prism
from prism_rdf.errors import RefusedError

FILL = """
INSERT DATA {
  GRAPH <urn:mine> { <urn:a> <urn:p> _:b . _:b <urn:q> 1 }
  GRAPH <urn:prism:default/demo/free/notes> { <urn:x> <urn:about> "hello" }
}
"""


def _free(prism: Prism) -> Dataset:
    graphs = [NamedNode(each) for each in prism.free_graphs()] + ([] if prism.managed else [DefaultGraph()])
    found = Dataset(quad for graph in graphs for quad in prism.store.quads_for_pattern(None, None, None, graph))
    found.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A store with free graphs of two projects, one of which lost a statement in its last commit."""
    with Prism.open(tmp_path / "home", exclusive=True) as prism:
        prism.project("demo").entity("ADR", {"number": "ADR-1", "title": "A secret thing"})
        prism.update(FILL, pid="demo")
        prism.update("INSERT DATA { GRAPH <urn:yours> { <urn:a> <urn:p> 1 } }", pid="other")
        prism.update("DELETE WHERE { GRAPH <urn:mine> { ?s <urn:q> ?o } }", pid="demo")
    return tmp_path / "home"


def test_backup_and_restore_also_to_an_earlier_commit(home: Path, tmp_path: Path) -> None:
    with Prism.open(home, exclusive=True) as prism:
        prism.backup(tmp_path / "backup")
        held, graphs = _free(prism), prism.free_graphs()
    Prism.restore(tmp_path / "backup", tmp_path / "whole")
    with Prism.open(tmp_path / "whole", exclusive=True) as whole:
        assert (_free(whole), whole.free_graphs()) == (held, graphs)
    Prism.restore(tmp_path / "backup", tmp_path / "earlier", at=2)
    with Prism.open(tmp_path / "earlier", exclusive=True) as earlier:
        assert earlier.free_graphs() == ["urn:mine", "urn:prism:default/demo/free/notes"]
        assert len(_free(earlier)) == 3


def test_export_and_import_of_all_and_of_one_project(home: Path, tmp_path: Path) -> None:
    with Prism.open(home, exclusive=True) as prism:
        prism.export(tmp_path / "all.trig")
        prism.export(tmp_path / "demo.nq", "nquads", "demo")
        held, graphs = _free(prism), prism.free_graphs()
    Prism.import_(tmp_path / "all.trig", tmp_path / "whole")
    with Prism.open(tmp_path / "whole", exclusive=True) as whole:
        assert (_free(whole), whole.free_graphs()) == (held, graphs)
    Prism.import_(tmp_path / "demo.nq", tmp_path / "part")
    with Prism.open(tmp_path / "part", exclusive=True) as part:
        assert part.free_graphs() == ["urn:mine", "urn:prism:default/demo/free/notes"]
        assert len(_free(part)) == 2


def test_what_is_forgotten_is_in_no_free_graph(home: Path) -> None:
    with Prism.open(home, exclusive=True) as prism:
        entity = prism.project("demo").resolve("ADR-1")
        said = f'{entity} <urn:p> "x" . <urn:k> <urn:p> "of A secret thing", _:kept'
        prism.update(f"INSERT DATA {{ GRAPH <urn:mine> {{ {said} }} }}", pid="demo")
        prism.project("demo").forget("ADR-1")
        assert sorted(str(quad.subject) for quad in _free(prism) if str(quad.graph_name) == "<urn:mine>") == [
            "<urn:a>",
            "<urn:k>",
        ]
        prism.update("INSERT DATA { GRAPH <urn:mine> { <urn:l> <urn:p> 1 } }", pid="demo")


def test_the_log_names_the_entities_whose_history_changed_and_not_those_that_free_graphs_name(home: Path) -> None:
    with Prism.open(home, exclusive=True) as prism:
        last = prism.commit_number
        prism.update("COPY DEFAULT TO <urn:world>", pid="demo")
        prism.update('INSERT { ?d prism:status "S" } WHERE { ?d prism:number "ADR-1" }', pid="demo")
        named = [str(each["entities"]).count("entity/") for each in prism.log(last)]
        assert named == [0, 1]


def test_an_unmanaged_store_is_one_wherever_it_goes(tmp_path: Path) -> None:
    with Prism.open(tmp_path / "home", exclusive=True, managed=False) as prism:
        prism.update("INSERT DATA { <urn:a> <urn:p> _:b . GRAPH <urn:g> { <urn:a> <urn:p> 1 } }")
        with pytest.raises(RefusedError, match="no entities"):
            prism.project("demo").entity("ADR", {"title": "One"})
        prism.export(tmp_path / "all.trig")
        prism.backup(tmp_path / "backup")
        held = _free(prism)
    Prism.import_(tmp_path / "all.trig", tmp_path / "imported")
    Prism.restore(tmp_path / "backup", tmp_path / "restored")
    Prism.restore(tmp_path / "backup", tmp_path / "replayed", at=1)
    for name in ("imported", "restored", "replayed"):
        with Prism.open(tmp_path / name, exclusive=True) as again:
            assert (again.managed, _free(again)) == (False, held)
    with Prism.open(tmp_path / "managed", exclusive=True):
        pass
    with pytest.raises(RefusedError, match="unmanaged"):
        Prism.import_(tmp_path / "all.trig", tmp_path / "managed")


_WRITER = """
import sys
from prism_rdf import Prism
with Prism.open(sys.argv[1], exclusive=True) as prism:
    for number in range(int(sys.argv[2]), 10_000):
        node = f"<urn:n{number % 20}>"
        receipt = prism.update(
            f"INSERT DATA {{ GRAPH <urn:g> {{ {node} <urn:p> {number} ; <urn:q> [ <urn:of> {number} ] }} }} ;"
            f"DELETE {{ GRAPH <urn:g> {{ ?s <urn:p> ?o }} }} INSERT {{ GRAPH <urn:old> {{ ?s <urn:p> ?o }} }} "
            f"WHERE {{ GRAPH <urn:g> {{ ?s <urn:p> ?o FILTER(?o < {number - 10}) }} }}",
            pid="demo",
        )
        print(receipt.commit, flush=True)
"""


@pytest.mark.slow
def test_a_kill_loses_nothing_that_was_acknowledged_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    acknowledged = 0
    for turn in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path / "home"), str(acknowledged)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout is not None
        for _ in range(3 + 5 * turn):
            acknowledged = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        rest = writer.communicate()[0].split()
        acknowledged = int(rest[-1]) if rest and rest[-1].isdecimal() else acknowledged
        with Prism.open(tmp_path / "home", exclusive=True) as prism:
            last = prism.commit_number
            assert last in (acknowledged, acknowledged + 1)
            assert prism.folder is not None
            assert not prism.folder.trial.exists()
            held = {*prism.store.quads_for_pattern(None, None, None, NamedNode("urn:g"))}
            assert len([quad for quad in held if quad.predicate == NamedNode("urn:of")]) == last
            of_numbers = {
                int(quad.object.value)
                for graph in ("urn:g", "urn:old")
                for quad in prism.store.quads_for_pattern(None, NamedNode("urn:p"), None, NamedNode(graph))
            }
            assert of_numbers == set(range(last))
            told: set[object] = set()
            for change in prism.changes(0):
                told = (told - set(change.removes)) | set(change.adds)
            assert {quad for quad in told if str(getattr(quad, "graph_name", "")) == "<urn:g>"} == held
            acknowledged = last
