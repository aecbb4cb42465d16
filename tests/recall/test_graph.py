"""The graph leg in the small world: references both ways, what holds then, and concepts where nothing is named."""

from __future__ import annotations

from pyoxigraph import Store

from prism_rdf.clock import Instant
from prism_rdf.namespaces import Names
from prism_rdf.recall import GraphLeg, Question

NAMES = Names("urn:prism:test", "demo")
NOW = Instant.parse("2026-11-30T12:00:00Z")
THEN = Instant.parse("2025-12-15T00:00:00Z")


def ranking(world: Store, question: Question, at: Instant = NOW, limit: int = 100) -> list[tuple[str, float]]:
    leg = GraphLeg(world, NAMES, lambda: 7)
    return [(NAMES.uuid_of(iri), score) for iri, score in leg.search(question, at, limit)]


def entity(name: str) -> str:
    return NAMES.entity(name).value


def test_the_anchor_first_then_its_neighbours_by_edges_then_what_was_superseded(world: Store) -> None:
    found = ranking(world, Question("", anchors=(entity("truth"),)))
    assert [name for name, _ in found] == ["truth-v3", "vocab-v2", "truth-v2", "truth-v1", "vocab-v1"]
    assert dict(found)["vocab-v2"] == 3.0  # two edges, and it mentions the anchor


def test_only_references_that_hold_then_are_walked(world: Store) -> None:
    """ADR-200 implements it from 2025-11-01 to 2026-01-01."""
    assert "store-doc" in dict(ranking(world, Question("", anchors=(entity("truth"),)), THEN))
    assert "store-doc" not in dict(ranking(world, Question("", anchors=(entity("truth"),)), NOW))


def test_what_was_not_yet_said_is_not_found(world: Store) -> None:
    found = dict(ranking(world, Question("", anchors=(entity("truth"),)), THEN))
    assert set(found) == {"truth-v2", "vocab-v1", "store-doc", "truth-v1"}


def test_an_anchor_called_by_a_former_name_means_its_past_too(world: Store) -> None:
    truth = entity("truth")
    found = ranking(world, Question("", anchors=(truth,), former=frozenset([truth])))
    assert [name for name, _ in found] == ["truth-v3", "truth-v2", "truth-v1", "vocab-v2", "vocab-v1"]


def test_references_are_those_believed_at_a_system_time(world: Store) -> None:
    early = Instant.parse("2025-10-24T12:00:00Z")
    found = dict(ranking(world, Question("", anchors=(entity("vocab"),), known_at=early), NOW))
    assert set(found) == {"vocab-v1"}


def test_without_anchors_memories_that_share_the_concepts_of_the_question(world: Store) -> None:
    found = ranking(world, Question("grounding and backup rotation"))
    assert found == [("concept-2", 2.0), ("backup-note", 1.0), ("backup-doc", 1.0), ("concept-1", 1.0)]


def test_without_anchors_and_concepts_nothing(world: Store) -> None:
    assert ranking(world, Question("what is it?")) == ranking(world, Question("")) == []


def test_the_limit(world: Store) -> None:
    assert len(ranking(world, Question("", anchors=(entity("truth"),)), limit=2)) == 2


def test_health_tells_the_last_commit(world: Store) -> None:
    health = GraphLeg(world, NAMES, lambda: 7).health()
    assert (health.status, health.position) == ("ok", 7)
