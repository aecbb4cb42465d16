"""One port for several applications: by prefix, each with its lifespan; what breaks off never passes for whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from prism_server.caller import watching
from prism_server.mounting import Mount, Router

Sent = list[MutableMapping[str, Any]]


def names(label: str) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body", False):
            pass
        text = f"{label} {scope.get('root_path', '')} {scope['path']}"
        await send({"type": "http.response.body", "body": text.encode()})

    return app


def talk(router: Any, scope: dict[str, Any], *messages: dict[str, Any]) -> Sent:
    sent: Sent = []
    waiting = list(messages)

    async def receive() -> dict[str, Any]:
        return waiting.pop(0)

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    asyncio.run(router(scope, receive, send))
    return sent


def request(path: str, query: bytes = b"") -> dict[str, Any]:
    return {"type": "http", "path": path, "raw_path": path.encode(), "query_string": query}


WHOLE = {"type": "http.request", "body": b"", "more_body": False}
ROUTER = Router(names("rest"), [Mount("/mcp", names("mcp")), Mount("/mcp/deep", names("deep"))])


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/mcp", b"mcp /mcp /mcp"),
        ("/mcp/x", b"mcp /mcp /mcp/x"),
        ("/mcp/deep/y", b"deep /mcp/deep /mcp/deep/y"),
        ("/mcpx", b"rest  /mcpx"),
        ("/", b"rest  /"),
    ],
)
def test_the_longest_prefix_of_whole_steps_decides(path: str, answer: bytes) -> None:
    assert [message["body"] for message in talk(ROUTER, request(path), WHOLE)] == [answer]


def test_a_url_that_is_no_ascii_is_refused_before_any_application() -> None:
    start, body = talk(ROUTER, request("/", b"query=\xff"), WHOLE)
    assert start["status"] == 400
    assert b"bad-request" in body["body"]


def test_a_body_that_breaks_off_is_no_body() -> None:
    part = {"type": "http.request", "body": b"<a> <b> ", "more_body": True}
    scope = {**request("/"), "headers": [(b"transfer-encoding", b"chunked")]}
    with pytest.raises(ConnectionAbortedError):
        talk(watching(names("rest")), scope, part, {"type": "http.disconnect"})


def test_a_client_that_leaves_is_noted_while_its_answer_is_made() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert not scope["prism.gone"].is_set()
        await asyncio.sleep(0.01)
        await send({"gone": scope["prism.gone"].is_set()})

    scope = {**request("/"), "headers": []}
    assert talk(watching(app), scope, WHOLE, {"type": "http.disconnect"}) == [{"gone": True}]


def test_lifespans_are_entered_and_left_in_order() -> None:
    seen: list[str] = []

    @asynccontextmanager
    async def living() -> AsyncIterator[None]:
        seen.append("begun")
        yield
        seen.append("ended")

    router = Router(names("rest"), [Mount("/mcp", names("mcp"), living), Mount("/other", names("other"))])
    sent = talk(router, {"type": "lifespan"}, {"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
    assert [message["type"] for message in sent] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert seen == ["begun", "ended"]


def test_a_lifespan_that_fails_says_why() -> None:
    @asynccontextmanager
    async def failing() -> AsyncIterator[None]:
        raise OSError("no room")
        yield

    sent: Sent = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "lifespan.startup"}

    with pytest.raises(OSError, match="no room"):
        asyncio.run(Router(names("rest"), [Mount("/mcp", names("mcp"), failing)])({"type": "lifespan"}, receive, send))
    assert sent == [{"type": "lifespan.startup.failed", "message": "OSError: no room"}]
