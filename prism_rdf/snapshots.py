"""The world as of an instant as stores in memory: built once, kept within a bound, patched from the change log."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pyoxigraph import NamedNode, Quad

from prism_rdf.changes import Ground
from prism_rdf.clock import Instant
from prism_rdf.commit import touched_by
from prism_rdf.namespaces import Names
from prism_rdf.semantic.merges import concerned_by
from prism_rdf.storage.changelog import LoggedChange
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.views import as_quads, entity_view, memories_at, memory_at, world

MOST_QUADS = 4_000_000
Changes = Callable[[int], Iterable[LoggedChange]]


@dataclass
class _Kept:
    """A snapshot, the commit it has seen, and its size in quads."""

    store: EmbeddedStore
    commit: int
    quads: int


class Snapshots:
    """Snapshots of one store. The least recently used go when together they would exceed ``most_quads``.

    After a write a snapshot is patched entity by entity from what the log says was touched; one of an earlier system
    time cannot change. ``changes`` None means that there is no log to follow, so a write makes them anew.
    """

    def __init__(self, ground: Ground, base: str, changes: Changes | None, most_quads: int = MOST_QUADS) -> None:
        self._ground = ground
        self._base = base
        self._changes = changes
        self._most = most_quads
        self._kept: OrderedDict[tuple[object, ...], _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def at(self, namespaces: Sequence[str], at: Instant, known_at: Instant | None, commit: int) -> EmbeddedStore:
        """Return the snapshot at ``at`` as believed at ``known_at`` (None: now), with everything up to ``commit``."""
        key = (tuple(namespaces), at, known_at)
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or (kept.commit < commit and self._changes is None):
                kept = self._build(namespaces, at, known_at, commit)
                self._kept[key] = kept
                self._shrink(key)
            elif kept.commit < commit:
                self._patch(kept, namespaces, at, known_at, commit)
            self._kept.move_to_end(key)
            return kept.store

    def clear(self) -> None:
        """Forget all snapshots: for a store that was rewritten."""
        with self._lock:
            self._kept.clear()

    def _build(self, namespaces: Iterable[str], at: Instant, known_at: Instant | None, commit: int) -> _Kept:
        store, snapshot = self._ground.store, EmbeddedStore()
        for namespace in namespaces:
            names = Names(self._base, namespace)
            catalog = self._ground.schema(names, known_at).catalog
            told = world(store, names, at, catalog.superclasses, known_at, catalog.identifying)
            snapshot.load(as_quads(told, names.graph("current")))
            snapshot.load(as_quads(memories_at(store, names, at, known_at), names.graph("memory")))
        return _Kept(snapshot, commit, snapshot.size())

    def _patch(
        self, kept: _Kept, namespaces: Sequence[str], at: Instant, known_at: Instant | None, commit: int
    ) -> None:
        assert self._changes is not None
        touched: dict[NamedNode, str] = {}
        memories: dict[NamedNode, str] = {}
        for change in self._changes(kept.commit):
            if change.number > commit:
                break
            if change.namespace in namespaces and (known_at is None or change.recorded_at <= known_at):
                names = Names(self._base, change.namespace)
                if any(quad.graph_name == names.graph("types") for quad in change.adds):
                    fresh = self._build(namespaces, at, known_at, commit)  # whatever is of these types may be otherwise
                    kept.store, kept.commit, kept.quads = fresh.store, fresh.commit, fresh.quads
                    return
                spoken_of = touched_by(self._ground.store, change, self._base)
                concerned = concerned_by(self._ground.store, names, spoken_of)
                touched.update((entity, change.namespace) for entity in concerned)
                graph = names.graph("memory")
                quads = (q for q in (*change.adds, *change.removes) if q.graph_name == graph)
                memories.update((q.subject, change.namespace) for q in quads if isinstance(q.subject, NamedNode))
        store = self._ground.store
        for entity, namespace in touched.items():
            names = Names(self._base, namespace)
            catalog = self._ground.schema(names, known_at).catalog
            view = entity_view(store, names, entity, at, catalog.superclasses, known_at, catalog.identifying)
            self._replace(kept, entity, set(as_quads(view, names.graph("current"))), names.graph("current"))
        for memory, namespace in memories.items():
            names = Names(self._base, namespace)
            view = memory_at(store, names, memory, at, known_at)
            self._replace(kept, memory, set(as_quads(view, names.graph("memory"))), names.graph("memory"))
        kept.commit = commit

    def _replace(self, kept: _Kept, subject: NamedNode, wanted: set[Quad], graph: NamedNode) -> None:
        held = set(kept.store.quads_for_pattern(subject, None, None, graph))
        if wanted != held:
            kept.store.apply(tuple(wanted - held), tuple(held - wanted))
            kept.quads += len(wanted) - len(held)

    def _shrink(self, newest: tuple[object, ...]) -> None:
        while len(self._kept) > 1 and sum(kept.quads for kept in self._kept.values()) > self._most:
            oldest = next(key for key in self._kept if key != newest)
            del self._kept[oldest]
