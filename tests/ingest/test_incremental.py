"""However a history is cut into runs and batches, and wherever a run is stopped, the same graph comes of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from prism_rdf import Prism
from prism_rdf.ingest import ingestion, taking


def believed(prism: Prism) -> set[tuple[str, ...]]:
    """Return what holds now and held at any time, as it is believed now, with the memories."""
    project = prism.project("demo")
    found = {
        (
            state["uuid"],
            str(state["valid_from"]),
            str(state["valid_until"]),
            str(sorted(map(str, state["props"].items()))),
        )
        for uuid in _entities(prism)
        for state in project.history(uuid)
    }
    for layer, what in (("semantic", "referenceKind"), ("semantic", "surfaceForm"), ("memory", "content")):
        rows = prism.sparql(
            f"""SELECT ?node ?what ?from ?until {{ GRAPH {project.names.graph(layer)} {{ ?node prism:{what} ?what .
            OPTIONAL {{ ?node prism:validFrom ?from }} OPTIONAL {{ ?node prism:validUntil ?until }}
            FILTER NOT EXISTS {{ ?node prism:withdrawnAt ?gone }} }} }}""",
            dataset="raw",
        ).rows()
        found |= {tuple(map(str, row)) for row in rows}
    return found


def _entities(prism: Prism) -> Iterator[str]:
    names = prism.project("demo").names
    query = f"SELECT ?uuid {{ GRAPH {names.graph('canonical')} {{ ?entity prism:uuid ?uuid }} }}"
    return (row[0].value for row in prism.sparql(query, dataset="raw").rows())


@pytest.fixture
def stores() -> Iterator[Any]:
    opened: list[Prism] = []

    def make() -> Prism:
        opened.append(Prism.in_memory())
        return opened[-1]

    yield make
    for prism in opened:
        prism.close()


def run(prism: Prism, path: Path, **options: Any) -> dict[str, Any]:
    return prism.project("demo").ingest(path, **options)


@pytest.mark.parametrize("seed", range(4))
def test_any_split_into_runs_gives_the_graph_of_one_run(repo, random_history, stores, seed, graph_of) -> None:
    history = random_history(repo, seed)
    history.run(12)
    commits = list(repo.git.walk(repo.git.head.target))[::-1]
    whole, parts = stores(), stores()
    at_once = run(whole, repo.path)

    for stop in (1, 2, 3 + seed, 8, 12):
        part = run(parts, repo.path, ref=str(commits[stop - 1].id))

    assert len(graph_of(whole)) > 200
    assert graph_of(parts) == graph_of(whole)
    counts = ("documents", "states", "references", "aliases", "memories")
    assert {name: part["report"][name] for name in counts} == {name: at_once["report"][name] for name in counts}
    again = run(parts, repo.path)
    assert again["receipt"]["commit"] is None
    assert "nothing new since commit" in again["report"]["notes"][-1]
    assert {name: again["report"][name] for name in counts} == {name: at_once["report"][name] for name in counts}
    assert run(parts, repo.path, again=True)["report"]["dangling"] == at_once["report"]["dangling"]
    assert graph_of(parts) == graph_of(whole)


@pytest.mark.parametrize("seed", range(3))
def test_the_size_of_batches_does_not_matter(repo, random_history, stores, monkeypatch, seed, graph_of) -> None:
    random_history(repo, 40 + seed).run(10)
    whole, small = stores(), stores()
    run(whole, repo.path)
    monkeypatch.setattr(taking, "BATCH", 3)

    commits = run(small, repo.path)["commits"]

    assert len(commits) > 5
    assert commits == list(range(commits[0], commits[-1] + 1))
    assert graph_of(small) == graph_of(whole)


@pytest.mark.parametrize("stop", range(6))
def test_a_run_that_is_stopped_goes_on_where_it_was(repo, random_history, stores, monkeypatch, stop, graph_of) -> None:
    random_history(repo, 77).run(10)
    monkeypatch.setattr(taking, "BATCH", 4)
    whole, stopped = stores(), stores()
    commits = run(whole, repo.path)["commits"]

    class Killed(Exception):
        pass

    project = stopped.project("demo")
    written: list[int] = []
    write = type(project).write

    def dying(self: Any, intents: Iterable[Any], verb: str = "batch", idempotency_key: str = "") -> Any:
        if len(written) == stop:
            raise Killed
        written.append(stop)
        return write(self, intents, verb, idempotency_key)

    monkeypatch.setattr(type(project), "write", dying)
    with pytest.raises(Killed):
        run(stopped, repo.path)
    monkeypatch.setattr(type(project), "write", write)

    rest = run(stopped, repo.path)["commits"]

    assert len(rest) == len(commits) - stop
    assert graph_of(stopped) == graph_of(whole)


def test_two_repositories_in_any_order_give_the_same_graph(tmp_path, repo, random_history, stores, graph_of) -> None:
    other = type(repo)(tmp_path / "other")
    random_history(repo, 5).run(6)
    random_history(other, 6).run(6)
    one, two = stores(), stores()
    tips = [list(each.git.walk(each.git.head.target))[::-1] for each in (repo, other)]

    for path in (repo.path, other.path):
        run(one, path)
    for step in (2, 4, 6):
        for each, commits in ((other, tips[1]), (repo, tips[0])):
            run(two, each.path, ref=str(commits[step - 1].id))

    without_foreign = {quad for quad in graph_of(two) if "/current" not in quad[3]}
    assert {quad for quad in graph_of(one) if "/current" not in quad[3]} == without_foreign


def test_a_history_that_was_rewritten_is_read_anew(repo, stores, adr) -> None:
    base = repo.commit(0, {"ADR-1.md": adr("ADR-1", "A", "Draft")})
    repo.commit(1, {"ADR-2.md": adr("ADR-2", "B", related="[ADR-1]"), "ADR-1.md": adr("ADR-1", "A", "Accepted")})
    rewritten, fresh = stores(), stores()
    run(rewritten, repo.path)
    repo.files = {"ADR-1.md": adr("ADR-1", "A", "Rejected"), "ADR-3.md": adr("ADR-3", "C")}
    repo.git.references.create("refs/heads/main", base, force=True)
    repo.write(2, "Other", "main", [base])

    report = run(rewritten, repo.path)["report"]
    run(fresh, repo.path)

    assert "no longer holds commit" in report["notes"][-1]
    assert believed(rewritten) == believed(fresh)
    assert run(rewritten, repo.path)["receipt"]["commit"] is None


def test_another_mapping_takes_the_place_of_the_one_before(repo, stores) -> None:
    repo.commit(
        0,
        {
            "rfcs/one.md": "---\nrfc: 7\nstate: wip\n---\n# One\n\nAfter RFC 8.\n",
            "rfcs/two.md": "---\nrfc: 8\n---\n# Two\n",
        },
    )
    rules = repo.path / ".prism" / "ingest.toml"
    rules.parent.mkdir()
    text = """[[document]]
