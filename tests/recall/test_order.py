"""Who said a memory, in which series; how long texts are cut; who and when a question means."""

from __future__ import annotations

import pytest

from prism_rdf.clock import Instant
from prism_rdf.recall.cues import Cues
from prism_rdf.recall.fusion import SCORES
from prism_rdf.recall.memories import KnownMemory, Passage
from prism_rdf.recall.order import place_of, series_of, speaker_of
from prism_rdf.recall.pieces import pieces
from prism_rdf.recall.vectors import described

DAY = Instant.parse("2024-03-15T09:00:00Z")


@pytest.mark.parametrize(
    ("source", "kind", "speaker", "series"),
    [
        ("chat-7/monday#12", "turn", "user", "chat-7/monday"),
        ("chat-7@12", "turn", "", "chat-7"),
        ("docs/a.md@9b82#char=0,40", "passage", "", "docs/a.md@9b82"),
        ("", "turn", "user", "turn 2024-03-15"),
        ("", "note", "", ""),
    ],
)
def test_a_series_is_what_was_said_in_one_place(source: str, kind: str, speaker: str, series: str) -> None:
    assert series_of(source, kind, speaker, DAY) == series


def test_places_are_ordered_by_their_numbers() -> None:
    places = ["chat#2", "chat#10", "chat#10.2", "chat#char=300,400", "chat#99999999999999999999"]
    assert [place_of(place) for place in places] == sorted(place_of(place) for place in places)
    assert all(place_of(place) < 2**63 for place in places)
    assert place_of("chat") == 0


@pytest.mark.parametrize(
    ("content", "speaker"),
    [
        ("Ada: I moved", "Ada"),
        ("Ada Lovelace (8 May 2023): I moved", "Ada Lovelace"),
        ("[2023-05-08] Max: yes", "Max"),
        ("see https://example.org: it says", ""),
        ("I moved to Berlin", ""),
    ],
)
def test_talk_says_who_speaks(content: str, speaker: str) -> None:
    assert speaker_of("", content, "note") == speaker
    assert speaker_of("Eve", content, "note") == "Eve"
    assert speaker_of("", content, "passage") == ""


@pytest.mark.parametrize("text", ["x" * 5_000, "word " * 2_000, "A paragraph.\n\n" * 300, "", "   \n\n ", "short"])
def test_pieces_are_short_and_hold_every_word(text: str) -> None:
    found = pieces(text, 900)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert found
    assert max(map(len, found)) <= 1_800


@pytest.mark.parametrize(
    ("text", "speaker", "names"),
    [
        ("What did I decide?", "user", {"first_person"}),
        ("What did I decide?", "assistant", set()),
        ("What did Ada decide?", "Ada", {"named"}),
        ("What did Ada decide in March 2024?", "Ada", {"named", "dated"}),
        ("What happened in April 2024?", "Ada", set()),
        ("What happened in 2024?", "Ada", {"dated"}),
        ("May I march on?", "user", {"first_person"}),
        ("What did the user say?", "user", set()),
        ("V0LTAGE", "Ada", set()),
    ],
)
def test_boosts(text: str, speaker: str, names: set[str]) -> None:
    memory = KnownMemory("m", "", "turn", "chat-7#1", speaker=speaker, start=DAY)
    assert set(Cues.of(text).boosts(memory, SCORES)) == names


def test_a_part_of_a_document_is_not_dated_by_when_it_was_written() -> None:
    memory = KnownMemory("m", "", "passage", "a.md@1#char=0,9", start=DAY)
    assert Cues.of("What was decided in March 2024?").boosts(memory, SCORES) == {}


def test_the_header_of_a_vector_is_who_and_when() -> None:
    assert described(Passage("m", "yes", said=DAY, kind="turn", speaker="Ada")) == "Ada (2024-03-15): yes"
    assert described(Passage("m", "Ada: yes", said=DAY, kind="turn", speaker="Ada")) == "(2024-03-15): Ada: yes"
    assert described(Passage("m", "yes", heading="A > B", said=DAY, kind="passage")) == "A > B: yes"
