"""LangGraph's own calls work on a project, answer as its own store does, and leave a history."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

pytest.importorskip("langgraph.store.base", reason="the extra langgraph is not installed")

from langgraph.store.base import GetOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from prism_rdf import Prism, Project
from prism_rdf.langgraph import PrismStore

ADA, BOB = ("users", "ada"), ("users", "bob")


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv("PATH", "")  # no Java: whether the types are consistent is not asked for each test
    with Prism.in_memory() as prism:
        yield prism.project("atlas")


@pytest.fixture
def store(project: Project) -> PrismStore:
    return PrismStore(project)


def fill(store: PrismStore | InMemoryStore) -> None:
    store.put(ADA, "food", {"text": "Ada eats cheese.", "n": 5, "tags": ["a", {"deep": 1}]})
    store.put(ADA, "style", {"text": "Ada prefers short answers.", "n": 2})
    store.put(BOB, 'qu"ote, [x]', {"text": "Bob said: größer\n", "n": 7})
    store.put(("docs",), "food", {"text": "a list of food"})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"filter": {"n": {"$gte": 5}}},
        {"filter": {"n": 2}},
        {"filter": {"text": {"$ne": "x"}}},
        {"limit": 1, "offset": 1},
    ],
)
def test_search_without_a_query_answers_as_langgraph_does(store: PrismStore, options: dict[str, object]) -> None:
    own = InMemoryStore()
    for each in (store, own):
        fill(each)
    told = [[(item.namespace, item.key, item.value) for item in s.search(("users",), **options)] for s in (store, own)]
    assert told[0] == told[1]
    assert told[0]


def test_what_cannot_be_compared_does_not_fit(store: PrismStore) -> None:
    fill(store)
    assert [item.key for item in store.search((), filter={"n": {"$gt": 5}})] == ['qu"ote, [x]']


def test_namespaces_are_listed_as_langgraph_lists_them(store: PrismStore) -> None:
    own = InMemoryStore()
    for each in (store, own):
        fill(each)
    for options in ({}, {"prefix": ("users",)}, {"suffix": ("ada",)}, {"prefix": ("*", "bob")}, {"max_depth": 1}):
        assert store.list_namespaces(**options) == own.list_namespaces(**options)
    assert store.list_namespaces(limit=1, offset=1) == own.list_namespaces(limit=1, offset=1)


def test_a_query_finds_by_words_and_never_what_was_said_before(store: PrismStore) -> None:
    fill(store)
    best = store.search(("users",), query="what does Ada eat? cheese?", limit=1)[0]
    assert (best.namespace, best.key) == (ADA, "food")
    assert best.score is not None
    store.put(ADA, "food", {"text": "Ada eats figs."})
    found = store.search(("users",), query="Ada eats cheese or figs")
    assert [item.value for item in found if item.key == "food"] == [{"text": "Ada eats figs."}]
    store.put(BOB, "secret", {"text": "zebra"}, index=False)
    assert all(item.key != "secret" for item in store.search((), query="zebra"))
    store.put(BOB, "fields", {"title": "quagga", "body": "okapi"}, index=["title"])
    assert [item.key for item in store.search((), query="quagga", limit=1)] == ["fields"]
    assert all(item.key != "fields" for item in store.search((), query="okapi"))


def test_delete_retires_and_the_history_stays(store: PrismStore, project: Project) -> None:
    store.put(ADA, "food", {"text": "cheese"})
    first = store.get(ADA, "food")
    store.put(ADA, "food", {"text": "figs"})
    second = store.get(ADA, "food")
    assert first is not None
    assert second is not None
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    store.delete(ADA, "food")
    assert store.get(ADA, "food") is None
    assert store.search(ADA) == store.search(ADA, query="figs") == []
    assert store.list_namespaces() == []
    store.put(ADA, "food", {"text": "nuts"})
    item = project.resolve('["users", "ada", "food"]').value
    told = [state["props"]["value"] for state in project.history(item)]
    assert told == ['{"text": "cheese"}', '{"text": "figs"}', '{"text": "nuts"}']
    assert project.check() == []


def test_a_batch_reads_what_was_before_and_writes_one_commit(store: PrismStore, project: Project) -> None:
    store.put(ADA, "food", {"text": "cheese"})
    before = project.prism.commit_number
    ops = [
        PutOp(ADA, "food", {"text": "figs"}),
        GetOp(ADA, "food"),
        PutOp(BOB, "food", {"text": "bread"}),
        PutOp(BOB, "food", {"text": "rye"}),
        SearchOp(("users",)),
    ]
    results = store.batch(ops)
    assert [result if result is None else getattr(result, "value", result) for result in results[:4]] == [
        None,
        {"text": "cheese"},
        None,
        None,
    ]
    assert project.prism.commit_number == before + 1
    told = asyncio.run(store.abatch([GetOp(ADA, "food"), GetOp(BOB, "food")]))
    assert [item.value["text"] for item in told] == ["figs", "rye"]
    store.put(BOB, "food", {"text": "rye"})
    store.delete(BOB, "never there")
    assert project.prism.commit_number == before + 1, "what is so already is not written"


def test_a_second_store_of_a_project_knows_the_items(store: PrismStore, project: Project) -> None:
    store.put(ADA, "food", {"text": "cheese"})
    again = PrismStore(project).get(ADA, "food")
    assert again is not None
    assert again.value == {"text": "cheese"}
