"""RDF files against the shapes, each node by what it is; folders of documents are validated by ingestion.

What a file holds is told by its content, not by its name: an identity, an event, a state, an alias, a reference, a
memory, a thing with a type and properties, a link between two such things. Everything else is the user's own RDF, and
no business of ours. A quad of a state's graph is judged as what that state says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple, parse

from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import RDF_TYPE, RDFS, SKOS, TYPE, prism
from prism_rdf.validation.gate import KINDS, SCOPE_OF, Gate, Scope

FORMATS = {
    ".ttl": RdfFormat.TURTLE,
    ".trig": RdfFormat.TRIG,
    ".nq": RdfFormat.N_QUADS,
    ".nt": RdfFormat.N_TRIPLES,
    ".jsonld": RdfFormat.JSON_LD,
    ".json": RdfFormat.JSON_LD,
}
_IN_FOLDERS = FORMATS.keys() - {".json"}  # most of those are no RDF

_KIND_TERMS = frozenset(map(prism, KINDS))
_IDENTITY = (prism("uuid"), prism("tenant"))
_OF_IDENTITIES = frozenset(map(prism, ("uuid", "tenant", "namespace", "createdAt", "sourceMemory")))
_LABELS = frozenset(NamedNode(SKOS + name) for name in ("altLabel", "hiddenLabel"))
_SUBCLASS = NamedNode(RDFS + "subClassOf")
_HAS_STATE = prism("hasState")
_PROPERTY = prism("property")
Node = NamedNode | BlankNode
Graph = NamedNode | BlankNode | DefaultGraph
Term = NamedNode | BlankNode | Literal | Triple


@dataclass(frozen=True)
class FileFinding:
    """One finding in a file: terms are N-Triples; ``line`` is known for a syntax error only."""

    file: Path
    focus: str
    path: str
    value: str
    shape: str
    message: str
    severity: str
    mend: str = ""
    line: int | None = None


def validate_paths(
    paths: Sequence[Path],
    type_shapes: Callable[[], Iterable[Triple]],
    gate: Gate | None = None,
    kinds: Iterable[NamedNode] = (),
) -> tuple[FileFinding, ...]:
    """Return what is wrong in some RDF files, in the order given; a folder stands for the RDF files in it.

    ``gate`` and ``kinds`` are those of a project that has types of its own, and kinds of reference. Each file is judged
    by itself. Raises BadArgument for a path that is not there, or whose suffix is none of FORMATS.
    """
    shapes = tuple(type_shapes())
    gate = gate or Gate(lambda: shapes)
    links = _KIND_TERMS | frozenset(kinds)
    return tuple(finding for file in _files(paths) for finding in _validate(file, gate, shapes, links))


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.is_file() and file.suffix.lower() in _IN_FOLDERS)
        elif not path.exists():
            raise BadArgument(f"there is no file {path}", rule="each PATH is a file or a folder", mend="check the path")
        elif path.suffix.lower() not in FORMATS:
            raise BadArgument(
                f"cannot tell the format of {path}",
                rule=f"RDF files end in {', '.join(FORMATS)}",
                mend="rename the file after the format that it is in",
            )
        else:
            yield path


def _validate(file: Path, gate: Gate, shapes: Sequence[Triple], kinds: frozenset[NamedNode]) -> Iterator[FileFinding]:
    try:
        quads = list(parse(path=file, format=FORMATS[file.suffix.lower()], base_iri=file.absolute().as_uri()))
    except (SyntaxError, OSError, ValueError) as error:
        yield _unreadable(file, error)
        return
    for scope, triples in _Content(quads, shapes, kinds).scopes().items():
        for result in gate.results(scope, triples):
            yield FileFinding(
                file=file,
                focus=result.node,
                path=result.path,
                value=result.value,
                shape=result.shape,
                message=result.message,
                severity=result.severity,
                mend=result.mend,
            )


def _unreadable(file: Path, error: Exception) -> FileFinding:
    line = error.lineno if isinstance(error, SyntaxError) else None
    reason = error.msg if isinstance(error, SyntaxError) else str(error)
    return FileFinding(
        file=file,
        focus="",
        path="",
        value="",
        shape="",
        message=f"the file cannot be read{f' at line {line}' if line else ''}: {reason}",
        severity="Violation",
        mend="Correct it; nothing else of this file was checked.",
        line=line,
    )


class _Content:
    """The quads of a file, sorted into scopes: node by node within each graph."""

    def __init__(self, quads: Sequence[Quad], shapes: Sequence[Triple], kinds: frozenset[NamedNode]) -> None:
        self._kinds = kinds
        self._above: dict[Term, set[Term]] = defaultdict(set)
        for triple in shapes:
            if triple.predicate == _SUBCLASS:
                self._above[triple.subject].add(triple.object)
        self._types: dict[Term, set[Term]] = defaultdict(set)
        self._groups: dict[tuple[Graph, Node], dict[Triple, None]] = defaultdict(dict)
        self._states = {quad.object for quad in quads if quad.predicate == _HAS_STATE}
        for quad in quads:
            if isinstance(quad.subject, (NamedNode, BlankNode)):
                self._groups[quad.graph_name, quad.subject][quad.triple] = None
                if quad.predicate == RDF_TYPE:
                    self._types[quad.subject].add(quad.object)

    def scopes(self) -> dict[Scope, list[Triple]]:
        """Return the triples of each scope that the file has something for."""
        found: dict[Scope, list[Triple]] = defaultdict(list)
        for (graph, node), triples in self._groups.items():
            if not isinstance(graph, DefaultGraph) and graph in self._states:
                found["snapshot"] += self._said_by(graph, self._own_types(node), triples)
                continue
            found["state"] += [triple for triple in triples if triple.predicate == _HAS_STATE]
            found["link"] += self._links(node, triples)
            own = [triple for triple in triples if triple.predicate not in (_HAS_STATE, *self._kinds)]
            scope = self._scope_of(graph, own)
            if scope == "snapshot":
                found[scope] += self._said_by(node, self._own_types(node), own)
            elif scope is not None:
                found[scope] += own
        return {scope: triples for scope, triples in found.items() if triples}

    def _scope_of(self, graph: Graph, triples: Sequence[Triple]) -> Scope | None:
        kinds = {triple.object for triple in triples if triple.predicate == RDF_TYPE}
        predicates = {triple.predicate for triple in triples}
        for kind, scope in SCOPE_OF.items():
            if kind in kinds:
                return scope
        layer = graph.value.rpartition("/graph/")[2] if isinstance(graph, NamedNode) else ""
        if layer == "canonical" or (layer != "current" and predicates.intersection(_IDENTITY)):
            return "identity" if triples else None
        if any(self._is_type(kind) for kind in kinds):
            return "snapshot"
        return "event" if _PROPERTY in predicates else None

    def _is_type(self, kind: Term) -> bool:
        return kind in self._above or (isinstance(kind, NamedNode) and kind.value.startswith(TYPE))

    def _own_types(self, node: Term) -> list[NamedNode]:
        """Return the most special types of a node: in the current graph it bears their superclasses too."""
        kinds = self._types[node]
        inherited = {above for kind in kinds for above in self._above.get(kind, ())}
        return [kind for kind in kinds - inherited if isinstance(kind, NamedNode)]

    def _all_types(self, node: Term) -> list[NamedNode]:
        kinds = self._types[node]
        above = {parent for kind in kinds for parent in self._above.get(kind, ())}
        return [kind for kind in kinds | above if isinstance(kind, NamedNode)]

    def _said_by(self, state: Node, kinds: Iterable[NamedNode], triples: Iterable[Triple]) -> list[Triple]:
        """Return what a state says, apart from identity and names; nothing when the type is not in the file."""
        apart = _OF_IDENTITIES | _LABELS | {RDF_TYPE}
        said = [Triple(state, each.predicate, each.object) for each in triples if each.predicate not in apart]
        values = {each.object for each in said if isinstance(each.object, (NamedNode, BlankNode))}
        beside = [Triple(value, RDF_TYPE, kind) for value in values for kind in self._all_types(value)]
        own = [Triple(state, RDF_TYPE, kind) for kind in kinds]
        return [*own, *said, *beside] if own else []

    def _links(self, source: Node, triples: Iterable[Triple]) -> list[Triple]:
        """Return the links whose two ends both have a type in the file, with all their types."""
        found: list[Triple] = []
        for triple in triples:
            target = triple.object
            if triple.predicate in self._kinds and isinstance(target, (NamedNode, BlankNode)):
                kinds = {end: self._all_types(end) for end in (source, target)}
                if all(kinds.values()):
                    found += [triple, *(Triple(end, RDF_TYPE, kind) for end in kinds for kind in kinds[end])]
        return found
