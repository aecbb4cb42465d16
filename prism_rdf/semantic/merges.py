"""Merges: one thing was entered as two; who is merged into whom, followed to the preferred entity, planned, refused.

A merge holds for all valid time and is believed over a stretch of system time. What it does to names, references and
views is decided by those who ask here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import Delta, Writing, belief_at
from prism_rdf.canonical.entities import type_of
from prism_rdf.clock import Instant
from prism_rdf.errors import ValidationError, Violation
from prism_rdf.model import Merge
from prism_rdf.namespaces import RDF_TYPE, Names, article, derived_uuid, local_name, prism
from prism_rdf.semantic.intervals import plan_interval
from prism_rdf.storage.about import about, subjects
from prism_rdf.storage.interface import GraphReader

MERGE = prism("Merge")
MERGED = prism("mergedEntity")
INTO = prism("mergedInto")
Called = Callable[[NamedNode], str]
IntoOf = Callable[[NamedNode], NamedNode | None]


@dataclass(frozen=True)
class KnownMerge:
    """A merge as believed at one system time, since ``recorded_at``: ``merged`` is the same thing as ``into``."""

    node: NamedNode
    merged: NamedNode
    into: NamedNode
    tier: int
    source: str
    description: str
    recorded_at: Instant


def merge_of(store: GraphReader, names: Names, entity: NamedNode, known_at: Instant | None = None) -> KnownMerge | None:
    """Return the merge of this entity into another one, as believed at ``known_at`` (None: now)."""
    nodes = subjects(store, MERGED, entity, names.graph("semantic"))
    found = (_read(store, names, node, known_at) for node in nodes)
    return next((merge for merge in found if merge is not None), None)


def merges_into(
    store: GraphReader, names: Names, entity: NamedNode, known_at: Instant | None = None
) -> tuple[KnownMerge, ...]:
    """Return the merges of others into this entity itself, as believed at ``known_at`` (None: now), by IRI."""
    nodes = subjects(store, INTO, entity, names.graph("semantic"))
    found = (_read(store, names, node, known_at) for node in nodes)
    return tuple(sorted((merge for merge in found if merge is not None), key=lambda merge: merge.merged.value))


def chain_from(
    store: GraphReader, names: Names, entity: NamedNode, known_at: Instant | None = None
) -> tuple[KnownMerge, ...]:
    """Return the merges that lead from an entity to the preferred one, in order; empty where it is that itself."""
    steps: list[KnownMerge] = []
    seen = {entity}
    while (merge := merge_of(store, names, entity, known_at)) is not None and merge.into not in seen:
        steps.append(merge)
        entity = merge.into
        seen.add(entity)
    return tuple(steps)


def preferred(store: GraphReader, names: Names, entity: NamedNode, known_at: Instant | None = None) -> NamedNode:
    """Return the entity at the end of the chain of merges: itself where it is not merged."""
    chain = chain_from(store, names, entity, known_at)
    return chain[-1].into if chain else entity


def members(
    store: GraphReader, names: Names, entity: NamedNode, known_at: Instant | None = None
) -> tuple[NamedNode, ...]:
    """Return the entity and all that are merged into it, directly or through others, itself first."""
    found = {entity: None}
    waiting = [entity]
    while waiting:
        for merge in merges_into(store, names, waiting.pop(), known_at):
            if merge.merged not in found:
                found[merge.merged] = None
                waiting.append(merge.merged)
    return (entity, *sorted((each for each in found if each != entity), key=str))


def merged_entities(store: GraphReader, names: Names, known_at: Instant | None = None) -> Mapping[NamedNode, NamedNode]:
    """Return all that are merged, each with the entity that it is merged into."""
    nodes = subjects(store, RDF_TYPE, MERGE, names.graph("semantic"))
    found = (_read(store, names, node, known_at) for node in nodes)
    return {merge.merged: merge.into for merge in found if merge is not None}


def concerned_by(store: GraphReader, names: Names, entities: Iterable[NamedNode]) -> tuple[NamedNode, ...]:
    """Return the entities with all whose view tells of them by a merge, ever believed or not, each once and in order.

    A view tells of the preferred entity, and of the names of those that are merged into it.
    """
    found = dict.fromkeys(entities)
    semantic = names.graph("semantic")
    waiting = list(found)
    while waiting:
        entity = waiting.pop()
        for here, there in ((MERGED, INTO), (INTO, MERGED)):
            for node in subjects(store, here, entity, semantic):
                for other in about(store, node, semantic).iris(there):
                    if other not in found:
                        found[other] = None
                        waiting.append(other)
    return tuple(found)


def circles(store: GraphReader, names: Names) -> tuple[NamedNode, ...]:
    """Return the entities whose chain of merges leads back to them; none in a sound store."""
    into = merged_entities(store, names)
    found = []
    for entity in into:
        seen, at = {entity}, into[entity]
        while at in into and at not in seen:
            seen.add(at)
            at = into[at]
        if at == entity:
            found.append(entity)
    return tuple(sorted(found, key=str))


def plan_merges(store: GraphReader, merges: Iterable[Merge], writing: Writing) -> Delta:
    """Return the change that records the merges, one after the other; empty for those already believed.

    Raises ValidationError for one that ``check_merge`` refuses.
    """
    names, planned = writing.names, dict[NamedNode, NamedNode]()

    def into_of(entity: NamedNode) -> NamedNode | None:
        return planned.get(entity) or _into(store, names, entity)

    parts = []
    for merge in merges:
        merged, into = names.entity(merge.merged), names.entity(merge.into)
        if into_of(merged) != into:
            _check(store, names, merged, into, into_of, lambda entity: names.uuid_of(entity.value))
            parts.append(_plan_merge(store, merge, writing))
            planned[merged] = into
    return Delta.joined(parts)


def merge_node(merge: Merge, names: Names) -> NamedNode:
    """Return the merge's IRI, which follows from its two ends and from who says so and why."""
    ends = names.entity(merge.merged).value, names.entity(merge.into).value
    return names.merge(derived_uuid("merge", *ends, merge.source, merge.description))


