"""The invariants of a large commit, checked on a copy of what it touches before anything is written.

Post-conditions read inside the transaction that wrote, and Oxigraph reads slowly there: measured, 1,000 new states took
6.4 s in one update and 0.2 s on a copy in memory. The writer's lock makes both say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pyoxigraph import NamedNode, Quad

from prism_rdf.errors import Violation
from prism_rdf.model import ChangeSet
from prism_rdf.namespaces import Names
from prism_rdf.storage.about import objects
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.states import HAS_STATE
from prism_rdf.validation.checks import Check, find

MOST_STATES_IN_AN_UPDATE = 50


def broken_by(
    change: ChangeSet, store: GraphReader, names: Names, checks: Iterable[Check], states: Sequence[NamedNode]
) -> tuple[Violation, ...]:
    """Return the invariants that the store would break after ``change``, which touches ``states``."""
    copy = _copy(change, store, names)
    return tuple(
        Violation(
            finding.entity, "", finding.detail, check.name, f"the write would break an invariant: {check.summary}"
        )
        for check in checks
        for finding in find(copy, check, check.bind(names, change.touched, states))
    )


def _copy(change: ChangeSet, store: GraphReader, names: Names) -> EmbeddedStore:
    copy = EmbeddedStore()
    removed = frozenset(change.removes)
    copy.load(quad for quad in _about_touched(change.touched, store, names) if quad not in removed)
    copy.load(change.adds)
    return copy


def _about_touched(touched: Iterable[NamedNode], store: GraphReader, names: Names) -> Iterator[Quad]:
    canonical, temporal = names.graph("canonical"), names.graph("temporal")
    for entity in touched:
        yield from store.quads_for_pattern(entity, None, None, canonical)
        yield from store.quads_for_pattern(entity, None, None, temporal)
        for state in objects(store, entity, HAS_STATE, temporal):
            yield from store.quads_for_pattern(state, None, None, temporal)
            yield from store.quads_for_pattern(None, None, None, state)
