"""The tools that record: entities, changes, drafts, names, references, memories, merges; each is one commit.

Each docstring is what an agent reads of the tool.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from prism_rdf.mcp.arguments import (
    CauseCommit,
    CauseMemory,
    Confidence,
    Description,
    DryRun,
    Entity,
    Key,
    Pid,
    Predicate,
    Props,
    Quote,
    Source,
    Tier,
    TypeName,
    ValidFrom,
    ValidUntil,
)
from prism_rdf.mcp.budget import Answer
from prism_rdf.mcp.calls import Call, given, plain, props_of, receipt


def prism_entity(
    call: Call,
    *,
    pid: Pid = "",
    type_name: TypeName,
    initial_props: Props,
    valid_from: ValidFrom = "",
    source: Source = "",
    description: Description = "",
    tier: Tier = None,
    idempotency_key: Key = "",
) -> Answer:
    """Make an entity with its first state. Look first whether it is there (prism_resolve_alias)."""
    said = given(valid_from=valid_from, description=description, idempotency_key=idempotency_key)
    project = call.project(pid, new=True)
    props, by = props_of(initial_props), call.tier(tier)
    return receipt(project.entity(type_name, props, source=source or call.source, tier=by, **said))


def prism_fact(
    call: Call,
    *,
    pid: Pid = "",
    entity_uuid: Entity,
    predicate: Predicate,
    value: Annotated[Any, Field(description="A list for many, null to clear.", examples=["Accepted"])],
    valid_from: ValidFrom = "",
    valid_until: ValidUntil = "",
    source: Source = "",
    description: Description = "",
    cause_memory: CauseMemory = "",
    tier: Tier = None,
    quote: Quote = "",
    confidence: Confidence = None,
    idempotency_key: Key = "",
) -> Answer:
    """Record that one property of an entity has a value, from valid_from on. Of tier 3 it awaits review."""
    said = given(
        valid_from=valid_from,
        valid_until=valid_until,
        description=description,
        cause_memory=cause_memory,
        quote=quote,
        confidence=confidence,
        idempotency_key=idempotency_key,
    )
    by = call.tier(tier)
    project = call.project(pid)
    return receipt(project.fact(entity_uuid, predicate, plain(value), source=source or call.source, tier=by, **said))


def prism_transition(
    call: Call,
    *,
    pid: Pid = "",
    entity_uuid: Entity,
    props: Props,
    event_type: Annotated[
        str,
        Field(description="What happened; correction: outranks what was said wrongly.", examples=["rename"]),
    ] = "transition",
    valid_from: ValidFrom = "",
    valid_until: ValidUntil = "",
    source: Source = "",
    description: Description = "",
    cause_memory: CauseMemory = "",
    cause_commit: CauseCommit = "",
    tier: Tier = None,
    idempotency_key: Key = "",
) -> Answer:
    """Record that several properties changed at once, as one event (rename, status_transition, correction, …)."""
    said = given(
        valid_from=valid_from,
        valid_until=valid_until,
        description=description,
        cause_memory=cause_memory,
        cause_commit=cause_commit,
        idempotency_key=idempotency_key,
    )
    by = call.tier(tier)
    project, told = call.project(pid), props_of(props)
    return receipt(project.transition(entity_uuid, told, event_type, source=source or call.source, tier=by, **said))


def prism_wip(
    call: Call,
    *,
    pid: Pid = "",
    entity_uuid: Entity,
    props: Props,
    source: Annotated[
        Literal["session_intent", "working_tree", "explicit"], Field(description="What shows that it is one.")
    ] = "session_intent",
    idempotency_key: Key = "",
) -> Answer:
    """Begin or go on with the draft of an entity: what is explored and not yet decided.

    Do it early: a draft that comes to nothing costs little. prism_seal makes it history, prism_discard drops it.
    """
    said = given(idempotency_key=idempotency_key)
    return receipt(call.project(pid).wip(entity_uuid, props_of(props), source, **said))


def prism_seal(
    call: Call,
    *,
    pid: Pid = "",
    wip_state_uuid: Annotated[str, Field(description="wip of prism_wip, or the entity.")],
    props_at_seal: Annotated[Props, Field(description="What differs from the draft in the end.")] = {},  # noqa: B006
    sealing_event: Annotated[str, Field(description="What happened.", examples=["decided"])] = "wip_sealed",
    valid_from: ValidFrom = "",
    description: Description = "",
    cause_commit: CauseCommit = "",
    tier: Tier = None,
    idempotency_key: Key = "",
) -> Answer:
    """Seal a draft: what it says, with props_at_seal over it, becomes history; a note tells what differs."""
    said = given(
        valid_from=valid_from,
        description=description,
        cause_commit=cause_commit,
        idempotency_key=idempotency_key,
    )
    by = call.tier(tier)
    project, over = call.project(pid), props_of(props_at_seal)
    return receipt(project.seal(wip_state_uuid, over, event_type=sealing_event, tier=by, **said))


def prism_discard(
    call: Call, *, pid: Pid = "", wip_state_uuid: Annotated[str, Field(description="wip of prism_wip, or the entity.")]
) -> Answer:
    """Close a draft without making history of it."""
    return receipt(call.project(pid).discard(wip_state_uuid))


def prism_alias(
    call: Call,
    *,
    pid: Pid = "",
    surface_form: Annotated[str, Field(description="The other name, as it is written.", examples=["PrismGR"])],
    canonical_entity_uuid: Entity,
    authority_tier: Tier = None,
    kind: Annotated[
        Literal["former", "synonym"], Field(description="former: it was the name; synonym: it is another name.")
    ] = "former",
    valid_from: ValidFrom = "",
    valid_until: ValidUntil = "",
    source: Source = "",
    quote: Quote = "",
    confidence: Confidence = None,
    idempotency_key: Key = "",
) -> Answer:
    """Record another name of an entity. Tiers 1 and 2 hold at once; of tier 3 it awaits review."""
    said = given(
        valid_from=valid_from,
        valid_until=valid_until,
        quote=quote,
        confidence=confidence,
        idempotency_key=idempotency_key,
    )
    by = call.tier(authority_tier)
    project, where = call.project(pid), source or call.source
    told = project.alias(surface_form, canonical_entity_uuid, kind=kind, tier=by, source=where, **said)
    return receipt(told, "prism_review_alias_candidate")


def prism_reference(
    call: Call,
    *,
    pid: Pid = "",
    source: Entity,
    target: Entity,
    reference_type: Annotated[
        str,
        Field(description="DEPENDS_ON, SUPERSEDES, IMPLEMENTS, …: prism_list_types.", examples=["DEPENDS_ON"]),
    ],
    valid_from: ValidFrom = "",
    valid_until: ValidUntil = "",
    source_document: Source = "",
    tier: Tier = None,
    quote: Quote = "",
    confidence: Confidence = None,
    idempotency_key: Key = "",
) -> Answer:
    """Record that one entity refers to another; the types decide which kinds are allowed."""
    said = given(
        valid_from=valid_from,
        valid_until=valid_until,
        quote=quote,
        confidence=confidence,
        idempotency_key=idempotency_key,
    )
    by, where = call.tier(tier), source_document or call.source
    project = call.project(pid)
    return receipt(project.reference(source, target, reference_type, source_document=where, tier=by, **said))


def prism_remember(
    call: Call,
    *,
    pid: Pid = "",
    content: Annotated[str, Field(description="The text.", examples=["We chose a graph because joins hurt."])],
    kind: Annotated[str, Field(description="decision, lesson, note, …", examples=["decision"])] = "note",
    about: Annotated[list[str], Field(description="Entities it is about.")] = [],  # noqa: B006
    source: Annotated[str, Field(description="Where it was said; # orders a series.", examples=["chat-7#12"])] = "",
    speaker: Annotated[str, Field(description="user, assistant or a name.")] = "",
    created_at: Annotated[str, Field(description="When it was said; default now.")] = "",
    tier: Tier = None,
    idempotency_key: Key = "",
) -> Answer:
    """Keep a text for semantic_recall: a decision, a reason, a lesson. One matter each, in full sentences."""
    said = given(source=source, speaker=speaker, created_at=created_at, idempotency_key=idempotency_key)
    by = call.tier(tier)
    return receipt(call.project(pid, new=True).remember(content, kind, about=about, tier=by, **said))


def prism_merge(
    call: Call,
    *,
    pid: Pid = "",
    duplicate: Entity,
    into: Entity,
    dry_run: DryRun = False,
    description: Description = "",
    tier: Tier = None,
    idempotency_key: Key = "",
) -> Answer:
    """Say that two entities are one thing that was entered twice; dry_run first. prism_unmerge takes it back."""
    said = given(description=description, idempotency_key=idempotency_key)
    by = call.tier(tier)
    project = call.project(pid)
    told = project.merge(duplicate, into, dry_run=dry_run, tier=by, source=call.source, **said)
    moves = {name: shown for name, shown in told["moves"].items() if shown}
    return {**told, "moves": moves}


def prism_unmerge(call: Call, *, pid: Pid = "", duplicate: Entity) -> Answer:
    """Take a merge back: the two are two again."""
    return receipt(call.project(pid).unmerge(duplicate))


def prism_forget(
    call: Call,
    *,
    pid: Pid = "",
    target: Annotated[str, Field(description="An entity, or the id of a memory.")],
    dry_run: DryRun = True,
) -> Answer:
    """Remove an entity or a memory for good, with what rests on it. Nothing takes this back."""
    return call.project(pid).forget(target, dry_run=dry_run)


def prism_claim(
    call: Call,
    *,
    pid: Pid = "",
    entity_uuid: Entity,
    predicate: Predicate,
    value: Annotated[Any, Field(description="The value in question.", examples=["Accepted"])],
    stance: Annotated[
        Literal["supports", "contradicts"], Field(description="What the source says of it.")
    ] = "supports",
    quote: Annotated[str, Field(description="The words of the source.")] = "",
    source: Source = "",
    memory: Annotated[str, Field(description="The memory they are in (id).")] = "",
    confidence: Annotated[float | None, Field(description="How sure the source is.", ge=0, le=1)] = None,
    valid_from: Annotated[str, Field(description="When it is said to hold; default always.")] = "",
    valid_until: ValidUntil = "",
    tier: Tier = None,
    idempotency_key: Key = "",
) -> Answer:
    """File what a source says for or against a value of a property. The state stays; prism_evidence shows both."""
    said = given(
        quote=quote,
        memory=memory,
        confidence=confidence,
        valid_from=valid_from,
        valid_until=valid_until,
        idempotency_key=idempotency_key,
    )
    by, where = call.tier(tier), source or call.source
    project = call.project(pid)
    return receipt(project.claim(entity_uuid, predicate, plain(value), stance=stance, source=where, tier=by, **said))
