"""What holds of the comparison of any two records whatsoever."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from prism_rdf.duplicates.collection import Record, Vocabulary, cut
from prism_rdf.duplicates.matching import Matcher
from prism_rdf.duplicates.weighing import weigh

_WORDS = st.sampled_from(
    [
        *("lattice", "Lattices", "storage", "store", "the", "a", "b", "j.", "john", "jonh", "é", "東京"),
        *("adr-052", "ADR-053", "2", "II", "1996", "1997.0", "v1.2", "5-disc", "disc", "5"),
    ]
)
_VALUES = st.one_of(st.lists(_WORDS, max_size=5).map(" ".join), st.text(max_size=12))
RECORDS = st.dictionaries(
    st.sampled_from(["name", "number", "venue", "year"]), st.lists(_VALUES, max_size=2), max_size=4
)


@settings(deadline=None, max_examples=150)
@given(RECORDS, RECORDS, st.lists(RECORDS, max_size=4))
def test_the_score_is_symmetric_and_from_0_to_1(left: Record, right: Record, others: list[Record]) -> None:
    matcher = Matcher([left, right, *others], ["name", "number"])
    there, back = matcher.compare(0, 1), matcher.compare(1, 0)
    assert 0.0 <= there.score <= 1.0
    assert (there.score, there.mergeable) == (back.score, back.mergeable)


@settings(deadline=None, max_examples=100)
@given(RECORDS, st.lists(RECORDS, max_size=4))
def test_what_says_anything_is_like_itself(record: Record, others: list[Record]) -> None:
    matcher = Matcher([record, record, *others], ["name", "number"])
    found = matcher.compare(0, 1)
    if matcher.weigh(0, 1).identical:
        assert found.score == 1.0
    else:
        assert not cut(record, ["name", "number"]).bag
        assert found.score < 0.5


@settings(deadline=None, max_examples=100)
@given(RECORDS, RECORDS)
def test_the_order_of_values_and_properties_does_not_matter(left: Record, right: Record) -> None:
    turned = [{prop: list(reversed(values)) for prop, values in reversed(each.items())} for each in (left, right)]
    naming = ["name", "number"]
    one, other = ([cut(each, naming) for each in pair] for pair in ([left, right], turned))
    assert weigh(*one, Vocabulary(one)).score == weigh(*other, Vocabulary(other)).score
