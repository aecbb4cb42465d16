"""Duplicates of a project: proposed, merged by a rule, taken back, kept apart; and nothing merged unasked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from prism_rdf import Prism, Project
from prism_rdf.errors import BadArgument, UnknownType, ValidationError

WORDS = ("Cache", "Index", "Queue", "Parser", "Renderer", "Gateway", "Ledger")


@pytest.fixture
def project() -> Iterator[Project]:
    with Prism.in_memory() as prism:
        made = prism.project("demo")
        for place, word in enumerate(WORDS * 3):
            adr(
                made,
                f"ADR-{100 + place}",
                f"{word} of the {WORDS[(place // 7 + place) % 7].lower()}s",
                WORDS[place % 7],
            )
        yield made


def adr(project: Project, number: str, title: str, decider: str, **options: Any) -> str:
    props = {"number": number, "title": title, "deciders": [decider], "status": "accepted"}
    return str(project.entity("ADR", props, **options)["uuid"])


def proposed(project: Project, **options: Any) -> list[tuple[str, str, str]]:
    found = project.duplicates(**options)["pairs"]
    return [(pair["a"]["identifier"], pair["b"]["identifier"], pair["decision"]) for pair in found]


def doubled(project: Project) -> tuple[str, str]:
    """Enter one decision twice, the second time with another spelling of its number and a slip in its title."""
    first = adr(project, "ADR-007", "Write in one atomic update", "Kofi Mensah")
    return first, adr(project, "adr-7", "Write in one atomic udpate", "Kofi Mensah")


def test_what_was_entered_twice_is_proposed_with_the_reasons_and_nothing_is_merged(project: Project) -> None:
    first, second = doubled(project)
    before = project.prism.commit_number
    answer = project.duplicates()
    assert project.prism.commit_number == before
    (pair,) = answer["pairs"]
    assert (pair["a"]["uuid"], pair["b"]["uuid"], pair["type"]) == (first, second, "ADR")
    assert pair["decision"] == "merge"
    assert 0.97 <= pair["score"] <= 1
    assert "same number" in pair["reasons"]
    assert "same deciders, status" in pair["reasons"]
    assert answer["total"] == 1
    blocked = answer["blocked"]
    assert blocked["entities"] == 23
    assert 0 < blocked["compared"] < blocked["possible"] == 253


def test_numbers_that_differ_are_for_a_person_to_judge_and_are_never_merged(project: Project) -> None:
    adr(project, "ADR-052", "Keep the store in one folder", "Kofi Mensah")
    adr(project, "ADR-053", "Keep the store in one folder", "Kofi Mensah")
    assert proposed(project) == [("ADR-052", "ADR-053", "review")]
    assert project.merge_duplicates(at_least=0.5)["merged"] == []


def test_a_rule_that_is_switched_on_merges_and_each_merge_can_be_taken_back(project: Project) -> None:
    first, second = doubled(project)
    assert project.merge_duplicates(dry_run=True)["commit"] is None
    answer = project.merge_duplicates()
    assert [(pair["a"]["uuid"], pair["b"]["uuid"]) for pair in answer["merged"]] == [(first, second)]
    assert answer["commit"] == project.prism.commit_number
    assert project.resolve_alias("adr-7")["uuid"] == first
    assert proposed(project) == []
    project.unmerge("adr-7")
    assert project.resolve_alias("adr-7")["uuid"] == second
    assert proposed(project) == []  # a person took it back
    assert project.merge_duplicates()["merged"] == []
    assert project.check() == []


def test_all_merges_of_a_run_are_one_commit_that_can_be_reverted(project: Project) -> None:
    _, second = doubled(project)
    adr(project, "ADR-070", "Quote what was said in full", "Ottoline Vane")
    adr(project, "ADR 70", "Quote what was said in full", "Ottoline Vane")
    answer = project.merge_duplicates()
    assert len(answer["merged"]) == 2
    project.revert(answer["commit"])
    assert project.resolve_alias("adr-7")["uuid"] == second
    assert project.check() == []


def test_what_was_entered_three_times_is_merged_into_the_first(project: Project) -> None:
    first, second = doubled(project)
    third = adr(project, "ADR 007", "Write in one atomic update", "Kofi Mensah")
    merged = project.merge_duplicates()["merged"]
    assert {(pair["a"]["uuid"], pair["b"]["uuid"]) for pair in merged} == {(first, second), (first, third)}


def test_two_that_a_number_tells_apart_do_not_become_one_through_a_third(project: Project) -> None:
    for number in ("ADR-052", "ADR-053"):
        adr(project, number, "Keep the lattice in one folder", "Kofi Mensah")
    props = {"title": "Keep the lattice in one folder", "deciders": ["Kofi Mensah"], "status": "accepted"}
    project.entity("ADR", props)
    merged = project.merge_duplicates(at_least=0.8)["merged"]
    assert len(merged) == 1
    assert [decision for _, _, decision in proposed(project)] == ["review"]


def test_those_that_are_said_to_be_two_are_not_proposed_again_until_that_is_taken_back(project: Project) -> None:
    first, second = doubled(project)
    receipt = project.different("ADR-007", "adr-7", description="one is a draft")
    assert proposed(project) == []
    assert project.merge_duplicates()["merged"] == []
    assert project.different(second, first).commit is None  # known already, whichever is named first
    assert project.check() == []
    assert receipt.commit is not None
    project.revert(receipt.commit)
    assert proposed(project) == [("ADR-007", "adr-7", "merge")]


def test_nothing_is_different_from_itself(project: Project) -> None:
    doubled(project)
    with pytest.raises(ValidationError, match="is one entity"):
        project.different("adr-7", "adr-7")


def test_one_that_refers_to_the_other_is_not_merged(project: Project) -> None:
    first, second = doubled(project)
    project.reference(second, first, "SUPERSEDES")
    (pair,) = project.duplicates()["pairs"]
    assert pair["decision"] == "review"
    assert pair["reasons"][0] == "one refers to the other: SUPERSEDES"
    assert project.merge_duplicates()["merged"] == []


def test_two_types_never_pair(project: Project) -> None:
    for kind in ("ADR", "SPEC", "Persona"):
        name = "name" if kind == "Persona" else "title"
        project.entity(kind, {name: "Write in one atomic update", "description": "Kofi Mensah said so in a long mail"})
    assert proposed(project) == []


def test_only_one_type_where_one_is_asked_for(project: Project) -> None:
    doubled(project)
    assert proposed(project, type_name="SPEC") == []
    assert len(proposed(project, type_name="ADR")) == 1
    with pytest.raises(UnknownType):
        project.duplicates("Nothing")


def test_as_of_looks_at_the_entities_of_that_time(project: Project) -> None:
    adr(project, "ADR-007", "Write in one atomic update", "Kofi Mensah", valid_from="2020-01-01")
    adr(project, "adr-7", "Write in one atomic update", "Kofi Mensah", valid_from="2021-01-01")
    assert proposed(project, as_of="2020-06-01") == []
    assert len(proposed(project, as_of="2021-06-01")) == 1


def test_another_name_counts_as_a_name(project: Project) -> None:
    note = "keeps the books of the northern office"
    first = project.entity("Persona", {"name": "Wilhelmina Thackeray", "description": note})["uuid"]
    project.entity("Persona", {"name": "Mina Harker", "description": note})
    assert proposed(project, type_name="Persona") == []
    project.alias("Mina Harker", first, kind="synonym")
    (pair,) = project.duplicates("Persona")["pairs"]
    assert any("also called" in reason for reason in pair["reasons"])


def test_the_likeliest_come_first_and_no_more_than_the_limit(project: Project) -> None:
    doubled(project)
    adr(project, "ADR-052", "Keep the store in one folder", "Ottoline Vane")
    adr(project, "ADR-053", "Keep the store in one folder", "Ottoline Vane")
    answer = project.duplicates(limit=1)
    assert [pair["decision"] for pair in answer["pairs"]] == ["merge"]
    assert answer["total"] == 2
    assert project.duplicates(at_least=0.9)["total"] == 1


@pytest.mark.parametrize("score", [-1, 0.2, 1.01])
def test_a_threshold_that_is_none_is_refused(project: Project, score: float) -> None:
    with pytest.raises(BadArgument, match="threshold"):
        project.duplicates(at_least=score)
    with pytest.raises(BadArgument, match="threshold"):
        project.merge_duplicates(at_least=score)


def test_an_empty_project_has_no_duplicates() -> None:
    with Prism.in_memory() as prism:
        answer = prism.project("new").duplicates()
    assert (answer["pairs"], answer["blocked"]["entities"]) == ([], 0)


@pytest.fixture
def components() -> Iterator[Project]:
    """Three spellings of one component, the third of which is for a person to judge, among others."""
    with Prism.in_memory() as prism:
        made = prism.project("shop")
        payment = {"description": "handles card payments for the shop", "owner": "Ada", "repository": "git@x/pay"}
        for name in ("Payment Gateway Service", "Payment gateway service"):
            made.entity("Component", {"name": name, **payment}, valid_from="2025-01-01")
        third = {"name": "Payment-Gateway-Servce", "description": "handles card payments of the shop", "owner": "Ada"}
        made.entity("Component", third, valid_from="2025-01-01")
        for word in ("Search Index", "Order Queue", "Mail Relay", "Image Resizer", "Audit Trail", "Login Portal"):
            props = {"name": word, "description": f"does {word.lower()} work", "owner": "Bo"}
            made.entity("Component", props, valid_from="2025-01-01")
        yield made


def scored(project: Project) -> list[tuple[str, str, str, float]]:
    pairs = project.duplicates()["pairs"]
    return [(pair["a"]["identifier"], pair["b"]["identifier"], pair["decision"], pair["score"]) for pair in pairs]


def test_a_merge_is_no_evidence_for_another_one(components: Project) -> None:
    first, second, third = "Payment Gateway Service", "Payment gateway service", "Payment-Gateway-Servce"
    before = scored(components)
    assert [pair[:3] for pair in before if first in pair] == [(first, second, "merge"), (first, third, "review")]
    assert len(components.merge_duplicates()["merged"]) == 1
    assert scored(components) == [pair for pair in before if second not in pair]
    assert components.merge_duplicates()["merged"] == []


def test_what_is_entered_again_after_a_merge_is_merged_by_the_spelling_of_either(project: Project) -> None:
    first, _ = doubled(project)
    project.merge_duplicates()
    third = adr(project, "adr-7", "Write in one atomic udpate", "Kofi Mensah")
    (pair,) = project.merge_duplicates()["merged"]
    assert (pair["a"]["uuid"], pair["b"]["uuid"]) == (first, third)
    assert "adr-7 is merged into ADR-007" in pair["reasons"]
    assert proposed(project) == []
    assert project.check() == []


def test_what_is_told_apart_from_a_merged_one_is_no_duplicate_of_the_preferred_one(project: Project) -> None:
    _, second = doubled(project)
    project.merge_duplicates()
    third = adr(project, "ADR-007", "Write in one atomic update", "Kofi Mensah")
    project.different(second, third)
    assert [decision for _, _, decision in proposed(project)] == ["review"]
    assert project.duplicates()["pairs"][0]["reasons"][0] == "something tells apart what was merged into them"
    assert project.merge_duplicates()["merged"] == []
