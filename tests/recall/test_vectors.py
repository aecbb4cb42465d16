"""The vector index: what it finds, that nothing is found that is not there, and what a crash leaves behind."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from pyoxigraph import NamedNode

from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument
from prism_rdf.recall.embedders import CallableEmbedder, unit
from prism_rdf.recall.memories import Passage
from prism_rdf.recall.nearest import Nearest
from prism_rdf.recall.vectors import VectorIndex, described

GRAPH = NamedNode("urn:test:graph/memory")
EARLY, LATE = Instant.parse("2026-01-01T00:00:00Z"), Instant.parse("2026-06-01T00:00:00Z")


def bag_of_words(texts: list[str]) -> np.ndarray:
    """Return a row for each text in which each of its words has a direction of its own."""
    rows = np.zeros((len(texts), 64))
    for row, text in enumerate(texts):
        for word in text.casefold().replace(":", " ").split():
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
            rows[row] += np.random.default_rng(seed).standard_normal(64)
    return rows


EMBEDDER = CallableEmbedder(bag_of_words, "words", 64)


def passage(number: int, text: str, said: Instant = EARLY, recorded: Instant = EARLY) -> Passage:
    return Passage(f"urn:test:memory/{number}", text, said=said, recorded=recorded)


def filled(folder: Path | None) -> VectorIndex:
    index = VectorIndex(folder, GRAPH, EMBEDDER)
    texts = ["graph stores are fast", "cats sleep all day", "the harbour freezes in winter"]
    index.rebuild([passage(number, text) for number, text in enumerate(texts)], 3)
    return index


def test_the_text_with_the_same_words_is_nearest(tmp_path: Path) -> None:
    index = filled(tmp_path / "vectors")
    found = index.search(["how fast are graph stores"], 2)
    assert found[0][0] == "urn:test:memory/0"
    assert found[0][1] > found[1][1]
    assert index.health().status == "ok"
    assert index.position == 3


def test_what_was_said_or_recorded_later_is_not_found(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path / "vectors", GRAPH, EMBEDDER)
    index.rebuild([passage(0, "graph"), passage(1, "graph", LATE), passage(2, "graph", EARLY, LATE)], 1)
    assert len(index.search(["graph"], 9)) == 3
    assert [iri for iri, _ in index.search(["graph"], 9, said_by=EARLY, known_at=EARLY)] == ["urn:test:memory/0"]


def test_an_index_opened_again_answers_the_same(tmp_path: Path) -> None:
    index = filled(tmp_path / "vectors")
    before = index.search(["cats"], 3)
    index.close()
    assert VectorIndex(tmp_path / "vectors", GRAPH, EMBEDDER).search(["cats"], 3) == before


@pytest.mark.parametrize("extra", ["rows.f32", "entries.jsonl"])
def test_what_a_crash_left_behind_the_last_state_does_not_count(tmp_path: Path, extra: str) -> None:
    index = filled(tmp_path / "vectors")
    before = index.search(["cats"], 3)
    index.close()
    with (tmp_path / "vectors" / extra).open("ab") as file:
        file.write(b"torn")
    again = VectorIndex(tmp_path / "vectors", GRAPH, EMBEDDER)
    assert again.search(["cats"], 3) == before
    assert len(again) == 3
    again._extend([passage(7, "dogs bark")], 4)
    again.close()
    third = VectorIndex(tmp_path / "vectors", GRAPH, EMBEDDER)
    assert third.search(["dogs bark"], 1)[0][0] == "urn:test:memory/7"


@pytest.mark.parametrize("lost", ["rows.f32", "entries.jsonl"])
def test_a_truncated_index_says_so_and_is_made_anew(tmp_path: Path, lost: str) -> None:
    filled(tmp_path / "vectors").close()
    path = tmp_path / "vectors" / lost
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    index = VectorIndex(tmp_path / "vectors", GRAPH, EMBEDDER)
    assert index.health().status == "failed"
    assert "prism reindex" in index.health().detail
    index.rebuild([passage(0, "cats")], 3)
    assert index.health().status == "ok"
    assert len(index.search(["cats"], 3)) == 1


def test_vectors_of_two_models_are_never_compared(tmp_path: Path) -> None:
    filled(tmp_path / "vectors").close()
    other = VectorIndex(tmp_path / "vectors", GRAPH, CallableEmbedder(bag_of_words, "others", 64))
    assert other.health().status == "failed"
    assert "was made by words and is asked by others" in other.health().detail
    assert other.search(["cats"], 3) == []


def test_nothing_stays_of_a_memory_that_was_taken_out(tmp_path: Path) -> None:
    index = filled(tmp_path / "vectors")
    index._compact({"urn:test:memory/1"})
    assert {iri for iri, _ in index.search(["cats"], 3)} == {"urn:test:memory/0", "urn:test:memory/2"}
    row = unit(bag_of_words(["cats sleep all day"])[0]).tobytes()
    assert row not in (tmp_path / "vectors" / "rows.f32").read_bytes()
    assert "memory/1" not in (tmp_path / "vectors" / "entries.jsonl").read_text()


def clustered(random: np.random.Generator, centres: np.ndarray, count: int) -> np.ndarray:
    picked = centres[random.integers(len(centres), size=count)]
    rows = picked + 0.6 * random.standard_normal((count, centres.shape[1]))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def ranked(rows: np.ndarray, vector: np.ndarray, allowed: np.ndarray, limit: int) -> list[int]:
    scores = np.where(allowed, rows @ vector, -np.inf)
    return np.lexsort((np.arange(len(rows)), -scores))[:limit].tolist()


def test_bytes_and_rows_together_find_what_the_rows_find(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    centres = random.standard_normal((40, 32))
    rows = clustered(random, centres, 3000)
    rows[7] = 0  # a text without a word
    near = Nearest(tmp_path, 32)
    near.append(rows[:2000])
    near.append(rows[2000:])
    allowed = random.random(3000) < 0.6
    for vector in clustered(random, centres, 30):
        found = near.view().search(vector, 50, allowed)
        assert [row for row, _ in found] == ranked(rows, vector, allowed, 50)
        assert [score for _, score in found] == pytest.approx((rows[[row for row, _ in found]] @ vector).tolist())
    assert near.view().search(rows[0], 5, np.zeros(3000, bool)) == []


def test_a_graph_of_neighbours_finds_what_exact_search_finds(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    centres = random.standard_normal((40, 32))
    rows = clustered(random, centres, 4000)
    near = Nearest(tmp_path, 32, scanned=1000)
    near.append(rows[:3500])
    assert near.untended
    while near.untended:
        near.tend()
    near.append(rows[3500:])  # beside the graph, until it takes them in
    assert not near.untended
    allowed = np.arange(4000) % 3 > 0
    for _ in range(2):
        same = 0
        for vector in clustered(random, centres, 50):
            found = [row for row, _ in near.view().search(vector, 10, allowed)]
            assert all(allowed[found])
            same += len(set(found) & set(ranked(rows, vector, allowed, 10)))
        assert same / 500 >= 0.98
        near.close()
        near = Nearest(tmp_path, 32, scanned=1000)
        near.attach(4000)
        assert not near.untended, "the graph was kept"


def test_a_graph_that_was_begun_is_gone_on_with_and_a_damaged_one_is_made_anew(tmp_path: Path) -> None:
    rows = clustered(np.random.default_rng(7), np.eye(8), 2500)
    near = Nearest(tmp_path, 8, scanned=500)
    near.append(rows)
    near.tend()
    near.close()
    for damage in (False, True):
        if damage:
            path = tmp_path / "graph.usearch"
            path.write_bytes(path.read_bytes()[:100])
        near = Nearest(tmp_path, 8, scanned=500)
        near.attach(2500)
        assert near.untended
        assert near.view().search(rows[2400], 1, np.ones(2500, bool))[0][0] == 2400
        while near.untended:
            near.tend()
        assert near.view().search(rows[2400], 1, np.ones(2500, bool))[0][0] == 2400
        near.close()


def test_rows_without_their_bytes_get_them_when_they_are_opened(tmp_path: Path) -> None:
    rows = clustered(np.random.default_rng(7), np.eye(8), 100)
    Nearest(tmp_path, 8).append(rows)
    whole = (tmp_path / "rows.i8").read_bytes()
    for kept in (0, 5 * 12 + 3, len(whole)):
        (tmp_path / "rows.i8").write_bytes((whole + b"torn")[:kept])
        Nearest(tmp_path, 8).attach(100)
        assert (tmp_path / "rows.i8").read_bytes() == whole


def test_an_embedder_that_gives_something_else_is_refused() -> None:
    with pytest.raises(BadArgument, match="shape"):
        CallableEmbedder(lambda texts: np.zeros((1, 3)), "broken", 4).embed(["one", "two"])


def test_a_header_says_where_and_when() -> None:
    long = Passage("urn:x", "Kuzu is chosen.", heading="ADR-7: Graph store / Decision", said=EARLY)
    assert described(long) == "ADR-7: Graph store / Decision (2026-01-01): Kuzu is chosen."
    assert described(Passage("urn:x", "Kuzu is chosen.")) == "Kuzu is chosen."
