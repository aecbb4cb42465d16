"""States as quads: from the pieces of a fold and what is stored to the change that makes them agree."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import (
    RECORDED_AT,
    VALID_FROM,
    VALID_UNTIL,
    Belief,
    Delta,
    Statement,
    Writing,
    belief_of,
    revise,
    withdraw,
)
from prism_rdf.clock import Instant
from prism_rdf.namespaces import RDF_TYPE, derived_uuid, prism
from prism_rdf.storage.about import about, objects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.fold import Piece, instant
from prism_rdf.values import instant_literal

HAS_STATE = prism("hasState")
SUPERSEDED_BY = prism("supersededBy")
CAUSED_BY = prism("causedBy")
COMMIT_STATUS = prism("commitStatus")
VOID = prism("void")
_STATE = prism("State")
_COMMITTED = Literal("committed")


@dataclass(frozen=True)
class StoredState:
    """What is stored about one sealed state; the snapshot stays in its graph."""

    node: NamedNode
    valid_from: Instant | None
    belief: Belief
    causes: frozenset[NamedNode]
    superseded_by: NamedNode | None
    void: bool


def state_uuid(entity: NamedNode, piece: Piece) -> str:
    """Return the uuid5 of an entity's state: where it begins and what it holds, not when it ends."""
    lines = sorted(f"{prop} {value}" for prop, values in piece.props.items() for value in values)
    content = "void" if piece.void else hashlib.sha256("\n".join(lines).encode()).hexdigest()
    start = instant(piece.start)
    return derived_uuid("state", entity.value, start.iso() if start else "", content)


def read_sealed(store: GraphReader, entity: NamedNode, graph: NamedNode) -> dict[NamedNode, StoredState]:
    """Return every sealed state of an entity ever recorded, withdrawn ones included, by IRI."""
    found = (read_state(store, node, graph) for node in objects(store, entity, HAS_STATE, graph))
    return {state.node: state for state in found if state is not None}


def read_state(store: GraphReader, node: NamedNode, graph: NamedNode) -> StoredState | None:
    """Return what is stored about a sealed state; None for a draft."""
    state = about(store, node, graph)
    belief = belief_of(state)
    if belief is None or state.term(COMMIT_STATUS) != _COMMITTED:
        return None
    return StoredState(
        node=node,
        valid_from=state.instant(VALID_FROM),
        belief=belief,
        causes=frozenset(state.iris(CAUSED_BY)),
        superseded_by=state.iri(SUPERSEDED_BY),
        void=state.term(VOID) is not None,
    )


def plan_states(
    entity: NamedNode, pieces: Sequence[Piece], stored: Mapping[NamedNode, StoredState], writing: Writing
) -> tuple[list[NamedNode], Delta]:
    """Return the nodes of ``pieces``, and what makes the believed states among ``stored`` and them exactly these."""
    nodes = [writing.names.state(state_uuid(entity, piece)) for piece in pieces]
    parts: list[Delta] = []
    for index, (node, piece) in enumerate(zip(nodes, pieces, strict=True)):
        following = nodes[index + 1] if index + 1 < len(nodes) else None
        parts.append(_plan_state(entity, node, piece, following, stored.get(node), writing))
    kept = set(nodes)
    for node, state in stored.items():
        if node not in kept and state.belief.withdrawn_at is None:
            parts.append(withdraw(node, writing.names.graph("temporal"), writing))
    return nodes, Delta.joined(parts)


def _plan_state(
    entity: NamedNode,
    node: NamedNode,
    piece: Piece,
    following: NamedNode | None,
    known: StoredState | None,
    writing: Writing,
) -> Delta:
    graph = writing.names.graph("temporal")
    until = instant(piece.until)
    causes = frozenset(NamedNode(cause) for cause in piece.causes)
    if known is None:
        delta = Delta(tuple(Quad(*said) for said in _new_state(entity, node, piece, writing)))
        before_causes: frozenset[NamedNode] = frozenset()
        before_following = None
    else:
        delta = revise(node, graph, known.belief, until, writing)
        before_causes, before_following = known.causes, known.superseded_by
    adds = [Quad(node, CAUSED_BY, cause, graph) for cause in sorted(causes - before_causes, key=str)]
    removes = [Quad(node, CAUSED_BY, cause, graph) for cause in sorted(before_causes - causes, key=str)]
    if following != before_following:
        adds += [Quad(node, SUPERSEDED_BY, following, graph)] if following else []
        removes += [Quad(node, SUPERSEDED_BY, before_following, graph)] if before_following else []
    return delta + Delta(tuple(adds), tuple(removes))


def fresh_states(
    entity: NamedNode, pieces: Sequence[Piece], writing: Writing
) -> tuple[list[NamedNode], list[Statement]]:
    """Return the nodes of ``pieces``, and what is said of them as states of which none was recorded before."""
    graph = writing.names.graph("temporal")
    nodes = [writing.names.state(state_uuid(entity, piece)) for piece in pieces]
    said: list[Statement] = []
    for index, (node, piece) in enumerate(zip(nodes, pieces, strict=True)):
        said += _new_state(entity, node, piece, writing)
        said += [(node, CAUSED_BY, NamedNode(cause), graph) for cause in piece.causes]
        if index + 1 < len(nodes):
            said.append((node, SUPERSEDED_BY, nodes[index + 1], graph))
    return nodes, said


def _new_state(entity: NamedNode, node: NamedNode, piece: Piece, writing: Writing) -> list[Statement]:
    graph = writing.names.graph("temporal")
    start, until = instant(piece.start), instant(piece.until)
    said: list[Statement] = [
        (entity, HAS_STATE, node, graph),
        (node, RDF_TYPE, _STATE, graph),
        (node, COMMIT_STATUS, _COMMITTED, graph),
        (node, RECORDED_AT, instant_literal(writing.now), graph),
    ]
    if start is not None:
        said.append((node, VALID_FROM, instant_literal(start), graph))
    if until is not None:
        said.append((node, VALID_UNTIL, instant_literal(until), graph))
    if piece.void:
        said.append((node, VOID, Literal(True), graph))
    said += [(entity, prop, value, node) for prop, values in piece.props.items() for value in values]
    return said
