"""A candidate that no longer fits is refused with the reason, nothing is written, and it stays pending."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from prism_rdf import Project, RefusedError

Guess = Callable[[Project], Any]
Happens = Callable[[Project], Any]


def fact(**said: Any) -> Guess:
    said = {"valid_from": "2025-03-01"} | said
    return lambda project: project.fact(
        "ADR-1", said.pop("name", "status"), said.pop("value", "Accepted"), tier=3, **said
    )


def alias(form: str = "PGR", entity: str = "Prism", **said: Any) -> Guess:
    return lambda project: project.alias(form, entity, tier=3, **said)


def reference(source: str = "ADR-1", kind: str = "SUPERSEDES", target: str = "ADR-2", **said: Any) -> Guess:
    return lambda project: project.reference(source, target, kind, tier=3, **({"valid_from": "2025-03-01"} | said))


def nothing(project: Project) -> None:
    pass


def created_anew(project: Project) -> None:
    project.revert(3)


CASES: dict[str, tuple[Guess, Happens, str]] = {
    "the value holds already": (
        fact(),
        lambda p: p.fact("ADR-1", "status", "Accepted", valid_from="2025-02-01"),
        "so already",
    ),
    "the value held already when it was guessed": (fact(value="Proposed"), nothing, "so already"),
    "a correction outranks it": (
        fact(),
        lambda p: p.correct("ADR-1", {"status": "Rejected"}, valid_from="2025-01-01"),
        "outranks it",
    ),
    "the property never changes": (fact(name="created", value="2025-06-01"), nothing, "never changes"),
    "the datatype does not fit": (fact(value=7), nothing, "status"),
    "the entity is retired": (fact(), lambda p: p.retire("ADR-1", valid_from="2026-02-01"), "is retired since 2026-02"),
    "nothing is believed of the entity": (fact(), created_anew, "nothing is believed"),
    "the name is recorded already": (alias(), lambda p: p.alias("pgr", "Prism"), "already"),
    "it is called so by now": (
        alias("PGR"),
        lambda p: p.transition("Prism", {"name": "PGR"}, "rename", valid_from="2026-05-01"),
        "called now",
    ),
    "a thing does not refer to itself": (reference(), lambda p: p.merge("ADR-2", "ADR-1"), "refer|itself"),
    "the name is another's": (alias(), lambda p: p.alias("PGR", "ADR-1"), "is a name of ADR-1"),
    "the name is another's identifier": (alias("ADR-2"), nothing, "is a name of ADR-2"),
    "another bears the name by then": (
        alias(valid_from="2025-06-01"),
        lambda p: p.entity("Component", {"name": "PGR"}, valid_from="2026-01-01"),
        "is a name of PGR",
    ),
    "the reference is recorded already": (
        reference(),
        lambda p: p.reference("ADR-1", "ADR-2", "SUPERSEDES", valid_from="2025-01-01"),
        "recorded already",
    ),
    "these types may not refer so": (reference(kind="SUPERSEDES", target="Prism"), nothing, "SUPERSEDES"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_candidate_that_does_not_fit_stays_pending(project: Project, name: str, world: Callable[[], object]) -> None:
    guess, happens, match = CASES[name]
    [candidate] = guess(project).candidates
    happens(project)
    before = world()
    with pytest.raises(RefusedError, match=match) as caught:
        project.review(candidate, "promote", reviewer="ada")
    assert caught.value.exit_status == 5
    assert caught.value.mend
    assert world() == before
    row = project.candidate(candidate)
    assert (row["status"], row["rulings"]) == ("pending", [])
    project.review(candidate, "reject", reviewer="ada")
    assert project.candidate(candidate)["status"] == "rejected"
    assert project.check() == []


def test_there_are_cases_of_every_kind() -> None:
    assert len(CASES) == 15


def test_a_guess_about_what_is_merged_by_now_means_the_other(project: Project) -> None:
    candidates = [fact()(project).candidates[0], alias("the graph", "ADR-1")(project).candidates[0]]
    project.merge("ADR-1", "ADR-2")
    for candidate in candidates:
        project.review(candidate, "promote", reviewer="ada")
    assert project.state_as_of("ADR-2")["props"]["status"] == "Accepted"
    assert project.resolve_alias("the graph")["identifier"] == "ADR-2"
    for candidate in candidates:
        project.review(candidate, "undo", reviewer="ada")
    assert "status" not in project.state_as_of("ADR-2")["props"]
    assert project.check() == []


def test_why_it_does_not_fit_is_told_beforehand(project: Project) -> None:
    [candidate] = alias()(project).candidates
    assert project.candidate(candidate)["misfit"] is None
    project.alias("PGR", "ADR-1")
    assert "is a name of ADR-1" in project.candidate(candidate)["misfit"]
    assert project.candidate(candidate)["believed"] == ["PGR: former name of ADR-1, unknown → open"]


@pytest.mark.parametrize(
    ("guess", "happens", "edits"),
    [
        (fact(), lambda p: p.retire("ADR-1", valid_from="2026-02-01"), {"valid_until": "2026-01"}),
        (alias(), lambda p: p.alias("PGR", "ADR-1", valid_from="2026-01-01"), {"valid_until": "2025-12-31"}),
        (reference(target="Prism"), nothing, {"target": "ADR-2"}),
        (fact(name="created", value="2025-06-01"), nothing, {"property": "status"}),
    ],
)
def test_an_edit_makes_it_fit(project: Project, guess: Guess, happens: Happens, edits: dict[str, str]) -> None:
    [candidate] = guess(project).candidates
    happens(project)
    with pytest.raises(RefusedError):
        project.review(candidate, "promote", reviewer="ada")
    assert project.review(candidate, "promote", reviewer="ada", edits=edits)["status"] == "promoted"
    assert project.check() == []


def test_what_was_said_of_a_time_before_the_retirement_fits(project: Project) -> None:
    [candidate] = fact(valid_until="2025-06-30")(project).candidates
    project.retire("ADR-1", valid_from="2026-02-01")
    project.review(candidate, "promote", reviewer="ada")
    assert project.state_as_of("ADR-1", "2025-04-01")["props"]["status"] == "Accepted"
    assert project.state_as_of("ADR-1")["state"] is None


def test_a_name_that_another_bore_before_fits(project: Project) -> None:
    """ADR-2 was the number of one decision and then, freed, of another."""
    project.transition("ADR-2", {"number": "ADR-20"}, "rename", valid_from="2025-06-01")
    [candidate] = alias("ADR-2", "ADR-1", valid_from="2025-06-01", kind="synonym")(project).candidates
    project.review(candidate, "promote", reviewer="ada")
    assert [bearer.form for bearer in project.who("ADR-2")] == ["ADR-2"]
    assert project.resolve_alias("ADR-2")["identifier"] == "ADR-1"


@pytest.mark.parametrize(("guess", "gone"), [(alias(), "Prism"), (reference(), "ADR-1"), (reference(), "ADR-2")])
def test_names_and_references_of_what_is_retired_may_still_be_told(project, guess, gone) -> None:
    """That it was called so, or that another took its place, is what one says of a thing that is gone."""
    [candidate] = guess(project).candidates
    project.retire(gone)
    assert project.review(candidate, "promote", reviewer="ada")["status"] == "promoted"
