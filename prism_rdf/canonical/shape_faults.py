"""What is wrong with the shapes of a project: terms not used here, targets that hit nothing, paths out of sight.

The gate judges a state by what it says itself and a reference by the types of its two ends, on a copy that holds
nothing else, inside of every write. So a shape may use the core constraints of SHACL on these, and no code: SPARQL,
JavaScript, rules and targets of one's own would see too little, take too long, and could reach out of the store.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from prism_rdf.canonical.catalog import Property, TypeCatalog
from prism_rdf.canonical.declarations import called, fault
from prism_rdf.canonical.own_shapes import (
    PATH,
    PROPERTY,
    SUBJECTS_OF,
    OwnShapes,
    classes_of,
    closure,
    roots,
    types_below,
)
from prism_rdf.canonical.vocabulary import REFERENCE_KIND, Node, Vocabulary
from prism_rdf.errors import Violation
from prism_rdf.namespaces import SH, local_name
from prism_rdf.validation.engine import Shapes

_LOGIC = ("and", "or", "not", "xone", "node")
_TEXTS = ("name", "description", "severity", "message", "order", "group", "defaultValue", "deactivated")
_CORE = (
    *(*_LOGIC, *_TEXTS, "property", "path", "targetClass", "targetSubjectsOf"),
    *("class", "datatype", "nodeKind", "in", "hasValue", "pattern", "flags", "minLength", "maxLength", "languageIn"),
    *("minInclusive", "maxInclusive", "minExclusive", "maxExclusive", "minCount", "maxCount", "uniqueLang"),
    *("equals", "disjoint", "lessThan", "lessThanOrEquals", "closed", "ignoredProperties"),
    *("qualifiedValueShape", "qualifiedMinCount", "qualifiedMaxCount", "qualifiedValueShapesDisjoint"),
)
_VALUES = (
    *("NodeShape", "PropertyShape", "Violation", "Warning", "Info"),
    *("IRI", "Literal", "BlankNode", "BlankNodeOrIRI", "BlankNodeOrLiteral", "IRIOrLiteral"),
)
_TARGETS = ("targetNode", "targetObjectsOf", "target")
_OF_LINKS = frozenset((*_LOGIC, *_TEXTS, "class", "property", "path", "targetSubjectsOf", "nodeKind"))
_PAIRS = (
    *(("minCount", "maxCount"), ("minLength", "maxLength"), ("qualifiedMinCount", "qualifiedMaxCount")),
    *(("minInclusive", "maxInclusive"), ("minExclusive", "maxExclusive")),
)
_RULES = {
    "terms": "shapes of a project use the core of SHACL",
    "targets": "a shape says what it judges: a class of entities, a property that they have, or a kind of reference",
    "sight": "a state is judged by what it says itself, a reference by the types of its two ends",
    "sense": "a shape can be satisfied by what the types declare",
    "form": "shapes are well formed (SHACL, section on shapes graphs)",
    "ruled": "a kind of reference has a shape that says which types it may lead from and to (CAN_REFERENCE)",
}


def shape_faults(own: Vocabulary, catalog: TypeCatalog) -> Iterator[Violation]:
    """Yield what is wrong with the shapes of ``own``; its classes, properties and kinds are those of ``catalog``."""
    judge = _Judge(own, catalog)
    found = [*judge.terms(), *judge.targets(), *judge.kinds()]
    yield from found
    if not found and roots(own):
        yield from judge.form()


class _Judge:
    def __init__(self, own: Vocabulary, catalog: TypeCatalog) -> None:
        self._own = own
        self._catalog = catalog
        self._kinds = frozenset(catalog.kinds.values())
        self._roots = roots(own)

    def terms(self) -> Iterator[Violation]:
        """Yield each term of SHACL that is not used here, or not a term at all."""
        for node in closure(self._own, self._roots):
            for triple in self._own.statements(node):
                for term, allowed in ((triple.predicate, _CORE), (triple.object, _VALUES)):
                    if not isinstance(term, NamedNode) or not term.value.startswith(SH):
                        continue
                    name = term.value.removeprefix(SH)
                    if name in allowed or (term is triple.object and name in _CORE):
                        continue
                    close = difflib.get_close_matches(name, (*_CORE, *_VALUES), n=1, cutoff=0.8)
                    if name in _TARGETS:
                        yield self._fault(node, "targets", f"sh:{name} is not used here", "say sh:targetClass", term)
                    elif close:
                        mend = f"did you mean sh:{close[0]}?"
                        yield self._fault(node, "terms", f"there is no sh:{name}", mend, term)
                    else:
                        mend = "say it in core constraints, or check it by a saved query"
                        yield self._fault(node, "terms", f"sh:{name} is not used here: no code runs", mend, term)

    def targets(self) -> Iterator[Violation]:
        """Yield what is wrong with what each shape judges, and with what it says of that."""
        led_to = {triple.object for node in closure(self._own, self._roots) for triple in self._own.statements(node)}
        for node in self._roots:
            classes, subjects_of = classes_of(node, self._own), self._own.nodes(node, SUBJECTS_OF)
            if not classes and not subjects_of:
                if isinstance(node, NamedNode) and node not in led_to:
                    yield self._fault(node, "targets", f"{called(node)} judges nothing", "add sh:targetClass")
                continue
            if not isinstance(node, NamedNode):
                yield self._fault(node, "targets", "a shape with a target has no name", "give it an IRI")
                continue
            yield from self._missed(node, classes, subjects_of)
            kinds = [kind for kind in subjects_of if kind in self._kinds]
            if kinds and (classes or len(kinds) < len(subjects_of) or len(kinds) > 1):
                mend = "make a shape of its own for each kind of reference"
                yield self._fault(node, "targets", f"{called(node)} judges more than one thing", mend)
            elif kinds:
                yield from self._link_sight(node, kinds[0], set())
            else:
                yield from self._state_sight(node, None, set())

    def _missed(
        self, node: NamedNode, classes: tuple[NamedNode, ...], subjects_of: tuple[NamedNode, ...]
    ) -> Iterator[Violation]:
        name = called(node)
        for cls in classes:
            if not types_below(cls, self._catalog):
                mend = "name a prism:Type, or a class above one"
                yield self._fault(node, "targets", f"{name} judges {called(cls)}, and no type is one", mend, cls)
        for prop in subjects_of:
            if prop not in self._kinds and self._property(prop) is None:
                mend = "name a property that a type declares, or a kind of reference"
                yield self._fault(node, "targets", f"{name} judges by {called(prop)}, which is neither", mend, prop)

    def kinds(self) -> Iterator[Violation]:
        """Yield each kind of these files that no shape rules."""
        for kind in self._own.instances(REFERENCE_KIND):
            if not self._own.subjects(SUBJECTS_OF, kind):
                name = called(kind)
                mend = (
                    f"add 'my:{local_name(kind.value)}-ends a sh:NodeShape ; sh:targetSubjectsOf <{kind.value}> ; "
                    f"sh:class SOURCE ; sh:property [ sh:path <{kind.value}> ; sh:class TARGET ] .'"
                )
                yield self._fault(kind, "ruled", f"no shape rules {name}", mend)

    def form(self) -> Iterator[Violation]:
        """Yield what the shapes of shapes say (SHACL-SHACL), and what pySHACL cannot read."""
        shapes = OwnShapes.of(self._own, self._catalog)
        broken = list(_ill_formed(closure(self._own, self._roots), self._own))
        for node, message in broken:
            yield self._fault(node, "form", message, "see https://www.w3.org/TR/shacl/#syntax-rules")
        for triples in (shapes.states, shapes.links) if not broken else ():
            try:
                _ = Shapes(triples).compiled if triples else None
            except Exception as error:
                yield self._fault(self._roots[0], "form", f"a shape cannot be read: {error}", "mend that shape")

    def _link_sight(
        self, node: Node, kind: NamedNode, seen: set[object], *, at_target: bool = False
    ) -> Iterator[Violation]:
        """Yield what a shape of a kind asks beyond the types of the two ends."""
        seen.add((node, at_target))
        for triple in self._own.statements(node):
            name = triple.predicate.value.removeprefix(SH)
            if triple.predicate.value.startswith(SH) and name not in _OF_LINKS:
                message = f"the shape of {called(kind)} asks for sh:{name}"
                yield self._fault(
                    node, "sight", message, "say sh:class of the source and of the target", triple.predicate
                )
            elif triple.predicate == PATH and triple.object != kind:
                message = f"the shape of {called(kind)} looks at another property of the source"
                yield self._fault(node, "sight", message, f"its sh:path is <{kind.value}>", triple.predicate)
            elif name in _LOGIC or triple.predicate == PROPERTY:
                for inner in self._inner(triple):
                    deeper = at_target or triple.predicate == PROPERTY
                    if (inner, deeper) not in seen:
                        yield from self._link_sight(inner, kind, seen, at_target=deeper)

    def _state_sight(self, node: Node, about: Property | None, seen: set[object]) -> Iterator[Violation]:
        """Yield what a shape of states asks that a state does not show, or that no state can satisfy."""
        seen.add((node, about))
        paths = self._own.objects(node, PATH)
        if paths:
            if about is not None:
                message = f"it asks what the value of {about.name} is like, and only its type is seen"
                yield self._fault(node, "sight", message, "say sh:class, or check it by a saved query", PATH)
                return
            about = self._property(paths[0]) if len(paths) == 1 and isinstance(paths[0], NamedNode) else None
            if about is None:
                said = called(paths[0]) if isinstance(paths[0], NamedNode) else "a path of several steps"
                said = said if len(paths) == 1 else f"{len(paths)} paths"
                message = f"it looks along {said}, which is no property that a type declares"
                yield self._fault(node, "sight", message, "name one property of the type", PATH)
                return
        yield from self._sense(node, about)
        for triple in self._own.statements(node):
            name = triple.predicate.value.removeprefix(SH)
            if name in (*_LOGIC, "qualifiedValueShape") or triple.predicate == PROPERTY:
                for inner in self._inner(triple):
                    if (inner, about) not in seen:
                        yield from self._state_sight(inner, about, seen)

    def _inner(self, triple: Triple) -> Iterator[Node]:
        """Yield the shapes that a constraint leads to: a node, or the members of a list."""
        found = triple.object
        if isinstance(found, (NamedNode, BlankNode)):
            members = self._own.items(found)
            yield from (each for each in members or (found,) if isinstance(each, (NamedNode, BlankNode)))

    def _sense(self, node: Node, about: Property | None) -> Iterator[Violation]:
        what = f"{about.name}: " if about is not None else ""
        for low, high in _PAIRS:
            least, most = (self._number(node, name) for name in (low, high))
            if least is not None and most is not None and least > most:
                yield self._fault(node, "sense", f"{what}sh:{low} is above sh:{high}", "swap the two")
        if about is not None and not about.multi and (self._number(node, "minCount") or 0) > 1:
            mend = "say prism:multiValued true of the property, or sh:minCount 1"
            yield self._fault(node, "sense", f"{what}it is single-valued, and sh:minCount asks for more", mend)
        if about is not None:
            yield from self._of_another_form(node, about)
        for pattern in self._own.objects(node, NamedNode(SH + "pattern")):
            try:
                re.compile(getattr(pattern, "value", ""))
            except re.error as error:
                message = f"{what}sh:pattern is no regular expression: {error}"
                yield self._fault(node, "sense", message, "mend the pattern")
        for listed in self._own.objects(node, NamedNode(SH + "in")):
            if not self._own.items(listed):
                yield self._fault(node, "sense", f"{what}sh:in lists nothing", "list the values that are allowed")

    def _of_another_form(self, node: Node, about: Property) -> Iterator[Violation]:
        classes, datatypes = (self._own.nodes(node, NamedNode(SH + name)) for name in ("class", "datatype"))
        wrong = [each for each in classes if about.object_class is None]
        wrong += [each for each in datatypes if about.object_class or about.datatype not in (None, each)]
        form = about.object_class or about.datatype
        for each in wrong:
            message = f"{about.name} is declared with {called(form) if form else 'any literal'}, not {called(each)}"
            yield self._fault(node, "sense", message, "leave it out, or change the range of the property", each)

    def _number(self, node: Node, name: str) -> float | None:
        found = next(iter(self._own.objects(node, NamedNode(SH + name))), None)
        try:
            return float(found.value) if isinstance(found, Literal) else None
        except ValueError:
            return None

    def _property(self, iri: NamedNode) -> Property | None:
        found = (prop for known in self._catalog.types for prop in known.properties if prop.iri == iri)
        return next(found, None)

    def _fault(self, node: Node, rule: str, message: str, mend: str, value: object = "") -> Violation:
        shown = node if isinstance(node, NamedNode) else self._named_above(node)
        return fault(self._own, shown or node, _RULES[rule], message, mend, value=value)

    def _named_above(self, node: Node) -> NamedNode | None:
        """Return the named shape that leads to a node without a name."""
        seen: set[Node] = set()
        waiting = [node]
        while waiting:
            for above in self._own.subjects(None, waiting.pop()):
                if isinstance(above, NamedNode):
                    return above
                if above not in seen:
                    seen.add(above)
                    waiting.append(above)
        return None


def _ill_formed(nodes: tuple[Node, ...], own: Vocabulary) -> Iterator[tuple[Node, str]]:
    from pyshacl import validate
    from rdflib import Graph
    from rdflib.namespace import SH as RDFLIB_SH
    from rdflib.term import BNode

    from prism_rdf.validation.terms import to_rdflib

    graph, made, meta = Graph(), {}, Graph()
    for node in nodes:
        for triple in own.statements(node):
            terms: tuple[Any, ...] = tuple(to_rdflib(t) for t in (triple.subject, triple.predicate, triple.object))
            graph.add(terms)
            made[terms[0]] = node
    meta.parse(data=files("pyshacl").joinpath("assets/shacl-shacl.ttl").read_text("utf-8"), format="turtle")
    _, report, _ = validate(graph, shacl_graph=meta)
    assert isinstance(report, Graph)
    for result in report.subjects(RDFLIB_SH.focusNode):
        focus, path = report.value(result, RDFLIB_SH.focusNode), report.value(result, RDFLIB_SH.resultPath)
        message = str(report.value(result, RDFLIB_SH.resultMessage))
        where = f"sh:{str(path).removeprefix(SH)}: " if path is not None and not isinstance(path, BNode) else ""
        yield made.get(focus, nodes[0]), f"{where}{message}"
