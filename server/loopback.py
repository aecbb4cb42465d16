"""Which names and addresses are this machine's own: the only ones to listen on, and to be called by."""

from __future__ import annotations

import ipaddress

LOCALHOST = "127.0.0.1"


def is_loopback(host: str) -> bool:
    """Return whether only this machine can mean itself by this name or address, with or without brackets.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "[::1]", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False
