"""What can be read by its address, what a person can start with a word, and how names are completed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import PromptReference, ResourceTemplateReference

from prism_rdf.mcp import Caller
from prism_rdf.prism import Prism

AGENT = Caller(agent="tester", pid="demo")
Ask = Callable[..., Any]
Store = tuple[Prism, dict[str, str]]


def read(ask: Ask, prism: Prism, uri: str) -> str:
    async def talk(client: Client) -> Any:
        return (await client.read_resource(uri)).contents[0].text  # type: ignore[union-attr]

    return str(ask(prism, AGENT, talk))


def test_resources_are_listed_for_each_project_and_templates_for_what_has_a_name(store: Store, ask: Ask) -> None:
    async def talk(client: Client) -> Any:
        listed = await client.list_resources(), await client.list_resource_templates()
        return [str(each.uri) for each in listed[0].resources], {
            each.uri_template for each in listed[1].resource_templates
        }

    uris, templates = ask(store[0], AGENT, talk)
    assert uris == ["prism://demo/types", "prism://demo/wip", "prism://demo/queries"]
    assert {"prism://{pid}/entity/{id}", "prism://{pid}/memory/{id}", "prism://{pid}/query/{name}"} <= templates


def test_an_entity_is_read_by_any_name_with_its_references(store: Store, ask: Ask) -> None:
    told = json.loads(read(ask, store[0], "prism://demo/entity/ADR-1"))
    assert told["props"]["status"] == "Accepted"
    assert told["references"] == [{"source": "ADR-1", "kind": "DEPENDS_ON", "target": "ADR-3"}]
    assert json.loads(read(ask, store[0], "prism://demo/entity/Decision%201"))["uuid"] == told["uuid"]


def test_the_lists_of_a_project_are_read(store: Store, ask: Ask) -> None:
    assert len(json.loads(read(ask, store[0], "prism://demo/types"))["types"]) == 14
    drafts = json.loads(read(ask, store[0], "prism://demo/wip"))["drafts"]
    assert [each["identifier"] for each in drafts] == ["ADR-8", "ADR-9"]
    names = [each["name"] for each in json.loads(read(ask, store[0], "prism://demo/queries"))["queries"]]
    assert "SELECT" in read(ask, store[0], f"prism://demo/query/{names[0]}")


def test_a_memory_is_read_in_full(store: Store, ask: Ask) -> None:
    text = "A long word. " * 500
    memory = store[0].project("demo").remember(text).created[0]
    assert read(ask, store[0], f"prism://demo/memory/{memory.rpartition('/')[2]}") == text


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("prism://demo/entity/Prizm", "did you mean 'Prism'"),
        ("prism://dmeo/wip", "did you mean 'demo'"),
        ("prism://demo/memory/00000000-0000-5000-8000-000000000000", "no memory"),
        ("prism://demo/memory/ADR-1", "no memory"),
        ("prism://demo/query/nothing", "no saved query"),
        ("prism://demo/nothing", "Unknown resource"),
    ],
)
def test_what_is_not_there_is_an_error_that_says_so(store: Store, ask: Ask, uri: str, says: str) -> None:
    async def talk(client: Client) -> Any:
        with pytest.raises(MCPError, match=says):
            await client.read_resource(uri)

    ask(store[0], AGENT, talk)


def test_prompts_hold_what_the_agent_needs(store: Store, ask: Ask) -> None:
    async def talk(client: Client) -> Any:
        names = {prompt.name for prompt in (await client.list_prompts()).prompts}
        return {
            name: (await client.get_prompt(name, {"pid": "demo"})).messages[0].content.text  # type: ignore[union-attr]
            for name in names
        }

    texts = ask(store[0], AGENT, talk)
    assert set(texts) == {"start_of_work", "wrap_up", "review_queue"}
    assert '"rules_reminders"' in texts["start_of_work"]
    assert "ADR-8" in texts["wrap_up"]
    assert "perhaps deprecated" in texts["review_queue"]


@pytest.mark.parametrize(
    ("uri", "argument", "begun", "completed"),
    [
        ("prism://{pid}/entity/{id}", "id", "pri", ["Prism"]),
        ("prism://{pid}/entity/{id}", "id", 'dec"', []),
        ("prism://{pid}/entity/{id}", "id", "ADR-2", ["ADR-21", "ADR-22"]),
        ("prism://{pid}/entity/{id}", "pid", "d", ["demo"]),
        ("prism://{pid}/query/{name}", "name", "stale-d", ["stale-drafts"]),
        ("prism://{pid}/memory/{id}", "id", "a", []),
    ],
)
def test_names_are_completed(store: Store, ask: Ask, uri: str, argument: str, begun: str, completed: list[str]) -> None:
    async def talk(client: Client) -> Any:
        found = await client.complete(ResourceTemplateReference(uri=uri), {"name": argument, "value": begun})
        return found.completion.values

    values = ask(store[0], AGENT, talk)
    assert [value for value in values if value != "ADR-2"] == completed


def test_the_project_of_a_prompt_is_completed(store: Store, ask: Ask) -> None:
    async def talk(client: Client) -> Any:
        found = await client.complete(PromptReference(name="wrap_up"), {"name": "pid", "value": ""})
        return found.completion.values

    assert ask(store[0], AGENT, talk) == ["demo"]
