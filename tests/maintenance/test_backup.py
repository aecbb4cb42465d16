"""A backup is one commit of a store, whole; what is restored is exactly that, or exactly an earlier commit."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import pytest
from whole_stores import START, STEPS, add_free_graphs, fill, quads

from prism_rdf import Prism
from prism_rdf.clock import Instant
from prism_rdf.errors import NotFoundError, RefusedError, StoreVersionError
from prism_rdf.maintenance import backup as making
from prism_rdf.storage.changelog import read_log
from prism_rdf.storage.embedded import EmbeddedStore


def test_what_is_restored_is_what_was_backed_up_and_goes_on(prism, open_store, tmp_path):
    fill(prism)
    add_free_graphs(prism)
    before = quads(prism)
    made = prism.backup(tmp_path / "copy")
    history = prism.project("demo").history("ADR-001")
    prism.project("demo").remember("written after the copy")
    assert made["commit"] == len(STEPS)

    restored = Prism.restore(tmp_path / "copy", tmp_path / "new")
    assert (restored["commit"], restored["tenant"]) == (len(STEPS), "default")
    again = open_store(tmp_path / "new", at=START.plus(days=1))
    assert quads(again) == before
    assert [change.number for change in again.changes(0)] == list(range(1, len(STEPS) + 1))
    assert again.project("demo").history("ADR-001") == history
    assert again.project("demo").check() == []
    assert again.project("demo").remember("after the restore").commit == len(STEPS) + 1
    assert again.project("demo").recall("which graph is used")["hits"]


def test_a_backup_holds_no_index_and_no_file_of_the_owner(prism, tmp_path):
    fill(prism)
    prism.project("demo").recall("graph")
    prism.backup(tmp_path / "copy")
    assert sorted(child.name for child in (tmp_path / "copy").iterdir()) == [
        *("backup.json", "changes.log", "prism.json", "quads"),
    ]


def test_every_commit_can_be_gone_back_to_exactly(prism, open_store, tmp_path):
    snapshots = []
    for step in STEPS:
        step(prism)
        snapshots.append((prism.site.committer.recorded_at, quads(prism)))
    prism.backup(tmp_path / "copy")
    for number, (recorded_at, then) in enumerate(snapshots, 1):
        home = tmp_path / f"then-{number}"
        assert Prism.restore(tmp_path / "copy", home, at=recorded_at if number % 2 else number)["commit"] == number
        again = open_store(home)
        assert quads(again) == then
        assert [change.number for change in again.changes(0)] == list(range(1, number + 1))
        again.close()


def test_what_came_due_meanwhile_is_current_after_going_back(prism, open_store, tmp_path):
    project = prism.project("demo")
    project.entity("ADR", {"number": "ADR-1", "title": "now"}, valid_from="2025-01-01")
    project.transition("ADR-1", {"title": "next"}, valid_from="2026-07-01")
    then = quads(prism)
    prism.clock.advance(days=60)
    prism.bring_up_to_date()  # not a commit: the change log knows nothing of it
    project.transition("ADR-1", {"title": "last"}, valid_from="2026-08-01")
    prism.backup(tmp_path / "copy")

    Prism.restore(tmp_path / "copy", tmp_path / "then", at=2)
    again = open_store(tmp_path / "then")
    assert quads(again) == then
    again.clock.advance(days=60)
    titles = "SELECT ?t { ?adr prism:title ?t }"
    assert [row[0].value for row in again.sparql(titles).rows()] == ["next"]
    assert again.project("demo").check() == []


def test_a_day_means_its_last_instant(prism, open_store, tmp_path):
    fill(prism)
    prism.clock.advance(days=2)
    prism.project("demo").remember("two days later")
    prism.backup(tmp_path / "copy")
    assert Prism.restore(tmp_path / "copy", tmp_path / "then", at="2026-06-01")["commit"] == len(STEPS)
    assert Prism.restore(tmp_path / "copy", tmp_path / "now", at="2026-06-03")["commit"] == len(STEPS) + 1


def test_backups_while_four_threads_write_are_each_one_commit(prism, open_store, tmp_path):
    project = prism.project("demo")
    project.entity("ADR", {"number": "ADR-1", "title": "0"}, valid_from="2025-01-01")
    acknowledged: list[int] = []
    stop = threading.Event()

    def write(name: int) -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            receipt = project.transition("ADR-1", {"title": f"{name}.{turn}"}, valid_from=f"2025-01-{2 + turn % 27:02}")
            if receipt.commit is not None:
                acknowledged.append(receipt.commit)

    writers = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for writer in writers:
        writer.start()
    taken = []
    for turn in range(3):
        while len(acknowledged) < 8 * (turn + 1):
            assert any(writer.is_alive() for writer in writers)
        known = max(acknowledged)
        taken.append((known, prism.backup(tmp_path / f"copy-{turn}")))
    stop.set()
    for writer in writers:
        writer.join()

    for turn, (known, made) in enumerate(taken):
        last = [change.number for change in read_log(tmp_path / f"copy-{turn}" / "changes.log")][-1]
        assert known <= made["commit"] == last
        Prism.restore(tmp_path / f"copy-{turn}", tmp_path / f"home-{turn}")
        again = open_store(tmp_path / f"home-{turn}")
        assert again.commit_number == last
        assert again.project("demo").check() == []
        again.close()


def test_a_store_in_memory_has_nothing_to_copy(tmp_path):
    with Prism.in_memory() as prism, pytest.raises(RefusedError, match="in memory"):
        prism.backup(tmp_path / "copy")


def test_a_backup_writes_over_nothing(prism, home, tmp_path):
    fill(prism)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "photo.jpg").write_text("x")
    (tmp_path / "file").write_text("x")
    for target in (tmp_path / "full", tmp_path / "file"):
        with pytest.raises(RefusedError, match="already there"):
            prism.backup(target)
    with pytest.raises(RefusedError, match="in the store itself"):
        prism.backup(home / "default" / "copy")
    assert sorted(child.name for child in tmp_path.iterdir()) == ["file", "full", "home"]
    (tmp_path / "empty").mkdir()
    assert prism.backup(tmp_path / "empty")["commit"] == len(STEPS)


def test_a_backup_that_the_disk_refuses_leaves_nothing(prism, tmp_path, monkeypatch):
    fill(prism)
    before = quads(prism)

    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(making, "_write_manifest", no_room)
    with pytest.raises(RefusedError, match="No space left"):
        prism.backup(tmp_path / "copy")
    assert [child.name for child in tmp_path.iterdir()] == ["home"]
    assert quads(prism) == before


@pytest.fixture
def copy(made, home, tmp_path):
    """A backup of a filled store; the store is at home."""
    for name in ("home", "copy"):
        shutil.copytree(made / name, tmp_path / name)
    return tmp_path / "copy"


def refused(copy: Path, home: Path, error: type[Exception], match: str, **options: object) -> None:
    """Expect a refusal after which the disk is as it was."""
    before = listing(home.parent)
    with pytest.raises(error, match=match):
        Prism.restore(copy, home, **options)
    assert listing(home.parent) == before


def listing(folder: Path) -> list[Path]:
    """What lies in a folder; the files of a live store come and go."""
    return sorted(path for path in folder.rglob("*") if path.parent.name != "quads")


def test_a_store_is_never_restored_over(copy, home, open_store):
    live = open_store()
    before = quads(live)
    refused(copy, home, RefusedError, "there already is a store")
    assert quads(live) == before
    live.close()
    refused(copy, home, RefusedError, "there already is a store")


def test_a_store_is_not_restored_among_other_things(copy, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.jpg").write_text("x")
    refused(copy, tmp_path / "photos", RefusedError, "is not a store, and it is not empty")


def test_what_is_no_backup_is_said_to_be_none(copy, home, tmp_path):
    refused(home / "default", tmp_path / "new", RefusedError, "is not a backup")
    refused(tmp_path / "nowhere", tmp_path / "new", RefusedError, "is not a backup")


def test_a_backup_of_another_tenant_is_refused(copy, tmp_path):
    refused(copy, tmp_path / "new", RefusedError, "of tenant 'default', not 'acme'", tenant="acme")


@pytest.mark.parametrize("at", [len(STEPS) + 1, 0, "2025-12-31", START.plus(days=-1)])
def test_a_point_that_the_backup_does_not_reach_is_refused(copy, tmp_path, at):
    refused(copy, tmp_path / "new", NotFoundError, "does not reach", at=at)


def damage_a_byte(folder: Path, name: str) -> None:
    file = next(path for path in sorted((folder).glob(name)) if path.stat().st_size)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.unlink()  # it is a hard link to a file of the store
    file.write_bytes(bytes(data))


@pytest.mark.parametrize("name", ["changes.log", "prism.json", "quads/*.sst", "quads/MANIFEST-*", "quads/CURRENT"])
@pytest.mark.parametrize("at", [None, 3])
def test_a_damaged_file_is_found_before_anything_is_visible(copy, tmp_path, name, at):
    damage_a_byte(copy, name)
    refused(copy, tmp_path / "new", RefusedError, "is not what was backed up", at=at)


def test_a_missing_file_is_named(copy, tmp_path):
    (copy / "changes.log").unlink()
    refused(copy, tmp_path / "new", RefusedError, "changes.log is missing")


def test_a_manifest_leads_nowhere_else(copy, tmp_path):
    manifest = json.loads((copy / "backup.json").read_text())
    manifest["files"]["../secret"] = "0"
    (copy / "backup.json").write_text(json.dumps(manifest))
    refused(copy, tmp_path / "new", RefusedError, "it names ../secret")


def test_a_newer_backup_is_left_alone(copy, tmp_path):
    manifest = json.loads((copy / "backup.json").read_text())
    (copy / "backup.json").write_text(json.dumps(manifest | {"format": 99}))
    refused(copy, tmp_path / "new", StoreVersionError, "format 99")


def test_files_that_belong_to_different_commits_are_refused(copy, tmp_path):
    """Every checksum is right, and still the parts do not fit: somebody put two backups together."""
    store = EmbeddedStore(copy / "quads")
    store.close()
    manifest = json.loads((copy / "backup.json").read_text())
    shutil.rmtree(copy / "quads")
    EmbeddedStore(copy / "quads").close()
    names = [name for name in manifest["files"] if not name.startswith("quads/")]
    names += [str(file.relative_to(copy)) for file in (copy / "quads").iterdir() if file.is_file()]
    manifest["files"] = {name: making.checksum(copy / name) for name in names}
    (copy / "backup.json").write_text(json.dumps(manifest))
    refused(copy, tmp_path / "new", RefusedError, "its store ends with commit 0, not 18")


def test_the_instant_of_a_commit_is_in_it(copy, open_store, tmp_path):
    """The same instant, asked of a store and of a backup, names the same commit."""
    store = open_store()
    recorded = store.system_time(7)
    assert isinstance(recorded, Instant)
    assert Prism.restore(copy, tmp_path / "new", at=recorded)["commit"] == 7
    assert Prism.restore(copy, tmp_path / "before", at=recorded.plus(micros=-1))["commit"] == 6
