"""The same history gives the same proposal, wherever it lies and however often; a longer one only adds."""

from __future__ import annotations

import random
import subprocess
from dataclasses import replace
from itertools import pairwise

import pytest
from pygit2.enums import CheckoutStrategy

from prism_rdf.clock import Instant
from prism_rdf.ingest import read as read_documents
from prism_rdf.model import Alias, Event, Memory, NewEntity, Reference
from prism_rdf.namespaces import Names

WORDS = ("river", "stone", "engine", "ledger", "orbit", "lantern", "copper", "meadow", "signal", "harbour")
STATUSES = ("Proposed", "Accepted", "Rejected", "Superseded")


class RandomHistory:
    """Edits, renames, renumberings, deletions and returns at random; knows which document is which."""

    def __init__(self, repo, seed: int) -> None:
        self.repo, self.random = repo, random.Random(seed)
        self.live: dict[int, dict[str, str]] = {}
        self.gone: dict[int, dict[str, str]] = {}
        self.numbers = 0
        self.truth: list[dict[int, dict[str, str]]] = []

    def run(self, commits: int) -> None:
        for day in range(commits):
            files: dict[str, str | None] = {}
            for _ in range(self.random.randint(1, 3)):
                self.change(files)
            self.repo.commit(day, {path: text for path, text in files.items() if text or path in self.repo.files})
            self.truth.append({key: dict(props) for key, props in self.live.items()})

    def change(self, files: dict[str, str | None]) -> None:
        touched = {
            props["key"] for props in [*self.live.values(), *self.gone.values()] if props.get("busy") == self.day
        }
        kind = self.random.choice(("add", "status", "title", "move", "renumber", "delete", "return", "status"))
        free = [key for key in self.live if str(key) not in touched]
        if kind == "add" or (kind != "return" and not free):
            key = len(self.live) + len(self.gone)
            self.numbers += 1
            self.live[key] = {
                "key": str(key),
                "title": f"Decision {key}",
                "status": "Proposed",
                "number": f"ADR-{self.numbers}",
                "path": f"docs/ADR-{self.numbers}-d{key}.md",
            }
        elif kind == "return":
            ready = [key for key in self.gone if str(key) not in touched]
            if not ready:
                return
            key = self.random.choice(ready)
            self.live[key] = self.gone.pop(key)
        else:
            key = self.random.choice(free)
            props = self.live[key]
            files[props["path"]] = None
            if kind == "delete":
                self.gone[key] = self.live.pop(key)
                self.gone[key]["busy"] = self.day
                return
            self.edit(kind, props)
        props = self.live[key]
        props["busy"] = self.day
        files[props["path"]] = self.text(key, props)

    @property
    def day(self) -> str:
        return str(len(self.truth))

    def edit(self, kind: str, props: dict[str, str]) -> None:
        if kind == "status":
            props["status"] = self.random.choice(STATUSES)
        elif kind == "title":
            props["title"] = f"{props['title'].split(',')[0]}, {self.random.choice(WORDS)}"
        elif kind == "move":
            folder = self.random.choice(("docs", "docs/a", "docs/b"))
            props["path"] = f"{folder}/{props['path'].rsplit('/', 1)[1]}"
        else:
            self.numbers += 1
            props["number"] = f"ADR-{self.numbers}"
            folder = props["path"].rsplit("/", 1)[0]
            props["path"] = f"{folder}/ADR-{self.numbers}-d{props['key']}.md"

    def text(self, key: int, props: dict[str, str]) -> str:
        own = random.Random(key)
        body = "\n".join(" ".join(own.choices(WORDS, k=9)) for _ in range(12))
        named = " ".join(f"ADR-{self.random.randint(1, self.numbers + 2)}" for _ in range(3))
        return f"# {props['number']}: {props['title']}\n\n**Status:** {props['status']}\n\n{body}\n\nSee {named}.\n"


@pytest.mark.parametrize("seed", range(12))
def test_random_histories(repo, told, seed) -> None:
    history = RandomHistory(repo, seed)
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
def test_a_longer_history_only_adds_and_closes(repo, told, seed) -> None:
    history = RandomHistory(repo, seed)
    history.run(6)
    before = told(repo).proposal
    history.run(6)
    after = told(repo).proposal

    known = {without_end(intent) for intent in after.intents}
    assert {without_end(intent) for intent in before.intents} <= known
    still = set(after.intents)
    changed = [intent for intent in before.intents if intent not in still]
    assert all(isinstance(intent, (Reference, Memory)) and intent.until is None for intent in changed)


def test_reading_twice_or_in_a_clone_or_bare_gives_the_same(repo, told, tmp_path) -> None:
    RandomHistory(repo, 99).run(10)
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
