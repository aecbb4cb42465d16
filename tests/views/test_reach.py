"""A query that spares the memories answers as if it had been asked of them too; in doubt it is asked of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rdflib import RDF, BNode, URIRef, Variable
from rdflib.paths import AlternativePath, InvPath, MulPath, NegatedPath, SequencePath
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery

from prism_rdf import Prism, visible
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.clock import Instant
from prism_rdf.errors import BadQuery
from prism_rdf.evidence.memories import TERMS
from prism_rdf.model import Memory
from prism_rdf.namespaces import PREFIXES, RDF_TYPE
from prism_rdf.reach import _spelled_out, may_name_graphs, prefixes_in, spares_memories, vocabulary

SUITE = Path(__file__).parents[3] / "shared" / "suites" / "sparql"
BASE = "urn:prism:default"
KNOWN = vocabulary(TypeCatalog.shipped())
SPARES = [
    'SELECT (COUNT(*) AS ?n) { ?d a type:ADR ; prism:status ?s FILTER(STRENDS(?s, "d")) }',
    "SELECT ?a ?b ?c WHERE { ?a prism:title ?b FILTER(!BOUND(?z) && ?b != 'x') ?a prism:status ?c } ORDER BY ?a",
    "SELECT ?x { ?x (prism:SUPERSEDES|prism:EXTENDS)+ ?y . ?y prism:number 'ADR-2' }",
    "PREFIX p: <https://w3id.org/prism-rdf/ns#> SELECT ?t { ?d p:title ?t ; skos:altLabel|skos:hiddenLabel ?l }",
    "SELECT ?t (MAX(?n) AS ?m) ?s { { SELECT ?d ?n ?t { ?d prism:number ?n ; prism:title ?t } } ?d prism:status ?s }"
    " GROUP BY ?t ?s",
    "CONSTRUCT { ?d prism:title ?t } WHERE { ?d a prism:Document ; prism:title ?t . OPTIONAL { ?d prism:status ?s } }",
    "ASK { ?d prism:status 'Proposed' FILTER NOT EXISTS { ?d prism:SUPERSEDES [ prism:title ?t ] } }",
    "SELECT ?d { VALUES ?t { 'One' 'Two' } ?d prism:title ?t BIND(STRLEN(?t) + 1 AS ?n) } # ?s ?p ?o",
]
REACHES = [
    "SELECT ?s ?p ?o { ?s ?p ?o }",
    "SELECT ?t (COUNT(*) AS ?n) { ?s a ?t } GROUP BY ?t",
    "SELECT ?t { ?s a type:ADR, ?t }",
    "SELECT ?s { ?s a prism:Memory }",
    "SELECT ?c { ?m prism:about ?d ; prism:content ?c . ?d prism:title 'One' }",
    "SELECT ?x { ?x prism:title ?t ; ?p true }",
    "SELECT ?p { [] ?p 'One' }",
    "SELECT ?p { ?x prism:title [ ?p 1 ] }",
    "SELECT ?x ?y { ?x prism:SUPERSEDES* ?y }",
    "SELECT ?x ?y { ?x (prism:SUPERSEDES)? ?y }",
    "SELECT ?x ?y { ?x !prism:title ?y }",
    "SELECT ?x ?y { ?x prism:title|^prism:about ?y }",
    "SELECT ?x { ?x prism:title ?t FILTER(EXISTS { (1 2) ?p ?o }) }",
    "SELECT ?x { VALUES (?p) { (prism:content) } ?x ?p ?o }",
    "SELECT ?x { ?x prism:cont\\u0065nt ?o }",
    "PREFIX prism: <https://w3id.org/prism-rdf/> SELECT ?x { ?x <https://w3id.org/prism-rdf/ns#content> ?o }",
    "DESCRIBE <urn:x:memory>",
]


@pytest.fixture
def prism():
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        for number, title in (("ADR-1", "One"), ("ADR-2", "Two")):
            project.entity("ADR", {"number": number, "title": title, "status": "Proposed"}, valid_from="2026-01-01")
        project.reference("ADR-1", "ADR-2", "SUPERSEDES", valid_from="2026-01-01")
        project.alias("First", "ADR-1", kind="synonym", valid_from="2026-01-01")
        project.remember("ADR-1 was said", created_at="2026-02-20", about=["ADR-1"])
        yield prism


@pytest.mark.parametrize("query", SPARES)
def test_what_spares_the_memories_answers_the_same_without_them(query, prism, monkeypatch):
    assert spares_memories(query, KNOWN, BASE)
    for world in ({}, {"as_of": "2026-03-01"}):
        without = set(map(str, prism.sparql(query, **world).rows()))
        with monkeypatch.context() as patched:
            patched.setattr(visible, "spares_memories", lambda *_: False)
            assert without == set(map(str, prism.sparql(query, **world).rows()))
        assert without


@pytest.mark.parametrize("query", REACHES)
def test_what_may_reach_a_memory_is_asked_of_them(query):
    assert not spares_memories(query, KNOWN, BASE)


@pytest.mark.parametrize(
    "query", [*SPARES, *REACHES, "DESCRIBE ?d { ?d prism:title 'One' }", "ASK { ?d prism:title 1 }"]
)
def test_who_names_no_graph_is_answered_as_if_it_could(query, prism):
    """With the word in a comment all the graphs are listed, which takes longer."""

    def answer(text: str, **world: str) -> list[str] | str:
        try:
            return sorted(map(str, prism.sparql(text, **world).rows()))
        except BadQuery as error:
            return error.message

    assert not may_name_graphs(query) or "\\" in query
    for world in ({}, {"as_of": "2026-03-01"}):
        assert answer(query, **world) == answer(f"{query}\n# GRAPH", **world)


@pytest.mark.parametrize("as_of", [None, "2026-03-01"])
def test_graphs_are_named_in_whatever_case_the_word_is_written(as_of, prism):
    titles = "SELECT ?t {{ {} ?g {{ ?d prism:title ?t }} }}"
    for word in ("GRAPH", "graph", "Graph"):
        assert len(list(prism.sparql(titles.format(word), as_of=as_of).rows())) == 2


def test_of_the_prefixes_those_that_a_query_uses_are_told_the_engine(prism):
    assert list(prefixes_in("SELECT ?d { ?d prism:title 'One' . ?d skos:altLabel ?l }")) == ["prism", "skos"]
    assert prefixes_in("ASK { ?d <urn:\\u0061> 1 }") == PREFIXES
    own = "PREFIX prism: <urn:x:> ASK { ?d prism:title 'One' }"
    assert [list(prism.sparql(query).rows()) for query in (own, own[23:])] == [[(False,)], [(True,)]]
    for prefix in PREFIXES:
        assert list(prism.sparql(f"ASK {{ ?d {prefix}:none ?o }}").rows()) == [(False,)]


def test_entities_and_memories_are_found_by_one_query(prism):
    query = "SELECT ?c { ?m prism:about ?d ; prism:content ?c . ?d prism:title 'One' }"
    for world in ({}, {"as_of": "2026-03-01"}):
        assert [text.value for (text,) in prism.sparql(query, **world).rows()] == ["ADR-1 was said"]


def test_all_that_is_said_of_memories_is_known_as_theirs(prism):
    project = prism.project("demo")
    uuid = project.state_as_of("ADR-1")["uuid"]
    day, later = Instant.parse("2026-02-01T00:00:00Z"), Instant.parse("2026-03-01T00:00:00Z")
    said = Memory("m", "note", day, "s", "k", (uuid,), (f"entity:{uuid}", "concept:c"), "h", start=day, until=later)
    said = replace(said, speaker="Ann")
    project.write([said])
    project.write([replace(said, until=later.plus(days=1))])
    project.revert(prism.commit_number - 1)
    project.write([replace(said, content="open", until=None)])
    project.write([replace(said, content="open")])
    quads = list(prism.store.quads_for_pattern(None, None, None, project.names.graph("memory")))
    used = {quad.predicate for quad in quads} | {quad.object for quad in quads if quad.predicate == RDF_TYPE}
    assert used == set(TERMS)


@pytest.mark.shared
@pytest.mark.skipif(not SUITE.is_dir(), reason="needs the W3C suite in ../shared/suites/sparql")
def test_no_query_of_the_suite_is_thought_to_spare_what_it_reaches():
    """With every IRI of a query taken for one of entities, only its form decides; rdflib's algebra tells the truth."""
    compared = spared = 0
    for path in sorted(SUITE.rglob("*.rq")):
        query = path.read_text(encoding="utf-8", errors="replace")
        try:
            algebra = translateQuery(parseQuery(query)).algebra
        except Exception:
            continue  # rdflib does not read all of the suite
        compared += 1
        known = frozenset(text for kind, text in _spelled_out(query) if kind == "iri") - {RDF_TYPE.value}
        if spares_memories(query, known, BASE):
            spared += 1
            assert not any(_open(predicate, object) for _, predicate, object in _patterns(algebra)), path
    assert compared > 800
    assert spared > 500


def _patterns(node: Any) -> Iterator[tuple[Any, ...]]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "triples":
                yield from (tuple(part[at : at + 3]) for part in value for at in range(0, len(part), 3))
            else:
                yield from _patterns(value)
    elif isinstance(node, (list, tuple)):
        for each in node:
            yield from _patterns(each)


def _open(predicate: Any, object: Any) -> bool:
    """Return whether a pattern may match a property that the query does not name."""
    if isinstance(predicate, (SequencePath, AlternativePath)):
        return any(_open(each, object) for each in predicate.args)
    if isinstance(predicate, InvPath):
        return _open(predicate.arg, None)
    if isinstance(predicate, MulPath):
        return predicate.zero or _open(predicate.path, None)
    if predicate == RDF.type:
        return not isinstance(object, URIRef)
    return isinstance(predicate, (Variable, BNode, NegatedPath))
