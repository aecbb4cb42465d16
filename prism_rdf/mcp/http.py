"""The MCP server as an ASGI application, to be mounted beside others; who may connect is decided before it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class HttpDoor:
    """Streamable HTTP at any path.

    Unless it is ``guarded`` by whoever mounts it, it answers to this machine alone: a page of another origin is turned
    away, whatever name it made this machine bear (DNS rebinding).
    """

    def __init__(self, server: MCPServer[Any], *, guarded: bool) -> None:
        names = [name for host in _LOOPBACK for name in (host, f"{host}:*")]
        origins = [f"{scheme}://{name}" for name in names for scheme in ("http", "https")]
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=not guarded, allowed_hosts=names, allowed_origins=origins
        )
        server.streamable_http_app(transport_security=security)
        self._manager: StreamableHTTPSessionManager = server.session_manager

    def lifespan(self) -> AbstractAsyncContextManager[None]:
        """Return what is entered before the first request and left after the last; once."""
        return self._manager.run()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._manager.handle_request(scope, receive, send)
