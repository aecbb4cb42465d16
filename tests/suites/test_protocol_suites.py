"""The W3C suites of the protocol, the graph store protocol and the service description, against a real server."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from asking import CNT, HT, MF, UT, Answer, Server, collection, entries, manifest, name_of
from pyoxigraph import RdfFormat, parse
from rdflib import RDF, Graph, Literal, Namespace, URIRef
from rdflib.compare import isomorphic

pytestmark = pytest.mark.shared

SD = Namespace("http://www.w3.org/ns/sparql-service-description#")
STATUS = {
    "StatusCode2xx": range(200, 300),
    "StatusCode3xx": range(300, 400),
    "StatusCode4xx": range(400, 500),
    "OK": (200,),
    "Created": (201,),
    "NoContent": (204,),
    "NotFound": (404,),
}
TABLES = ("sparql-results+json", "sparql-results+xml", "text/csv", "text/tab-separated-values")
RDF_FORMATS = ("text/turtle", "application/rdf+xml", "application/n-triples", "application/ld+json")


def test_protocol(sparql11: Path, server: Server) -> None:
    failed, passed = run(sparql11 / "protocol" / "manifest.ttl", server, listed=True)
    assert failed == {}
    assert passed == 34


def test_graph_store_protocol(sparql11: Path, server: Server) -> None:
    """Nine tests that name graphs by parameter, and five by URL, of which one is not listed."""
    folder = sparql11 / "graph-store-protocol"
    indirect = run(folder / "manifest-indirect.ttl", server, listed=True)
    direct = run(folder / "manifest-direct.ttl", server, listed=False)
    assert (indirect[0], direct[0]) == ({}, {})
    assert (indirect[1], direct[1]) == (9, 5)


def run(path: Path, server: Server, *, listed: bool) -> tuple[dict[str, str], int]:
    """Run the tests of a manifest; return what failed, with the reason, and how many passed."""
    graph = manifest(path)
    tests = entries(graph) if listed else sorted(graph.subjects(RDF.type, MF.GraphStoreProtocolTest))
    failed: dict[str, str] = {}
    for test in tests:
        server.clear()
        for node in graph.objects(test, UT.graphData):
            file, label = str(graph.value(node, UT.graph)), None
            label = str(graph.value(node, URIRef("http://www.w3.org/2000/01/rdf-schema#label")))
            server.put_file(file, label)
        action = graph.value(test, MF.action)
        location = ""
        for number, request in enumerate(collection(graph, graph.value(action, HT.requests))):
            answer = send(graph, request, server, location)
            wrong = judge(graph, graph.value(request, HT.resp), answer, server, location)
            if wrong:
                failed[name_of(test)] = f"request {number + 1}: {wrong}"
                break
            location = answer.headers.get("location", location)
    return failed, len(tests) - len(failed)


def send(graph: Graph, request: Any, server: Server, location: str) -> Answer:
    method = str(graph.value(request, HT.methodName))
    asked = str(graph.value(request, HT.absolutePath)).replace("$LOCATION$", quote(location, safe=""))
    path = re.sub(r"^/sparql/", "/sparql", asked)
    path = re.sub(r"^/gsp", "/store", path)
    headers = {
        str(graph.value(header, HT.fieldName)): str(graph.value(header, HT.fieldValue))
        for header in collection(graph, graph.value(request, HT.headers))
    }
    return server.send(method, path, body_of(graph, graph.value(request, HT.body)), headers)


def body_of(graph: Graph, body: Any) -> bytes | None:
    if body is None:
        return None
    encoding = str(graph.value(body, CNT.characterEncoding) or "utf-8")
    text = str(graph.value(body, CNT.chars))
    if "form-data" in text:  # what is read from Turtle has lost the carriage returns of some lines
        text = re.sub(r"\r*\n", "\r\n", text)
    return text.encode(encoding)


def judge(graph: Graph, expected: Any, answer: Answer, server: Server, location: str) -> str:
    """Return what is wrong with an answer, empty when nothing is."""
    codes = [code for said in graph.objects(expected, MF.expectedStatus) for code in STATUS[name_of(str(said))]]
    if answer.status not in codes:
        return f"status {answer.status} {answer.body[:200]!r}"
    boolean = graph.value(expected, MF.expectedBoolean)
    if boolean is not None and said_boolean(answer) != bool(boolean.toPython()):  # type: ignore[union-attr]
        return f"said {answer.body!r}"
    form = graph.value(expected, MF.expectedFormat)
    if form == Literal("tabular") and not answer.media_type.endswith(TABLES):
        return f"no table: {answer.media_type}"
    if form == Literal("RDF") and answer.media_type not in RDF_FORMATS:
        return f"no RDF: {answer.media_type}"
    for header in collection(graph, graph.value(expected, HT.headers)):
        name, wanted = str(graph.value(header, HT.fieldName)), str(graph.value(header, HT.fieldValue))
        if answer.headers.get(name.lower()) != wanted:
            return f"{name} is {answer.headers.get(name.lower())}, not {wanted}"
    if graph.value(expected, MF.expectedLocation) is not None and not answer.headers.get("location"):
        return "no Location"
    body = body_of(graph, graph.value(expected, HT.body))
    if body:
        wanted_graph = Graph().parse(data=body, format="turtle", publicID="http://www.example/")
        if not isomorphic(Graph().parse(data=answer.body, format="turtle"), wanted_graph):
            return f"another graph: {answer.body!r}"
    return ""


def said_boolean(answer: Answer) -> bool:
    assert answer.media_type == "application/sparql-results+json", answer
    return bool(json.loads(answer.body)["boolean"])


PERSON = """@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix v: <http://www.w3.org/2006/vcard/ns#> .
<{iri}> a foaf:Person ; foaf:businessCard [ a v:VCard ; v:fn "{name}" ] .
"""
ALICE = """@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix v: <http://www.w3.org/2006/vcard/ns#> .
[] a foaf:Person ; foaf:businessCard [ a v:VCard ; v:given-name "Alice" ] .
"""
NAMES = """@prefix foaf: <http://xmlns.com/foaf/0.1/> .
<{iri}> foaf:familyName "Doe" ; foaf:givenName "Jane" .
"""


def test_graph_store_protocol_as_it_was_told_first(sparql11: Path, server: Server) -> None:
    """The older suite tells its 18 requests in prose; they depend on one another, so they are one story here.

    The last lines of its multipart parts lack the full stop that Turtle asks for; here they have it.
    """
    listed = entries(manifest(sparql11 / "http-rdf-update" / "manifest.ttl"))
    server.clear()
    turtle = {"Content-Type": "text/turtle; charset=utf-8"}
    root = server.url.rstrip("/")
    person, iri = "/store/person/1.ttl", f"{root}/store/person/1"
    named = f"/store?graph={quote(f'{root}{person}', safe='')}"
    done: list[str] = []

    def step(name: str, answer: Answer, *codes: int, body: str = "") -> Answer:
        assert answer.status in codes, (name, answer)
        if body:
            assert answer.headers["content-type"] == "text/turtle; charset=utf-8"
            found = Graph().parse(data=answer.body, format="turtle")
            assert isomorphic(found, Graph().parse(data=body, format="turtle")), (name, answer)
        done.append(name)
        return answer

    def get(path: str) -> Answer:
        return server.send("GET", path, headers={"Accept": "text/turtle"})

    def put(path: str, name: str) -> Answer:
        return server.send("PUT", path, PERSON.format(iri=iri, name=name).encode(), turtle)

    step("put__initial_state", put(person, "John Doe"), 201)
    step("get_of_put__initial_state", get(named), 200, body=PERSON.format(iri=iri, name="John Doe"))
    step("put__graph_already_in_store", put(person, "Jane Doe"), 204)
    step("get_of_put__graph_already_in_store", get(named), 200, body=PERSON.format(iri=iri, name="Jane Doe"))
    step("put__default_graph", put("/store?default", "Alice"), 200, 201, 204)
    step("get_of_put__default_graph", get("/store?default"), 200, body=PERSON.format(iri=iri, name="Alice"))
    step("delete__existing_graph", server.send("DELETE", person), 200, 204)
    step("get_of_delete__existing_graph", get(person), 404)
    step("delete__nonexistent_graph", server.send("DELETE", person), 404)
    john = PERSON.format(iri=iri, name="John Doe")
    server.put(john.encode(), "text/turtle", f"{root}{person}")
    family = NAMES.format(iri=iri)
    step("post__existing_graph", server.send("POST", person, family.encode(), turtle), 200, 204)
    step("get_of_post__existing_graph", get(person), 200, body=john + family)
    boundary = "a6fe4cd636164618814be9f8d3d1a0de"
    parts = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{part}.ttl"; filename="{part}.ttl"\r\n'
        f"Content-Type: text/turtle; charset=utf-8\r\n\r\n@prefix foaf: <http://xmlns.com/foaf/0.1/> .\r\n"
        f'<{iri}> foaf:{part} "Of a form" .\r\n\r\n'
        for part in ("familyName", "givenName")
    )
    form = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    step("post__multipart_formdata", server.send("POST", person, f"{parts}--{boundary}--\r\n".encode(), form), 200, 204)
    both = NAMES.format(iri=iri).replace("Doe", "Of a form").replace("Jane", "Of a form")
    step("get_of_post__multipart_formdata", get(person), 200, body=john + family + both)
    made = step("post__create__new_graph", server.send("POST", "/store", ALICE.encode(), turtle), 201)
    new = urlsplit(made.headers["location"]).path
    step("get_of_post__create__new_graph", get(new), 200, body=ALICE)
    server.send("POST", new, b"", turtle)
    step("get_of_post__after_noop", get(new), 200, body=ALICE)
    head = step("head_on_an_existing_graph", server.send("HEAD", person), 200)
    assert head.headers["content-type"] == "text/turtle; charset=utf-8"
    assert int(head.headers["content-length"]) > 0
    step("head_on_a_nonexisting_graph", server.send("HEAD", "/store/person/4.ttl"), 404)
    assert done == [name_of(test) for test in listed]
    assert len(done) == 18


def test_service_description(sparql11: Path, server: Server) -> None:
    listed = [name_of(test) for test in entries(manifest(sparql11 / "service-description" / "manifest.ttl"))]
    assert sorted(listed) == ["conforms-to-schema", "has-endpoint-triple", "returns-rdf"]
    server.clear()
    server.put(b"<urn:a> <urn:b> 1 .", "text/turtle", "urn:g")
    for media_type in RDF_FORMATS:
        answer = server.send("GET", "/sparql", headers={"Accept": media_type})
        assert (answer.status, answer.media_type) == (200, media_type)  # returns-rdf
        quads = parse(answer.body, RdfFormat.from_media_type(media_type))
        found = Graph().parse(data="".join(f"{quad.triple} .\n" for quad in quads), format="nt")
        (service,) = found.subjects(RDF.type, SD.Service)
        assert found.value(service, SD.endpoint) == URIRef(f"{server.url}sparql")  # has-endpoint-triple
        check_schema(found, service)  # conforms-to-schema


def check_schema(found: Graph, service: Any) -> None:
    """Domains and ranges of the vocabulary, as its specification gives them."""
    assert SD.SPARQL11Query in found.objects(service, SD.supportedLanguage)
    (dataset,) = found.objects(service, SD.defaultDataset)
    assert (dataset, RDF.type, SD.Dataset) in found
    (default,) = found.objects(dataset, SD.defaultGraph)
    assert (default, RDF.type, SD.Graph) in found
    named = list(found.objects(dataset, SD.namedGraph))
    assert [str(found.value(each, SD.name)) for each in named] == ["urn:g"]
    for each in named:
        assert (each, RDF.type, SD.NamedGraph) in found
        assert (found.value(each, SD.graph), RDF.type, SD.Graph) in found
    for predicate in (SD.resultFormat, SD.inputFormat, SD.feature, SD.supportedLanguage):
        assert all(isinstance(each, URIRef) for each in found.objects(service, predicate))
        assert list(found.objects(service, predicate))
