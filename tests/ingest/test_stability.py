"""The same history gives the same proposal, wherever it lies and however often; a longer one only adds."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from itertools import pairwise

import pytest
from pygit2.enums import CheckoutStrategy

from prism_rdf.clock import Instant
from prism_rdf.ingest import read as read_documents
from prism_rdf.model import Alias, Event, Memory, NewEntity, Reference
from prism_rdf.namespaces import Names


@pytest.mark.parametrize("seed", range(12))
def test_random_histories(repo, told, random_history, seed) -> None:
    history = random_history(repo, seed)
    history.run(14)
    read = told(repo)

    assert read.report.failures == ()
    owners: dict[int, str] = {}
    for day, truth in enumerate(history.truth):
        at = Instant.parse(f"2025-01-{day + 1:02}T12:00:00Z")
        states = {uuid: state for uuid in read.uuids if (state := read.state(uuid, at))}
        assert len(states) == len(truth)
        for key, props in truth.items():
            expected = {name: props[name] for name in ("title", "number", "status", "path")}
            [uuid] = [uuid for uuid, state in states.items() if state == expected]
            assert owners.setdefault(key, uuid) == uuid
    assert_intervals_are_sound(read)


@pytest.mark.parametrize("seed", range(12))
def test_a_longer_history_only_adds_and_closes(repo, told, random_history, seed) -> None:
    history = random_history(repo, seed)
    history.run(6)
    before = told(repo).proposal
    history.run(6)
    after = told(repo).proposal

    known = {without_end(intent) for intent in after.intents}
    assert {without_end(intent) for intent in before.intents} <= known
    still = set(after.intents)
    changed = [intent for intent in before.intents if intent not in still]
    assert all(isinstance(intent, (Reference, Memory)) and intent.until is None for intent in changed)


def test_reading_twice_or_in_a_clone_or_bare_gives_the_same(repo, told, random_history, tmp_path) -> None:
    random_history(repo, 99).run(10)
    subprocess.run(["git", "clone", "-q", str(repo.path), str(tmp_path / "elsewhere")], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(repo.path), str(tmp_path / "bare.git")], check=True)

    first = told(repo).proposal

    assert told(repo).proposal == first
    assert told(tmp_path / "elsewhere").proposal == first
    assert told(tmp_path / "bare.git").proposal == first
    assert repr(first).count(str(tmp_path)) == 0


def test_another_project_gives_other_identities_for_the_same_documents(repo, adr) -> None:
    repo.commit(0, {"ADR-1.md": adr("ADR-1", "A")})

    def uuids(names: Names | str) -> set[str]:
        return {intent.uuid for intent in read_documents(repo.path, names).intents if isinstance(intent, NewEntity)}

    assert uuids("one").isdisjoint(uuids("two"))
    assert uuids("one") == uuids(Names("urn:prism:any", "one"))


def test_a_folder_of_a_repository_is_read_with_its_history(repo, told, adr) -> None:
    repo.commit(0, {"old/ADR-1.md": adr("ADR-1", "A"), "other/ADR-2.md": adr("ADR-2", "B", related="[ADR-1]")})
    repo.move(1, "old/ADR-1.md", "docs/ADR-1.md")
    repo.commit(
        2, {"docs/ADR-3.md": adr("ADR-3", "C", related="[ADR-1, ADR-2]"), "docs/x.md": "# X\n", "y.md": "# Y\n"}
    )
    repo.git.checkout_head(strategy=CheckoutStrategy.FORCE)

    whole, part = told(repo), told(repo.path / "docs")

    assert set(part.uuids) == {whole.document("docs/ADR-1.md"), whole.document("docs/ADR-3.md")}
    assert part.story("docs/ADR-1.md") == whole.story("docs/ADR-1.md")
    assert part.references() == [("docs/ADR-3.md", "RELATES_TO", "docs/ADR-1.md", 2, None)]
    assert [skipped.path for skipped in part.report.skipped] == ["docs/x.md"]
    assert "2 references to or from documents outside of docs/" in part.report.notes[0]
    assert len(part.memories("docs/ADR-3.md")[0].mentions) == 1


def test_an_untracked_folder_inside_a_repository_is_a_plain_one(repo, told, adr) -> None:
    repo.commit(0, {"ADR-1.md": adr("ADR-1", "A")})
    notes = repo.path / "notes"
    notes.mkdir()
    (notes / "ADR-5.md").write_text(adr("ADR-5", "Five", date="2024"))

    read = told(notes)

    assert read.story("ADR-5.md")[0][2]["number"] == "ADR-5"
    assert "read as a plain folder" in read.report.notes[0]


def test_progress_is_told_to_the_end(repo, told, adr) -> None:
    for day in range(3):
        repo.commit(day, {"ADR-1.md": adr("ADR-1", f"A{day}")}, f"Day {day}")
    seen: list[tuple[int, int, str]] = []

    told(repo, progress=lambda *step: seen.append(step))

    assert seen == [(1, 3, "Day 0"), (2, 3, "Day 1"), (3, 3, "Day 2")]


def without_end(intent):
    return replace(intent, until=None) if isinstance(intent, (Reference, Memory)) else intent


def assert_intervals_are_sound(read) -> None:
    """Every interval has a length; memories of a document, and references of one kind between two, do not overlap."""
    for kind, key in (
        (Memory, lambda m: m.about),
        (Reference, lambda r: (r.source, r.target, r.kind.value)),
        (Alias, lambda a: (a.target, a.surface_form)),
    ):
        spans: dict[object, list[tuple[int, float]]] = {}
        for intent in read.of(kind):
            end = intent.until.micros if intent.until else float("inf")
            assert intent.start.micros < end
            spans.setdefault(key(intent), []).append((intent.start.micros, end))
        for runs in spans.values():
            ordered = sorted(runs)
            assert all(left[1] <= right[0] for left, right in pairwise(ordered)), ordered
    assert len({event.uuid for event in read.of(Event)}) == sum(1 for _ in read.of(Event))
