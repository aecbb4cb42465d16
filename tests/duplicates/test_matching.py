"""What is proposed as duplicate, with which reasons, and what is never merged."""

from __future__ import annotations

import pytest

from prism_rdf.duplicates import MERGE_AT, REVIEW_AT
from prism_rdf.duplicates.collection import Record
from prism_rdf.duplicates.matching import Comparison, Matcher

CITIES = ("Leeds", "Bath", "Derby", "York", "Truro")
STREETS = ("Quarry", "Harbour", "Chapel", "Orchard", "Foundry", "Windmill", "Priory")
GIVEN = ("Amelia", "Bertram", "Cecily", "Dorian", "Edith", "Fergus", "Giselle", "Hector", "Imogen", "Jasper", "Keziah")
FAMILY = ("Ashdown", "Blackwood", "Carrington", "Drummond", "Ellsworth", "Fairfax", "Goddard", "Hollis", "Ivory")


def person(name: str, number: int = 0) -> Record:
    """Return a record with a name and an address that few others have."""
    street = f"{number * 7 + 3} {STREETS[number % 7]} Lane {FAMILY[number % 9]} House"
    return {"name": [name], "address": [street], "city": [CITIES[number % 5]]}


def people(*more: Record) -> list[Record]:
    """Return some records with 60 strangers after them, from which a vocabulary can be learned."""
    strangers = [person(f"{GIVEN[i % 11]} {FAMILY[(i * 4 + i // 9) % 9]}", i + 10) for i in range(60)]
    return [*more, *strangers]


def compared(left: Record, right: Record, naming: tuple[str, ...] = ("name",)) -> Comparison:
    return Matcher(people(left, right), naming).compare(0, 1)


def named(left: str, right: str) -> Comparison:
    return compared(person(left), person(right))


def titled(left: str, right: str) -> Comparison:
    """Compare two papers that share all but their titles."""
    rest = {"authors": ["Wilhelmina Thackeray, Ignatius Okonkwo"], "venue": ["Proceedings of Lattice Theory"]}
    return compared({"name": [left], **rest}, {"name": [right], **rest})


MERGED = [
    ("Wilhelmina Thackeray", "Wilhelmina Thackeray"),
    ("Wilhelmina Thackeray", "Thackeray, Wilhelmina"),
    ("Wilhelmina Thackeray", "WILHELMINA  THACKERAY."),
    ("Renée Thackeray", "Renee Thackeray"),
    ("Ｗilhelmina Thackeray", "Wilhelmina Thackeray"),
]


@pytest.mark.parametrize(("left", "right"), MERGED)
def test_the_same_name_otherwise_written_and_the_same_address_can_be_merged(left: str, right: str) -> None:
    found = named(left, right)
    assert found.mergeable
    assert found.score >= MERGE_AT


PROPOSED = [
    ("Wilhelmina Thackeray", "Wilhelmnia Thackeray", "spelled wilhelmina / wilhelmnia"),
    ("Wilhelmina Thackeray", "Wilhelmina Thackery", "spelled thackeray / thackery"),
    ("Wilhelmina Thackeray", "W. Thackeray", "spelled wilhelmina / w"),
    ("Wilhelmina Thackeray", "Wil Thackeray", "spelled wilhelmina / wil"),
    ("Wilhelm Ina Thackeray", "Wilhelmina Thackeray", "spelled wilhelm ina / wilhelmina"),
]


@pytest.mark.parametrize(("left", "right", "reason"), PROPOSED)
def test_a_slip_an_initial_or_a_space_is_proposed_with_the_reason(left: str, right: str, reason: str) -> None:
    found = named(left, right)
    assert found.score >= REVIEW_AT
    assert reason in found.reasons


NUMBERED = [
    ("ADR-052 Lattice storage", "ADR-053 Lattice storage", "number or code differs: ADR-052 / ADR-053"),
    ("Incident SR-2023-052", "Incident SR-2023-053", "number or code differs: SR-2023-052 / SR-2023-053"),
    ("Walkman KDL-37XBR6", "Walkman KDL-37XBR7", "number or code differs: KDL-37XBR6 / KDL-37XBR7"),
    ("Lattice suite 2004", "Lattice suite 2007", "number or code differs: 2004 / 2007"),
    ("Lattice 1.10", "Lattice 1.1", "number or code differs: 1.10 / 1.1"),
    ("Lattice Part II", "Lattice Part III", "number or code differs: II / III"),
    ("Lattice suite", "Lattice suite 2", "only one has the number or code 2"),
    ("Plan A of the lattice", "Plan B of the lattice", "number or code differs: A / B"),
]


@pytest.mark.parametrize(("left", "right", "reason"), NUMBERED)
def test_names_that_differ_by_a_number_are_never_merged(left: str, right: str, reason: str) -> None:
    found = titled(left, right)
    assert not found.mergeable
    assert found.score < MERGE_AT
    assert found.reasons[0] == reason


