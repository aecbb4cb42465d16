"""How an argument that a person is typing may go on: projects, names of entities, saved queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anyio import to_thread
from mcp.server.mcpserver import MCPServer
from mcp.types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from prism_rdf.errors import PrismError
from prism_rdf.mcp.calls import Call
from prism_rdf.mcp.listing import completions

_MOST = 100  # what the protocol allows


def register(server: MCPServer[Any], call: Callable[[], Call]) -> None:
    """Add completion to a server; ``call`` says who asks now."""

    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion:
        asked, said = call(), (context.arguments if context else None) or {}
        found = await to_thread.run_sync(_found, asked, ref, argument, said, abandon_on_cancel=True)
        return Completion(values=found[:_MOST], has_more=len(found) >= _MOST)

    server.completion()(complete)  # type: ignore[no-untyped-call]


def _found(
    call: Call,
    ref: PromptReference | ResourceTemplateReference,
    argument: CompletionArgument,
    said: dict[str, str],
) -> list[str]:
    begun = argument.value
    if argument.name == "pid":
        return [pid for pid in call.pids() if pid.startswith(begun)]
    try:
        project = call.project(said.get("pid", ""))
    except PrismError:
        return []  # nobody can say which project is meant: there is nothing to complete
    if argument.name == "name":
        return [each["name"] for each in project.queries() if each["name"].startswith(begun)]
    if argument.name == "id" and isinstance(ref, ResourceTemplateReference) and "/entity/" in ref.uri:
        return completions(call.prism, project.pid, begun)
    return []
