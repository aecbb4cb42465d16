"""Where a query is evaluated: in this process, or by a worker that can be stopped; what it sees is in datasets.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any, NamedTuple

from pyoxigraph import DefaultGraph, QueryResultsFormat, QuerySolution, Store, parse_query_results

from prism_rdf.clock import Instant
from prism_rdf.commit import LAST_COMMIT
from prism_rdf.errors import BadQuery
from prism_rdf.namespaces import PREFIXES, meta_graph
from prism_rdf.reach import prefixes_in
from prism_rdf.services import asking_nobody, check_services, services_of
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.interface import GraphReader
from prism_rdf.workers.asking import client
from prism_rdf.workers.pool import Pool
from prism_rdf.workers.ticket import Question

_REASON = re.compile(r"[A-Z][A-Za-z]*(?: [A-Za-z*]+){2,}")  # a sentence among the expected tokens
_UPDATE = re.compile(
    r"(?:\s|#[^\n]*|(?:prefix\s+\S*\s*|base\s*)<[^>]*>)*(?:insert|delete|load|clear|drop|create|add|move|copy|with)\b",
    re.I,
)
_IN_MEMORY = 1 << 23  # bytes
_PLACE = re.compile(r"error at (\d+):(\d+)")


class Source(NamedTuple):
    """The store that a query is asked of, in what dataset; ``commit`` tells which one a snapshot has seen."""

    store: GraphReader
    dataset: str = "current"
    as_of: Instant | None = None
    commit: Callable[[], int] | None = None


@dataclass(frozen=True)
class Evaluation:
    """Asks queries: of the pool within limits, without one in this process and without any.

    Other servers are asked by the pool alone, whose workers can be stopped: those ``services``.
    """

    base: str
    pool: Pool | None = None
    timeout: float | None = None
    max_rows: int | None = None
    services: Collection[str] = ()

    def results(self, source: Source, query: str, options: Mapping[str, Any]) -> Any:
        """Return what the query finds: results of the engine, or the answer that a worker has.

        Raises BadQuery, RefusedError for a SERVICE that may not be asked, and what the pool raises.
        """
        by_worker = self.pool is not None and isinstance(source.store, EmbeddedStore)
        asked: tuple[str, ...] = ()
        if services_of(query):
            asked = check_services(query, self.services if by_worker else (), confined=client().confined)
        try:
            if self.pool is None or not isinstance(source.store, EmbeddedStore):
                return source.store.query(query, prefixes=prefixes_in(query), **options)
            at = None if source.as_of is None else source.as_of.iso()
            question = Question(query, _as_json(options), self._counter, source.dataset, at, services=asked)
            return self.pool.ask(
                source.store, question, timeout=self.timeout, max_rows=self.max_rows, commit=source.commit
            )
        except SyntaxError as error:
            raise _not_sparql(query, str(error)) from error

    def check(self, query: str) -> None:
        """Raise BadQuery or RefusedError for what would not be answered; nobody is asked."""
        check_services(query, self.services)
        try:
            Store().query(asking_nobody(query), prefixes=PREFIXES)
        except SyntaxError as error:
            raise _not_sparql(query, str(error)) from error
        except (OSError, RuntimeError):
            return  # the server that is none gave no answer

    def solutions(self, store: EmbeddedStore, query: str, options: Mapping[str, Any]) -> Iterator[QuerySolution]:
        """Yield all that a SELECT finds for a write that waits for it, ahead of the queries that wait for their turn.

        Raises RefusedError for a SERVICE, and what the pool raises.
        """
        check_services(query, ())
        if self.pool is None:
            yield from store.query(query, prefixes=PREFIXES, **options)  # type: ignore[misc]
            return
        question = Question(query, _as_json(options), self._counter, "update", ahead=True)
        with SpooledTemporaryFile(_IN_MEMORY) as spool:
            for piece in self.pool.ask(store, question, timeout=self.timeout).stream("tsv", None):
                spool.write(piece)
            spool.seek(0)
            yield from parse_query_results(spool, QueryResultsFormat.TSV)  # type: ignore[misc]

    @property
    def _counter(self) -> tuple[str, str, str]:
        return self.base, LAST_COMMIT.value, meta_graph(self.base).value


def _as_json(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as the pool has them: graphs as IRIs, the default graph as null."""
    lists = {"default_graph", "named_graphs"}
    graphs = {
        name: [None if isinstance(graph, DefaultGraph) else graph.value for graph in value]
        for name, value in options.items()
        if name in lists
    }
    return {"prefixes": PREFIXES, **options, **graphs}


def _not_sparql(query: str, complaint: str) -> BadQuery:
    """Return the error that shows the place; the parser's list of everything it expected there helps nobody."""
    if _UPDATE.match(query):
        return BadQuery(
            "the query is an update",
            rule="a question changes nothing",
            mend="give it to prism update (in Python: update)",
        )
    place = _PLACE.search(complaint)
    if place is None:
        return BadQuery(f"the query is not SPARQL: {complaint}", rule="queries are SPARQL 1.1", mend="see the message")
    line, column = int(place[1]), int(place[2])
    text = query.splitlines()[line - 1] if query.strip() else ""
    reason = _REASON.search(complaint)
    why = f": {reason[0]}" if reason else ""
    return BadQuery(
        f"the query is not SPARQL at line {line}, column {column}{why}",
        line=line,
        column=column,
        rule=f"queries are SPARQL 1.1; declared are {', '.join(f'{prefix}:' for prefix in PREFIXES)}",
        mend=f"look just before the mark: {text[: column - 1]}⟨here⟩{text[column - 1 :]}".rstrip(),
    )
