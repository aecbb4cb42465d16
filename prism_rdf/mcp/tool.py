"""A verb as a tool of the SDK: its input schema, and what happens while it is called; which there are is in table.py.

A verb runs in a thread of its own, so that others are answered meanwhile. One that reads is left alone when its caller
gives up, and its query stopped; one that writes is waited for.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from functools import cache, partial
from typing import Any

import anyio
from anyio import to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools.base import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata, func_metadata
from mcp.types import CallToolResult, ContentBlock, TextContent, ToolAnnotations
from pydantic import ValidationError as BadInput

from prism_rdf.errors import PrismError
from prism_rdf.mcp import callers, failures
from prism_rdf.mcp.budget import DEFAULT_TOKENS, Answer, fitted, text_of
from prism_rdf.mcp.calls import Call
from prism_rdf.mcp.table import Verb
from prism_rdf.prism import Prism
from prism_rdf.tiers import speaking_for
from prism_rdf.workers.asking import asked_by

_LOG = logging.getLogger("prism_rdf.mcp")
_TICK = 1.0  # seconds between two words of progress
_NOISE = ("title", "additionalProperties")


class VerbTool(Tool):
    """A verb of the table, offered by a server."""

    prism: Any  # the Prism that is asked
    verb: Any  # the Verb of the table
    offered: Any  # whom to ask which tools the caller has

    @classmethod
    def of(cls, verb: Verb, prism: Prism, offered: Callable[[], Collection[str]]) -> VerbTool:
        """Return the tool of a verb."""
        arguments = _arguments(verb.function)
        return cls(
            fn=verb.function,
            name=verb.name,
            title=None,
            description=" ".join((verb.function.__doc__ or "").split()),
            parameters=_compact(arguments.model_json_schema(by_alias=True)),
            fn_metadata=FuncMetadata(arg_model=arguments, output_schema=verb.returns),
            is_async=False,
            context_kwarg=None,
            annotations=ToolAnnotations(
                read_only_hint=verb.needs == "read",
                destructive_hint=verb.destroys,
                idempotent_hint=verb.needs == "read" or verb.repeatable,
                open_world_hint=False,
            ),
            prism=prism,
            verb=verb,
            offered=offered,
        )

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> CallToolResult:
        """Call the verb; an error that a user can mend is an answer too."""
        caller = callers.current()
        try:
            caller.check(self.verb.needs)
            given = self._checked(arguments)
        except PrismError as error:
            return self._refused(error)
        outcome = await self._outcome(partial(self._called, caller, given), context)
        if isinstance(outcome, PrismError):
            return self._refused(outcome)
        if isinstance(outcome, Exception):
            _LOG.error("%s failed", self.name, exc_info=outcome)
            return self._refused(_defect(self.name))
        return _result(fitted(outcome, given.get("max_tokens") or DEFAULT_TOKENS))

    def _checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as the verb takes them. Raises BadArgument, naming each that does not fit."""
        props = self.parameters.get("properties", {})
        read = {name: _parsed(value, props.get(name, {}).get("type")) for name, value in arguments.items()}
        try:
            return self.fn_metadata.arg_model.model_validate(read).model_dump_one_level()
        except BadInput as error:
            raise failures.bad_input(self.name, error, self.parameters) from None

    def _called(self, caller: callers.Caller, given: Mapping[str, Any]) -> Answer:
        with speaking_for(caller.tier):
            answer: Answer = self.fn(Call(self.prism, caller), **given)
        return answer

    async def _outcome(self, asked: Callable[[], Answer], context: Context[Any, Any]) -> Answer | Exception:
        """Return what the verb answers, or the error that it raises; meanwhile say how long it has taken."""
        reads, given_up, caller = self.verb.needs == "read", threading.Event(), callers.current()
        asker = asked_by(f"{self.name} of {caller.agent}", given_up.is_set, confined=caller.pids is not None)
        outcome: Answer | Exception = {}

        def settled() -> Answer | Exception:
            try:
                with asker if reads else nullcontext():
                    return asked()
            except Exception as error:
                return error

        try:
            async with anyio.create_task_group() as both:
                both.start_soon(_tell_progress, self.name, context)
                outcome = await to_thread.run_sync(settled, abandon_on_cancel=reads)
                both.cancel_scope.cancel()
        finally:
            given_up.set()  # a query that goes on for nobody is stopped
        return outcome

    def _refused(self, error: PrismError) -> CallToolResult:
        return refused(error, self.offered())


@cache
def _arguments(function: Callable[..., Any]) -> type[ArgModelBase]:
    """Return the model of what a function takes beside the call; an argument that it does not know is an error."""
    model = func_metadata(function, skip_names=["call"], structured_output=False).arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    return model


def _defect(name: str) -> PrismError:
    """Return what an agent is told of an error that nobody foresaw; its particulars stay in the log."""
    return PrismError(
        f"{name} failed",
        rule="this should not happen: it is a defect of prism, or of the machine it runs on",
        mend="go on without it, and tell the person you work for: the particulars are in the log",
    )


def refused(error: PrismError, offered: Collection[str]) -> CallToolResult:
    """Return an error as the answer of a tool."""
    return _result(failures.told(error, offered), is_error=True)


def _result(answer: Answer, *, is_error: bool = False) -> CallToolResult:
    """Return an answer; an error is text alone, for some clients hold structured content against the output schema."""
    content: list[ContentBlock] = [TextContent(type="text", text=text_of(answer))]
    if is_error:
        return CallToolResult(content=content, is_error=True)
    return CallToolResult(content=content, structured_content=answer)


def told_by(result: CallToolResult) -> Answer:
    """Return what a result of these tools says, an error too."""
    [text] = result.content
    assert isinstance(text, TextContent)
    answer: Answer = json.loads(text.text)
    return answer


async def _tell_progress(name: str, context: Context[Any, Any]) -> None:
    """Say to a caller who wants to know that it is still going on; nobody knows how long it will take."""
    began = time.monotonic()
    while True:
        await anyio.sleep(_TICK)
        taken = time.monotonic() - began
        await context.report_progress(taken, None, f"{name}: {taken:.0f} s")


def _parsed(value: Any, kind: str | None) -> Any:
    """Return an object or list that came as the text of its JSON, which some clients send, as what it is.

    Where any value will do (``kind`` None) that is a list.
    """
    if not isinstance(value, str) or kind not in ("object", "array", None) or (kind is None and value[:1] != "["):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _compact(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema without what tells an agent nothing: titles, null as an alternative, empty defaults."""
    whole = {name: value for name, value in schema.items() if name not in _NOISE}
    for choice in whole.pop("anyOf", ()):
        if choice != {"type": "null"}:
            whole = {**choice, **whole}
    if whole.get("default", "said") in (None, "", [], {}):
        del whole["default"]
    if "properties" in whole:
        whole["properties"] = {name: _compact(inner) for name, inner in whole["properties"].items()}
    return whole
