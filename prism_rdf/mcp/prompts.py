"""What a person can have an agent do with one word: begin, wrap up, review the queue; an agent reads these texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from anyio import to_thread
from mcp.server.mcpserver import MCPServer
from pydantic import Field

from prism_rdf.mcp.asking import prism_start
from prism_rdf.mcp.budget import text_of
from prism_rdf.mcp.calls import Call
from prism_rdf.mcp.reviewing import prism_list_alias_candidates, prism_list_fact_candidates

Pid = Annotated[str, Field(description="The project.")]

_BEGIN = """Begin work on the project {pid}. This is where it stands:

{stand}

Say in a few lines what is new and what wants attention. Then go on with: {task}
Before you decide anything, ask semantic_recall what was decided of it; heed state_flag, for what is historical no \
longer holds. Open a draft with prism_wip as soon as something is explored and not yet decided."""

_WRAP_UP = """Wrap up the work on the project {pid}.

1. For each thing decided: prism_fact or prism_transition, with source and description; prism_reference for what it \
depends on or supersedes.
2. For each reason, lesson or promise worth knowing next time: prism_remember, one matter each, about its entities.
3. For each draft (these are open: {drafts}): prism_seal what is decided, prism_discard what is dropped, leave the rest.
4. What you only inferred is of tier 3, with the words it rests on as quote.
Say at the end what you recorded, with the commit numbers."""

_REVIEW = """Review what was guessed in the project {pid}.

{waiting}

Go through them one by one with the person you work for: show the proposal, the words it rests on, and what is \
believed instead. Promote only what the words say; reject what they do not, with a note. Rule with \
prism_review_fact_candidate and prism_review_alias_candidate; the cursor brings the rest."""


def register(server: MCPServer[Any], call: Callable[[], Call]) -> None:
    """Add the prompts to a server; ``call`` says who asks now."""

    @server.prompt(title="Start of work")
    async def start_of_work(
        pid: Pid, task: Annotated[str, Field(description="What to do.")] = "what the person asks for next"
    ) -> str:
        """Learn where a project stands, and begin."""
        asked = call()
        stand = await to_thread.run_sync(lambda: prism_start(asked, pid=pid))
        return _BEGIN.format(pid=pid, stand=text_of(stand), task=task)

    @server.prompt(title="Wrap up")
    async def wrap_up(pid: Pid) -> str:
        """Record what was decided, learnt and left open."""
        asked = call()
        drafts = await to_thread.run_sync(lambda: asked.project(pid).drafts())
        named = ", ".join(f"{each['identifier']} ({each['wip']})" for each in drafts) or "none"
        return _WRAP_UP.format(pid=pid, drafts=named)

    @server.prompt(title="Review the queue")
    async def review_queue(pid: Pid) -> str:
        """Go through what was guessed, and rule on it."""
        asked = call()

        def waiting() -> str:
            facts = prism_list_fact_candidates(asked, pid=pid, max_tokens=2_000)
            aliases = prism_list_alias_candidates(asked, pid=pid, max_tokens=1_000)
            return text_of({"facts": facts, "aliases": aliases})

        return _REVIEW.format(pid=pid, waiting=await to_thread.run_sync(waiting))
