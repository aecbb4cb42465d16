"""What goes around an answer: validators, gzip, HEAD, streams, cut answers, pages of other sites, times of Memento."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
from flask.testing import FlaskClient
from prism_server import create_app, responding
from prism_server.caller import BrokenOff
from pyoxigraph import RdfFormat, parse

from prism_rdf.clock import Instant, ManualClock
from prism_rdf.datasets import QueryAnswer
from prism_rdf.errors import QueryTimeout
from prism_rdf.prism import Prism

NUMBERS = "SELECT ?number { ?adr a type:ADR ; prism:number ?number } ORDER BY ?number"
LONG = "SELECT ?a { VALUES ?a { " + " ".join(map(str, range(2000))) + " } }"
ADR = {"title": "A", "status": "Accepted"}


def get(client: FlaskClient, query: str = NUMBERS, headers: dict[str, str] | None = None, **options: str) -> Any:
    given = {name.replace("_", "-"): value for name, value in options.items()}
    return client.get("/sparql", query_string={"query": query, **given}, headers=headers or {})


def test_what_did_not_change_is_not_sent_again() -> None:
    with Prism.in_memory() as prism:
        demo, client = prism.project("demo"), create_app(prism).test_client()
        demo.entity("ADR", {"number": "ADR-1", **ADR})
        first = get(client)
        known = {"If-None-Match": first.headers["ETag"]}
        again = get(client, headers=known)
        assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
        assert get(client, headers=known, format="csv").status_code == 200
        assert get(client, headers=known, as_of="2020").status_code == 200
        assert get(client, query=NUMBERS + " LIMIT 9", headers=known).status_code == 200
        demo.entity("ADR", {"number": "ADR-2", **ADR})
        changed = get(client, headers=known)
        assert changed.status_code == 200
        assert "ADR-2" in changed.text


def test_what_begins_by_time_alone_is_sent_again() -> None:
    clock = ManualClock(Instant.parse("2026-01-01T00:00:00Z"))
    with Prism.in_memory(clock=clock) as prism:
        client = create_app(prism).test_client()
        prism.project("demo").entity("ADR", {"number": "ADR-1", **ADR}, valid_from="2026-01-10")
        first = get(client)
        clock.advance(days=5)
        assert get(client, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
        clock.advance(days=5)
        begun = get(client, headers={"If-None-Match": first.headers["ETag"]})
        assert begun.status_code == 200
        assert "ADR-1" in begun.text


@pytest.mark.parametrize(
    "query", ["SELECT (NOW() AS ?n) {}", "SELECT (rand() AS ?n) {}", "SELECT (STRUUID () AS ?n) {}"]
)
def test_what_is_another_answer_each_time_has_no_tag(client: FlaskClient, query: str) -> None:
    response = get(client, query)
    assert "ETag" not in response.headers
    assert response.headers["Cache-Control"] == "no-store"


def test_gzip_for_those_who_take_it(client: FlaskClient) -> None:
    plain, packed = get(client, LONG), get(client, LONG, {"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert len(packed.data) < len(plain.data) / 3
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert packed.headers["ETag"] != plain.headers["ETag"]
    assert "Content-Encoding" not in get(client, LONG, {"Accept-Encoding": "gzip;q=0"}).headers
    assert "Content-Encoding" not in get(client, "ASK {}", {"Accept-Encoding": "gzip"}).headers


def test_head_is_get_without_a_body(client: FlaskClient) -> None:
    whole, head = get(client), client.head("/sparql", query_string={"query": NUMBERS})
    assert head.data == b""
    for name in ("Content-Length", "Content-Type", "ETag", "Prism-Commit"):
        assert head.headers[name] == whole.headers[name]


def test_a_long_answer_is_a_stream(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = get(client, LONG)
    monkeypatch.setattr(responding, "BUFFER", 1)
    streamed = get(client, LONG)
    assert "Content-Length" not in streamed.headers
    assert streamed.data == whole.data
    assert gzip.decompress(get(client, LONG, {"Accept-Encoding": "gzip"}).data) == whole.data


@pytest.mark.parametrize(("failure", "seen"), [(QueryTimeout("too long"), BrokenOff), (RuntimeError("defect"), None)])
def test_a_stream_that_fails_is_broken_and_says_nothing_in_its_body(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, failure: Exception, seen: type[Exception] | None
) -> None:
    def failing(self: QueryAnswer, form: str) -> Iterator[bytes]:
        yield b"x" * (responding.BUFFER + 1)
        raise failure

    monkeypatch.setattr(QueryAnswer, "stream", failing)
    with pytest.raises(seen or type(failure)):
        _ = get(client).data


def test_a_cut_answer_says_so(client: FlaskClient) -> None:
    found = get(client, max_rows="1")
    assert found.headers["Prism-Truncated"] == "true"
    answer = json.loads(found.data)
    assert answer["head"]["link"] == ["https://w3id.org/prism-rdf/ns#truncated"]
    assert len(answer["results"]["bindings"]) == 1
    for name in ("xml", "csv", "tsv"):
        cut = get(client, format=name, max_rows="1")
        assert cut.headers["Prism-Truncated"] == "true"
        assert ("<!-- cut" in cut.text) == (name == "xml")
    for name, form in {"ttl": RdfFormat.TURTLE, "nt": RdfFormat.N_TRIPLES, "rdf": RdfFormat.RDF_XML}.items():
        graph = get(client, "CONSTRUCT WHERE { ?s prism:number ?o }", format=name, max_rows="2")
        assert "cut: there is more" in graph.text
        assert len(list(parse(io.BytesIO(graph.data), form))) == 2
    assert "Prism-Truncated" not in get(client, max_rows="3").headers


def test_pages_of_this_machine_and_pages_with_a_token_may_read(client: FlaskClient) -> None:
    near = get(client, headers={"Origin": "http://localhost:3000"})
    assert near.headers["Access-Control-Allow-Origin"] == "http://localhost:3000"
    assert "Memento-Datetime" in near.headers["Access-Control-Expose-Headers"]
    assert "Origin" in near.headers["Vary"]
    assert "Access-Control-Allow-Origin" not in get(client, headers={"Origin": "https://example.org"}).headers
    beforehand = client.options(
        "/sparql", headers={"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    )
    assert beforehand.status_code == 200
    assert beforehand.headers["Access-Control-Allow-Origin"] == "https://example.org"
    assert "Authorization" in beforehand.headers["Access-Control-Allow-Headers"]
    assert "POST" in beforehand.headers["Access-Control-Allow-Methods"]


def test_a_time_may_come_as_a_header(client: FlaskClient) -> None:
    asked = format_datetime(datetime(2025, 10, 15, 12, tzinfo=UTC), usegmt=True)
    then = get(client, headers={"Accept-Datetime": asked}, pid="demo")
    assert "ADR-001" in then.text
    assert then.headers["Memento-Datetime"] == asked
    assert then.headers["Prism-As-Of"] == "2025-10-15T12:00:00Z"
    assert "Accept-Datetime" in then.headers["Vary"]
    memento = then.headers["Content-Location"]
    assert client.get(memento).data == then.data
    assert client.get(memento).headers["Memento-Datetime"] == asked
    assert 'rel="original timegate"' in then.headers["Link"]
    now = get(client, pid="demo")
    assert "Memento-Datetime" not in now.headers
    original = now.headers["Link"].split(">")[0].strip("<")
    assert client.get(original).data == now.data


def test_a_parameter_goes_before_the_header_and_a_bad_header_is_told(client: FlaskClient) -> None:
    asked = {"Accept-Datetime": "Wed, 15 Oct 2025 12:00:00 GMT"}
    assert get(client, headers=asked, as_of="2024").headers["Prism-As-Of"].startswith("2024-12-31")
    bad = get(client, headers={"Accept-Datetime": "yesterday"})
    assert bad.status_code == 400
    assert json.loads(bad.data)["error"]["code"] == "bad-time"
