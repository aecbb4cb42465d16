"""How a claim stands: the formula, case by case, and whatever the order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_rdf.errors import BadArgument
from prism_rdf.evidence.grounding import STATUSES, WORST_FIRST, Said, ground, known_status

CASES = json.loads((Path(__file__).parents[1] / "cases" / "evidence" / "grounding.json").read_text("utf-8"))
SAID = st.builds(
    Said,
    st.sampled_from(["supports", "contradicts"]),
    st.sampled_from("abc"),
    st.sampled_from([1, 2, 3]),
    st.none() | st.floats(0, 1),
)


def test_there_are_cases():
    assert len(CASES) == 12
    assert {case["status"] for case in CASES} == set(STATUSES) == set(WORST_FIRST)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case):
    found = ground(Said(*said) for said in case["said"])
    assert found.status == case["status"]
    assert found.support == pytest.approx(case["support"])
    assert found.contradiction == pytest.approx(case["contradiction"])


@given(said=st.lists(SAID), order=st.randoms())
def test_the_order_does_not_matter(said, order):
    shuffled = list(said)
    order.shuffle(shuffled)
    assert ground(said) == ground(shuffled)


@given(said=st.lists(SAID), more=SAID)
def test_more_on_one_side_never_weakens_it(said, more):
    before, after = ground(said), ground([*said, more])
    if more.stance == "supports":
        assert after.support >= before.support
        assert after.contradiction == before.contradiction
    else:
        assert after.contradiction >= before.contradiction
        assert after.support == before.support


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("contested", "CONTESTED"),
        ("Insufficient data", "INSUFFICIENT_DATA"),
        ("well-grounded", "AFFIRMATIVE"),
        ("MIXED_GROUNDING", "CONTESTED"),
        ("poorly_grounded", "INSUFFICIENT_DATA"),
        ("contradicted", "CONTRADICTORY"),
    ],
)
def test_names_of_a_status(name, status):
    assert known_status(name) == status


def test_an_unknown_status_is_an_error_and_no_filter():
    with pytest.raises(BadArgument, match="no status 'doubtful'") as caught:
        known_status("doubtful")
    assert "CONTESTED" in caught.value.rule
