"""What is forgotten is in no byte of the store, its source does not bring it back, and all else is as it was."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad
from whole_stores import START, files_with, quads

from prism_rdf import Prism
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.errors import RefusedError, UnknownEntity
from prism_rdf.forgotten import TOMBSTONE
from prism_rdf.namespaces import RDF_TYPE, meta_graph
from prism_rdf.storage.changelog import LoggedChange

CANARY = "Zanzibarcanary"
SECRET = "Quetzalcanary"
PASSAGE = f"They said that {CANARY} must be accepted at once"


def fill(prism: Prism) -> dict[str, str]:
    """A thing called by the canary, others that quote it in every way there is, and bystanders. Returns uuids."""
    project = prism.project("demo")
    thing = project.entity(
        "ADR", {"number": "ADR-1", "title": CANARY}, valid_from="2025-01-01", idempotency_key=f"make {CANARY}"
    )["uuid"]
    other = project.entity("ADR", {"number": "ADR-2", "title": "Second"}, valid_from="2025-01-01")["uuid"]
    bystander = project.entity("ADR", {"number": "ADR-3", "title": "Third"}, valid_from="2025-01-01")["uuid"]
    project.transition(thing, {"title": f"{CANARY} renamed", "status": SECRET}, "rename", valid_from="2025-06-01")
    memory = project.remember(PASSAGE, source="docs/a.md@1234")
    node = next(q.subject for q in quads(prism) if isinstance(q.object, Literal) and q.object.value == PASSAGE)
    assert memory.commit is not None
    project.transition(other, {"status": "Accepted"}, valid_from="2025-03-01", cause_memory=node.value)
    project.transition(other, {"title": f"Second, after {CANARY}"}, valid_from="2025-04-01")
    project.transition(other, {"status": "Rejected"}, valid_from="2025-05-01", description=f"as {CANARY} wants")
    project.transition(bystander, {"status": "Rejected"}, valid_from="2025-05-01")
    project.reference(other, thing, "SUPERSEDES", valid_from="2025-01-01", valid_until="2030-01-01")
    project.reference(bystander, other, "EXTENDS", valid_from="2025-01-01")
    project.alias(f"{CANARY} of old", thing)
    project.alias(f"friend of {CANARY}", other)
    project.alias("friend of all", other)
    project.remember(f"only about it, {SECRET}", about=[thing])
    project.remember("about the second", about=[other])
    project.wip(thing, {"title": f"{CANARY} drafted"})
    project.wip(other, {"title": f"{CANARY} in a draft"})
    project.revert(9)
    project.recall("which one is accepted")
    prism.store.load([Quad(NamedNode("urn:x"), NamedNode("urn:p"), Literal(f"see {CANARY}"), NamedNode("urn:g"))])
    return {"thing": thing, "other": other, "bystander": bystander, "memory": node.value}


@pytest.fixture(scope="session")
def once_filled(tmp_path_factory) -> tuple[Path, dict[str, str]]:
    """The closed home of a filled store. To be copied, not used."""
    home = tmp_path_factory.mktemp("filled") / "home"
    with Prism.open(home, exclusive=True, clock=ManualClock(START)) as prism:
        return home, fill(prism)


@pytest.fixture
def filled(once_filled, open_store, home) -> tuple[Prism, dict[str, str]]:
    shutil.copytree(once_filled[0], home)
    return open_store(at=START.plus(micros=1_000_000)), once_filled[1]


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


def test_nothing_of_it_is_in_any_byte_of_the_store(filled, home):
    prism, _ = filled
    assert len(files_with(home, CANARY, SECRET)) >= 2
    done = prism.project("demo").forget(CANARY)
    assert files_with(home, CANARY, SECRET, "ADR-1 ") == []
    assert done["commit"] == prism.commit_number
    assert prism.project("demo").check() == []
    assert prism.project("demo").recall("about the second")["hits"]
    assert files_with(home, CANARY, SECRET) == []
    prism.close()
    assert files_with(home, CANARY, SECRET) == []


def test_the_thing_is_unknown_and_so_is_its_uuid(filled, home):
    prism, ids = filled
    prism.project("demo").forget("ADR-1")
    for ref in (ids["thing"], CANARY, "ADR-1"):
        with pytest.raises(UnknownEntity):
            prism.project("demo").resolve(ref)
    prism.close()
    assert files_with(home, ids["thing"], ids["memory"].rpartition("/")[2]) == []


def test_bystanders_keep_their_history_on_both_axes(filled, open_store, home):
    prism, ids = filled
    before = story(prism, ids["bystander"])
    commits = {change.number: change.recorded_at for change in prism.changes(0)}
    prism.project("demo").forget(CANARY)
    after = story(prism, ids["bystander"])
    assert after[:2] == before[:2]
    kept = dict(after[2:])
    assert {number: told for number, told in before[2:] if number in kept} == {
        number: told for number, told in kept.items() if number in commits
    }
    assert {change.number: change.recorded_at for change in prism.changes(0)}.items() <= {
        **commits,
        prism.commit_number: prism.site.committer.recorded_at,
    }.items()
    prism.close()
    again = open_store(at=START.plus(days=1))
    assert story(again, ids["bystander"])[0] == before[0]


def test_who_quoted_it_is_told_as_if_that_had_never_been_said(filled):
    prism, ids = filled
    prism.project("demo").forget(CANARY)
    project = prism.project("demo")
    told = [(state["valid_from"][:10], state["props"]) for state in project.history(ids["other"])]
    sealed = [each for each in told if "draft" not in str(each)]
    assert ("2025-01-01", {"number": "ADR-2", "title": "Second"}) in sealed
    assert not any(props.get("status") == "Accepted" for _, props in told)
    assert project.resolve("friend of all").value.endswith(ids["other"])
    assert project.list_references(target=ids["other"])[0]["kind"] == "EXTENDS"
    assert project.list_references(source=ids["other"]) == []
    assert [hit["content"] for hit in project.recall("about the second")["hits"]] == ["about the second"]


def test_the_log_tells_the_same_store(filled, open_store, tmp_path):
    prism, _ = filled
    done = prism.project("demo").forget(CANARY)
    after = {quad for quad in quads(prism) if quad.graph_name != NamedNode("urn:g")}
    numbers = [change.number for change in prism.changes(0)]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == done["commit"]
    assert 1 not in numbers  # only the thing was in it
    prism.backup(tmp_path / "copy")
    assert files_with(tmp_path / "copy", CANARY, SECRET) == []
    Prism.restore(tmp_path / "copy", tmp_path / "then", at=done["commit"])
    assert quads(open_store(tmp_path / "then")) == after


def test_going_back_before_the_forgetting_brings_nothing_back(filled, open_store, tmp_path, home):
    prism, _ = filled
    prism.project("demo").forget(CANARY)
    prism.backup(tmp_path / "copy")
    Prism.restore(tmp_path / "copy", tmp_path / "then", at=3)
    again = open_store(tmp_path / "then", at=START.plus(days=1))
    assert files_with(tmp_path / "then", CANARY, SECRET) == []
    receipt = again.project("demo").remember(PASSAGE, source="docs/a.md@5678")
    assert (receipt.commit, len(receipt.notes)) == (None, 1)
    assert again.project("demo").check() == []


def test_a_dry_run_lists_what_would_go_and_changes_nothing(filled):
    prism, ids = filled
    before, log = quads(prism), list(prism.changes(0))
    plan = prism.project("demo").forget(CANARY, dry_run=True)
    assert quads(prism) == before
    assert list(prism.changes(0)) == log
    assert not prism.folder.forget_key.exists()
    assert plan["commit"] is None
    by_node = {going["node"]: going for going in plan["going"]}
    assert by_node[f"urn:prism:default/demo/entity/{ids['thing']}"]["why"] == "itself"
    assert by_node[ids["memory"]]["why"] == "quotes it"
    assert by_node[ids["memory"]]["says"] == PASSAGE
    said = {(going["what"], going["why"]) for going in plan["going"]}
    assert said >= {
        *(("entity", "itself"), ("state", "itself"), ("event", "itself"), ("draft", "itself"), ("alias", "itself")),
        *(("memory", "quotes it"), ("alias", "quotes it"), ("reference", "quotes it"), ("assertion", "quotes it")),
        ("statement", "quotes it"),
        ("event", "caused by what quotes it"),
    }
    assert not any(ids["bystander"] in going["node"] for going in plan["going"])
    assert any("backups" in note for note in plan["notes"])
    done = prism.project("demo").forget(CANARY)
    assert done["going"] == plan["going"]


def test_reading_its_source_again_does_not_bring_it_back(prism, tmp_path, home):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "0001-canary.md").write_text(f"# ADR-0001: {CANARY}\n\n## Status\n\nAccepted\n\n{SECRET}\n")
    (docs / "0002-other.md").write_text("# ADR-0002: Other\n\n## Status\n\nAccepted\n\nExtends ADR-0001.\n")
    (docs / "0003-third.md").write_text("# ADR-0003: Third\n\n## Status\n\nProposed\n\nOn its own.\n")
    project = prism.project("demo")
    project.ingest(docs)
    kept = project.history("ADR-0003")
    project.forget("ADR-0001")
    assert files_with(home, CANARY, SECRET) == []
    before = quads(prism)

    again = project.ingest(docs)["receipt"]
    assert again["commit"] is None
    assert again["notes"][0].startswith("left out, because it was forgotten here: ")
    assert "1 entity" in again["notes"][0]
    assert quads(prism) == before

    (docs / "0003-third.md").write_text("# ADR-0003: Third\n\n## Status\n\nAccepted\n\nNow with ADR-0001 in it.\n")
    written = project.ingest(docs)["receipt"]
    assert written["commit"] == prism.commit_number
    assert files_with(home, CANARY, SECRET) == []
    assert project.history("ADR-0003")[0]["props"] == kept[0]["props"]
    assert [state["identifier"] for state in project.list_entities("ADR", as_of="2100")] == ["ADR-0002", "ADR-0003"]
    assert project.check() == []


def test_a_memory_is_forgotten_with_what_it_caused(filled, home):
    prism, ids = filled
    project = prism.project("demo")
    done = project.forget(ids["memory"])
    assert {going["what"] for going in done["going"]} >= {"memory", "event", "assertion"}
    assert files_with(home, PASSAGE) == []
    assert project.resolve(CANARY).value.endswith(ids["thing"])
    assert not any(state["props"].get("status") == "Accepted" for state in project.history(ids["other"]))
    again = project.remember(PASSAGE, source="docs/a.md@9999")
    assert (again.commit, again.notes) == (None, ("left out, because it was forgotten here: 1 memory",))
    assert project.check() == []


def test_an_entity_that_only_a_forgotten_memory_spoke_of_goes_too(prism):
    project = prism.project("demo")
    project.remember("somebody spoke of a new thing")
    memory = next(q.subject for q in quads(prism) if q.object == Literal("somebody spoke of a new thing"))
    made = project.entity("ADR", {"title": "New thing"}, valid_from="2025-01-01", cause_memory=memory.value)
    project.remember("it is still here", about=[made["uuid"]])
    done = project.forget(memory.value)
    gone = {going["node"]: going["why"] for going in done["going"]}
    assert gone[made["entity"]] == "caused by what quotes it"
    assert [hit["content"] for hit in project.recall("still here")["hits"]] == ["it is still here"]
    assert project.check() == []


def test_a_name_that_another_bears_is_no_quotation(prism):
    project = prism.project("demo")
    first = project.entity("ADR", {"number": "ADR-7", "title": "First"}, valid_from="2025-01-01")["uuid"]
    project.transition(first, {"number": "ADR-8"}, valid_from="2025-02-01")
    project.entity("ADR", {"number": "ADR-7", "title": "Another"}, valid_from="2025-03-01")
    project.remember("ADR-7 is in force")
    project.remember("ADR-8 is in force")
    done = project.forget(first)
    assert any("'ADR-7'" in note and "bore it too" in note for note in done["notes"])
    left = [hit["content"] for hit in project.recall("which is in force")["hits"]]
    assert left == ["ADR-7 is in force"]


def test_another_project_is_left_alone_and_counted(prism):
    thing = prism.project("demo").entity("ADR", {"title": CANARY}, valid_from="2025-01-01")["uuid"]
    prism.project("other").remember(PASSAGE)
    done = prism.project("demo").forget(thing)
    assert "project other quotes it 1 times, and is left alone" in done["notes"]
    assert prism.project("other").recall("what must be accepted")["hits"]
    assert prism.project("other").check() == []


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


def test_what_is_no_thing_is_not_forgotten(filled):
    prism, _ = filled
    before = quads(prism)
    with pytest.raises(UnknownEntity):
        prism.project("demo").forget("ADR-99")
    assert quads(prism) == before
    assert isinstance(Path(prism.folder.path), Path)
