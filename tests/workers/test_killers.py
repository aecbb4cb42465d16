"""Queries that would never end, or take everything: each is stopped within a second of its limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from prism_rdf.errors import QueryTimeout, QueryTooLarge

# Of any of them a machine a thousand times as fast would still not see the end: the smallest is 8 * 10 ** 9 rows.
TRIPLES = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i"
VALUES = " ".join(f"VALUES ?v{n} {{ {' '.join(map(str, range(100)))} }}" for n in range(6))
KILLERS = {
    "cross join of values": f"SELECT (COUNT(*) AS ?n) {{ {VALUES} }}",
    "cross join of the store": f"SELECT (COUNT(*) AS ?n) {{ {TRIPLES} }}",
    "sort": f"SELECT * {{ {TRIPLES} }} ORDER BY ?c ?f",
    "distinct": f"SELECT DISTINCT ?a ?d ?g {{ {TRIPLES} }}",
    "grouping": f"SELECT ?a (GROUP_CONCAT(?f) AS ?all) {{ {TRIPLES} }} GROUP BY ?a",
    "path": f"SELECT (COUNT(*) AS ?n) {{ {' '.join(f'?a{n} (!<urn:x>|^!<urn:x>)* ?b{n} .' for n in range(4))} }}",
    "graph": f"CONSTRUCT {{ ?a ?e ?i }} WHERE {{ {TRIPLES} }}",
    "regular expression": f"ASK {{ {TRIPLES} FILTER REGEX(CONCAT(?c, ?f, ?i), '(.*e){{9}}(.*v){{99}}x') }}",
    "functions": f"SELECT (SUM(STRLEN(SHA512(STR(?v0 + ?v1 + ?v2 + ?v3 + ?v4)))) AS ?n) {{ {VALUES} }}",
    "negation": f"ASK {{ {TRIPLES} FILTER NOT EXISTS {{ ?x ?b ?c . ?y ?e ?f FILTER(?x = ?a || ?y = ?d) }} }}",
    "rows": f"SELECT * {{ {TRIPLES} }}",
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
