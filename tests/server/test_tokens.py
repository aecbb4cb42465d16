"""Who is let in: by token or from this machine, within scopes, tier and rate; and what was written is noted."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from prism_server import create_app
from prism_server.app import guard_of
from prism_server.audit import FILE, Audit
from prism_server.tokens import Caller
from prism_server.tokens_rate import Rates

from prism_rdf.clock import Instant, ManualClock
from prism_rdf.prism import Prism

ADR = {"type_name": "ADR", "props": {"number": "ADR-1", "title": "A", "status": "Accepted"}}


class World:
    """A store in a folder, served to this machine and to others."""

    def __init__(self, home: Path) -> None:
        self.prism = Prism.open(home, exclusive=True)
        for pid in ("demo", "other"):
            self.prism.project(pid).entity("ADR", ADR["props"])  # type: ignore[arg-type]
        self.prism.project("demo").entity("ADR", {**ADR["props"], "number": "ADR-9"})  # type: ignore[dict-item]
        self.guard = guard_of(self.prism)
        self.apps = [create_app(self.prism, self.guard), create_app(self.prism, guard_of(self.prism, required=True))]
        self.here, self.remote = (app.test_client() for app in self.apps)

    def token(self, name: str, **options: Any) -> dict[str, str]:
        """Return the header of a new token."""
        _, secret = self.guard.tokens.create(name, **options)
        return {"Authorization": f"Bearer {secret}"}

    def audited(self) -> list[dict[str, Any]]:
        assert self.prism.folder is not None
        return [json.loads(line) for line in (self.prism.folder.path / FILE).read_text().splitlines()]

    def close(self) -> None:
        for app in self.apps:
            app.extensions["api"].close()
        self.prism.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("home"))
    yield made
    made.close()


LOCAL: dict[str, tuple[Mapping[str, str], int]] = {
    "a program of this machine": ({}, 200),
    "another of its names": ({"Host": "[::1]:8080"}, 200),
    "a page of this machine": ({"Origin": "http://localhost:3000"}, 200),
    "a link on a foreign page": ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
    "a foreign name of this machine": ({"Host": "rebound.example.org"}, 400),
    "a foreign page": ({"Origin": "https://evil.example.org"}, 403),
    "a page that hides its origin": ({"Origin": "null"}, 403),
    "a page whose name begins like ours": ({"Origin": "http://localhost.evil.example.org"}, 403),
    "an image on a foreign page": ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
    "a proxy": ({"X-Forwarded-For": "192.0.2.1"}, 401),
    "a proxy of the newer kind": ({"Forwarded": "for=192.0.2.1"}, 401),
    "a token that is none": ({"Authorization": "Bearer prism_nothing"}, 401),
    "no bearer": ({"Authorization": "Basic YTpi"}, 401),
    "two tokens": ({"Authorization": "Bearer a, Bearer b"}, 401),
    "an empty header": ({"Authorization": ""}, 401),
}
PATHS = (
    "/",
    "/sparql?query=ASK%20%7B%7D",
    "/api",
    "/api/-/projects",
    "/openapi.json",
    "/health",
    "/ready",
    "/metrics",
    "/jobs",
)


@pytest.mark.parametrize(("headers", "status"), LOCAL.values(), ids=LOCAL.keys())
def test_without_a_token_this_machine_is_answered(world: World, headers: Mapping[str, str], status: int) -> None:
    assert world.here.get("/api/-/projects", headers=headers).status_code == status


@pytest.mark.parametrize("path", [*PATHS, "/nothing", "/store?default"])
def test_elsewhere_every_request_carries_a_token(world: World, path: str) -> None:
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE"):
        response = world.remote.open(path, method=method)
        assert response.status_code == 401, method
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
    body = world.remote.get(path).json
    assert isinstance(body, dict)
    assert body["error"]["code"] == "unauthenticated"


def test_a_token_lets_in_from_everywhere_until_it_ends(world: World) -> None:
    header = world.token("ada", scopes=["read"])
    far = {**header, "Host": "prism.example.org", "X-Forwarded-For": "192.0.2.1", "Origin": "https://app.example.org"}
    for path in PATHS:
        assert world.remote.get(path, headers=far).status_code == 200, path
    world.guard.tokens.revoke("ada")
    assert world.remote.get("/health", headers=far).status_code == 401


def test_a_browser_may_ask_what_it_may_ask(world: World) -> None:
    asked = {"Origin": "https://app.example.org", "Access-Control-Request-Method": "POST"}
    response = world.remote.options("/sparql", headers=asked)
    assert response.status_code == 200
    assert response.data == b""


SCOPED: dict[str, tuple[str, str, str, dict[str, Any] | None]] = {
    "read a state": ("read", "GET", "/api/demo/state_as_of?entity=ADR-1", None),
    "query": ("read", "GET", "/sparql?query=ASK%20%7B%7D", None),
    "see the page": ("read", "GET", "/", None),
    "count": ("read", "GET", "/metrics", None),
    "check": ("read", "POST", "/api/demo/check", {}),
    "write an entity": ("write", "POST", "/api/demo/entity", ADR),
    "remember": ("write", "POST", "/api/demo/remember", {"content": "x"}),
    "rule": ("review", "POST", "/api/demo/review", {"candidate": "abcd", "decision": "promote", "reviewer": "a"}),
    "forget": ("admin", "POST", "/api/demo/forget", {"ref": "ADR-1", "dry_run": True}),
    "back up": ("admin", "POST", "/api/-/backup", {"name": "x"}),
    "export": ("admin", "POST", "/api/-/export", {}),
    "teach types": ("admin", "POST", "/api/demo/remove_types", {"file_name": "none.ttl"}),
}


@pytest.mark.parametrize(("scope", "method", "path", "body"), SCOPED.values(), ids=SCOPED.keys())
def test_what_takes_a_scope_names_it(
    world: World, scope: str, method: str, path: str, body: dict[str, Any] | None
) -> None:
    name = f"{method}-{'-'.join(re.findall('[a-z]+', path))}"
    lacking = world.token(f"no-{name}", scopes={"read", "write", "review"} - {scope})
    response = world.remote.open(path, method=method, json=body, headers=lacking)
    assert response.status_code == 403, response.text
    assert f'scope="{scope}"' in response.headers["WWW-Authenticate"]
    assert scope in response.text
    admin = world.token(f"admin-{name}", scopes=["admin"])
    assert world.remote.open(path, method=method, json=body, headers=admin).status_code not in (401, 403)


def test_a_token_claims_no_more_than_its_tier(world: World) -> None:
    guesses = world.token("extractor", scopes=["write", "read"], tier=3)
    fact = {"entity": "ADR-9", "property": "status", "value": "Rejected"}
    assert world.remote.post("/api/demo/fact", json={**fact, "tier": 1}, headers=guesses).status_code == 422
    told = world.remote.post("/api/demo/fact", json=fact, headers=guesses).json
    assert isinstance(told, dict), told
    assert "error" not in told, told
    assert len(told["candidates"]) == 1
    assert world.remote.post("/api/demo/entity", json=ADR, headers=guesses).status_code == 422
    agent = world.token("agent", scopes=["write"], tier=2)
    assert world.remote.post("/api/demo/fact", json={**fact, "tier": 1}, headers=agent).status_code == 422
    assert world.remote.post("/api/demo/fact", json={**fact, "tier": 2}, headers=agent).status_code == 200


def test_a_token_that_asks_too_often_waits(world: World) -> None:
    slow, other = world.token("slow", rate=12), world.token("other")
    answers = [world.remote.get("/api/-/projects", headers=slow) for _ in range(4)]
    assert [each.status_code for each in answers] == [200, 200, 429, 429]
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 5
    assert answers[-1].json["error"]["code"] == "too-many-requests"  # type: ignore[index]
    assert world.remote.get("/api/-/projects", headers=other).status_code == 200


def test_a_bucket_fills_again() -> None:
    now = [0.0]
    rates = Rates(lambda: now[0])
    assert [rates.wait("a", 60) for _ in range(11)] == [0] * 10 + [1]
    now[0] = 3.0
    assert [rates.wait("a", 60) for _ in range(4)] == [0, 0, 0, 1]


def test_writes_are_noted_and_tokens_never(world: World) -> None:
    header = world.token("scribe", scopes=["write"])
    secret = header["Authorization"].removeprefix("Bearer ")
    made = world.remote.post("/api/demo/remember", json={"content": f"my token is {secret}"}, headers=header).json
    refused = world.remote.post("/api/demo/entity", json={"type_name": "Nope", "props": {"a": "b"}}, headers=header)
    world.here.post("/api/demo/remember", json={"content": "by hand"})
    assert isinstance(made, dict)
    *_, one, two, three = world.audited()
    assert (one["who"], one["verb"], one["pid"], one["commit"], one["status"]) == (
        "scribe",
        "remember",
        "demo",
        made["commit"],
        200,
    )
    assert (two["verb"], two["commit"], two["status"]) == ("entity", None, refused.status_code)
    assert (three["who"], three["token"]) == ("local", None)
    assert world.prism.folder is not None
    file = world.prism.folder.path / FILE
    assert secret not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_log_of_writes_is_bounded(tmp_path: Path) -> None:
    audit = Audit(tmp_path, ManualClock(Instant.parse("2026-01-01T00:00:00Z")), largest=1_000)
    for number in range(200):
        audit.note(Caller("ada"), "fact", "demo", number)
    files = sorted(tmp_path.iterdir())
    assert 2 <= len(files) <= 6
    assert all(file.stat().st_size < 1_200 for file in files)
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert max(line["commit"] for line in lines) == 199
