"""The types a store knows, read from Turtle: their properties, and the kinds of reference; entities live elsewhere."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from pyoxigraph import Literal, NamedNode, RdfFormat, parse

from prism_rdf import resources
from prism_rdf.errors import BadArgument, NotFoundError, UnknownType, ValidationError, Violation
from prism_rdf.namespaces import OWL, RDF_TYPE, RDFS, XSD, local_name, prism

_TYPE = prism("Type")
_ENTITY = prism("Entity")
_REFERENCE_KIND = prism("ReferenceKind")
_ZONE = prism("zone")
_PTYPE = prism("ptype")
_IMMUTABLE = prism("immutableProperty")
_MUTABLE = prism("mutableProperty")
_IDENTIFYING = prism("identifying")
_MULTI = prism("multiValued")
_SUBCLASS = NamedNode(RDFS + "subClassOf")
_RANGE = NamedNode(RDFS + "range")
_THING = NamedNode(OWL + "Thing")
_DATATYPE_PROPERTY = NamedNode(OWL + "DatatypeProperty")
_OBJECT_PROPERTY = NamedNode(OWL + "ObjectProperty")
_STRING = NamedNode(XSD + "string")
_ANY_LITERAL = NamedNode(RDFS + "Literal")


@dataclass(frozen=True)
class Property:
    """A property that a type declares.

    A literal-valued one has a ``datatype`` (None: any literal); a reference-valued one has an ``object_class``.
    """

    iri: NamedNode
    name: str
    datatype: NamedNode | None = None
    multi: bool = False
    identifying: bool = False
    object_class: NamedNode | None = None


@dataclass(frozen=True)
class EntityType:
    """A prism:Type: its zone, its properties (its own and those of the types above it), and all its superclasses.

    ``superclasses`` is transitive, holds prism:Entity, and neither the type itself nor owl:Thing.
    """

    iri: NamedNode
    name: str
    zone: str
    ptype: str
    immutable: tuple[Property, ...]
    mutable: tuple[Property, ...]
    superclasses: tuple[NamedNode, ...]

    @property
    def properties(self) -> tuple[Property, ...]:
        """Return all declared properties, immutable ones first."""
        return self.immutable + self.mutable

    def property(self, name_or_iri: str | NamedNode) -> Property:
        """Return the declared property of this local name or IRI; raise ValidationError when there is none.

        >>> TypeCatalog.shipped().type("ADR").property("title").datatype.value
        'http://www.w3.org/2001/XMLSchema#string'
        """
        wanted = _text(name_or_iri)
        for declared in self.properties:
            if wanted in (declared.name, declared.iri.value):
                return declared
        names = sorted(declared.name for declared in self.properties)
        violation = Violation(
            node="",
            path=wanted,
            value="",
            shape=f"the closed shape of {self.name}",
            message=f"property {local_name(wanted)!r} is not declared for type {self.name}",
            mend=f"{_did_you_mean(local_name(wanted), names)}{self.name} declares: {', '.join(names)}",
        )
        raise ValidationError([violation])


@dataclass(frozen=True)
class TypeCatalog:
    """Every type, property and kind of reference that a store knows."""

    types: tuple[EntityType, ...]
    kinds: Mapping[str, NamedNode]
    _properties: Mapping[NamedNode, Property]

    @classmethod
    def load(cls, texts: Iterable[str]) -> TypeCatalog:
        """Return the catalog of the union of some Turtle documents; raise BadArgument when they are not sound.

        A property whose range is a class holds references, one without a range holds strings.
        """
        facts = _Facts(texts)
        properties = {iri: facts.declared(iri) for iri in sorted(facts.properties(), key=lambda node: node.value)}
        types = [_entity_type(facts, iri, properties) for iri in facts.instances(_TYPE)]
        kinds = facts.instances(_REFERENCE_KIND)
        _refuse_homonyms("types", (known.iri for known in types))
        _refuse_homonyms("reference kinds", kinds)
        return cls(
            types=tuple(sorted(types, key=lambda known: known.name)),
            kinds={local_name(kind.value): kind for kind in kinds},
            _properties=properties,
        )

    @classmethod
    def shipped(cls) -> TypeCatalog:
        """Return the catalog of the ontology that ships with the package; read once per process."""
        return _shipped()

    def type(self, name_or_iri: str | NamedNode) -> EntityType:
        """Return the type of this local name or IRI; raise UnknownType when there is none."""
        wanted = _text(name_or_iri)
        for known in self.types:
            if wanted in (known.name, known.iri.value):
                return known
        names = [known.name for known in self.types]
        raise UnknownType(
            f"there is no type {local_name(wanted)!r}",
            rule="an entity has one of the types that the ontology of its project declares",
            mend=f"{_did_you_mean(local_name(wanted), names)}the types are: {', '.join(names)}",
            node=wanted,
        )

    def kind(self, name_or_iri: str | NamedNode) -> NamedNode:
        """Return the kind of reference of this local name or IRI; raise BadArgument when there is none."""
        wanted = _text(name_or_iri)
        for name, iri in self.kinds.items():
            if wanted in (name, iri.value):
                return iri
        upper = local_name(wanted).upper()
        raise BadArgument(
            f"there is no kind of reference {local_name(wanted)!r}",
            rule="a reference has one of the kinds that the ontology declares",
            mend=f"{_did_you_mean(upper, self.kinds)}the kinds are: {', '.join(sorted(self.kinds))}",
            node=wanted,
        )

    def property_by_iri(self, iri: str | NamedNode) -> Property:
        """Return the property of this IRI, whichever types declare it; raise NotFoundError when none does."""
        wanted = _text(iri)
        found = self._properties.get(NamedNode(wanted)) if ":" in wanted else None
        if found is None:
            raise NotFoundError(
                f"no type declares the property {wanted!r}",
                rule="a property is declared by at least one type",
                mend="give its full IRI, or declare it in a .ttl file of the project's types",
                node=wanted,
            )
        return found

    @property
    def identifying(self) -> frozenset[NamedNode]:
        """Return the properties by whose values a query may name an entity."""
        return frozenset(iri for iri, declared in self._properties.items() if declared.identifying)


class _Facts:
    """The parsed triples, by subject and predicate."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._objects: dict[tuple[NamedNode, NamedNode], list[NamedNode | Literal]] = defaultdict(list)
        self._instances: dict[NamedNode, dict[NamedNode, None]] = defaultdict(dict)
        for text in texts:
            self._read(text)

    def _read(self, text: str) -> None:
        try:
            for triple in parse(text, RdfFormat.TURTLE):
                subject, found = triple.subject, triple.object
                if not isinstance(subject, NamedNode) or not isinstance(found, (NamedNode, Literal)):
                    continue
                self._objects[subject, triple.predicate].append(found)
                if triple.predicate == RDF_TYPE and isinstance(found, NamedNode):
                    self._instances[found][subject] = None
        except SyntaxError as error:
            raise BadArgument(
                f"the ontology is not Turtle: {error.msg}",
                rule="types are declared in Turtle files",
                mend="correct the file at the place named",
            ) from error

    def instances(self, of: NamedNode) -> tuple[NamedNode, ...]:
        return tuple(self._instances[of])

    def nodes(self, subject: NamedNode, predicate: NamedNode) -> list[NamedNode]:
        return [found for found in self._objects[subject, predicate] if isinstance(found, NamedNode)]

    def text(self, subject: NamedNode, predicate: NamedNode) -> str:
        return next((found.value for found in self._objects[subject, predicate]), "")

    def above(self, iri: NamedNode) -> tuple[NamedNode, ...]:
        """Return all superclasses that have a name, nearest first."""
        seen: dict[NamedNode, None] = {}
        frontier = self.nodes(iri, _SUBCLASS)
        while frontier:
            above = frontier.pop(0)
            if above not in seen and above not in (iri, _THING):
                seen[above] = None
                frontier.extend(self.nodes(above, _SUBCLASS))
        return tuple(seen)

    def properties(self) -> set[NamedNode]:
        """Return what some type declares."""
        return {
            found
            for of_type in self.instances(_TYPE)
            for predicate in (_IMMUTABLE, _MUTABLE)
            for found in self.nodes(of_type, predicate)
        }

    def declared(self, iri: NamedNode) -> Property:
        multi, identifying = (self.text(iri, flag) in ("true", "1") for flag in (_MULTI, _IDENTIFYING))
        return Property(iri, local_name(iri.value), multi=multi, identifying=identifying, **self._range(iri))

    def _range(self, iri: NamedNode) -> dict[str, NamedNode | None]:
        kinds = self.nodes(iri, RDF_TYPE)
        range_ = next(iter(self.nodes(iri, _RANGE)), None)
        if _OBJECT_PROPERTY in kinds:
            return {"object_class": range_ or _ENTITY}
        if _DATATYPE_PROPERTY in kinds:
            return {"datatype": None if range_ == _ANY_LITERAL else range_ or _STRING}
        raise BadArgument(
            f"a type declares the property {iri.value}, which is not described",
            rule="a declared property is an owl:DatatypeProperty or an owl:ObjectProperty",
            mend=f"add '<{iri.value}> a owl:DatatypeProperty ; rdfs:range xsd:string .' to the ontology",
            node=iri.value,
        )


