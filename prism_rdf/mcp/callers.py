"""Who asks through MCP, and what they may: the one place where projects, tier and scopes of a connection come in.

Nothing is looked up here: the command line says it for stdio, and whoever mounts the door says it for HTTP.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, get_args

from prism_rdf.errors import RefusedError
from prism_rdf.model import Tier

Scope = Literal["read", "write", "review", "admin"]
ALL: frozenset[Scope] = frozenset(get_args(Scope))
READ_ONLY: frozenset[Scope] = frozenset({"read"})


@dataclass(frozen=True)
class Caller:
    """One connection: ``agent`` is who speaks, ``pid`` the project meant when a call names none.

    ``tier`` is the highest that may be claimed, ``pids`` the projects that may be seen (None: all of the tenant), and
    ``forgets`` whether something may be removed for good, which also takes the scope admin.
    """

    agent: str = ""
    pid: str = ""
    tier: Tier = 1
    scopes: frozenset[Scope] = ALL
    pids: frozenset[str] | None = None
    forgets: bool = False

    def sees(self, pid: str) -> bool:
        """Return whether the connection may see a project."""
        return self.pids is None or pid in self.pids

    def may(self, needed: Scope) -> bool:
        """Return whether the connection has a scope; admin has all."""
        return needed in self.scopes or "admin" in self.scopes

    def check(self, needed: Scope) -> None:
        """Raise RefusedError where the connection lacks a scope."""
        if not self.may(needed):
            raise RefusedError(
                f"this connection may not {needed}: it has {', '.join(sorted(self.scopes)) or 'no scope'}",
                rule="a connection does what its scopes allow",
                mend="tell the person you work for that it takes a connection with this scope",
            )


_NOW: ContextVar[Caller | None] = ContextVar("caller", default=None)


def current() -> Caller:
    """Return who asks now."""
    caller = _NOW.get()
    assert caller is not None, "the door names the caller before anything is asked"
    return caller


@contextmanager
def calling(caller: Caller) -> Iterator[None]:
    """Let what is asked within be asked by this caller."""
    token = _NOW.set(caller)
    try:
        yield
    finally:
        _NOW.reset(token)
