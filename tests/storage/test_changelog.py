"""The change log keeps what it acknowledged, whole lines only."""

from __future__ import annotations

import os

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from prism_rdf.clock import Instant
from prism_rdf.errors import RefusedError
from prism_rdf.storage import changelog
from prism_rdf.storage.changelog import ChangeLog, LoggedChange


def change(number, text='a\nb\u2028"c"'):
    quad = Quad(NamedNode("urn:s"), NamedNode("urn:p"), Literal(text, language="en"), NamedNode("urn:g"))
    return LoggedChange(number, Instant(number), "demo", "test", (quad,), ())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "changes.log"


@pytest.fixture
def opened(path):
    logs = []

    def open_log():
        logs.append(ChangeLog(path))
        return logs[-1]

    yield open_log
    for log in logs:
        log.close()


def test_what_was_appended_is_read_back(opened):
    log = opened()
    for number in (1, 2, 3):
        log.append(change(number))
    assert list(log.read(1)) == [change(2), change(3)]
    log.close()
    assert list(opened().read(0)) == [change(1), change(2), change(3)]


def test_an_aborted_commit_is_not_read_and_its_number_can_be_used_again(opened):
    log = opened()
    log.append(change(1))
    log.append(change(2, "refused"))
    log.abort(2)
    log.append(change(2, "accepted"))
    assert list(log.read(0)) == [change(1), change(2, "accepted")]


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_torn_last_line_is_cut_off_on_open(path, opened, cut):
    log = opened()
    log.append(change(1))
    whole = path.stat().st_size
    log.append(change(2))
    log.close()
    os.truncate(path, path.stat().st_size - cut)
    log = opened()
    assert path.stat().st_size == whole
    assert list(log.read(0)) == [change(1)]
    log.append(change(2))
    assert list(log.read(0)) == [change(1), change(2)]


def test_a_damaged_line_is_refused_by_name(path, opened):
    log = opened()
    log.append(change(1))
    log.append(change(2))
    log.close()
    data = bytearray(path.read_bytes())
    data[30] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(RefusedError, match="is damaged near byte"):
        list(opened().read(0))


def test_a_failed_append_leaves_nothing(opened, monkeypatch):
    log = opened()
    log.append(change(1))
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(RefusedError, match="No space left"):
        log.append(change(2))
    monkeypatch.undo()
    assert list(log.read(0)) == [change(1)]


def test_reading_since_any_number_finds_its_place(opened, monkeypatch):
    monkeypatch.setattr(changelog, "_MOST_PLACES", 20)  # of the others the place is looked for
    log = opened()
    for number in range(1, 60):
        log.append(change(number, "x" * (number * 37 % 211)))
        if number % 7 == 0:
            log.abort(number)
            log.append(change(number, "again"))
    everything = list(log.read(0))
    assert [each.number for each in everything] == list(range(1, 60))
    reopened = opened()
    for since in range(61):
        assert list(log.read(since)) == everything[since:]
        assert list(reopened.read(since)) == everything[since:]


def test_a_part_of_a_commit_is_read_by_its_graphs(opened):
    log = opened()
    node, large = NamedNode("urn:n"), 'says <urn:two> .\n "and" more\x85\u2028'
    quads = [
        Quad(node, node, value, graph)
        for graph in (NamedNode("urn:one"), NamedNode("urn:two"))
        for value in (
            Literal(large),
            Literal("1", datatype=NamedNode("urn:kind")),
            NamedNode("urn:two"),
            BlankNode("b"),
        )
    ]
    log.append(LoggedChange(1, Instant(1), "demo", "load", tuple(quads), (quads[0],)))
    (text,) = log.read_texts(0)
    assert (text.adds.count("\n"), text.removes.count("\n")) == (8, 1)
    assert text.change() == LoggedChange(1, Instant(1), "demo", "load", tuple(quads), (quads[0],))
    part = text.change(lambda graph: graph == "urn:two")
    assert (part.adds, part.removes) == (tuple(quads[4:]), ())
