"""The door for agents on this port: MCP at ``/mcp``, let in and noted as every request is; its tools are elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from prism_rdf.errors import PrismError
from prism_rdf.mcp import Caller as Agent
from prism_rdf.mcp import http_app
from prism_rdf.tiers import known

from .audit import Audit
from .mounting import Mount
from .tokens import LOCAL, Caller, Guard

if TYPE_CHECKING:
    from prism_rdf import Prism

_WHO = "prism.caller"


def mcp_mount(prism: Prism, guard: Guard) -> Mount:
    """Return MCP over streamable HTTP; ``guard`` says who is let in."""
    audit = Audit(prism.folder.path if prism.folder else None, prism.clock)

    def wrote(request: Any, tool: str, given: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        error = answer.get("error")
        status = error["code"] if error else 200
        audit.note(request.scope[_WHO], tool, given.get("pid"), answer.get("commit"), status=status, method="MCP")

    door = http_app(prism, lambda request: _agent(request.scope[_WHO], prism), wrote)

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            who = guard.admit(scope["method"], headers)
        except PrismError as error:
            await _refuse(error, scope, receive, send)
            return
        await door({**scope, _WHO: who, "user": _user(who)}, receive, send)

    return Mount("/mcp", guarded, door.lifespan)


def _agent(who: Caller, prism: Prism) -> Agent:
    """Return a caller of this port as one of MCP; a token names the agent, whatever its client calls itself."""
    name = "" if who is LOCAL else who.name
    tier = prism.tier if who.tier is None else known(who.tier)
    return Agent(agent=name, tier=tier, scopes=cast(Any, who.granted), pids=who.namespaces)


def _user(who: Caller) -> Any:
    """Return to whom a session belongs, so that no other token goes on with it."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token="", client_id=who.token or who.name, scopes=sorted(who.scopes)))


async def _refuse(error: PrismError, scope: Any, receive: Any, send: Any) -> None:
    from starlette.responses import JSONResponse

    headers = dict(getattr(error, "headers", {}))
    if hasattr(error, "retry_after"):
        headers["Retry-After"] = str(error.retry_after)
    await JSONResponse(error.as_dict(), error.http_status, headers)(scope, receive, send)
