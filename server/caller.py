"""The client at the other end: whether it still waits, and how it is told that an answer cannot be completed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, MutableMapping
from typing import Any

from flask import request

from .mounting import AsgiApp, Message, Receive, Send

_KEY = "prism.gone"


class BrokenOff(Exception):
    """An answer that cannot be completed; why was logged where it broke."""


def client_gone() -> Callable[[], bool]:
    """Return a function that tells whether the client of this request has left; without a port nobody leaves."""
    gone: threading.Event | None = request.environ.get("asgi.scope", {}).get(_KEY)
    return gone.is_set if gone is not None else lambda: False


def watching(app: AsgiApp) -> AsgiApp:
    """Return the application with its requests watched: a body that breaks off raises, a client that leaves is noted.

    Otherwise half a body would pass for a whole one, and an answer would be made to its end for nobody.
    """

    async def called(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        watch = _Watch(receive)
        scope[_KEY] = watch.gone
        if not any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"]):
            await watch.begin()
        try:
            await app(scope, watch.receive, send)
        except BrokenOff:
            return  # before the end of the answer: the port breaks the connection
        finally:
            watch.end()

    return called


class _Watch:
    """The messages of one request, and whether its client has gone."""

    def __init__(self, receive: Receive) -> None:
        self.gone = threading.Event()
        self._receive = receive
        self._task: asyncio.Task[None] | None = None
        self._first: Message | None = None

    async def begin(self) -> None:
        """Take in the one message of a request without a body, which the application need not ask for."""
        self._first = await self.receive()

    async def receive(self) -> Message:
        if self._first is not None:
            message, self._first = self._first, None
            return message
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.gone.set()
            raise ConnectionAbortedError("the client left before the end of its request")
        if not message.get("more_body", False) and self._task is None:
            self._task = asyncio.create_task(self._look())
        return message

    async def _look(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.gone.set()

    def end(self) -> None:
        if self._task is not None:
            self._task.cancel()
