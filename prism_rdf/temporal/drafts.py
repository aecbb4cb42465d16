"""Work in progress: a draft thread per entity with versioned states beside the sealed ones; sealing is an event."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import RECORDED_AT, VALID_FROM, Delta, Writing, belief_of, record, revise, withdraw
from prism_rdf.clock import Instant
from prism_rdf.errors import RefusedError
from prism_rdf.model import DraftEnd, DraftVersion
from prism_rdf.namespaces import RDF_TYPE, Names, derived_uuid, prism
from prism_rdf.storage.about import about, subjects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.states import COMMIT_STATUS, HAS_STATE, SUPERSEDED_BY
from prism_rdf.values import canonical_term, instant_literal

DRAFT_OF = prism("draftOf")
THREAD = prism("draftThread")
_TOUCHED_AT = prism("touchedAt")
_CLOSED_AT = prism("closedAt")
_OUTCOME = prism("outcome")
_SOURCE = prism("draftSource")
WIP = Literal("wip")


@dataclass(frozen=True)
class Thread:
    """A draft thread as stored; ``version`` is its newest state, ``closed_at`` None while it is open."""

    node: NamedNode
    entity: NamedNode
    source: str
    touched_at: Instant
    closed_at: Instant | None
    outcome: str
    version: NamedNode | None


def read_thread(store: GraphReader, names: Names, node: NamedNode) -> Thread | None:
    """Return a draft thread; None when there is none of this name."""
    graph = names.graph("temporal")
    thread = about(store, node, graph)
    entity, touched_at = thread.iri(DRAFT_OF), thread.instant(_TOUCHED_AT)
    if entity is None or touched_at is None:
        return None
    return Thread(
        node=node,
        entity=entity,
        source=thread.text(_SOURCE),
        touched_at=touched_at,
        closed_at=thread.instant(_CLOSED_AT),
        outcome=thread.text(_OUTCOME),
        version=_open_version(store, node, graph),
    )


def threads(
    store: GraphReader, names: Names, entity: NamedNode | None = None, *, closed: bool = True
) -> tuple[Thread, ...]:
    """Return the draft threads of an entity, or of the namespace, open and ``closed``, oldest touch first."""
    graph = names.graph("temporal")
    if entity is None:
        nodes = subjects(store, RDF_TYPE, prism("Draft"), graph)
    else:
        nodes = subjects(store, DRAFT_OF, entity, graph)
    if not closed:
        ended = {quad.subject for quad in store.quads_for_pattern(None, _CLOSED_AT, None, graph)}
        nodes = tuple(node for node in nodes if node not in ended)
    found = (read_thread(store, names, node) for node in nodes)
    return tuple(sorted((t for t in found if t is not None), key=lambda t: (t.touched_at, t.node.value)))


def open_thread(store: GraphReader, names: Names, entity: NamedNode) -> Thread | None:
    """Return the one open draft thread of an entity, if any."""
    return next((thread for thread in threads(store, names, entity) if thread.closed_at is None), None)


def plan_drafts(
    store: GraphReader, versions: Iterable[DraftVersion], ends: Iterable[DraftEnd], writing: Writing
) -> Delta:
    """Return the change that records draft versions and ends of threads."""
    parts = [_plan_version(store, version, writing) for version in versions]
    parts += [_plan_end(store, end, writing) for end in ends]
    return Delta.joined(parts)


def _plan_version(store: GraphReader, version: DraftVersion, writing: Writing) -> Delta:
    names, graph = writing.names, writing.names.graph("temporal")
    entity, node = names.entity(version.entity), names.draft(version.thread)
    lines = sorted(f"{prop} {value}" for prop, values in version.props.items() for value in values)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    state = names.state(derived_uuid("draft", node.value, version.at.iso(), digest))
    known = read_thread(store, names, node)
    parts = [_thread_quads(known, entity, node, version, writing)]
    parts += [_end(store, each, state, version.at, writing) for each in _versions(store, node, graph) if each != state]
    belief = belief_of(about(store, state, graph))
    if belief is not None:
        return Delta.joined([*parts, revise(state, graph, belief, None, writing)])
    quads = [
        Quad(entity, HAS_STATE, state, graph),
        Quad(state, RDF_TYPE, prism("State"), graph),
        Quad(state, COMMIT_STATUS, WIP, graph),
        Quad(state, THREAD, node, graph),
        Quad(state, VALID_FROM, instant_literal(version.at), graph),
    ]
    quads += [
        Quad(entity, prop, canonical_term(value), state) for prop, values in version.props.items() for value in values
    ]
    return Delta.joined([*parts, Delta((*quads, *record(state, graph, None, writing)))])


def _thread_quads(
    known: Thread | None, entity: NamedNode, node: NamedNode, version: DraftVersion, writing: Writing
) -> Delta:
    graph = writing.names.graph("temporal")
    touched = Quad(node, _TOUCHED_AT, instant_literal(version.at), graph)
    if known is not None:
        before = Quad(node, _TOUCHED_AT, instant_literal(known.touched_at), graph)
        return Delta() if before == touched else Delta((touched,), (before,))
    return Delta(
        (
            touched,
            Quad(node, RDF_TYPE, prism("Draft"), graph),
            Quad(node, DRAFT_OF, entity, graph),
            Quad(node, _SOURCE, Literal(version.source), graph),
            Quad(node, RECORDED_AT, instant_literal(writing.now), graph),
        )
    )


def _end(store: GraphReader, version: NamedNode, following: NamedNode | None, at: Instant, writing: Writing) -> Delta:
    """End a version at ``at`` unless it ended before; one that would hold for no time is withdrawn instead."""
    graph = writing.names.graph("temporal")
    node = about(store, version, graph)
    belief, start, linked = belief_of(node), node.instant(VALID_FROM), node.iri(SUPERSEDED_BY)
    assert belief is not None
    if belief.withdrawn_at is not None or (belief.valid_until is not None and belief.valid_until <= at):
        return Delta()
    if start is not None and at <= start:
        return withdraw(version, graph, writing)
    links = (following, linked) if following != linked else (None, None)
    adds, removes = ((Quad(version, SUPERSEDED_BY, link, graph),) if link is not None else () for link in links)
    return revise(version, graph, belief, at, writing) + Delta(adds, removes)


def _plan_end(store: GraphReader, end: DraftEnd, writing: Writing) -> Delta:
    names, graph = writing.names, writing.names.graph("temporal")
    known = read_thread(store, names, names.draft(end.thread))
    if known is None or known.closed_at is not None or known.version is None:
        raise RefusedError(
            f"draft {end.thread} is not open" + (f": it was {known.outcome}" if known is not None else ""),
            rule="only an open draft can be sealed or discarded, once",
            mend="begin a new draft with wip",
            node=names.draft(end.thread).value,
        )
    closing = Delta(
        (
            Quad(known.node, _CLOSED_AT, instant_literal(end.at), graph),
            Quad(known.node, _OUTCOME, Literal(end.outcome), graph),
        )
    )
    return closing + _end(store, known.version, None, end.at, writing)


def _versions(store: GraphReader, thread: NamedNode, graph: NamedNode) -> tuple[NamedNode, ...]:
    return subjects(store, THREAD, thread, graph)


def _open_version(store: GraphReader, thread: NamedNode, graph: NamedNode) -> NamedNode | None:
    for state in _versions(store, thread, graph):
        belief = belief_of(about(store, state, graph))
        if belief is not None and belief.withdrawn_at is None and belief.valid_until is None:
            return state
    return None
