"""One SPARQL UPDATE request as one commit: evaluated under the writer's lock, recorded whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import NamedNode

from prism_rdf.errors import BadArgument
from prism_rdf.model import FreeChange, Intent, Tier
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.updating.evaluating import Evaluation
from prism_rdf.updating.pending import Pending
from prism_rdf.updating.requests import Operation
from prism_rdf.updating.scope import Scope


@dataclass(frozen=True)
class Request:
    """The operations of a request, and the graphs that the protocol names in place of USING."""

    operations: tuple[Operation, ...]
    using: tuple[NamedNode, ...] = ()
    using_named: tuple[NamedNode, ...] = ()
    tier: Tier = 1
    source: str = ""


class Update:
    """Turns a request into intents when the commit asks for them; what it changes is counted from then on."""

    def __init__(self, request: Request, store: EmbeddedStore, scope: Callable[[], Scope], room: Path | None) -> None:
        self._request = request
        self._store = store
        self._scope = scope
        self._room = room
        self._added = 0
        self._removed = 0

    @property
    def counted(self) -> str:
        """Return in words how many quads come and go."""
        return f"added {self._added} and removed {self._removed} quads"

    def intents(self) -> tuple[Intent, ...]:
        """Return what the request changes; to be called under the writer's lock."""
        scope, request = self._scope(), self._request
        with closing(Pending(self._store, scope, self._room)) as pending:
            evaluation = Evaluation(pending, scope, request.using, request.using_named)
            for operation in request.operations:
                evaluation.take(operation)
            self._added, self._removed = len(pending.adds), len(pending.removes)
            change = FreeChange(tuple(pending.adds), tuple(pending.removes), pending.made, pending.dropped)
        return (change,)


def graphs_named(iris: Sequence[str]) -> tuple[NamedNode, ...]:
    """Return the graphs of some IRIs. Raises BadArgument for text that is none."""
    try:
        return tuple(NamedNode(iri) for iri in iris)
    except ValueError as error:
        raise BadArgument(
            f"{error}", rule="a graph is named by an absolute IRI", mend="give its IRI in full, without brackets"
        ) from error
