"""The tools that tell what is known: types, entities, states, histories, references; nothing here writes.

Each docstring is what an agent reads of the tool.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from prism_rdf.errors import BadArgument, UnknownType
from prism_rdf.mcp.arguments import (
    AsOf,
    Cursor,
    Entity,
    KnownAt,
    Limit,
    MaxTokens,
    MaybeEntity,
    Pid,
    Predicate,
    TypeName,
)
from prism_rdf.mcp.budget import DEFAULT_TOKENS, Answer, page
from prism_rdf.mcp.calls import Call, known_at_of
from prism_rdf.mcp.listing import Listing, references_in

_MOST_REFERENCES = 2_000  # that are looked up one by one
Before = Annotated[str, Field(description="The earlier time; a day means its end.", examples=["2025-10-30"])]
After = Annotated[str, Field(description="The later time; default now.")]


def prism_list_types(
    call: Call,
    *,
    pid: Pid = "",
    type_name: Annotated[str, Field(description="Tell this one in full.", examples=["ADR"])] = "",
    cursor: Cursor = "",
    max_tokens: MaxTokens = DEFAULT_TOKENS,
) -> Answer:
    """List the types of entities with their properties (! immutable, * many values).

    With type_name also datatypes, and which kinds of reference may lead to which types.
    """
    types = known_types(call, pid)
    if type_name:
        return {"types": [_whole(type_of(types, type_name))], "left_out": 0, "cursor": None}
    return page({}, "types", [_brief(each) for each in types], "name", cursor, max_tokens)


def known_types(call: Call, pid: str) -> list[dict[str, Any]]:
    """Return the types of a project; those that ship where none is named and none is there yet."""
    several = not (pid or call.caller.pid) and len(call.pids()) != 1
    return (call.prism.project("shipped") if several else call.project(pid, new=True)).list_types()


def type_of(types: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    """Return the type of this name. Raises UnknownType."""
    by_name = {each["name"].casefold(): each for each in types}
    if name.casefold() in by_name:
        return by_name[name.casefold()]
    close = difflib.get_close_matches(name.casefold(), by_name, n=2, cutoff=0.5)
    meant = f"did you mean {' or '.join(str(by_name[each]['name']) for each in close)}? " if close else ""
    raise UnknownType(
        f"there is no type {name!r}",
        rule="an entity has one of the types that its project declares",
        mend=f"{meant}the types are: {', '.join(each['name'] for each in types)}",
    )


def _brief(known: Mapping[str, Any]) -> Answer:
    marked = (f"{prop['name']}{'!' * prop['immutable']}{'*' * prop['multi']}" for prop in known["properties"])
    return {"name": known["name"], "zone": known["zone"], "properties": " ".join(marked)}


def _whole(known: Mapping[str, Any]) -> Answer:
    names = ("name", "zone", "ptype", "superclasses", "can_reference")
    props = [
        {
            "name": prop["name"],
            "value": prop["datatype"] or prop["class"],
            **{mark: True for mark in ("multi", "immutable", "identifying") if prop[mark]},
        }
        for prop in known["properties"]
    ]
    return {**{name: known[name] for name in names}, "properties": props}


def prism_list_entities(
    call: Call,
    *,
    pid: Pid = "",
    type_name: TypeName = "",
    limit: Limit = 50,
    as_of: AsOf = "",
    cursor: Cursor = "",
    max_tokens: MaxTokens = DEFAULT_TOKENS,
) -> Answer:
    """List the entities of a project, or of one type, with their state; by identifier."""
    project = call.project(pid)
    iri = type_of(project.list_types(), type_name)["iri"] if type_name else ""
    listing = Listing(call.prism, project.pid, iri, as_of)
    seen, _, last = cursor.partition(":")
    uuids = listing.after(last if seen.isdecimal() else cursor, limit)
    states = (project.state_as_of(uuid, as_of or None) for uuid in uuids)
    shown = [_entity(state) for state in states if state["state"] is not None]
    total = listing.total()
    answer = page({"total": total}, "entities", shown, "uuid", "", max_tokens)
    told = (int(seen) if seen.isdecimal() else 0) + len(answer["entities"])
    left = max(0, total - told) if answer["entities"] else 0
    return {**answer, "left_out": left, "cursor": f"{told}:{answer['entities'][-1]['uuid']}" if left else None}


def _entity(state: Mapping[str, Any]) -> Answer:
    return {name: state[name] for name in ("uuid", "type", "identifier", "flag", "valid_from", "props")}


def prism_state_as_of(
    call: Call,
    *,
    pid: Pid = "",
    entity_uuid: Entity,
    as_of: AsOf = "",
    prefer_wip: Annotated[bool, Field(description="Show the draft, if there is one.")] = True,
    known_at: KnownAt = "",
) -> Answer:
    """Tell what an entity is, or was at a time; state null and a reason where nothing held."""
    return call.project(pid).state_as_of(entity_uuid, as_of or None, known_at_of(known_at), prefer_wip)


def prism_history(
    call: Call,
    *,
    pid: Pid = "",
    entity_uuid: Entity,
    known_at: KnownAt = "",
    cursor: Cursor = "",
    max_tokens: MaxTokens = DEFAULT_TOKENS,
) -> Answer:
    """Tell every state of an entity, latest first, each with its interval of valid time."""
    states = call.project(pid).history(entity_uuid, known_at_of(known_at))
    whole = {name: states[-1][name] for name in ("entity", "type", "identifier")} if states else {}
    names = ("state", "valid_from", "valid_until", "recorded_at", "commit_status", "flag", "props")
    told = [{name: state[name] for name in names} for state in reversed(states)]
    return page(whole, "states", told, "state", cursor, max_tokens)


def prism_diff(
    call: Call,
    *,
    pid: Pid = "",
    before: Before,
    after: After = "",
    entity_uuid: MaybeEntity = "",
    known_at: KnownAt = "",
    cursor: Cursor = "",
    max_tokens: MaxTokens = DEFAULT_TOKENS,
) -> Answer:
    """Tell what changed between two times, of one entity or the whole project: properties and references."""
    found = call.project(pid).diff(before, after or None, entity_uuid or None, known_at_of(known_at))
    told = [{name: value for name, value in each.items() if name != "entity"} for each in found]
    return page({"before": before, "after": after or None}, "changes", told, "uuid", cursor, max_tokens)


def prism_blame(
    call: Call,
    *,
    pid: Pid = "",
    entity_uuid: Entity,
    predicate: Predicate,
    as_of: AsOf = "",
    known_at: KnownAt = "",
) -> Answer:
    """Tell why a property has its value: since when, and which event set it, by whom, from which source."""
    told = call.project(pid).blame(entity_uuid, predicate, as_of or None, known_at_of(known_at))
    kept = [{name: value for name, value in each.items() if value is not None} for each in told["events"]]
    return {**told, "events": kept}


def prism_resolve_alias(
    call: Call,
    *,
    pid: Pid = "",
    surface_form: Annotated[str, Field(description="A name, as it is written.", examples=["PrismGR"])],
    as_of: AsOf = "",
    known_at: KnownAt = "",
) -> Answer:
    """Find the entity that a name means: by identifier, former name or alias, following merges, with why."""
    told = call.project(pid).resolve_alias(surface_form, as_of or None, known_at_of(known_at))
    chain = [{name: value for name, value in step.items() if value is not None} for step in told["chain"]]
    return {**told, "chain": chain}


def prism_list_references(
    call: Call,
    *,
    pid: Pid = "",
    source: MaybeEntity = "",
    target: MaybeEntity = "",
    type: Annotated[str, Field(description="Kind of reference.", examples=["DEPENDS_ON"])] = "",
    as_of: AsOf = "",
    cursor: Cursor = "",
    max_tokens: MaxTokens = DEFAULT_TOKENS,
) -> Answer:
    """List references between entities; give source, target or both."""
    project = call.project(pid)
    if not (source or target) and (count := references_in(call.prism, project.pid)) > _MOST_REFERENCES:
        raise BadArgument(
            f"{project.pid} has {count} references",
            rule=f"without source and target at most {_MOST_REFERENCES} are listed",
            mend="give source or target; prism_impact follows them, prism_sparql asks ?source prism:DEPENDS_ON ?target",
        )
    found = project.list_references(source or None, target or None, type or None, as_of or None)
    return page({}, "references", [_reference(each) for each in found], "reference", cursor, max_tokens)


def _reference(told: Mapping[str, Any]) -> Answer:
    return {name: value for name, value in told.items() if value not in (None, {})}


def prism_impact(
    call: Call,
    *,
    pid: Pid = "",
    entity_uuid: Entity,
    as_of: AsOf = "",
    kinds: Annotated[list[str], Field(description="Only these kinds of reference.")] = [],  # noqa: B006
    depth: Annotated[int, Field(description="At most so many steps; 0: all.", ge=0)] = 0,
    cursor: Cursor = "",
    max_tokens: MaxTokens = DEFAULT_TOKENS,
) -> Answer:
    """Tell what depends on an entity, directly and through others, nearest first, each with the way to it."""
    told = call.project(pid).impact(entity_uuid, as_of or None, kinds=kinds or None, depth=depth or None)
    affected = [
        {
            "uuid": each["uuid"],
            "identifier": each["entity"]["identifier"],
            "type": each["type"],
            "depth": each["depth"],
            "path": [
                f"{step['source']['identifier']} {step['kind']} {step['target']['identifier']}" for step in each["path"]
            ],
        }
        for each in told["affected"]
    ]
    whole = {name: told[name] for name in ("entity", "as_of", "kinds")}
    return page(whole, "affected", affected, "uuid", cursor, max_tokens)
