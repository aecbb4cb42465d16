"""The door for agents on this port: MCP at ``/mcp``; what its tools do lives in ``prism_rdf.mcp``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_rdf.mcp import http_app

from .mounting import Mount

if TYPE_CHECKING:
    from prism_rdf import Prism


def mcp_mount(prism: Prism) -> Mount:
    """Return MCP over streamable HTTP, for programs of this machine."""
    door = http_app(prism)
    return Mount("/mcp", door, door.lifespan)
