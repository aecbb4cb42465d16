"""A project's own types lie in the store like all else: they survive what a store goes through, and go with it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from own_types import ALL, HEAD

from prism_rdf.errors import RefusedError, UnknownType, ValidationError
from prism_rdf.maintenance.derived import stale
from prism_rdf.prism import Prism

pytestmark = pytest.mark.slow  # stores on disk, made and made again

Open = Callable[[], Prism]
STRICTER = ALL.replace('( "low" "high" )', '( "high" )')


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A store whose project changed its types once, so that a state of before would be refused now."""
    home = tmp_path / "home"
    with Prism.open(home, exclusive=True) as prism:
        project = prism.project("atlas")
        project.add_types(ALL, "risks.ttl")
        project.entity("Risk", {"riskId": "R-1", "severity": "low", "title": "Flood"}, valid_from="2026-01-01")
        project.entity("ADR", {"number": "ADR-1"})
        project.reference("ADR-1", "R-1", "MITIGATES")
        project.add_types(STRICTER, "risks.ttl", accept_misfits=True)
    return home


def says_the_same(home: Path) -> None:
    with Prism.open(home, exclusive=True) as prism:
        project = prism.project("atlas")
        assert project.type_texts() == {"risks.ttl": STRICTER}
        assert project.list_type_files()[0]["version"] == 2
        assert project.state_as_of("R-1")["props"]["severity"] == "low"
        assert project.check() == []
        assert stale(prism.site, project.names) == []
        with pytest.raises(ValidationError, match="severity"):
            project.fact("R-1", "title", "Fire")


def test_after_opening_again(home: Path) -> None:
    says_the_same(home)


@pytest.mark.parametrize("form", ["trig", "nquads", "jsonld"])
def test_after_an_export_and_an_import_each_state_is_judged_by_the_types_of_its_time(
    home: Path, tmp_path: Path, form: str
) -> None:
    with Prism.open(home, exclusive=True) as prism:
        prism.export(tmp_path / "all", form)
    Prism.import_(tmp_path / "all", tmp_path / "other", format=form)
    says_the_same(tmp_path / "other")


