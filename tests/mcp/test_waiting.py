"""A call that takes long says so, can be given up, and keeps nobody else waiting."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client

from prism_rdf.mcp import Caller, tool
from prism_rdf.mcp.tool import told_by
from prism_rdf.prism import Prism
from prism_rdf.project import Project

AGENT = Caller(agent="tester", pid="demo")
Ask = Callable[..., Any]
Store = tuple[Prism, dict[str, str]]


class Slow:
    """A verb that answers when it is let go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.let_go = threading.Event()
        self.done = threading.Event()

    def __call__(self, *_: Any, **__: Any) -> Any:
        self.begun.set()
        assert self.let_go.wait(30)
        self.done.set()
        return []


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    """The verbs history and discard, made slow."""
    verb = Slow()
    monkeypatch.setattr(Project, "history", verb)
    monkeypatch.setattr(tool, "_TICK", 0.05)
    return verb


async def begun(verb: Slow) -> None:
    await anyio.to_thread.run_sync(verb.begun.wait, 30)


def test_progress_is_told_while_it_lasts(store: Store, ask: Ask, slow: Slow) -> None:
    told: list[tuple[float, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, message))
        if len(told) == 3:
            slow.let_go.set()

    async def talk(client: Client) -> Any:
        return await client.call_tool("prism_history", {"entity_uuid": "ADR-1"}, progress_callback=progress)

    assert not ask(store[0], AGENT, talk).is_error
    assert len(told) >= 3
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[0][1] is not None
    assert told[0][1].startswith("prism_history")


def test_a_question_is_given_up_at_once_and_others_are_answered(store: Store, ask: Ask, slow: Slow) -> None:
    async def talk(client: Client) -> Any:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "prism_history", {"entity_uuid": "ADR-1"})
            await begun(slow)
            assert not (await client.call_tool("prism_state_as_of", {"entity_uuid": "ADR-1"})).is_error
            group.cancel_scope.cancel()
        assert not slow.done.is_set()
        return (await client.call_tool("prism_state_as_of", {"entity_uuid": "ADR-2"})).structured_content

    assert ask(store[0], AGENT, talk)["identifier"] == "ADR-2"
    slow.let_go.set()
    assert slow.done.wait(30)


def test_a_write_that_is_given_up_is_done_all_the_same(
    filled: Store, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    prism, _ = filled
    verb, original = Slow(), Project.fact

    def fact(*args: Any, **options: Any) -> Any:
        verb()
        return original(*args, **options)

    monkeypatch.setattr(Project, "fact", fact)
    given = {"entity_uuid": "ADR-2", "predicate": "title", "value": "Written"}

    async def talk(client: Client) -> Any:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "prism_fact", given)
            await begun(verb)
            group.cancel_scope.cancel()
            verb.let_go.set()

    ask(prism, AGENT, talk)
    assert prism.project("demo").state_as_of("ADR-2")["props"]["title"] == "Written"


def test_a_defect_is_told_without_its_particulars(
    store: Store, ask: Ask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(Project, "history", broken)

    async def talk(client: Client) -> Any:
        result = await client.call_tool("prism_history", {"entity_uuid": "ADR-1"})
        return told_by(result), str(result.content)

    told, said = ask(store[0], AGENT, talk)
    assert told["error"]["code"] == "error"
    assert "a secret" not in said
    assert "a secret" in caplog.text
