"""The embedded engine: one Oxigraph store, in a folder or in memory, changed by one update at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, Quad, Store

from prism_rdf.errors import BusyError
from prism_rdf.storage.interface import InvariantBroken, QueryResult

_PREFIX = re.compile(r"^PREFIX \S+ <\S+>\n", re.MULTILINE)


class EmbeddedStore:
    """An Oxigraph store behind ``GraphStore``; ``folder`` None means in memory.

    Raises BusyError when another process holds the folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        try:
            self._store = Store() if folder is None else Store(str(folder))
        except OSError as error:
            if "lock" not in str(error).lower():
                raise
            raise BusyError(
                f"the store in {folder and folder.parent} is in use by another process",
                rule="one process owns a store at a time",
                mend="stop that process, or ask it: prism serve answers SPARQL over HTTP",
            ) from error

    def quads_for_pattern(self, subject: Any, predicate: Any, object: Any, graph_name: Any = None) -> Iterator[Quad]:
        return self._store.quads_for_pattern(subject, predicate, object, graph_name)

    def query(self, query: str, **options: Any) -> QueryResult:
        return self._store.query(query, **options)

    def apply(self, adds: Sequence[Quad], removes: Sequence[Quad], checks: Mapping[NamedNode, str]) -> None:
        operations = [_data("DELETE", removes), _data("INSERT", adds)]
        for graph, check in checks.items():
            operations += [check, f"CREATE GRAPH {graph}", f"DROP GRAPH {graph}"]
        try:
            self._store.update(_request(operations))
        except RuntimeError as error:
            broken = re.search(r"The graph <(.+)> already exists", str(error))
            if broken is None:
                raise
            raise InvariantBroken(broken[1]) from error

    def load(self, quads: Iterable[Quad]) -> None:
        """Add quads outside of any commit: for derived data in memory, such as a snapshot as of an instant."""
        self._store.bulk_extend(quads)

    def flush(self) -> None:
        if self._folder is not None:
            self._store.flush()

    def close(self) -> None:
        """Release the folder; the object answers nothing afterwards."""
        self.flush()
        del self._store


def _request(operations: Iterable[str]) -> str:
    """Join operations into one request; Oxigraph takes a prologue at its head only."""
    text = " ;\n".join(operation for operation in operations if operation)
    prologue = dict.fromkeys(_PREFIX.findall(text))
    return "".join(prologue) + _PREFIX.sub("", text)


def _data(verb: str, quads: Iterable[Quad]) -> str:
    body = "\n".join(f"GRAPH {quad.graph_name} {{ {quad.subject} {quad.predicate} {quad.object} }}" for quad in quads)
    return f"{verb} DATA {{\n{body}\n}}" if body else ""
