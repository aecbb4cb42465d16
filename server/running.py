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
    from prism_rdf import Prism

    from .tokens import Guard

_THREADS = 16
_LONGEST_URL = 1 << 18  # bytes, with the headers; a query may stand in it
_GRACE = 5  # seconds for answers that were begun when the server is told to stop


def asgi_app(prism: Prism, mounts: Sequence[Mount] = (), guard: Guard | None = None) -> AsgiApp:
    """Return the application of the whole port: the Flask application, beside what else is mounted on it."""
    from a2wsgi import WSGIMiddleware

    flask = WSGIMiddleware(_with_chunked_bodies(create_app(prism, guard)), workers=_THREADS)
    return Router(watching(flask), mounts)


def serve(prism: Prism, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then return; ``announce`` is called with the URL once requests are taken.

    ``port`` 0 takes any free port. Raises RefusedError for an address other machines could reach, BusyError for a
    port in use. The caller closes the store.
    """
    import uvicorn

    address = _loopback(host)
    listener = _listener(address, port)
    url = f"http://{'[::1]' if ':' in address else address}:{listener.getsockname()[1]}/"

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                announce(url)

    guard = guard_of(prism)
    config = uvicorn.Config(
        asgi_app(prism, [mcp_mount(prism, guard)], guard),
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
    try:
        listener.bind((address, port))
        listener.listen(128)  # a port that another one listens on is found out here at the latest
    except OSError as error:
        listener.close()
        raise _cannot_listen(address, port, error) from error
    return listener


def _loopback(host: str) -> str:
    if not is_loopback(host):
        raise RefusedError(
            f"will not listen on {host!r}",
            rule="there are no tokens yet, so only this machine may connect: 127.0.0.1, ::1 or localhost",
            mend="leave --host out, and reach it from elsewhere through an SSH tunnel",
        )
    return LOCALHOST if host == "localhost" else host


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
