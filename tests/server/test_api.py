"""The JSON API: each verb answers as its method does, each wrong request is told what is wrong, long work is a job."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from flask import Flask
from flask.testing import FlaskClient
from prism_server import create_app
from prism_server.api.answers import SCHEMAS, answer_of
from prism_server.api.endpoints import ELSEWHERE, all_endpoints
from prism_server.api.examples import EXAMPLES
from werkzeug.test import TestResponse

from prism_rdf.owner import verbs
from prism_rdf.prism import Prism

ENDPOINTS = all_endpoints()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    with Prism.open(tmp_path_factory.mktemp("home"), exclusive=True) as prism:
        demo = prism.project("demo")
        for number, title in (("ADR-002", "Use tables"), ("ADR-003", "Use tables, again")):
            demo.entity("ADR", {"number": number, "title": title, "status": "Accepted"}, valid_from="2025-09-01")
        made = create_app(prism)
        yield made
        made.extensions["api"].close()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


def ask(client: FlaskClient, verb: str, given: Mapping[str, Any], pid: str = "demo", **headers: str) -> TestResponse:
    """Send a request for a verb as its table says."""
    endpoint = next(each for (_, name), each in ENDPOINTS.items() if name == verb)
    path = endpoint.path.replace("{pid}", pid)
    if endpoint.method == "GET":
        return client.get(path, query_string=given, headers=headers)
    return client.post(path, json=given, headers=headers)


def over(client: FlaskClient, begun: TestResponse) -> dict[str, Any]:
    """Return a job once it is over."""
    assert begun.status_code == 202, begun.text
    end = time.monotonic() + 30
    while time.monotonic() < end:
        job = client.get(begun.headers["Location"]).json
        assert isinstance(job, dict)
        if job["state"] not in ("queued", "running"):
            return job
        time.sleep(0.01)
    raise AssertionError(f"the job did not end: {job}")


def error_of(response: TestResponse) -> dict[str, Any]:
    body = json.loads(response.data)
    jsonschema.validate(body, SCHEMAS["Error"])
    return dict(body["error"])


def fits(value: Any, schema: Mapping[str, Any]) -> None:
    jsonschema.validate(value, {**schema, "components": {"schemas": dict(SCHEMAS)}})


def test_every_verb_has_a_route_or_a_better_place() -> None:
    placed = {verb for _, verb in ENDPOINTS}
    known = {*verbs.PRISM, *verbs.PROJECT}
    assert placed.isdisjoint(ELSEWHERE)
    assert placed | (known & set(ELSEWHERE)) == known, "a verb without a form in JSON is named in ELSEWHERE"


def test_every_verb_that_must_be_told_something_has_an_example() -> None:
    told = {
        verb
        for (_, verb), each in ENDPOINTS.items()
        if any(f.is_required() for f in each.request.model_fields.values())
    }
    assert len(told) >= 25
    assert told - set(EXAMPLES) == set(), "give it one in server/api/examples.py"


def test_the_examples_tell_a_story(client: FlaskClient) -> None:
    made, status, placed = {}, {}, {verb for _, verb in ENDPOINTS}
    for verb, given in EXAMPLES.items():
        if verb not in placed:
            continue  # not every release has it
        if verb in (
            "retract",
            "candidate",
            "review",
            "forget",
            "reindex",
            "backup",
            "add_types",
            "remove_types",
            "stop_query",
        ):
            continue  # they need what only a running store can name, or have tests of their own
        if verb == "discard":
            ask(client, "wip", {"entity": "ADR-002", "props": {"status": "Rejected"}})
        if verb == "unmerge":
            ask(client, "merge", {"duplicate": "ADR-003", "into": "ADR-002"})
        if verb == "revert":
            continue  # what the first commit made is referred to
        response = ask(client, verb, given)
        made[verb], status[verb] = response, response.status_code
    wrong = {verb: (number, made[verb].text) for verb, number in status.items() if number not in (200, 202)}
    assert wrong == {}
    assert len(made) >= 38
    for verb, response in made.items():
        endpoint = next(each for (_, name), each in ENDPOINTS.items() if name == verb)
        schema = {"$ref": "#/components/schemas/Job"} if endpoint.job else answer_of(verb, str(endpoint.returns))
        fits(response.json, schema)
        assert response.headers["Content-Type"].startswith("application/json"), verb


@pytest.mark.slow  # it starts a reasoner
def test_types_are_taught(client: FlaskClient) -> None:
    assert ask(client, "add_types", EXAMPLES["add_types"]).status_code == 200
    taught = ask(client, "add_types", {**EXAMPLES["add_types"], "dry_run": False})
    fits(taught.json, answer_of("add_types", ""))
    assert ask(client, "type_texts", {}).json == {"risks.ttl": EXAMPLES["add_types"]["text"]}
    removed = ask(client, "remove_types", EXAMPLES["remove_types"])
    fits(removed.json, answer_of("remove_types", ""))


def test_a_state_is_what_the_method_says(client: FlaskClient) -> None:
    state = ask(client, "state_as_of", {"entity": "ADR-002", "as-of": "2025-10-30"}).json
    assert isinstance(state, dict)
    assert state["props"]["title"] == "Use tables"
    assert state["as_of"] == "2025-10-30T23:59:59.999999Z"


WRONG: dict[str, tuple[str, dict[str, Any], int, str]] = {
    "field that is none": ("fact", {"entity": "ADR-002", "property": "status", "value": 1, "x": 1}, 400, "'x'"),
    "field that is missing": ("fact", {"entity": "ADR-002", "value": "x"}, 400, "property"),
    "number for a text": ("fact", {"entity": 5, "property": "status", "value": "x"}, 400, "entity"),
    "boolean for a tier": ("fact", {"entity": "e", "property": "p", "value": "x", "tier": True}, 400, "tier"),
    "tier that is none": ("fact", {"entity": "e", "property": "p", "value": "x", "tier": 4}, 400, "tier"),
    "object for a value": ("fact", {"entity": "e", "property": "p", "value": {"a": 1}}, 400, "value"),
    "number too large": ("fact", {"entity": "e", "property": "p", "value": 10**30}, 400, "value"),
    "null in a list": ("fact", {"entity": "e", "property": "p", "value": [None]}, 400, "value"),
    "text with a NUL": ("remember", {"content": "a\x00b"}, 400, "content"),
    "time that is none": (
        "fact",
        {"entity": "ADR-002", "property": "status", "value": "x", "valid_from": "soon"},
        400,
        "",
    ),
    "time without a zone": ("state_as_of", {"entity": "ADR-002", "as-of": "2025-10-30T12:00:00"}, 400, "zone"),
    "parameter that is none": ("state_as_of", {"entity": "ADR-002", "as_of": "2025"}, 400, "as_of"),
    "limit beyond what is given": ("log", {"limit": "10001"}, 400, "limit"),
    "limit beyond all numbers": ("log", {"limit": "9223372036854775807"}, 400, "limit"),
    "limit that is none": ("list_entities", {"limit": "many"}, 400, "limit"),
    "word for a boolean": ("recall", {"text": "x", "explain": "maybe"}, 400, "explain"),
    "project that is none": ("entity", {"type_name": "ADR", "props": {}}, 400, ""),
    "entity that is unknown": ("history", {"entity": "ADR-404"}, 404, "ADR-404"),
    "type that is unknown": ("entity", {"type_name": "Nope", "props": {"title": "x"}}, 404, "Nope"),
    "commit that is unknown": ("system_time", {"known-at": "9999"}, 404, "9999"),
    "property that is undeclared": ("fact", {"entity": "ADR-002", "property": "colour", "value": "red"}, 422, ""),
    "kind that is none": ("alias", {"surface_form": "x", "entity": "ADR-002", "kind": "pet name"}, 400, "kind"),
    "backup outside of its folder": ("backup", {"name": "../x"}, 400, "name"),
    "backup with a path": ("backup", {"target": "/etc/x"}, 400, "target"),
    "export with a path": ("export", {"target": "/etc/x"}, 400, "target"),
    "export of no project": ("export", {"pid": "nothing"}, 404, "nothing"),
    "mark that is none": ("retire", {"entity": "ADR-002", "level": 9}, 400, "level"),
}


@pytest.mark.parametrize(("verb", "given", "status", "names"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_request_is_told_what_is_wrong(
    client: FlaskClient, verb: str, given: dict[str, Any], status: int, names: str
) -> None:
    before = client.get("/api/-/commit_number").json
    response = ask(client, verb, given)
    assert response.status_code == status, response.text
    error = error_of(response)
    assert names in error["message"]
    assert error["rule"]
    assert error["mend"]
    assert client.get("/api/-/commit_number").json == before


BODIES: dict[str, tuple[bytes, str, int]] = {
    "not JSON": (b"{", "application/json", 400),
    "not UTF-8": (b'{"entity": "\xff"}', "application/json", 400),
    "a list": (b"[]", "application/json", 400),
    "a name twice": (b'{"entity": "a", "entity": "b"}', "application/json", 400),
    "no number": (b'{"value": NaN}', "application/json", 400),
    "very deep": (b"[" * 100_000, "application/json", 400),
    "many digits": (b'{"value": ' + b"9" * 10_000 + b"}", "application/json", 400),
    "half a character": (b'{"entity": "\\ud83d", "property": "status", "value": "x"}', "application/json", 400),
    "of another type": (b"entity=a", "application/x-www-form-urlencoded", 415),
    "of no type": (b"{}", "", 415),
}


@pytest.mark.parametrize(("body", "media", "status"), BODIES.values(), ids=BODIES.keys())
def test_a_body_that_is_no_object_is_refused(client: FlaskClient, body: bytes, media: str, status: int) -> None:
    response = client.post("/api/demo/fact", data=body, content_type=media)
    assert response.status_code == status
    assert error_of(response)["mend"]


ROUTES: dict[str, tuple[str, str, int]] = {
    "GET of what writes": ("GET", "/api/demo/fact", 405),
    "POST of what reads": ("POST", "/api/demo/history", 405),
    "PUT": ("PUT", "/api/demo/fact", 405),
    "verb that is none": ("GET", "/api/demo/nothing", 404),
    "verb of the engine": ("GET", "/api/demo/who", 404),
    "part of the engine": ("POST", "/api/-/commit", 404),
    "verb of the store in a project": ("GET", "/api/demo/projects", 404),
    "project that is none": ("GET", "/api/nothing/list_types", 404),
    "name that is none": ("GET", "/api/a%20b/list_types", 400),
    "argument in the URL of a POST": ("POST", "/api/demo/fact?entity=a", 400),
    "job that is none": ("GET", "/jobs/0", 404),
    "file of no job": ("GET", "/jobs/0/file", 404),
}


@pytest.mark.parametrize(("method", "path", "status"), ROUTES.values(), ids=ROUTES.keys())
def test_a_route_that_is_none(client: FlaskClient, method: str, path: str, status: int) -> None:
    response = client.open(path, method=method)
    assert response.status_code == status
    assert error_of(response)["rule"]
    assert ("Allow" in response.headers) == (status == 405)


def test_the_same_key_writes_once(client: FlaskClient) -> None:
    given = {"content": "Said once.", "source": "chat-9#1"}
    first = ask(client, "remember", given, **{"Idempotency-Key": "k1"}).json
    again = ask(client, "remember", given, **{"Idempotency-Key": "k1"}).json
    assert isinstance(first, dict)
    assert isinstance(again, dict)
    assert (again["commit"], again["replayed"]) == (first["commit"], True)
    other = ask(client, "remember", {**given, "content": "Said twice."}, **{"Idempotency-Key": "k1"})
    assert other.status_code == 409
    both = ask(client, "remember", {**given, "idempotency_key": "k2"}, **{"Idempotency-Key": "k1"})
    assert both.status_code == 400
    assert ask(client, "remember", given, **{"Idempotency-Key": "k" * 300}).status_code == 400


def test_what_yields_is_cut_and_says_so(client: FlaskClient) -> None:
    whole = ask(client, "log", {"limit": "1000"})
    cut = ask(client, "log", {"limit": "1"})
    assert "Prism-Truncated" not in whole.headers
    assert isinstance(whole.json, list)
    assert (cut.headers["Prism-Truncated"], cut.json) == ("1", whole.json[:1])


def test_long_work_is_a_job(client: FlaskClient) -> None:
    checked = over(client, ask(client, "check", {}))
    assert (checked["state"], checked["result"], checked["error"]) == ("done", [], None)
    fits(checked, {"$ref": "#/components/schemas/Job"})
    rebuilt = over(client, ask(client, "rebuild", {}))
    assert rebuilt["result"] == {"demo": 0}
    assert rebuilt["progress"]["done"] == rebuilt["progress"]["steps"] == 1
    assert over(client, ask(client, "reindex", {}))["state"] == "done"
    seen = over(client, ask(client, "forget", {"ref": "ADR-003", "dry_run": True}))
    assert seen["result"]["dry_run"] is True
    assert {job["verb"] for job in client.get("/jobs").json or []} >= {"check", "rebuild", "reindex", "forget"}


def test_a_job_that_fails_says_why(client: FlaskClient) -> None:
    failed = over(client, ask(client, "forget", {"ref": "ADR-404"}))
    assert failed["state"] == "failed"
    assert failed["error"]["code"] == "unknown-entity"
    ended = client.delete(f"/jobs/{failed['id']}")
    assert ended.status_code == 200
    assert client.get(f"/jobs/{failed['id']}").status_code == 404


def test_an_export_is_fetched_and_a_backup_lies_beside_the_store(client: FlaskClient, app: Flask) -> None:
    job = over(client, ask(client, "export", {"format": "nquads"}))
    assert job["result"]["file"] == f"/jobs/{job['id']}/file"
    assert "target" not in job["result"]
    with client.get(job["result"]["file"]) as file:
        assert file.headers["Content-Type"] == "application/n-quads"
        assert len(file.data.splitlines()) == job["result"]["quads"]
    saved = over(client, ask(client, "backup", {"name": "monday"}))
    assert saved["state"] == "done", saved
    folder = app.extensions["api"].prism.folder.path
    assert (folder.parent / saved["result"]["target"] / "backup.json").is_file()
    assert not Path(saved["result"]["target"]).is_absolute()
    again = over(client, ask(client, "backup", {"name": "monday"}))
    assert again["error"]["code"] == "refused"


def test_the_same_key_is_the_same_job(client: FlaskClient) -> None:
    first = ask(client, "check", {}, **{"Idempotency-Key": "j1"}).json
    assert isinstance(first, dict)
    assert (ask(client, "check", {}, **{"Idempotency-Key": "j1"}).json or {})["id"] == first["id"]
    assert ask(client, "rebuild", {}, **{"Idempotency-Key": "j1"}).status_code == 409


def test_the_description_names_every_route(client: FlaskClient) -> None:
    described = client.get("/openapi.json").json
    assert isinstance(described, dict)
    assert described["openapi"] == "3.1.0"
    assert {each.path for each in ENDPOINTS.values()} <= set(described["paths"])
    page = client.get("/api").text
    assert all(f"{each.method} {each.path}" in page for each in ENDPOINTS.values())
    for each in ENDPOINTS.values():
        operation = described["paths"][each.path][each.method.lower()]
        assert operation["summary"]
        assert {"400", "401", "403", "404", "422", "429"} <= set(operation["responses"])
