"""No query reaches another server, and the word alone harms nobody."""

from __future__ import annotations

import pytest

from prism_rdf import Prism
from prism_rdf.errors import RefusedError

REFUSED = [
    "SELECT * { SERVICE <http://127.0.0.1:9/x> { ?s ?p ?o } }",
    "select * { service silent <http://127.0.0.1:9/x> { ?s ?p ?o } }",
    "SELECT * { ?s ?p ?x . # comment\nSERVICE ?x { ?s ?p ?o } }",
    'SELECT * { ?s ?p "it\'s" SERVICE<http://127.0.0.1:9/x>{ ?s ?p "x" } }',
    "SELECT * { { SELECT * { SERVICE <http://127.0.0.1:9/x> {} } } }",
]
ANSWERED = [
    'SELECT * { ?s ?p "SERVICE" }',
    'SELECT * { ?s ?p """a "SERVICE" there""" }',
    "SELECT ?service { ?service ?p ?o } # SERVICE",
    "SELECT * { ?s <http://example.org/SERVICE> ?o }",
    "PREFIX service: <urn:x:> SELECT * { ?s service:SERVICE ?o }",
]


@pytest.mark.parametrize("query", REFUSED)
@pytest.mark.parametrize("world", [{}, {"as_of": "2026-01-01"}, {"dataset": "raw"}])
def test_service_is_refused(query, world):
    with Prism.in_memory() as prism, pytest.raises(RefusedError, match="SERVICE"):
        prism.sparql(query, **world)


@pytest.mark.parametrize("query", ANSWERED)
def test_the_word_is_no_request(query):
    with Prism.in_memory() as prism:
        assert list(prism.sparql(query).rows()) == []
