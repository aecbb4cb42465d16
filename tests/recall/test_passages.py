"""Snippets: short, plain, on one line, around what was asked."""

from __future__ import annotations

import pytest

from prism_rdf.recall import snippet

DOCUMENT = """---
status: Accepted
related: [ADR-044]
---
# ADR-808: Truth

## Context

{filler}

The **grounding** of a concept is a [weighted vote](https://example.org/vote) of its `edges`.

| a | b |
|---|---|
""".format(filler="Nothing of interest is said in this long paragraph. " * 40)


def test_the_passage_around_the_words_is_shown() -> None:
    shown = snippet(DOCUMENT, "how does grounding vote?")
    assert "The grounding of a concept is a weighted vote of its edges." in shown
    assert shown.startswith("…")
    assert len(shown) <= 240


def test_front_matter_is_never_shown() -> None:
    assert snippet(DOCUMENT, "status accepted related").startswith("ADR-808: Truth Context")


@pytest.mark.parametrize("question", ["", "the of and", "zebra", "\x00", "🦉", "a" * 10_000, "edges " * 5_000])
@pytest.mark.parametrize("content", ["", "x", DOCUMENT, "word " * 5_000, "y" * 5_000, "🦉 " * 500, "a\x00b\n\n\tc"])
def test_anything_is_shown_within_the_width(content: str, question: str) -> None:
    for width in (1, 10, 240):
        shown = snippet(content, question, width)
        assert len(shown) <= width
        assert "\n" not in shown


def test_a_short_text_is_shown_whole() -> None:
    assert snippet("Prism installs with pip.", "install") == "Prism installs with pip."


def test_no_width_shows_nothing() -> None:
    assert snippet("Prism", "prism", 0) == ""
