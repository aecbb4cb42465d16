"""The screen before pySHACL: shapes as plain tests of terms that find most nodes to conform; reports are not made here.

What the screen passes certainly conforms. What it does not pass may conform too: a constraint that it does not know, a
property path, a subclass that the data declare. So its word is never "no", only "ask pySHACL", and about which nodes
and which of the shapes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import ge, gt, le, lt
from sys import maxsize
from typing import Any

from pyoxigraph import Literal, NamedNode, Triple

from prism_rdf.namespaces import RDF, RDF_TYPE, RDFS, SH
from prism_rdf.validation import constraints as known
from prism_rdf.validation.constraints import Alone, Each, Said, Term, Unknown, Whole

_NIL, _FIRST, _REST = (NamedNode(RDF + name) for name in ("nil", "first", "rest"))
_RESOURCE, _SUBCLASS = NamedNode(RDFS + "Resource"), NamedNode(RDFS + "subClassOf")
_COMPONENT = NamedNode(SH + "ConstraintComponent")
_TARGETS = ("targetClass", "targetSubjectsOf", "targetObjectsOf", "targetNode")
# These demand nothing of the data; flags are read with their pattern.
_SILENT = frozenset(
    (
        *("path", "name", "description", "severity", "message", "order", "group", "defaultValue", "deactivated"),
        *("flags", *_TARGETS),
    )
)
# Constraints on each value alone: where there is no value, they hold, whether they are known or not.
_OF_EACH_VALUE = frozenset(
    (
        *("datatype", "nodeKind", "class", "in", "pattern", "minLength", "maxLength", "languageIn"),
        *("minInclusive", "maxInclusive", "minExclusive", "maxExclusive", "maxCount", "uniqueLang"),
        *("node", "property", "or", "and", "not", "xone"),
    )
)
_MANY = 16  # beyond so many values of a property a look-up is faster than a comparison with each
_LIMITS = {"minInclusive": ge, "maxInclusive": le, "minExclusive": gt, "maxExclusive": lt}
_NOTHING: Mapping[Term, Collection[Term]] = {}


@dataclass(frozen=True)
class Screened:
    """What the screen could not decide, as nodes by target shape and shape; and the subjects that no shape looked at.

    The second shape is the target shape itself, or one of its property shapes. Each unseen subject comes with a type.
    """

    open: Mapping[tuple[Term, Term], Sequence[Term]]
    unseen: Sequence[tuple[Term, Term | None]]


@dataclass(eq=False, slots=True)
class _Rule:
    """The tests of one shape on its value nodes, apart from those of property shapes that stand for themselves."""

    node: Term
    alone: list[Alone] = field(default_factory=list)
    each: list[Each] = field(default_factory=list)
    whole: list[Whole] = field(default_factory=list)
    least: int = 0
    most: int = maxsize
    demands: bool = False  # whether it fails without any value
    passed: Term | None = None  # the value that passed ``alone`` last: many nodes say the same one after the other

    def holds(self, said: Said, values: Collection[Term]) -> bool:
        if not self.least <= len(values) <= self.most:
            return False
        for value in values:
            if value != self.passed:
                for test in self.alone:
                    if not test(value):
                        return False
                self.passed = value
        if self.each:
            for value in values:
                for beside in self.each:
                    if not beside(said, value):
                        return False
        for whole in self.whole:  # noqa: SIM110 - this runs for every property of every node
            if not whole(values):
                return False
        return True


@dataclass(eq=False, slots=True)
class _Shape:
    """A shape compiled. ``own`` tests the node itself; ``by_path`` the values of its properties.

    ``closed`` is None, or the predicates that are allowed beside those of ``by_path``. ``demands`` are the rules that
    can fail without any value; ``unknown`` those of a path that is not simply a predicate.
    """

    own: _Rule
    by_path: dict[Term, list[_Rule]] = field(default_factory=dict)
    demands: dict[Term, list[_Rule]] = field(default_factory=dict)
    demanded: int = 0
    unknown: list[_Rule] = field(default_factory=list)
    closed: frozenset[Term] | None = None

    def add(self, path: Term | None, rule: _Rule) -> None:
        """Take in a rule for the values of a path; None for one that is not simply a predicate."""
        if path is None:
            self.unknown.append(rule)
            return
        self.by_path.setdefault(path, []).append(rule)
        if not rule.holds({}, ()):
            rule.demands = True
            self.demanded += 1
            self.demands.setdefault(path, []).append(rule)

    def passes(self, said: Said, node: Term) -> bool:
        """Return whether a node certainly conforms."""
        about = said.get(node, _NOTHING)
        met = 0
        for predicate, values in about.items():
            rules = self.by_path.get(predicate)
            if rules is not None:
                for rule in rules:
                    if not rule.holds(said, values):
                        return False
                    met += rule.demands
            elif self.closed is not None and not self._allows(predicate, values):
                return False
        return met == self.demanded and not self.unknown and self.own.holds(said, (node,))

    def doubts(self, said: Said, node: Term) -> Iterator[_Rule]:
        """Yield the rules that do not certainly hold of a node; one of them may come twice."""
        about = said.get(node, _NOTHING)
        for predicate, values in about.items():
            rules = self.by_path.get(predicate)
            if rules is not None:
                yield from (rule for rule in rules if not rule.holds(said, values))
            elif self.closed is not None and not self._allows(predicate, values):
                yield self.own
        for path, demanded in self.demands.items():
            if path not in about:
                yield from demanded
        yield from self.unknown
        if not self.own.holds(said, (node,)):
            yield self.own

    def _allows(self, predicate: Term, values: Collection[Term]) -> bool:
        assert self.closed is not None
        return predicate in self.closed or (predicate == RDF_TYPE and all(value == _RESOURCE for value in values))


@dataclass(frozen=True)
class _Selection:
    """Some of the targeted shapes, by what their targets go by."""

    by_class: Mapping[Term, Sequence[_Shape]]
    of_subjects: Sequence[tuple[Term, _Shape]]
    of_objects: Sequence[tuple[Term, _Shape]]
    nodes: Sequence[tuple[Term, _Shape]]

    def of(self, about: Mapping[Term, Collection[Term]]) -> Sequence[_Shape]:
        """Return the shapes that look at a subject because of what is said about it, each once."""
        kinds = about.get(RDF_TYPE, ())
        if len(kinds) == 1 and not self.of_subjects:
            return self.by_class.get(next(iter(kinds)), ())
        found: list[_Shape] = []
        for kind in kinds:
            found += (shape for shape in self.by_class.get(kind, ()) if shape not in found)
        for predicate, shape in self.of_subjects:
            if predicate in about and shape not in found:
                found.append(shape)
        return found


class Screen:
    """The targeted shapes of a shapes graph, compiled. Focus nodes are taken without subclass inference."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        graph = _read(triples)
        compiler = _Compiler(graph)
        self._shapes = {node: compiler.shape(node) for node, said in graph.items() if _targets(said)}
        self._where = {node: _targets(graph[node]) for node in self._shapes}
        self._selections: dict[tuple[Term, ...], _Selection] = {}

    @property
    def targeted(self) -> Collection[Term]:
        """Return the shapes that have targets."""
        return self._shapes.keys()

    def check(self, triples: Iterable[Triple], only: Iterable[str] | None = None) -> Screened:
        """Return what is left to ask of the triples; ``only`` names the shapes that matter (default: all).

        Raises KeyError for a shape that is not there, ValueError for a triple term, which SHACL does not know.
        """
        selection = self._selection(tuple(self._shapes) if only is None else tuple(map(NamedNode, only)))
        said = _read(triples)
        open_: dict[tuple[Term, Term], dict[Term, None]] = {}

        def judge(shape: _Shape, focus: Term) -> None:
            if not shape.passes(said, focus):
                for rule in shape.doubts(said, focus):
                    open_.setdefault((shape.own.node, rule.node), {})[focus] = None

        seen = set()
        for focus, shape in _elsewhere(selection, said):
            seen.add(focus)
            judge(shape, focus)
        unseen = []
        for subject, about in said.items():
            looking = selection.of(about)
            for shape in looking:
                judge(shape, subject)
            if not looking and subject not in seen:
                unseen.append((subject, next(iter(about.get(RDF_TYPE, ())), None)))
        return Screened({pair: tuple(nodes) for pair, nodes in open_.items()}, unseen)

    def _selection(self, nodes: tuple[Term, ...]) -> _Selection:
        if nodes not in self._selections:
            where = [(self._shapes[node], how, what) for node in nodes for how, what in self._where[node]]
            by_class: dict[Term, list[_Shape]] = defaultdict(list)
            for shape, how, what in where:
                if how == "targetClass":
                    by_class[what].append(shape)
            parts = {name: [(what, shape) for shape, how, what in where if how == name] for name in _TARGETS[1:]}
            self._selections[nodes] = _Selection(by_class, *parts.values())
        return self._selections[nodes]


