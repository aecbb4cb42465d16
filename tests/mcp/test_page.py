"""docs/mcp.md tells of every tool, resource and prompt, with the arguments that there are."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp import Client

from prism_rdf.mcp import Caller
from prism_rdf.prism import Prism

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \| (.*?) \| (.*) \|$", re.MULTILINE)


def test_the_page_tells_of_each_tool_what_the_tool_tells(ask: Callable[..., Any]) -> None:
    async def talk(client: Client) -> Any:
        return (await client.list_tools()).tools

    with Prism.in_memory() as prism:
        tools = ask(prism, Caller(forgets=True), talk)
    shown = {name: (arguments, says) for name, arguments, says in ROW.findall(PAGE)}
    assert shown == {
        tool.name: (
            ", ".join(
                name if name in tool.input_schema.get("required", ()) else f"{name}?"
                for name in tool.input_schema["properties"]
            ),
            tool.description,
        )
        for tool in tools
    }


def test_the_page_tells_of_each_resource_and_prompt(ask: Callable[..., Any]) -> None:
    async def talk(client: Client) -> Any:
        templates = (await client.list_resource_templates()).resource_templates
        return [each.uri_template for each in templates], [each.name for each in (await client.list_prompts()).prompts]

    with Prism.in_memory() as prism:
        templates, prompts = ask(prism, Caller(), talk)
    assert len(templates) == 6
    assert [uri for uri in templates if f"`{uri}`" not in PAGE] == []
    assert [name for name in prompts if f"`{name}`" not in PAGE] == []
