"""/health: one status per component; 200 when all are well, 503 with the reason when one is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask.testing import FlaskClient
from prism_server import create_app

from prism_rdf.prism import Prism
from prism_rdf.recall import LegHealth


def health(client: FlaskClient, status: int) -> dict[str, Any]:
    response = client.get("/health")
    assert response.status_code == status, response.text
    assert response.headers["Cache-Control"] == "no-store"
    return dict(json.loads(response.data))


def test_a_store_at_work(client: FlaskClient, prism: Prism) -> None:
    prism.project("demo").recall("graph")
    prism.project("other").recall("graph")
    components = health(client, 200)["components"]
    assert components["store"] == {"status": "ok", "commit": prism.commit_number, "projects": 2}
    assert components["lexical"]["status"] == "ok"
    assert components["lexical"]["behind"] == 0


def test_an_index_that_is_not_built_yet_is_no_illness() -> None:
    with Prism.in_memory() as prism:
        prism.project("demo").entity("ADR", {"number": "ADR-1", "title": "A", "status": "Accepted"})
        found = health(create_app(prism).test_client(), 200)
    assert found["status"] == "ok"
    assert found["components"]["lexical"]["status"] in ("ok", "absent")


def test_a_broken_index_is_named(client: FlaskClient, prism: Prism, monkeypatch: pytest.MonkeyPatch) -> None:
    sick = LegHealth("failed", None, "the index cannot be read")
    monkeypatch.setattr(type(prism.answering("demo")), "health", lambda self: sick)
    found = health(client, 503)
    assert found["status"] == "failed"
    assert found["components"]["store"]["status"] == "ok"
    assert "demo: the index cannot be read" in found["components"]["lexical"]["reason"]


def test_a_broken_store_is_named(prism: Prism, monkeypatch: pytest.MonkeyPatch) -> None:
    client = create_app(prism).test_client()

    def fail(self: Prism) -> list[str]:
        raise OSError("disk on fire")

    monkeypatch.setattr(Prism, "projects", fail)
    found = health(client, 503)
    assert "disk on fire" in found["components"]["store"]["reason"]
    assert "Traceback" not in json.dumps(found)
