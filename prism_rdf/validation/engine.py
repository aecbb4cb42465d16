"""pySHACL, held in one place: shapes compiled once and run over triples; which shapes apply is decided elsewhere.

pySHACL builds every constraint anew for each focus node that it meets alone. Here a property shape gets all focus
nodes of its node shape in one call, and only when it can matter: when its property occurs, or has to. The verdict is
that of ``pyshacl.validate``; a test compares the two on every case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pyoxigraph import Triple
from pyshacl.constraints import CONSTRAINT_PARAMETERS_MAP
from pyshacl.pytypes import SHACLExecutor
from pyshacl.shape import Shape
from pyshacl.shapes_graph import ShapesGraph
from rdflib import Graph, Namespace
from rdflib.collection import Collection as ListOf
from rdflib.namespace import RDF
from rdflib.term import BNode, IdentifiedNode, Node, URIRef

from prism_rdf.validation.terms import IndexedGraph, to_text

_SH = Namespace("http://www.w3.org/ns/shacl#")
_TARGETS = (_SH.targetClass, _SH.targetSubjectsOf, _SH.targetObjectsOf, _SH.targetNode)
# Constraints on each value alone: where there is no value, they hold.
_OF_EACH_VALUE = frozenset(
    _SH[name]
    for name in (
        *("datatype", "nodeKind", "class", "in", "pattern", "flags", "minLength", "maxLength", "languageIn"),
        *("minInclusive", "maxInclusive", "minExclusive", "maxExclusive", "maxCount", "uniqueLang"),
        *("node", "or", "and", "not", "xone"),
    )
)
_SILENT = {RDF.type, *(_SH[name] for name in ("path", "name", "description", "severity", "message", "order", "group"))}
_EXECUTOR = SHACLExecutor()


@dataclass(frozen=True)
class Result:
    """One validation result, its terms as N-Triples; ``message`` says what is wrong, ``mend`` what to do about it."""

    node: str
    path: str
    value: str
    shape: str
    severity: str
    message: str
    mend: str


@dataclass(frozen=True)
class Outcome:
    """The results, in the order of their nodes; and the subjects that no shape looked at, each with a type or ""."""

    results: tuple[Result, ...]
    unseen: tuple[tuple[str, str], ...]


class _Rule:
    """One shape with its constraints built, ready for any number of focus nodes."""

    def __init__(self, shape: Shape, guard: Node | None) -> None:
        said = shape.sg.graph.predicates(shape.node)
        parameters = dict.fromkeys(CONSTRAINT_PARAMETERS_MAP.get(each) for each in said)
        self._shape = shape
        self._guard = guard
        self._constraints = [make(shape) for make in parameters if make is not None]
        custom: Any = shape
        self._constraints += [made.make_validator_for_shape(shape) for made in custom.find_custom_constraints()]

    def matters(self, predicates: Collection[Node]) -> bool:
        """Return whether data with these predicates could break the shape."""
        return bool(self._constraints) and (self._guard is None or self._guard in predicates)

    def reports(self, graph: Graph, focus: list[Node]) -> Iterator[Any]:
        values = self._shape.value_nodes(graph, focus)
        for constraint in self._constraints:
            yield from constraint.evaluate(_EXECUTOR, graph, values, [self._shape, constraint])[1]


@dataclass(frozen=True)
class _Target:
    """A node shape with its targets, apart from its property shapes."""

    where: tuple[tuple[URIRef, Node], ...]
    rules: tuple[_Rule, ...]

    def focus(self, data: _Data) -> list[Node]:
        return list(dict.fromkeys(chain.from_iterable(data.targets(how, what) for how, what in self.where)))


class _Data:
    """The triples to check as pySHACL wants them, with what is needed to find focus nodes fast."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.graph = IndexedGraph(triples)
        self.subjects = self.graph.index.by_subject
        self.pairs = self.graph.index.by_predicate
        self._instances: dict[Node, list[Node]] = defaultdict(list)
        for subject, of in self.pairs.get(RDF.type, ()):
            self._instances[of].append(subject)

    def targets(self, how: URIRef, what: Node) -> Iterable[Node]:
        if how == _SH.targetClass:
            return self._instances.get(what, ())
        if how == _SH.targetSubjectsOf:
            return (subject for subject, _ in self.pairs.get(what, ()))
        if how == _SH.targetObjectsOf:
            return (value for _, value in self.pairs.get(what, ()))
        return (what,)


