"""Files of RDF read into free graphs: how they are written, and in which graph each statement belongs."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, RdfFormat, parse

from prism_rdf.errors import BadArgument, NotFoundError, RefusedError
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
_SUFFIXES = {"turtle": "ttl", "owl": "rdf", "xml": "rdf", "json": "jsonld", "nquads": "nq"}
_DEFAULT = DefaultGraph()


@dataclass(frozen=True)
class Source:
    """A file, or the bytes of one, and how it is written; ``graph`` is where a statement without a graph belongs."""

    content: Path | bytes
    form: RdfFormat
    graph: GraphName | None
    base: str | None = None

    def quads(self) -> Iterator[Quad]:
        """Yield the statements as they are read. Raises RefusedError at one that cannot be, and for one of no graph."""
        with self._opened() as file:
            found = parse(file, self.form, base_iri=self.base, rename_blank_nodes=True)
            while True:
                try:
                    quad = next(found, None)
                except SyntaxError as error:
                    raise self._unreadable(error) from error
                if quad is None:
                    return
                yield self._placed(quad)

    def _placed(self, quad: Quad) -> Quad:
        if isinstance(quad.graph_name, NamedNode):
            return quad
        if self.graph is None or isinstance(quad.graph_name, BlankNode):
            raise RefusedError(
                f"{self._name} has statements in {'no graph' if self.graph is None else 'a graph without an IRI'}",
                rule="each statement is loaded into a free graph, which has an IRI",
                mend="name the graph (--graph IRI)" if self.graph is None else "give the graphs IRIs",
            )
        return Quad(quad.subject, quad.predicate, quad.object, self.graph)

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        if isinstance(self.content, bytes):
            yield io.BytesIO(self.content)
            return
        try:
            file = self.content.open("rb")
        except OSError as error:
            raise NotFoundError(
                f"cannot read {self.content}: {error.strerror}", rule="a load reads one file", mend="check the path"
            ) from error
        with file:
            yield file

    @property
    def _name(self) -> str:
        return "what was given" if isinstance(self.content, bytes) else str(self.content)

    def _unreadable(self, error: SyntaxError) -> RefusedError:
        place = f" at line {error.lineno}" if error.lineno else ""
        return RefusedError(
            f"{self._name} cannot be read{place}: {error.msg}",
            rule=f"it is read as {self.form.name}, whole or not at all",
            mend="mend that line, or name another format",
        )


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
