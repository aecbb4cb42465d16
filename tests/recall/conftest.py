"""The small world that the tests of recall ask about: tests/cases/recall/world.trig and memories.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store

from prism_rdf.answers import state_json
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.clock import Instant
from prism_rdf.namespaces import RDF_TYPE, Names, prism
from prism_rdf.recall import GraphLeg, LexicalIndex, LexicalLeg, Recall, all_passages, last_commit
from prism_rdf.temporal.read import covering, states_of
from prism_rdf.values import instant_literal

CASES = Path(__file__).resolve().parent.parent / "cases" / "recall"
NAMES = Names("urn:prism:test", "demo")
NOW = Instant.parse("2026-11-30T12:00:00Z")
MEMORY_GRAPH = NAMES.graph("memory")


def memory_quads(case: Mapping[str, Any]) -> Iterator[Quad]:
    node = NAMES.memory(case["id"])

    def quad(name: str, term: NamedNode | Literal) -> Quad:
        return Quad(node, prism(name), term, MEMORY_GRAPH)

    def instant(text: str) -> Literal:
        return instant_literal(Instant.parse(text))

    yield Quad(node, RDF_TYPE, prism("Memory"), MEMORY_GRAPH)
    yield quad("content", Literal(case["content"]))
    yield quad("memoryKind", Literal(case.get("kind", "note")))
    yield quad("recordedAt", instant(case.get("recorded", case["start"])))
    for key, name in (
        ("start", "validFrom"),
        ("until", "validUntil"),
        ("end_recorded", "endRecordedAt"),
        ("withdrawn", "withdrawnAt"),
    ):
        if key in case:
            yield quad(name, instant(case[key]))
    for key in ("source", "heading"):
        if key in case:
            yield quad(key, Literal(case[key]))
    for uuid in case.get("about", ()):
        yield quad("about", NAMES.entity(uuid))
    for what in case.get("mentions", ()):
        kind, _, name = what.rpartition(":")
        yield quad("mentions", NamedNode(f"{NAMES.base}/demo/concept/{name}") if kind else NAMES.entity(name))


def memory_cases() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((CASES / "memories.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="session")
def world() -> Store:
    """The whole small world. Tests do not change it."""
    store = Store()
    store.load(path=str(CASES / "world.trig"), format=RdfFormat.TRIG)
    for case in memory_cases():
        store.extend(memory_quads(case))
    return store


@pytest.fixture(scope="session")
def identifying() -> frozenset[NamedNode]:
    return TypeCatalog.shipped().identifying


class Asking:
    """A Recall over a store, asked with plain texts; hits come back by the last part of their IRI."""

    def __init__(self, store: Store, folder: Path | None, identifying: frozenset[NamedNode]) -> None:
        self.store = store
        self.index = LexicalIndex.open(folder, MEMORY_GRAPH)
        self.index.rebuild(all_passages(store, NAMES), last_commit(store, NAMES))
        self.identifying = identifying
        self.legs: list[Any] = [
            LexicalLeg(self.index, self.last_commit),
            GraphLeg(store, NAMES, self.last_commit),
        ]

    def last_commit(self) -> int:
        return last_commit(self.store, NAMES)

    def state_at(self, entity: str, as_of: Instant, known_at: Instant | None, prefer_wip: bool) -> dict[str, Any]:
        states = states_of(self.store, NAMES, NamedNode(entity), known_at)
        state = covering(states, as_of, prefer_wip=prefer_wip)
        if state is None or state.void:
            return {"entity": entity, "state": None, "reason": "nothing held"}
        return state_json(self.store, NAMES, TypeCatalog.shipped(), state, NOW)

    def recall(self, **options: Any) -> Recall:
        return Recall(self.store, NAMES, self.identifying, self.legs, self.state_at, **options)

    def ask(self, text: str, as_of: str | Instant = NOW, known_at: str | None = None, **options: Any) -> dict[str, Any]:
        at = Instant.parse(as_of) if isinstance(as_of, str) else as_of
        known = Instant.parse(known_at) if known_at else None
        return self.recall().ask(text, at, known, **options)

    def hits(
        self, text: str, as_of: str | Instant = NOW, known_at: str | None = None, **options: Any
    ) -> dict[str, Any]:
        """Return the hits by name, in order."""
        answer = self.ask(text, as_of, known_at, **options)
        return {NAMES.uuid_of(hit["id"]): hit for hit in answer["hits"]}


@pytest.fixture(scope="session")
def asking(
    world: Store, identifying: frozenset[NamedNode], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Asking]:
    made = Asking(world, tmp_path_factory.mktemp("recall") / "lexical", identifying)
    yield made
    made.index.close()
