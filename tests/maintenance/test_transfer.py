"""What is exported is imported as the same store; what is not whole, or not ours, is refused as a whole."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode
from whole_stores import START, STEPS, canonical, quads

from prism_rdf import Prism
from prism_rdf.clock import ManualClock
from prism_rdf.errors import BadArgument, NotFoundError, RefusedError, ValidationError
from prism_rdf.maintenance import room
from prism_rdf.storage.changelog import read_log
from prism_rdf.storage.embedded import EmbeddedStore

FORMATS = {"trig": ".trig", "nquads": ".nq", "jsonld": ".jsonld"}
LATER = START.plus(days=1)
FAR = START.plus(days=10_000)


@pytest.fixture(scope="session")
def exported(made, tmp_path_factory) -> Path:
    """A folder with the exports of the filled store, of all of it and of the project demo. To be read only."""
    folder = tmp_path_factory.mktemp("exported")
    Prism.restore(made / "copy", folder / "home")
    with Prism.open(folder / "home", exclusive=True, clock=ManualClock(LATER)) as prism:
        for form, suffix in FORMATS.items():
            assert prism.export(folder / f"all{suffix}", form)["quads"] == len(quads(prism))
        prism.export(folder / "demo.nq", "nquads", "demo")
    return folder


@pytest.fixture
def original(exported, open_store, tmp_path_factory) -> Prism:
    """A copy of the store that was exported."""
    home = tmp_path_factory.mktemp("original") / "home"
    shutil.copytree(exported / "home", home)
    return open_store(home, at=LATER)


@pytest.fixture(params=["in memory", "on disk"])
def judged(request, monkeypatch) -> str:
    """Where an import is judged, which the memory of the machine decides."""
    if request.param == "on disk":
        monkeypatch.setattr("prism_rdf.maintenance.importing.memory_left", lambda: 0)
    return request.param


@pytest.mark.parametrize("suffix", FORMATS.values())
def test_an_export_is_imported_as_an_isomorphic_store(exported, original, open_store, tmp_path, suffix, judged):
    done = Prism.import_(exported / f"all{suffix}", tmp_path / "new")
    assert (done["commit"], done["projects"], done["notes"]) == (len(STEPS), ["demo", "other"], [])
    again = open_store(tmp_path / "new", at=LATER)
    assert canonical(again) == canonical(original)
    assert again.commit_number == len(STEPS)
    assert again.base == original.base
    assert again.project("demo").history("ADR-001") == original.project("demo").history("ADR-001")
    for number in range(1, len(STEPS) + 1):
        assert again.system_time(number) == original.system_time(number)
    assert [found for pid in ("demo", "other") for found in again.project(pid).check()] == []


def test_an_export_without_blank_nodes_is_imported_while_it_is_judged(exported, original, open_store, tmp_path):
    (tmp_path / "named.nq").write_text(named_only((exported / "all.nq").read_text()))
    done = Prism.import_(tmp_path / "named.nq", tmp_path / "new")
    again = open_store(tmp_path / "new", at=LATER)
    named = {quad for quad in quads(original) if "_:" not in str(quad)}
    assert quads(again) == named
    assert done["quads"] == len(named)
    assert {quad for change in read_log(again.folder.log) for quad in change.adds} == named


def test_an_imported_store_goes_on_as_the_first_one_would(exported, open_store, tmp_path):
    Prism.import_(exported / "all.trig", tmp_path / "new")
    again = open_store(tmp_path / "new", at=LATER)
    project = again.project("demo")
    first = {"number": "ADR-001", "title": "Use a graph"}
    repeated = project.entity("ADR", first, valid_from="2025-01-01", idempotency_key="first")
    assert (repeated["replayed"], repeated["commit"]) == (True, 1)
    assert project.recall("which graph is used")["hits"]
    assert project.remember("and on it goes").commit == len(STEPS) + 1


def test_the_log_of_an_imported_store_makes_that_store(exported, judged, open_store, tmp_path):
    Prism.import_(exported / "all.nq", tmp_path / "new")
    again = open_store(tmp_path / "new", at=LATER)
    before = quads(again)
    logged = list(again.changes(0))
    assert {change.number for change in logged} == {len(STEPS)}
    assert {quad for change in logged for quad in change.adds} == before
    again.project("demo").transition("ADR-002", {"title": "Use two tables"}, valid_from="2025-06-01")
    after = quads(again)
    again.backup(tmp_path / "copy")
    for at, then in ((len(STEPS), before), (len(STEPS) + 1, after)):
        Prism.restore(tmp_path / "copy", tmp_path / f"then-{at}", at=at)
        assert quads(open_store(tmp_path / f"then-{at}", at=LATER)) == then
    with pytest.raises(NotFoundError, match="does not reach commit 3"):
        Prism.restore(tmp_path / "copy", tmp_path / "never", at=3)


def test_one_project_is_exported_with_its_commits_and_nothing_of_another(exported, original, open_store, tmp_path):
    text = (exported / "demo.nq").read_text()
    assert "/other/" not in text
    assert "Elsewhere" not in text
    assert "example.org/graph" not in text
    done = Prism.import_(exported / "demo.nq", tmp_path / "new")
    assert (done["projects"], done["commit"]) == (["demo"], len(STEPS))
    again = open_store(tmp_path / "new", at=LATER)
    graphs = f"{original.base}/demo/"
    kept = {quad for quad in quads(again) if quad.graph_name.value.startswith(graphs)}
    assert kept == {quad for quad in quads(original) if quad.graph_name.value.startswith(graphs)}
    assert again.project("demo").check() == []
    with pytest.raises(NotFoundError):
        again.system_time(8)  # a commit of the other project


def test_an_export_to_nowhere_comes_with_the_answer(original):
    done = original.export(None, "nquads", "other")
    assert done["target"] is None
    assert done["quads"] == len(str(done["text"]).splitlines())


def test_an_empty_store_takes_an_import_in(exported, original, open_store, tmp_path):
    empty = open_store(tmp_path / "new", at=LATER)
    assert empty.folder.generation == 1
    empty.close()
    Prism.import_(exported / "all.trig", tmp_path / "new")
    again = open_store(tmp_path / "new", at=LATER)
    assert canonical(again) == canonical(original)
    assert [path.name for path in again.folder.path.glob("quads*")] == [again.folder.quads.name]


def test_a_full_store_is_left_alone(exported, open_store, home):
    full = open_store()
    full.project("demo").entity("ADR", {"number": "ADR-1", "title": "Mine"})
    before = quads(full)
    full.close()
    with pytest.raises(RefusedError, match="is not empty: it has 1 commits"):
        Prism.import_(exported / "all.trig", home)
    assert quads(open_store()) == before


def test_an_export_that_the_disk_refuses_leaves_the_old_one(original, tmp_path, monkeypatch):
    (tmp_path / "all.trig").write_text("the old one")

    def no_room(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("prism_rdf.maintenance.exporting.os.fsync", no_room)
    with pytest.raises(RefusedError, match="No space left"):
        original.export(tmp_path / "all.trig")
    assert [child.name for child in tmp_path.iterdir()] == ["all.trig"]
    assert (tmp_path / "all.trig").read_text() == "the old one"


def test_what_a_format_cannot_say_is_refused(open_store):
    prism = open_store()
    with pytest.raises(BadArgument, match="no export format 'rdf'"):
        prism.export(None, "rdf")
    with pytest.raises(NotFoundError, match="no project 'nobody'"):
        prism.export(None, "trig", "nobody")


def test_a_file_in_another_format_needs_a_word(exported, tmp_path):
    (tmp_path / "all.txt").write_bytes((exported / "all.nq").read_bytes())
    with pytest.raises(BadArgument, match="cannot tell the format"):
        Prism.import_(tmp_path / "all.txt", tmp_path / "new")
    with pytest.raises(NotFoundError, match="there is no file"):
        Prism.import_(tmp_path / "nothing.nq", tmp_path / "new")
    assert Prism.import_(tmp_path / "all.txt", tmp_path / "new", format="nquads")["commit"] == len(STEPS)


def named_only(text: str) -> str:
    """Return N-Quads without those that have blank nodes."""
    return "\n".join(line for line in text.split("\n") if "_:" not in line)


def without(pattern: str) -> Callable[[str], str]:
    return lambda text: "".join(line for line in text.splitlines(True) if not re.search(pattern, line))


def replaced(pattern: str, by: str, count: int = 0) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, by, text, count=count)


def plus(line: str) -> Callable[[str], str]:
    return lambda text: f"{text}{line}\n"


DEMO = "urn:prism:default/demo"
NS = "https://w3id.org/prism-rdf/ns#"
# What is done to a good export, what it is refused with, and what the report says.
BROKEN = {
    "a syntax error": (replaced("\n", "\nthis is no statement\n", 3), RefusedError, "cannot be read at line 2"),
    "cut off": (lambda text: text[: text.rindex("\n", 0, len(text) // 2) + 20], RefusedError, "cannot be read at line"),
    "nothing": (lambda text: "", RefusedError, "not the export of one store"),
    "no last commit": (without("lastCommit"), RefusedError, "not the export of one store"),
    "two stores": (
        lambda text: text + text.replace("urn:prism:default", "urn:prism:else"),
        RefusedError,
        "not the export of one store",
    ),
    "graphs of another base": (
        replaced(r"<urn:prism:default/demo/graph/temporal> \.", "<urn:prism:else/demo/graph/temporal> ."),
        ValidationError,
        "store of another base, urn:prism:else",
    ),
    "a state of another base": (
        plus("<urn:s> <urn:p> <urn:o> <urn:prism:else/demo/state/1> ."),
        ValidationError,
        "store of another base",
    ),
    "a project that is not named": (without("hasNamespace.*other"), ValidationError, "of a project 'other'"),
    "an unknown graph": (plus(f"<urn:s> <urn:p> <urn:o> <{DEMO}/graph/mine> ."), ValidationError, "no graph that a"),
    "a graph of no state": (plus(f"<urn:s> <urn:p> <urn:o> <{DEMO}/state/1> ."), ValidationError, "no graph that a"),
    "no graph at all": (plus("<urn:s> <urn:p> <urn:o> ."), ValidationError, "stands in no named graph"),
    "a graph without a name": (plus("<urn:s> <urn:p> <urn:o> _:g ."), ValidationError, "a graph has no name"),
    "a wrong last commit": (replaced('lastCommit> "18"', 'lastCommit> "17"'), ValidationError, "the last commit is 17"),
    "a candidate of no status": (
        replaced('candidateStatus> "rejected"', 'candidateStatus> "maybe"'),
        ValidationError,
        "promoted, rejected or",
    ),
    "a commit without a time": (
        without("commit/3> .*recordedAt"),
        ValidationError,
        "commit 3 has no system time",
    ),
    "a time after the last commit": (
        plus(
            f'<{DEMO}/state/x> <{NS}recordedAt> "2030-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> '
            f"<{DEMO}/graph/temporal> ."
        ),
        ValidationError,
        "recorded after the last commit",
    ),
    "another tenant": (replaced('ns#tenant> "default"', 'ns#tenant> "acme"'), ValidationError, "is acme, not default"),
    "a wrong uuid": (
        replaced('ns#uuid> "........', 'ns#uuid> "00000000'),
        ValidationError,
        "is not the one in its IRI",
    ),
    "an unknown type": (
        replaced("type#ADR> <urn:prism:default/demo/graph/canonical>", f"type#Foo> <{DEMO}/graph/canonical>"),
        ValidationError,
        "is no type known here",
    ),
    "an identity with a property": (
        lambda text: (
            text
            + re.sub(r"^(<\S+>) .*", rf'\1 <{NS}title> "x" <{DEMO}/graph/canonical> .', _line(text, "ns#uuid>", "demo"))
            + "\n"
        ),
        ValidationError,
        "does not belong to it",
    ),
    "a foreign node in a graph of the engine": (
        plus(f'<urn:s> <urn:p> "x" <{DEMO}/graph/temporal> .'),
        ValidationError,
        "nothing that belongs into a graph of the engine",
    ),
    "a blank node in a graph of the engine": (
        plus(f'_:b <{NS}content> "x" <{DEMO}/graph/memory> .'),
        ValidationError,
        "has no IRI",
    ),
    "a state without its entity": (without("hasState"), ValidationError, "state-without-entity"),
    "an alias without a surface form": (without("surfaceForm"), ValidationError, "surface form"),
    "an event without a type": (without("eventType"), ValidationError, "event"),
    "a reversed interval": (
        replaced('ns#validUntil> "2025-03-01', 'ns#validUntil> "2024-03-01'),
        ValidationError,
        "reversed-interval|overlapping|gap|end",
    ),
    "a state that no event says": (
        replaced(r'"Elsewhere" <urn:prism:default/other/state/', '"Nowhere" <urn:prism:default/other/state/'),
        ValidationError,
        "not what its events fold to",
    ),
}


def _line(text: str, *parts: str) -> str:
    return next(line for line in text.splitlines() if all(part in line for part in parts))


@pytest.fixture
def broken(exported, tmp_path, request) -> Path:
    text = (exported / "all.nq").read_text()
    mangled = BROKEN[request.param][0](text)
    assert mangled != text
    (tmp_path / "broken.nq").write_text(mangled)
    return tmp_path / "broken.nq"


@pytest.mark.parametrize("broken", BROKEN, indirect=True)
def test_a_broken_export_is_refused_with_a_report_and_nothing_is_left(broken, judged, tmp_path, request):
    _, error, said = BROKEN[request.node.callspec.params["broken"]]
    with pytest.raises(error) as refused:
        Prism.import_(broken, tmp_path / "new")
    report = getattr(refused.value, "report", ())
    assert re.search(said, " ".join([str(refused.value), *(violation.message for violation in report)]))
    assert all(violation.mend for violation in report)
    assert [child.name for child in tmp_path.iterdir()] == ["broken.nq"]


def test_a_refused_import_leaves_an_empty_store_empty_and_usable(exported, open_store, home, tmp_path):
    open_store().close()
    (tmp_path / "broken.nq").write_text((exported / "all.nq").read_text() + "<urn:s> <urn:p> <urn:o> .\n")
    with pytest.raises(ValidationError):
        Prism.import_(tmp_path / "broken.nq", home)
    store = open_store()
    assert quads(store) == set()
    assert sorted(path.name for path in store.folder.path.glob("quads*")) == ["quads"]
    assert list(read_log(store.folder.log)) == []
    assert store.project("demo").remember("it still works").commit == 1


def test_an_empty_store_of_another_base_refuses(exported, home):
    Prism.open(home, exclusive=True, base="urn:prism:mine").close()
    with pytest.raises(RefusedError, match="base urn:prism:default, this one has urn:prism:mine"):
        Prism.import_(exported / "all.nq", home)


def test_a_stale_current_graph_in_an_export_is_made_right(exported, judged, original, open_store, tmp_path):
    text = (exported / "all.nq").read_text()
    (tmp_path / "stale.nq").write_text(without(r"/graph/(current|tail)>|dueAt")(text))
    Prism.import_(tmp_path / "stale.nq", tmp_path / "new")
    again = open_store(tmp_path / "new", at=FAR)
    original.clock.advance(days=10_000)
    for store in (again, original):
        assert store.project("demo").check() == []
    assert canonical(again) == canonical(original)


CHANGES = {
    "one statement more": plus(f'<urn:s> <urn:p> "more" <{DEMO}/free/more> .'),
    "as many statements": replaced('"Elsewhere"', '"Somewhere"'),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_while_it_is_read_is_refused(exported, tmp_path, monkeypatch, change):
    """What is judged is read before what is kept: the two are the same, or nothing is kept."""
    path = tmp_path / "named.nq"
    path.write_text(named_only((exported / "all.nq").read_text()))
    load, loaded = EmbeddedStore.load_file, []

    def loading(store, source, form):
        load(store, source, form)
        loaded.append(source)
        if len(loaded) == 1:
            path.write_text(CHANGES[change](path.read_text() + "\n"))

    monkeypatch.setattr(EmbeddedStore, "load_file", loading)
    with pytest.raises(RefusedError, match="was changed while it was read"):
        Prism.import_(path, tmp_path / "new")
    assert len(loaded) == 2
    assert not (tmp_path / "new" / "default").exists()


MEMORY = {
    "of the machine": ("MemTotal: 100 kB\nMemAvailable:   50 kB\n", None, None, 50 * 1024),
    "of the container": ("MemAvailable: 50 kB\n", "30000", "10000", 20_000),
    "of a container without a bound": ("MemAvailable: 50 kB\n", "max", "10000", 50 * 1024),
    "told by the container alone": (None, "30000", "10000", 20_000),
}


@pytest.mark.parametrize("name", MEMORY)
def test_how_much_memory_is_left(name, tmp_path, monkeypatch):
    machine, most, taken, left = MEMORY[name]
    for file, text in (("meminfo", machine), ("memory.max", most), ("memory.current", taken)):
        if text is not None:
            (tmp_path / file).write_text(text)
    monkeypatch.setattr(room, "_MACHINE", tmp_path / "meminfo")
    monkeypatch.setattr(room, "_GROUP", tmp_path)
    assert room.memory_left() == left


def test_memory_that_nobody_tells_of_is_guessed(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "_MACHINE", tmp_path / "meminfo")
    monkeypatch.setattr(room, "_GROUP", tmp_path)
    assert room.memory_left() > 1 << 20


def test_a_value_keeps_its_exact_form(exported, open_store, tmp_path):
    """Literals come back character by character, through the format that escapes most."""
    Prism.import_(exported / "all.jsonld", tmp_path / "new")
    again = open_store(tmp_path / "new", at=LATER)
    found = {quad.object for quad in quads(again) if quad.predicate == NamedNode("https://example.org/says")}
    assert Literal('quoted " \\ \n\t\u2028 é', language="fr") in found
