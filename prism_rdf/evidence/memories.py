"""Memories as quads: passages with the interval in which their source said them; finding them is recall's business."""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import (
    EARLIER_BELIEF,
    END_RECORDED_AT,
    RECORDED_AT,
    VALID_FROM,
    VALID_UNTIL,
    WITHDRAWN_AT,
    Delta,
    Writing,
    belief_of,
    record,
    say_again,
)
from prism_rdf.model import Memory
from prism_rdf.namespaces import RDF_TYPE, SKOS, Names, derived_uuid, prism
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import GraphReader
from prism_rdf.values import instant_literal

CONTENT = prism("content")
_PREF_LABEL = NamedNode(SKOS + "prefLabel")
# All properties and classes that a memory graph may hold; a query without any of them is not asked of it.
TERMS = (
    *(RDF_TYPE, _PREF_LABEL, CONTENT, VALID_FROM, VALID_UNTIL, RECORDED_AT, END_RECORDED_AT, WITHDRAWN_AT),
    *(EARLIER_BELIEF, prism("EarlierBelief"), prism("Memory"), prism("Concept")),
    *(prism(name) for name in ("memoryKind", "createdAt", "tier", "source", "heading", "speaker", "about", "mentions")),
)


def memory_node(memory: Memory, names: Names) -> NamedNode:
    """Return the memory's IRI, which follows from its content, its speaker, its source, its key and its beginning."""
    start = memory.start.iso() if memory.start else memory.created_at.iso()
    said = (memory.content, memory.speaker) if memory.speaker else (memory.content,)
    return names.memory(derived_uuid("memory", memory.kind, memory.source, memory.key, start, *said))


def plan_memories(store: GraphReader, memories: Iterable[Memory], writing: Writing) -> Delta:
    """Return the change that records the memories; empty for those already believed with the same end."""
    parts: list[Delta] = []
    concepts: set[Quad] = set()
    for memory in memories:
        parts.append(_plan_memory(store, memory, concepts, writing))
    return Delta.joined(parts)


def _plan_memory(store: GraphReader, memory: Memory, concepts: set[Quad], writing: Writing) -> Delta:
    names, graph = writing.names, writing.names.graph("memory")
    node = memory_node(memory, names)
    belief = belief_of(about(store, node, graph))
    if belief is not None:
        return say_again(node, graph, belief, memory.until, writing)
    begins = memory.start or memory.created_at
    quads = [
        Quad(node, RDF_TYPE, prism("Memory"), graph),
        Quad(node, CONTENT, Literal(memory.content), graph),
        Quad(node, prism("memoryKind"), Literal(memory.kind), graph),
        Quad(node, prism("createdAt"), instant_literal(memory.created_at), graph),
        Quad(node, VALID_FROM, instant_literal(begins), graph),
        Quad(node, prism("tier"), Literal(memory.tier), graph),
    ]
    if memory.source:
        quads.append(Quad(node, prism("source"), Literal(memory.source), graph))
    if memory.heading:
        quads.append(Quad(node, prism("heading"), Literal(memory.heading), graph))
    if memory.speaker:
        quads.append(Quad(node, prism("speaker"), Literal(memory.speaker), graph))
    quads += [Quad(node, prism("about"), names.entity(uuid), graph) for uuid in memory.about]
    for mention in memory.mentions:
        quads += _mention(store, node, mention, concepts, writing)
    return Delta((*quads, *record(node, graph, memory.until, writing)))


def _mention(store: GraphReader, node: NamedNode, mention: str, concepts: set[Quad], writing: Writing) -> list[Quad]:
    """``mention`` is ``entity:<uuid>`` or ``concept:<name>``; a concept is described once."""
    names, graph = writing.names, writing.names.graph("memory")
    kind, _, name = mention.partition(":")
    if kind == "entity":
        return [Quad(node, prism("mentions"), names.entity(name), graph)]
    concept = names.concept(name)
    described = Quad(concept, _PREF_LABEL, Literal(name), graph)
    quads = [Quad(node, prism("mentions"), concept, graph)]
    if described not in concepts and not about(store, concept, graph).quads:
        concepts.add(described)
        quads += [Quad(concept, RDF_TYPE, prism("Concept"), graph), described]
    return quads
