"""The embedded engine: one Oxigraph store, in a folder or in memory, changed by one update at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, Store, serialize

from prism_rdf.errors import BusyError, RefusedError
from prism_rdf.storage.interface import QueryResult

_GRAPH = re.compile(r"^(?=<[^>]*> \{$)", re.MULTILINE)  # TriG needs no word before the name of a graph, SPARQL does


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

    def apply(self, adds: Sequence[Quad], removes: Sequence[Quad]) -> None:
        request = " ;\n".join(filter(None, (_data("DELETE", removes), _data("INSERT", adds))))
        with _refusing():
            self._store.update(request)

    def size(self) -> int:
        """Return the number of quads."""
        return len(self._store)

    def load(self, quads: Iterable[Quad]) -> None:
        """Add many quads, three times as fast as ``apply`` and not atomically: for what nobody looks at yet."""
        with _refusing():
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


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RefusedError(
            f"the store cannot be written: {error}",
            rule="a write is acknowledged only once it is on disk",
            mend="free some disk space or mend the permissions, then open the store again; nothing was changed",
        ) from error


def _data(verb: str, quads: Sequence[Quad]) -> str:
    if not quads:
        return ""
    text = serialize(quads, format=RdfFormat.TRIG).decode()  # type: ignore[union-attr]
    return f"{verb} DATA {{\n{_GRAPH.sub('GRAPH ', text)}}}"