def _entity_type(facts: _Facts, iri: NamedNode, properties: Mapping[NamedNode, Property]) -> EntityType:
    above = facts.above(iri)
    if _ENTITY not in above:
        raise BadArgument(
            f"the type {iri.value} is not a kind of entity",
            rule="every prism:Type is a subclass of prism:Entity, directly or through others",
            mend=f"add '<{iri.value}> rdfs:subClassOf prism:Entity .' to the ontology",
            node=iri.value,
        )

    def declared(predicate: NamedNode) -> tuple[Property, ...]:
        found = {
            properties[node] for cls in (iri, *above) for node in facts.nodes(cls, predicate) if node in properties
        }
        return tuple(sorted(found, key=lambda each: each.name))

    immutable, mutable = declared(_IMMUTABLE), declared(_MUTABLE)
    _refuse_homonyms(f"properties of {local_name(iri.value)}", (each.iri for each in immutable + mutable))
    return EntityType(
        iri=iri,
        name=local_name(iri.value),
        zone=facts.text(iri, _ZONE) or "project",
        ptype=facts.text(iri, _PTYPE),
        immutable=immutable,
        mutable=mutable,
        superclasses=above,
    )


def _refuse_homonyms(what: str, iris: Iterable[NamedNode]) -> None:
    """Names are how people and JSON speak of these things, so two with one name cannot be told apart."""
    seen: dict[str, NamedNode] = {}
    for iri in iris:
        name = local_name(iri.value)
        if name in seen:
            raise BadArgument(
                f"two {what} are named {name!r}: {seen[name].value} and {iri.value}",
                rule="local names are unique, and a property is either mutable or immutable",
                mend="rename one of them",
                node=iri.value,
            )
        seen[name] = iri


def _did_you_mean(wanted: str, names: Iterable[str]) -> str:
    folded = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(wanted.casefold(), folded, n=1, cutoff=0.6)
    return f"did you mean {folded[close[0]]!r}? " if close else ""


def _text(name_or_iri: str | NamedNode) -> str:
    return name_or_iri.value if isinstance(name_or_iri, NamedNode) else name_or_iri


@cache
def _shipped() -> TypeCatalog:
    return TypeCatalog.load(resources.text(name) for name in resources.names("ontology", ".ttl"))
