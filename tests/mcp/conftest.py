"""A store in memory with one small project, and a client of the SDK that is connected with its server here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from prism_rdf import mcp
from prism_rdf.mcp import Caller
from prism_rdf.mcp.tool import told_by
from prism_rdf.prism import Prism

Talk = Callable[[Client], Awaitable[Any]]
Call = Callable[..., dict[str, Any]]


def asked(prism: Prism, caller: Caller, talk: Talk) -> Any:
    """Return what a talk with a server of the store comes to."""

    async def connected() -> Any:
        async with Client(mcp.server(prism, lambda _: caller)) as client:
            return await talk(client)

    return anyio.run(connected)


@pytest.fixture
def ask() -> Callable[[Prism, Caller, Talk], Any]:
    """What talks with a server of a store, as a caller."""
    return asked


@pytest.fixture
def call() -> Call:
    """What calls one tool and returns its answer; an error as ``{"error": …}``."""

    def called(prism: Prism, caller: Caller, tool: str, **arguments: Any) -> dict[str, Any]:
        async def talk(client: Client) -> Any:
            return told_by(await client.call_tool(tool, arguments))

        return dict(asked(prism, caller, talk))

    return called


@pytest.fixture
def filled() -> Iterator[tuple[Prism, dict[str, str]]]:
    """A filled store of its own, and what there is in it."""
    with Prism.in_memory() as prism:
        yield prism, fill(prism)


def fill(prism: Prism, pid: str = "demo") -> dict[str, str]:
    """Fill a project and return what cases refer to: a draft, candidates, two entities of one name."""
    project = prism.project(pid)
    project.entity("Project", {"name": "PrismGR"}, valid_from="2026-01-01")
    project.entity("Location", {"name": "server1"}, valid_from="2026-01-01")
    for number in range(1, 10):
        props = {"number": f"ADR-{number}", "title": f"Decision {number}", "status": "Proposed"}
        project.entity("ADR", props, valid_from="2026-01-10")
    project.fact("ADR-1", "status", "Accepted", valid_from="2026-02-01", description="decided")
    project.remember("PrismGR installation takes one script.", about=["PrismGR"], created_at="2026-02-10")
    project.transition("PrismGR", {"name": "Prism"}, "rename", valid_from="2026-06-01")
    project.reference("ADR-1", "ADR-3", "DEPENDS_ON")
    fact = project.fact("ADR-7", "status", "Deprecated", tier=3, quote="perhaps deprecated").candidates[0]
    alias = project.alias("the seventh", "ADR-7", kind="synonym", tier=3, quote="the seventh").candidates[0]
    project.reference("ADR-7", "ADR-3", "DEPENDS_ON", tier=3, quote="rests on the third")
    project.wip("ADR-8", {"status": "Accepted"})
    twins = [
        project.entity("ADR", {"number": f"ADR-2{number}", "title": "twins"}, valid_from="2026-01-10")["uuid"]
        for number in (1, 2)
    ]
    merged = project.entity("ADR", {"number": "ADR-30", "title": "thirty"}, valid_from="2026-01-10")["uuid"]
    project.merge(merged, "ADR-3")
    return {
        "$draft": project.wip("ADR-9", {"status": "Accepted"})["wip"],
        "$fact": fact.rpartition("/")[2],
        "$alias": alias.rpartition("/")[2],
        "$twin": twins[0],
        "$other": twins[1],
    }


@pytest.fixture(scope="module")
def store() -> Iterator[tuple[Prism, dict[str, str]]]:
    """A filled store, and what the cases refer to."""
    with Prism.in_memory() as prism:
        yield prism, fill(prism)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home of its own, whose owner leaves soon after the last question."""
    keep = {name: value for name, value in os.environ.items() if not name.startswith("PRISM_")}
    return {**keep, "PRISM_HOME": str(tmp_path / "home"), "PRISM_OWNER_IDLE": "5", "PRISM_EMBEDDER": "none"}


@pytest.fixture
def url(environment: dict[str, str]) -> Iterator[str]:
    """Where `prism serve` of an empty store speaks MCP."""
    prism = [sys.executable, "-m", "prism_rdf.cli"]
    made = [*prism, "entity", "Project", "name=Another", "--pid", "another"]
    subprocess.run(made, env=environment, check=True, capture_output=True)
    serve = [*prism, "serve", "--port", "0", "--json"]
    with subprocess.Popen(serve, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = ""
        while not told.rstrip().endswith("}"):
            line = process.stdout.readline()
            assert line, "the server ended"
            told += line
        yield f"{json.loads(told)['url']}mcp"
        process.terminate()
