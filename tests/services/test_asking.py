"""Queries that ask a listed server, which answers, fails, sends elsewhere or hangs; and the network of a worker."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from prism_server import create_app
from prism_server.tokens import Guard

from prism_rdf import BadQuery, Prism, QueryTimeout, RefusedError, ServiceFailed
from prism_rdf.config import Limits, query_limits
from prism_rdf.errors import BadArgument
from prism_rdf.tokens.keeping import Tokens
from prism_rdf.workers.pool import Pool
from prism_rdf.workers.ticket import Question

ROWS = {"head": {"vars": ["s"]}, "results": {"bindings": [{"s": {"type": "literal", "value": "from afar"}}]}}
HEAD = "#+ summary: Who is known elsewhere\n"
ANSWERS: dict[str, tuple[int, str, bytes]] = {
    "/good": (200, "application/sparql-results+json", json.dumps(ROWS).encode()),
    "/ill": (500, "text/plain", b"out of\x1b[31m order" + b"!" * 9_999),
    "/page": (200, "text/html", b"<p>welcome</p>"),
    "/broken": (200, "application/sparql-results+json", b'{"head": nonsense'),
    **{f"/moved/{status}": (status, "text/plain", b"") for status in (301, 302, 303, 307, 308)},
}


class Elsewhere(ThreadingHTTPServer):
    """A server that notes what it is asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, str]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Elsewhere

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.asked.append((self.path, body))
        status, kind, said = ANSWERS.get(self.path, (404, "text/plain", b"nothing"))
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", f"{self.server.url}/good?inner")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    with Elsewhere() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def silence() -> Iterator[str]:
    """Return the address of a server that takes a question and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"


@pytest.fixture(scope="module")
def prism(elsewhere: Elsewhere, silence: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prism]:
    with Prism.open(tmp_path_factory.mktemp("home"), exclusive=True) as store:
        store.project("demo").entity("ADR", {"number": "ADR-1", "title": "One"}, valid_from="2026-01-01")
        listed = [f"{elsewhere.url}{path}" for path in ANSWERS] + [silence]
        store.limit_queries(Limits(timeout=20, workers=2, memory=600, services=tuple(listed)))
        yield store


@pytest.fixture(autouse=True)
def _nothing_asked(elsewhere: Elsewhere) -> None:
    elsewhere.asked.clear()


def query(address: str, *, silent: bool = False) -> str:
    return f"SELECT ?n ?s {{ ?d prism:number ?n SERVICE {'SILENT' if silent else ''} <{address}> {{ ?s ?p 'x' }} }}"


def rows(prism: Prism, text: str, **world: Any) -> list[list[Any]]:
    return [[term and term.value for term in row] for row in prism.sparql(text, **world).rows()]


@pytest.mark.slow
def test_a_listed_server_is_asked(prism: Prism, elsewhere: Elsewhere) -> None:
    for world in ({}, {"pid": "demo"}, {"as_of": "2026-05-01"}, {"dataset": "raw"}, {"prefer_wip": True}):
        assert ["ADR-1", "from afar"] in rows(prism, query(f"{elsewhere.url}/good"), **world)
    assert [path for path, _ in elsewhere.asked] == ["/good"] * len(elsewhere.asked)
    assert elsewhere.asked[0][1] == 'SELECT * WHERE { ?s ?p "x" . }'
    asked = len(elsewhere.asked)
    for other in ("/good/", "/Good", "/good?x", "/other"):
        with pytest.raises(RefusedError, match="asks another server"):
            prism.sparql(query(elsewhere.url + other, silent=True))
    assert len(elsewhere.asked) == asked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/ill", "500 Internal Server Error"),
        ("/page", "text/html"),
        ("/broken", "Parser error"),
        *((f"/moved/{status}", r"redirect|Redirect|30\d") for status in (301, 302, 303, 307, 308)),
    ],
)
def test_a_server_that_fails_is_named(prism: Prism, elsewhere: Elsewhere, path: str, says: str) -> None:
    with pytest.raises(ServiceFailed, match=says) as failed:
        rows(prism, query(elsewhere.url + path))
    assert failed.value.node == elsewhere.url + path
    assert len(failed.value.message) < 500
    assert failed.value.message.isprintable()
    assert {asked for asked, _ in elsewhere.asked} == {path}, "no redirection is followed"
    assert rows(prism, query(elsewhere.url + path, silent=True)) == [["ADR-1", None]]
    assert {asked for asked, _ in elsewhere.asked} == {path}


@pytest.mark.slow
def test_a_server_that_hangs_is_left_when_the_time_is_over(prism: Prism, silence: str) -> None:
    for silent in (False, True):
        with pytest.raises(QueryTimeout):
            rows(prism, query(silence, silent=silent), timeout=0.7)
    assert prism.running() == []


@pytest.mark.slow
def test_over_http(prism: Prism, elsewhere: Elsewhere, silence: str, tmp_path: Path) -> None:
    tokens = Tokens(tmp_path, prism.clock)
    client = create_app(prism, Guard(tokens)).test_client()

    def get(text: str, **more: str) -> Any:
        return client.get("/sparql", query_string={"query": text, **more}, headers={"Accept": "text/csv"})

    good = get(query(f"{elsewhere.url}/good"))
    assert (good.status_code, good.text) == (200, "n,s\r\nADR-1,from afar\r\n")
    assert "ETag" not in good.headers
    ill = get(query(f"{elsewhere.url}/ill"))
    assert (ill.status_code, ill.get_json()["error"]["code"]) == (502, "service-failed")
    assert get(query(silence), timeout="0.7").status_code == 504
    assert get(query(f"{elsewhere.url}/else")).status_code == 422
    _, secret = tokens.create("bound", scopes=("read",), namespaces=["demo"])
    bound = {"Authorization": f"Bearer {secret}"}
    refused = client.get("/sparql", query_string={"query": query(f"{elsewhere.url}/good")}, headers=bound)
    assert refused.status_code == 422
    assert "some projects" in refused.get_json()["error"]["message"]
    update = f"INSERT {{ <urn:a> <urn:b> ?s }} WHERE {{ SERVICE <{elsewhere.url}/good> {{ ?s ?p ?o }} }}"
    assert client.post("/sparql", data={"update": update}).status_code == 422


@pytest.mark.slow
def test_saved_queries_keep_to_the_list(prism: Prism, elsewhere: Elsewhere) -> None:
    demo = prism.project("demo")
    with pytest.raises(RefusedError, match="asks another server"):
        demo.add_query(HEAD + query(f"{elsewhere.url}/other"), "other")
    with pytest.raises(BadQuery):
        demo.add_query(HEAD + query(f"{elsewhere.url}/good") + "}", "wrong")
    demo.add_query(HEAD + query(f"{elsewhere.url}/good"), "afar")
    assert elsewhere.asked == [], "a query is not asked to be kept"
    assert [[term.value for term in row] for row in demo.run_query("afar").rows()] == [["ADR-1", "from afar"]]
    limits = prism._limits
    assert limits is not None
    prism.limit_queries(Limits(memory=600))
    try:
        with pytest.raises(RefusedError, match="asks another server"):
            demo.run_query("afar")
    finally:
        prism.limit_queries(limits)


@pytest.mark.slow
def test_a_store_in_memory_asks_by_a_worker_too(elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRISM_SERVICES", f"{elsewhere.url}/good http://127.0.0.1:1/x")
    with Prism.in_memory() as prism:
        prism.project("demo").entity("ADR", {"number": "ADR-1", "title": "One"}, valid_from="2026-01-01")
        assert rows(prism, query(f"{elsewhere.url}/good")) == [["ADR-1", "from afar"]]
        with pytest.raises(ServiceFailed, match="port 1"):
            rows(prism, query("http://127.0.0.1:1/x"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is of Linux")
def test_a_worker_reaches_no_other_port(prism: Prism, elsewhere: Elsewhere, tmp_path: Path) -> None:
    """Even where the rule on words was evaded: the pool is asked without it."""
    if not _landlock():
        pytest.skip("this kernel knows no Landlock for TCP")
    asked = Question(
        f"SELECT * {{ SERVICE <{elsewhere.url}/good> {{ ?s ?p ?o }} }}", {}, ("urn:a", "urn:b", "urn:c"), "raw"
    )
    for services, reached in (((), False), (("http://127.0.0.1:1/x",), False), ((f"{elsewhere.url}/x",), True)):
        pool = Pool(tmp_path / "pool", Limits(memory=600, services=services))
        try:
            if reached:
                assert b"from afar" in b"".join(pool.ask(prism.store, asked).stream("csv", None))
            else:
                with pytest.raises(Exception, match="Permission denied"):
                    b"".join(pool.ask(prism.store, asked).stream("csv", None))
                assert elsewhere.asked == []
        finally:
            pool.close()


def _landlock() -> bool:
    """Return whether a process can be confined here; it is tried in another one, since it cannot be undone."""
    tried = "from prism_rdf.workers.confining import confine; raise SystemExit(not confine([]))"
    return subprocess.run([sys.executable, "-c", tried], timeout=60).returncode == 0


def test_only_addresses_of_the_web_are_listed() -> None:
    good = ("http://example.org", "https://example.org:8443/sparql?default", "http://[::1]:3030/ds", "http://h/\u00e4")
    listed = query_limits({}, {"PRISM_SERVICES": " ".join(good)})
    assert listed.services == good
    assert query_limits({}, {"PRISM_SERVICES": "http://a/"}, services=["http://b/"]).services == ("http://b/",)
    assert query_limits({}, {}).services == ()
    for bad in (
        *("urn:x", "ftp://h/", "file:///etc/passwd", "//h/", "h/sparql", "http:///x", "http://", "http://h:99999/"),
        *(
            "http://u@h/",
            "http://u:p@h/",
            "http://h/#f",
            "http://h/<",
            "http://h\\@e/",
            "http://h:0/",
            "http://h:x/",
            "",
        ),
    ):
        with pytest.raises(BadArgument, match="is not a server"):
            query_limits({}, {}, services=[bad])
