"""Forgetting is whole or not at all, whatever happens meanwhile, and leaves nothing to guess at."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from canary import CANARY, PASSAGE, SECRET, fill
from pyoxigraph import Literal, NamedNode, Quad
from whole_stores import START, files_with, quads

from prism_rdf import Prism
from prism_rdf.clock import Instant
from prism_rdf.errors import RefusedError, UnknownEntity
from prism_rdf.forgotten import TOMBSTONE
from prism_rdf.namespaces import RDF_TYPE, meta_graph
from prism_rdf.storage.changelog import LoggedChange


def story(prism: Prism, uuid: str) -> list[object]:
    """The history of an entity as it is known now and as it was known after every commit that is left."""
    project = prism.project("demo")
    told: list[object] = [project.history(uuid), project.timeline(uuid)]
    for number in range(1, prism.commit_number + 1):
        try:
            known = prism.system_time(number)
        except Exception:
            continue
        told.append((number, project.history(uuid, known_at=known)))
    return told


def test_what_was_refused_after_it_was_logged_is_gone_too(prism, home):
    thing = prism.project("demo").entity("ADR", {"title": CANARY}, valid_from="2025-01-01")["uuid"]
    quad = Quad(NamedNode("urn:s"), NamedNode("urn:p"), Literal(CANARY), NamedNode("urn:g"))
    prism.site.log.append(LoggedChange(2, Instant(0), "demo", "test", (quad,), ()))
    prism.site.log.abort(2)
    (home / "default" / "owner.log").write_text(f"Traceback: {CANARY}")
    prism.project("demo").forget(thing)
    assert files_with(home, CANARY) == []


def test_a_tombstone_tells_nothing_without_the_key(filled, home):
    prism, ids = filled
    prism.project("demo").forget(CANARY)
    key = home / "default" / "forget.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_bytes()) == 32
    graves = list(prism.store.quads_for_pattern(None, RDF_TYPE, TOMBSTONE, meta_graph(prism.base)))
    assert graves
    assert not any(ids["thing"] in str(quad) for quad in quads(prism))


def test_forgetting_twice_under_one_key_is_once(filled):
    prism, _ = filled
    first = prism.project("demo").forget(CANARY, idempotency_key="once")
    again = prism.project("demo").forget(CANARY, idempotency_key="once")
    assert again["commit"] == first["commit"] == prism.commit_number
    assert again["going"] == []
    with pytest.raises(UnknownEntity):
        prism.project("demo").forget(CANARY)


def test_several_things_are_forgotten_one_after_the_other(filled, home, open_store):
    prism, ids = filled
    for name in ("thing", "other", "bystander"):
        prism.project("demo").forget(ids[name])
        assert prism.project("demo").check() == []
    assert prism.project("demo").list_entities() == []
    assert files_with(home, CANARY, SECRET, "ADR-3", *ids.values()) == []
    assert prism.folder.generation == 4
    prism.close()
    again = open_store(at=START.plus(days=1))
    assert again.project("demo").entity("ADR", {"title": "Fourth"})["commit"] == again.commit_number


def test_an_imported_store_forgets_as_well(filled, open_store, tmp_path):
    prism, ids = filled
    prism.export(tmp_path / "all.nq", "nquads")
    before = story(prism, ids["bystander"])[0]
    Prism.import_(tmp_path / "all.nq", tmp_path / "new")
    again = open_store(tmp_path / "new", at=START.plus(days=1))
    done = again.project("demo").forget(CANARY)
    assert files_with(tmp_path / "new", CANARY, SECRET) == []
    assert again.project("demo").history(ids["bystander"]) == before
    after = quads(again)
    again.backup(tmp_path / "copy")
    Prism.restore(tmp_path / "copy", tmp_path / "then", at=done["commit"])
    assert quads(open_store(tmp_path / "then", at=START.plus(days=1))) == after


def test_a_store_in_memory_forgets():
    with Prism.in_memory() as prism:
        fill(prism)
        prism.project("demo").forget(CANARY)
        assert not any(CANARY in str(quad) or SECRET in str(quad) for quad in quads(prism))
        assert prism.project("demo").check() == []
        assert prism.project("demo").remember(PASSAGE, source="docs/a.md").commit is None


def test_a_tombstone_without_its_key_is_said_to_be_of_no_use(filled, open_store, tmp_path):
    prism, _ = filled
    prism.project("demo").forget(CANARY)
    prism.export(tmp_path / "all.nq", "nquads")
    done = Prism.import_(tmp_path / "all.nq", tmp_path / "new")
    assert "forget.key" in done["notes"][0]


def test_when_the_disk_refuses_nothing_is_changed(filled, monkeypatch, home):
    prism, _ = filled
    before, log = quads(prism), list(prism.changes(0))

    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("prism_rdf.maintenance.forgetting.write_log", no_room)
    with pytest.raises(RefusedError, match="No space left"):
        prism.project("demo").forget(CANARY)
    assert quads(prism) == before
    assert list(prism.changes(0)) == log
    assert [path.name for path in (home / "default").glob("quads*")] == ["quads"]
    assert prism.project("demo").remember("on it goes").commit == len(log) + 1
    monkeypatch.undo()
    prism.project("demo").forget(CANARY)
    assert files_with(home, CANARY, SECRET) == []


CRASH = """
import os, sys
from prism_rdf import Prism
from prism_rdf.maintenance import rewriting
from prism_rdf.storage import folder

