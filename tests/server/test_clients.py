"""The clients that analysts have, against a real server: they read the world at a time, and write free graphs."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from rdflib import Dataset, Graph, Literal, URIRef
from rdflib.plugins.stores.sparqlstore import SPARQLStore, SPARQLUpdateStore

from prism_rdf.prism import Prism

pytestmark = pytest.mark.slow
NUMBERS = "SELECT ?number { ?adr a type:ADR ; prism:number ?number }"
MINE = URIRef("urn:my:notes")


@contextmanager
def served(*options: str) -> Iterator[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PRISM_")}
    environment["PRISM_OWNER"] = "never"
    command = [sys.executable, "-m", "prism_rdf.cli", "serve", "--port", "0", "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        said = ""
        while not said.endswith("}\n"):
            line = process.stdout.readline()
            assert line, "the server ended before it said where it is"
            said += line
        yield str(json.loads(said)["url"])
        process.terminate()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("home")
    with Prism.open(home, exclusive=True) as prism:
        demo = prism.project("demo")
        made = demo.entity("ADR", {"number": "ADR-001", "title": "A", "status": "Accepted"}, valid_from="2025-10-01")
        demo.transition(made["uuid"], {"number": "ADR-101"}, "rename", valid_from="2026-01-01")
    with served("--home", str(home)) as found:
        yield found


def test_sparqlwrapper(url: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from SPARQLWrapper import CSV, JSON, POST, TURTLE, SPARQLWrapper

    for form in (JSON, CSV):
        client = SPARQLWrapper(f"{url}sparql")
        client.setReturnFormat(form)
        client.addParameter("as-of", "2025-10-30")
        client.setQuery(NUMBERS)
        assert "ADR-001" in str(client.query().convert())
    client = SPARQLWrapper(f"{url}sparql")
    client.setReturnFormat(TURTLE)
    client.setQuery("CONSTRUCT { ?s prism:number ?n } WHERE { ?s prism:number ?n }")
    assert b"ADR-101" in client.query().convert()
    writer = SPARQLWrapper(f"{url}sparql")
    writer.setMethod(POST)
    writer.setQuery(f'INSERT DATA {{ GRAPH <{MINE}> {{ <urn:a> <urn:b> "by SPARQLWrapper" }} }}')
    writer.query()
    client.setReturnFormat(JSON)
    client.setQuery(f"SELECT ?o {{ GRAPH <{MINE}> {{ <urn:a> <urn:b> ?o }} }}")
    rows = client.query().convert()["results"]["bindings"]
    assert [row["o"]["value"] for row in rows] == ["by SPARQLWrapper"]


def test_rdflib_reads_the_world(url: str) -> None:
    graph = Graph(store=SPARQLStore(f"{url}sparql", returnFormat="json"))
    assert [str(row[0]) for row in graph.query(NUMBERS)] == ["ADR-101"]
    then = Graph(store=SPARQLStore(f"{url}sparql", returnFormat="json", params={"as-of": "2025-10-30"}))
    assert [str(row[0]) for row in then.query(NUMBERS)] == ["ADR-001"]


def test_rdflib_writes_a_free_graph(url: str) -> None:
    store = SPARQLUpdateStore(f"{url}sparql", f"{url}sparql", returnFormat="json", autocommit=False)
    graph = Dataset(store=store, default_union=False).graph(URIRef("urn:my:rdflib"))
    triple = (URIRef("urn:a"), URIRef("urn:b"), Literal("by rdflib"))
    graph.add(triple)
    store.commit()
    assert list(graph.triples((None, URIRef("urn:b"), None))) == [triple]
    graph.remove(triple)
    store.commit()
    assert len(graph) == 0


def test_a_transfer_that_breaks_off_is_seen(url: str) -> None:
    """A query that runs into its limit after the first pieces were sent ends without the last chunk."""
    query = (
        "SELECT ?a ?b { VALUES ?x { "
        + "1 " * 2000
        + "} VALUES ?y { "
        + "2 " * 2000
        + "} BIND(?x AS ?a) BIND(?y AS ?b) }"
    )
    line = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    line.request("POST", "/sparql?timeout=1", query, {"Content-Type": "application/sparql-query", "Accept": "text/csv"})
    response = line.getresponse()
    if response.status == 200:
        with pytest.raises(http.client.IncompleteRead) as broken:
            response.read()
        assert b"error" not in broken.value.partial
    else:
        assert response.status == 504
        assert json.loads(response.read())["error"]["code"] == "query-timeout"
    line.close()


def test_a_store_that_is_temporary_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with served("--unmanaged", "--temporary") as found:
        assert list(tmp_path.iterdir())
        line = http.client.HTTPConnection(urlsplit(found).netloc, timeout=20)
        line.request("PUT", "/store?default", b"<urn:a> <urn:b> 1 .", {"Content-Type": "text/turtle"})
        assert line.getresponse().status == 204
        line.close()
    assert list(tmp_path.iterdir()) == []
