"""One SPARQL UPDATE request as one commit: evaluated under the writer's lock, recorded whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import NamedNode, Quad

from prism_rdf.errors import BadArgument
from prism_rdf.model import FreeChange, Intent
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.interface import GraphName
from prism_rdf.updating.evaluating import Evaluation, Select
from prism_rdf.updating.pending import Pending
from prism_rdf.updating.requests import Operation
from prism_rdf.updating.scope import Scope


@dataclass(frozen=True)
class Request:
    """The operations of a request, and the graphs that the protocol names in place of USING."""

    operations: tuple[Operation, ...]
    using: tuple[NamedNode, ...] = ()
    using_named: tuple[NamedNode, ...] = ()


class _Counting:
    """What an update or a load comes to, once the commit has asked for it."""

    def __init__(self) -> None:
        self._added = 0
        self._removed = 0

    @property
    def counted(self) -> str:
        """Return in words how many triples come and go."""
        return f"{self._added:,} {'triple' if self._added == 1 else 'triples'} added, {self._removed:,} removed"

    def _count(self, pending: Pending) -> None:
        self._added, self._removed = len(pending.adds), len(pending.removes)


class Update(_Counting):
    """Turns a request into intents when the commit asks for them; what it changes is counted from then on.

    ``select`` asks the WHERE of an operation. ``read`` turns what comes and goes of the world of a project into
    intents.
    """

    def __init__(
        self,
        request: Request,
        store: EmbeddedStore,
        scope: Callable[[], Scope],
        room: Path | None,
        select: Select,
        read: Callable[[Sequence[Quad], Sequence[Quad]], Sequence[Intent]],
    ) -> None:
        super().__init__()
        self._request = request
        self._store = store
        self._scope = scope
        self._room = room
        self._select = select
        self._read = read

    def intents(self) -> tuple[Intent, ...]:
        """Return what the request changes; to be called under the writer's lock."""
        scope, request = self._scope(), self._request
        with closing(Pending(self._store, scope, self._room)) as pending:
            evaluation = Evaluation(pending, scope, self._select, request.using, request.using_named)
            for operation in request.operations:
                evaluation.take(operation)
            self._count(pending)
            come, said = _parted(pending.adds, scope)
            gone, unsaid = _parted(pending.removes, scope)
            change = FreeChange(come, gone, pending.made, pending.dropped)
        intents = self._read(said, unsaid) if said or unsaid else ()
        return (*intents, change) if change != FreeChange() else tuple(intents)


class Load(_Counting):
    """Turns statements into an intent when the commit asks for it; what is new of them is counted from then on.

    ``emptied`` is the graph that is to hold nothing else afterwards, ``made`` the one that is to be there.
    """

    def __init__(
        self,
        quads: Iterable[Quad],
        store: EmbeddedStore,
        scope: Callable[[], Scope],
        made: GraphName | None,
        emptied: GraphName | None,
    ) -> None:
        super().__init__()
        self._quads = quads
        self._store = store
        self._scope = scope
        self._made = made
        self._emptied = emptied

    def intents(self) -> tuple[Intent, ...]:
        """Return what the statements change; to be called under the writer's lock."""
        with closing(Pending(self._store, self._scope(), None)) as pending:
            if self._emptied is not None:
                pending.change(list(pending.quads(self._emptied)), ())
            if isinstance(self._made, NamedNode):
                pending.make(self._made)
            pending.change((), self._quads)
            self._count(pending)
            change = FreeChange(tuple(pending.adds), tuple(pending.removes), pending.made, pending.dropped)
        return (change,) if change != FreeChange() else ()


def _parted(quads: Iterable[Quad], scope: Scope) -> tuple[tuple[Quad, ...], tuple[Quad, ...]]:
    """Return the quads of free graphs, and those of the world of a project."""
    free: list[Quad] = []
    world: list[Quad] = []
    for quad in quads:
        (world if scope.is_of_engine(quad.graph_name) else free).append(quad)
    return tuple(free), tuple(world)


def graphs_named(iris: Sequence[str]) -> tuple[NamedNode, ...]:
    """Return the graphs of some IRIs. Raises BadArgument for text that is none."""
    try:
        return tuple(NamedNode(iri) for iri in iris)
    except ValueError as error:
        raise BadArgument(
            f"{error}", rule="a graph is named by an absolute IRI", mend="give its IRI in full, without brackets"
        ) from error
