"""Promotion, rejection, edits and undo: what each writes, what it takes back, and on both time axes what stood when."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf import Project
from prism_rdf.errors import AmbiguousError, BadArgument, NotFoundError, RefusedError, UnknownEntity
from prism_rdf.model import Alias, Assertion, Candidate, Event, NewEntity
from prism_rdf.namespaces import TYPE
from prism_rdf.namespaces import prism as term

World = Callable[[], set[Quad]]


def status(project: Project, as_of: str | None = None, known_at: int | None = None) -> object:
    return project.state_as_of("ADR-1", as_of, known_at)["props"]["status"]


def guess(project: Project, **said: object) -> str:
    said = {"valid_from": "2025-03-01", "source": "minutes.md@1", "quote": "we accept it"} | said
    return project.fact("ADR-1", "status", "Accepted", tier=3, **said).candidates[0]


def stands(project: Project, candidate: str, known_at: int | None = None) -> str:
    return str(project.candidate(candidate, known_at=known_at)["status"])


def test_the_prismgr_story(project: Project) -> None:
    """A project was renamed; that it was once called TriGraph is only guessed, and then promoted, and taken back."""
    assert project.resolve_alias("PrismGR", "2025-06-01")["identifier"] == "PrismGR"
    assert project.resolve_alias("PrismGR")["identifier"] == "Prism"
    project.remember("TriGraph needs a new server", created_at="2025-02-01", source="old.md")
    [candidate] = project.alias("TriGraph", "Prism", tier=3, quote="TriGraph, now Prism").candidates
    asked = {"limit": 3, "as_of": "2026-12-31"}
    before = project.recall("TriGraph server", **asked)
    assert before["anchors"] == []
    with pytest.raises(UnknownEntity):
        project.resolve_alias("TriGraph")

    told = project.review(candidate, "promote", reviewer="frank")
    assert (told["status"], told["candidate"]) == ("promoted", candidate)
    assert project.resolve_alias("trigraph")["identifier"] == "Prism"
    after = project.recall("TriGraph server", **asked)
    assert [hit["state_flag"] for hit in before["hits"]] == [None]
    assert [hit["state_flag"] for hit in after["hits"]] == ["historical"]

    project.review(candidate, "undo", reviewer="frank")
    with pytest.raises(UnknownEntity):
        project.resolve_alias("TriGraph")
    assert project.recall("TriGraph server", **asked) | {"legs": None} == before | {"legs": None}
    assert stands(project, candidate) == "pending"
    assert project.check() == []


def test_a_promotion_is_written_at_its_own_time_with_its_provenance(project: Project) -> None:
    [memory] = project.remember("the minutes say: we accept it").created
    guess(project, quote="accepted?", source="chat.md", confidence=0.3)
    candidate = guess(project, confidence=0.9, cause_memory=memory, cause_commit="abc", description="said by the chair")
    told = project.review(candidate, "promote", reviewer="ada", note="I was there")
    assert [status(project, day) for day in ("2025-02-28", "2025-03-01", "2026-05-01")] == [
        "Proposed",
        "Accepted",
        "Accepted",
    ]
    [event] = project.blame("ADR-1", "status")["events"]
    assert event["event"] == told["applied"]
    assert (event["tier"], event["source"], event["cause_memory"], event["cause_commit"], event["description"]) == (
        3,
        "minutes.md@1",
        memory,
        "abc",
        "said by the chair",
    )
    assert event["at"] == "2025-03-01T00:00:00Z"
    review = event["review"]
    assert (review["candidate"], review["reviewer"], review["note"]) == (candidate, "ada", "I was there")
    assert [quote["quote"] for quote in review["quotes"]] == ["accepted?", "we accept it"]
    assert project.blame("ADR-1", "title")["events"][0]["review"] is None
    assert (event["commit"], review["reviewed_at"]) == (told["commit"], told["recorded_at"]), "one commit"
    assert project.check() == []


def test_a_bounded_guess_ends(project: Project) -> None:
    candidate = guess(project, valid_until="2025-03-31")
    project.review(candidate, "promote", reviewer="ada")
    assert [status(project, day) for day in ("2025-03-15", "2025-04-01")] == ["Accepted", "Proposed"]


def test_a_list_replaces_the_values(project: Project) -> None:
    project.fact("ADR-1", "deciders", ["Ada"], valid_from="2025-02-01")
    [candidate] = project.fact("ADR-1", "deciders", ["Grace", "Edsger"], tier=3, valid_from="2025-03-01").candidates
    project.review(candidate, "promote", reviewer="ada")
    assert sorted(project.state_as_of("ADR-1")["props"]["deciders"]) == ["Edsger", "Grace"]


def test_a_guess_that_clears_a_property(project: Project) -> None:
    [candidate] = project.fact("ADR-1", "status", None, tier=3, valid_from="2025-03-01").candidates
    project.review(candidate, "promote", reviewer="ada")
    assert "status" not in project.state_as_of("ADR-1")["props"]


def test_a_reference_is_promoted(project: Project) -> None:
    [candidate] = project.reference(
        "ADR-1", "ADR-2", "SUPERSEDES", tier=3, valid_from="2025-03-01", source_document="a.md", cause_commit="abc"
    ).candidates
    told = project.review(candidate, "promote", reviewer="ada")
    [known] = project.list_references()
    assert (known["reference"], known["tier"], known["valid_from"]) == (told["applied"], 3, "2025-03-01T00:00:00Z")
    project.review(candidate, "undo", reviewer="ada")
    assert project.list_references() == []
    assert project.review(candidate, "promote", reviewer="ada")["applied"] == told["applied"], "believed again"
    assert len(project.list_references()) == 1


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ({"value": "Rejected"}, ("ADR-1", "Rejected", "2025-03-01")),
        ({"valid_from": "2025-05"}, ("ADR-1", "Accepted", "2025-05-01")),
        ({"entity": "ADR-2"}, ("ADR-2", "Accepted", "2025-03-01")),
        ({"value": "Frozen", "valid_from": "2025-05-01"}, ("ADR-1", "Frozen", "2025-05-01")),
    ],
)
def test_edits_are_applied_and_the_guess_is_kept(
    project: Project, edits: dict[str, str], expected: tuple[str, ...]
) -> None:
    candidate = guess(project)
    project.review(candidate, "promote", reviewer="ada", edits=edits)
    entity, value, start = expected
    found = project.blame(entity, "status")
    assert (found["values"], found["since"]) == ([value], f"{start}T00:00:00Z")
    assert found["events"][0]["review"]["edited"] == sorted(edits)
    row = project.candidate(candidate)
    assert (row["proposal"], row["valid_from"]) == ("ADR-1: status = Accepted", "2025-03-01T00:00:00Z")
    assert row["rulings"][0]["edited"] == sorted(edits)
    project.review(candidate, "undo", reviewer="ada")
    assert project.state_as_of("ADR-1")["props"]["status"] == "Proposed"
    assert "status" not in project.state_as_of("ADR-2")["props"]


def test_names_and_references_are_edited(project: Project) -> None:
    [alias] = project.alias("PGR", "Prism", tier=3).candidates
    project.review(alias, "promote", reviewer="ada", edits={"surface_form": "P. G. R.", "alias_kind": "synonym"})
    assert project.resolve_alias("P. G. R.")["identifier"] == "Prism"
    with pytest.raises(UnknownEntity):
        project.resolve_alias("PGR")
    [reference] = project.reference("ADR-1", "Prism", "REFERENCES", tier=3).candidates
    edits = {"target": "ADR-2", "reference_kind": "EXTENDS", "valid_from": None}
    project.review(reference, "promote", reviewer="ada", edits=edits)
    [known] = project.list_references()
    assert (known["kind"], known["target"]["identifier"], known["valid_from"]) == ("EXTENDS", "ADR-2", None)


def test_an_edit_that_changes_nothing_is_none(project: Project) -> None:
    candidate = guess(project)
    project.review(candidate, "promote", reviewer="ada", edits={"value": "Accepted", "entity": "ADR-1"})
    assert project.candidate(candidate)["rulings"][0]["edited"] == []


@pytest.mark.parametrize(
    ("edits", "match"),
    [
        ({"colour": "blue"}, "nothing of a fact candidate"),
        ({"surface_form": "x"}, "nothing of a fact candidate"),
        ({"value": ["a", "b"]}, "takes one value"),
        ({"valid_until": "2025-01-01"}, "cannot hold"),
        ({"entity": "ADR-9"}, "no entity"),
        ({"property": "colour"}, "not declared"),
    ],
)
def test_an_edit_that_cannot_be_meant_is_refused(project: Project, edits: dict[str, object], match: str) -> None:
    candidate = guess(project)
    with pytest.raises(Exception, match=match):
        project.review(candidate, "promote", reviewer="ada", edits=edits)
    assert stands(project, candidate) == "pending"
    with pytest.raises(BadArgument, match="with edits"):
        project.review(candidate, "reject", reviewer="ada", edits={"value": "x"})


def test_a_rejected_guess_does_not_come_back(project: Project, world: World) -> None:
    candidate, before = guess(project), world()
    project.review(candidate, "reject", reviewer="ada", note="hearsay")
    assert world() == before
    again = project.fact("ADR-1", "status", "Accepted", tier=3, valid_from="2025-03-01", source="b.md", quote="again")
    assert again.candidates == (candidate,)
    assert "rejected by ada" in again.notes[0]
    assert project.list_candidates()["total"] == 0
    [row] = project.list_candidates(status="rejected")["candidates"]
    assert len(row["clues"]) == 2
    assert [(ruling["status"], ruling["note"]) for ruling in row["rulings"]] == [("rejected", "hearsay")]


def test_a_promoted_guess_stays_promoted_when_it_is_made_again(project: Project) -> None:
    candidate = guess(project)
    project.review(candidate, "promote", reviewer="ada")
    again = project.fact("ADR-1", "status", "Accepted", tier=3, valid_from="2025-03-01", source="b.md")
    assert (again.candidates, stands(project, candidate)) == ((candidate,), "promoted")
    assert "promoted by ada" in again.notes[0]


def test_undo_takes_back_the_last_ruling(project: Project, world: World) -> None:
    candidate, before = guess(project), world()
    with pytest.raises(RefusedError, match="no ruling"):
        project.review(candidate, "undo", reviewer="ada")
    project.review(candidate, "reject", reviewer="ada")
    project.review(candidate, "undo", reviewer="grace", note="too quick")
    assert stands(project, candidate) == "pending"
    project.review(candidate, "promote", reviewer="ada")
    first = project.blame("ADR-1", "status")["events"][0]["event"]
    project.review(candidate, "undo", reviewer="ada")
    assert status(project) == "Proposed"
    project.review(candidate, "promote", reviewer="grace")
    [event] = project.blame("ADR-1", "status")["events"]
    assert (event["event"] != first, event["review"]["reviewer"]) == (True, "grace")
    rulings = project.candidate(candidate)["rulings"]
    assert [(each["status"], each["reviewer"]) for each in rulings] == [
        ("rejected", "ada"),
        ("pending", "grace"),
        ("promoted", "ada"),
        ("pending", "ada"),
        ("promoted", "grace"),
    ]
    assert world() != before
    assert project.check() == []


@pytest.mark.parametrize("how", ["revert", "retract"])
def test_what_is_reverted_does_not_claim_to_be_promoted(project: Project, how: str) -> None:
    candidate = guess(project)
    told = project.review(candidate, "promote", reviewer="ada")
    taken = project.revert(told["commit"]) if how == "revert" else project.retract(told["applied"])
    assert (status(project), stands(project, candidate)) == ("Proposed", "pending")
    last = project.candidate(candidate)["rulings"][-1]
    assert (last["status"], last["reviewer"]) == ("pending", None)
    assert stands(project, candidate, told["commit"]) == "promoted"
    assert taken.commit is not None
    assert project.check() == []


def test_a_promoted_alias_that_is_reverted_is_pending(project: Project) -> None:
    [candidate] = project.alias("PGR", "Prism", tier=3).candidates
    told = project.review(candidate, "promote", reviewer="ada")
    project.revert(told["commit"])
    assert stands(project, candidate) == "pending"
    with pytest.raises(UnknownEntity):
        project.resolve_alias("PGR")


def test_what_only_ended_does_not_reopen_the_guess(project: Project) -> None:
    """A commit that no more than ends a promoted name is reverted: the name goes on, and stays promoted."""
    [candidate] = project.alias("PGR", "Prism", tier=3, valid_from="2025-01-01", source="a.md").candidates
    project.review(candidate, "promote", reviewer="ada")
    ended = project.alias("PGR", "Prism", valid_from="2025-01-01", valid_until="2025-12-31", source="a.md")
    assert project.resolve_alias("PGR", "2025-06-01")["identifier"] == "PrismGR"
    project.revert(ended.commit or 0)
    assert stands(project, candidate) == "promoted"
    assert project.resolve_alias("PGR")["identifier"] == "Prism"


def test_a_reverted_rejection_is_pending_again(project: Project) -> None:
    candidate = guess(project)
    told = project.review(candidate, "reject", reviewer="ada")
    project.revert(told["commit"])
    assert stands(project, candidate) == "pending"


def test_reverting_the_guesses_of_a_commit_empties_the_queue(project: Project) -> None:
    receipt = project.fact("ADR-1", "status", "Accepted", tier=3, valid_from="2025-03-01", source="a.md")
    other = project.fact("ADR-1", "status", "Accepted", tier=3, valid_from="2025-03-01", source="b.md")
    [candidate] = receipt.candidates
    project.revert(receipt.commit or 0)
    assert [clue["source"] for clue in project.candidate(candidate)["clues"]] == ["b.md"]
    project.revert(other.commit or 0)
    assert (project.list_candidates()["total"], stands(project, candidate)) == (0, "withdrawn")
    assert stands(project, candidate, receipt.commit) == "pending"
    with pytest.raises(RefusedError, match="is withdrawn"):
        project.review(candidate, "promote", reviewer="ada")
    project.fact("ADR-1", "status", "Accepted", tier=3, valid_from="2025-03-01", source="a.md")
    assert stands(project, candidate) == "pending"
    assert project.check() == []


def test_the_queue_as_it_stood_then(project: Project) -> None:
    made = project.alias("PGR", "Prism", tier=3, quote="one", source="a.md")
    [candidate] = made.candidates
    rejected = project.review(candidate, "reject", reviewer="ada")["commit"]
    project.alias("PGR", "Prism", tier=3, quote="two", source="b.md")
    project.review(candidate, "undo", reviewer="ada")
    before = (made.commit or 0) - 1
    assert project.list_candidates(status=None, known_at=before)["total"] == 0
    with pytest.raises(NotFoundError, match="not known then"):
        project.candidate(candidate, known_at=before)
    assert project.list_candidates(known_at=made.commit)["total"] == 1
    [row] = project.list_candidates(status="rejected", known_at=rejected)["candidates"]
    assert (len(row["clues"]), len(row["rulings"])) == (1, 1)
    assert project.list_candidates(known_at=rejected)["total"] == 0
    assert project.list_candidates()["total"] == 1


def test_the_queue_is_read_in_pages(project: Project) -> None:
    made = [project.alias(f"PGR {number}", "Prism", tier=3).candidates[0] for number in range(7)]
    project.fact("ADR-1", "status", "Accepted", tier=3)
    first = project.list_candidates("alias", limit=3)
    assert ([row["candidate"] for row in first["candidates"]], first["total"]) == (made[:3], 7)
    project.review(made[2], "reject", reviewer="ada")
    second = project.list_candidates("alias", limit=3, cursor=first["cursor"])
    assert [row["candidate"] for row in second["candidates"]] == made[3:6]
    third = project.list_candidates("alias", limit=3, cursor=second["cursor"])
    assert ([row["candidate"] for row in third["candidates"]], third["cursor"]) == (made[6:], None)
    assert project.list_candidates(entity="ADR-1")["total"] == 1
    assert project.list_candidates("alias", entity="ADR-1")["total"] == 0
    for wrong in ({"kind": "memory"}, {"status": "maybe"}, {"limit": 0}, {"cursor": "zzzz"}):
        with pytest.raises((BadArgument, NotFoundError)):
            project.list_candidates(**wrong)  # type: ignore[arg-type]


def test_a_candidate_is_named_by_the_beginning_of_its_uuid(project: Project) -> None:
    candidate = guess(project)
    uuid = project.names.uuid_of(candidate)
    assert project.candidate(uuid)["candidate"] == project.candidate(uuid[:8])["candidate"] == candidate
    for text in ("abc", "zzzz", "ffffffff", ""):
        with pytest.raises(NotFoundError):
            project.candidate(text)


def test_too_short_a_beginning_is_ambiguous(project: Project) -> None:
    uuid = "5d2f7c0a-43ce-4f4b-9a52-2b8f4f0b8f5e"
    made = Event(uuid, "created", None, (Assertion(term("name"), Literal("Long")),))
    guesses = [Candidate(Alias(uuid, f"L {number}")) for number in range(400)]
    written = project.write([NewEntity(uuid, NamedNode(TYPE + "Project")), made, *guesses])
    starts = [project.names.uuid_of(each)[:4] for each in written.candidates]
    twice = next(start for start in starts if starts.count(start) > 1)
    with pytest.raises(AmbiguousError) as caught:
        project.candidate(twice)
    assert len(caught.value.candidates) == starts.count(twice)
    assert caught.value.candidates[0]["why"].startswith("Long: formerly called L ")


def test_a_ruling_names_who_and_what(project: Project) -> None:
    candidate = guess(project)
    with pytest.raises(BadArgument, match="nobody rules"):
        project.review(candidate, "promote", reviewer=" ")
    with pytest.raises(BadArgument, match="no decision"):
        project.review(candidate, "approve", reviewer="ada")  # type: ignore[arg-type]
    project.review(candidate, "promote", reviewer="ada")
    for decision in ("promote", "reject"):
        with pytest.raises(RefusedError, match="is promoted, not pending"):
            project.review(candidate, decision, reviewer="ada")  # type: ignore[arg-type]


def test_the_same_ruling_under_one_key_is_given_once(project: Project) -> None:
    candidate = guess(project)
    first = project.review(candidate, "promote", reviewer="ada", idempotency_key="k")
    again = project.review(candidate, "promote", reviewer="ada", idempotency_key="k")
    assert {**again, "replayed": False} == first
    assert len(project.candidate(candidate)["rulings"]) == 1
