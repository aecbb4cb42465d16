"""The SPARQL protocol at /sparql: three ways to ask, every format, the world at a time, and clear refusals."""

from __future__ import annotations

import csv
import io
import json
from typing import Any
from xml.etree import ElementTree

import pytest
from flask.testing import FlaskClient
from prism_server import create_app
from pyoxigraph import RdfFormat, parse

from prism_rdf.prism import Prism
from prism_rdf.workers.asking import named

STATUS = "SELECT ?number ?status { ?adr a type:ADR ; prism:number ?number ; prism:status ?status } ORDER BY ?number"
GRAPH = "CONSTRUCT { ?new prism:SUPERSEDES ?old } WHERE { ?new prism:SUPERSEDES ?old }"


def rows(client: FlaskClient, query: str = STATUS, **parameters: str) -> list[list[str]]:
    given = {"query": query, **{name.replace("_", "-"): value for name, value in parameters.items()}}
    response = client.get("/sparql", query_string=given)
    assert response.status_code == 200, response.text
    answer = json.loads(response.data)
    return [[row[name]["value"] for name in answer["head"]["vars"]] for row in answer["results"]["bindings"]]


def error_of(response: Any, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.mimetype == "application/json"
    error = json.loads(response.data)["error"]
    assert error["message"]
    assert error["rule"]
    assert error["mend"]
    assert "Traceback" not in response.text
    return dict(error)


def test_now_and_then_differ(client: FlaskClient) -> None:
    assert rows(client, pid="demo") == [["ADR-002", "Accepted"], ["ADR-101", "Accepted"]]
    assert rows(client, pid="demo", as_of="2025-10-15") == [["ADR-001", "Proposed"], ["ADR-002", "Accepted"]]
    assert rows(client, pid="demo", as_of="2025-11-01T00:00:00Z") == [["ADR-001", "Accepted"], ["ADR-002", "Accepted"]]
    assert rows(client, pid="demo", as_of="2024") == []


def test_a_known_at_before_everything_knows_nothing(client: FlaskClient) -> None:
    assert rows(client, pid="demo", known_at="2020-01-01") == []
    assert len(rows(client, pid="demo", known_at="1", as_of="2025-10-15")) == 1


def test_without_pid_all_projects_answer(client: FlaskClient) -> None:
    assert [row[0] for row in rows(client)] == ["ADR-002", "ADR-101", "ADR-900"]


@pytest.mark.parametrize(
    "request_of",
    [
        lambda client: client.get("/sparql", query_string={"query": STATUS}),
        lambda client: client.post("/sparql", data={"query": STATUS}),
        lambda client: client.post("/sparql", data=STATUS.encode(), content_type="application/sparql-query"),
        lambda client: client.post("/sparql?pid=", data=STATUS, content_type="application/sparql-query; charset=UTF-8"),
    ],
    ids=["get", "form", "direct", "direct with charset"],
)
def test_every_way_to_ask_gives_the_same(client: FlaskClient, request_of: Any) -> None:
    response = request_of(client)
    assert response.status_code == 200
    assert response.mimetype == "application/sparql-results+json"
    assert len(json.loads(response.data)["results"]["bindings"]) == 3


def test_parameters_of_the_url_hold_for_a_post_too(client: FlaskClient) -> None:
    response = client.post("/sparql?as-of=2025-10-15&pid=demo", data=STATUS, content_type="application/sparql-query")
    assert "ADR-001" in response.text
    response = client.post("/sparql", data={"query": STATUS, "as-of": "2025-10-15", "pid": "demo"})
    assert "ADR-001" in response.text


def _json_rows(text: str) -> int:
    return len(json.loads(text)["results"]["bindings"])


def _xml_rows(text: str) -> int:
    return len(ElementTree.fromstring(text).findall(".//{http://www.w3.org/2005/sparql-results#}result"))


ROW_FORMATS = [
    ("application/sparql-results+json", "json", _json_rows),
    ("application/json", "json", _json_rows),
    ("application/sparql-results+xml", "xml", _xml_rows),
    ("application/xml", "xml", _xml_rows),
    ("text/csv", "csv", lambda text: len(list(csv.reader(io.StringIO(text)))) - 1),
    ("text/tab-separated-values", "tsv", lambda text: len(text.strip().split("\n")) - 1),
]


@pytest.mark.parametrize(("media_type", "name", "count"), ROW_FORMATS, ids=[case[0] for case in ROW_FORMATS])
def test_rows_by_accept_and_by_name(client: FlaskClient, media_type: str, name: str, count: Any) -> None:
    by_accept = client.get("/sparql", query_string={"query": STATUS}, headers={"Accept": media_type})
    assert by_accept.status_code == 200
    assert by_accept.mimetype == media_type
    assert by_accept.headers["Vary"].startswith("Accept, ")
    assert count(by_accept.text) == 3
    by_name = client.get("/sparql", query_string={"query": STATUS, "format": name})
    assert by_name.data == client.get("/sparql", query_string={"query": STATUS, "format": media_type}).data


GRAPH_FORMATS = {
    "text/turtle": RdfFormat.TURTLE,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/rdf+xml": RdfFormat.RDF_XML,
    "application/ld+json": RdfFormat.JSON_LD,
    "application/trig": RdfFormat.TRIG,
    "application/n-quads": RdfFormat.N_QUADS,
}


@pytest.mark.parametrize("media_type", GRAPH_FORMATS)
def test_graphs_in_every_format(client: FlaskClient, media_type: str) -> None:
    response = client.get("/sparql", query_string={"query": GRAPH}, headers={"Accept": media_type})
    assert response.status_code == 200
    assert response.mimetype == media_type
    assert len(list(parse(response.data, format=GRAPH_FORMATS[media_type]))) == 1


@pytest.mark.parametrize(
    "media_type", ["application/sparql-results+json", "application/sparql-results+xml", "text/csv"]
)
def test_ask_says_true(client: FlaskClient, media_type: str) -> None:
    response = client.get("/sparql", query_string={"query": "ASK { ?s a type:ADR }"}, headers={"Accept": media_type})
    assert response.status_code == 200
    assert "true" in response.text


def test_quality_values_decide(client: FlaskClient) -> None:
    headers = {"Accept": "text/csv;q=0.5, application/sparql-results+xml, image/png"}
    assert client.get("/sparql", query_string={"query": STATUS}, headers=headers).mimetype.endswith("+xml")
    assert client.get("/sparql", query_string={"query": STATUS}, headers={"Accept": "text/*"}).mimetype == "text/csv"


@pytest.mark.parametrize(
    ("query", "accept"), [(STATUS, "text/turtle"), (GRAPH, "text/csv"), (STATUS, "image/png"), (GRAPH, "text/plain")]
)
def test_406_lists_what_there_is(client: FlaskClient, query: str, accept: str) -> None:
    response = client.get("/sparql", query_string={"query": query}, headers={"Accept": accept})
    error = error_of(response, 406)
    assert error["code"] == "not-acceptable"
    assert ("text/turtle" if query == GRAPH else "text/csv") in error["rule"]


def test_drafts_are_shown_to_who_prefers_them(client: FlaskClient, prism: Prism) -> None:
    entity = prism.project("demo").list_entities()[0]
    prism.project("demo").wip(entity["uuid"], {"title": "A draft of a title"})
    drafts = "SELECT ?t { ?d prism:commitStatus 'wip' ; prism:title ?t }"
    seen = client.get("/sparql", query_string={"query": drafts, "prefer-wip": "true", "format": "csv"})
    assert seen.text.split() == ["t", "A", "draft", "of", "a", "title"]
    assert seen.headers["Prism-As-Of"] == "now"
    plain = client.get("/sparql", query_string={"query": drafts, "format": "csv"})
    assert plain.text.split() == ["t"]
    assert plain.headers["ETag"] != seen.headers["ETag"]
    error_of(client.get("/sparql", query_string={"query": drafts, "prefer-wip": "yes"}), 400)


def test_headers_name_what_was_seen(client: FlaskClient, prism: Prism) -> None:
    past = client.get("/sparql", query_string={"query": STATUS, "as-of": "2025-10-30", "known-at": "3"})
    assert past.headers["Prism-As-Of"] == "2025-10-30T23:59:59.999999Z"
    assert past.headers["Prism-Commit"] == str(prism.commit_number)
    assert past.headers["Prism-Known-At"].endswith("Z")
    now = client.get("/sparql", query_string={"query": STATUS})
    assert (now.headers["Prism-As-Of"], now.headers["Prism-Dataset"]) == ("now", "current")
    raw = client.get("/sparql", query_string={"query": "ASK { GRAPH ?g { ?s prism:validFrom ?t } }", "dataset": "raw"})
    assert raw.headers["Prism-Dataset"] == "raw"
    assert "Prism-As-Of" not in raw.headers
    assert "true" in raw.text


BAD = {
    "no query": ({"as-of": "2025"}, 400, "bad-argument", "no query"),
    "empty query": ({"query": "  "}, 400, "bad-argument", "no query"),
    "two queries": ({"query": [STATUS, STATUS]}, 400, "bad-argument", "2 times"),
    "syntax": ({"query": "SELECT ?s\nWHERE { ?s ?p }"}, 400, "bad-query", "line 2, column 16"),
    "update as a query": ({"query": "DELETE WHERE { ?s ?p ?o }"}, 400, "bad-query", "the query is an update"),
    "naive time": ({"query": STATUS, "as-of": "2025-10-30T12:00:00"}, 400, "bad-time", "no zone"),
    "no time": ({"query": STATUS, "as-of": "yesterday"}, 400, "bad-time", "yesterday"),
    "impossible day": ({"query": STATUS, "as-of": "2025-02-30"}, 400, "bad-time", "2025-02-30"),
    "unknown commit": ({"query": STATUS, "known-at": "999"}, 404, "not-found", "999"),
    "unknown dataset": ({"query": STATUS, "dataset": "all"}, 400, "bad-argument", "all"),
    "unknown project": ({"query": STATUS, "pid": "nope"}, 404, "not-found", "nope"),
    "project of raw": ({"query": STATUS, "pid": "demo", "dataset": "raw"}, 400, "bad-argument", "raw"),
    "time of raw": ({"query": STATUS, "as-of": "2025", "dataset": "raw"}, 400, "bad-argument", "raw"),
    "unknown format": ({"query": STATUS, "format": "docx"}, 406, "not-acceptable", "docx"),
    "misspelt parameter": ({"query": STATUS, "asof": "2025"}, 400, "bad-argument", "asof"),
    "graph that is no IRI": ({"query": STATUS, "default-graph-uri": "not an iri"}, 400, "bad-argument", "not an iri"),
    "graph that is not of the world": (
        {"query": STATUS, "named-graph-uri": "urn:prism:default/demo/graph/temporal"},
        422,
        "refused",
        "graph/temporal",
    ),
    "graph of an update": ({"query": STATUS, "using-graph-uri": "urn:g"}, 400, "bad-argument", "using-graph-uri"),
    "query and update": ({"query": STATUS, "update": "CLEAR ALL"}, 400, "bad-argument", "both a query and an update"),
    "timeout of no number": ({"query": STATUS, "timeout": "soon"}, 400, "bad-argument", "'soon'"),
    "timeout of nothing": ({"query": STATUS, "timeout": "0"}, 400, "bad-argument", "timeout"),
    "rows of no number": ({"query": STATUS, "max-rows": "-1"}, 400, "bad-argument", "max-rows"),
    "two formats": ({"query": STATUS, "format": ["json", "csv"]}, 400, "bad-argument", "2 times"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_requests_say_what_is_wrong(client: FlaskClient, case: str) -> None:
    parameters, status, code, words = BAD[case]
    for response in (
        client.get("/sparql", query_string=parameters),
        client.post("/sparql", data=parameters, content_type="application/x-www-form-urlencoded"),
    ):
        error = error_of(response, status)
        assert error["code"] == code
        assert words in error["message"]


def test_bodies_that_are_no_query(client: FlaskClient) -> None:
    assert error_of(client.post("/sparql", json={"query": STATUS}), 415)["code"] == "unsupported-body"
    assert error_of(client.post("/sparql", data=b"\xff", content_type="application/sparql-query"), 400)["code"] == (
        "bad-argument"
    )
    utf16 = client.post(
        "/sparql", data=STATUS.encode("utf-16"), content_type="application/sparql-query; charset=UTF-16"
    )
    assert error_of(utf16, 415)["code"] == "unsupported-body"
    assert error_of(client.post("/sparql", data=STATUS.encode()), 415)["code"] == "unsupported-body"
    both = client.post("/sparql?query=ASK{}", data=STATUS, content_type="application/sparql-query")
    assert "two texts" in error_of(both, 400)["message"]


def test_an_update_does_not_come_by_get(client: FlaskClient) -> None:
    error = error_of(client.get("/sparql", query_string={"update": "CLEAR ALL"}), 400)
    assert (error["code"], error["mend"]) == ("bad-argument", "send the update with POST")


def test_paths_methods_and_hosts_that_are_not_ours(client: FlaskClient) -> None:
    assert error_of(client.get("/nowhere"), 404)["code"] == "unknown-path"
    refused = client.delete("/sparql")
    assert error_of(refused, 405)["code"] == "bad-request"
    assert "GET" in refused.headers["Allow"]
    for host in ("localhost:8080", "127.0.0.1", "[::1]:8080"):
        assert client.get("/health", headers={"Host": host}).status_code == 200
    assert error_of(client.get("/health", headers={"Host": "evil.example"}), 400)["code"] == "bad-request"


def test_a_defect_shows_no_stack(prism: Prism, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(prism, "sparql", fail)
    response = create_app(prism).test_client().get("/sparql", query_string={"query": STATUS})
    assert error_of(response, 500)["code"] == "error"
    assert "secret" not in response.text


def test_the_dataset_may_be_declared(client: FlaskClient) -> None:
    graphs = [f"urn:prism:default/{pid}/graph/current" for pid in ("demo", "other")]
    assert len(rows(client, default_graph_uri=graphs[1])) == 1
    both = client.get("/sparql", query_string={"query": STATUS, "default-graph-uri": graphs})
    assert len(json.loads(both.data)["results"]["bindings"]) == 3


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("turtle", "text/turtle"),
        ("json-ld", "application/ld+json"),
        ("xml", "application/rdf+xml"),
        ("N3", "text/turtle"),
    ],
)
def test_formats_of_graphs_by_other_names(client: FlaskClient, name: str, media_type: str) -> None:
    for parameter in ("format", "output", "results"):
        response = client.get("/sparql", query_string={"query": GRAPH, parameter: name})
        assert (response.status_code, response.mimetype) == (200, media_type)


def test_a_browser_gets_the_page(client: FlaskClient) -> None:
    accept = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    asked = client.get("/sparql", query_string={"query": STATUS, "as-of": "2025-10-15"}, headers=accept)
    assert (asked.status_code, asked.mimetype) == (200, "text/html")
    assert "ADR-001" in asked.text
    assert client.get("/sparql", headers=accept).mimetype == "text/html"
    failed = client.get("/sparql", query_string={"query": "SELECT"}, headers=accept)
    assert (failed.status_code, failed.mimetype) == (400, "text/html")


def test_an_update_is_asked_by_who_sends_it(client: FlaskClient, prism: Prism, monkeypatch: pytest.MonkeyPatch) -> None:
    done, asked = prism.update, []

    def update(*args: Any, **options: Any) -> Any:
        asked.append(named())
        return done(*args, **options)

    monkeypatch.setattr(prism, "update", update)
    answer = client.post("/sparql?pid=demo", data={"update": "DELETE WHERE { GRAPH <urn:nothing> { ?s ?p ?o } }"})
    assert answer.status_code == 200
    assert [one.who for one in asked if one is not None] == ["local"]
