"""The MCP server of a store: it makes out who asks, and offers the tools, resources and prompts that are theirs.

What the tools do is said where they are; how requests come in (stdio, HTTP) is the SDK's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult
from mcp.types import Resource as ListedResource
from mcp.types import Tool as ListedTool

import prism_rdf
from prism_rdf.mcp import callers, completing, failures, prompts, resources, table
from prism_rdf.mcp.callers import Caller
from prism_rdf.mcp.calls import Call
from prism_rdf.mcp.tool import VerbTool, refused, told_by
from prism_rdf.prism import Prism

CallerOf = Callable[[Any], Caller]
Wrote = Callable[[Any, str, Mapping[str, Any], Mapping[str, Any]], None]

_INSTRUCTIONS = """\
Prism keeps what is known with identity, meaning and time. Begin with prism_start. Before you answer from memory, ask
semantic_recall: a hit is current, historical (no longer so) or wip. Name an entity by uuid, identifier or alias. Record
a decision with prism_fact or prism_transition, why with prism_remember, what is still open with prism_wip (then
prism_seal). What you only guess is of tier 3 and awaits review. Times are ISO 8601; a date means the end of that day
when you ask, and its beginning when something begins."""


class Door(MCPServer[Any]):
    """The server. ``caller_of`` says who asks, by the HTTP request, which is None over stdio."""

    def __init__(self, prism: Prism, caller_of: CallerOf, wrote: Wrote | None = None) -> None:
        self.prism = prism
        self._caller_of = caller_of
        self._wrote = wrote
        self._verbs = {verb.name: verb for verb in table.VERBS}
        super().__init__(
            "prism",
            title="Prism RDF",
            instructions=_INSTRUCTIONS,
            version=prism_rdf.__version__,
            tools=[VerbTool.of(verb, prism, self.offered) for verb in self._verbs.values()],
            middleware=[self._as_caller],
            log_level="WARNING",
        )
        resources.register(self, self.call)
        prompts.register(self, self.call)
        completing.register(self, self.call)

    def call(self) -> Call:
        """Return what whoever asks now has in hand."""
        return Call(self.prism, callers.current())

    def offered(self) -> set[str]:
        """Return the names of the tools that whoever asks now may call."""
        caller = callers.current()
        return {
            name
            for name, verb in self._verbs.items()
            if caller.may(verb.needs) and (caller.forgets or not verb.destroys)
        }

    async def list_tools(self) -> list[ListedTool]:
        """List the tools that the caller may call."""
        offered = self.offered()
        return [tool for tool in await super().list_tools() if tool.name in offered]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult:
        """Call a tool that the caller may call; of any other one it is told that it is none, or not for this caller."""
        offered = self.offered()
        if name not in offered:
            known = name in self._verbs
            return refused((failures.not_offered if known else failures.unknown_tool)(name, offered), offered)
        result = await super().call_tool(name, arguments, context)
        assert isinstance(result, CallToolResult)
        if self._wrote is not None and context is not None and self._verbs[name].needs != "read":
            self._wrote(context.request_context.request, name, arguments, told_by(result))
        return result

    async def list_resources(self) -> list[ListedResource]:
        """List what each project of the caller has to read."""
        return resources.listed(self.call())

    async def _as_caller(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        caller = self._caller_of(ctx.request)
        if not caller.agent:
            caller = replace(caller, agent=_client_name(ctx))
        with callers.calling(caller):
            return await call_next(ctx)


def _client_name(ctx: ServerRequestContext[Any, Any]) -> str:
    """Return what the client calls itself; empty where it does not say."""
    params = ctx.session.client_params
    return params.client_info.name if params is not None else ""
