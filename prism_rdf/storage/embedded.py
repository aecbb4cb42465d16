"""The embedded engine: one Oxigraph store, in a folder or in memory, changed by one update at a time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from errno import ENOSPC
from pathlib import Path
from shutil import disk_usage
from typing import Any
from uuid import uuid4

from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, Store, Triple, parse, serialize

from prism_rdf.errors import BusyError, StorageFailed
from prism_rdf.storage.folder import remove
from prism_rdf.storage.interface import QueryResult
from prism_rdf.storage.journal import Journal

_GRAPH = re.compile(r"^(?=<[^>]*> \{$)", re.MULTILINE)  # TriG needs no word before the name of a graph, SPARQL does

# A blank node has no name by which an update could speak of it. A quad that has one is laid down as a triple term,
# which no pattern of a reader finds, and moved within the one update.
_STAGE, _DEFAULT = NamedNode("urn:prism:stage"), NamedNode("urn:prism:stage#default")
_ADD, _REMOVE = NamedNode("urn:prism:stage#add"), NamedNode("urn:prism:stage#remove")
_UNSTAGE = tuple(
    f"{verb} {{ {quad} }} WHERE {{ GRAPH {_STAGE} {{ {place} <<( ?s ?p ?o )>> }} {condition} }}"
    for verb, node in (("DELETE", _REMOVE), ("INSERT", _ADD))
    for place, quad, condition in (
        (f"{node} ?g", "GRAPH ?g { ?s ?p ?o }", f"FILTER(?g != {_DEFAULT})"),
        (f"{node} {_DEFAULT}", "?s ?p ?o", ""),
    )
)

_ROOM = 16 << 20  # bytes that opening a store anew may write beside what its own log holds
_PATIENCE, _MOMENT = 5.0, 0.05  # seconds


class EmbeddedStore:
    """An Oxigraph store behind ``GraphStore``; ``folder`` None means in memory.

    Every method that changes the store does so within ``_changing``, so that copies elsewhere can keep up. After an
    error of the disk the engine writes nothing any more: the next write, or copy, opens the folder anew.
    Raises BusyError when another process holds the folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self.key = uuid4().hex  # names this store among those that a worker has copies of
        self.journal = Journal()
        self._broken = False
        try:
            self._store = Store() if folder is None else Store(str(folder))
        except OSError as error:
            if not _is_held(error):
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
        steps: list[str] = []
        nameless: list[Quad] = []
        for verb, node, quads in (("DELETE", _REMOVE, removes), ("INSERT", _ADD, adds)):
            text = _data(verb, quads)
            if "_:" in text:
                named, others = _parted(quads)
                text = _data(verb, named)
                nameless += _staged(node, others)
            steps.append(text)
        with self._changing(adds, removes):
            if not nameless:
                self._store.update(" ;\n".join(filter(None, steps)))
                return
            self._store.remove_graph(_STAGE)
            try:
                self._store.extend(nameless)
                self._store.update(" ;\n".join(filter(None, (*_UNSTAGE, *steps))))
            finally:
                self._store.remove_graph(_STAGE)

    def size(self) -> int:
        """Return the number of quads."""
        return len(self._store)

    def load(self, quads: Iterable[Quad]) -> None:
        """Add many quads, three times as fast as ``apply`` and not atomically: for what nobody looks at yet."""
        with self._changing(told=False):
            self._store.bulk_extend(quads)

    def load_file(self, path: Path, form: RdfFormat) -> None:
        """Do what ``load`` does with the quads of a file; blank nodes get new labels. Raises SyntaxError."""
        with self._changing(told=False):
            self._store.bulk_load(path=str(path), format=form)

    def load_text(self, nquads: str) -> None:
        """Add what N-Quads of nodes that are new say. Readers see all of it or nothing, up to MOST_AT_ONCE quads.

        Blank nodes, if there are any, keep their labels, at twice the cost; what nobody looks at yet may be added so.
        """
        data = nquads.encode()
        with self._changing(told=False):
            if b"_:" in data:
                self._store.bulk_extend(parse(data, format=RdfFormat.N_QUADS, lenient=True))
            else:
                self._store.bulk_load(data, format=RdfFormat.N_QUADS, lenient=True)

    def patch(self, quads: Mapping[Quad, bool]) -> None:
        """Make each quad there (True) or not, outside of any commit: for a store that is being built."""
        with self._changing(told=False):
            for quad, there in quads.items():
                if not there:
                    self._store.remove(quad)
            self._store.bulk_extend(quad for quad, there in quads.items() if there)

    @contextmanager
    def _changing(
        self, adds: Sequence[Quad] = (), removes: Sequence[Quad] = (), *, told: bool = True
    ) -> Iterator[None]:
        """Have the store changed within, as ``Journal.changing`` does. Raises StorageFailed."""
        with self.journal.changing(adds, removes, told=told):
            self._mend()
            try:
                yield
            except OSError as error:
                self._broken = self._folder is not None
                raise _failed("written", error) from error

    def _mend(self) -> None:
        """Open the folder anew after an error, once there is room for what that writes. Raises StorageFailed.

        Whoever still reads keeps it open, and is waited for.
        """
        if not self._broken or self._folder is None:
            return
        room = disk_usage(self._folder).free
        if room < _ROOM + sum(each.stat().st_size for each in self._folder.glob("*.log")):
            raise _failed("written", OSError(ENOSPC, f"only {room >> 20} MiB are left on the disk"))
        self._store = _Away(self)  # type: ignore[assignment]
        until = time.monotonic() + _PATIENCE
        while self._broken:
            try:
                self._store = Store(str(self._folder))
                self._broken = False
            except OSError as error:
                if not _is_held(error) or time.monotonic() > until:
                    raise _failed("opened again", error) from error
                time.sleep(_MOMENT)

    def backup(self, target: Path) -> None:
        """Copy the store as it is at this moment into a folder that must not be there, by hard links where it can.

        Raises OSError; a store in memory has nothing to copy.
        """
        self._store.backup(str(target))

    def copy(self, target: Path) -> int:
        """Copy the store into a folder that must not be there, and return which version of it that is.

        A store in memory is written out. Raises OSError.
        """
        with self.journal.still() as version:
            self._mend()
            if self._folder is not None:
                self._store.backup(str(target))
            else:
                target.mkdir(parents=True)
                copy = Store(str(target))
                copy.bulk_extend(self._store)  # which keeps the blank nodes, so that changes of them can follow
                copy.flush()
        return version

    @contextmanager
    def copied(self, place: Path | None) -> Iterator[EmbeddedStore]:
        """Yield a copy that may be changed, laid in the folder ``place``, by hard links; in memory for None."""
        if place is None or self._folder is None:
            copy = EmbeddedStore()
            copy.load(self._store)
            yield copy
            return
        remove(place)
        self._store.backup(str(place))
        copy = EmbeddedStore(place)
        try:
            yield copy
        finally:
            copy.close()
            remove(place)

    def become(self, other: EmbeddedStore) -> None:
        """Go on as ``other``, which is used up; iterators begun before still read what was."""
        with self.journal.changing(told=False):
            self._folder, self._store, self._broken = other._folder, other._store, other._broken

    def flush(self) -> None:
        if self._folder is not None:
            self._store.flush()

    def close(self) -> None:
        """Release the folder; the object answers nothing afterwards."""
        with suppress(OSError):  # a full disk: what is not flushed is replayed from the change log
            self.flush()
        del self._store


