"""A copy of a store can be brought up to date from its journal, or is told that it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Store, serialize

from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.journal import Journal

GRAPH, PROPERTY = NamedNode("urn:g"), NamedNode("urn:p")


def quad(number: int) -> Quad:
    return Quad(NamedNode(f"urn:s{number % 7}"), PROPERTY, Literal(number), GRAPH)


def content(store: Store | EmbeddedStore) -> set[bytes]:
    quads = list(store.quads_for_pattern(None, None, None))
    return set((serialize(quads, format=RdfFormat.N_QUADS) or b"").splitlines())


@pytest.mark.parametrize("folder", [None, "store"], ids=["memory", "disk"])
def test_a_copy_that_follows_is_as_the_store(tmp_path: Path, folder: str | None) -> None:
    store = EmbeddedStore(tmp_path / folder if folder else None)
    store.apply([quad(n) for n in range(20)], ())
    version = store.copy(tmp_path / "copy")
    for n in range(20, 40):
        store.apply([quad(n), Quad(BlankNode("b"), PROPERTY, Literal(n), GRAPH)], [quad(n - 20)])
    copy = Store(str(tmp_path / "copy"))
    assert len(copy) == 20
    changes = store.journal.since(version)
    assert changes is not None
    assert [change.version for change in changes] == list(range(version + 1, version + 21))
    for change in changes:
        for gone in change.removes:
            copy.remove(gone)
        copy.extend(change.adds)
    assert content(copy) == content(store)
    assert len(copy) == 40


def test_what_is_not_told_ends_what_can_be_followed() -> None:
    store = EmbeddedStore()
    store.apply([quad(1)], ())
    assert store.journal.since(0) is not None
    store.load([quad(2)])
    assert store.journal.since(1) is None
    assert store.journal.since(store.journal.version) == []
    store.patch({quad(2): False})
    store.become(EmbeddedStore())
    assert store.journal.version == 4
    assert store.journal.since(3) is None


def test_the_journal_is_bounded() -> None:
    journal = Journal(most_quads=10)
    for number in range(8):
        with journal.changing([quad(number), quad(number + 1)], [quad(number)]):
            pass
    assert journal.since(4) is None
    kept = journal.since(5)
    assert kept is not None
    assert [change.version for change in kept] == [6, 7, 8]
    with journal.changing([quad(n) for n in range(11)]):
        pass
    assert journal.since(8) is None


def test_a_change_that_failed_may_have_been_made_in_part() -> None:
    journal = Journal()
    with pytest.raises(OSError, match="disk"), journal.changing([quad(1)]):
        raise OSError("disk")
    assert journal.version == 1
    assert journal.since(0) is None
