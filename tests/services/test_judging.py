"""Which servers a query asks: the cases, and the same texts given to Oxigraph, which says whom it would ask."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad, QueryBoolean, Store

from prism_rdf import Prism
from prism_rdf.errors import RefusedError
from prism_rdf.namespaces import PREFIXES
from prism_rdf.services import UNKNOWN, asking_nobody, check_services, check_update, services_of
from prism_rdf.workers.asking import asked_by

CASES = json.loads((Path(__file__).parents[1] / "cases" / "services" / "judged.json").read_text(encoding="utf-8"))
NAMES = [case["name"] for case in CASES]
ASKING = [case["query"] for case in CASES if case["services"]]
INNOCENT = [case["query"] for case in CASES if not case["services"]]
PIECES = [
    *"\n\r #'\"<>{}().;,\\?$%-+|!=\u00a0\u00b7\u200d\x0b\u2028",
    *("SERVICE", "service", "SILENT", "'''", '"""', "<urn:a>", "<urn:b#c>", "<#>", "<?b)", "?s", ":x", "p:x", "\\q"),
    *(
        "SERVICE:x",
        "serviceservice:x",
        "\\'",
        "\\#",
        "\\u0041",
        "\\uD800",
        "1<",
        "true",
        "FILTER(1<:x",
        "2)",
        "@en",
        "_:b.",
    ),
    *("SERVICE <urn:t> {}", "service ?x {}", "PREFIX p: <urn:evil:>", "PREFIXp:<urn:evil:>", "<urn:a'b>", "'''\n'''"),
]
WORDS = re.compile(r"\w+|\s|.", re.DOTALL)


@pytest.fixture(scope="module")
def engine() -> Store:
    store = Store()
    store.extend(Quad(NamedNode("urn:a"), NamedNode("urn:b"), Literal(value)) for value in (1, True, False))
    return store


def asked_of(engine: Store, query: str) -> str | None:
    """Return what the engine says when it would ask a server, which has no address; None where it asks none."""
    try:
        found = engine.query(query, prefixes=PREFIXES)
        if not isinstance(found, QueryBoolean):
            list(found)
    except (OSError, RuntimeError) as error:
        return None if "custom function" in str(error) else str(error)
    return None


def test_the_cases() -> None:
    assert len(CASES) == len(set(NAMES)) == 65
    assert len(INNOCENT) == 8


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_query_asks_whom_it_names(case: dict[str, Any], engine: Store) -> None:
    said = [each.iri for each in services_of(case["query"])]
    assert said == case["services"]
    told = asked_of(engine, case["query"])
    assert told is None or said
    named = re.search(r"found (\S+)$", told or "")
    assert named is None or UNKNOWN in said or named[1] in said


@pytest.mark.parametrize("query", ASKING)
@pytest.mark.parametrize("world", [{}, {"as_of": "2026-01-01"}, {"dataset": "raw"}], ids=str)
def test_nobody_is_asked_unless_listed(query: str, world: dict[str, Any]) -> None:
    with Prism.in_memory() as prism, pytest.raises(RefusedError, match="SERVICE"):
        prism.sparql(query, **world)


@pytest.mark.parametrize("query", INNOCENT)
def test_the_word_is_no_request(query: str) -> None:
    with Prism.in_memory() as prism:
        assert list(prism.sparql(query).rows()) == []


def test_texts_made_at_random_are_read_as_the_engine_reads_them(engine: Store) -> None:
    """Some 300,000 more of these, from other seeds, found nothing when this was written."""
    chance = random.Random(209)
    asked = 0
    for _ in range(6_000):
        words = WORDS.findall(chance.choice(CASES)["query"])
        for _ in range(chance.choice((1, 1, 2, 3))):
            at = chance.randrange(len(words))
            words[at : at + chance.randrange(2)] = [chance.choice(PIECES)]
        query = "".join(words)
        try:
            told = asked_of(engine, query)
        except (SyntaxError, ValueError):
            continue
        said = [each.iri for each in services_of(query)]
        named = re.search(r"found (\S+)$", told or "")
        assert told is None or said, query
        assert named is None or UNKNOWN in said or named[1] in said, query
        asked += told is not None
    assert asked > 200


