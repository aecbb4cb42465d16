"""Whether declarations can be true together: classes, properties and datatypes, in Python and without a reasoner.

It follows named classes, subclasses, equivalences and disjointness (owl:disjointWith, owl:AllDisjointClasses,
owl:disjointUnionOf, owl:complementOf), kinds, domains, ranges and cardinality of properties, and named individuals.
Restrictions and class expressions without a name are left to a reasoner (reasoning.py).
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import combinations

from pyoxigraph import BlankNode, NamedNode

from prism_rdf.canonical.declarations import called, fault
from prism_rdf.canonical.vocabulary import (
    CLASS,
    DATATYPE_PROPERTY,
    DOMAIN,
    MULTI,
    OBJECT_PROPERTY,
    RANGE,
    SUBCLASS,
    TYPE,
    Vocabulary,
)
from prism_rdf.errors import Violation
from prism_rdf.namespaces import OWL, RDF, RDF_TYPE, RDFS, XSD, local_name

_NOTHING, _THING = NamedNode(OWL + "Nothing"), NamedNode(OWL + "Thing")
_EQUIVALENT = NamedNode(OWL + "equivalentClass")
_DISJOINT, _COMPLEMENT = NamedNode(OWL + "disjointWith"), NamedNode(OWL + "complementOf")
_ALL_DISJOINT, _MEMBERS = NamedNode(OWL + "AllDisjointClasses"), NamedNode(OWL + "members")
_UNION = NamedNode(OWL + "disjointUnionOf")
_SUBPROPERTY, _FUNCTIONAL = NamedNode(RDFS + "subPropertyOf"), NamedNode(OWL + "FunctionalProperty")
_SAME, _DIFFERENT = NamedNode(OWL + "sameAs"), NamedNode(OWL + "differentFrom")
_CLASSES = frozenset({CLASS, NamedNode(RDFS + "Class"), TYPE})
_KNOWN_CLASSES = frozenset({_THING, _NOTHING, NamedNode(RDFS + "Resource")})
_ANY_LITERAL = NamedNode(RDFS + "Literal")
_LANGUAGE = NamedNode(RDF + "langString")
_INTEGERS = frozenset(
    (
        *("integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger"),
        *("negativeInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
_STRINGS = frozenset({"string", "normalizedString", "token", "language", "Name", "NCName", "NMTOKEN"})
_OTHERS = frozenset(
    (
        *("decimal", "double", "float", "boolean", "dateTime", "dateTimeStamp", "date", "time", "gYear", "gYearMonth"),
        *("gMonth", "gMonthDay", "gDay", "duration", "dayTimeDuration", "yearMonthDuration", "anyURI"),
        *("base64Binary", "hexBinary"),
    )
)
DATATYPES = frozenset(NamedNode(XSD + name) for name in _INTEGERS | _STRINGS | _OTHERS) | {_LANGUAGE}
_LITERALS = DATATYPES | {_ANY_LITERAL}
_SPACES = {
    **dict.fromkeys((*_INTEGERS, "decimal"), "decimal"),
    **dict.fromkeys(_STRINGS, "string"),
    **dict.fromkeys(("dateTime", "dateTimeStamp"), "dateTime"),
    **dict.fromkeys(("duration", "dayTimeDuration", "yearMonthDuration"), "duration"),
}
Named = NamedNode


def contradictions(own: Vocabulary, whole: Vocabulary) -> Iterator[Violation]:
    """Yield what of ``own`` cannot be true together with the rest of ``whole``."""
    classes = _Classes(whole)
    yield from _of_classes(classes, own, whole)
    yield from _of_individuals(classes, own, whole)
    for node in _own_terms(own):
        yield from _of_property(node, own, whole)


def _own_terms(own: Vocabulary) -> Iterator[Named]:
    """Yield what these files describe and nobody else does: what they say of other terms is refused anyway."""
    shipped = Vocabulary.shipped()
    return (node for node in own.subjects() if isinstance(node, NamedNode) and not shipped.has(node))


class _Classes:
    """Which named class lies below which, and which pairs share no member."""

    def __init__(self, whole: Vocabulary) -> None:
        self._above: dict[Named, set[Named]] = defaultdict(set)
        self.equivalent: set[frozenset[Named]] = set()
        for triple in whole.statements(predicate=SUBCLASS):
            if isinstance(triple.subject, NamedNode) and isinstance(triple.object, NamedNode):
                self._above[triple.subject].add(triple.object)
        for triple in whole.statements(predicate=_EQUIVALENT):
            one, other = triple.subject, triple.object
            if isinstance(one, NamedNode) and isinstance(other, NamedNode):
                self._above[one].add(other)
                self._above[other].add(one)
                self.equivalent.add(frozenset((one, other)))
        self.disjoint = tuple(_disjoint_pairs(whole))

    def above(self, cls: Named) -> set[Named]:
        """Return the class and every class that all of its members are in."""
        found, waiting = {cls}, [cls]
        while waiting:
            for above in self._above.get(waiting.pop(), ()):
                if above not in found:
                    found.add(above)
                    waiting.append(above)
        return found

    def clash(self, classes: Collection[Named]) -> tuple[Named, Named] | None:
        """Return two of the classes that have no member in common; None when there are none."""
        return next(((one, other) for one, other in self.disjoint if one in classes and other in classes), None)


def _disjoint_pairs(whole: Vocabulary) -> Iterator[tuple[Named, Named]]:
    for predicate in (_DISJOINT, _COMPLEMENT):
        for triple in whole.statements(predicate=predicate):
            if isinstance(triple.subject, NamedNode) and isinstance(triple.object, NamedNode):
                yield triple.subject, triple.object
    groups = [whole.objects(node, _MEMBERS) for node in whole.subjects(RDF_TYPE, _ALL_DISJOINT)]
    groups += [(triple.object,) for triple in whole.statements(predicate=_UNION)]
    for heads in groups:
        members = [item for head in heads for item in whole.items(head) if isinstance(item, NamedNode)]
        yield from combinations(members, 2)


def _of_classes(classes: _Classes, own: Vocabulary, whole: Vocabulary) -> Iterator[Violation]:
    in_circles: set[Named] = set()
    for cls in _own_terms(own):
        if not _is_class(cls, whole):
            continue
        yield from _empty(cls, classes, own)
        for parent in own.nodes(cls, SUBCLASS):
            if not _is_class(parent, whole) and parent not in _KNOWN_CLASSES:
                yield fault(
                    own,
                    cls,
                    "a superclass is declared",
                    f"{called(cls)} is below {called(parent)}, which is no class known here",
                    f"{_close(parent, whole)}add '<{parent.value}> a owl:Class .', or mend the name",
                )
        circle = _circle(cls, classes, whole) if cls not in in_circles else frozenset()
        in_circles |= circle
        if not _all_equivalent(circle, classes):
            yield fault(
                own,
                cls,
                "a class is not below itself",
                f"the subclasses go round in a circle: {', '.join(sorted(called(each) for each in circle))}",
                "leave one of them out, or say owl:equivalentClass if they are one and the same",
            )


def _empty(cls: Named, classes: _Classes, own: Vocabulary) -> Iterator[Violation]:
    """Yield that a class can have no member, if that is so."""
    rule, name, above = "a class can have members", called(cls), classes.above(cls)
    clash = classes.clash(above)
    if _NOTHING in above:
        message = f"{name} is below owl:Nothing, so nothing can be one"
        yield fault(own, cls, rule, message, "leave that superclass out")
    elif clash is not None:
        one, other = (called(each) for each in clash)
        message = f"{name} is below {one} and {other}, which are disjoint, so nothing can be one"
        yield fault(own, cls, rule, message, "choose one of the two, or do not declare them disjoint")


def _is_class(node: Named, whole: Vocabulary) -> bool:
    return not _CLASSES.isdisjoint(whole.nodes(node, RDF_TYPE))


def _circle(cls: Named, classes: _Classes, whole: Vocabulary) -> frozenset[Named]:
    """Return the classes that are both above and below a class by rdfs:subClassOf, itself included; empty if none."""
    ring = frozenset(each for each in classes.above(cls) if cls in classes.above(each))
    said = any(below in ring and parent in ring for below in ring for parent in whole.nodes(below, SUBCLASS))
    return ring if said else frozenset()


def _all_equivalent(circle: frozenset[Named], classes: _Classes) -> bool:
    reached = set(sorted(circle, key=str)[:1])
    waiting = list(reached)
    while waiting:
        here = waiting.pop()
        for pair in classes.equivalent:
            if here in pair:
                waiting += pair - reached
                reached |= pair
    return circle <= reached


def _of_individuals(classes: _Classes, own: Vocabulary, whole: Vocabulary) -> Iterator[Violation]:
    for node in own.subjects(RDF_TYPE):
        kinds = {kind for kind in whole.nodes(node, RDF_TYPE) if _is_class(kind, whole)}
        above = {each for kind in kinds for each in classes.above(kind)}
        clash = classes.clash(above)
        if clash is not None:
            one, other = (called(each) for each in clash)
            yield fault(
                own,
                node,
                "disjoint classes have no member in common",
                f"{_name(node)} is both {one} and {other}, which are disjoint",
                "choose one of the two",
            )
        for other_node in whole.nodes(node, _SAME):
            if other_node in whole.nodes(node, _DIFFERENT):
                yield fault(
                    own,
                    node,
                    "a thing is not the same as another and different from it",
                    f"{_name(node)} and {called(other_node)} are said to be the same and different",
                    "choose one of the two",
                )


def _of_property(iri: Named, own: Vocabulary, whole: Vocabulary) -> Iterator[Violation]:
    kinds = {kind for kind in whole.nodes(iri, RDF_TYPE) if kind in (DATATYPE_PROPERTY, OBJECT_PROPERTY)}
    if not kinds:
        return
    name = called(iri)
    family = _superproperties(iri, whole)
    family_kinds = {kind for each in family for kind in whole.nodes(each, RDF_TYPE)}
    if {DATATYPE_PROPERTY, OBJECT_PROPERTY} <= family_kinds:
        yield fault(
            own,
            iri,
            "the values of a property are literals or things, not both",
            f"{name} is both an owl:DatatypeProperty and an owl:ObjectProperty, itself or by a property above it",
            "choose one of the two",
        )
        return
    if _FUNCTIONAL in family_kinds and whole.text(iri, MULTI) in ("true", "1"):
        yield fault(
            own,
            iri,
            "a functional property has at most one value at a time",
            f"{name} is owl:FunctionalProperty, itself or by a property above it, and prism:multiValued",
            "leave one of the two out",
        )
    yield from _of_domain(iri, own, whole)
    yield from _of_range(iri, family, DATATYPE_PROPERTY in kinds, own, whole)


def _superproperties(iri: Named, whole: Vocabulary) -> list[Named]:
    found, waiting = [iri], [iri]
    while waiting:
        for above in whole.nodes(waiting.pop(), _SUBPROPERTY):
            if above not in found:
                found.append(above)
                waiting.append(above)
    return found


def _of_domain(iri: Named, own: Vocabulary, whole: Vocabulary) -> Iterator[Violation]:
    for domain in own.nodes(iri, DOMAIN):
        if not _is_class(domain, whole) and domain not in _KNOWN_CLASSES:
            yield _undeclared(iri, DOMAIN, domain, own, whole)


def _of_range(
    iri: Named, family: Collection[Named], is_datatype: bool, own: Vocabulary, whole: Vocabulary
) -> Iterator[Violation]:
    name, ranges = called(iri), own.nodes(iri, RANGE)
    if len(own.objects(iri, RANGE)) > 1:
        yield fault(
            own,
            iri,
            "a property has one range",
            f"{name} has {len(own.objects(iri, RANGE))}: {', '.join(called(each) for each in ranges)}",
            "choose one; a class above them all if they are classes",
            path=RANGE,
        )
        return
    for found in ranges:
        if is_datatype and found not in _LITERALS:
            yield fault(
                own,
                iri,
                "the range of an owl:DatatypeProperty is a datatype that can be checked",
                f"the range of {name} is {called(found)}, which is none",
                "use one of XML Schema, such as xsd:string, and a shape for what else must hold of the values",
                path=RANGE,
            )
        elif not is_datatype and (found in _LITERALS or found.value.startswith(XSD)):
            yield fault(
                own,
                iri,
                "the values of an owl:ObjectProperty are things, not literals",
                f"the range of {name} is {called(found)}",
                "make it an owl:DatatypeProperty, or name a class",
                path=RANGE,
            )
        elif not is_datatype and not _is_class(found, whole) and found not in _KNOWN_CLASSES:
            yield _undeclared(iri, RANGE, found, own, whole)
    inherited = [(each, found) for each in family for found in whole.nodes(each, RANGE) if found in DATATYPES]
    for (one, of_one), (other, of_other) in combinations(inherited, 2):
        if _space(of_one) != _space(of_other):
            yield fault(
                own,
                iri,
                "a value is in the range of its property, and of every property above that",
                f"no value of {name} can be {called(of_one)}, the range of {called(one)}, and "
                f"{called(of_other)}, the range of {called(other)}",
                "give both the same range, or leave rdfs:subPropertyOf out",
                path=RANGE,
            )
            return


def _space(datatype: Named) -> str:
    """Return the name of the value space that a datatype is part of; two spaces have no value in common."""
    name = local_name(datatype.value)
    return _SPACES.get(name, name)


def _close(iri: Named, whole: Vocabulary) -> str:
    """Return a hint at a class that is called nearly so; empty when there is none."""
    known = {called(cls): cls for kind in _CLASSES for cls in whole.instances(kind)}
    close = difflib.get_close_matches(called(iri), known, n=1, cutoff=0.7)
    return f"did you mean {close[0]}? " if close else ""


def _undeclared(iri: Named, predicate: Named, found: Named, own: Vocabulary, whole: Vocabulary) -> Violation:
    what = local_name(predicate.value)
    return fault(
        own,
        iri,
        "domains and ranges are declared classes",
        f"the {what} of {called(iri)} is {called(found)}, which is no class known here",
        f"{_close(found, whole)}add '<{found.value}> a owl:Class .', or mend the name",
        path=predicate,
    )


def _name(node: NamedNode | BlankNode) -> str:
    return called(node) if isinstance(node, NamedNode) else "a node without a name"
