"""Terms of texts and questions: what is kept whole, what is searchable in parts, what is left out."""

from __future__ import annotations

import pytest

from prism_rdf.recall.words import LONGEST_TERM, key_of, query_terms, term_counts

WHOLE_AND_PARTS = {
    "ADR-808": {"adr-808", "adr", "808"},
    "SPEC-020.1": {"spec-020.1", "spec", "020", "1"},
    "snake_case_name": {"snake_case_name", "snake", "case", "name"},
    "__init__": {"init"},
    "docs/adr/ADR-808-truth.md": {"docs/adr/adr-808-truth.md", "adr-808", "doc", "adr", "808", "truth", "md"},
    "v1.2.3": {"v1.2.3", "v1", "2", "3"},
    "2026-06-15": {"2026-06-15", "2026", "06", "15"},
    "renaming renamed renames": {"renam"},
    "What is the state of it?": {"state"},
    "don't": set(),
    "東京": {"東", "京"},
    "": set(),
    "\x00\x00": set(),
    "🦉🦉": set(),
    "a" * (LONGEST_TERM + 1): set(),
}


@pytest.mark.parametrize(("text", "terms"), WHOLE_AND_PARTS.items())
def test_terms(text: str, terms: set[str]) -> None:
    assert set(term_counts(text)) == terms
    assert set(query_terms(text)) == terms


def test_a_part_weighs_less_than_a_whole_unless_it_is_also_said_alone() -> None:
    weights = query_terms("ADR-808 or any ADR")
    assert weights["adr-808"] == weights["adr"] == 1.0
    assert weights["808"] < 1.0


def test_counts_are_those_of_the_text() -> None:
    assert term_counts("ADR-808 and ADR-809, or renamed") == {
        "adr-808": 1,
        "adr": 2,
        "808": 1,
        "adr-809": 1,
        "809": 1,
        "renam": 1,
    }


@pytest.mark.parametrize("other", ["adr 808", "ADR–808", "ＡＤＲ-808", "Adr\n808"])
def test_spellings_of_one_name_have_one_key(other: str) -> None:
    assert key_of(other) == key_of("ADR-808")


@pytest.mark.parametrize("other", ["ADR-808.1", "ADR-80", "ADR808", "ADR_808"])
def test_other_names_have_other_keys(other: str) -> None:
    assert key_of(other) != key_of("ADR-808")
