"""Requests of the suites over real HTTP, and the manifests they are read from; what is expected is judged elsewhere."""

from __future__ import annotations

import http.client
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from pyoxigraph import RdfFormat, parse
from rdflib import Graph, Namespace, URIRef
from rdflib.collection import Collection

MF = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
QT = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-query#")
UT = Namespace("http://www.w3.org/2009/sparql/tests/test-update#")
HT = Namespace("http://www.w3.org/2011/http#")
CNT = Namespace("http://www.w3.org/2011/content#")


@dataclass(frozen=True)
class Answer:
    """What the server sent."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip()


@dataclass
class Server:
    """A running server, asked over one connection that is kept."""

    url: str
    _line: http.client.HTTPConnection | None = field(default=None, repr=False)

    def send(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one request; ``path`` is below the root of the server, with its parameters."""
        for last in (False, True):
            line = self._line or http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)
            self._line = line
            try:
                line.request(method, path, body, dict(headers or {}))
                response = line.getresponse()
                held = {name.lower(): value for name, value in response.getheaders()}
                return Answer(response.status, held, response.read())
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                line.close()
                self._line = None
                if last:
                    raise
        raise AssertionError("a request is sent once or twice")

    def close(self) -> None:
        if self._line is not None:
            self._line.close()

    def update(self, text: str) -> Answer:
        return self.send("POST", "/sparql", text.encode(), {"Content-Type": "application/sparql-update"})

    def query(self, text: str, accept: str) -> Answer:
        headers = {"Content-Type": "application/sparql-query", "Accept": accept}
        return self.send("POST", "/sparql", text.encode(), headers)

    def put(self, data: bytes, media_type: str, graph: str | None) -> None:
        """Put a graph, the default one without a name; the graph store protocol says it is there."""
        path = f"/store?graph={quote(graph, safe='')}" if graph else "/store?default"
        answer = self.send("PUT", path, data, {"Content-Type": media_type})
        assert answer.status in (200, 201, 204), answer

    def put_file(self, iri: str, graph: str | None) -> None:
        """Put the graph of a file, whose own IRI is the base of what is relative in it."""
        source = file_of(iri)
        quads = parse(source.read_bytes(), RdfFormat.from_extension(source.suffix[1:]), base_iri=iri)
        self.put("".join(f"{quad.triple} .\n" for quad in quads).encode(), "application/n-triples", graph)

    def graph(self, name: str | None) -> Graph:
        """Return a graph as it is in the store; an absent one is empty."""
        path = f"/store?graph={quote(name, safe='')}" if name else "/store?default"
        answer = self.send("GET", path, headers={"Accept": "application/n-triples"})
        if answer.status == 404:
            return Graph()
        assert answer.status == 200, answer
        return Graph().parse(data=answer.body, format="nt")

    def clear(self) -> None:
        answer = self.update("DROP ALL")
        assert answer.status == 200, answer


def manifest(path: Path) -> Graph:
    """Return a manifest, with the IRIs of its files as they are on disk."""
    return Graph().parse(path, format="turtle", publicID=path.as_uri())


def entries(graph: Graph) -> list[URIRef]:
    """Return the tests that a manifest lists, in their order."""
    found = [entry for listed in graph.objects(None, MF.entries) for entry in Collection(graph, listed)]
    return [entry for entry in found if isinstance(entry, URIRef)]


def collection(graph: Graph, node: Any) -> list[Any]:
    return list(Collection(graph, node)) if node is not None else []


def file_of(iri: str) -> Path:
    return Path(urlsplit(iri).path)


def with_base(text: str, iri: str) -> str:
    """Return a query or update with the base of its file, unless it has one."""
    return text if re.search(r"^\s*BASE\s", text, re.IGNORECASE | re.MULTILINE) else f"BASE <{iri}>\n{text}"


def name_of(iri: str) -> str:
    return str(iri).rpartition("#")[2]
