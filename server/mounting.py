"""One port for several applications: ASGI applications by path prefix, and the Flask application for all other paths.

What a request says is not judged here, except what no application could be told: a path or query that is no ASCII.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]  # frameworks each have types of their own


@dataclass(frozen=True)
class Mount:
    """An ASGI application at a path such as ``/mcp``; ``lifespan`` is entered before the first request, if given.

    Of a Starlette application that is ``partial(app.router.lifespan_context, app)``.
    """

    path: str
    app: AsgiApp
    lifespan: Callable[[], AbstractAsyncContextManager[Any]] | None = None


class Router:
    """The ASGI application of the whole port."""

    def __init__(self, rest: AsgiApp, mounts: Sequence[Mount] = ()) -> None:
        self._rest = rest
        self._mounts = tuple(sorted(mounts, key=lambda mount: len(mount.path), reverse=True))

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http" and not _is_ascii(scope):
            await _refuse(send)
        else:
            app, below = self._chosen(scope)
            await app(below, receive, send)

    def _chosen(self, scope: MutableMapping[str, Any]) -> tuple[AsgiApp, MutableMapping[str, Any]]:
        for mount in self._mounts:
            if scope["path"] == mount.path or scope["path"].startswith(f"{mount.path}/"):
                return mount.app, {**scope, "root_path": scope.get("root_path", "") + mount.path}
        return self._rest, scope

    async def _live(self, receive: Receive, send: Send) -> None:
        async with AsyncExitStack() as stack:
            await receive()
            try:
                for mount in self._mounts:
                    if mount.lifespan is not None:
                        await stack.enter_async_context(mount.lifespan())
            except Exception as error:
                await send({"type": "lifespan.startup.failed", "message": f"{type(error).__name__}: {error}"})
                raise
            await send({"type": "lifespan.startup.complete"})
            with suppress(asyncio.CancelledError):  # told twice to stop, the port does not wait for anything
                await receive()
        await send({"type": "lifespan.shutdown.complete"})


def _is_ascii(scope: Mapping[str, Any]) -> bool:
    return bool(scope["query_string"].isascii()) and bool(scope.get("raw_path", b"").isascii())


async def _refuse(send: Send) -> None:
    body = (
        b'{"error": {"code": "bad-request", "message": "the URL holds bytes that are no ASCII", "rule": "other '
        b'characters are written as %XX of their UTF-8", "mend": "encode the URL", "node": "", '
        b'"docs": "docs/errors.md#bad-request"}}\n'
    )
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})
