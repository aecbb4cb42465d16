"""A run with new commits reads those alone, by what the run before knew; else it reads all, to the same graph."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pygit2.enums import CheckoutStrategy

from prism_rdf import Prism
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.ingest import taking
from prism_rdf.ingest.history import GitHistory
from prism_rdf.ingest.keeping import Keeper
from prism_rdf.ingest.mapping import Mapping


@pytest.fixture
def prism(tmp_path) -> Iterator[Prism]:
    with Prism.open(tmp_path / "home", exclusive=True) as opened:
        yield opened


@pytest.fixture
def whole() -> Iterator[Prism]:
    with Prism.in_memory() as opened:
        yield opened


@pytest.fixture
def looked_at(monkeypatch) -> list[str]:
    """Return the commits whose changes are asked for, as they are."""
    seen: list[str] = []
    changed = GitHistory._changed

    def noted(self: GitHistory, parent: Any, commit: Any) -> Any:
        seen.append(str(commit.id))
        return changed(self, parent, commit)

    monkeypatch.setattr(GitHistory, "_changed", noted)
    return seen


def run(prism: Prism, path: Path, **options: Any) -> dict[str, Any]:
    return prism.project("demo").ingest(path, **options)


def commits_of(repo: Any) -> list[str]:
    return [str(commit.id) for commit in repo.git.walk(repo.git.head.target)][::-1]


def told_of(identifier: str, prism: Prism) -> list[dict[str, Any]]:
    return [state["props"] for state in prism.project("demo").history(identifier)]


def kept_in(prism: Prism) -> list[Path]:
    assert prism.folder is not None
    return [each for each in prism.folder.index("reading", "demo").rglob("*") if each.is_file()]


@pytest.mark.parametrize("seed", range(3))
def test_only_new_commits_are_read(repo, random_history, prism, whole, looked_at, graph_of, seed) -> None:
    random_history(repo, seed).run(14)
    commits = commits_of(repo)
    at_once = run(whole, repo.path)

    for before, stop in ((0, 4), (4, 5), (5, 9), (9, 14)):
        looked_at.clear()
        part = run(prism, repo.path, ref=commits[stop - 1])
        assert looked_at == commits[before:stop]

    assert graph_of(prism) == graph_of(whole)
    counts = ("documents", "versions", "states", "references", "aliases", "memories", "candidates")
    assert {name: part["report"][name] for name in counts} == {name: at_once["report"][name] for name in counts}
    for told in ("dangling", "duplicates", "skipped", "failures"):
        assert part["report"][told] == at_once["report"][told]


@pytest.mark.parametrize("damage", ["gone", "cut", "nonsense"])
def test_without_what_was_kept_all_is_read(repo, random_history, prism, whole, looked_at, graph_of, damage) -> None:
    random_history(repo, 8).run(8)
    commits = commits_of(repo)
    run(prism, repo.path, ref=commits[4])
    [file] = kept_in(prism)
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-20] if damage == "cut" else b"nonsense")
    looked_at.clear()

    run(prism, repo.path)

    assert looked_at == commits
    run(whole, repo.path)
    assert graph_of(prism) == graph_of(whole)


def test_what_is_kept_on_the_way_serves_a_run_that_was_stopped(
    repo, random_history, prism, whole, looked_at, graph_of, monkeypatch
) -> None:
    random_history(repo, 21).run(12)
    monkeypatch.setattr(taking, "BATCH", 4)
    monkeypatch.setattr(taking, "_SELDOM", 0.0)
    monkeypatch.setattr(taking, "_SHARE", 0.0)
    project = prism.project("demo")
    write, written = type(project).write, []

    class Killed(Exception):
        pass

    def dying(self: Any, *args: Any, **options: Any) -> Any:
        if len(written) == 4:
            raise Killed
        written.append(1)
        return write(self, *args, **options)

    monkeypatch.setattr(type(project), "write", dying)
    with pytest.raises(Killed):
        run(prism, repo.path)
    monkeypatch.setattr(type(project), "write", write)
    looked_at.clear()

    run(prism, repo.path)

    assert 0 < len(looked_at) < 12
    run(whole, repo.path)
    assert graph_of(prism) == graph_of(whole)


def test_a_folder_of_a_repository_reads_new_commits_alone_too(repo, prism, whole, looked_at, graph_of, adr) -> None:
    repo.commit(0, {"docs/ADR-1.md": adr("ADR-1", "A"), "old/ADR-2.md": adr("ADR-2", "B", "Draft")})
    repo.commit(1, {"docs/ADR-3.md": adr("ADR-3", "C", related="[ADR-1, ADR-2]")})
    repo.git.checkout_head(strategy=CheckoutStrategy.FORCE)
    folder = repo.path / "docs"
    run(prism, folder)
    repo.commit(2, {"docs/ADR-1.md": adr("ADR-1", "A", "Rejected"), "old/ADR-2.md": adr("ADR-2", "B")})
    looked_at.clear()

    run(prism, folder)

    assert set(looked_at) == {commits_of(repo)[-1]}
    run(whole, folder)
    assert graph_of(prism) == graph_of(whole)
    repo.move(3, "old/ADR-2.md", "docs/ADR-2.md")
    run(prism, folder)  # what came late is read with its whole history
    assert [each["status"] for each in told_of("ADR-2", prism)] == ["Draft", "Accepted", "Accepted"]


def test_what_is_forgotten_is_not_kept(repo, prism, adr) -> None:
    repo.commit(0, {"ADR-1.md": adr("ADR-1", "Canary"), "ADR-2.md": adr("ADR-2", "B")})
    run(prism, repo.path)
    assert kept_in(prism)

    prism.project("demo").forget("ADR-1")

    assert prism.folder is not None
    assert not [each for each in prism.folder.path.rglob("reading/**/*") if each.is_file()]


def test_loading_makes_nothing_but_parts_of_a_reading() -> None:
    keeper = Keeper(Mapping(), TypeCatalog.shipped())

    for harm in (Path("/"), print, Mapping):
        assert keeper.load(zlib.compress(pickle.dumps((1, "", harm)))) is None
