"""The door for agents: the Model Context Protocol over stdio and HTTP; tools call verbs, and decide nothing themselves.

``import prism_rdf.mcp`` is cheap; the SDK is loaded when a server is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_rdf.mcp.callers import Caller

if TYPE_CHECKING:
    from prism_rdf.mcp.door import CallerOf, Door
    from prism_rdf.mcp.http import HttpDoor
    from prism_rdf.prism import Prism

__all__ = ["Caller", "http_app", "run_stdio", "server"]


def server(prism: Prism, caller_of: CallerOf) -> Door:
    """Return the MCP server of a store; ``caller_of`` says who asks, by the HTTP request (None over stdio)."""
    from prism_rdf.mcp.door import Door

    return Door(prism, caller_of)


def run_stdio(prism: Prism, caller: Caller) -> None:
    """Answer one client on stdin and stdout, until it leaves."""
    server(prism, lambda _: caller).run("stdio")


def http_app(prism: Prism, caller_of: CallerOf | None = None) -> HttpDoor:
    """Return the ASGI application that speaks streamable HTTP at whatever path it is mounted.

    ``caller_of`` says who asks, by the Starlette request; without it everybody may do all that the store allows. Its
    ``lifespan`` is entered before the first request.
    """
    from prism_rdf.mcp.http import HttpDoor

    tier = prism.tier
    return HttpDoor(server(prism, caller_of or (lambda _: Caller(tier=tier))))
