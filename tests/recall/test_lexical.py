"""The lexical index: what it finds, how it follows the log, and what it does when its files are damaged."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.clock import Instant
from prism_rdf.namespaces import Names, prism
from prism_rdf.recall import LexicalIndex, LexicalLeg, Passage, Question
from prism_rdf.recall import lexical as lexical_module
from prism_rdf.storage.changelog import LoggedChange
from prism_rdf.values import instant_literal

NAMES = Names("urn:prism:test", "demo")
GRAPH = NAMES.graph("memory")
DAY = Instant.parse("2026-01-01T00:00:00Z")

TEXTS = {
    "one": "ADR-808 tells how grounding is computed in docs/adr/ADR-808-truth.md since v1.2.3",
    "two": "Installing the renamed project with pip",
    "three": "The snake_case_name of a setting, and nothing else",
}


def passage(name: str, text: str, said: Instant = DAY, **more: Any) -> Passage:
    return Passage(NAMES.memory(name).value, text, said=said, recorded=said, **more)


def change(number: int, name: str, text: str | None, *, removed: str = "", graph: NamedNode = GRAPH) -> LoggedChange:
    node = NAMES.memory(name)
    adds: tuple[Quad, ...] = ()
    if text is not None:
        adds = (
            Quad(node, prism("content"), Literal(text), graph),
            Quad(node, prism("validFrom"), instant_literal(DAY), graph),
            Quad(node, prism("recordedAt"), instant_literal(DAY.plus(days=number)), graph),
        )
    removes = (Quad(node, prism("content"), Literal(removed), graph),) if removed else ()
    return LoggedChange(number, DAY, "demo", "remember", adds, removes)


def found(index: LexicalIndex, text: str, **more: Any) -> list[str]:
    return [NAMES.uuid_of(iri) for iri, _ in index.search(text, 10, **more)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index" / "lexical"


@pytest.fixture
def index(folder: Path) -> Iterator[LexicalIndex]:
    made = LexicalIndex.open(folder, GRAPH)
    made.rebuild([passage(name, text) for name, text in TEXTS.items()], 3)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ADR-808", "one"),
        ("adr 808", "one"),
        ("docs/adr/ADR-808-truth.md", "one"),
        ("what is the truth?", "one"),
        ("v1.2.3", "one"),
        ("rename installs", "two"),
        ("snake_case_name", "three"),
        ("a snake", "three"),
    ],
)
def test_words_find_texts(index: LexicalIndex, text: str, name: str) -> None:
    assert found(index, text)[0] == name


def test_the_heading_and_the_path_of_the_source_count(index: LexicalIndex) -> None:
    index.rebuild(
        [
            passage("long", "grounding " + "filler " * 300),
            passage("titled", "grounding " + "filler " * 300, heading="Grounding", source="docs/adr/ADR-900-x.md@sha"),
        ],
        1,
    )
    assert found(index, "grounding")[0] == "titled"
    assert found(index, "ADR-900") == ["titled"]
    assert found(index, "sha") == []


def talk(*texts: str, kind: str = "turn") -> list[Passage]:
    return [
        passage(f"m{place:02}", text, source=f"chat#{place}", kind=kind) for place, text in enumerate(texts, start=1)
    ]


def test_what_stands_beside_a_hit_is_found_too_and_less_in_a_document(index: LexicalIndex) -> None:
    texts = ["nothing", "where does Ada live?", "In Berlin.", "nothing", "nothing"]
    index.rebuild(talk(*texts), 1)
    assert found(index, "where does Ada live") == ["m02", "m01", "m03"]
    beside = dict(index.search("where does Ada live", 10))[NAMES.memory("m03").value]
    index.rebuild(talk(*texts, kind="passage"), 1)
    scores = dict(index.search("where does Ada live", 10))
    assert scores[NAMES.memory("m03").value] == pytest.approx(beside * 0.3, rel=1e-4)


def test_neighbours_are_right_whatever_the_order_of_writing(folder: Path, tmp_path: Path) -> None:
    passages = [*talk(*(f"word{n} tells" for n in range(12))), passage("alone", "word3 tells")]
    whole = LexicalIndex.open(folder, GRAPH)
    whole.rebuild(passages, 1)
    grown = LexicalIndex.open(tmp_path / "grown", GRAPH)
    grown.rebuild(passages[5:], 1)
    for number, each in enumerate(passages[4::-1], start=2):
        node = NamedNode(each.iri)
        adds = (
            Quad(node, prism("content"), Literal(each.content), GRAPH),
            Quad(node, prism("memoryKind"), Literal("turn"), GRAPH),
            Quad(node, prism("source"), Literal(each.source), GRAPH),
            Quad(node, prism("validFrom"), instant_literal(DAY), GRAPH),
            Quad(node, prism("recordedAt"), instant_literal(DAY), GRAPH),
        )
        grown.apply([LoggedChange(number, DAY, "demo", "remember", adds, ())])
    for text in ("word3", "word4", "word5", "word6 tells"):
        ours, theirs = whole.search(text, 20), grown.search(text, 20)
        assert [iri for iri, _ in ours] == [iri for iri, _ in theirs]
    assert found(grown, "word4")[:3] == ["m05", "m04", "m06"]


def test_what_is_not_yet_said_is_no_neighbour(index: LexicalIndex) -> None:
    later = [passage("a", "before", source="chat#1", kind="turn"), passage("b", "kiwi", DAY.plus(days=9), kind="turn")]
    later[1] = Passage(**{**vars(later[1]), "source": "chat#2"})
    index.rebuild(later, 1)
    assert found(index, "kiwi") == ["b", "a"]
    assert found(index, "kiwi", said_by=DAY) == []


def test_one_good_paragraph_of_a_long_text_is_enough(index: LexicalIndex) -> None:
    filler = "\n\n".join(
        f"Paragraph {n} speaks of other things at some length, and of nothing else." for n in range(80)
    )
    index.rebuild(
        [
            passage("long", f"{filler}\n\nThe harbour of Kiel is frozen.\n\n{filler}"),
            passage("half", "The harbour is open, and it is a big one with many ships from all over the world."),
        ],
        1,
    )
    assert found(index, "frozen harbour Kiel")[0] == "long"
    assert len(index.search("paragraph", 10)) == 1


def test_an_expansion_finds_and_weighs_less_than_what_was_said(index: LexicalIndex) -> None:
    index.rebuild([passage("old", "it is ADR-044"), passage("new", "it is ADR-808")], 1)
    assert found(index, "ADR-044", expansions=["ADR-808"]) == ["old", "new"]


HOSTILE = {
    "long": "grounding " * 1_000,
    "one word": "g" * 10_000,
    "many words": " ".join(f"word{number}" for number in range(2_000)),
    "stop words": "what is the of and who",
    "emoji": "🦉🦉 🔥",
    "whoosh syntax": 'content:(a OR "b c"~3) AND NOT id:* [a TO z] ^5 +-&&||!{}',
    "null bytes": "\x00grounding\x00",
    "right to left": "\u202eקרקוע\u202c",
    "lone surrogate": "\ud800 grounding",
    "blank": " \n\t",
    "empty": "",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_questions_are_answered(index: LexicalIndex, text: str) -> None:
    started = time.monotonic()
    ranking = index.search(text, 10, expansions=[text])
    assert len(ranking) <= 3
    assert time.monotonic() - started < 2
    assert ("grounding" in text and not text.startswith("g" * 100)) == (bool(ranking) and "grounding" in text)


def test_only_what_was_said_and_recorded_in_time_is_found(index: LexicalIndex) -> None:
    index.rebuild([passage(f"m{number}", "grounding", DAY.plus(days=number)) for number in range(50)], 1)
    by_day_two = DAY.plus(days=2)
    assert set(found(index, "grounding", said_by=by_day_two)) == {"m0", "m1", "m2"}
    assert set(found(index, "grounding", known_at=by_day_two)) == {"m0", "m1", "m2"}
    assert found(index, "grounding", said_by=DAY.plus(micros=-1)) == []
    assert index.search("grounding", 0) == []


def test_the_index_follows_the_log(index: LexicalIndex) -> None:
    index.apply(
        [change(4, "four", "a beryl"), change(5, "five", "an emerald"), change(6, "four", None, removed="a beryl")]
    )
    assert index.position == 6
    assert found(index, "beryl") == []
    assert found(index, "emerald") == ["five"]


def test_a_changed_text_is_found_by_its_new_words_only(index: LexicalIndex) -> None:
    index.apply([change(4, "one", "a beryl", removed=TEXTS["one"])])
    assert found(index, "beryl") == ["one"]
    assert found(index, "grounding") == []


def test_commits_are_applied_once(index: LexicalIndex) -> None:
    for _ in range(2):
        index.apply([change(3, "three", "stale"), change(4, "four", "a beryl")])
    assert (found(index, "beryl"), found(index, "stale"), index.position) == (["four"], [], 4)


def test_a_commit_elsewhere_only_moves_the_position(index: LexicalIndex, folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    index.apply([change(9, "nine", "a beryl", graph=NAMES.graph("semantic"))])
    assert (index.position, found(index, "beryl")) == (9, [])
    assert sorted(path.name for path in folder.iterdir()) == before


def test_many_small_commits_stay_few_files_and_lose_nothing(index: LexicalIndex, folder: Path) -> None:
    for number in range(4, 44):
        index.apply([change(number, f"m{number}", f"beryl number{number}")])
    assert len(list(folder.glob("*.seg"))) <= 9
    assert found(index, "number23")[0] == "m23"
    assert len(index.search("beryl", 100)) == 40
    assert LexicalIndex.open(folder, GRAPH).position == 43


def test_what_follows_the_log_and_what_is_rebuilt_answer_the_same(folder: Path, tmp_path: Path) -> None:
    followed, rebuilt = LexicalIndex.open(folder, GRAPH), LexicalIndex.open(tmp_path / "other", GRAPH)
    followed.rebuild([], 0)
    for number, (name, text) in enumerate(TEXTS.items(), start=1):
        followed.apply([change(number, name, text)])
    rebuilt.rebuild([passage(name, text) for name, text in TEXTS.items()], 3)
    for text in ("ADR-808 grounding", "snake", "project pip"):
        assert found(followed, text) == found(rebuilt, text)
    followed.close()
    rebuilt.close()


def test_reopened_it_answers_the_same(index: LexicalIndex, folder: Path) -> None:
    again = LexicalIndex.open(folder, GRAPH)
    assert (again.position, found(again, "grounding")) == (3, ["one"])
    again.close()


def test_without_a_folder_it_is_kept_for_now() -> None:
    index = LexicalIndex.open(None, GRAPH)
    index.rebuild([passage("one", "beryl")], 1)
    assert found(index, "beryl") == ["one"]
    index.close()


def test_a_missing_index_says_so_and_answers_nothing(folder: Path) -> None:
    index = LexicalIndex.open(folder, GRAPH)
    assert index.health().status == "absent"
    assert "prism reindex" in index.health().detail
    assert index.search("grounding", 10) == []
    index.apply([change(1, "one", "beryl")])
    assert index.position is None


def test_a_folder_deleted_under_it_is_noticed_and_mended(index: LexicalIndex, folder: Path) -> None:
    shutil.rmtree(folder)
    assert index.health().status == "absent"
    index.apply([change(4, "four", "beryl")])
    assert index.position == 3
    index.rebuild([passage("four", "beryl")], 4)
    assert (index.health().status, found(index, "beryl")) == ("ok", ["four"])


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("pattern", ["*.toc", "*.seg"])
def test_truncated_files_are_damage_and_rebuild_mends_it(
    index: LexicalIndex, folder: Path, pattern: str, keep: float
) -> None:
    index.close()
    for path in folder.glob(pattern):
        os.truncate(path, int(path.stat().st_size * keep))
    damaged = LexicalIndex.open(folder, GRAPH)
    assert damaged.health().status == "failed"
    assert "prism reindex" in damaged.health().detail
    assert damaged.search("grounding", 10) == []
    damaged.rebuild([passage(name, text) for name, text in TEXTS.items()], 3)
    assert (damaged.health().status, found(damaged, "grounding")) == ("ok", ["one"])
    damaged.close()


def test_damage_found_while_searching_is_an_error_that_says_what_to_do(index: LexicalIndex, folder: Path) -> None:
    index.close()
    for path in folder.glob("*.seg"):
        with path.open("r+b") as file:
            file.seek(12)
            file.write(b"\xff" * (path.stat().st_size // 3))
    damaged = LexicalIndex.open(folder, GRAPH)
    if damaged.health().status == "ok":
        with pytest.raises(OSError, match="prism reindex"):
            damaged.search(" ".join(TEXTS.values()), 10)
    assert damaged.health().status == "failed"
    damaged.close()


def test_another_format_is_absent_not_misread(
    index: LexicalIndex, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical_module, "FORMAT", "passages0")
    other = LexicalIndex.open(folder, GRAPH)
    assert other.health().status == "failed"
    assert other.position is None


def test_a_full_disk_leaves_the_index_where_it_was(index: LexicalIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("whoosh.writing.SegmentWriter._commit_toc", full)
        index.apply([change(4, "four", "a beryl")])
        assert index.position == 3
        assert "No space left" in index.health().detail
        assert found(index, "grounding") == ["one"]
        with pytest.raises(OSError, match="No space left"):
            index.rebuild([passage("four", "a beryl")], 4)
        assert found(index, "grounding") == ["one"]
    index.apply([change(4, "four", "a beryl")])
    assert (index.position, index.health().detail, found(index, "beryl")) == (4, "", ["four"])


KILLED = """
import sys
from pathlib import Path
from pyoxigraph import NamedNode
from prism_rdf.clock import Instant
from prism_rdf.recall import LexicalIndex, Passage
index = LexicalIndex.open(Path(sys.argv[1]), NamedNode(sys.argv[2]))
number = 0
while True:
    number += 1
    index.rebuild([Passage(f"urn:m:{n}", f"beryl {n} " * 50) for n in range(number, number + 200)], number)
    print(number, flush=True)
