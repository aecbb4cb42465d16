"""Who asks a query, and whether they still want the answer; what is done about it is the pool's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Client:
    """Who asks, in words; ``gone`` tells whether nobody waits for the answer any more.

    ``confined``: who asks reaches some projects of the store alone.
    """

    who: str
    gone: Callable[[], bool]
    confined: bool = False


_CLIENT: ContextVar[Client | None] = ContextVar("client", default=None)


@contextmanager
def asked_by(who: str, gone: Callable[[], bool] = lambda: False, *, confined: bool = False) -> Iterator[None]:
    """Have the queries within be asked by ``who``; ``gone`` is looked at a few times a second while one runs."""
    token = _CLIENT.set(Client(who, gone, confined))
    try:
        yield
    finally:
        _CLIENT.reset(token)


def named() -> Client | None:
    """Return who asks now, where somebody was named."""
    return _CLIENT.get()


def client() -> Client:
    """Return who asks now: this process, unless somebody else was named."""
    return named() or Client(f"process {os.getpid()}", lambda: False)