type = "SPEC"
paths = ["rfcs/*.md"]
[document.identifier]
field = "rfc"
form = "RFC {}"
text = ['RFC (\\d+)']
[document.fields]
State = "category"
"""
    rules.write_text(text)
    prism, fresh = stores(), stores()
    run(prism, repo.path)
    assert prism.project("demo").state_as_of("RFC 7")["props"]["category"] == "wip"
    [reference] = prism.project("demo").list_references(source="RFC 7")
    assert reference["target"]["identifier"] == "RFC 8"

    rules.write_text(text.replace('"category"', '{ property = "status", values = { wip = "Draft" } }'))
    report = run(prism, repo.path)["report"]
    run(fresh, repo.path)

    assert "another mapping, or another release, before" in report["notes"][-1]
    assert prism.project("demo").state_as_of("RFC 7")["props"] == fresh.project("demo").state_as_of("RFC 7")["props"]
    assert believed(prism) == believed(fresh)


def test_a_folder_takes_in_a_document_that_comes_late_with_its_whole_history(repo, stores, adr) -> None:
    repo.commit(0, {"docs/ADR-1.md": adr("ADR-1", "A"), "old/ADR-2.md": adr("ADR-2", "B", "Draft")})
    folder = repo.path / "docs"
    folder.mkdir()
    late, whole = stores(), stores()
    run(late, folder, ref="main")
    repo.move(1, "old/ADR-2.md", "docs/ADR-2.md")

    run(late, folder, ref="main")
    run(whole, folder, ref="main")

    assert [state["props"]["path"] for state in late.project("demo").history("ADR-2")] == [
        "old/ADR-2.md",
        "docs/ADR-2.md",
    ]
    assert believed(late) == believed(whole)


def test_what_is_not_committed_is_told(repo, stores, adr) -> None:
    repo.commit(0, {"ADR-1.md": adr("ADR-1", "A")})
    subprocess.run(["git", "-C", str(repo.path), "reset", "-q", "--hard"], check=True)
    (repo.path / "ADR-1.md").write_text("changed")
    (repo.path / "ADR-2.md").write_text(adr("ADR-2", "B"))
    (repo.path / "code.py").write_text("")

    notes = run(stores(), repo.path)["report"]["notes"]

    assert notes == ["2 changed files are not committed, and so are not read: ADR-1.md, ADR-2.md"]


def test_batches_are_of_a_bounded_size() -> None:
    assert 500 <= ingestion.BATCH <= 10_000
