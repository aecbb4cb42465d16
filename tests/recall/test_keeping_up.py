"""The words of many memories are indexed beside the questions: none waits long, and each says what it lacks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prism_rdf import Instant, Prism, answering
from prism_rdf.model import Memory
from prism_rdf.recall import LexicalIndex
from prism_rdf.recall.memories import Passage

DAY = Instant.parse("2026-01-01T00:00:00Z")


def memories(count: int) -> list[Memory]:
    text = "the heron number {} stands in the reeds"
    return [Memory(text.format(number), "note", DAY, key=str(number)) for number in range(count)]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Let no passage into an index until it is set, and let no question wait longer than a moment."""
    opened, passages = threading.Event(), answering._Source.passages

    def late(source: Any) -> Iterator[Passage]:
        for passage in passages(source):
            opened.wait(20)
            yield passage

    monkeypatch.setattr(answering._Source, "passages", late)
    monkeypatch.setattr(answering, "_PATIENCE_WORDS", 0.05)
    return opened


def lexical(answer: dict[str, Any]) -> tuple[str, str]:
    leg = answer["legs"]["lexical"]
    return leg["status"], leg.get("detail", "")


@pytest.mark.parametrize("kept", [True, False])
def test_a_question_does_not_wait_for_the_index_of_many(tmp_path: Path, gate: threading.Event, kept: bool) -> None:
    with Prism.open(tmp_path, exclusive=True) if kept else Prism.in_memory() as prism:
        project = prism.project("demo")
        project.write(memories(300))
        status, detail = lexical(project.recall("heron"))
        assert status == "lagging"
        assert detail.endswith("being indexed; it goes on in the background")
        assert project.legs()["lexical"]["status"] == "lagging"
        gate.set()
        prism.answering("demo")._words.catch_up(20)
        answer = project.recall("heron number 17")
        assert lexical(answer) == ("ok", "")
        assert answer["hits"][0]["content"].startswith("the heron number 17 ")


def test_a_long_way_behind_the_index_is_brought_up_in_the_background(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, apply = threading.Event(), LexicalIndex.apply

    def late(index: LexicalIndex, changes: Any) -> None:
        opened.wait(20)
        apply(index, changes)

    with Prism.open(tmp_path, exclusive=True) as prism:
        project = prism.project("demo")
        project.remember("the first heron")
        assert lexical(project.recall("heron")) == ("ok", "")
        monkeypatch.setattr(LexicalIndex, "apply", late)
        monkeypatch.setattr(answering, "_PATIENCE_WORDS", 0.05)
        for number in range(70):
            project.remember(f"egret {number}")
        assert lexical(project.recall("egret")) == (
            "lagging",
            "what was written being indexed; it goes on in the background",
        )
        opened.set()
        prism.answering("demo")._words.catch_up(20)
        assert lexical(project.recall("egret 69")) == ("ok", "")
        assert len(project.recall("egret", limit=100)["hits"]) >= 70


def test_the_one_who_wrote_finds_it_though_another_is_being_indexed(tmp_path: Path) -> None:
    with Prism.open(tmp_path, exclusive=True) as prism:
        project, wrong = prism.project("demo"), []

        def write_and_ask(who: int) -> None:
            for number in range(12):
                project.remember(f"bittern {who} {number}")
                answer = project.recall(f"bittern {who} {number}", limit=100)
                if lexical(answer) != ("ok", "") or not any(
                    hit["content"] == f"bittern {who} {number}" for hit in answer["hits"]
                ):
                    wrong.append((who, number, answer["legs"]))

        threads = [threading.Thread(target=write_and_ask, args=(who,)) for who in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


def test_closing_does_not_wait_for_the_index(tmp_path: Path, gate: threading.Event) -> None:
    with Prism.open(tmp_path, exclusive=True) as prism:
        project = prism.project("demo")
        project.write(memories(50))
        assert lexical(project.recall("heron"))[0] == "lagging"
        words = prism.answering("demo")._words
        threading.Timer(0.2, gate.set).start()
    assert words._worker is None
    with Prism.open(tmp_path, exclusive=True) as prism:
        prism.project("demo").recall("heron")
        prism.answering("demo")._words.catch_up(20)
        assert lexical(prism.project("demo").recall("heron")) == ("ok", "")
