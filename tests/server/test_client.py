"""The Python client: the verbs of a store behind a server answer, and fail, as they do where the store lies."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from prism_server import create_app
from prism_server.api.endpoints import all_endpoints
from prism_server.app import guard_of
from werkzeug.serving import make_server

from prism_rdf import Prism
from prism_rdf.client import ABSENT, POSTED, ClientPrism, connect
from prism_rdf.errors import (
    AmbiguousError,
    BadArgument,
    BadQuery,
    BusyError,
    NotFoundError,
    RefusedError,
    UnknownEntity,
    UsageError,
    ValidationError,
)
from prism_rdf.owner import verbs


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Prism, str, str]]:
    folder: Path = tmp_path_factory.mktemp("store")
    with Prism.open(folder, exclusive=True) as prism:
        guard = guard_of(prism, required=True)
        made = guard.tokens.create("all", scopes=["read", "write", "review", "admin"])
        secret = next(each for each in made if isinstance(each, str))
        app = create_app(prism, guard)
        server = make_server("127.0.0.1", 0, app, threaded=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield prism, f"http://127.0.0.1:{server.server_port}", secret
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
            app.extensions["api"].close()


@pytest.fixture(scope="module")
def client(store: tuple[Prism, str, str]) -> ClientPrism:
    return connect(store[1], store[2])


def test_it_writes_and_reads_as_the_store_does(store: tuple[Prism, str, str], client: ClientPrism) -> None:
    here, there = store[0].project("demo"), client.project("demo")
    made = there.entity("ADR", {"number": "ADR-1", "title": "Use RDF", "status": "Proposed"}, valid_from="2025-01-01")
    receipt = there.fact("ADR-1", "status", "Accepted", valid_from="2025-06-01")
    assert receipt.commit == 2
    assert receipt.recorded_at == store[0].system_time(2) == client.system_time(2)
    for verb, arguments in (
        ("state_as_of", {"entity": "ADR-1", "as_of": "2025-03-01"}),
        ("history", {"entity": "ADR-1"}),
        ("blame", {"entity": "ADR-1", "property": "status"}),
        ("list_entities", {"type_name": "ADR", "as_of": "2025-03-01"}),
        ("resolve", {"ref": "ADR-1"}),
        ("list_types", {}),
        ("queries", {}),
        ("saved_query", {"name": "orphans"}),
    ):
        assert getattr(there, verb)(**arguments) == getattr(here, verb)(**arguments), verb
    assert client.projects() == ["demo"]
    assert client.commit_number == store[0].commit_number
    assert list(client.log()) == list(store[0].log())
    assert there.check() == []
    assert client.rebuild("demo") == {"demo": 0}
    assert made["uuid"] == here.state_as_of("ADR-1")["uuid"]
    again = [there.fact("ADR-1", "status", "Final", valid_from="2025-07-01", idempotency_key="k") for _ in range(2)]
    assert [each.replayed for each in again] == [False, True]


def test_it_asks_sparql_and_saved_queries(store: tuple[Prism, str, str], client: ClientPrism) -> None:
    client.project("ask").entity("ADR", {"number": "ADR-5", "status": "Proposed"}, valid_from="2025-01-01")
    for query in (
        "SELECT ?n { ?s prism:number ?n }",
        "ASK { ?s prism:number 'ADR-5' }",
        "CONSTRUCT { ?s prism:number ?n } WHERE { ?s prism:number ?n }",
    ):
        there, here = (
            client.sparql(query, pid="ask", as_of="2025-02-01"),
            store[0].sparql(query, pid="ask", as_of="2025-02-01"),
        )
        assert (there.kind, there.as_of, there.variables) == (here.kind, here.as_of, here.variables)
        assert list(there.rows()) == list(here.rows())
    assert client.sparql("SELECT ?s { ?s ?p ?o }", max_rows=1).truncated
    answer = client.project("ask").run_query("status-timeline", entity="ADR-5")
    assert [row[0].value for row in answer.rows()] == ["Proposed"]
    receipt = client.update("INSERT DATA { GRAPH <urn:mine> { <urn:a> <urn:b> 1 } }", pid="ask")
    assert receipt.commit == client.commit_number


def test_errors_are_those_of_the_store(client: ClientPrism) -> None:
    project = client.project("wrong")
    one, other = (project.entity("ADR", {"title": "Use RDF"})["uuid"] for _ in range(2))
    project.reference(one, other, "SUPERSEDES")
    with pytest.raises(AmbiguousError) as several:
        project.state_as_of("Use RDF")
    assert len(several.value.candidates) == 2
    with pytest.raises(UnknownEntity, match="is called 'nobody'") as unknown:
        project.history("nobody")
    assert unknown.value.mend
    with pytest.raises(ValidationError) as refused:
        project.reference(other, one, "SUPERSEDES")
    assert refused.value.report[0].message
    with pytest.raises(BadQuery) as wrong:
        client.sparql("SELECT")
    assert wrong.value.line == 1
    with pytest.raises(BadArgument, match="no parameter 'day'"):
        project.run_query("stale-drafts", day=3)
    with pytest.raises(NotFoundError, match="no saved query"):
        project.run_query("orphan")
    with pytest.raises(RefusedError, match="not answered over HTTP"):
        list(client.changes(0))
    with pytest.raises(TypeError):
        project.history()  # type: ignore[call-arg]


def test_who_may_not_and_who_is_not_there(store: tuple[Prism, str, str]) -> None:
    with pytest.raises(UsageError) as wrong:
        connect(store[1], "nonsense")
    assert wrong.value.code == "unauthenticated"
    with pytest.raises(BusyError, match="does not answer"):
        connect("http://127.0.0.1:9", timeout=2)
    with pytest.raises(BadArgument, match="no address"):
        connect("localhost:8080")


def test_what_is_absent_and_what_is_posted_is_as_the_server_has_it() -> None:
    endpoints = {verb: each for (_, verb), each in all_endpoints().items()}
    elsewhere = {"sparql", "update", "queries", "run_query"}
    assert set(verbs.PRISM) | set(verbs.PROJECT) == set(endpoints) | ABSENT | elsewhere
    assert not set(endpoints) & ABSENT
    reads = {verb for verb, each in endpoints.items() if each.effect == "reads" and each.method == "POST"}
    assert reads == POSTED