class _Compiler:
    """Makes the tests of shapes from what the shapes graph says of them."""

    def __init__(self, graph: Said) -> None:
        self._graph = graph
        self._made: dict[Term, _Shape | None] = {}  # None: being made
        about = graph.values()
        self._components = any(_COMPONENT in said.get(how, ()) for said in about for how in (RDF_TYPE, _SUBCLASS))
        self._alone: Mapping[str, Callable[[Sequence[Term]], Alone]] = {
            "datatype": lambda values: known.datatype(known.only(values)),
            "nodeKind": lambda values: known.node_kind(known.only(values)),
            "in": lambda values: known.one_of(self._items(known.only(values))),
            "languageIn": lambda values: known.language_in(self._items(known.only(values))),
            "minLength": lambda values: known.length(known.only(values), ge),
            "maxLength": lambda values: known.length(known.only(values), le),
        }
        self._each: Mapping[str, Callable[[Sequence[Term]], list[Each]]] = {
            "class": lambda values: [known.instance_of(value) for value in values],
            "node": lambda values: [self._conforming(value, with_path=False) for value in values],
            "property": lambda values: [self._conforming(value, with_path=True) for value in values],
            "and": lambda values: [self._conforming(item) for value in values for item in self._items(value)],
            "or": lambda values: [self._any(self._items(value)) for value in values],
        }

    def shape(self, node: Term) -> _Shape:
        """Return a shape compiled, property shapes with their path too."""
        made = self._made.get(node)
        if made is None:
            self._made[node] = None
            made = self._made[node] = self._make(node)
        return made

    def _make(self, node: Term) -> _Shape:
        said = self._graph.get(node, _NOTHING)
        path = self._path(said)
        if path is not None:
            shape = _Shape(_Rule(node))
            shape.add(path if isinstance(path, NamedNode) else None, self._rule(node, said, on_values=True))
            return shape
        shape = _Shape(self._rule(node, said, on_values=False))
        if not self._active(said):
            return shape
        for each in _values(said, "property"):
            path = self._path(self._graph.get(each, _NOTHING))
            about = self._graph.get(each, _NOTHING)
            shape.add(path if isinstance(path, NamedNode) else None, self._rule(each, about, on_values=True))
        self._close(shape, said)
        return shape

    def _close(self, shape: _Shape, said: Mapping[Term, Collection[Term]]) -> None:
        closed, ignored = _values(said, "closed"), _values(said, "ignoredProperties")
        try:
            if closed == [Literal(True)]:
                shape.closed = frozenset(item for value in ignored for item in self._items(value))
            elif closed not in ([], [Literal(False)]) or (ignored and not closed):
                raise Unknown
        except Unknown:
            shape.own.whole.append(known.never)

    def _rule(self, node: Term, said: Mapping[Term, Collection[Term]], *, on_values: bool) -> _Rule:
        """Return the tests of a shape on its value nodes; of a node shape its property shapes stand for themselves."""
        rule = _Rule(node)
        if not self._active(said):
            return rule
        for predicate in said:
            assert isinstance(predicate, NamedNode)
            name = predicate.value.removeprefix(SH)
            if name in ("closed", "ignoredProperties", "property") and not on_values:
                continue
            try:
                self._add(rule, name if name != predicate.value else "", said, on_values)
            except Unknown:
                if name in _OF_EACH_VALUE:
                    rule.each.append(known.never)
                else:
                    rule.whole.append(known.never)
        return rule

    def _add(self, rule: _Rule, name: str, said: Mapping[Term, Collection[Term]], on_values: bool) -> None:
        values = _values(said, name)
        if name in self._alone:
            rule.alone.append(self._alone[name](values))
        elif name in self._each:
            rule.each += self._each[name](values)
        elif name == "pattern":
            flags = known.only(_values(said, "flags")) if _values(said, "flags") else None
            rule.alone += [known.pattern(value, flags) for value in values]
        elif name in _LIMITS:
            rule.alone += [known.limit(value, _LIMITS[name]) for value in values]
        elif name == "hasValue":
            rule.whole += [known.has_value(value) for value in values]
        elif name == "uniqueLang" and on_values:
            rule.whole.append(known.unique_language(known.only(values)))
        elif name == "minCount" and on_values:
            rule.least = known.count(known.only(values))
        elif name == "maxCount" and on_values:
            rule.most = known.count(known.only(values))
        elif name not in _SILENT if name else self._components:
            raise Unknown

    def _conforming(self, node: Term, *, with_path: bool | None = None) -> Each:
        """Return the test that a value conforms to another shape, one with a path or one without where that matters."""
        leads_back = node in self._made and self._made[node] is None
        has_path = self._path(self._graph.get(node, _NOTHING)) is not None
        if leads_back or node not in self._graph or with_path not in (None, has_path):
            raise Unknown
        return self.shape(node).passes

    def _any(self, nodes: Sequence[Term]) -> Each:
        members = [self._conforming(node) for node in nodes]
        return lambda said, value: any(member(said, value) for member in members)

    def _active(self, said: Mapping[Term, Collection[Term]]) -> bool:
        return _values(said, "deactivated") != [Literal(True)]

    def _path(self, said: Mapping[Term, Collection[Term]]) -> Term | None:
        return next(iter(_values(said, "path")), None)

    def _items(self, cell: Term) -> list[Term]:
        """Return the members of a list; raise Unknown when it is none."""
        found: list[Term] = []
        while cell != _NIL:
            said = self._graph.get(cell, _NOTHING)
            found.append(known.only(list(said.get(_FIRST, ()))))
            cell = known.only(list(said.get(_REST, ())))
            if len(found) > 10_000:
                raise Unknown
        return found


