"""A token of one project tries to see or change another one by every door: each attempt is refused or finds nothing.

The attempts are data: tests/cases/escapes/attempts.json. What is between « and » is filled in from the store.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prism_server import create_app
from prism_server.app import guard_of
from werkzeug.test import TestResponse

from prism_rdf.prism import Prism
from prism_rdf.updating import loading

ATTEMPTS = json.loads((Path(__file__).parents[1] / "cases" / "escapes" / "attempts.json").read_text("utf-8"))
CANARIES = ("TOPSECRET-", "TOPSECRET title", "urn:elsewhere", "/secret/", '"secret"')
OWN = "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"


class Prison:
    """A store of two projects, and a token that reaches one of them with every scope."""

    def __init__(self, home: Path) -> None:
        self.prism = Prism.open(home, exclusive=True)
        base = self.prism.base
        mine, secret = self.prism.project("mine"), self.prism.project("secret")
        own = mine.entity("ADR", {"number": "ADR-1", "title": "Ours", "status": "Accepted"}, valid_from="2025")
        mine.remember("ADR-1 is our plan.")
        hidden = secret.entity(
            "ADR", {"number": "TOPSECRET-1", "title": "TOPSECRET title", "status": "Accepted"}, valid_from="2025"
        )
        secret.remember("The plan of TOPSECRET-1.")
        notes = 'INSERT DATA {{ GRAPH <{}/free/notes> {{ <urn:a> <urn:b> "{}" }} }}'
        self.prism.update(notes.format(f"{base}/secret", "TOPSECRET-free"))
        self.prism.update(
            'INSERT DATA { GRAPH <urn:elsewhere:notes> { <urn:a> <urn:b> "TOPSECRET-foreign" } }', pid="secret"
        )
        self.prism.update(notes.format(f"{base}/mine", "ours"), pid="mine")
        mine.recall("plan")
        secret.recall("plan")
        guard = guard_of(self.prism, required=True)
        self.app = create_app(self.prism, guard)
        self.client = self.app.test_client()
        options: dict[str, Any] = {"scopes": ["admin"], "rate": 100_000}
        _, bound = guard.tokens.create("bound", namespaces=["mine"], **options)
        _, warden = guard.tokens.create("warden", **options)
        self.bound, self.warden = ({"Authorization": f"Bearer {secret}"} for secret in (bound, warden))
        job = self.client.post("/api/secret/check", headers=self.warden).json
        seen = self.client.get("/sparql", query_string={"query": "SELECT * { ?s ?p ?o }"}, headers=self.warden)
        assert isinstance(job, dict)
        assert "TOPSECRET" in seen.text
        blame = secret.blame(hidden["uuid"], "title")
        self.facts = {
            "base": base,
            "own": own["entity"],
            "secret": hidden["entity"],
            "uuid": hidden["uuid"],
            "state": secret.state_as_of(hidden["uuid"])["state"],
            "event": blame["events"][0]["event"],
            "commit": str(self.prism.commit_number),
            "job": job["id"],
            "etag": seen.headers["ETag"],
        }

    def hidden(self) -> str:
        """Return all that the other project holds, and what it is made of."""
        text = self.prism.export(format="nquads")["text"]
        assert isinstance(text, str)
        return "\n".join(sorted(line for line in text.splitlines() if "/secret/" in line or "elsewhere" in line))

    def filled(self, case: dict[str, Any]) -> str:
        """Return an attempt with what only the store knows."""
        text = json.dumps(case, ensure_ascii=False)
        for name, value in self.facts.items():
            text = text.replace(f"«{name}»", json.dumps(value)[1:-1])
        assert "«" not in text
        return text

    def attempt(self, case: dict[str, Any]) -> TestResponse:
        filled = json.loads(self.filled(case))
        return self.client.open(
            filled["path"],
            method=filled["method"],
            query_string=filled.get("query"),
            data=filled.get("form") or filled.get("body"),
            json=filled.get("json"),
            content_type=filled.get("type"),
            headers={**filled.get("headers", {}), **self.bound},
        )

    def over(self, begun: TestResponse) -> dict[str, Any]:
        """Return a job once it is over."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            job = self.client.get(begun.headers["Location"], headers=self.bound).json
            assert isinstance(job, dict)
            if job["state"] not in ("queued", "running"):
                self.client.delete(begun.headers["Location"], headers=self.bound)
                return job
            time.sleep(0.005)
        raise AssertionError("the job did not end")

    def close(self) -> None:
        self.app.extensions["api"].close()
        self.prism.close()


@pytest.fixture(scope="module")
def prison(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prison]:
    made = Prison(tmp_path_factory.mktemp("home"))
    yield made
    made.close()


def test_there_are_attempts() -> None:
    assert len(ATTEMPTS) >= 150
    assert len({case["name"] for case in ATTEMPTS}) == len(ATTEMPTS)


