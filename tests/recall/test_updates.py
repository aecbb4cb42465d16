"""What was said last comes first where a question asks for a present value, and nowhere else."""

from __future__ import annotations

import pytest

from prism_rdf.clock import Instant
from prism_rdf.recall.fusion import SCORES, Fused
from prism_rdf.recall.memories import KnownMemory
from prism_rdf.recall.updates import latest_first, value_wanted

DAY = Instant.parse("2024-03-15T00:00:00Z")
QUESTION = "When is my call with the director?"
TEXTS = {
    "old": "My call with the director is on April 21.",
    "new": "Could the call with the director, now on April 22, be a conflict?",
    "other": "I like bread. It costs 3 euro.",
    "numberless": "The call with the director makes me nervous.",
}


def hits(*names: str) -> list[Fused]:
    return [Fused(name, 1 - place / 10, {}, {}) for place, name in enumerate(names)]


def memory(name: str, place: int, speaker: str = "user", kind: str = "turn") -> KnownMemory:
    return KnownMemory(name, "", kind, f"chat#{place}", speaker=speaker, start=DAY)


def order(found: list[Fused], memories: dict[str, KnownMemory]) -> list[str]:
    wanted = value_wanted(QUESTION)
    assert wanted is not None
    return [hit.iri for hit in latest_first(found, memories, TEXTS, wanted, SCORES)]


def test_the_later_of_two_is_first_and_says_above_which() -> None:
    memories = {name: memory(name, place) for place, name in enumerate(TEXTS)}
    wanted = value_wanted(QUESTION)
    assert wanted is not None
    found = latest_first(hits("old", "other", "new", "numberless"), memories, TEXTS, wanted, SCORES)
    assert [hit.iri for hit in found] == ["new", "other", "old", "numberless"]
    assert [hit.newer_than for hit in found] == ["old", "", "", ""]
    assert [hit.score for hit in found] == [1.0, 0.9, 0.8, 0.7]


def test_what_is_in_order_stays() -> None:
    memories = {"old": memory("old", 1), "new": memory("new", 2)}
    assert order(hits("new", "old"), memories) == ["new", "old"]


def test_another_speaker_and_documents_stay() -> None:
    assert order(hits("old", "new"), {"old": memory("old", 1), "new": memory("new", 2, "assistant")}) == ["old", "new"]
    documents = {name: memory(name, place, kind="passage") for place, name in enumerate(TEXTS)}
    assert order(hits("old", "new"), documents) == ["old", "new"]


@pytest.mark.parametrize(
    "question",
    [
        "When was my call with the director?",
        "What did I say before the call?",
        "How has my schedule changed over time?",
        "the call with the director",
        "Summarize my calls",
        "what is the",
        "",
    ],
)
def test_other_questions_do_not_ask_for_a_present_value(question: str) -> None:
    assert value_wanted(question) is None
