"""What is forgotten is in no byte of the store, its source does not bring it back, and all else is as it was."""

from __future__ import annotations

import pytest
from canary import CANARY, PASSAGE, SECRET
from pyoxigraph import Literal, NamedNode, Quad
from whole_stores import START, files_with, quads

from prism_rdf import Prism
from prism_rdf.errors import UnknownEntity


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

    assert project.ingest(docs)["receipt"]["commit"] is None  # nothing there is new
    assert quads(prism) == before
    again = project.ingest(docs, again=True)["receipt"]
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


def test_evidence_that_quotes_it_goes_whole(filled, home):
    """Layers that refer to what goes by nodes of their own: a node goes, and so does what refers to that node."""
    prism, ids = filled
    evidence = NamedNode("urn:prism:default/demo/graph/evidence")
    claim, support, quoting, apart = (NamedNode(f"urn:prism:default/demo/claim/{n}") for n in range(4))
    says, about = NamedNode("https://w3id.org/prism-rdf/ns#content"), NamedNode("https://w3id.org/prism-rdf/ns#about")
    prism.store.load(
        [
            Quad(claim, about, NamedNode(f"urn:prism:default/demo/entity/{ids['thing']}"), evidence),
            Quad(support, about, claim, evidence),
            Quad(support, says, Literal("so it is told"), evidence),
            Quad(quoting, says, Literal(f"{CANARY} may be called Bo"), evidence),
            Quad(apart, says, Literal("nothing to do with it"), evidence),
        ]
    )
    prism.project("demo").forget(CANARY)
    left = {quad.subject for quad in quads(prism) if quad.graph_name == evidence}
    assert left == {apart}
    assert files_with(home, CANARY, "so it is told") == []
