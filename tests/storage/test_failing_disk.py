"""After an error of the disk the engine takes nothing any more: the store is opened anew, and goes on."""

from __future__ import annotations

import threading
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf import Prism, StorageFailed
from prism_rdf.storage import embedded
from prism_rdf.storage.embedded import EmbeddedStore

GRAPH = NamedNode("urn:g")
Usage = namedtuple("Usage", "total used free")


def quad(number: int) -> Quad:
    return Quad(NamedNode(f"urn:s{number}"), NamedNode("urn:p"), Literal(number), GRAPH)


class Failing:
    """An engine of which every write fails, and which can be read."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def update(self, text: str) -> None:
        raise OSError(28, "No space left on device")

    extend = bulk_extend = bulk_load = backup = update

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def __contains__(self, quad: Quad) -> bool:
        return quad in self._engine

    def __iter__(self) -> Iterator[Quad]:
        return iter(self._engine)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    made = EmbeddedStore(tmp_path / "quads")
    made.apply([quad(1)], [])
    yield made
    made.close()


def break_down(store: EmbeddedStore) -> None:
    store._store = Failing(store._store)  # type: ignore[assignment]
    with pytest.raises(StorageFailed, match="No space left"):
        store.apply([quad(2)], [])
    assert quad(1) in store
    assert quad(2) not in store


WRITES = {
    "an update": lambda store: store.apply([quad(3)], []),
    "quads": lambda store: store.load([quad(3)]),
    "text": lambda store: store.load_text(f"{quad(3)} ."),
    "a patch": lambda store: store.patch({quad(3): True}),
}


@pytest.mark.parametrize("name", WRITES)
def test_the_next_write_opens_the_store_anew(store: EmbeddedStore, name: str) -> None:
    break_down(store)
    WRITES[name](store)
    assert [quad(1) in store, quad(2) in store, quad(3) in store] == [True, False, True]


def test_the_next_copy_does_so_too(store: EmbeddedStore, tmp_path: Path) -> None:
    break_down(store)
    store.copy(tmp_path / "copy")
    copy = EmbeddedStore(tmp_path / "copy")
    assert copy.size() == 1
    copy.close()


def test_while_there_is_no_room_the_store_is_read_and_not_opened_anew(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_down(store)
    monkeypatch.setattr(embedded, "disk_usage", lambda folder: Usage(1 << 30, 1 << 30, 1 << 20))
    for _ in range(2):
        with pytest.raises(StorageFailed, match="only 1 MiB are left on the disk"):
            store.apply([quad(3)], [])
        assert quad(1) in store
    monkeypatch.undo()
    store.apply([quad(3)], [])
    assert quad(3) in store


def test_who_still_reads_is_waited_for(store: EmbeddedStore) -> None:
    store.load(quad(number) for number in range(10, 2000))
    reading = store.quads_for_pattern(None, None, None)
    next(reading)
    break_down(store)
    waiting = threading.Thread(target=store.apply, args=([quad(3)], []))
    waiting.start()
    waiting.join(0.3)
    assert waiting.is_alive()
    assert len(list(reading)) == 1990
    del reading
    waiting.join(10)
    assert quad(3) in store


def test_who_asks_meanwhile_waits_and_sees_all(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_PATIENCE", 0.1)
    reading = store.quads_for_pattern(None, None, None)
    break_down(store)
    with pytest.raises(StorageFailed, match="cannot be opened again"):
        store.apply([quad(3)], [])
    with pytest.raises(StorageFailed, match="cannot be opened again"):
        store.size()  # the one that is read from still has the folder
    del reading
    assert (store.size(), quad(1) in store, len(list(store.graphs()))) == (1, True, 1)


def test_a_project_goes_on_after_an_error_of_the_disk(tmp_path: Path) -> None:
    with Prism.open(tmp_path, exclusive=True) as prism:
        project = prism.project("demo")
        made = project.entity("ADR", {"number": "ADR-1", "status": "Proposed"})
        prism.store._store = Failing(prism.store._store)
        with pytest.raises(StorageFailed):
            project.fact(made["entity"], "status", "Accepted")
        assert project.state_as_of(made["entity"])["props"]["status"] == "Proposed"
        assert project.fact(made["entity"], "status", "Rejected").commit == 2
        assert project.state_as_of(made["entity"])["props"]["status"] == "Rejected"
        assert project.check() == []
    with Prism.open(tmp_path, exclusive=True) as prism:
        assert [change.number for change in prism.changes(0)] == [1, 2]
