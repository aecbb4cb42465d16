"""The derived graphs, current and tail, held against what they are derived from, and made right where they differ.

Both are changed by every commit; nothing but a defect, a damaged disk or a foreign hand makes them stale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from pyoxigraph import NamedNode, Quad

from prism_rdf.belief import Delta, Writing
from prism_rdf.canonical.entities import entities
from prism_rdf.changes import DUE_AT, Ground, refresh
from prism_rdf.clock import Instant
from prism_rdf.maintenance.site import Site
from prism_rdf.namespaces import Names, meta_graph
from prism_rdf.storage.overlay import Overlay
from prism_rdf.temporal.events import read_stated
from prism_rdf.temporal.fold import Piece, Stated, fold
from prism_rdf.temporal.states import state_uuid
from prism_rdf.temporal.tail import frontier, plan_tail
from prism_rdf.values import quad_text

CURRENT, TAIL = "stale-current", "stale-tail"


@dataclass(frozen=True)
class Stale:
    """A derived graph that says of an entity something else than the computation; ``delta`` makes it right."""

    check: str
    entity: NamedNode
    delta: Delta

    @property
    def detail(self) -> str:
        missing = [f"missing {quad_text(quad)}" for quad in self.delta.adds]
        return "; ".join(missing + [f"surplus {quad_text(quad)}" for quad in self.delta.removes])


def stale(site: Site, names: Names) -> list[Stale]:
    """Return what is stale in a namespace, once what came due is applied. Writers wait only where something is."""
    site.committer.apply_due(site.now())
    suspects = {found.entity for found in _stale(site.ground, names, _known(site.ground, names), site.now())}
    with site.committer.paused():  # a commit in between may have made it right, or only seem so
        now = site.now()
        site.committer.apply_due(now)
        return list(_stale(site.ground, names, sorted(suspects, key=str), now))


def rebuild(site: Site, names: Names) -> int:
    """Compute the current graph and the tails of a namespace anew, and put them in place in one update.

    Returns of how many entities something was stale. Writers wait meanwhile.
    """
    with site.committer.paused():
        site.committer.apply_due(site.now())
        found = list(_stale(site.ground, names, _known(site.ground, names), site.now()))
        delta = Delta.joined(each.delta for each in found)
        if found:
            site.store.apply(delta.adds, delta.removes)
        return len({each.entity for each in found})


def mending(ground: Ground, names: Names, found: Iterable[Stale], now: Instant, since: Instant) -> Delta:
    """Return what makes the derived graphs right at ``now`` that were written elsewhere: ``found`` is of all entities.

    What was right at ``since`` is left as it was then: what came due in between is applied when it is read.
    """
    strangers = set(_known(ground, names)) - set(entities(ground.store, names))
    found = [*found, *_stale(ground, names, sorted(strangers, key=str), now)]
    wrong = {each.entity for each in _stale(ground, names, {each.entity for each in found}, since)}
    return Delta.joined(each.delta for each in found if each.entity in wrong)


def current_graph(ground: Ground, names: Names, now: Instant) -> Iterator[Quad]:
    """Yield the current graph of a namespace at ``now`` with its due dates, as far as the store lacks them."""
    for entity in entities(ground.store, names):
        yield from refresh(ground, [entity], ground.store, Writing(names, now, 0)).adds


def _stale(ground: Ground, names: Names, nodes: Iterable[NamedNode], now: Instant) -> Iterator[Stale]:
    """Yield what is stale of some nodes; the current graph is computed from the tail as it ought to be."""
    for node in nodes:
        stated = read_stated(ground.store, node, names.graph("temporal"))
        yield from stale_of(ground, names, node, stated, fold(stated), now)


def stale_of(
    ground: Ground, names: Names, entity: NamedNode, stated: Sequence[Stated], pieces: Sequence[Piece], now: Instant
) -> Iterator[Stale]:
    """Yield what is stale of an entity of which this is stated and folds to these pieces."""
    tail = _tail(ground, names, entity, stated, pieces)
    after = Overlay(ground.store, tail.adds, tail.removes) if tail != Delta() else ground.store
    for check, delta in ((CURRENT, refresh(ground, [entity], after, Writing(names, now, 0))), (TAIL, tail)):
        if delta != Delta():
            yield Stale(check, entity, delta)


def _tail(ground: Ground, names: Names, entity: NamedNode, stated: Sequence[Stated], pieces: Sequence[Piece]) -> Delta:
    last = names.state(state_uuid(entity, pieces[-1])) if pieces else None
    kept = frontier(stated, pieces[-1].start if pieces else inf)
    return plan_tail(ground.store, entity, last, kept, Writing(names, Instant(0), 0))


def _known(ground: Ground, names: Names) -> list[NamedNode]:
    """Return the entities of a namespace, and whatever else the derived graphs speak of."""
    found = set(entities(ground.store, names))
    for layer in ("current", "tail"):
        found |= _subjects(ground.store.quads_for_pattern(None, None, None, names.graph(layer)))
    due = _subjects(ground.store.quads_for_pattern(None, DUE_AT, None, meta_graph(names.base)))
    found |= {node for node in due if node.value.startswith(names.entity("").value)}
    return sorted(found, key=str)


def _subjects(quads: Iterable[Quad]) -> set[NamedNode]:
    return {quad.subject for quad in quads if isinstance(quad.subject, NamedNode)}
