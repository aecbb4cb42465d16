"""What the gate refuses, over HTTP: JSON, or a report of SHACL in the RDF that the client takes."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient
from prism_server import create_app
from pyoxigraph import Literal, NamedNode, RdfFormat, Store

from prism_rdf import Prism

SH = "http://www.w3.org/ns/shacl#"
WRONG = 'INSERT { ?d prism:title 5 } WHERE { ?d prism:number "ADR-1" }'


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    prism = Prism.in_memory()
    prism.project("demo").entity("ADR", {"number": "ADR-1", "title": "One"})
    return create_app(prism).test_client()


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("text/turtle", RdfFormat.TURTLE),
        ("application/n-triples", RdfFormat.N_TRIPLES),
        ("application/rdf+xml", RdfFormat.RDF_XML),
        ("application/ld+json, application/json;q=0.5", RdfFormat.JSON_LD),
    ],
)
def test_a_client_that_takes_rdf_gets_a_shacl_report(client: FlaskClient, accept: str, form: RdfFormat) -> None:
    answer = client.post("/sparql?pid=demo", data={"update": WRONG}, headers={"Accept": accept})
    assert answer.status_code == 422
    assert answer.mimetype == accept.partition(",")[0]
    report = Store()
    report.load(answer.data, format=form)
    assert len([*report.quads_for_pattern(None, NamedNode(SH + "conforms"), Literal(False))]) == 1
    (path,) = (quad.object for quad in report.quads_for_pattern(None, NamedNode(SH + "resultPath"), None))
    assert path == NamedNode("https://w3id.org/prism-rdf/ns#title")
    (focus,) = (quad.object for quad in report.quads_for_pattern(None, NamedNode(SH + "focusNode"), None))
    assert isinstance(focus, NamedNode)


@pytest.mark.parametrize("accept", ["", "*/*", "application/json", "text/html"])
def test_everybody_else_gets_json(client: FlaskClient, accept: str) -> None:
    answer = client.post("/sparql?pid=demo", data={"update": WRONG}, headers={"Accept": accept})
    assert answer.status_code == 422
    assert answer.json["error"]["code"] == "validation"
    assert answer.json["error"]["report"][0]["path"].strip("<>").endswith("#title")