def die(*_): os._exit(9)

def die_after(function):
    def wrapped(*args):
        function(*args)
        os._exit(9)
    return wrapped

where = sys.argv[2]
if where == "before the rename":
    folder.StoreFolder.take_over = die
elif where == "after the rename":
    folder.StoreFolder.take_over = die_after(folder.StoreFolder.take_over)
elif where == "while the old one is removed":
    folder.remove = die_after(folder.remove)
with Prism.open(sys.argv[1], exclusive=True) as prism:
    rewriting.remove = lambda part: None  # nothing lies there before
    prism.project("demo").forget(sys.argv[3])
"""


@pytest.mark.parametrize("where", ["before the rename", "after the rename", "while the old one is removed"])
def test_a_crash_leaves_the_old_store_or_the_new_one(filled, open_store, home, where):
    prism, ids = filled
    before = quads(prism)
    prism.close()
    ran = subprocess.run([sys.executable, "-c", CRASH, home, where, CANARY], env=os.environ, timeout=60, check=False)
    assert ran.returncode == 9
    again = open_store(at=START.plus(days=1))
    assert again.project("demo").check() == []
    parts = {path.name.partition(".2")[0] for path in (home / "default").iterdir()}
    assert {"quads", "changes.log"} <= parts
    assert len(list((home / "default").glob("quads*"))) == len(list((home / "default").glob("changes.log*"))) == 1
    if where == "before the rename":
        assert quads(again) == before
        again.project("demo").forget(CANARY)
    assert files_with(home, CANARY, SECRET) == []
    assert again.project("demo").history(ids["bystander"])
    assert again.project("demo").remember("on it goes").commit == again.commit_number


def test_readers_and_writers_go_on_while_something_is_forgotten(filled, home):
    prism, ids = filled
    project, stop = prism.project("demo"), threading.Event()
    acknowledged: list[int | None] = []
    failed: list[BaseException] = []

    def repeat(act: Callable[[], object]) -> None:
        try:
            while not stop.is_set():
                act()
        except BaseException as error:
            failed.append(error)

    acts: list[Callable[[], object]] = [
        lambda: project.state_as_of(ids["bystander"])["props"]["number"],
        lambda: project.recall("what is about the second"),
        lambda: list(prism.sparql("SELECT * { ?s ?p ?o }", as_of="2025-07-01").rows()),
        lambda: acknowledged.append(project.remember(f"written meanwhile, {len(acknowledged)}").commit),
    ]
    threads = [threading.Thread(target=repeat, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for name in ("thing", "other"):
        project.forget(ids[name])
    stop.set()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(acknowledged) > 1
    assert set(acknowledged) <= {change.number for change in prism.changes(0)}
    assert project.check() == []
    assert files_with(home, CANARY, SECRET) == []


def test_what_is_no_thing_is_not_forgotten(filled):
    prism, _ = filled
    before = quads(prism)
    with pytest.raises(UnknownEntity):
        prism.project("demo").forget("ADR-99")
    assert quads(prism) == before