def test_a_number_that_the_other_one_says_elsewhere_does_not_tell_them_apart() -> None:
    left: Record = {"name": ["Lattice storage 1996"], "authors": ["Wilhelmina Thackeray"]}
    right: Record = {"name": ["Lattice storage"], "authors": ["Wilhelmina Thackeray"], "year": ["1996"]}
    assert compared(left, right).mergeable


def test_identifiers_that_differ_tell_apart_what_has_the_same_title() -> None:
    both = {"title": ["Keep the lattice in one file"], "authors": ["Wilhelmina Thackeray"]}
    left: Record = {"number": ["ADR-052"], **both}
    right: Record = {"number": ["ADR-053"], **both}
    found = compared(left, right, ("number", "title"))
    assert not found.mergeable
    assert "number or code differs: ADR-052 / ADR-053" in found.reasons
    assert compared({"number": ["ADR-052"], **both}, {"number": ["adr-52"], **both}, ("number", "title")).mergeable


def test_an_identifier_that_one_of_them_lacks_says_nothing() -> None:
    both = {"title": ["Keep the lattice in one file"], "authors": ["Wilhelmina Thackeray"]}
    assert compared({"number": ["ADR-052"], **both}, both, ("number", "title")).mergeable


def test_years_that_differ_tell_apart_what_has_the_same_name() -> None:
    both = {"name": ["Keep the lattice in one file"], "authors": ["Wilhelmina Thackeray"]}
    found = compared({**both, "year": ["1998"]}, {**both, "year": ["1999.0"]})
    assert not found.mergeable
    assert "years differ: 1998 / 1999" in found.reasons


def test_a_name_alone_is_never_enough_to_merge() -> None:
    found = compared({"name": ["Wilhelmina Thackeray"]}, {"name": ["Wilhelmina Thackeray"]})
    assert found.score == 1.0
    assert not found.mergeable
    assert "little or nothing but the name agrees" in found.reasons


def test_a_name_and_what_everybody_says_is_not_enough_to_merge() -> None:
    both = {"name": ["Wilhelmina Thackeray"], "status": ["active"]}
    everybody = [{**record, "status": ["active"]} for record in people()]
    found = Matcher([both, both, *everybody], ["name"]).compare(0, 1)
    assert found.score == 1.0
    assert not found.mergeable


def test_a_missing_value_is_no_reason_and_a_different_one_is() -> None:
    full = person("Wilhelmina Thackeray")
    without: Record = {"name": full["name"], "address": full["address"], "city": ["", "  "]}
    other: Record = {**full, "city": ["Aberystwyth"]}
    missing, differing = compared(full, without), compared(full, other)
    assert missing.score > differing.score
    assert not any("city" in reason for reason in missing.reasons)
    assert "city differs: Leeds / Aberystwyth" in differing.reasons


def test_what_many_share_tells_little() -> None:
    crowd: list[Record] = [{"name": ["Book review column"], "editor": [f"{name} Ashdown"]} for name in GIVEN]
    rare: list[Record] = [{"name": ["Lattice storage"], "editor": [f"{name} Hollis"]} for name in GIVEN[:2]]
    matcher = Matcher(people(*rare, *crowd), ["name"])
    common = matcher.compare(2, 3)
    assert matcher.compare(0, 1).score > 3 * common.score
    assert "9 more have the same name" in common.reasons


def test_strangers_are_not_proposed() -> None:
    assert list(Matcher(people(), ["name"]).pairs(REVIEW_AT)) == []


def test_the_pairs_are_found_among_many_and_the_same_each_time() -> None:
    doubles = [person("Wilhelmina Thackeray", 1), person("Ignatius Okonkwo", 2), person("Ottoline Vane", 3)]
    again = [person("Wilhelmnia Thackeray", 1), person("Okonkwo, Ignatius", 2), person("O. Vane", 3)]
    records = people(*doubles, *again)
    found = list(Matcher(records, ["name"]).pairs(REVIEW_AT))
    assert {frozenset((left, right)) for left, right, _ in found} == {frozenset((i, i + 3)) for i in range(3)}
    assert found == list(Matcher(records, ["name"]).pairs(REVIEW_AT))


def test_a_name_that_hundreds_have_costs_little_and_rare_company_is_found_all_the_same() -> None:
    records: list[Record] = [{"name": [f"John Smith {GIVEN[i % 11]} {FAMILY[i % 9]}"]} for i in range(400)]
    records += [{"name": ["John Smith"], "town": ["Zwolle"]}, {"name": ["Smith, John"], "town": ["Zwolle"]}]
    candidates = list(Matcher(records, ["name"]).candidates())
    assert len(candidates) <= 12 * len(records)
    assert (400, 401) in candidates


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    records = people()
    list(Matcher(records, ["name"]).candidates(lambda done, total, label: told.append((done, total))))
    assert told == [(0, len(records))]
