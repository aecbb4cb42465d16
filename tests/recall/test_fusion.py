"""Fusion, recency and the order of versions, as arithmetic."""

from __future__ import annotations

from math import exp

import pytest

from prism_rdf.clock import Instant
from prism_rdf.recall.fusion import (
    RANKS,
    SCORES,
    Fused,
    Recipe,
    boosted,
    fuse,
    in_session,
    leg_weight,
    recency,
    reweighed,
    successors_first,
    versions_spread,
)

RECIPE = Recipe(method="rrf", weights={"lexical": 1.5}, gate=(1.0, 0.0))
NOW = Instant.parse("2026-11-30T00:00:00Z")


def hit(iri: str, score: float) -> Fused:
    return Fused(iri, score, {"lexical": 1}, {"lexical": score})


def order(hits: list[Fused]) -> list[str]:
    return [each.iri for each in hits]


def test_the_score_is_the_weighted_sum_of_reciprocal_ranks() -> None:
    fused = {each.iri: each for each in fuse({"lexical": [("a", 9.0), ("b", 1.0)], "graph": [("b", 3.0)]}, RECIPE)}
    assert fused["a"].score == pytest.approx(1.5 / 21)
    assert fused["b"].score == pytest.approx(1.5 / 22 + 1 / 21)
    assert fused["b"].ranks == {"lexical": 2, "graph": 1}
    assert fused["b"].leg_scores == {"lexical": 1.0, "graph": 3.0}


def test_both_legs_beat_one() -> None:
    assert order(fuse({"lexical": [("a", 9.0), ("b", 1.0)], "graph": [("b", 3.0)]}, RECIPE)) == ["b", "a"]


def test_a_leg_without_a_named_weight_weighs_one() -> None:
    assert fuse({"vector": [("a", 0.5)]}, RECIPE)[0].score == pytest.approx(1 / 21)


def test_a_second_occurrence_in_one_ranking_counts_for_nothing() -> None:
    found = fuse({"graph": [("a", 2.0), ("a", 1.0)]}, RECIPE)
    assert found == [Fused("a", 1 / 21, {"graph": 1}, {"graph": 2.0}, {"graph": 1 / 21})]


def test_scores_add_up_cosine_and_shares_of_the_best() -> None:
    found = fuse({"vector": [("a", 0.6), ("b", 0.4)], "lexical": [("b", 12.0), ("c", 3.0)]}, SCORES)
    scores = {each.iri: each.score for each in found}
    assert scores == pytest.approx({"a": 0.6, "b": 0.4 + 0.5, "c": 0.9 * 0.4 + 0.5 * 0.25})


def test_a_leg_whose_best_does_not_stand_out_weighs_less() -> None:
    flat = [(f"m{n}", 0.5 - n / 10_000) for n in range(100)]
    sharp = [("m0", 5.0), *((f"m{n}", 0.5) for n in range(1, 100))]
    assert leg_weight("vector", flat, RANKS) < 1 < leg_weight("vector", sharp, RANKS) == 1.5


def test_boosts_multiply_and_are_told() -> None:
    found = boosted([hit("a", 1.0), hit("b", 0.9)], {"a": {}, "b": {"dated": 1.2, "named": 1.25}})
    assert order(found) == ["b", "a"]
    assert found[0].score == pytest.approx(0.9 * 1.5)
    assert (found[0].boosts, found[1].boosts) == ({"dated": 1.2, "named": 1.25}, {})


def test_a_session_is_lifted_by_its_best() -> None:
    found = in_session([hit("a", 1.0), hit("b", 0.5), hit("c", 0.51)], {"a": "s", "b": "s", "c": "t"}, SCORES)
    assert order(found) == ["a", "b", "c"]
    assert found[1].boosts == {"session": pytest.approx(1.1)}


def test_nothing_in_nothing_out() -> None:
    assert fuse({}, RECIPE) == fuse({"lexical": []}, RECIPE) == []


@pytest.mark.parametrize(("days", "left"), [(0, 1.0), (180, exp(-1)), (360, exp(-2)), (-30, 1.0)])
def test_recency(days: int, left: float) -> None:
    assert recency(NOW.plus(days=-days), NOW, 180) == pytest.approx(left)


def test_an_unknown_age_is_old() -> None:
    assert recency(None, NOW, 180) == 0.0


def test_age_decides_between_neighbours() -> None:
    said = {"old": NOW.plus(days=-2000), "new": NOW}
    assert order(reweighed([hit("old", 1.5 / 21), hit("new", 1.5 / 22)], said, NOW, RECIPE)) == ["new", "old"]


def test_age_never_makes_a_relevant_memory_vanish() -> None:
    """The oldest memory at rank 1 stays above anything new from rank 7 on, and keeps four fifths of its score."""
    said = {"ancient": NOW.plus(days=-100_000), "new": NOW}
    kept = reweighed([hit("ancient", 1.5 / 21), hit("new", 1.5 / 27)], said, NOW, RECIPE)
    assert order(kept) == ["ancient", "new"]
    assert kept[0].score == pytest.approx(0.8 * 1.5 / 21)


def test_recency_adds_nothing() -> None:
    assert order(reweighed([hit("a", 1.0)], {"b": NOW}, NOW, RECIPE)) == ["a"]


SUBJECTS = {"v1": "doc", "v2": "doc", "v3": "doc", "x": "", "y": ""}
PAST = {"v1": True, "v2": True, "v3": False, "x": True, "y": False}


def test_what_holds_passes_what_it_superseded() -> None:
    hits = [hit("v1", 1.0), hit("x", 0.95), hit("v2", 0.9), hit("v3", 0.8)]
    assert order(successors_first(hits, SUBJECTS, PAST, RECIPE)) == ["v3", "v1", "x", "v2"]


def test_what_holds_and_is_far_less_relevant_stays() -> None:
    hits = [hit("v1", 1.0), hit("v3", 0.6)]
    assert order(successors_first(hits, SUBJECTS, PAST, RECIPE)) == ["v1", "v3"]


def test_memories_of_no_subject_or_of_another_stay() -> None:
    hits = [hit("x", 1.0), hit("y", 0.99), hit("v3", 0.98)]
    assert successors_first(hits, SUBJECTS, PAST, RECIPE) == hits


def test_further_versions_sink_and_none_is_lost() -> None:
    hits = [hit("v3", 1.0), hit("v1", 0.9), hit("v2", 0.8), hit("y", 0.7)]
    spread = versions_spread(hits, SUBJECTS, PAST, RECIPE, present=True)
    assert order(spread) == ["v3", "v1", "y", "v2"]
    assert [each.score for each in spread] == pytest.approx([1.0, 0.9 * 0.8, 0.7, 0.8 * 0.8 * 0.8])


def test_when_the_past_is_meant_its_first_version_does_not_sink() -> None:
    hits = [hit("v3", 1.0), hit("v1", 0.9), hit("v2", 0.8), hit("y", 0.7)]
    spread = versions_spread(hits, SUBJECTS, PAST, RECIPE, present=False)
    assert {each.iri: each.score for each in spread} == pytest.approx({"v3": 1.0, "v1": 0.9, "y": 0.7, "v2": 0.64})
