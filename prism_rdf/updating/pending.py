"""What the operations of one request have changed so far, laid over the store; nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from pyoxigraph import NamedNode, Quad

from prism_rdf.errors import RefusedError
from prism_rdf.free import is_there
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.interface import GraphName
from prism_rdf.updating.scope import DEFAULT, Scope

MOST_CHANGES = 1_000_000  # quads


class Pending:
    """The change of one request, as a difference to the store: what is added is not there, what is removed is.

    ``room`` is where a copy of the store may be laid, for an operation that reads what an earlier one wrote; None for a
    store in memory. To be closed.
    """

    def __init__(self, store: EmbeddedStore, scope: Scope, room: Path | None, most: int = MOST_CHANGES) -> None:
        self.adds: dict[Quad, None] = {}
        self.removes: dict[Quad, None] = {}
        self._store = store
        self._scope = scope
        self._room = room
        self._most = most
        self._graphs: dict[NamedNode, bool] = {}  # whether there is such a graph, where that changed
        self._copy: EmbeddedStore | None = None
        self._copies = ExitStack()

    def close(self) -> None:
        self._copies.close()

    @property
    def made(self) -> tuple[NamedNode, ...]:
        return tuple(graph for graph, there in self._graphs.items() if there)

    @property
    def dropped(self) -> tuple[NamedNode, ...]:
        return tuple(graph for graph, there in self._graphs.items() if not there)

    @property
    def changes_world(self) -> bool:
        """Return whether something of the world that the engine keeps is to change."""
        return any(self._scope.is_of_engine(q.graph_name) for changed in (self.adds, self.removes) for q in changed)

    def named(self) -> list[NamedNode]:
        """Return the graphs that can be read by their name, as they are by now."""
        known = self._scope.named
        return [g for g in known if self._graphs.get(g, True)] + [g for g in self.made if g not in known]

    def exists(self, graph: NamedNode) -> bool:
        found = self._graphs.get(graph)
        return is_there(self._store, graph, self._scope.base) if found is None else found

    def quads(self, graph: GraphName) -> Iterator[Quad]:
        """Yield what a graph holds by now; of the world, what the projects in scope hold."""
        places = self._scope.default if graph == DEFAULT else [graph]
        for place in places:
            for quad in self._store.quads_for_pattern(None, None, None, place):
                found = quad if place == graph else Quad(quad.subject, quad.predicate, quad.object, graph)
                if found not in self.removes:
                    yield found
        yield from (quad for quad in tuple(self.adds) if quad.graph_name == graph)

    def change(self, removes: Iterable[Quad], adds: Iterable[Quad]) -> None:
        """Let quads go, then come. Raises RefusedError for a graph that may not be written, and for too much."""
        gone = [quad for quad in self._checked(removes, self._scope.check_write) if self._take_away(quad)]
        come = [quad for quad in self._checked(adds, self._make_for_writing) if self._put(quad)]
        if self._copy is not None:
            self._copy.apply(come, gone)

    def make(self, graph: NamedNode) -> None:
        self._scope.check_write(graph)
        if not self.exists(graph):
            self._graphs[graph] = True

    def drop(self, graph: NamedNode) -> None:
        """Let a graph be there no longer."""
        self._scope.check_write(graph)
        if graph in self._graphs and not is_there(self._store, graph, self._scope.base):
            del self._graphs[graph]
        else:
            self._graphs[graph] = False

    def seen(self) -> EmbeddedStore:
        """Return the store as it is by now, to be read: itself, or a copy once something has changed."""
        if self._copy is None and (self.adds or self.removes):
            self._copy = self._copies.enter_context(self._store.copied(self._room))
            self._copy.apply(tuple(self.adds), tuple(self.removes))
        return self._copy or self._store

    def _checked(self, quads: Iterable[Quad], check: Callable[[GraphName], None]) -> Iterator[Quad]:
        checked: set[GraphName] = set()
        for quad in quads:
            graph = quad.graph_name
            if graph not in checked:
                check(graph)
                checked.add(graph)
            yield quad

    def _make_for_writing(self, graph: GraphName) -> None:
        if isinstance(graph, NamedNode):
            self.make(graph)
        else:
            self._scope.check_write(graph)

    def _take_away(self, quad: Quad) -> bool:
        if quad in self.adds:
            del self.adds[quad]
            return True
        if quad in self.removes or not self._is_stored(quad):
            return False
        self.removes[quad] = None
        self._check_size()
        return True

    def _put(self, quad: Quad) -> bool:
        if quad in self.removes:
            del self.removes[quad]
            return True
        if quad in self.adds or self._is_stored(quad):
            return False
        self.adds[quad] = None
        self._check_size()
        return True

    def _is_stored(self, quad: Quad) -> bool:
        if quad.graph_name == DEFAULT and self._scope.world is not None:
            quad = Quad(quad.subject, quad.predicate, quad.object, self._scope.world)
        return quad in self._store

    def _check_size(self) -> None:
        if len(self.adds) + len(self.removes) > self._most:
            raise RefusedError(
                f"the update changes more than {self._most:,} quads",
                rule="a request changes a bounded number of quads, all of them or none",
                mend="change it in portions (a WHERE with a narrower FILTER), or load a file with `prism load`",
            )
