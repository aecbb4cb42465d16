"""Small git repositories with fixed dates, and a plain view of what was read from them."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pygit2
import pytest

from prism_rdf import Prism
from prism_rdf.clock import Instant
from prism_rdf.ingest import IngestReport, Proposal, read
from prism_rdf.model import Alias, Event, Memory, NewEntity, Reference
from prism_rdf.namespaces import local_name

FIRST = Instant.parse("2025-01-01T00:00:00Z")
CONTRIBUTOR = "Contributor", "contributor@example.org"


class Repo:
    """A repository whose commits are written file by file; ``None`` deletes. Day n is 2025-01-01 plus n days."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.git = pygit2.init_repository(path, initial_head="main")
        self.files: dict[str, str | bytes] = {}

    def commit(
        self, day: float, files: dict[str, str | bytes | None], subject: str = "Change", branch: str = "main"
    ) -> str:
        for name, content in files.items():
            if content is None:
                del self.files[name]
            else:
                self.files[name] = content
        return self.write(day, subject, branch, self.tip(branch))

    def move(self, day: float, old: str, new: str, content: str | bytes | None = None) -> str:
        return self.commit(day, {new: self.files[old] if content is None else content, old: None}, f"Move {old}")

    def write(self, day: float, subject: str, branch: str, parents: list[str]) -> str:
        index = pygit2.Index()
        for name, content in self.files.items():
            data = content.encode() if isinstance(content, str) else content
            index.add(pygit2.IndexEntry(name, self.git.create_blob(data), pygit2.enums.FileMode.BLOB))
        seconds = FIRST.micros // 1_000_000 + int(day * 86_400)
        who = pygit2.Signature(*CONTRIBUTOR, seconds, 0)
        made = self.git.create_commit(
            f"refs/heads/{branch}", who, who, subject, index.write_tree(self.git), [pygit2.Oid(hex=p) for p in parents]
        )
        return str(made)

    def tip(self, branch: str) -> list[str]:
        found = self.git.branches.get(branch)
        return [] if found is None else [str(found.target)]


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


class Told:
    """A proposal by documents: each is known by the path it has last."""

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal
        self.report: IngestReport = proposal.report
        self.uuids = [i.uuid for i in proposal.intents if isinstance(i, NewEntity)]
        self.events: dict[str, list[Event]] = {uuid: [] for uuid in self.uuids}
        for event in self.of(Event):
            self.events[event.entity].append(event)

    def of(self, kind: type[Any]) -> Iterator[Any]:
        return (intent for intent in self.proposal.intents if isinstance(intent, kind))

    def state(self, uuid: str, at: Instant | None = None) -> dict[str, str]:
        """Return what holds at an instant (None: at last); empty before the first event and while retired."""
        props: dict[str, str] = {}
        for event in sorted(self.events[uuid], key=lambda event: (event.at.instant, event.sequence)):
            if at is not None and event.at.instant > at:
                break
            for said in event.assertions:
                if said.op == "clear":
                    del props[local_name(said.property.value)]
                else:
                    props[local_name(said.property.value)] = said.value.value
        return {} if props.get("retired") == "true" else {k: v for k, v in props.items() if k != "retired"}

    def document(self, path: str) -> str:
        """Return the uuid of the one document whose last path this is, deleted ones included."""
        found = [
            uuid
            for uuid, events in self.events.items()
            if [a.value.value for e in events for a in e.assertions if local_name(a.property.value) == "path"][-1]
            == path
        ]
        assert len(found) == 1, (path, found)
        return found[0]

    def story(self, path: str) -> list[tuple[float, str, dict[str, str | None]]]:
        """Return (day, event type, what changed) of a document."""
        return [
            (
                day(event.at.instant),
                event.event_type,
                {
                    local_name(a.property.value): a.value.value if a.value is not None else None
                    for a in event.assertions
                },
            )
            for event in self.events[self.document(path)]
        ]

    def references(self) -> list[tuple[str, str, str, float | None, float | None]]:
        """Return (source, kind, target, from day, until day), documents by their last path, sorted."""
        names = {
            uuid: [a.value.value for e in events for a in e.assertions if local_name(a.property.value) == "path"][-1]
            for uuid, events in self.events.items()
        }
        return sorted(
            (names[r.source], local_name(r.kind.value), names.get(r.target, r.target), day(r.start), day(r.until))
            for r in self.of(Reference)
        )

    def aliases(self, path: str) -> list[tuple[str, float | None, float | None]]:
        uuid = self.document(path)
        return [(a.surface_form, day(a.start), day(a.until)) for a in self.of(Alias) if a.target == uuid]

    def memories(self, path: str) -> list[Memory]:
        uuid = self.document(path)
        return [memory for memory in self.of(Memory) if memory.about == (uuid,)]


def day(instant: Instant | None) -> Any:
    return None if instant is None else (instant.micros - FIRST.micros) / 86_400_000_000


@pytest.fixture
def random_history() -> type[RandomHistory]:
    return RandomHistory


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


@pytest.fixture
def told() -> Callable[..., Told]:
    def tell(source: Path | Repo | Proposal, **options: Any) -> Told:
        if isinstance(source, Proposal):
            return Told(source)
        return Told(read(source.path if isinstance(source, Repo) else source, "demo", **options))

    return tell


@pytest.fixture(scope="session")
def loaded() -> Callable[[str], ModuleType]:
    """Load a module that lies beside the tests."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def oracle(loaded: Callable[[str], ModuleType]) -> ModuleType:
    """The checker that knows git and shares no code with the reader."""
    return loaded("git_oracle")


@pytest.fixture(scope="session")
def graph_of() -> Callable[[Prism], set[tuple[str, ...]]]:
    """Return all that was written to a store but for system time and what is bookkeeping."""

    def graph(prism: Prism) -> set[tuple[str, ...]]:
        rows = prism.sparql("SELECT ?g ?o ?p ?s { GRAPH ?g { ?s ?p ?o } }", dataset="raw").rows()
        return {
            tuple(map(str, (s, p, o, g)))
            for g, o, p, s in rows
            if local_name(p.value) not in ("recordedAt", "endRecordedAt")
            and "/-/" not in g.value
            and not (local_name(p.value) == "createdAt" and "/entity/" in s.value)
        }

    return graph


@pytest.fixture
def adr() -> Callable[..., str]:
    """Write a record: ``adr("ADR-1", "Title", "Accepted", "text", related="[ADR-2]")``."""

    def write(number: str, title: str, status: str = "Accepted", text: str = "", **fields: str) -> str:
        front = "".join(f"{key}: {value}\n" for key, value in {"status": status, **fields}.items())
        heading = f"{number}: {title}" if number else title
        return f"---\n{front}---\n\n# {heading}\n\n## Context\n\n{text or title + ' is what this is about.'}\n"

    return write
