"""Evidence as quads: what a source says for or against a claim, with its quote; how it weighs is grounding.py's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import VALID_FROM, Delta, Writing, belief_at, belief_of, record, say_again
from prism_rdf.clock import Instant
from prism_rdf.model import Clue, Evidence, Stance
from prism_rdf.namespaces import RDF_TYPE, Names, derived_uuid, prism
from prism_rdf.storage.about import about, subjects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.values import Term, canonical_term, instant_literal

EVIDENCE = prism("Evidence")
CLAIM_OF = prism("claimOf")
CLAIM_PROPERTY = prism("claimProperty")
CLAIM_VALUE = prism("claimValue")
STANCE = prism("stance")
TIER = prism("tier")
SOURCE_MEMORY = prism("sourceMemory")
CONFIDENCE = prism("confidence")
TEXTS = {name: prism(name) for name in ("quote", "source")}
OFFSETS = {"start_offset": prism("startOffset"), "end_offset": prism("endOffset")}


@dataclass(frozen=True)
class KnownEvidence:
    """Evidence as believed at one system time; what it says of the claim is for [valid_from, valid_until)."""

    node: NamedNode
    entity: NamedNode
    property: NamedNode
    value: Term
    stance: Stance
    clue: Clue
    tier: int
    valid_from: Instant | None
    valid_until: Instant | None
    recorded_at: Instant

    def holds(self, at: Instant) -> bool:
        began = self.valid_from is None or self.valid_from <= at
        return began and (self.valid_until is None or at < self.valid_until)


def evidence_node(evidence: Evidence, names: Names) -> NamedNode:
    """Return the evidence's IRI, which follows from the claim, its side, the passage, its weight and its start."""
    clue, start = evidence.clue, evidence.start.iso() if evidence.start else ""
    said = (evidence.entity, evidence.property.value, str(canonical_term(evidence.value)), evidence.stance, start)
    where = (clue.quote, clue.source, str(clue.start_offset), str(clue.end_offset), clue.source_memory)
    sure = "" if clue.confidence is None else str(float(clue.confidence))
    return names.evidence(derived_uuid("evidence", *said, *where, str(evidence.tier), sure))


def plan_evidence(store: GraphReader, evidence: Iterable[Evidence], writing: Writing) -> Delta:
    """Return the change that records the evidence; empty for what is already believed with the same end."""
    return Delta.joined(_plan(store, each, writing) for each in evidence)


def _plan(store: GraphReader, evidence: Evidence, writing: Writing) -> Delta:
    names, graph = writing.names, writing.names.graph("evidence")
    node = evidence_node(evidence, names)
    belief = belief_of(about(store, node, graph))
    if belief is not None:
        until = evidence.until
        if belief.withdrawn_at is None and until is not None and belief.valid_until is not None:
            until = min(until, belief.valid_until)  # of two ends the earlier one, whichever was said first
        return say_again(node, graph, belief, until, writing)
    clue = evidence.clue
    said: list[tuple[NamedNode, Term]] = [
        (RDF_TYPE, EVIDENCE),
        (CLAIM_OF, names.entity(evidence.entity)),
        (CLAIM_PROPERTY, evidence.property),
        (CLAIM_VALUE, canonical_term(evidence.value)),
        (STANCE, Literal(evidence.stance)),
        (TIER, Literal(evidence.tier)),
    ]
    said += [(predicate, Literal(text)) for name, predicate in TEXTS.items() if (text := getattr(clue, name))]
    offsets = ((predicate, getattr(clue, name)) for name, predicate in OFFSETS.items())
    said += [(predicate, Literal(offset)) for predicate, offset in offsets if offset is not None]
    if clue.confidence is not None:
        said.append((CONFIDENCE, canonical_term(Literal(float(clue.confidence)))))
    if clue.source_memory:
        said.append((SOURCE_MEMORY, NamedNode(clue.source_memory)))
    if evidence.start is not None:
        said.append((VALID_FROM, instant_literal(evidence.start)))
    quads = [Quad(node, predicate, value, graph) for predicate, value in said]
    return Delta((*quads, *record(node, graph, evidence.until, writing)))


def evidence_about(
    store: GraphReader, names: Names, entity: NamedNode, known_at: Instant | None = None
) -> tuple[KnownEvidence, ...]:
    """Return the evidence about an entity, whenever it holds, as believed at ``known_at`` (None: now), in its order."""
    return _all(store, names, subjects(store, CLAIM_OF, entity, names.graph("evidence")), known_at)


def evidence_citing(
    store: GraphReader, names: Names, memory: NamedNode, known_at: Instant | None = None
) -> tuple[KnownEvidence, ...]:
    """Return the evidence that was taken from a memory, as believed at ``known_at`` (None: now)."""
    return _all(store, names, subjects(store, SOURCE_MEMORY, memory, names.graph("evidence")), known_at)


def claimed_entities(store: GraphReader, names: Names) -> list[NamedNode]:
    """Return the entities that evidence was ever recorded about."""
    found = store.quads_for_pattern(None, CLAIM_OF, None, names.graph("evidence"))
    return sorted({quad.object for quad in found if isinstance(quad.object, NamedNode)}, key=str)


def _all(
    store: GraphReader, names: Names, nodes: Iterable[NamedNode], known_at: Instant | None
) -> tuple[KnownEvidence, ...]:
    found = (each for node in nodes for each in _read(store, names, node, known_at))
    return tuple(sorted(found, key=lambda each: (each.recorded_at, each.node.value)))


def _read(store: GraphReader, names: Names, node: NamedNode, known_at: Instant | None) -> Iterator[KnownEvidence]:
    graph = names.graph("evidence")
    said = about(store, node, graph)
    belief = belief_at(store, said, graph, known_at)
    entity, prop, value = said.iri(CLAIM_OF), said.iri(CLAIM_PROPERTY), said.term(CLAIM_VALUE)
    if belief is None or entity is None or prop is None or value is None:
        return
    texts = {name: said.text(predicate) for name, predicate in TEXTS.items()}
    offsets = {name: said.number(predicate) if said.terms(predicate) else None for name, predicate in OFFSETS.items()}
    sure, memory = said.text(CONFIDENCE), said.iri(SOURCE_MEMORY)
    clue = Clue(
        quote=texts["quote"],
        source=texts["source"],
        start_offset=offsets["start_offset"],
        end_offset=offsets["end_offset"],
        confidence=float(sure) if sure else None,
        source_memory=memory.value if memory else "",
    )
    yield KnownEvidence(
        node=node,
        entity=entity,
        property=prop,
        value=value,
        stance="contradicts" if said.text(STANCE) == "contradicts" else "supports",
        clue=clue,
        tier=said.number(TIER),
        valid_from=said.instant(VALID_FROM),
        valid_until=belief.until(known_at),
        recorded_at=belief.recorded_at,
    )