def test_whole_iris_are_compared() -> None:
    listed = "http://example.org/sparql"
    assert check_services(f"ASK {{ SERVICE <{listed}> {{ }} }}", [listed]) == (listed,)
    others = ("/sparql/", "/Sparql", ":80/sparql", "/sparql?", "/sparql#", "/%73parql", "/./sparql", ".:80/sparql")
    for iri in (
        *(f"http://example.org{each}" for each in others),
        "https://example.org/sparql",
        "http://EXAMPLE.org/sparql",
        "HTTP://example.org/sparql",
        "http://example.org@evil.example/sparql",
        "http://user:word@example.org/sparql",
        "http://evil.example/http://example.org/sparql",
    ):
        for query in (f"ASK {{ SERVICE <{iri}> {{ }} }}", f"ASK {{ SERVICE SILENT <{iri}> {{ }} }}"):
            with pytest.raises(RefusedError) as refused:
                check_services(query, [listed])
            assert refused.value.node == iri
            assert "PRISM_SERVICES" in refused.value.mend
    with pytest.raises(RefusedError):
        check_services(f"ASK {{ SERVICE <{listed}> {{ SERVICE <urn:t> {{ }} }} }}", [listed])


def test_who_reaches_some_projects_alone_asks_nobody() -> None:
    query = "ASK { SERVICE <http://example.org/> { } }"
    with pytest.raises(RefusedError, match="some projects"):
        check_services(query, ["http://example.org/"], confined=True)
    check_services("ASK { }", [], confined=True)
    with Prism.in_memory() as prism, asked_by("ann", confined=True), pytest.raises(RefusedError, match="some projects"):
        prism.sparql(query)


def test_a_trial_asks_nobody(engine: Store) -> None:
    query = "ASK { SERVICE <http://example.org/> { } SERVICE SILENT <http://example.org/> { } }"
    assert "example" not in asking_nobody(query)
    assert asked_of(engine, asking_nobody(query)) == "invalid authority"


@pytest.mark.parametrize(
    "update",
    [
        "INSERT { ?s ?p ?o } WHERE { SERVICE <urn:s> { ?s ?p ?o } }",
        "INSERT DATA { <urn:a> <urn:b> 1 } ; DELETE { ?s ?p ?o } WHERE { SERVICE SILENT ?x { ?s ?p ?o } }",
        "INSERT { <urn:s> <urn:p> ('''a') } WHERE { SERVICE <urn:s> {} } #\\q''') } WHERE { ?s ?p ?o }",
        "INSERT { <urn:s> <urn:p> ('''a') } WHERE { } ; LOAD <urn:s> #\\q''') } WHERE { ?s ?p ?o }",
        "DELETE WHERE { ?s ?p ?o } ; # c\rLOAD <urn:s>",
    ],
)
def test_an_update_asks_nobody_even_if_it_is_listed(update: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRISM_SERVICES", "http://example.org/sparql")
    with Prism.in_memory(managed=False) as prism:
        with pytest.raises(RefusedError, match=r"SERVICE|loads urn:s"):
            prism.update(update)
        assert prism.commit_number == 0


def test_an_update_that_may_hide_something_is_refused() -> None:
    where = "WHERE { ?s ?p ?o FILTER(?o<#>'''\n 2) } ; LOAD <urn:s> #'''\n) }"
    with pytest.raises(RefusedError, match="cannot be told"):
        check_update(f"INSERT {{ ?s ?p 1 }} {where}")
    check_update(f"INSERT {{ ?s ?p 1 }} {where}".replace("LOAD", "CLEAR GRAPH"))


def test_an_update_may_say_the_words() -> None:
    with Prism.in_memory(managed=False) as prism:
        prism.update("INSERT DATA { <urn:payload#x> <urn:service> 'LOAD, or SERVICE <urn:s> { }' }")
        assert prism.commit_number == 1
