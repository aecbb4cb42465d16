"""Finding names in texts: longest first, word by word, and the same places whichever way they are looked for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies
from pyoxigraph import Literal, NamedNode, Quad, Store

from prism_rdf.clock import Instant
from prism_rdf.namespaces import Names, prism
from prism_rdf.recall.surfaces import MOST_BEARERS, NameIndex, SurfaceIndex, find_all, is_telling
from prism_rdf.recall.words import fold, key_of
from prism_rdf.storage.changelog import LoggedChange

NAMES = Names("urn:prism:test", "demo")


def index_of(*forms: str) -> NameIndex:
    made = NameIndex()
    for form in forms:
        made.add(form, f"urn:{form}")
    return made


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("PrismGR installation", ["PrismGR"]),
        ("Prism RDF and Prism", ["Prism RDF", "Prism"]),
        ("what does prism-rdf do", ["Prism RDF"]),
        ("ADR-304.1 amends ADR-304", ["ADR-304.1", "ADR-304"]),
        ("only ADR-304.1 here", ["ADR-304.1"]),
        ("ADR-304.2 is unknown", []),
        ("see docs/ADR-304-tables.md", ["ADR-304"]),
        ("the prismatic prism_rdf prisms", []),
        ("東京タワーへ", ["東京"]),
        ("adr 304", ["ADR-304"]),
        ("", []),
    ],
)
def test_mentions(text: str, found: list[str]) -> None:
    index = index_of("Prism", "PrismGR", "Prism RDF", "ADR-304", "ADR-304.1", "東京")
    assert [mention.bearers for mention in index.mentions(text)] == [(f"urn:{form}",) for form in found]


def test_names_that_tell_nothing_are_left_out() -> None:
    assert len(index_of("it", "the", "x", "12", "", "-", "what is", " ".join(["word"] * 40))) == 0


def test_a_name_that_many_bear_names_nobody() -> None:
    index = NameIndex()
    for number in range(MOST_BEARERS + 1):
        index.add("Introduction", f"urn:{number}")
    assert index.mentions("the introduction") == []


WORDS = strategies.sampled_from(
    ["adr", "044", "808", "-", " ", ".", "1", "prism", "GR", "#", "/", "京", "東", "_", "c", "+", "\n", "–", "ﬁ"]
)


@settings(max_examples=400, deadline=None)
@given(strategies.lists(WORDS, min_size=1, max_size=4), strategies.lists(WORDS, min_size=1, max_size=14))
def test_both_ways_of_finding_a_name_agree(form: list[str], text: list[str]) -> None:
    key = key_of("".join(form))
    if not is_telling(key):
        return
    index = index_of("".join(form))
    places = find_all(key, fold("".join(text)))
    mentions = sorted((mention.start, mention.end) for mention in index.mentions("".join(text)))
    assert bool(places) == bool(mentions)
    assert set(mentions) <= set(places)


def test_the_index_of_a_store_has_aliases_and_the_names_of_all_states(
    world: Store, identifying: frozenset[NamedNode]
) -> None:
    index = SurfaceIndex.build(world, NAMES, identifying)

    def bearers(text: str) -> set[str]:
        return {NAMES.uuid_of(bearer) for mention in index.mentions(text) for bearer in mention.bearers}

    assert bearers("PrismGR") == bearers("Prism") == bearers("the Lattice") == bearers("PID-PGR01") == {"prism"}
    assert bearers("ADR-044") == {"truth", "reuse"}
    assert bearers("Tarn") == {"cache"}
    assert bearers("plan 6") == bearers("Plan #6") == {"plan6"}
    assert bearers("6 apples") == set()


def test_the_index_follows_the_log(identifying: frozenset[NamedNode]) -> None:
    store = Store()
    index = SurfaceIndex.build(store, NAMES, identifying)
    entity, alias, semantic = NAMES.entity("one"), NAMES.alias("two"), NAMES.graph("semantic")
    adds = (
        Quad(entity, prism("name"), Literal("Beryl"), NAMES.state("s")),
        Quad(alias, prism("surfaceForm"), Literal("Emerald"), semantic),
        Quad(alias, prism("aliasOf"), entity, semantic),
        Quad(entity, prism("name"), Literal("Topaz"), Names("urn:prism:test", "other").state("s")),
        Quad(entity, prism("name"), Literal("Opal"), NAMES.graph("current")),
    )
    store.extend(adds)
    index.apply([LoggedChange(1, Instant(0), "demo", "entity", adds, ())])
    assert [mention.key for mention in index.mentions("Beryl Emerald Topaz Opal")] == ["emerald", "beryl"]