def test_an_import_with_types_that_contradict_themselves_is_refused(home: Path, tmp_path: Path) -> None:
    with Prism.open(home, exclusive=True) as prism:
        prism.export(tmp_path / "all.nq", "nquads")
    text = (tmp_path / "all.nq").read_text("utf-8")
    spoiled = text.replace("rdfs:subClassOf prism:Entity", "rdfs:subClassOf prism:Entiti")
    assert spoiled != text
    (tmp_path / "all.nq").write_text(spoiled, "utf-8")
    with pytest.raises(ValidationError, match="there is no prism:Entiti"):
        Prism.import_(tmp_path / "all.nq", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_after_a_backup_and_at_an_earlier_commit(home: Path, tmp_path: Path) -> None:
    with Prism.open(home, exclusive=True) as prism:
        prism.backup(tmp_path / "copy")
    Prism.restore(tmp_path / "copy", tmp_path / "now")
    says_the_same(tmp_path / "now")
    Prism.restore(tmp_path / "copy", tmp_path / "then", at=2)
    with Prism.open(tmp_path / "then", exclusive=True) as prism:
        project = prism.project("atlas")
        assert project.type_texts() == {"risks.ttl": ALL}
        assert stale(prism.site, project.names) == []
        project.fact("R-1", "title", "Fire")


def test_a_logged_change_of_types_is_replayed(home: Path, tmp_path: Path) -> None:
    with Prism.open(home, exclusive=True) as prism:
        prism.backup(tmp_path / "before")
        prism.project("atlas").add_types(
            HEAD + "type:ADR prism:mutableProperty my:area . my:area a owl:DatatypeProperty .", "adr.ttl"
        )
        log = (home / "default" / "changes.log").read_bytes()
    Prism.restore(tmp_path / "before", tmp_path / "crashed")
    (tmp_path / "crashed" / "default" / "changes.log").write_bytes(log)  # on disk, and the store had not come to it
    with Prism.open(tmp_path / "crashed", exclusive=True) as prism:
        project = prism.project("atlas")
        assert sorted(project.type_texts()) == ["adr.ttl", "risks.ttl"]
        project.fact("ADR-1", "area", "storage")


def test_what_is_forgotten_is_not_quoted_by_files_of_types(home: Path) -> None:
    with Prism.open(home, exclusive=True) as prism:
        project = prism.project("atlas")
        project.add_types(STRICTER + "# like the risk R-1\n", "risks.ttl")
        with pytest.raises(RefusedError, match=r"risks\.ttl quotes it"):
            project.forget("R-1")
        assert any("risks.ttl" in note for note in project.forget("R-1", dry_run=True)["notes"])
        project.add_types(STRICTER, "risks.ttl")
        going = project.forget("R-1")["going"]
        assert [each["what"] for each in going].count("file of types") == 1  # the version that quotes it
        assert project.type_texts() == {"risks.ttl": STRICTER}
        project.entity("Risk", {"riskId": "R-2", "severity": "high"})
        assert project.check() == []
    assert b"like the risk R-1" not in b"".join(f.read_bytes() for f in home.rglob("*") if f.is_file())


def lay(home: Path, **files: str) -> Path:
    folder = home / "default" / "types" / "atlas"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.ttl").write_text(text, "utf-8")
    return folder


@pytest.fixture
def reopened(home: Path) -> Iterator[Open]:
    """Open the store anew each time it is called."""
    held: list[Prism] = []

    def again() -> Prism:
        while held:
            held.pop().close()
        held.append(Prism.open(home, exclusive=True))
        return held[0]

    yield again
    while held:
        held.pop().close()


def test_files_in_the_folder_of_the_store_are_taken_in_when_they_change(home: Path, reopened: Open) -> None:
    one = HEAD + "my:Team a owl:Class, prism:Type ; rdfs:subClassOf my:Group ."
    two = HEAD + "my:Group a owl:Class ; rdfs:subClassOf prism:Entity ; prism:mutableProperty prism:name ."
    folder = lay(home, team=one, group=two)
    project = reopened().project("atlas")
    assert [(each["file"], each["source"]) for each in project.list_type_files()] == [
        ("group.ttl", "types/atlas"),
        ("risks.ttl", None),
        ("team.ttl", "types/atlas"),
    ]
    number = project.prism.commit_number
    assert reopened().commit_number == number
    (folder / "team.ttl").write_text(one + "# changed\n", "utf-8")
    project = reopened().project("atlas")
    assert project.type_texts()["team.ttl"].endswith("# changed\n")
    project.remove_types("team.ttl")
    project = reopened().project("atlas")
    with pytest.raises(UnknownType):
        project.entity("Team", {"name": "a"})
    project.add_types(one + "# by hand\n", "team.ttl")
    assert reopened().project("atlas").type_texts()["team.ttl"].endswith("# by hand\n")


def test_a_file_that_does_not_pass_leaves_what_was_there_and_is_told_of(
    home: Path, reopened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    good = HEAD + "my:Team a owl:Class, prism:Type ; rdfs:subClassOf prism:Entity ; prism:mutableProperty prism:name ."
    folder = lay(home, team=good, broken="my:")
    (folder / "latin.ttl").write_bytes(b"# caf\xe9")
    project = reopened().project("atlas")
    told = {each["file"]: (each["version"], each["problem"]) for each in project.list_type_files()}
    assert told["team.ttl"] == (1, None)
    assert "is not Turtle" in told["broken.ttl"][1]
    assert "cannot be read" in told["latin.ttl"][1]
    (folder / "team.ttl").write_text(good.replace("prism:Entity", "prism:Entiti"), "utf-8")
    project = reopened().project("atlas")
    told = {each["file"]: (each["version"], each["problem"]) for each in project.list_type_files()}
    assert told["team.ttl"][0] == 1
    assert "did you mean prism:Entity" in told["team.ttl"][1]
    project.entity("Team", {"name": "a"})
    assert len([record for record in caplog.records if "are not taken in" in record.message]) == 5