@pytest.mark.parametrize("case", ATTEMPTS, ids=[case["name"] for case in ATTEMPTS])
def test_no_attempt_succeeds(prison: Prison, case: dict[str, Any]) -> None:
    before = prison.hidden()
    response = prison.attempt(case)
    assert response.status_code < 500, response.text
    assert response.status_code != 304, "it tells what another one sees"
    if response.status_code == 202:
        assert prison.over(response)["state"] == "failed"  # a job finds nothing to do
    asked = prison.filled(case).replace(r"\\u002F", "/")  # who writes by codes is told what they stand for
    for canary in CANARIES:
        if canary not in asked:
            assert canary not in f"{response.headers}{response.text}", response.text
        elif response.status_code < 400:  # an error may repeat what was asked
            assert canary not in response.text, response.text
    assert prison.hidden() == before
    own = prison.client.get("/sparql", query_string={"query": OWN}, headers=prison.bound)
    assert own.status_code == 200
    assert [canary for canary in CANARIES if canary in own.text] == []


PAIRS = {
    "FROM": "SELECT * FROM <{}> {{ ?s ?p ?o }}",
    "GRAPH": "SELECT * {{ GRAPH <{}> {{ ?s ?p ?o }} }}",
    "INSERT DATA": "INSERT DATA {{ GRAPH <{}> {{ <urn:x> <urn:y> 1 }} }}",
    "DROP": "DROP GRAPH <{}>",
    "CREATE": "CREATE GRAPH <{}>",
    "COPY": "COPY <{}> TO <urn:prism:default/mine/free/notes>",
    "store": "",
}


@pytest.mark.parametrize(("door", "text"), PAIRS.items(), ids=PAIRS.keys())
def test_what_is_there_is_answered_as_what_is_not(prison: Prison, door: str, text: str) -> None:
    base = prison.facts["base"]
    for there, not_there in ((f"{base}/secret/free/notes", f"{base}/secret/free/nones"), ("urn:elsewhere:notes",) * 2):
        answers = []
        for iri in (there, not_there if not_there != there else "urn:elsewhere:nones"):
            query = {"graph": iri} if door == "store" else {"query" if "SELECT" in text else "update": text.format(iri)}
            if "update" in query:
                response = prison.client.post("/sparql", data=query, headers=prison.bound)
            else:
                path = "/store" if door == "store" else "/sparql"
                response = prison.client.get(path, query_string=query, headers=prison.bound)
            answers.append((response.status_code, response.text.replace(iri, "IRI")))
        assert answers[0] == answers[1]


@pytest.mark.parametrize("few", [10_000, 1], ids=["few", "many"])
@pytest.mark.parametrize("headers", [{}, {"If-Match": "*"}, {"If-None-Match": "*"}], ids=lambda each: "".join(each))
def test_a_graph_that_is_there_is_written_as_one_that_is_not(
    prison: Prison, monkeypatch: pytest.MonkeyPatch, few: int, headers: dict[str, str]
) -> None:
    monkeypatch.setattr(loading, "_FEW", few)
    base, before = prison.facts["base"], prison.hidden()
    for stem in (f"{base}/secret/free/no", "urn:elsewhere:no"):
        for method in ("PUT", "POST", "DELETE"):
            answers = []
            for graph in (f"{stem}tes", f"{stem}nes"):
                response = prison.client.open(
                    "/store",
                    method=method,
                    query_string={"graph": graph},
                    data="<urn:a> <urn:b> 1, 2, 3 .",
                    content_type="text/turtle",
                    headers={**headers, **prison.bound},
                )
                answers.append((response.status_code, response.text.replace(graph, "IRI")))
            assert answers[0] == answers[1]
            assert answers[0][0] in (404, 412, 422)
    assert prison.hidden() == before


def test_a_condition_holds_by_what_one_saw_oneself(prison: Prison) -> None:
    path, sent = f"/store?graph={prison.facts['base']}/mine/free/notes", {"data": "", "content_type": "text/turtle"}
    tags = [prison.client.get(path, headers=who).headers["ETag"] for who in (prison.warden, prison.bound)]
    codes = [prison.client.post(path, headers={**prison.bound, "If-Match": tag}, **sent).status_code for tag in tags]
    assert codes == [412, 204]


def test_names_that_are_taken_there_are_free_here(prison: Prison) -> None:
    given = {"type_name": "ADR", "props": {"number": "TOPSECRET-1", "title": "TOPSECRET title", "status": "Accepted"}}
    made = prison.client.post("/api/mine/entity", json=given, headers=prison.bound)
    assert made.status_code == 200
    assert made.json is not None
    assert made.json["notes"] == []
    assert prison.client.post("/api/mine/retract", json={"event": "x"}, headers=prison.bound).status_code == 404
