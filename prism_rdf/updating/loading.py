"""Files of RDF read into free graphs: how they are written, and in which graph each statement belongs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, RdfFormat, Store, parse

from prism_rdf.errors import BadArgument, NotFoundError, RefusedError, Unreadable
from prism_rdf.storage.interface import GraphName

FORMATS = {
    "ttl": RdfFormat.TURTLE,
    "nt": RdfFormat.N_TRIPLES,
    "rdf": RdfFormat.RDF_XML,
    "jsonld": RdfFormat.JSON_LD,
    "trig": RdfFormat.TRIG,
    "nq": RdfFormat.N_QUADS,
    "n3": RdfFormat.N3,
}
MOST_BYTES = 1 << 30
_FEW = 10_000  # statements up to which it matters which of them are new
_SUFFIXES = {"turtle": "ttl", "owl": "rdf", "xml": "rdf", "json": "jsonld", "nquads": "nq"}
_DEFAULT = DefaultGraph()


@dataclass(frozen=True)
class Read:
    """The statements of a source: a few as they are, many as N-Quads; and the graphs that they are in."""

    few: tuple[Quad, ...]
    text: str
    count: int
    graphs: frozenset[GraphName]

    def quads(self) -> Iterator[Quad]:
        """Yield them all."""
        return iter(self.few) if not self.text else parse(self.text, format=RdfFormat.N_QUADS, lenient=True)


@dataclass(frozen=True)
class Source:
    """A file, or the bytes of one, and how it is written; ``graph`` is where a statement without a graph belongs."""

    content: Path | bytes
    form: RdfFormat
    graph: GraphName | None
    base: str | None = None

    def read(self) -> Read:
        """Return all statements, as a store holds them, each once, in memory meanwhile.

        Raises NotFoundError, Unreadable, and RefusedError for what is of no graph, or is too much.
        """
        held = Store()
        self._read_into(held)
        self._place(held)
        graphs: set[GraphName] = set(held.named_graphs())
        if any(isinstance(graph, BlankNode) for graph in graphs):
            raise self._homeless("a graph without an IRI", "give the graphs IRIs")
        if next(held.quads_for_pattern(None, None, None, _DEFAULT), None) is not None:
            graphs.add(_DEFAULT)
        count = len(held)
        if count < _FEW:
            return Read(tuple(held), "", count, frozenset(graphs))
        data = held.dump(format=RdfFormat.N_QUADS)
        assert data is not None
        return Read((), data.decode(), count, frozenset(graphs))

    def _read_into(self, held: Store) -> None:
        """Read the source; its blank nodes get names of their own."""
        straight = self.graph if not self.form.supports_datasets else None
        try:
            if isinstance(self.content, bytes):
                self._check_size(len(self.content))
                held.bulk_load(self.content, self.form, base_iri=self.base, to_graph=straight)
            else:
                self._check_size(self.content.stat().st_size)
                path = str(self.content)
                held.bulk_load(path=path, format=self.form, base_iri=self.base, to_graph=straight)
        except SyntaxError as error:
            place = f" at line {error.lineno}" if error.lineno else ""
            raise Unreadable(
                f"{self._name} cannot be read{place}: {error.msg}",
                rule=f"it is read as {self.form.name}, whole or not at all",
                mend="mend that line, or name another format",
            ) from error
        except OSError as error:
            raise NotFoundError(
                f"cannot read {self._name}: {error.strerror}", rule="a load reads one file", mend="check the path"
            ) from error

    def _place(self, held: Store) -> None:
        """Put the statements of no graph where they belong."""
        if self.graph == _DEFAULT or next(held.quads_for_pattern(None, None, None, _DEFAULT), None) is None:
            return
        if self.graph is None:
            raise self._homeless("no graph", "name the graph (--graph IRI)")
        held.update(f"ADD DEFAULT TO GRAPH {self.graph} ; CLEAR DEFAULT")

    def _check_size(self, size: int) -> None:
        if size > MOST_BYTES:
            raise RefusedError(
                f"{self._name} has {size:,} bytes",
                rule=f"a load is one commit, which is held in memory, and is of {MOST_BYTES:,} bytes at most",
                mend="split the file, and load the parts into graphs of their own",
            )

    def _homeless(self, where: str, mend: str) -> RefusedError:
        return RefusedError(
            f"{self._name} has statements in {where}",
            rule="each statement is loaded into a free graph, which has an IRI",
            mend=mend,
        )

    @property
    def _name(self) -> str:
        return "what was given" if isinstance(self.content, bytes) else str(self.content)


def source_of(content: Path | bytes, form: str | None, graph: GraphName | None, base: str | None) -> Source:
    """Return the source; the suffix of a file tells the format unless it is given. Raises BadArgument."""
    suffix = content.suffix.lower().removeprefix(".") if isinstance(content, Path) else ""
    name = form or _SUFFIXES.get(suffix, suffix)
    found = FORMATS.get(name) or RdfFormat.from_media_type(name)
    if found is None:
        raise BadArgument(
            f"there is no format {form!r}" if form else "the format of what is loaded is not known",
            rule=f"formats are {', '.join(FORMATS)}, and their media types; files end so",
            mend="name the format",
        )
    if base is None and isinstance(content, Path):
        base = content.resolve().as_uri()
    return Source(content, found, graph, base)


def default_graph(graph: NamedNode | None, managed: bool) -> GraphName | None:
    """Return where statements without a graph belong: the graph named, in an unmanaged store else the default graph."""
    return graph if graph is not None or managed else _DEFAULT
