"""Cutting values into tokens: what two spellings of one thing have in common, and what must stay apart."""

from __future__ import annotations

import pytest

from prism_rdf.duplicates.tokens import kind_of, tokens

SAME = [
    ("ADR-052", "adr 52".replace(" ", "-")),
    ("KDL-37XBR6", "kdl37xbr6"),
    ("Café Müller", "CAFE MULLER"),
    ("O'Brien", "OBrien"),
    ("2003.0", "2003"),
    ("1,000", "1000"),
    ("Final Fantasy VII", "Final Fantasy 7"),
    ("ＰＲＩＳＭ", "prism"),
    ("e-mail", "e mail"),
]
APART = [
    ("ADR-052", "ADR-053"),
    ("SR-2023-052", "SR-2023-053"),
    ("v1.23", "v12.3"),
    ("1.10", "1.1"),
    ("Part II", "Part III"),
    ("東京", "京都"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_thing_have_the_same_tokens(one: str, other: str) -> None:
    assert tokens(one) == tokens(other) != ()


@pytest.mark.parametrize(("one", "other"), APART)
def test_different_things_have_different_tokens(one: str, other: str) -> None:
    assert tokens(one) != tokens(other)


def test_a_file_name_is_words_with_a_number() -> None:
    assert tokens("0052-use-git-for-docs.md") == ("52", "use", "git", "for", "docs", "md")


def test_kinds() -> None:
    assert [kind_of(token) for token in tokens("windows 2007 kdl37xbr6 1.5")] == ["word", "number", "code", "number"]


@pytest.mark.parametrize("text", ["", "   ", "---", "( . )", "\u0301", "_"])
def test_a_value_without_letters_and_digits_says_nothing(text: str) -> None:
    assert tokens(text) == ()
