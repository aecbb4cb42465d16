"""Running the applications on this machine with uvicorn until it is told to stop; what they answer lives elsewhere."""

from __future__ import annotations

import errno
import signal
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from prism_rdf.errors import BusyError, RefusedError

from .agents import mcp_mount
from .app import create_app, guard_of
from .caller import watching
from .loopback import LOCALHOST, is_loopback
from .mounting import AsgiApp, Mount, Router

if TYPE_CHECKING:
    from flask import Flask

    from prism_rdf import Prism

    from .tokens import Guard

_THREADS = 16
_LONGEST_URL = 1 << 18  # bytes, with the headers; a query may stand in it
_GRACE = 5  # seconds for answers that were begun when the server is told to stop


def asgi_app(app: Flask, mounts: Sequence[Mount] = ()) -> AsgiApp:
    """Return the application of the whole port: the Flask application, beside what else is mounted on it."""
    from a2wsgi import WSGIMiddleware

    return Router(watching(WSGIMiddleware(_with_chunked_bodies(app), workers=_THREADS)), mounts)


def serve(prism: Prism, host: str, port: int, announce: Callable[[str], None], *, require_tokens: bool = False) -> None:
    """Serve until SIGTERM or SIGINT, then return; ``announce`` is called with the URL once requests are taken.

    ``port`` 0 takes any free port. At an address that other machines reach, every request has to carry a token, and
    with ``require_tokens`` at one of this machine too. Raises RefusedError for such an address while there is no token,
    BusyError for a port in use. The caller closes the store.
    """
    import uvicorn

    address = LOCALHOST if host == "localhost" else host
    guard = _guard(prism, address, require_tokens)
    listener = _listener(address, port)
    url = f"http://{'[::1]' if ':' in address else address}:{listener.getsockname()[1]}/"

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                announce(url)

    app = create_app(prism, guard)
    config = uvicorn.Config(
        asgi_app(app, [mcp_mount(prism, guard)]),
        http="h11",  # strict, and no slower where Flask answers
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=_LONGEST_URL,
        timeout_graceful_shutdown=_GRACE,
    )
    # uvicorn takes these signals while it runs and raises them again at its end: then they have done their work.
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with listener:
            Server(config).run(sockets=[listener])
    finally:
        app.extensions["api"].close()
        for number, handler in before.items():
            signal.signal(number, handler)


def _with_chunked_bodies(app: Callable[..., Any]) -> Callable[..., Any]:
    """Return the application told that the body of a request ends where it ends, with or without a Content-Length."""

    def called(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        environ["wsgi.input_terminated"] = True
        return app(environ, start_response)

    return called


def _listener(address: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else a body waits 40 ms for the head to be seen
    try:
        listener.bind((address, port))
        listener.listen(128)  # a port that another one listens on is found out here at the latest
    except OSError as error:
        listener.close()
        raise _cannot_listen(address, port, error) from error
    return listener


def _guard(prism: Prism, address: str, require_tokens: bool) -> Guard:
    """Return who lets requests in; raise RefusedError where each needs a token and there is none."""
    guard = guard_of(prism, required=require_tokens or not is_loopback(address))
    if guard.required and not guard.tokens.active():
        raise RefusedError(
            f"will not listen on {address!r} without a token",
            rule="other machines are answered only when they send a token, and there is none yet",
            mend="first: prism token create NAME; or leave --host out, so that only this machine is answered",
        )
    return guard


def _cannot_listen(host: str, port: int, error: OSError) -> BusyError | RefusedError:
    if error.errno == errno.EADDRINUSE:
        return BusyError(
            f"port {port} on {host} is in use",
            rule="one process listens on a port",
            mend="stop the other one, or choose a port with --port (0 takes any free one)",
        )
    return RefusedError(
        f"cannot listen on {host} port {port}: {error.strerror}",
        rule="the port must be one this user may listen on",
        mend="choose one above 1023 with --port",
    )
