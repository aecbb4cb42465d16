"""Tables of an older system become histories: identity, time, references, names; again and again without a change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prism_rdf import BadArgument, BadTime, NotFoundError, Prism, RefusedError

PID = "PID-PGR01"


def _run(prism: Prism, old: Any, source: Path | str | None = None, **options: Any) -> dict[str, Any]:
    report = prism.project(PID).migrate(source or old.write(), old.mapping, **options)
    return {**report["report"], "commits": report["commits"]}


def _references(prism: Prism, **options: Any) -> set[tuple[str, str, str, str | None]]:
    found = prism.project(PID).list_references(**options)
    return {(r["source"]["identifier"], r["kind"], r["target"]["identifier"], r["valid_from"]) for r in found}


def test_every_artifact_of_the_older_project_is_an_entity_since_its_row_was_created(prism: Prism, old: Any) -> None:
    report = _run(prism, old)
    project = prism.project(PID)
    begins = {state["identifier"]: (state["type"], state["valid_from"]) for state in project.list_entities()}
    assert begins == {
        "ADR-22": ("ADR", "2026-01-10T08:00:00Z"),  # Berlin, in winter
        "ADR-23": ("ADR", "2026-04-20T08:00:00Z"),  # and in summer
        "Prism": ("Project", "2025-09-01T00:00:00Z"),
        "SPEC-20": ("SPEC", "2026-04-19T00:00:00Z"),
        "PLAN-6": ("Plan", "2026-04-21T00:00:00Z"),
    }
    assert (report["entities"], report["states"], report["aliases"]) == (5, 5, 2)
    assert report["bad_rows"] == []
    assert project.state_as_of("ADR-23")["props"]["tags"] == ["graph", "time"]
    assert project.check() == []


def test_known_aliases_are_registered_by_a_person(prism: Prism, old: Any) -> None:
    _run(prism, old)
    project = prism.project(PID)
    for form in ("PrismGR", "prismgr"):
        assert project.state_as_of(form)["props"]["name"] == "Prism"
    tiers = prism.sparql("SELECT ?tier { GRAPH ?g { ?a a prism:Alias ; prism:tier ?tier } }", dataset="raw").rows()
    assert [tier.value for (tier,) in tiers] == ["1", "1"]


def test_references_are_extracted_from_bodies_and_columns(prism: Prism, old: Any) -> None:
    report = _run(prism, old)
    assert _references(prism) == {
        ("ADR-23", "REFERENCES", "SPEC-20", "2026-04-20T08:00:00Z"),
        ("ADR-23", "REFERENCES", "PLAN-6", "2026-04-21T00:00:00Z"),  # since the plan is there
        ("ADR-23", "FORMALIZES", "SPEC-20", "2026-04-20T08:00:00Z"),
        ("ADR-23", "SUPERSEDES", "ADR-22", "2026-04-20T08:00:00Z"),
        ("PLAN-6", "REFERENCES", "SPEC-20", "2026-04-21T00:00:00Z"),
    }
    assert [(each["id"], each["identifier"]) for each in report["unknown"]] == [("a23", "ADR-77")]


def test_what_prose_states_awaits_review(prism: Prism, old: Any) -> None:
    old.tables["artifacts"][2]["body"] = "This plan implements SPEC-020. It extends ADR-23."
    assert _run(prism, old)["candidates"] == 2
    found = prism.project(PID).list_candidates("reference")
    assert found["total"] == 2
    assert {each["clues"][0]["source"].partition("@")[0] for each in found["candidates"]} == {
        "migrate:prismgr/artifacts/3"
    }
    assert {kind for source, kind, _, _ in _references(prism) if source == "PLAN-6"} == {"REFERENCES"}
    assert _run(prism, old)["commits"] == []


def test_bodies_are_kept_in_passages(prism: Prism, old: Any) -> None:
    _run(prism, old)
    hits = prism.project(PID).recall("three layers decision")["hits"]
    assert hits[0]["content"] == "## Decision\n\nThree layers, see SPEC-020."
    assert hits[0]["source"].startswith("migrate:prismgr/adrs/a23@2026-04-20T08:00:00Z#char=")


def test_a_second_run_writes_nothing(prism: Prism, old: Any) -> None:
    assert _run(prism, old)["commits"] != []
    again = _run(prism, old)
    assert again["commits"] == []
    assert {name: again[name] for name in ("entities", "states", "references", "aliases", "passages")} == dict.fromkeys(
        ("entities", "states", "references", "aliases", "passages"), 0
    )


def test_a_row_that_changed_is_a_state_since_it_was_updated(prism: Prism, old: Any) -> None:
    _run(prism, old)
    row = old.tables["adrs"][1]
    row |= {"status": "Frozen", "updated_at": "2026-06-01 12:00:00", "tags": "time", "formalizes": None}
    row["body"] = row["body"].replace("see SPEC-020", "as ADR-22 was not").replace("As Plan #6", "As everybody")
    report = _run(prism, old)
    assert (report["entities"], report["states"], report["references"]) == (0, 1, 1)
    project = prism.project(PID)
    before, after = project.history("ADR-23")
    assert (before["valid_until"], after["valid_from"]) == ("2026-06-01T10:00:00Z", "2026-06-01T10:00:00Z")
    assert (before["props"]["status"], after["props"]["status"]) == ("Accepted", "Frozen")
    assert after["props"]["tags"] == ["time"]
    mine = {each for each in _references(prism) if each[0] == "ADR-23"}
    assert mine == {
        ("ADR-23", "REFERENCES", "ADR-22", "2026-06-01T10:00:00Z"),
        ("ADR-23", "SUPERSEDES", "ADR-22", "2026-04-20T08:00:00Z"),
    }
    assert ("ADR-23", "FORMALIZES", "SPEC-20", "2026-04-20T08:00:00Z") in _references(prism, as_of="2026-05-15")
    old_words = [hit for hit in project.recall("three layers", limit=20)["hits"] if "see SPEC-020" in hit["content"]]
    assert [hit["valid_until"] for hit in old_words] == ["2026-06-01T10:00:00Z"]
    assert _run(prism, old)["commits"] == []
    assert project.check() == []


@pytest.mark.parametrize("last", [1, 3, 6, 9, 10, 12])
def test_a_run_that_was_stopped_is_gone_on_with(
    prism: Prism,
    old: Any,
    monkeypatch: pytest.MonkeyPatch,
    graph_of: Callable[[Prism], set[tuple[str, ...]]],
    last: int,
) -> None:
    monkeypatch.setattr("prism_rdf.migrate.taking.BATCH", 1)
    old.tables["artifacts"][2]["body"] = "This plan implements SPEC-020. It extends ADR-23."
    project, written = type(prism.project(PID)), []

    def write(self: Any, *args: Any, **options: Any) -> Any:
        if len(written) == last:
            raise KeyboardInterrupt
        written.append(1)
        return kept(self, *args, **options)

    kept = project.write
    with monkeypatch.context() as patch:
        patch.setattr(project, "write", write)
        with pytest.raises(KeyboardInterrupt):
            _run(prism, old)
    assert prism.commit_number == last
    _run(prism, old)
    with Prism.in_memory() as elsewhere:
        _run(elsewhere, old)
        assert graph_of(elsewhere) == graph_of(prism)


def test_what_people_said_meanwhile_stays(prism: Prism, old: Any) -> None:
    _run(prism, old)
    project = prism.project(PID)
    project.fact("ADR-23", "status", "Questioned", valid_from="2026-07-01")
    assert _run(prism, old)["commits"] == []
    assert project.state_as_of("ADR-23")["props"]["status"] == "Questioned"


def test_rows_that_are_versions_are_states(
    prism: Prism, old: Any, graph_of: Callable[[Prism], set[tuple[str, ...]]]
) -> None:
    first = old.tables["adrs"][1] | {"status": "Proposed", "updated_at": None, "title": "Three layers?"}
    last = old.tables["adrs"][1] | {"status": "Frozen", "updated_at": "2026-08-01 00:00:00"}
    old.tables["adrs"] += [last, first]  # in any order
    _run(prism, old)
    told = [(state["valid_from"], state["props"]["status"]) for state in prism.project(PID).history("ADR-23")]
    assert told == [
        ("2026-04-20T08:00:00Z", "Proposed"),
        ("2026-05-01T06:00:00Z", "Accepted"),
        ("2026-07-31T22:00:00Z", "Frozen"),
    ]
    assert _run(prism, old)["commits"] == []
    old.tables["adrs"].reverse()
    with Prism.in_memory() as elsewhere:
        _run(elsewhere, old, old.sqlite())
        assert graph_of(elsewhere) == graph_of(prism)  # on another machine, from another kind of source


def test_a_changed_row_that_does_not_say_when_is_told(prism: Prism, old: Any) -> None:
    _run(prism, old)
    old.tables["adrs"][0]["status"] = "Rejected"
    [bad] = _run(prism, old)["bad_rows"]
    assert (bad["table"], bad["number"], bad["id"], bad["column"]) == ("adrs", 1, "a22", "status")
    assert "updated_at did not" in bad["reason"]
    old.tables["artifacts"][2]["status"] = "done"  # its table does not date changes: it is so from now on
    assert _run(prism, old)["states"] == 1
    assert prism.project(PID).state_as_of("PLAN-6")["props"]["status"] == "done"
    assert _run(prism, old)["commits"] == []


def test_a_column_that_is_mapped_later_holds_since_the_beginning(prism: Prism, old: Any) -> None:
    mapping = old.mapping.read_text()
    old.mapping.write_text(mapping.replace("""tags = { column = "tags", split = ';' }\n""", ""))
    _run(prism, old)
    old.mapping.write_text(mapping)
    assert _run(prism, old)["states"] == 2
    assert [state["props"]["tags"] for state in prism.project(PID).history("ADR-23")] == [["graph", "time"]]


def test_bad_rows_are_told_and_the_rest_goes_in(prism: Prism, old: Any) -> None:
    adrs = old.tables["adrs"]
    adrs.append(adrs[0] | {"id": "", "no": 1})
    adrs.append(adrs[0] | {"id": "a3", "created_at": "20225-01-01"})
    adrs.append(adrs[0] | {"id": "a4", "created_at": ""})
    adrs.append(adrs[1] | {"title": "Another"})
    adrs.append(adrs[0] | {"id": "a5", "body": "---\nstatus: [\n---\n\n# x", "no": 5})
    old.tables["artifacts"].append({"id": 9, "kind": "poem", "title": "x", "created_at": "2026-01-01"})
    folder = old.write()
    with (folder / "artifacts.jsonl").open("a") as file:
        file.write("{\n[1]\n")
    with (folder / "adrs.csv").open("ab") as file:
        file.write(b"a6,6\n" + b"a7,7,\xff,,,2026-01-01,,,,\n")
    report = _run(prism, old, folder)
    assert [(bad["table"], bad["number"], bad["id"], bad["column"]) for bad in report["bad_rows"]] == [
        ("adrs", 3, "", "id"),
        ("adrs", 4, "a3", "created_at"),
        ("adrs", 5, "a4", "created_at"),
        ("adrs", 6, "a23", "id"),
        ("adrs", 8, "", ""),
        ("adrs", 9, "", ""),
        ("artifacts", 4, "9", "kind"),
        ("artifacts", 5, "", ""),
        ("artifacts", 6, "", ""),
        ("adrs", 7, "a5", "body"),
    ]
    assert report["entities"] == 6
    assert all(bad["reason"] and bad["mend"] for bad in report["bad_rows"])


def test_what_a_rule_refuses_is_told_and_the_rest_goes_in(prism: Prism, old: Any) -> None:
    old.tables["adrs"][0]["formalizes"] = "Prism"  # a decision formalizes no project
    old.tables["adrs"].append(old.tables["adrs"][0] | {"id": "a24", "no": 24, "replaced_by": None})
    report = _run(prism, old)
    assert {bad["id"] for bad in report["bad_rows"]} == {"a22", "a24"}
    assert report["entities"] == 6
    assert ("ADR-23", "SUPERSEDES", "ADR-22", "2026-04-20T08:00:00Z") in _references(prism)


def test_a_time_without_a_zone_needs_one_in_the_mapping(prism: Prism, old: Any) -> None:
    old.mapping.write_text(old.mapping.read_text().replace('zone = "Europe/Berlin"\n', ""))
    with pytest.raises(
        BadTime, match=r"adrs, row 1, column created_at: time '2026-01-10 09:00:00' has no zone"
    ) as told:
        _run(prism, old)
    assert 'zone = "Europe/Berlin"' in told.value.mend
    assert prism.commit_number == 0


def test_a_dry_run_counts_and_writes_nothing(prism: Prism, old: Any) -> None:
    old.tables["artifacts"][2]["body"] = "This plan implements SPEC-020. It extends ADR-23. SPEC-020 was accepted."
    report = _run(prism, old, dry_run=True)
    assert prism.commit_number == 0
    assert report["types"] == {"ADR": 2, "Project": 1, "SPEC": 1, "Plan": 1}
    assert report["examples"][0] == {
        "type": "ADR",
        "id": "a22",
        "identifier": "ADR-22",
        "title": "Keep one layer",
        "valid_from": "2026-01-10T08:00:00Z",
        "updated_at": "",
    }
    real = _run(prism, old)
    assert real["candidates"] == 3
    counted = ("entities", "states", "references", "aliases", "passages", "legacy_memories", "candidates")
    assert [report[name] for name in counted] == [real[name] for name in counted]
    assert [_run(prism, old, dry_run=True)[name] for name in counted] == [0] * 7


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (('source = "prismgr"', ""), "has the source ''"),
        (('zone = "Europe/Berlin"', 'zone = "Europe/Prism"'), "names the zone 'Europe/Prism'"),
        (('type = "ADR"', 'type = "ADr"'), "there is no type 'ADr'"),
        (("tags = {", "taggs = {"), "maps a column to taggs"),
        (('form = "ADR-{}"', 'form = "ADR"'), "has the form 'ADR'"),
        (('"FORMALIZES"', '"FORMALISES"'), "there is no kind of reference 'FORMALISES'"),
        (('of = "Prism"', ""), "lacks a name, or of what it is one"),
        (('table = "adrs"', ""), "has no table"),
        (("replaced_by =", "replaced-by ="), "has no column replaced-by"),
        (("[[alias]]", "[[aliases]]"), "has aliases"),
    ],
)
def test_a_mapping_that_cannot_be_meant_is_told(
    prism: Prism, old: Any, change: tuple[str, str], complaint: str
) -> None:
    old.mapping.write_text(old.mapping.read_text().replace(*change))
    with pytest.raises((BadArgument, NotFoundError), match=complaint):
        _run(prism, old)
    assert prism.commit_number == 0


def test_a_source_that_is_not_there_is_told(prism: Prism, old: Any, tmp_path: Path) -> None:
    for source, complaint in (
        (tmp_path / "nowhere", "there is no"),
        (tmp_path, "holds no adrs.csv"),
        (old.mapping, "is no table that can be read"),
        (old.write() / "adrs.csv", "adrs.csv is not the table artifacts"),
    ):
        with pytest.raises((NotFoundError, BadArgument), match=complaint):
            _run(prism, old, source)
    assert prism.commit_number == 0


def test_sqlite_answers_queries(prism: Prism, old: Any) -> None:
    query = 'table = "adrs"\nquery = "SELECT * FROM adrs WHERE no > 22"'
    old.mapping.write_text(old.mapping.read_text().replace('table = "adrs"', query))
    _run(prism, old, old.sqlite())
    assert [state["identifier"] for state in prism.project(PID).list_entities("ADR")] == ["ADR-23"]
    with pytest.raises(BadArgument, match="cannot be asked of"):
        _run(prism, old)


class TestLegacy:
    """The older memories and what they mention, beside the new layers until they are dropped."""

    def test_recall_falls_back_to_what_memories_mention(self, prism: Prism, old: Any) -> None:
        _run(prism, old)
        found = prism.project(PID).recall("what of the lighthouse", explain=True)
        assert found["anchors"] == []
        by_graph = {hit["content"] for hit in found["hits"] if "graph" in hit["legs"]}
        assert by_graph == {row["content"] for row in old.tables["memories"]}

    def test_an_old_memory_is_told_apart_by_what_is_known_now(self, prism: Prism, old: Any) -> None:
        _run(prism, old)
        hit = prism.project(PID).recall("PrismGR installation")["hits"][0]
        assert hit["content"] == old.tables["memories"][0]["content"]
        assert hit["state_flag"] == "historical"
        assert "Prism" in hit["state_summary"]

    def test_a_mention_without_its_memory_is_told(self, prism: Prism, old: Any) -> None:
        old.tables["mentions"].append({"memory_id": "m9", "concept": "x"})
        [bad] = _run(prism, old)["bad_rows"]
        assert (bad["table"], bad["number"], bad["reason"]) == ("mentions", 4, "there is no memory m9")

    def test_they_are_dropped_only_when_the_check_is_clean(
        self, prism: Prism, old: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _run(prism, old)
        project = prism.project(PID)
        would = project.drop_legacy(dry_run=True)
        assert (would["legacy"]["memories"], would["legacy"]["mentions"], would["legacy"]["concepts"]) == (2, 3, 2)
        assert (would["commits"], would["legacy"]["sources"]) == ([], ("prismgr",))

        broken = [{"check": "stale-current", "entity": "urn:x", "detail": "differs"}]
        with monkeypatch.context() as patch:
            patch.setattr(type(project), "check", lambda self: broken)
            with pytest.raises(RefusedError, match="1 findings"):
                project.drop_legacy()
            assert project.drop_legacy(dry_run=True)["findings"] == broken
        assert project.drop_legacy(dry_run=True)["legacy"]["memories"] == 2

        assert project.drop_legacy()["commits"] != []
        assert project.drop_legacy(dry_run=True)["legacy"]["memories"] == 0
        contents = {hit["content"] for hit in project.recall("lighthouse PrismGR installation", limit=50)["hits"]}
        assert contents.isdisjoint({row["content"] for row in old.tables["memories"]})
        assert "Three graphs" in " ".join(hit["content"] for hit in project.recall("three graphs")["hits"])
        assert project.check() == []

        again = _run(prism, old)
        assert again["commits"] == []
        assert again["notes"] == ["the older memories were dropped here before, and are not brought back"]