class Shapes:
    """A shapes graph, compiled. Focus nodes are those of the targets, taken without subclass inference."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        laid_out = Graph(bind_namespaces="none")
        for triple in IndexedGraph(triples):
            laid_out.add(triple)
        properties = {node: _take_properties(laid_out, node) for node in _targeted(laid_out)}
        compiled = {shape.node: shape for shape in ShapesGraph(laid_out).shapes}
        self._targets = {
            node: _Target(
                tuple((how, what) for how in _TARGETS for what in laid_out.objects(node, how)),
                (_Rule(compiled[node], None), *(_Rule(compiled[each], _guard(laid_out, each)) for each in taken)),
            )
            for node, taken in properties.items()
        }

    @property
    def names(self) -> frozenset[str]:
        """Return the IRIs of the shapes that have targets."""
        return frozenset(str(node) for node in self._targets)

    def check(self, triples: Iterable[Triple], only: Iterable[str] | None = None) -> Outcome:
        """Return what the shapes say of the triples; ``only`` names the shapes to run (default: all)."""
        data = _Data(triples)
        targets = self._targets.values() if only is None else [self._targets[URIRef(name)] for name in only]
        reports: list[Any] = []
        seen: set[Node] = set()
        for target in targets:
            focus = target.focus(data)
            seen.update(focus)
            for rule in target.rules if focus else ():
                if rule.matters(data.pairs):
                    reports += rule.reports(data.graph, focus)
        results = sorted(set(map(_result, reports)), key=lambda result: (result.node, result.path, result.value))
        unseen = (
            (to_text(subject), to_text(next(iter(said.get(RDF.type, ())), None)))
            for subject, said in data.subjects.items()
            if subject not in seen
        )
        return Outcome(tuple(results), tuple(unseen))


def _targeted(graph: Graph) -> list[IdentifiedNode]:
    found = (node for how in _TARGETS for node in graph.subjects(how))
    return sorted({node for node in found if isinstance(node, IdentifiedNode)})


def _take_properties(graph: Graph, node: IdentifiedNode) -> list[Node]:
    """Detach the property shapes of a node shape; a closed one goes on allowing their paths."""
    taken = sorted(graph.objects(node, _SH.property), key=str)
    paths = [path for each in taken for path in graph.objects(each, _SH.path) if isinstance(path, URIRef)]
    graph.remove((node, _SH.property, None))
    for each in taken:
        graph.add((each, RDF.type, _SH.PropertyShape))
    if (node, _SH.closed, None) in graph:
        ignored = graph.value(node, _SH.ignoredProperties) or BNode()
        allowed = ListOf(graph, ignored)
        for path in paths:
            allowed.append(path)
        graph.set((node, _SH.ignoredProperties, ignored))
    return taken


def _guard(graph: Graph, shape: Node) -> URIRef | None:
    """Return the predicate without which a property shape holds of itself; None when it must always be run."""
    path = graph.value(shape, _SH.path)
    demands = set(graph.predicates(shape)) - _OF_EACH_VALUE - _SILENT
    return path if isinstance(path, URIRef) and not demands else None


def _result(report: Any) -> Result:
    said: dict[Any, Any] = {}
    for _, predicate, value in report[2]:
        said[predicate] = value[1] if isinstance(value, tuple) else value
    what, _, mend = str(said.get(_SH.resultMessage, "")).partition(". ")
    return Result(
        node=to_text(said[_SH.focusNode]),
        path=to_text(said.get(_SH.resultPath)),
        value=to_text(said.get(_SH.value)),
        shape=to_text(said[_SH.sourceShape]),
        severity=str(said[_SH.resultSeverity]).removeprefix(str(_SH)),
        message=what.rstrip("."),
        mend=mend,
    )
