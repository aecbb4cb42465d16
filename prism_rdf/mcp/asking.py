"""The tools that ask: recall, SPARQL, saved queries, evidence; and the one that begins a session.

Each docstring is what an agent reads of the tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from prism_rdf.datasets import QueryAnswer
from prism_rdf.errors import RefusedError
from prism_rdf.mcp.arguments import AsOf, Cursor, Entity, KnownAt, MaxTokens, MaybeEntity, Pid, TypeName
from prism_rdf.mcp.budget import CHARACTERS_PER_TOKEN, DEFAULT_TOKENS, Answer, page
from prism_rdf.mcp.calls import Call, known_at_of
from prism_rdf.values import term_text

_HIT = ("id", "content", "score", "state_flag", "state_summary", "entity", "source", "valid_from", "valid_until")
_SNIPPET = 700  # characters of a hit, unless there is room for more
_MOST_ROWS = 10_000

Timeout = Annotated[float, Field(description="Seconds, after which it is stopped.", gt=0, le=600)]


def semantic_recall(
    call: Call,
    *,
    query: Annotated[str, Field(description="A question, or words.", examples=["which database do we use"])],
    pid: Pid = "",
    as_of: AsOf = "",
    prefer_wip: Annotated[bool, Field(description="Drafts count as the present.")] = True,
    limit: Annotated[int, Field(description="At most so many.", ge=1, le=100)] = 10,
    current_only: Annotated[bool, Field(description="Leave out what is historical.")] = False,
    type_name: TypeName = "",
    entity_uuid: MaybeEntity = "",
    kind: Annotated[str, Field(description="Only memories of this kind.")] = "",
    known_at: KnownAt = "",
    cursor: Cursor = "",
    max_tokens: MaxTokens = DEFAULT_TOKENS,
) -> Answer:
    """Find what was said of a matter. Each hit is told apart: current, historical (it no longer holds) or wip.

    anchors are the entities that the question names.
    """
    from prism_rdf.recall import snippet

    project = call.project(pid)
    options: dict[str, Any] = {
        "as_of": as_of or None,
        "prefer_wip": prefer_wip,
        "known_at": known_at_of(known_at),
        "mode": "current" if current_only else "all",
        "type_name": type_name,
        "entity": entity_uuid,
        "kind": kind,
        "cursor": cursor,
    }
    told = project.recall(query, limit=limit, **options)
    width = max(_SNIPPET, max_tokens * CHARACTERS_PER_TOKEN // (2 * max(1, len(told["hits"]))))
    hits = [{name: hit[name] for name in _HIT if hit.get(name) is not None} for hit in told["hits"]]
    for hit in hits:
        if len(hit["content"]) > width:
            hit["content"] = snippet(hit["content"], query, width)
        hit.setdefault("state_flag", None)
        hit.setdefault("state_summary", None)
    unwell = {name: leg for name, leg in told["legs"].items() if leg["status"] not in ("ok", "absent")}
    whole = {
        "query": query,
        "as_of": told["as_of"],
        **({"time": told["time"]} if told["time"] else {}),
        "anchors": [_anchor(each) for each in told["anchors"]],
        **({"unwell": unwell} if unwell else {}),
    }
    answer = page(whole, "hits", hits, "id", "", max_tokens)
    following = told["cursor"]
    if answer["left_out"]:
        following = project.recall(query, limit=len(answer["hits"]), **options)["cursor"]
    return {**answer, "cursor": following}


def _anchor(told: Mapping[str, Any]) -> Answer:
    return {name: value for name, value in told.items() if value not in (None, [], {}) and name != "history"}


def prism_sparql(
    call: Call,
    *,
    query: Annotated[
        str,
        Field(
            description="SELECT, ASK or CONSTRUCT; prism:, type:, skos:, … are declared.",
            examples=["SELECT ?title { ?adr a type:ADR ; prism:title ?title }"],
        ),
    ],
    pid: Pid = "",
    as_of: AsOf = "",
    known_at: KnownAt = "",
    dataset: Annotated[
        Literal["current", "raw"], Field(description="The world at a time, or all graphs as stored.")
    ] = "current",
    timeout: Timeout = 30,
    cursor: Cursor = "",
    max_tokens: MaxTokens = DEFAULT_TOKENS,
) -> Answer:
    """Ask SPARQL of a project, read only. In the world now a thing has its type, its properties and references."""
    if dataset == "raw":
        _check_raw(call)
    scope = None if dataset == "raw" else call.project(pid).pid
    limits: dict[str, Any] = {"timeout": timeout, "max_rows": _MOST_ROWS}
    found = call.prism.sparql(
        query, pid=scope, as_of=as_of or None, known_at=known_at_of(known_at), dataset=dataset, **limits
    )
    return _rows(found, cursor, max_tokens)


def _check_raw(call: Call) -> None:
    if call.caller.pids is not None:
        raise RefusedError(
            "this connection sees some projects, and the raw dataset shows all of them",
            rule="a connection sees its projects alone",
            mend="use the current dataset, with as_of for another time",
        )


def _rows(found: QueryAnswer, cursor: str, max_tokens: int) -> Answer:
    whole: Answer = {"kind": found.kind, "columns": found.variables, "commit": found.commit}
    if found.truncated:
        whole["truncated"] = f"there are more than {_MOST_ROWS} rows: LIMIT and OFFSET, or an aggregate, tell the rest"
    return page(whole, "rows", [_row(row) for row in found.rows()], "", cursor, max_tokens)


def _row(row: tuple[Any, ...]) -> list[Any]:
    return [term if isinstance(term, bool) else term_text(term) for term in row]


def prism_start(
    call: Call,
    *,
    pid: Pid = "",
    since: Annotated[str, Field(description="What is new since this commit or time; default: your last start.")] = "",
    as_of: AsOf = "",
    max_tokens: Annotated[int, Field(description="Size of the answer.", ge=500, le=8_000)] = 1_500,
) -> Answer:
    """Begin here: where the project stands, what is new since you last started, drafts, reminders, how to proceed."""
    caller = call.caller
    remembered = caller.agent if caller.may("write") and caller.tier < 3 else ""  # where it was is written
    project = call.project(pid)
    return project.start(remembered, known_at_of(since), as_of or None, max_tokens)


def prism_queries(
    call: Call,
    *,
    pid: Pid = "",
    name: Annotated[str, Field(description="Run this one.", examples=["stale-drafts"])] = "",
    params: Annotated[dict[str, Any], Field(description="Its parameters.", examples=[{"days": 30}])] = {},  # noqa: B006
    as_of: AsOf = "",
    known_at: KnownAt = "",
    timeout: Timeout = 30,
    cursor: Cursor = "",
    max_tokens: MaxTokens = DEFAULT_TOKENS,
) -> Answer:
    """List the saved queries of a project, each with what it finds and its parameters; with name, run one."""
    project = call.project(pid)
    if not name:
        return page({}, "queries", [_query(each) for each in project.queries()], "name", cursor, max_tokens)
    saved = project.saved_query(name)
    if saved["dataset"] == "raw" and saved["origin"] != "shipped":
        _check_raw(call)
    limits: dict[str, Any] = {"timeout": timeout, "max_rows": _MOST_ROWS}
    found = project.run_query(name, as_of=as_of or None, known_at=known_at_of(known_at), **limits, **params)
    return _rows(found, cursor, max_tokens)


def _query(told: Mapping[str, Any]) -> Answer:
    said = {name: told[name] for name in ("name", "summary", "dataset", "origin", "problem") if told[name]}
    params = [
        {name: value for name, value in each.items() if value not in (None, "", False)} for each in told["parameters"]
    ]
    return {**said, "parameters": params, "columns": [each["name"] for each in told["columns"]]}


def prism_evidence(
    call: Call,
    *,
    pid: Pid = "",
    entity_uuid: Entity,
    predicate: Annotated[str, Field(description="Only of this property.")] = "",
    as_of: AsOf = "",
    known_at: KnownAt = "",
    cursor: Cursor = "",
    max_tokens: MaxTokens = DEFAULT_TOKENS,
) -> Answer:
    """Tell what sources say for and against each claim about an entity, and how it stands; worst first.

    It is AFFIRMATIVE, CONTESTED, CONTRADICTORY, INSUFFICIENT_DATA or UNCLASSIFIED.
    """
    project = call.project(pid)
    told = project.evidence(entity_uuid, predicate or None, as_of or None, known_at_of(known_at))
    whole = {name: told[name] for name in ("entity", "identifier", "as_of")}
    return page(whole, "claims", told["claims"], "", cursor, max_tokens)
