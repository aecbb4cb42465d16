"""Running the application on this machine with waitress until it is told to stop."""

from __future__ import annotations

import errno
import signal
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from prism_rdf.errors import BusyError, RefusedError

from .app import create_app
from .loopback import LOCALHOST, is_loopback

if TYPE_CHECKING:
    from prism_rdf import Prism

_THREADS = 4
_LARGEST_BODY = 1 << 20  # bytes; a query is text


def serve(prism: Prism, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then return; ``announce`` is called with the URL once requests are taken.

    ``port`` 0 takes any free port. Raises RefusedError for an address other machines could reach, BusyError for a
    port in use. The caller closes the store.
    """
    from waitress.server import create_server

    address = _loopback(host)
    try:
        server = create_server(
            create_app(prism),
            host=address,
            port=port,
            threads=_THREADS,
            ident="prism",
            max_request_body_size=_LARGEST_BODY,
            clear_untrusted_proxy_headers=True,
        )
    except OSError as error:
        raise _cannot_listen(address, port, error) from error
    before = {number: signal.signal(number, _stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        announce(f"http://{'[::1]' if ':' in address else address}:{server.effective_port}/")
        server.run()
    finally:
        server.close()
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


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
