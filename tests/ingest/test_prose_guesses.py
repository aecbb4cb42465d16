"""Guesses from prose through a history: since when, until when, by whose words, and what does not come back."""

from __future__ import annotations

import pytest

from prism_rdf import Prism
from prism_rdf.ingest import read
from prism_rdf.model import Candidate

OTHERS = {"ADR-2": "Queues", "ADR-3": "Retries"}


@pytest.fixture
def records(adr):
    return {f"{number}.md": adr(number, title) for number, title in OTHERS.items()}


@pytest.fixture
def prism():
    with Prism.in_memory() as opened:
        yield opened


def listed(project, **options) -> list[dict]:
    return project.list_candidates(**options)["candidates"]


def spans(project) -> list[tuple[str, str | None, str | None]]:
    return sorted(
        (c["proposal"], c["valid_from"][:10] if c["valid_from"] else None, c["valid_until"] and c["valid_until"][:10])
        for c in listed(project, status=None)
    )


def test_a_reference_is_proposed_while_its_sentence_stands(repo, adr, records, prism) -> None:
    project = prism.project("demo")
    repo.commit(0, {**records, "ADR-1.md": adr("ADR-1", "Bus", text="This ADR extends ADR-2.")})
    first = project.ingest(repo.path)
    open_then = spans(project)
    repo.commit(1, {"ADR-1.md": adr("ADR-1", "Bus", text="As said before, this ADR extends ADR-2 by far.")})
    repo.commit(2, {"ADR-1.md": adr("ADR-1", "Bus", text="It stands alone.")})
    project.ingest(repo.path)

    [found] = listed(project)
    assert first["report"]["candidates"] == 1
    assert open_then == [("ADR-1 EXTENDS ADR-2", "2025-01-01", None)]
    assert spans(project) == [("ADR-1 EXTENDS ADR-2", "2025-01-01", "2025-01-03")]
    [clue] = found["clues"]
    assert (clue["quote"], clue["extractor"], clue["confidence"]) == ("This ADR extends ADR-2.", "prose/2", 0.9)
    assert (
        adr("ADR-1", "Bus", text="This ADR extends ADR-2.")[clue["start_offset"] : clue["end_offset"]] == clue["quote"]
    )
    assert project.list_references(source="ADR-1") == []


def test_any_split_of_a_history_gives_the_same_guesses(repo, adr, records, prism, graph_of) -> None:
    step = prism.project("demo")
    texts = ["ADR-2 is superseded by ADR-3.", "Nothing.", "ADR-2 is superseded by ADR-3. See also ADR-2.", "Nothing."]
    for n, text in enumerate(texts):
        other = {"ADR-4.md": adr("ADR-4", "Note", text=text if n else "ADR-3 supersedes ADR-2.")}
        repo.commit(n, {**(records if n == 0 else {}), **other, "ADR-1.md": adr("ADR-1", "Bus", text=text)})
        step.ingest(repo.path)

    with Prism.in_memory() as whole:
        whole.project("demo").ingest(repo.path)
        assert graph_of(whole) == graph_of(prism)
    assert len(listed(step)) == 5


def test_what_is_said_directly_or_is_so_is_not_guessed(repo, adr, records, prism) -> None:
    project = prism.project("demo")
    text = "This ADR extends ADR-2. ADR-2 was accepted. This ADR was accepted."
    repo.commit(0, {**records, "ADR-1.md": adr("ADR-1", "Bus", "Accepted", text, extends="ADR-2")})
    project.ingest(repo.path)

    assert listed(project) == []


def test_a_change_of_status_is_a_fact_to_review_at_its_own_time(repo, adr, records, prism) -> None:
    project = prism.project("demo")
    text = "ADR-2 was rejected on 2024-03-01. ADR-3 is now superseded by ADR-1."
    repo.commit(0, {**records, "ADR-1.md": adr("ADR-1", "Bus", text=text)})
    project.ingest(repo.path)

    assert spans(project) == [
        ("ADR-1 SUPERSEDES ADR-3", "2025-01-01", None),
        ("ADR-2: status = Rejected", "2024-03-01", None),
        ("ADR-3: status = Superseded", "2025-01-01", None),
    ]
    assert project.state_as_of("ADR-3")["props"]["status"] == "Accepted"


def test_a_rejected_guess_does_not_come_back(repo, adr, records, prism) -> None:
    project = prism.project("demo")
    repo.commit(0, {**records, "ADR-1.md": adr("ADR-1", "Bus", text="This ADR extends ADR-2.")})
    project.ingest(repo.path)
    project.review(listed(project)[0]["uuid"], "reject", reviewer="Ada")
    repo.commit(1, {"ADR-1.md": adr("ADR-1", "Bus", text="Still, this ADR extends ADR-2.")})
    project.ingest(repo.path)
    again = project.ingest(repo.path, again=True)

    assert listed(project) == []
    assert [c["status"] for c in listed(project, status=None)] == ["rejected"]
    assert again["commits"] == []


