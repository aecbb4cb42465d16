"""Queries that would never end, or take everything: each is stopped within a second of its limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from prism_rdf.errors import QueryTimeout, QueryTooLarge

VALUES = " ".join(f"VALUES ?v{n} {{ {' '.join(map(str, range(100)))} }}" for n in range(6))
KILLERS = {
    "cross join of values": f"SELECT (COUNT(*) AS ?n) {{ {VALUES} }}",
    "cross join of the store": "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }",
    "sort": "SELECT * { ?a ?b ?c . ?d ?e ?f } ORDER BY ?c ?f",
    "distinct": "SELECT DISTINCT ?a ?d ?g { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }",
    "grouping": "SELECT ?a (GROUP_CONCAT(?f) AS ?all) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } GROUP BY ?a",
    "path": "SELECT (COUNT(*) AS ?n) { ?a (!<urn:x>|^!<urn:x>)* ?b . ?b (!<urn:x>|^!<urn:x>)* ?c }",
    "graph": "CONSTRUCT { ?a ?e ?i } WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }",
    "regular expression": "ASK { ?a ?b ?c . ?d ?e ?f FILTER REGEX(CONCAT(?c, ?f), '(.*e){9}(.*v){99}x') }",
    "functions": f"SELECT (SUM(STRLEN(SHA512(STR(?v0 + ?v1 + ?v2 + ?v3 + ?v4)))) AS ?n) {{ {VALUES} }}",
    "negation": "ASK { ?a ?b ?c . ?d ?e ?f FILTER NOT EXISTS { ?x ?b ?c . ?y ?e ?f FILTER(?x = ?a || ?y = ?d) } }",
    "rows": "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }",
}


QUICK = ("cross join of values", "path", "sort", "graph", "regular expression")


def test_there_are_killers() -> None:
    assert len(KILLERS) == 11
    assert set(QUICK) < set(KILLERS)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in KILLERS]
)
def test_a_killer_is_stopped_within_a_second_of_its_limit(make: Callable[..., Any], name: str) -> None:
    asked = make(workers=1)
    asked.text("ASK {}", "csv")
    began = time.monotonic()
    with pytest.raises((QueryTimeout, QueryTooLarge)):
        asked.text(KILLERS[name], "nt" if name == "graph" else "csv", timeout=0.3)
    assert time.monotonic() - began < 1.3
    assert asked.pool.running() == []
    assert asked.text("ASK {}", "csv") == "true"
