"""What can be read by its address: an entity, the types, the open drafts, the saved queries, a memory in full."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote
from uuid import UUID

from anyio import to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.types import Resource
from pyoxigraph import NamedNode

from prism_rdf.errors import NotFoundError, PrismError
from prism_rdf.mcp.budget import Answer, text_of
from prism_rdf.mcp.calls import Call
from prism_rdf.mcp.failures import in_tools
from prism_rdf.mcp.knowing import prism_list_types
from prism_rdf.namespaces import Names

_JSON = "application/json"
_ALL = 50_000  # tokens
_OF_PROJECT = {
    "types": "The types of entities, with their properties",
    "wip": "The open drafts, the longest untouched first",
    "queries": "The saved queries, with what each finds",
}


def listed(call: Call) -> list[Resource]:
    """Return the resources of each project that need no name."""
    return [
        Resource(uri=f"prism://{quote(pid)}/{name}", name=f"{pid}-{name}", description=what, mime_type=_JSON)
        for pid in call.pids()
        for name, what in _OF_PROJECT.items()
    ]


def register(server: MCPServer[Any], call: Callable[[], Call]) -> None:
    """Add the resources to a server; ``call`` says who asks now."""

    async def answer(told: Callable[[Call], Answer | str]) -> str:
        asked = call()
        try:
            found = await to_thread.run_sync(told, asked, abandon_on_cancel=True)
        except PrismError as error:
            kind = ResourceNotFoundError if isinstance(error, NotFoundError) else ResourceError
            raise kind(f"{error.message} ({in_tools(error.mend)})") from error
        return found if isinstance(found, str) else text_of(found)

    @server.resource("prism://{pid}/entity/{id}", name="entity", mime_type=_JSON)
    async def entity(pid: str, id: str) -> str:
        """An entity: its state, its references both ways, its open draft; id is a uuid, identifier or alias."""
        return await answer(lambda asked: _entity(asked, pid, id))

    @server.resource("prism://{pid}/memory/{id}", name="memory", mime_type="text/plain")
    async def memory(pid: str, id: str) -> str:
        """The full text of a memory, by its uuid (the end of the id of a hit)."""
        return await answer(lambda asked: _memory(asked, pid, id))

    @server.resource("prism://{pid}/types", name="types", description=_OF_PROJECT["types"], mime_type=_JSON)
    async def types(pid: str) -> str:
        return await answer(lambda asked: prism_list_types(asked, pid=pid, max_tokens=_ALL))

    @server.resource("prism://{pid}/wip", name="wip", description=_OF_PROJECT["wip"], mime_type=_JSON)
    async def wip(pid: str) -> str:
        return await answer(lambda asked: {"drafts": asked.project(pid).drafts()})

    @server.resource("prism://{pid}/queries", name="queries", description=_OF_PROJECT["queries"], mime_type=_JSON)
    async def queries(pid: str) -> str:
        return await answer(lambda asked: {"queries": asked.project(pid).queries()})

    @server.resource("prism://{pid}/query/{name}", name="query", mime_type="application/sparql-query")
    async def query(pid: str, name: str) -> str:
        """The text of a saved query."""
        return await answer(lambda asked: str(asked.project(pid).saved_query(name)["text"]))


def _entity(call: Call, pid: str, ref: str) -> Answer:
    project = call.project(pid)
    state = project.state_as_of(ref)
    references = project.list_references(entity=state["uuid"])
    brief = [
        {"source": each["source"]["identifier"], "kind": each["kind"], "target": each["target"]["identifier"]}
        for each in references
    ]
    return {**state, "references": brief}


def _memory(call: Call, pid: str, uuid: str) -> str:
    project = call.project(pid)
    names = Names(call.prism.base, project.pid)
    missing = NotFoundError(
        f"there is no memory {uuid} in {pid}",
        rule="a memory is named by its uuid",
        mend="semantic_recall shows the id of each, which ends with it",
    )
    try:
        node = NamedNode(names.memory(str(UUID(uuid))).value)
    except ValueError:
        raise missing from None
    query = f"SELECT ?content {{ {node} prism:content ?content }}"
    row = next(iter(call.prism.sparql(query, pid=project.pid).rows()), None)
    if row is None:
        raise missing
    return str(row[0].value)
