"""How many tokens the tools of the MCP door take to describe, and their default answers on a large store.

    python bench/agents.py                          # builds a store in a temporary folder
    python bench/agents.py --home FOLDER --pid PID  # asks one that is there

A token is four characters. Times are of one call by the SDK's client in this process, the store opened exclusively.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from mcp import Client
from pyoxigraph import Literal, NamedNode

from prism_rdf import mcp
from prism_rdf.clock import Edge, Instant
from prism_rdf.mcp import Caller
from prism_rdf.mcp.budget import tokens_of
from prism_rdf.mcp.tool import told_by
from prism_rdf.model import Assertion, Event, Intent, Memory, NewEntity
from prism_rdf.namespaces import TYPE, derived_uuid, prism
from prism_rdf.prism import Prism

_WORDS = [
    "graph",
    "store",
    "query",
    "index",
    "state",
    "time",
    "event",
    "alias",
    "review",
    "tier",
    "agent",
    "token",
    "recall",
    "memory",
    "vector",
    "shape",
    "gate",
]
_BATCH = 2_000


def build(home: Path, pid: str, entities: int, memories: int) -> None:
    """Make a store of decisions and of memories about them."""
    drawn, at = random.Random(1), Instant.parse("2025-01-01T00:00:00Z")

    def words(count: int) -> str:
        return " ".join(drawn.choices(_WORDS, k=count))

    def decision(number: int) -> list[Intent]:
        uuid = derived_uuid("bench", str(number))
        said = {"number": f"ADR-{number}", "title": words(6), "status": "Accepted", "description": words(60)}
        stated = tuple(Assertion(prism(name), Literal(value), "set", at) for name, value in said.items())
        return [NewEntity(uuid, NamedNode(TYPE + "ADR")), Event(uuid, "created", Edge(at), stated)]

    def memory(number: int) -> Memory:
        about = (derived_uuid("bench", str(drawn.randrange(entities))),)
        return Memory(words(120), "note", at, f"chat-{number // 50}#{number % 50}", about=about, start=at)

    with Prism.open(home, exclusive=True) as store:
        project = store.project(pid)
        for begin in range(0, entities, _BATCH):
            numbers = range(begin, min(begin + _BATCH, entities))
            project.write([intent for number in numbers for intent in decision(number)])
        for begin in range(0, memories, _BATCH):
            project.write([memory(number) for number in range(begin, min(begin + _BATCH, memories))])


def questions(some: str) -> list[tuple[str, dict[str, Any]]]:
    """Return one call of each tool that reads; ``some`` names an entity."""
    return [
        ("prism_start", {}),
        ("semantic_recall", {"query": f"which graph store for {some}"}),
        ("semantic_recall", {"query": "graph store", "limit": 50}),
        ("prism_list_types", {}),
        ("prism_list_types", {"type_name": "ADR"}),
        ("prism_list_entities", {}),
        ("prism_list_entities", {"type_name": "ADR", "limit": 500}),
        ("prism_state_as_of", {"entity_uuid": some}),
        ("prism_history", {"entity_uuid": some}),
        ("prism_resolve_alias", {"surface_form": some}),
        ("prism_list_references", {"target": some}),
        ("prism_impact", {"entity_uuid": some}),
        ("prism_blame", {"entity_uuid": some, "predicate": "status"}),
        ("prism_diff", {"before": "2024-12-31", "entity_uuid": some}),
        ("prism_list_fact_candidates", {}),
        ("prism_list_alias_candidates", {}),
        ("prism_sparql", {"query": "SELECT ?title { ?e prism:title ?title }"}),
        ("prism_queries", {}),
    ]


async def measure(store: Prism, pid: str) -> None:
    async with Client(mcp.server(store, lambda _: Caller(agent="bench", pid=pid, forgets=True))) as client:
        tools = (await client.list_tools()).tools
        print(f"{'described':30} {'tokens':>7}   (name, description, input schema)")
        sizes = {
            tool.name: tokens_of(tool.name + (tool.description or "") + json.dumps(tool.input_schema)) for tool in tools
        }
        for name, size in sizes.items():
            print(f"{name:30} {size:7}")
        print(f"{f'all {len(tools)} tools':30} {sum(sizes.values()):7}\n")
        some = (await client.call_tool("prism_list_entities", {"limit": 1})).structured_content["entities"][0]
        print(f"{'answered':30} {'tokens':>7} {'left out':>9} {'ms':>8}")
        for tool, arguments in questions(some["identifier"] or some["uuid"]):
            began = time.perf_counter()
            result = await client.call_tool(tool, arguments)
            taken = (time.perf_counter() - began) * 1_000
            told = told_by(result)
            print(f"{tool:30} {tokens_of(told):7} {told.get('left_out', 0)!s:>9.9} {taken:8.0f}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--home", type=Path)
    options.add_argument("--pid", default="bench")
    options.add_argument("--entities", type=int, default=20_000)
    options.add_argument("--memories", type=int, default=100_000)
    given = options.parse_args()
    with TemporaryDirectory() as folder:
        home = given.home or Path(folder)
        if given.home is None:
            build(home, given.pid, given.entities, given.memories)
        with Prism.open(home, exclusive=True) as store:
            anyio.run(measure, store, given.pid)


if __name__ == "__main__":
    main()
