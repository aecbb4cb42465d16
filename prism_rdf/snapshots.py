"""The world as of an instant as a store of its own: built once, kept within a bound, patched from the change log."""

from __future__ import annotations

import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pyoxigraph import NamedNode, Quad

from prism_rdf.changes import Ground
from prism_rdf.clock import Instant
from prism_rdf.commit import touched_by
from prism_rdf.namespaces import TOLD, Names
from prism_rdf.semantic.merges import concerned_by
from prism_rdf.storage.changelog import LoggedChange
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.folder import remove
from prism_rdf.values import quad_text
from prism_rdf.views import as_quads, drafted_entities, entity_view, told_of
from prism_rdf.world import told_of_all, world_text

MOST_QUADS = 4_000_000
MOST_ROUNDS = 5
ALWAYS_PATCHED = 1000  # entities; of more, one in ten: an entity alone takes ten times what it takes among all
QUADS_FOR_ONE_PATCH = 100
Changes = Callable[[int], Iterable[LoggedChange]]


@dataclass
class Kept:
    """A snapshot, the commit it has seen, and its size in quads."""

    store: EmbeddedStore
    commit: int
    quads: int


class _Wanted(NamedTuple):
    """Which snapshot is meant; it is made and compared for every query."""

    namespaces: tuple[str, ...]
    at: Instant
    known_at: Instant | None
    prefer_wip: bool = False

    def __str__(self) -> str:
        known = f" known at {self.known_at}" if self.known_at else ""
        return f"as of {self.at}{known}{' with drafts' if self.prefer_wip else ''}"


@dataclass
class _News:
    """What some commits touched, each with the names of its project; ``commit`` is the last one, 0 without any."""

    commit: int = 0
    entities: set[tuple[NamedNode, Names]] = field(default_factory=set)
    told: set[tuple[Any, NamedNode]] = field(default_factory=set)
    retyped: bool = False


