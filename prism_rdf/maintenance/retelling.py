"""The history of an entity told anew without some of its events, commit by commit, as if they had never been said.

Both time axes come out as they would have: at each system time at which the belief in a remaining event changed, the
events believed then are folded again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from pyoxigraph import NamedNode, Quad

from prism_rdf.belief import EARLIER_BELIEF, Delta, Writing, belief_of
from prism_rdf.changes import Ground
from prism_rdf.clock import Instant
from prism_rdf.namespaces import Names
from prism_rdf.storage.about import about, subjects
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.temporal.events import CHANGES, read_stated
from prism_rdf.temporal.plan import refold
from prism_rdf.temporal.states import read_sealed


@dataclass(frozen=True)
class Retold:
    """The sealed states and the tail of an entity, told anew: what each commit did to them, and what they are now.

    ``sealed`` are the nodes of all that was told before: its states, and the earlier beliefs in them.
    """

    entity: NamedNode
    sealed: frozenset[NamedNode]
    deltas: tuple[tuple[int, Delta], ...]
    quads: tuple[Quad, ...]


def retell(
    ground: Ground,
    names: Names,
    entity: NamedNode,
    left_out: Collection[NamedNode],
    number_at: Callable[[Instant], int],
) -> Retold:
    """Tell the history of an entity without the events and assertions ``left_out``.

    ``number_at`` gives the number of the commit of a system time.
    """
    temporal = names.graph("temporal")
    scratch = EmbeddedStore()
    deltas: list[tuple[int, Delta]] = []
    for now in sorted(set(_turns(ground, names, entity))):
        stated = [
            each
            for each in read_stated(ground.store, entity, temporal, now)
            if NamedNode(each.event) not in left_out and NamedNode(each.node) not in left_out
        ]
        writing = Writing(names, now, number_at(now))
        delta = Delta.joined(refold(scratch, entity, stated, writing)[1])
        if delta != Delta():
            scratch.apply(delta.adds, delta.removes)
            deltas.append((writing.number, delta))
    quads = tuple(scratch.quads_for_pattern(None, None, None))
    return Retold(entity, frozenset(_sealed(ground, names, entity)), tuple(deltas), quads)


def _turns(ground: Ground, names: Names, entity: NamedNode) -> Iterator[Instant]:
    """Yield the system times at which the belief in an event of the entity began or ended."""
    graph = names.graph("temporal")
    for node in subjects(ground.store, CHANGES, entity, graph):
        event = about(ground.store, node, graph)
        for each in (event, *(about(ground.store, earlier, graph) for earlier in event.iris(EARLIER_BELIEF))):
            belief = belief_of(each)
            if belief is not None:
                yield from (at for at in (belief.recorded_at, belief.withdrawn_at) if at is not None)


def _sealed(ground: Ground, names: Names, entity: NamedNode) -> Iterator[NamedNode]:
    graph = names.graph("temporal")
    for state in read_sealed(ground.store, entity, graph):
        yield state
        yield from about(ground.store, state, graph).iris(EARLIER_BELIEF)