def _values(said: Mapping[Term, Collection[Term]], name: str) -> list[Term]:
    return list(said.get(NamedNode(SH + name), ())) if name else []


def _targets(said: Mapping[Term, Collection[Term]]) -> list[tuple[str, Term]]:
    return [(how, what) for how in _TARGETS for what in _values(said, how)]


def _elsewhere(selection: _Selection, said: Said) -> Iterator[tuple[Term, _Shape]]:
    """Yield the focus nodes that need not be subjects of the data."""
    yield from selection.nodes
    for predicate, shape in selection.of_objects:
        for about in said.values():
            for value in about.get(predicate, ()):
                yield value, shape


def _read(triples: Iterable[Triple]) -> dict[Term, dict[Term, Collection[Term]]]:
    """Return triples by subject and predicate, each value once, in their order."""
    said: dict[Any, dict[Any, Any]] = {}
    about: dict[Any, Any] = {}
    previous: Any = None
    for subject, predicate, value in triples:
        if type(value) is Triple:
            raise ValueError("a triple term has no place in a shape")
        if subject != previous:
            previous, about = subject, said.setdefault(subject, {})
        values = about.get(predicate)
        if values is None:
            about[predicate] = (value,)
        elif type(values) is dict:
            values[value] = None
        elif value not in values:
            more = (*values, value)
            about[predicate] = more if len(more) < _MANY else dict.fromkeys(more)
    return said