class Snapshots:
    """Snapshots of one store. The least recently used go when together they would exceed ``most_quads``.

    After a write a snapshot is patched entity by entity from what the log says was touched, or made anew where that is
    less work; one of an earlier system time cannot change. ``changes`` None means that there is no log to follow, so a
    write makes them anew. They are in memory, or in ``folder``, from which each goes with the last who uses it.
    """

    def __init__(
        self,
        ground: Ground,
        base: str,
        changes: Changes | None,
        most_quads: int = MOST_QUADS,
        folder: Path | None = None,
    ) -> None:
        self._ground = ground
        self._base = base
        self._changes = changes
        self._most = most_quads
        self._folder = folder
        self._kept: OrderedDict[_Wanted, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def at(
        self,
        namespaces: Sequence[str],
        at: Instant,
        known_at: Instant | None,
        commit: int,
        *,
        prefer_wip: bool = False,
    ) -> Kept:
        """Return the snapshot at ``at`` as believed at ``known_at`` (None: now), with everything up to ``commit``.

        Commits that were written while it was made are in it as a whole, or not at all. With ``prefer_wip`` drafts are
        laid over.
        """
        wanted = _Wanted(tuple(namespaces), at, known_at, prefer_wip)
        with self._lock:
            kept = self._kept.get(wanted)
            if kept is None or (kept.commit < commit and not self._follow(kept, wanted)):
                kept = self._build(wanted, commit)
                self._follow(kept, wanted, anew=False)
                self._kept[wanted] = kept
                self._shrink(wanted)
            self._kept.move_to_end(wanted)
            return kept

    def clear(self) -> None:
        """Forget all snapshots: for a store that was rewritten."""
        with self._lock:
            self._kept.clear()

    def stale(self, namespace: str, commit: int, *, forget: bool = False) -> list[tuple[Any, str]]:
        """Return each (node, what differs) of which a snapshot with a namespace differs from the computation.

        What is written meanwhile may seem to differ. With ``forget`` such a snapshot goes, and is made when needed.
        """
        found: list[tuple[Any, str]] = []
        with self._lock:
            for wanted in [each for each in self._kept if namespace in each.namespaces]:
                kept = self._kept[wanted]
                if kept.commit < commit and not self._follow(kept, wanted):
                    continue  # the next question makes it anew
                differing = _differing(kept.store, self._build(wanted, commit).store)
                found += [(node, f"{wanted}: {said}") for node, said in differing]
                if differing and forget:
                    del self._kept[wanted]
        return found

    def _build(self, wanted: _Wanted, commit: int) -> Kept:
        store, snapshot, known_at = self._ground.store, self._empty(), wanted.known_at
        for namespace in wanted.namespaces:
            names = Names(self._base, namespace)
            catalog = self._ground.schema(names, known_at).catalog
            for text in world_text(store, names, wanted.at, catalog.superclasses, known_at, catalog.identifying):
                snapshot.load_text(text)
            snapshot.load(told_of_all(store, names, wanted.at, known_at))
        kept = Kept(snapshot, commit, snapshot.size())
        for namespace in wanted.namespaces if wanted.prefer_wip else ():
            names = Names(self._base, namespace)
            for entity in drafted_entities(store, names):
                self._patch_entity(kept, entity, names, wanted)
        return kept

    def _empty(self) -> EmbeddedStore:
        if self._folder is None:
            return EmbeddedStore()
        self._folder.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=self._folder))
        store = EmbeddedStore(place)
        weakref.finalize(store, remove, place)
        return store

    def _follow(self, kept: Kept, wanted: _Wanted, *, anew: bool = True) -> bool:
        """Patch a snapshot with what the log has since; False where it has to be made anew, or ``anew`` is less work.

        Writing goes on meanwhile, so the log is read again until it has nothing more, or often enough.
        """
        if self._changes is None:
            return False
        for _ in range(MOST_ROUNDS):
            news = self._news(self._changes(kept.commit), wanted)
            if news.commit == 0:
                break
            much = len(news.entities) > max(ALWAYS_PATCHED, kept.quads // QUADS_FOR_ONE_PATCH)
            if news.retyped or (anew and much):
                return False
            with kept.store.journal.still():  # whoever copies it sees all of the patch, or nothing
                self._patch(kept, news, wanted)
                kept.commit = news.commit
        return True

    def _news(self, changes: Iterable[LoggedChange], wanted: _Wanted) -> _News:
        news = _News()
        for change in changes:
            news.commit = change.number
            later = wanted.known_at is not None and change.recorded_at > wanted.known_at
            if later or change.namespace not in wanted.namespaces:
                continue
            names = Names(self._base, change.namespace)
            touched = touched_by(self._ground.store, change, self._base)
            news.entities.update((e, names) for e in concerned_by(self._ground.store, names, touched))
            places = {(q.graph_name, q.subject) for q in (*change.adds, *change.removes)}
            told = {names.graph(layer) for layer in TOLD}
            news.told.update((g, node) for g, node in places if g in told and isinstance(node, NamedNode))
            news.retyped |= any(graph == names.graph("types") for graph, _ in places)
        return news

    def _patch(self, kept: Kept, news: _News, wanted: _Wanted) -> None:
        store, at, known_at = self._ground.store, wanted.at, wanted.known_at
        for entity, names in news.entities:
            self._patch_entity(kept, entity, names, wanted)
        for graph, node in news.told:
            self._replace(kept, node, set(as_quads(told_of(store, graph, node, at, known_at), graph)), graph)

    def _patch_entity(self, kept: Kept, entity: NamedNode, names: Names, wanted: _Wanted) -> None:
        catalog, graph = self._ground.schema(names, wanted.known_at).catalog, names.graph("current")
        view = entity_view(
            self._ground.store,
            names,
            entity,
            wanted.at,
            catalog.superclasses,
            wanted.known_at,
            catalog.identifying,
            prefer_wip=wanted.prefer_wip,
        )
        self._replace(kept, entity, set(as_quads(view, graph)), graph)

    def _replace(self, kept: Kept, subject: NamedNode, wanted: set[Quad], graph: NamedNode) -> None:
        held = set(kept.store.quads_for_pattern(subject, None, None, graph))
        if wanted != held:
            kept.store.apply(tuple(wanted - held), tuple(held - wanted))
            kept.quads += len(wanted) - len(held)

    def _shrink(self, newest: _Wanted) -> None:
        while len(self._kept) > 1 and sum(kept.quads for kept in self._kept.values()) > self._most:
            oldest = next(key for key in self._kept if key != newest)
            del self._kept[oldest]


def _differing(kept: EmbeddedStore, computed: EmbeddedStore) -> list[tuple[Any, str]]:
    """Return each node that two stores tell otherwise of, and what is missing and surplus in the one that was kept."""
    told: dict[Any, list[str]] = {}
    for word, one, other in (("missing", computed, kept), ("surplus", kept, computed)):
        for quad in one.quads_for_pattern(None, None, None):
            if quad not in other:
                told.setdefault(quad.subject, []).append(f"{word} {quad_text(quad)}")
    return [(node, "; ".join(each)) for node, each in told.items()]
