"""What a SPARQL query sees: the world now, the world as of an instant, or the named graphs as they are stored."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any
from typing import Literal as Choice

from pyoxigraph import (
    QueryBoolean,
    QuerySolutions,
    QueryTriples,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
    serialize,
)

from prism_rdf.changes import Ground
from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument
from prism_rdf.evaluating import Evaluation, Source
from prism_rdf.frames import frame_of
from prism_rdf.namespaces import PREFIXES, commit_iri, meta_graph, prism
from prism_rdf.reach import graphs_declared
from prism_rdf.snapshots import Changes, Snapshots
from prism_rdf.storage.about import about
from prism_rdf.visible import NONE, Graphs, Visible
from prism_rdf.workers.answer import WorkedAnswer
from prism_rdf.workers.formats import GRAPH_FORMATS, RESULT_FORMATS

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["GRAPH_FORMATS", "RESULT_FORMATS", "Dataset", "Datasets", "QueryAnswer", "text_of"]

Dataset = Choice["current", "raw"]

_KINDS: dict[type, Choice["select", "ask", "graph"]] = {QueryBoolean: "ask", QueryTriples: "graph"}
_PIECE = 1 << 16  # bytes
_IN_MEMORY = 1 << 23  # bytes


@dataclass
class QueryAnswer:
    """The result of one query, and the instant and commit that it saw; it can be read once.

    ``kind`` is select, ask or graph. ``as_of`` is None for the current and the raw dataset. ``truncated`` says that
    there are more rows than were asked for. An answer that is not wanted any more is given up by ``close``.
    """

    kind: Choice["select", "ask", "graph"]
    dataset: Dataset
    as_of: Instant | None
    known_at: Instant | None
    commit: int
    _results: QuerySolutions | QueryBoolean | Iterable[Triple] | WorkedAnswer
    truncated: bool = False

    @property
    def variables(self) -> list[str]:
        """Return the names of the columns of a select, without question marks; empty otherwise."""
        if isinstance(self._results, WorkedAnswer):
            return self._results.variables
        if not isinstance(self._results, QuerySolutions):
            return []
        return [variable.value for variable in self._results.variables]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows: of a select its terms (None: unbound), of a graph (s, p, o), of an ask one boolean."""
        results = self._results
        if isinstance(results, WorkedAnswer):
            yield from self._read_back()
        elif isinstance(results, QueryBoolean):
            yield (bool(results),)
        elif isinstance(results, QuerySolutions):
            yield from map(tuple, results)
        else:
            for triple in results:
                yield (triple.subject, triple.predicate, triple.object)

    def to_df(self) -> DataFrame:
        """Return the answer as a data frame of pandas, typed by its terms; see ``frames.frame_of``.

        A graph has the columns subject, predicate and object, an ask the column answer. Raises NotFoundError where
        pandas is not installed.
        """
        fixed = {"graph": ["subject", "predicate", "object"], "ask": ["answer"]}
        return frame_of(fixed.get(self.kind) or self.variables, self.rows())

    def serialize(self, form: str) -> bytes:
        """Return the whole answer: json, xml, csv, tsv for select and ask; ttl, nt, rdf, jsonld, trig, nq for a graph.

        Raises BadArgument for a format that does not fit the kind of the answer.
        """
        output = io.BytesIO()
        self.write(form, output)
        return output.getvalue()

    def stream(self, form: str) -> Iterator[bytes]:
        """Yield what ``serialize`` returns in pieces, whatever its size; closing the iterator gives up the rest.

        What goes wrong before the first piece is raised by the call itself, so that a door can still say so.
        """
        if isinstance(self._results, WorkedAnswer):
            self._check_format(form)
            return self._results.stream(form, _prefixes(form))
        spool = _Spool(_IN_MEMORY)
        self.write(form, spool)
        spool.seek(0)
        return iter(lambda: spool.read(_PIECE), b"")

    def write(self, form: str, output: IO[bytes]) -> None:
        """Write what ``serialize`` returns to a file, piece by piece."""
        self._check_format(form)
        results = self._results
        if isinstance(results, WorkedAnswer):
            for piece in results.stream(form, _prefixes(form)):
                output.write(piece)
        elif isinstance(results, (QuerySolutions, QueryBoolean)):
            results.serialize(output, format=RESULT_FORMATS[form])
        else:
            serialize(results, output, format=GRAPH_FORMATS[form], prefixes=_prefixes(form))

    def close(self) -> None:
        """Give up what was not read; a worker that was at it is free for others."""
        if isinstance(self._results, WorkedAnswer):
            self._results.close()

    def _check_format(self, form: str) -> None:
        known = GRAPH_FORMATS if self.kind == "graph" else RESULT_FORMATS
        if form not in known:
            raise BadArgument(
                f"format {form!r} does not fit the {self.kind} answer of this query",
                rule=f"{self.kind} answers are written as {', '.join(known)}",
                mend="choose one of these formats",
            )

    def _read_back(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows that a worker writes, in the forms that keep every term as it is."""
        form = {"graph": "nt", "select": "tsv", "ask": "json"}[self.kind]
        pieces = _Pieces(self.stream(form))
        source = io.BufferedReader(pieces, _PIECE)
        try:
            if self.kind == "graph":
                yield from (
                    (quad.subject, quad.predicate, quad.object) for quad in parse(source, format=RdfFormat.N_TRIPLES)
                )
                return
            results = parse_query_results(source, RESULT_FORMATS[form])
            if isinstance(results, QueryBoolean):
                yield (bool(results),)
            else:
                yield from map(tuple, results)
        except OSError:
            raise pieces.failure or AssertionError("the rows cannot be read") from None
        finally:
            self.close()


def _prefixes(form: str) -> dict[str, str] | None:
    return PREFIXES if form in ("ttl", "trig", "rdf") else None


class _Spool(SpooledTemporaryFile[bytes]):
    """A temporary file that lives as long as what is read from it."""

    def __del__(self) -> None:
        self.close()


class _Pieces(io.RawIOBase):
    """A file whose content comes in pieces; ``failure`` is what went wrong meanwhile."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""
        self.failure: BaseException | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            self._rest = self._rest or next(self._pieces, b"")
        except BaseException as error:
            self.failure = error
            raise OSError("the answer broke off") from error
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


class Datasets:
    """Answers SPARQL over the store of ``ground``; ``changes`` is its log, None when it keeps none.

    For workers, snapshots of the past are kept in the folder ``room``: what lies on disk need not be copied to be
    shared. Without one they are in memory too.
    """

    def __init__(self, ground: Ground, base: str, changes: Changes | None, room: Path | None = None) -> None:
        self._ground = ground
        self._base = base
        self._visible = Visible(ground, base)
        self.snapshots = Snapshots(ground, base, changes)
        self._shared = Snapshots(ground, base, changes, folder=room) if room else self.snapshots

    def current(
        self,
        by: Evaluation,
        query: str,
        namespaces: Sequence[str],
        commit: int,
        graphs: Graphs = NONE,
        *,
        bound: bool = False,
    ) -> QueryAnswer:
        """Answer over the world now: the current and memory graphs of the namespaces, which share no triple.

        Free graphs can be named, by GRAPH and in a dataset that is declared, by ``graphs`` or in the query; when it is
        ``bound``, only those of the namespaces.
        """
        store = self._ground.store
        options = self._visible.options(query, namespaces, store, commit, graphs, bound=bound)
        return _answer(by.results(Source(store), query, options), "current", None, None, commit)

    def as_of(
        self,
        by: Evaluation,
        query: str,
        namespaces: Sequence[str],
        at: Instant,
        known_at: Instant | None,
        commit: int,
        graphs: Graphs = NONE,
        *,
        prefer_wip: bool = False,
        shown: Instant | None = None,
    ) -> QueryAnswer:
        """Answer over the world at ``at`` as believed at ``known_at`` (None: now), in graphs of the same names.

        ``prefer_wip``: with drafts laid over, for which the answer is as of ``shown`` (None: now).
        """
        snapshots = self._shared if by.pool else self.snapshots
        snapshot = snapshots.at(namespaces, at, known_at, commit, prefer_wip=prefer_wip)
        options = self._visible.options(query, namespaces, snapshot.store, snapshot.commit, graphs, past=True)
        results = by.results(Source(snapshot.store, "current", at, lambda: snapshot.commit), query, options)
        return _answer(results, "current", shown if prefer_wip else at, known_at, snapshot.commit)

    def stale(self, namespace: str, commit: int, *, forget: bool = False) -> list[tuple[Any, str]]:
        """Return what snapshots tell otherwise than the computation; see ``Snapshots.stale``."""
        every = dict.fromkeys((self.snapshots, self._shared))
        return [each for snapshots in every for each in snapshots.stale(namespace, commit, forget=forget)]

    def version(self, commit: int, next_due: Instant | None) -> str:
        """Return a text that is another one whenever an answer may be: by a commit, or by what has come due.

        The number of a commit alone is not enough: a store that was taken back has the same numbers again.
        """
        meta = meta_graph(self._base)
        recorded = about(self._ground.store, commit_iri(self._base, commit), meta).texts(prism("recordedAt"))
        return " ".join([self._base, str(commit), *recorded, str(next_due)])

    def raw(self, by: Evaluation, query: str, commit: int, graphs: Graphs = NONE) -> QueryAnswer:
        """Answer over every graph as it is stored; the default graph is their union, doubles included.

        A dataset that is declared, by ``graphs`` or in the query, may be of any of them.
        """
        union: dict[str, Any] = {"use_default_graph_as_union": not any(graphs_declared(query))}
        options = graphs.as_options() if graphs else union
        results = by.results(Source(self._ground.store, "raw"), query, options)
        return _answer(results, "raw", None, None, commit)


def _answer(results: Any, dataset: Dataset, at: Instant | None, known_at: Instant | None, commit: int) -> QueryAnswer:
    if isinstance(results, WorkedAnswer):
        return QueryAnswer(results.kind, dataset, at, known_at, results.commit, results, results.truncated)
    return QueryAnswer(_KINDS.get(type(results), "select"), dataset, at, known_at, commit, results)


def text_of(term: Any) -> str:
    """Return a term for eyes: the text of a literal, the IRI of a node, nothing for an unbound variable.

    >>> from pyoxigraph import Literal
    >>> text_of(Literal("Prism"))
    'Prism'
    """
    return "" if term is None else str(getattr(term, "value", term))
