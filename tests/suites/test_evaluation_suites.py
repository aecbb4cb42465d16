"""The W3C suites of SPARQL 1.1 queries and updates, through HTTP; what fails is listed strictly, with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asking import MF, QT, UT, Answer, Server, entries, file_of, manifest, name_of, with_base
from pyoxigraph import QueryResultsFormat
from rdflib import RDF, RDFS, Graph
from rdflib.compare import isomorphic
from results import Table, read, read_csv, read_file, same

pytestmark = pytest.mark.shared

NOT_RUN = {"entailment", "service"}  # regimes of inference, and other endpoints: neither is offered
ACCEPT = {
    ".csv": ("text/csv", None),
    ".tsv": ("text/tab-separated-values", QueryResultsFormat.TSV),
    ".srj": ("application/sparql-results+json", QueryResultsFormat.JSON),
}
ROWS = ("application/sparql-results+xml", QueryResultsFormat.XML)
_BY_VALUE = "Oxigraph keeps values, not how they were written: a negativeInteger comes back as an integer"
_CONCAT = "Oxigraph keeps the language where GROUP_CONCAT joins texts of one language"
_PATHS = "Oxigraph finds no path of no steps from or to a node that is in no triple of the store"
_NAMED = "Oxigraph binds no graph to a pattern without triples, once the named graphs are declared to it"
QUERIES_THAT_FAIL = {
    "aggregates/agg-empty-group-count-graph": _NAMED,
    "aggregates/agg-groupconcat-04": _CONCAT,
    "aggregates/agg-groupconcat-06": _CONCAT,
    "bindings/graph": _NAMED,
    "csv-tsv-res/tsv03": _BY_VALUE,
    "functions/bnode01": "Oxigraph gives BNODE of one text one node in all solutions, not one in each",
    "negation/graph-minus": "Oxigraph takes the graph of GRAPH ?g for a variable that both sides of a MINUS share",
    "property-path/zero_or_more_set_end": _PATHS,
    "property-path/zero_or_more_set_start": _PATHS,
    "property-path/zero_or_one_set_end": _PATHS,
    "property-path/zero_or_one_set_start": _PATHS,
}


def manifests(folder: Path) -> Iterator[Path]:
    yield from sorted(path for path in folder.glob("*/manifest.ttl") if path.parent.name not in NOT_RUN)


def test_queries(sparql11: Path, server: Server) -> None:
    failed: dict[str, str] = {}
    passed = 0
    for path in manifests(sparql11):
        graph = manifest(path)
        for test in entries(graph):
            kinds = set(graph.objects(test, RDF.type))
            if not kinds & {MF.QueryEvaluationTest, MF.CSVResultFormatTest}:
                continue
            wrong = run_query(graph, test, server)
            name = f"{path.parent.name}/{name_of(test)}"
            if wrong:
                failed[name] = wrong
            else:
                passed += 1
    assert failed.keys() == QUERIES_THAT_FAIL.keys(), failed
    assert (passed, len(failed)) == (224, 11)


def run_query(graph: Graph, test: Any, server: Server) -> str:
    action = graph.value(test, MF.action)
    server.clear()
    for data in graph.objects(action, QT.data):
        server.put_file(str(data), None)
    for data in graph.objects(action, QT.graphData):
        server.put_file(str(data), str(data))
    query, result = str(graph.value(action, QT.query)), file_of(str(graph.value(test, MF.result)))
    text = with_base(file_of(query).read_text("utf-8"), query)
    wanted = read_file(result)
    accept, form = ("application/n-triples", None) if wanted is None else ACCEPT.get(result.suffix, ROWS)
    answer = server.query(text, accept)
    if answer.status != 200:
        return f"{answer.status} {answer.body[:300]!r}"
    if wanted is None:
        found = Graph().parse(data=answer.body, format="nt")
        return "" if isomorphic(found, Graph().parse(result)) else f"another graph: {answer.body[:300]!r}"
    table = read_csv(answer.body) if form is None else read(answer.body, form)
    return "" if same(table, wanted) else f"another result: {table}, not {wanted}"


def test_updates(sparql11: Path, server: Server) -> None:
    failed: dict[str, str] = {}
    passed = 0
    for path in manifests(sparql11):
        graph = manifest(path)
        for test in entries(graph):
            if (test, RDF.type, MF.UpdateEvaluationTest) not in graph:
                continue
            wrong = run_update(graph, test, server)
            if wrong:
                failed[f"{path.parent.name}/{name_of(test)}"] = wrong
            else:
                passed += 1
    assert failed == {}
    assert passed == 94


def run_update(graph: Graph, test: Any, server: Server) -> str:
    action, result = graph.value(test, MF.action), graph.value(test, MF.result)
    server.clear()
    before = graphs_of(graph, action)
    for name, data in before.items():
        server.put_file(data, name)
    request = str(graph.value(action, UT.request))
    answer = server.update(with_base(file_of(request).read_text("utf-8"), request))
    if answer.status != 200:
        return f"{answer.status} {answer.body[:300]!r}"
    wanted = graphs_of(graph, result)
    for name in {*before, *wanted, None, *names_of(server)}:
        expected = Graph().parse(file_of(wanted[name])) if name in wanted else Graph()
        found = server.graph(name)
        if not isomorphic(found, expected):
            return f"graph {name}: {found.serialize(format='nt')!r}"
    return ""


def graphs_of(graph: Graph, node: Any) -> dict[str | None, str]:
    """Return the files of the graphs that an action or a result names, by the name of the graph; None: the default."""
    default = graph.value(node, UT.data)
    found: dict[str | None, str] = {None: str(default)} if default is not None else {}
    for each in graph.objects(node, UT.graphData):
        found[str(graph.value(each, RDFS.label))] = str(graph.value(each, UT.graph))
    return found


def names_of(server: Server) -> list[str]:
    answer: Answer = server.query("SELECT DISTINCT ?g { GRAPH ?g { } }", "application/sparql-results+json")
    table = read(answer.body, QueryResultsFormat.JSON)
    assert isinstance(table, Table)
    return [row["g"][1] for row in table.rows]
