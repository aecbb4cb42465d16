"""The embedded engine: one Oxigraph store, in a folder or in memory, changed by one update at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyoxigraph import BlankNode, NamedNode, Quad, Store

from prism_rdf.errors import BusyError, RefusedError
from prism_rdf.storage.interface import VIOLATION, InvariantBroken, QueryResult

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

    def __contains__(self, quad: Quad) -> bool:
        return quad in self._store

    def graphs(self) -> Iterator[NamedNode | BlankNode]:
        """Yield the name of each graph that holds something, or was made empty by hand."""
        return self._store.named_graphs()

    def query(self, query: str, **options: Any) -> QueryResult:
        return self._store.query(query, **options)

    def apply(self, adds: Sequence[Quad], removes: Sequence[Quad], checks: Mapping[str, str]) -> None:
        changes = [_data("DELETE", removes), _data("INSERT", adds)]
        # A graph that came to exist makes CREATE fail, and with it the whole update.
        proof = [f"CREATE GRAPH {VIOLATION}", f"DROP GRAPH {VIOLATION}"] if checks else []
        try:
            self._store.update(_request([*changes, *checks.values(), *proof]))
        except RuntimeError as error:
            if f"{VIOLATION} already exists" not in str(error):
                raise
            raise InvariantBroken(self._first_broken(changes, checks)) from error
        except OSError as error:
            raise RefusedError(
                f"the store cannot be written: {error}",
                rule="a write is acknowledged only once it is on disk",
                mend="free some disk space or mend the permissions, then open the store again; nothing was changed",
            ) from error

    def _first_broken(self, changes: Sequence[str], checks: Mapping[str, str]) -> str:
        """Run a refused update again with a graph for each check: it is refused again, and now says by which."""
        operations = list(changes)
        for name, check in checks.items():
            graph = f"<{VIOLATION.value}:{name}>"
            operations += [check.replace(str(VIOLATION), graph), f"CREATE GRAPH {graph}", f"DROP GRAPH {graph}"]
        try:
            self._store.update(_request(operations))
        except RuntimeError as error:
            broken = re.search(rf"<{VIOLATION.value}:(.+)> already exists", str(error))
            if broken is not None:
                return broken[1]
            raise
        raise AssertionError("an update that was refused a moment ago went through")

    def size(self) -> int:
        """Return the number of quads."""
        return len(self._store)

    def load(self, quads: Iterable[Quad]) -> None:
        """Add quads outside of any commit: for derived data in memory, such as a snapshot as of an instant."""
        self._store.bulk_extend(quads)

    def patch(self, quads: Mapping[Quad, bool]) -> None:
        """Make each quad there (True) or not, outside of any commit: for a store that is being built."""
        for quad, there in quads.items():
            if not there:
                self._store.remove(quad)
        self._store.bulk_extend(quad for quad, there in quads.items() if there)

    def backup(self, target: Path) -> None:
        """Copy the store as it is at this moment into a folder that must not be there, by hard links where it can.

        Raises OSError; a store in memory has nothing to copy.
        """
        self._store.backup(str(target))

    def become(self, other: EmbeddedStore) -> None:
        """Go on as ``other``, which is used up; iterators begun before still read what was."""
        self._folder, self._store = other._folder, other._store

    def flush(self) -> None:
        if self._folder is not None:
            self._store.flush()

    def close(self) -> None:
        """Release the folder; the object answers nothing afterwards."""
        with suppress(OSError):  # a full disk: what is not flushed is replayed from the change log
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