def _plan_merge(store: GraphReader, merge: Merge, writing: Writing) -> Delta:
    names, graph = writing.names, writing.names.graph("semantic")
    node = merge_node(merge, names)
    says = [
        Quad(node, RDF_TYPE, MERGE, graph),
        Quad(node, MERGED, names.entity(merge.merged), graph),
        Quad(node, INTO, names.entity(merge.into), graph),
        Quad(node, prism("tier"), Literal(merge.tier), graph),
    ]
    if merge.source_memory:
        says.append(Quad(node, prism("sourceMemory"), NamedNode(merge.source_memory), graph))
    said = {"source": merge.source, "description": merge.description}
    says += [Quad(node, prism(name), Literal(text), graph) for name, text in said.items() if text]
    return plan_interval(store, node, says, None, None, writing)


def check_merge(store: GraphReader, names: Names, merged: NamedNode, into: NamedNode, called: Called) -> None:
    """Raise ValidationError for a merge that cannot be: into itself, in a circle, twice, or across types.

    ``called`` says what an entity is called in the message.
    """
    _check(store, names, merged, into, lambda entity: _into(store, names, entity), called)


def _into(store: GraphReader, names: Names, entity: NamedNode) -> NamedNode | None:
    known = merge_of(store, names, entity)
    return known.into if known is not None else None


def _check(
    store: GraphReader, names: Names, merged: NamedNode, into: NamedNode, into_of: IntoOf, called: Called
) -> None:
    complaint = _complaint(merged, into, into_of, called) or _unlike(store, names, merged, into, called)
    if complaint is not None:
        rule, message, mend = complaint
        raise ValidationError([Violation(merged.value, INTO.value, into.value, rule, message, mend)])


def _complaint(merged: NamedNode, into: NamedNode, into_of: IntoOf, called: Called) -> tuple[str, str, str] | None:
    """Return rule, message and mend of a merge that does not fit the others."""
    this, that = called(merged), called(into)
    if merged == into:
        return "a merge is of two entities", f"{this} is one entity already", "name the other one, by its uuid"
    known = into_of(merged)
    if known is not None and known != into:
        return (
            "an entity is merged into one other",
            f"{this} is merged into {called(known)} already",
            f"unmerge it first, or merge {called(known)} into {that}",
        )
    way = [into]
    while (following := into_of(way[-1])) is not None and following not in way:
        way.append(following)
    if merged not in way:
        return None
    circle = " → ".join(map(called, (merged, *way)))
    return (
        "merges do not lead back",
        f"{this} cannot be merged into {that}, which is merged into it: {circle}",
        f"they are one thing already; to make {that} the preferred one, unmerge it first",
    )


def _unlike(
    store: GraphReader, names: Names, merged: NamedNode, into: NamedNode, called: Called
) -> tuple[str, str, str] | None:
    """Return rule, message and mend of a merge of things of different types."""
    types = [type_of(store, names, entity) for entity in (merged, into)]
    if types[0] != types[1]:
        kinds = [article(local_name(kind.value)) if kind else "nothing known" for kind in types]
        return (
            "an entity is of one type for ever",
            f"{called(merged)} is {kinds[0]} and {called(into)} {kinds[1]}: they cannot be one thing",
            "merge things of one type; a reference says how the two belong together",
        )
    return None


def _read(store: GraphReader, names: Names, node: NamedNode, known_at: Instant | None) -> KnownMerge | None:
    graph = names.graph("semantic")
    merge = about(store, node, graph)
    belief = belief_at(store, merge, graph, known_at)
    merged, into = merge.iri(MERGED), merge.iri(INTO)
    if belief is None or merged is None or into is None:
        return None
    return KnownMerge(
        node=node,
        merged=merged,
        into=into,
        tier=merge.number(prism("tier")),
        source=merge.text(prism("source")),
        description=merge.text(prism("description")),
        recorded_at=belief.recorded_at,
    )
