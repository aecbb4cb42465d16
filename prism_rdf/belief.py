"""Two time axes on one node: recorded, ended, withdrawn, believed again; what the node means is not known here.

A node with an interval (a state, an alias, a reference, a memory) carries its present belief itself: recordedAt,
validUntil, endRecordedAt, withdrawnAt. Ending an open interval only adds. Any other change first moves the belief
that ends into a prism:EarlierBelief node, so what was believed at any system time can always be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from pyoxigraph import NamedNode, Quad

from prism_rdf.clock import Instant
from prism_rdf.namespaces import RDF_TYPE, Names, prism
from prism_rdf.storage.about import About, about
from prism_rdf.storage.interface import GraphReader
from prism_rdf.values import Term, instant_literal

RECORDED_AT = prism("recordedAt")
END_RECORDED_AT = prism("endRecordedAt")
WITHDRAWN_AT = prism("withdrawnAt")
VALID_FROM = prism("validFrom")
VALID_UNTIL = prism("validUntil")
EARLIER_BELIEF = prism("earlierBelief")
Statement = tuple[NamedNode, NamedNode, Term, NamedNode]  # the terms of a quad, which is much slower to make


@dataclass(frozen=True)
class Belief:
    """One period of belief about a node, [recorded_at, withdrawn_at), with the end of validity as then known."""

    recorded_at: Instant
    withdrawn_at: Instant | None = None
    valid_until: Instant | None = None
    end_recorded_at: Instant | None = None

    def covers(self, known_at: Instant | None) -> bool:
        """Return whether the node was believed at ``known_at`` (None: now)."""
        if known_at is None:
            return self.withdrawn_at is None
        return self.recorded_at <= known_at and (self.withdrawn_at is None or known_at < self.withdrawn_at)

    def until(self, known_at: Instant | None) -> Instant | None:
        """Return the end of validity as it was known at ``known_at`` (None: now); None is open."""
        if known_at is not None and self.end_recorded_at is not None and known_at < self.end_recorded_at:
            return None
        return self.valid_until


@dataclass(frozen=True)
class Writing:
    """Where and when a planner writes: the names of the namespace, system time and number of the commit."""

    names: Names
    now: Instant
    number: int


@dataclass(frozen=True)
class Delta:
    """Quads to add and to remove."""

    adds: tuple[Quad, ...] = ()
    removes: tuple[Quad, ...] = ()

    def __add__(self, other: Delta) -> Delta:
        return Delta(self.adds + other.adds, self.removes + other.removes)

    @classmethod
    def joined(cls, parts: Iterable[Delta]) -> Delta:
        """Return all parts as one, in order."""
        kept = list(parts)
        return cls(
            tuple(chain.from_iterable(part.adds for part in kept)),
            tuple(chain.from_iterable(part.removes for part in kept)),
        )


def change_from(stored: Iterable[Quad], wanted: Iterable[Quad]) -> Delta:
    """Return what makes of the quads that are ``stored`` those that are ``wanted``."""
    before, after = dict.fromkeys(stored), dict.fromkeys(wanted)
    return Delta(tuple(q for q in after if q not in before), tuple(q for q in before if q not in after))


def belief_of(node: About) -> Belief | None:
    """Read the belief that a node carries; None when it was never recorded."""
    recorded_at = node.instant(RECORDED_AT)
    if recorded_at is None:
        return None
    return Belief(recorded_at, node.instant(WITHDRAWN_AT), node.instant(VALID_UNTIL), node.instant(END_RECORDED_AT))


def belief_at(store: GraphReader, node: About, graph: NamedNode, known_at: Instant | None) -> Belief | None:
    """Return the belief in a node that held at system time ``known_at`` (None: now); None when there was none."""
    belief = belief_of(node)
    if belief is None or belief.covers(known_at):
        return belief
    if known_at is None:
        return None
    for earlier in node.iris(EARLIER_BELIEF):
        belief = belief_of(about(store, earlier, graph))
        if belief is not None and belief.covers(known_at):
            return belief
    return None


def record(node: NamedNode, graph: NamedNode, until: Instant | None, writing: Writing) -> tuple[Quad, ...]:
    """Return the quads of a belief that begins now."""
    quads = [_quad(node, RECORDED_AT, writing.now, graph)]
    if until is not None:
        quads.append(_quad(node, VALID_UNTIL, until, graph))
    return tuple(quads)


def revise(node: NamedNode, graph: NamedNode, belief: Belief, until: Instant | None, writing: Writing) -> Delta:
    """Return what makes the node believed with the given end of validity; nothing when it already is."""
    if belief.withdrawn_at is None:
        if belief.valid_until == until:
            return Delta()
        if belief.valid_until is None and until is not None:
            return Delta((_quad(node, VALID_UNTIL, until, graph), _quad(node, END_RECORDED_AT, writing.now, graph)))
    return _archive(node, graph, belief, writing) + Delta(record(node, graph, until, writing))


def say_again(node: NamedNode, graph: NamedNode, belief: Belief, until: Instant | None, writing: Writing) -> Delta:
    """Return what makes a node that was recorded before believed with the given end; one that is open says nothing.

    So a believed node is only ended, never reopened by saying less.
    """
    if belief.withdrawn_at is None and until is None:
        return Delta()
    return revise(node, graph, belief, until, writing)


def withdraw(node: NamedNode, graph: NamedNode, writing: Writing) -> Delta:
    """Return what ends the belief in a node now."""
    return Delta((_quad(node, WITHDRAWN_AT, writing.now, graph),))


def take_back(store: GraphReader, node: About, graph: NamedNode, said_at: Instant, writing: Writing) -> Delta:
    """Return what takes back what the commit of system time ``said_at`` said of a believed node.

    The belief that began then ends now. A node that was believed before has the end again that it had before, if that
    commit had the last word about it.
    """
    belief = belief_of(node)
    if belief is None or belief.withdrawn_at is not None:
        return Delta()
    earlier = (belief_of(about(store, each, graph)) for each in node.iris(EARLIER_BELIEF))
    unbroken = [belief]
    for each in sorted((b for b in earlier if b is not None), key=lambda b: b.recorded_at, reverse=True):
        if each.withdrawn_at != unbroken[-1].recorded_at:
            break
        unbroken.append(each)
    if unbroken[-1].recorded_at == said_at:
        return withdraw(node.node, graph, writing)
    if belief.end_recorded_at == said_at:
        return revise(node.node, graph, belief, None, writing)
    if belief.recorded_at == said_at and belief.end_recorded_at is None:
        return revise(node.node, graph, belief, unbroken[1].valid_until, writing)
    return Delta()


def _archive(node: NamedNode, graph: NamedNode, belief: Belief, writing: Writing) -> Delta:
    earlier = writing.names.belief(writing.names.uuid_of(node.value), writing.number)
    kept = {
        RECORDED_AT: belief.recorded_at,
        WITHDRAWN_AT: belief.withdrawn_at or writing.now,
        VALID_UNTIL: belief.valid_until,
        END_RECORDED_AT: belief.end_recorded_at,
    }
    adds = [Quad(node, EARLIER_BELIEF, earlier, graph), Quad(earlier, RDF_TYPE, prism("EarlierBelief"), graph)]
    adds += [_quad(earlier, predicate, value, graph) for predicate, value in kept.items() if value is not None]
    on_node = kept | {WITHDRAWN_AT: belief.withdrawn_at}
    removes = [_quad(node, predicate, value, graph) for predicate, value in on_node.items() if value is not None]
    return Delta(tuple(adds), tuple(removes))


def _quad(node: NamedNode, predicate: NamedNode, value: Instant, graph: NamedNode) -> Quad:
    return Quad(node, predicate, instant_literal(value), graph)