def test_a_promoted_reference_ends_when_its_sentence_goes(repo, adr, records, prism) -> None:
    project = prism.project("demo")
    says = {"ADR-1.md": adr("ADR-1", "Bus", text="This ADR extends ADR-2. It supersedes ADR-3.")}
    repo.commit(0, {**records, **says})
    project.ingest(repo.path)
    for each in listed(project):
        edits = {"valid_until": "2025-06"} if "SUPERSEDES" in each["proposal"] else {}
        project.review(each["candidate"], "promote", reviewer="Ada", edits=edits)
    repo.commit(1, {"ADR-1.md": adr("ADR-1", "Bus", text="It stands alone.")})
    notes = project.ingest(repo.path)["receipt"]["notes"]
    assert notes == ["2 promoted before, and said by nobody any more: what a promotion wrote ends there"]
    repo.commit(3, says)
    project.ingest(repo.path)

    held = {each["kind"]: each for each in project.list_references(source="ADR-1", as_of="2025-01-01")}
    assert held["EXTENDS"]["valid_until"][:10] == "2025-01-02"
    assert held["SUPERSEDES"]["valid_until"][:10] == "2025-07-01"  # a person said so
    again = project.list_references(source="ADR-1", as_of="2025-01-05")
    assert [each["kind"] for each in again if each["kind"] != "REFERENCES"] == ["SUPERSEDES"]
    assert sorted((each["proposal"], each["valid_from"][:10]) for each in listed(project)) == [
        ("ADR-1 EXTENDS ADR-2", "2025-01-04"),
        ("ADR-1 SUPERSEDES ADR-3", "2025-01-04"),
    ]
    assert prism.project("demo").check() == []


def test_a_promoted_reference_stays_while_another_document_says_so(repo, adr, records, prism) -> None:
    project = prism.project("demo")
    other = {"ADR-4.md": adr("ADR-4", "Note", text="ADR-1 extends ADR-2.")}
    repo.commit(0, {**records, **other, "ADR-1.md": adr("ADR-1", "Bus", text="This ADR extends ADR-2.")})
    project.ingest(repo.path)
    [guess] = listed(project)
    project.review(guess["candidate"], "promote", reviewer="Ada")
    repo.commit(1, {"ADR-1.md": adr("ADR-1", "Bus", text="It stands alone.")})
    project.ingest(repo.path)

    def extends() -> list[dict]:
        return [each for each in project.list_references(source="ADR-1") if each["kind"] == "EXTENDS"]

    [held] = extends()
    assert held["valid_until"] is None
    repo.commit(2, {"ADR-4.md": adr("ADR-4", "Note", text="Nothing.")})
    project.ingest(repo.path)
    assert extends() == []


def test_a_document_that_comes_later_is_meant_from_then_on(repo, adr, records) -> None:
    repo.commit(0, {**records, "ADR-1.md": adr("ADR-1", "Bus", text="This ADR extends ADR-9.")})
    repo.commit(3, {"ADR-9.md": adr("ADR-9", "Late")})

    [guess] = [i for i in read(repo.path, "demo").intents if isinstance(i, Candidate)]

    assert guess.proposal.start.iso() == "2025-01-04T00:00:00Z"


def test_a_former_name_is_an_alias_to_review(repo, adr, prism) -> None:
    project = prism.project("demo")
    repo.commit(0, {"ADR-1.md": adr("ADR-1", "Harbour", text="Harbour, formerly known as Lantern, holds it all.")})
    project.ingest(repo.path)

    assert [c["proposal"] for c in listed(project)] == ["ADR-1: formerly called Lantern"]


def test_what_is_remembered_is_read_too(prism) -> None:
    project = prism.project("demo")
    for number in ("ADR-1", "ADR-2"):
        project.entity("ADR", {"number": number, "title": f"T {number}", "status": "Accepted"}, valid_from="2025-01-01")
    said = project.remember("This decision extends ADR-2, which was withdrawn.", about=["ADR-1"])
    again = project.remember("I repeat: ADR-2 was withdrawn.")

    assert len(said.candidates) == 2
    assert set(again.candidates) < set(said.candidates)
    assert sorted(c["proposal"] for c in listed(project)) == ["ADR-1 EXTENDS ADR-2", "ADR-2: status = Withdrawn"]
    fact = next(c for c in listed(project) if c["kind"] == "fact")
    assert {clue["cause_memory"] for clue in fact["clues"]} == {*said.created, *again.created}
    assert project.state_as_of("ADR-2")["props"]["status"] == "Accepted"


def test_a_folder_without_history_is_read_again_without_new_guesses(tmp_path, adr, records, prism) -> None:
    project = prism.project("demo")
    for name, text in {**records, "ADR-1.md": adr("ADR-1", "Bus", text="This ADR extends ADR-2.")}.items():
        (tmp_path / name).write_text(text)
    project.ingest(tmp_path)
    (tmp_path / "ADR-1.md").write_text(adr("ADR-1", "Bus", text="This ADR extends ADR-2, truly."))
    project.ingest(tmp_path)

    assert [c["proposal"] for c in listed(project)] == ["ADR-1 EXTENDS ADR-2"]
