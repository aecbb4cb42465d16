"""Every refusal of identity is a case: it names the things, says how to mend it, and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prism_rdf import errors

CASES = json.loads((Path(__file__).parent.parent / "cases" / "identity" / "refusals.json").read_text("utf-8"))


def test_the_cases_are_all_found():
    assert len(CASES) == 24
    assert len({case["why"] for case in CASES}) == len(CASES)


@pytest.fixture
def filled(project, make):
    for number in ("ADR-1", "ADR-2", "ADR-3"):
        make("ADR", number=number, title=f"About {number}")
    make("EnvVar", name="ENV-1")
    for name in ("gateway", "twin", "triplet", "store"):
        make("Component", name=name)
    project.reference("ADR-2", "ADR-1", "SUPERSEDES")
    project.reference("ADR-3", "ADR-2", "SUPERSEDES")
    project.merge("twin", "gateway")
    project.merge("triplet", "twin")
    return project


@pytest.mark.parametrize("case", CASES, ids=[case["why"] for case in CASES])
def test_a_refusal(filled, case):
    before = set(filled.prism.store.quads_for_pattern(None, None, None))
    with pytest.raises(getattr(errors, case["error"])) as raised:
        getattr(filled, case["verb"])(*case["args"], **case.get("options", {}))
    assert type(raised.value).__name__ == case["error"]
    assert case["says"] in str(raised.value)
    assert raised.value.rule
    assert raised.value.mend
    assert set(filled.prism.store.quads_for_pattern(None, None, None)) == before


def test_what_supersedes_may_be_superseded_by_it_later(filled):
    filled.reference("ADR-1", "ADR-3", "SUPERSEDES", valid_from="2025-01-01", valid_until="2025-12-31")
    filled.reference("ADR-3", "ADR-1", "SUPERSEDES", valid_from="2026-01-01")
    assert [each["source"]["identifier"] for each in filled.list_references(target="ADR-1", as_of="2026-06-02")] == [
        "ADR-2",
        "ADR-3",
    ]


def test_what_depends_may_be_depended_upon(filled):
    filled.reference("gateway", "store", "DEPENDS_ON")
    filled.reference("store", "gateway", "DEPENDS_ON")
    assert [each["entity"]["identifier"] for each in filled.impact("store")["affected"]] == ["gateway"]