"""


def test_killed_while_indexing_it_opens_whole_or_says_what_to_do(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    for pause in (0.0, 0.05):
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(folder), GRAPH.value], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "1"
        time.sleep(pause)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        index = LexicalIndex.open(folder, GRAPH)
        if index.health().status == "ok":
            assert index.position is not None
            assert len(index.search("beryl", 500)) == 200
        else:
            assert "prism reindex" in index.health().detail
        index.rebuild([passage("one", "beryl")], 7)
        assert (index.position, found(index, "beryl")) == (7, ["one"])
        index.close()


def test_several_threads_ask_while_one_writes(index: LexicalIndex) -> None:
    wrong: list[object] = []

    def ask() -> None:
        for _ in range(30):
            answer = found(index, "grounding")
            if answer != ["one"]:
                wrong.append(answer)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(4, 12):
        index.apply([change(number, f"m{number}", "beryl")])
    for thread in threads:
        thread.join()
    assert wrong == []
    assert index.position == 11


@pytest.mark.parametrize(("last_commit", "status"), [(3, "ok"), (5, "lagging"), (1, "failed")])
def test_the_leg_knows_whether_it_lags(index: LexicalIndex, last_commit: int, status: str) -> None:
    health = LexicalLeg(index, lambda: last_commit).health()
    assert (health.status, health.position) == (status, 3)
    assert bool(health.detail) == (status != "ok")


def test_the_leg_asks_the_index(index: LexicalIndex) -> None:
    leg = LexicalLeg(index, lambda: 3)
    question = Question("pip", expansions=("ADR-808",))
    names = [NAMES.uuid_of(iri) for iri, _ in leg.search(question, DAY, 10)]
    assert sorted(names) == ["one", "two"]
    assert leg.search(question, DAY.plus(micros=-1), 10) == []