class _Away:
    """Stands for the engine while its folder is opened anew: who asks waits for that. Raises StorageFailed."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._held = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._back(), name)

    def __contains__(self, quad: Quad) -> bool:
        return quad in self._back()

    def __len__(self) -> int:
        return len(self._back())

    def __iter__(self) -> Iterator[Quad]:
        return iter(self._back())

    def _back(self) -> Any:
        with self._held.journal.still():
            self._held._mend()
            return self._held._store


def _staged(verb: NamedNode, quads: Sequence[Quad]) -> Iterator[Quad]:
    """Yield the quads with blank nodes in a form in which an update can move them to where they belong."""
    for quad in quads:
        graph = quad.graph_name if isinstance(quad.graph_name, NamedNode) else _DEFAULT
        yield Quad(verb, graph, quad.triple, _STAGE)


def _parted(quads: Sequence[Quad]) -> tuple[Sequence[Quad], Sequence[Quad]]:
    """Return the quads that an update can name, and those with blank nodes."""
    return [q for q in quads if not _has_blank_node(q)], [q for q in quads if _has_blank_node(q)]


def _has_blank_node(term: Any) -> bool:
    """Return whether a quad, or a triple that stands in one, has a blank node."""
    subject, object = term.subject, term.object
    return (
        isinstance(subject, BlankNode)
        or isinstance(object, BlankNode)
        or (isinstance(object, Triple) and _has_blank_node(object))
    )


def _is_held(error: OSError) -> bool:
    """Return whether a folder could not be opened because somebody has it open."""
    return "lock" in str(error).lower()


def _failed(what: str, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"the store cannot be {what}: {error}",
        rule="a write is acknowledged only once it is on disk",
        mend="make room on the disk, or mend it, and write again; nothing was changed",
    )


def _data(verb: str, quads: Sequence[Quad]) -> str:
    if not quads:
        return ""
    text = serialize(quads, format=RdfFormat.TRIG).decode()  # type: ignore[union-attr]
    return f"{verb} DATA {{\n{_GRAPH.sub('GRAPH ', text)}}}"
