"""The vector leg in a whole store: it follows every write, says how far it is, and fails softly."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prism_rdf import Prism, answering
from prism_rdf.errors import BadArgument, NotFoundError, RefusedError
from prism_rdf.recall import LexicalIndex, embedders
from prism_rdf.recall.embedders import CallableEmbedder
from prism_rdf.recall.following import VectorLeg

MEANINGS = {"fast": 0, "quick": 0, "rapid": 0, "slow": 1, "cat": 2, "kitten": 2, "harbour": 3, "port": 3}


def by_meaning(texts: Sequence[str]) -> Any:
    """Return rows in which words of one meaning have one direction."""
    rows = np.zeros((len(texts), 5))
    for row, text in enumerate(texts):
        rows[row, 4] = 0.1
        for word in text.casefold().replace(":", " ").split():
            if word in MEANINGS:
                rows[row, MEANINGS[word]] += 1
    return rows


EMBEDDER = CallableEmbedder(by_meaning, "by meaning", 5)


def test_what_says_the_same_in_other_words_is_found() -> None:
    with Prism.in_memory(embedder=EMBEDDER) as prism:
        project = prism.project("demo")
        project.remember("the kitten sleeps")
        project.remember("the port is frozen")
        found = project.recall("cat")
        assert found["legs"]["vector"]["status"] == "ok"
        assert found["hits"][0]["content"] == "the kitten sleeps"
        assert found["hits"][0]["legs"] == {"vector": 1}


def test_the_leg_follows_what_is_written_and_taken_back(tmp_path: Path) -> None:
    with Prism.open(tmp_path, exclusive=True, embedder=EMBEDDER) as prism:
        project = prism.project("demo")
        for number in range(5):
            project.remember(f"note {number} about a quick thing")
            assert project.recall("rapid", limit=50)["legs"]["vector"]["found"] == number + 1
        project.revert(prism.commit_number)
        assert len(project.recall("rapid", limit=50)["hits"]) == 4
    with Prism.open(tmp_path, exclusive=True, embedder=EMBEDDER) as prism:
        assert len(prism.project("demo").recall("rapid", limit=50)["hits"]) == 4


def test_another_model_is_refused_until_the_index_is_made_anew(tmp_path: Path) -> None:
    with Prism.open(tmp_path, exclusive=True, embedder=EMBEDDER) as prism:
        prism.project("demo").remember("the kitten sleeps")
        prism.project("demo").recall("cat")
    other = CallableEmbedder(by_meaning, "another", 5)
    with Prism.open(tmp_path, exclusive=True, embedder=other) as prism:
        project = prism.project("demo")
        said = project.recall("cat")["legs"]["vector"]
        assert said["status"] == "failed"
        assert "was made by by meaning and is asked by another" in said["detail"]
        project.reindex()
        assert project.recall("cat")["hits"][0]["content"] == "the kitten sleeps"


def test_a_model_is_changed_while_the_old_one_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    def slowly(texts: Sequence[str]) -> Any:
        gate.wait(30)
        return by_meaning(texts)[:, :4] + 0.01

    models = {"minilm": EMBEDDER, "sentence-transformers:x": CallableEmbedder(slowly, "x", 4)}
    monkeypatch.setattr(embedders, "chosen", models.__getitem__)
    monkeypatch.delenv("PRISM_EMBEDDER", raising=False)
    with Prism.open(tmp_path, exclusive=True) as prism:
        project = prism.project("demo")
        project.remember("the kitten sleeps")
        assert project.recall("cat")["hits"][0]["legs"] == {"vector": 1}
        project.reindex("sentence-transformers:x")
        found = project.recall("cat")
        assert found["hits"][0]["legs"] == {"vector": 1}
        assert "being made anew" in found["legs"]["vector"]["detail"]
        project.remember("the port is frozen")
        assert prism.folder is not None
        assert prism.folder.kept_embedder("demo") == ""
        gate.set()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            found = project.recall("harbour")
            if "detail" not in found["legs"]["vector"] and found["legs"]["vector"]["status"] == "ok":
                break
            time.sleep(0.02)
        assert found["hits"][0]["content"] == "the port is frozen"
        assert prism.folder.kept_embedder("demo") == "sentence-transformers:x"
    with Prism.open(tmp_path, exclusive=True) as prism:
        assert prism.project("demo").recall("cat")["legs"]["vector"]["status"] == "ok"
    with Prism.open(tmp_path, exclusive=True, embedder=EMBEDDER) as prism:
        assert "asked by by meaning" in prism.project("demo").recall("cat")["legs"]["vector"]["detail"]


def test_a_change_of_model_that_is_cut_off_leaves_the_old_one(tmp_path: Path) -> None:
    gate = threading.Event()

    def stuck(texts: Sequence[str]) -> Any:
        gate.wait(30)
        return by_meaning(texts)

    with Prism.open(tmp_path, exclusive=True, embedder=EMBEDDER) as prism:
        project = prism.project("demo")
        for number in range(40):
            project.remember(f"kitten {number}")
        project.recall("cat")
        leg = prism.answering("demo").legs()[0]
        assert isinstance(leg, VectorLeg)
        leg.rebuild(CallableEmbedder(stuck, "stuck", 5))
        threading.Timer(0.2, gate.set).start()
        leg.close()
    with Prism.open(tmp_path, exclusive=True, embedder=EMBEDDER) as prism:
        found = prism.project("demo").recall("cat", limit=50)
        assert (found["legs"]["vector"]["status"], found["legs"]["vector"]["found"]) == ("ok", 40)


def test_a_model_that_is_not_there_changes_nothing(tmp_path: Path) -> None:
    with Prism.open(tmp_path, exclusive=True, embedder=EMBEDDER) as prism:
        project = prism.project("demo")
        project.remember("the kitten sleeps")
        with pytest.raises(BadArgument, match="'word2vec' is no embedder"):
            project.reindex("word2vec")
        assert project.recall("cat")["legs"]["vector"]["status"] == "ok"


def test_a_leg_far_behind_says_so_and_is_left_out(tmp_path: Path) -> None:
    gate = threading.Event()

    def slowly(texts: Sequence[str]) -> Any:
        if "sleeps" in " ".join(texts):
            gate.wait(30)
        return by_meaning(texts)

    with Prism.open(tmp_path, exclusive=True, embedder=CallableEmbedder(slowly, "slow", 5)) as prism:
        project = prism.project("demo")
        project.remember("the kitten sleeps")
        leg = project.recall("kitten")["legs"]["vector"]
        assert leg["status"] == "lagging"
        assert leg["found"] == 0
        assert "0 memories embedded, 1 to go" in leg["detail"]
        assert project.recall("kitten")["hits"][0]["legs"] == {"lexical": 1}
        gate.set()
        for _ in range(20):
            leg = project.recall("cat")["legs"]["vector"]
            if leg["status"] == "ok":
                break
        assert leg["found"] == 1


def test_an_embedder_that_fails_is_named_and_the_rest_answers(tmp_path: Path) -> None:
    def broken(texts: Sequence[str]) -> Any:
        raise RuntimeError("out of luck")

    with Prism.open(tmp_path, exclusive=True, embedder=CallableEmbedder(broken, "broken", 5)) as prism:
        project = prism.project("demo")
        project.remember("the kitten sleeps")
        found = project.recall("kitten")
        assert found["legs"]["vector"]["status"] == "failed"
        assert "out of luck" in found["legs"]["vector"]["detail"]
        assert found["hits"][0]["content"] == "the kitten sleeps"


def test_forgetting_takes_the_vectors_too(tmp_path: Path) -> None:
    with Prism.open(tmp_path, exclusive=True, embedder=EMBEDDER) as prism:
        project = prism.project("demo")
        memory = project.remember("the kitten sleeps").created[0]
        project.remember("the port is frozen")
        project.recall("cat")
        project.forget(memory)
        assert [hit["content"] for hit in project.recall("cat")["hits"]] == ["the port is frozen"]
        rows = [path.read_bytes() for path in tmp_path.rglob("rows.f32")]
        gone = (by_meaning(["kitten"])[0] / np.linalg.norm(by_meaning(["kitten"])[0])).astype(np.float32).tobytes()
        assert rows
        assert all(gone not in each for each in rows)


def test_an_embedder_belongs_to_the_owner_of_a_store(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match="an embedder was given for a store that may be shared"):
        Prism.open(tmp_path, embedder=EMBEDDER)


def test_a_disk_that_refuses_the_words_leaves_recall_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def refuse(index: LexicalIndex, passages: object, position: int) -> None:
        tried.append(position)
        raise OSError(28, "No space left on device")

    with Prism.open(tmp_path, exclusive=True, embedder=EMBEDDER) as prism:
        project = prism.project("demo")
        project.remember("the kitten sleeps")
        with monkeypatch.context() as full:
            full.setattr(LexicalIndex, "rebuild", refuse)
            for _ in range(2):
                found = project.recall("cat sleeps")
                assert found["hits"][0]["legs"] == {"vector": 1}
                assert found["legs"]["lexical"]["detail"] == "there is no lexical index: run prism reindex"
            assert len(tried) == 1
            with pytest.raises(RefusedError, match="No space left on device") as refused:
                project.reindex()
            assert "make room" in refused.value.mend
        project.reindex()
        assert project.recall("sleeps")["hits"][0]["legs"].keys() >= {"lexical"}


def test_a_model_that_is_installed_later_is_found_by_the_store_that_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    there: list[CallableEmbedder] = []

    def choose(setting: str) -> CallableEmbedder:
        if not there:
            raise NotFoundError("the embedding model lacks model.onnx", mend="run prism model install")
        return there[0]

    monkeypatch.setattr(embedders, "chosen", choose)
    monkeypatch.delenv("PRISM_EMBEDDER", raising=False)
    monkeypatch.setattr(answering, "_LOOKED_FOR_AGAIN", 0.0)
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.remember("the kitten sleeps")
        said = project.recall("cat")["legs"]["vector"]
        assert said["status"] == "absent"
        assert "run prism model install" in said["detail"]
        there.append(EMBEDDER)
        assert project.recall("cat")["hits"][0]["legs"] == {"vector": 1}
    there.clear()
    monkeypatch.setattr(answering, "_LOOKED_FOR_AGAIN", 60.0)
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.remember("the kitten sleeps")
        assert project.recall("cat")["hits"] == []
        there.append(EMBEDDER)
        project.reindex()
        assert project.recall("cat")["hits"][0]["legs"] == {"vector": 1}
