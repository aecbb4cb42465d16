"""The service description at /sparql: what this endpoint can do, in RDF, as SPARQL 1.1 Service Description has it."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Response, request
from pyoxigraph import BlankNode, NamedNode, RdfFormat, Triple, serialize

from prism_rdf.datasets import GRAPH_FORMATS

from .asking import Asker, Scope
from .negotiation import Format

SD = "http://www.w3.org/ns/sparql-service-description#"
_FORMATS = "http://www.w3.org/ns/formats/"
_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_LANGUAGES = ("SPARQL10Query", "SPARQL11Query", "SPARQL11Update")
_RESULTS = (
    *("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV"),
    *("Turtle", "N-Triples", "RDF_XML", "JSON-LD", "TriG", "N-Quads"),
)
_INPUTS = ("Turtle", "N-Triples", "RDF_XML", "JSON-LD", "TriG", "N-Quads")
_PREFIXES = {"sd": SD, "formats": _FORMATS}
_GRAPHS = "SELECT DISTINCT ?graph WHERE { GRAPH ?graph { } } ORDER BY ?graph LIMIT 1000"


def describe_service(asker: Asker, form: Format) -> Response:
    """Return the description in a format of RDF; it names the graphs of the dataset that a query has by default."""
    endpoint = NamedNode(request.base_url.rstrip("/"))
    found = asker.ask(_GRAPHS, Scope())
    graphs = [row[0] for row in found.rows()]
    triples = _triples(endpoint, graphs, union=asker.managed)
    rdf = GRAPH_FORMATS[form.name]
    prefixes = _PREFIXES if rdf in (RdfFormat.TURTLE, RdfFormat.TRIG, RdfFormat.RDF_XML) else None
    response = Response(serialize(triples, format=rdf, prefixes=prefixes), content_type=form.content_type)
    response.headers["Vary"] = "Accept"
    response.headers["Cache-Control"] = "no-cache"
    return response


def _triples(endpoint: NamedNode, graphs: list[NamedNode], *, union: bool) -> Iterator[Triple]:
    service, dataset, default = BlankNode("service"), BlankNode("dataset"), BlankNode("default")
    yield Triple(service, _TYPE, _sd("Service"))
    yield Triple(service, _sd("endpoint"), endpoint)
    for language in _LANGUAGES:
        yield Triple(service, _sd("supportedLanguage"), _sd(language))
    for name in _RESULTS:
        yield Triple(service, _sd("resultFormat"), NamedNode(_FORMATS + name))
    for name in _INPUTS:
        yield Triple(service, _sd("inputFormat"), NamedNode(_FORMATS + name))
    yield Triple(service, _sd("feature"), _sd("EmptyGraphs"))
    if union:
        yield Triple(service, _sd("feature"), _sd("UnionDefaultGraph"))
    yield Triple(service, _sd("defaultDataset"), dataset)
    yield Triple(dataset, _TYPE, _sd("Dataset"))
    yield Triple(dataset, _sd("defaultGraph"), default)
    yield Triple(default, _TYPE, _sd("Graph"))
    for number, iri in enumerate(graphs):
        named, graph = BlankNode(f"named{number}"), BlankNode(f"graph{number}")
        yield Triple(dataset, _sd("namedGraph"), named)
        yield Triple(named, _TYPE, _sd("NamedGraph"))
        yield Triple(named, _sd("name"), iri)
        yield Triple(named, _sd("graph"), graph)
        yield Triple(graph, _TYPE, _sd("Graph"))


def _sd(name: str) -> NamedNode:
    return NamedNode(SD + name)
