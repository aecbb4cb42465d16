"""Two agents, the command line and a web server on one store at once; tokens at the HTTP door; a query given up."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from prism_rdf.mcp.tool import told_by
from prism_rdf.prism import Prism

pytestmark = pytest.mark.slow
PRISM = [sys.executable, "-m", "prism_rdf.cli"]
ROUNDS = 12


def stdio(environment: dict[str, str], *options: str) -> StdioServerParameters:
    arguments = ["-m", "prism_rdf.cli", "mcp", "--pid", "another", *options]
    return StdioServerParameters(command=sys.executable, args=arguments, env=environment)


async def told(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


async def command(environment: dict[str, str], *words: str) -> Any:
    done = await anyio.run_process([*PRISM, *words, "--pid", "another", "--json"], env=environment)
    return json.loads(done.stdout)


def asked(url: str, query: str) -> list[str]:
    with urlopen(
        f"{url.removesuffix('mcp')}sparql?{urlencode({'query': query, 'format': 'csv'})}", timeout=60
    ) as answer:
        return list(answer.read().decode().split())


def test_two_agents_the_command_line_and_a_server_share_a_store(environment: dict[str, str], url: str) -> None:
    async def work(client: Client, name: str) -> None:
        for number in range(ROUNDS):
            props = {"number": f"{name}-{number}", "title": f"By {name}"}
            await told(client, "prism_entity", type_name="ADR", initial_props=props)

    async def by_hand() -> None:
        for number in range(3):
            await command(environment, "entity", "ADR", f"number=HAND-{number}", "title=By hand")

    async def over_http() -> None:
        async with Client(url) as client:
            for number in range(ROUNDS):
                props = {"number": f"WEB-{number}", "title": "By a server"}
                await told(client, "prism_entity", pid="another", type_name="ADR", initial_props=props)

    async def all_at_once() -> None:
        async with (
            Client(stdio(environment, "--agent", "ada")) as ada,
            Client(stdio(environment, "--agent", "bob")) as bob,
        ):
            async with anyio.create_task_group() as group:
                group.start_soon(work, ada, "ADA")
                group.start_soon(work, bob, "BOB")
                group.start_soon(by_hand)
                group.start_soon(over_http)
            total = 3 * ROUNDS + 3
            for client in (ada, bob):
                assert (await told(client, "prism_list_entities", type_name="ADR"))["total"] == total
            assert asked(url, "SELECT (COUNT(*) AS ?n) { ?e a type:ADR }")[-1] == str(total)
            # What one writes every other one sees with its next question.
            await told(ada, "prism_fact", entity_uuid="BOB-0", predicate="status", value="Accepted")
            state = await told(bob, "prism_state_as_of", entity_uuid="BOB-0")
            assert state["props"]["status"] == "Accepted"
            assert (await command(environment, "state", "BOB-0"))["props"]["status"] == "Accepted"
            assert asked(url, "SELECT ?s { ?e prism:number 'BOB-0' ; prism:status ?s }")[-1] == "Accepted"
            await command(environment, "fact", "ADA-0", "status=Rejected")
            for client in (ada, bob):
                assert (await told(client, "prism_state_as_of", entity_uuid="ADA-0"))["props"]["status"] == "Rejected"

    anyio.run(all_at_once)


def test_a_token_says_what_a_client_over_http_may(environment: dict[str, str], url: str) -> None:
    def secret(name: str, *options: str) -> str:
        made = subprocess.run(
            [*PRISM, "token", "create", name, *options, "--json"], env=environment, check=True, capture_output=True
        )
        return str(json.loads(made.stdout)["secret"])

    reader, guesser = secret("reader"), secret("guesser", "--scope", "write", "--scope", "read", "--tier", "3")
    stranger = secret("stranger", "--scope", "read", "--namespace", "elsewhere")

    @asynccontextmanager
    async def connected(bearer: str) -> AsyncIterator[Client]:
        async with (
            create_mcp_http_client({"Authorization": f"Bearer {bearer}"}) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            yield client

    async def names(bearer: str) -> set[str]:
        async with connected(bearer) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    async def called(bearer: str, tool: str, **arguments: Any) -> Any:
        async with connected(bearer) as client:
            return told_by(await client.call_tool(tool, arguments))

    async def talk() -> None:
        assert "prism_fact" not in await names(reader)
        assert "prism_fact" in await names(guesser)
        fact = {"entity_uuid": "Another", "predicate": "name", "value": "Other", "pid": "another"}
        assert (await called(guesser, "prism_fact", **fact, tier=1))["error"]["code"] == "refused"
        assert (await called(guesser, "prism_fact", **fact))["candidates"]
        seen = await called(stranger, "prism_state_as_of", entity_uuid="Another", pid="another")
        assert seen["error"]["code"] == "not-found"

    anyio.run(talk)
    with pytest.raises(HTTPError) as refused:
        urlopen(Request(url, data=b"{}", headers={"Authorization": "Bearer prism_nonsense"}), timeout=60)
    with refused.value as answer:
        assert (answer.code, json.load(answer)["error"]["code"]) == (401, "unauthenticated")
    lines = (Path(environment["PRISM_HOME"]) / "default" / "audit.log").read_text("utf-8").splitlines()
    noted = [(line["who"], line["verb"], line["status"]) for line in map(json.loads, lines)]
    assert noted == [("guesser", "prism_fact", "refused"), ("guesser", "prism_fact", 200)]


def test_a_query_that_is_given_up_is_stopped_at_its_owner(environment: dict[str, str]) -> None:
    endless = (
        "SELECT (COUNT(*) AS ?n) { "
        + " ".join(f"VALUES ?v{n} {{ {' '.join(map(str, range(60)))} }}" for n in range(6))
        + " }"
    )

    async def talk() -> None:
        async with Client(stdio(environment)) as client:
            props = {"number": "ADR-1", "title": "x"}
            await told(client, "prism_entity", type_name="ADR", initial_props=props)
            with Prism.open(environment["PRISM_HOME"]) as prism:
                async with anyio.create_task_group() as group:
                    group.start_soon(client.call_tool, "prism_sparql", {"query": endless, "timeout": 300})
                    await _until(lambda: len(prism.running()) == 1)
                    group.cancel_scope.cancel()
                await _until(lambda: not prism.running())
            assert (await told(client, "prism_state_as_of", entity_uuid="ADR-1"))["identifier"] == "ADR-1"

    anyio.run(talk)


async def _until(holds: Any) -> None:
    end = time.monotonic() + 60
    while not await anyio.to_thread.run_sync(holds):
        assert time.monotonic() < end
        await anyio.sleep(0.1)
