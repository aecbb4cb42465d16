"""The tools of review: what was guessed, and ruling on it.

Each docstring is what an agent reads of the tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from prism_rdf.errors import BadArgument
from prism_rdf.mcp.arguments import (
    Candidate,
    Cursor,
    Limit,
    MaxTokens,
    MaybeEntity,
    NewStatus,
    Note,
    Pid,
    StatusFilter,
)
from prism_rdf.mcp.budget import DEFAULT_TOKENS, Answer, page
from prism_rdf.mcp.calls import Call, props_of, receipt
from prism_rdf.project import Project

_DECISIONS: Mapping[str, Literal["promote", "reject", "undo"]] = {
    "promoted": "promote",
    "rejected": "reject",
    "pending": "undo",
}
_CLUE = ("quote", "source", "extractor", "confidence", "cause_memory")


def prism_list_fact_candidates(
    call: Call,
    *,
    pid: Pid = "",
    status_filter: StatusFilter = "pending",
    kind: Annotated[Literal["fact", "reference"], Field(description="Guessed values, or guessed references.")] = "fact",
    entity_uuid: MaybeEntity = "",
    limit: Limit = 20,
    cursor: Cursor = "",
    max_tokens: MaxTokens = DEFAULT_TOKENS,
) -> Answer:
    """List guessed facts, the longest waiting first, with the words they rest on and what is believed instead."""
    return _listed(call.project(pid), kind, status_filter, entity_uuid, limit, cursor, max_tokens)


def prism_list_alias_candidates(
    call: Call,
    *,
    pid: Pid = "",
    status_filter: StatusFilter = "pending",
    entity_uuid: MaybeEntity = "",
    limit: Limit = 20,
    cursor: Cursor = "",
    max_tokens: MaxTokens = DEFAULT_TOKENS,
) -> Answer:
    """List guessed aliases, the longest waiting first, with the words they rest on."""
    return _listed(call.project(pid), "alias", status_filter, entity_uuid, limit, cursor, max_tokens)


def _listed(
    project: Project,
    kind: Literal["fact", "alias", "reference"],
    status: str,
    entity: str,
    limit: int,
    cursor: str,
    max_tokens: int,
) -> Answer:
    wanted = None if status == "all" else status
    told = project.list_candidates(kind, wanted, entity or None, limit=limit, cursor=cursor or None)
    shown = [_brief(each) for each in told["candidates"]]
    answer = page({"total": told["total"]}, "candidates", shown, "uuid", "", max_tokens)
    cut = answer["left_out"]
    following = answer["candidates"][-1]["uuid"] if cut else told["cursor"]
    behind = 0
    if told["cursor"]:  # how many more there are is known only of the first page
        behind = told["total"] - len(shown) if not cursor else 0
    return {**answer, "left_out": cut + behind, "cursor": following}


def _brief(told: Mapping[str, Any]) -> Answer:
    names = ("uuid", "kind", "status", "proposal", "valid_from", "valid_until", "confidence", "believed")
    clues = [{name: clue[name] for name in _CLUE if clue[name] is not None} for clue in told["clues"]]
    rulings = [{name: ruling[name] for name in ("status", "reviewer", "note")} for ruling in told["rulings"]]
    body = {**{name: told[name] for name in names}, "clues": clues, "rulings": rulings}
    return {name: value for name, value in body.items() if value not in (None, [])}


def prism_review_fact_candidate(
    call: Call,
    *,
    pid: Pid = "",
    candidate_id: Candidate,
    new_status: NewStatus,
    note: Note = "",
    edits: Annotated[
        dict[str, Any], Field(description="Corrections laid over it when promoted.", examples=[{"value": "Accepted"}])
    ] = {},  # noqa: B006
) -> Answer:
    """Rule on a guessed fact or reference: promoted writes it into the history, rejected keeps it from coming back."""
    return _ruled(call, pid, candidate_id, ("fact", "reference"), new_status, note, edits)


def prism_review_alias_candidate(
    call: Call,
    *,
    pid: Pid = "",
    candidate_id: Candidate,
    new_status: NewStatus,
    note: Note = "",
) -> Answer:
    """Rule on a guessed alias: promoted makes it resolve, rejected keeps it from coming back."""
    return _ruled(call, pid, candidate_id, ("alias",), new_status, note, {})


def _ruled(
    call: Call,
    pid: str,
    candidate: str,
    kinds: tuple[str, ...],
    new_status: str,
    note: str,
    edits: Mapping[str, Any],
) -> Answer:
    project = call.project(pid)
    kind = project.candidate(candidate)["kind"]
    if kind not in kinds:
        other = "prism_review_alias_candidate" if kind == "alias" else "prism_review_fact_candidate"
        raise BadArgument(
            f"candidate {candidate} is a guessed {kind}",
            rule=f"this tool rules on a guessed {' or '.join(kinds)}",
            mend=f"call {other}",
        )
    reviewer = call.caller.agent or "agent"
    decision = _DECISIONS[new_status]
    return receipt(project.review(candidate, decision, reviewer=reviewer, note=note, edits=props_of(edits) or None))
