"""What tier 3 says awaits review: nothing else changes, the same guess is one candidate, and a bad clue is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyoxigraph import Literal, Quad

from prism_rdf import Project, Receipt
from prism_rdf.errors import BadArgument, RefusedError, UnknownEntity, UnknownType, ValidationError
from prism_rdf.model import Alias, Candidate, Clue, Event, Fact, Reference
from prism_rdf.namespaces import prism as term

World = Callable[[], set[Quad]]
GUESSES: dict[str, Callable[..., Receipt]] = {
    "fact": lambda project, **said: project.fact("ADR-1", "status", "Accepted", tier=3, **said),
    "alias": lambda project, **said: project.alias("Prism Graph", "Prism", tier=3, **said),
    "reference": lambda project, **said: project.reference("ADR-1", "ADR-2", "SUPERSEDES", tier=3, **said),
}


def recalled(project: Project) -> dict[str, object]:
    """What recall answers, but for how far its indexes have read."""
    return project.recall("Prism Graph", "2026-12-31") | {"legs": None}


@pytest.mark.parametrize("kind", GUESSES)
def test_a_guess_changes_nothing_that_is_believed(project: Project, world: World, kind: str) -> None:
    project.remember("Prism Graph was installed on the old server", about=["ADR-1"])
    before, asked = world(), recalled(project)
    receipt = GUESSES[kind](project, quote="it says so", confidence=0.7)
    assert receipt.commit is not None
    [candidate], [note] = receipt.candidates, receipt.notes
    assert "nothing of it is believed" in note
    assert world() == before
    assert recalled(project) == asked
    with pytest.raises(UnknownEntity):
        project.resolve_alias("Prism Graph")
    assert project.state_as_of("ADR-1")["props"]["status"] == "Proposed"
    assert project.list_references() == []
    assert project.check() == []
    [row] = project.list_candidates(kind)["candidates"]
    assert (row["candidate"], row["status"], row["kind"]) == (candidate, "pending", kind)


def test_the_queue_tells_what_is_proposed_in_words_and_in_parts(project: Project) -> None:
    project.fact("ADR-1", "status", "Accepted", tier=3, valid_from="2025-11", valid_until="2025-12", source="m.md")
    project.alias("Prism Graph", "Prism", tier=3, kind="synonym", quote="a.k.a. Prism Graph", offsets=(10, 28))
    project.reference("ADR-1", "ADR-2", "SUPERSEDES", tier=3, extractor="verbs/2", confidence=1)
    fact, alias, reference = project.list_candidates()["candidates"]
    assert fact["proposal"] == "ADR-1: status = Accepted"
    assert (fact["entity"]["identifier"], fact["property"], fact["value"], fact["op"]) == (
        "ADR-1",
        "status",
        "Accepted",
        "set",
    )
    assert (fact["valid_from"], fact["valid_until"]) == ("2025-11-01T00:00:00Z", "2026-01-01T00:00:00Z")
    assert fact["believed"] == ["status = Proposed, 2025-01-01T00:00:00Z → open"]
    assert alias["proposal"] == "Prism: also called Prism Graph"
    assert (alias["surface_form"], alias["alias_kind"]) == ("Prism Graph", "synonym")
    assert (alias["clues"][0]["quote"], alias["clues"][0]["start_offset"], alias["clues"][0]["end_offset"]) == (
        "a.k.a. Prism Graph",
        10,
        28,
    )
    assert reference["proposal"] == "ADR-1 SUPERSEDES ADR-2"
    assert (reference["source"]["identifier"], reference["target"]["identifier"]) == ("ADR-1", "ADR-2")
    assert (reference["confidence"], reference["clues"][0]["extractor"]) == (1.0, "verbs/2")


def test_a_change_of_several_properties_is_a_candidate_for_each(project: Project) -> None:
    receipt = project.transition("ADR-1", {"status": "Accepted", "deciders": ["Ada", "Grace"], "title": None}, tier=3)
    assert len(receipt.candidates) == 3
    found = {row["property"]: row["proposal"] for row in project.list_candidates()["candidates"]}
    assert found == {
        "status": "ADR-1: status = Accepted",
        "deciders": "ADR-1: deciders = Ada, Grace",
        "title": "ADR-1: title = nothing",
    }


@pytest.mark.parametrize("kind", GUESSES)
def test_the_same_guess_from_several_sources_is_one_candidate(project: Project, kind: str) -> None:
    first = GUESSES[kind](project, quote="one", confidence=0.5)
    project.prism.clock.advance(days=1)
    second = GUESSES[kind](project, quote="two", confidence=0.9)
    again = GUESSES[kind](project, quote="two", confidence=0.8)
    assert first.candidates == second.candidates == again.candidates
    assert again.commit is None
    [row] = project.list_candidates()["candidates"]
    assert [clue["quote"] for clue in row["clues"]] == ["one", "two"]
    assert row["confidence"] == 0.9, "both are of no source, so they count once"
    if kind != "alias":
        assert row["valid_from"] == row["recorded_at"], "a guess that says no time holds since it was first made"


def test_confidence_grows_with_independent_sources_only(project: Project) -> None:
    for source, confidence in (("a.md@1", 0.5), ("a.md@2", 0.4), ("b.md@1", 0.5)):
        project.alias("PGR", "Prism", tier=3, source=source, confidence=confidence)
    [row] = project.list_candidates()["candidates"]
    assert (len(row["clues"]), row["confidence"]) == (3, 0.75)


def test_guesses_for_another_time_or_value_are_others(project: Project) -> None:
    said = [
        project.fact("ADR-1", "status", "Accepted", tier=3, valid_from="2025-03-01"),
        project.fact("ADR-1", "status", "Accepted", tier=3, valid_from="2025-04-01"),
        project.fact("ADR-1", "status", "Rejected", tier=3, valid_from="2025-03-01"),
        project.fact("ADR-2", "status", "Accepted", tier=3, valid_from="2025-03-01"),
    ]
    assert len({receipt.candidates for receipt in said}) == 4


def test_a_clue_belongs_to_a_guess(project: Project) -> None:
    for said in ({"quote": "x"}, {"extractor": "x"}, {"confidence": 0.5}, {"offsets": (0, 1)}):
        with pytest.raises(BadArgument, match="belong to a guess"):
            project.alias("X", "Prism", **said)


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"confidence": 1.1}, "confidence"),
        ({"confidence": -0.1}, "confidence"),
        ({"offsets": (5, 5)}, "no passage"),
        ({"offsets": (-1, 5)}, "no passage"),
        ({"offsets": (1,)}, "no passage"),
        ({"sequence": 3}, "no sequence"),
        ({"event_type": "correction"}, "corrects nothing"),
        ({"valid_from": "2025-02-01", "valid_until": "2025-01-31"}, "interval|until"),
    ],
)
def test_a_guess_that_cannot_be_meant_is_refused(project: Project, said: dict[str, object], match: str) -> None:
    with pytest.raises(Exception, match=match) as caught:
        project.fact("ADR-1", "status", "x", tier=3, **said)
    assert caught.type.__name__ in ("BadArgument", "BadTime", "RefusedError")
    assert project.list_candidates(status=None)["total"] == 0


def test_a_guess_is_about_what_there_is(project: Project) -> None:
    with pytest.raises(UnknownEntity):
        project.fact("ADR-9", "status", "x", tier=3)
    with pytest.raises(ValidationError, match="colour"):
        project.fact("ADR-1", "colour", "x", tier=3)
    with pytest.raises(BadArgument, match="kind"):
        project.reference("ADR-1", "ADR-2", "LIKES", tier=3)
    with pytest.raises(UnknownEntity):
        project.write([Candidate(Alias("5d2f7c0a-43ce-4f4b-9a52-2b8f4f0b8f5e", "X"))])
    with pytest.raises(UnknownType):
        project.entity("Nothing", {"name": "x"})
    assert project.list_candidates(status=None)["total"] == 0


def test_many_guesses_in_one_commit(project: Project) -> None:
    adr, other = (project.names.uuid_of(project.resolve(name).value) for name in ("ADR-1", "ADR-2"))
    intents = [
        Candidate(Alias(adr, "The Graph"), Clue(quote="one", source="a.md")),
        Candidate(Alias(adr, "the graph"), Clue(quote="two", source="b.md")),
        Candidate(Reference(adr, other, term("EXTENDS")), Clue(source="a.md")),
        Candidate(Fact(adr, term("status"), (Literal("Accepted"),)), Clue(source="a.md"), undated=True),
    ]
    receipt = project.write(intents, "ingest")
    assert len(receipt.candidates) == 3
    assert project.write(intents, "ingest").commit is None
    rows = project.list_candidates()["candidates"]
    assert sorted(len(row["clues"]) for row in rows) == [1, 1, 2]
    start, until = (project.prism.clock.now().plus(days=days) for days in (2, 1))
    with pytest.raises(ValidationError, match="cannot hold"):
        project.write([Candidate(Alias(adr, "X", start=start, until=until))])


def test_a_guess_is_not_believed_by_the_back_door(project: Project) -> None:
    adr = project.names.uuid_of(project.resolve("ADR-1").value)
    for intent in (Alias(adr, "X", tier=3), Event(adr, "fact", None, (), tier=3)):
        with pytest.raises(RefusedError, match="is a guess"):
            project.write([intent])


def test_the_same_request_under_one_key_is_one_guess(project: Project) -> None:
    first = project.alias("PGR", "Prism", tier=3, quote="one", idempotency_key="k")
    again = project.alias("PGR", "Prism", tier=3, quote="one", idempotency_key="k")
    assert (again.replayed, again.commit, again.candidates) == (True, first.commit, first.candidates)
    with pytest.raises(RefusedError, match="already used"):
        project.alias("PGR", "Prism", tier=3, quote="two", idempotency_key="k")
