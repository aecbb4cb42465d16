"""What a SPARQL query sees: the world now, the world as of an instant, or the named graphs as they are stored."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from typing import Literal as Choice

from pyoxigraph import (
    DefaultGraph,
    NamedNode,
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    QueryTriples,
    RdfFormat,
    Triple,
    serialize,
)

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.changes import DUE_AT, Ground
from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument, BadQuery, RefusedError
from prism_rdf.free import free_graphs, is_free, is_there
from prism_rdf.namespaces import PREFIXES, Names, commit_iri, meta_graph, prism
from prism_rdf.reach import asks_elsewhere, graphs_declared, spares_memories, vocabulary
from prism_rdf.snapshots import Changes, Snapshots
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import GraphReader

Dataset = Choice["current", "raw"]

RESULT_FORMATS = {
    "json": QueryResultsFormat.JSON,
    "xml": QueryResultsFormat.XML,
    "csv": QueryResultsFormat.CSV,
    "tsv": QueryResultsFormat.TSV,
}
GRAPH_FORMATS = {
    "ttl": RdfFormat.TURTLE,
    "nt": RdfFormat.N_TRIPLES,
    "rdf": RdfFormat.RDF_XML,
    "jsonld": RdfFormat.JSON_LD,
    "trig": RdfFormat.TRIG,
    "nq": RdfFormat.N_QUADS,
}
_PIECE = 1 << 16  # bytes
_IN_MEMORY = 1 << 23  # bytes
_REASON = re.compile(r"[A-Z][A-Za-z]*(?: [A-Za-z*]+){2,}")  # a sentence among the expected tokens
_PLACE = re.compile(r"error at (\d+):(\d+)")


@dataclass(frozen=True)
class Graphs:
    """The dataset that a request declares, beside its query: of these graphs alone; of none it declares nothing."""

    default: tuple[NamedNode, ...] = ()
    named: tuple[NamedNode, ...] = ()

    @classmethod
    def of(cls, default: Iterable[str], named: Iterable[str]) -> Graphs:
        """Return the graphs of these IRIs. Raises BadArgument for one that is none."""
        return cls(tuple(map(_graph_of, default)), tuple(map(_graph_of, named)))

    def __bool__(self) -> bool:
        return bool(self.default or self.named)

    def as_options(self) -> dict[str, list[NamedNode]]:
        return {"default_graph": list(self.default), "named_graphs": list(self.named)}


def _graph_of(iri: str) -> NamedNode:
    try:
        return NamedNode(iri)
    except ValueError as error:
        raise BadArgument(
            f"{iri!r} is not the IRI of a graph", rule="graphs are named by absolute IRIs", mend="write it in full"
        ) from error


@dataclass
class QueryAnswer:
    """The result of one query, and the instant and commit that it saw; it can be read once.

    ``kind`` is select, ask or graph. ``as_of`` is None for the current and the raw dataset.
    """

    kind: Choice["select", "ask", "graph"]
    dataset: Dataset
    as_of: Instant | None
    known_at: Instant | None
    commit: int
    _results: QuerySolutions | QueryBoolean | Iterable[Triple]

    @property
    def variables(self) -> list[str]:
        """Return the names of the columns of a select, without question marks; empty otherwise."""
        if not isinstance(self._results, QuerySolutions):
            return []
        return [variable.value for variable in self._results.variables]

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """Yield the rows: of a select its terms (None: unbound), of a graph (s, p, o), of an ask one boolean."""
        if isinstance(self._results, QueryBoolean):
            yield (bool(self._results),)
        elif isinstance(self._results, QuerySolutions):
            yield from map(tuple, self._results)
        else:
            for triple in self._results:
                yield (triple.subject, triple.predicate, triple.object)

    def serialize(self, form: str) -> bytes:
        """Return the whole answer: json, xml, csv, tsv for select and ask; ttl, nt, rdf, jsonld, trig, nq for a graph.

        Raises BadArgument for a format that does not fit the kind of the answer.
        """
        output = BytesIO()
        self.write(form, output)
        return output.getvalue()

    def stream(self, form: str) -> Iterator[bytes]:
        """Yield what ``serialize`` returns in pieces, whatever its size; closing the iterator gives up the rest.

        What goes wrong before the first piece is raised by the call itself, so that a door can still say so.
        """
        spool = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 (it lives as long as the pieces are read)
        self.write(form, spool)
        spool.seek(0)
        return _pieces(spool)

    def write(self, form: str, output: IO[bytes]) -> None:
        """Write what ``serialize`` returns to a file, piece by piece."""
        known = GRAPH_FORMATS if self.kind == "graph" else RESULT_FORMATS
        if form not in known:
            raise BadArgument(
                f"format {form!r} does not fit the {self.kind} answer of this query",
                rule=f"{self.kind} answers are written as {', '.join(known)}",
                mend="choose one of these formats",
            )
        if isinstance(self._results, (QuerySolutions, QueryBoolean)):
            self._results.serialize(output, format=RESULT_FORMATS[form])
        else:
            prefixes = PREFIXES if form in ("ttl", "trig", "rdf") else None
            serialize(self._results, output, format=GRAPH_FORMATS[form], prefixes=prefixes)


def _pieces(spool: IO[bytes]) -> Iterator[bytes]:
    with spool:
        while piece := spool.read(_PIECE):
            yield piece


NONE = Graphs()


class Datasets:
    """Answers SPARQL over the store of ``ground``; ``changes`` is its log, None when it keeps none."""

    def __init__(self, ground: Ground, base: str, changes: Changes | None) -> None:
        self._ground = ground
        self._base = base
        self._vocabularies: dict[str, tuple[TypeCatalog, frozenset[str]]] = {}
        self.snapshots = Snapshots(ground, base, changes)

    def current(
        self, query: str, namespaces: Sequence[str], commit: int, graphs: Graphs = NONE, *, bound: bool = False
    ) -> QueryAnswer:
        """Answer over the world now: the current and memory graphs of the namespaces, which share no triple.

        Free graphs can be named, by GRAPH and in a dataset that is declared, by ``graphs`` or in the query; when it is
        ``bound``, only those of the namespaces.
        """
        store = self._ground.store
        free = free_graphs(store, self._base, namespaces if bound and self._ground.managed else None)
        results = _run(store, query, **self._graphs(query, namespaces, store, graphs, free))
        return _answer(results, "current", None, None, commit)

    def as_of(
        self,
        query: str,
        namespaces: Sequence[str],
        at: Instant,
        known_at: Instant | None,
        commit: int,
        graphs: Graphs = NONE,
    ) -> QueryAnswer:
        """Answer over the world at ``at`` as believed at ``known_at`` (None: now), in graphs of the same names."""
        snapshot = self.snapshots.at(namespaces, at, known_at, commit)
        results = _run(snapshot.store, query, **self._graphs(query, namespaces, snapshot.store, graphs, None))
        return _answer(results, "current", at, known_at, snapshot.commit)

    def version(self, commit: int) -> str:
        """Return a text that is another one whenever an answer may be: by a commit, or by what has come due.

        The number of a commit alone is not enough: a store that was taken back has the same numbers again.
        """
        meta = meta_graph(self._base)
        recorded = about(self._ground.store, commit_iri(self._base, commit), meta).texts(prism("recordedAt"))
        due = [str(quad.object) for quad in self._ground.store.quads_for_pattern(None, DUE_AT, None, meta)]
        return " ".join([self._base, str(commit), *recorded, str(len(due)), min(due, default="")])

    def raw(self, query: str, commit: int, graphs: Graphs = NONE) -> QueryAnswer:
        """Answer over every graph as it is stored; the default graph is their union, doubles included.

        A dataset that is declared, by ``graphs`` or in the query, may be of any of them.
        """
        union: dict[str, Any] = {"use_default_graph_as_union": not any(graphs_declared(query))}
        results = _run(self._ground.store, query, **(graphs.as_options() if graphs else union))
        return _answer(results, "raw", None, None, commit)

    def _graphs(
        self,
        query: str,
        namespaces: Sequence[str],
        store: GraphReader,
        graphs: Graphs,
        free: Sequence[NamedNode] | None,
    ) -> dict[str, list[Any]]:
        """Return the dataset; memories are in its default graph where there are some that the query may reach.

        ``free`` are the free graphs that can be seen; None in the past, which they do not have.
        """
        named = [Names(self._base, namespace) for namespace in namespaces]
        current, memory = ([names.graph(layer) for names in named] for layer in ("current", "memory"))
        if graphs := graphs or Graphs.of(*graphs_declared(query)):
            for graph in (*graphs.default, *graphs.named):
                self._check_declared(graph, {*current, *memory}, free)
            return graphs.as_options()
        if not self._ground.managed:
            return {"default_graph": [DefaultGraph()], "named_graphs": list(free or ())}
        filled = [graph for graph in memory if next(store.quads_for_pattern(None, None, None, graph), None) is not None]
        if filled and all(spares_memories(query, self._vocabulary(names), self._base) for names in named):
            filled = []
        return {"default_graph": current + filled, "named_graphs": [*current, *memory, *(free or ())]}

    def _check_declared(
        self, graph: NamedNode, of_world: Collection[NamedNode], free: Sequence[NamedNode] | None
    ) -> None:
        """Refuse a graph that is neither of the world nor free; one that is not there is empty."""
        could_be = is_free(graph, self._base, self._ground.managed)
        if graph in of_world or (free is not None and could_be and (graph in free or not self._is_there(graph))):
            return
        raise RefusedError(
            f"the graph {graph} is not in this dataset",
            rule="a dataset of the world is declared of its current and memory graphs"
            + ("; free graphs have no past" if free is None else ", and of free graphs"),
            mend="leave out as-of and known-at"
            if free is None and could_be
            else "use the raw dataset, or name no graph",
            node=graph.value,
        )

    def _is_there(self, graph: NamedNode) -> bool:
        return is_there(self._ground.store, graph, self._base)

    def _vocabulary(self, names: Names) -> frozenset[str]:
        catalog = self._ground.schema(names).catalog
        kept = self._vocabularies.get(names.namespace)
        if kept is None or kept[0] is not catalog:
            kept = self._vocabularies[names.namespace] = (catalog, vocabulary(catalog))
        return kept[1]


def _run(store: GraphReader, query: str, **dataset: Any) -> Any:
    if asks_elsewhere(query):
        raise RefusedError(
            "the query asks another server (SERVICE)",
            rule="a question is answered from the store alone; nothing is sent anywhere",
            mend="ask the other server yourself, and load what it answers",
        )
    try:
        return store.query(query, prefixes=PREFIXES, **dataset)
    except SyntaxError as error:
        raise _not_sparql(query, str(error)) from error


def _not_sparql(query: str, complaint: str) -> BadQuery:
    """Return the error that shows the place; the parser's list of everything it expected there helps nobody."""
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


def _answer(results: Any, dataset: Dataset, at: Instant | None, known_at: Instant | None, commit: int) -> QueryAnswer:
    kinds: dict[type, Choice["select", "ask", "graph"]] = {QueryBoolean: "ask", QueryTriples: "graph"}
    return QueryAnswer(kinds.get(type(results), "select"), dataset, at, known_at, commit, results)


def text_of(term: Any) -> str:
    """Return a term for eyes: the text of a literal, the IRI of a node, nothing for an unbound variable.

    >>> from pyoxigraph import Literal
    >>> text_of(Literal("Prism"))
    'Prism'
    """
    return "" if term is None else str(getattr(term, "value", term))
