"""The door for agents: the Model Context Protocol over stdio and HTTP; tools call verbs, and decide nothing themselves.

``import prism_rdf.mcp`` is cheap; the SDK is loaded when a server is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_rdf.mcp.callers import Caller

if TYPE_CHECKING:
    from prism_rdf.mcp.door import CallerOf, Door, Wrote
    from prism_rdf.mcp.http import HttpDoor
    from prism_rdf.prism import Prism

__all__ = ["Caller", "http_app", "run_stdio", "server"]


def server(prism: Prism, caller_of: CallerOf, wrote: Wrote | None = None) -> Door:
    """Return the MCP server of a store; ``caller_of`` says who asks, by the HTTP request (None over stdio).

    ``wrote`` is told of every call of a tool that may write: the request, the tool, its arguments, and the answer.
    """
    from prism_rdf.mcp.door import Door

    return Door(prism, caller_of, wrote)


def run_stdio(prism: Prism, caller: Caller) -> None:
    """Answer one client on stdin and stdout, until it leaves."""
    server(prism, lambda _: caller).run("stdio")


def http_app(prism: Prism, caller_of: CallerOf | None = None, wrote: Wrote | None = None) -> HttpDoor:
    """Return the ASGI application that speaks streamable HTTP at whatever path it is mounted.

    ``caller_of`` says who asks, by the Starlette request, and that whoever may not connect was turned away before;
    without it every program of this machine may do all that the store allows. ``wrote`` is that of ``server``. Its
    ``lifespan`` is entered before the first request.
    """
    from prism_rdf.mcp.http import HttpDoor

    tier = prism.tier
    door = server(prism, caller_of or (lambda _: Caller(tier=tier)), wrote)
    return HttpDoor(door, guarded=caller_of is not None)
