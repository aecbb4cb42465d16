"""The types a store knows, read from Turtle: their properties, and the kinds of reference; entities live elsewhere."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property

from pyoxigraph import NamedNode

from prism_rdf.canonical.vocabulary import (
    DATATYPE_PROPERTY,
    ENTITY,
    IDENTIFYING,
    IMMUTABLE,
    MULTI,
    MUTABLE,
    OBJECT_PROPERTY,
    PTYPE,
    RANGE,
    REFERENCE_KIND,
    TYPE,
    ZONE,
    Vocabulary,
    texts_by_name,
)
from prism_rdf.errors import BadArgument, NotFoundError, UnknownType, ValidationError, Violation
from prism_rdf.namespaces import RDF_TYPE, RDFS, XSD, local_name, prism

_STRING = NamedNode(XSD + "string")
_ANY_LITERAL = NamedNode(RDFS + "Literal")
_SUBPROPERTY = NamedNode(RDFS + "subPropertyOf")
_DEPENDENT_END = prism("dependentEnd")


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

    @cached_property
    def multi_valued(self) -> frozenset[NamedNode]:
        """Return the IRIs of the properties that may have several values at once."""
        return frozenset(each.iri for each in self.properties if each.multi)

    @cached_property
    def unchanging(self) -> frozenset[NamedNode]:
        """Return the IRIs of the immutable properties."""
        return frozenset(each.iri for each in self.immutable)

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
    """Every type, property and kind of reference that a store knows.

    ``dependent_ends`` says of a kind which end, source or target, depends on the other; one without is left out.
    """

    types: tuple[EntityType, ...]
    kinds: Mapping[str, NamedNode]
    _properties: Mapping[NamedNode, Property]
    dependent_ends: Mapping[NamedNode, str] = field(default_factory=dict)

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> TypeCatalog:
        """Return what a vocabulary declares; raise BadArgument when it is not sound.

        A property whose range is a class holds references, one without a range holds strings.
        """
        types = vocabulary.instances(TYPE)
        declaring = {cls for known in types for cls in (known, *vocabulary.above(known))}
        properties = {
            iri: _declared(vocabulary, iri)
            for cls in sorted(declaring, key=str)
            for predicate in (IMMUTABLE, MUTABLE)
            for iri in vocabulary.nodes(cls, predicate)
        }
        kinds = vocabulary.instances(REFERENCE_KIND)
        _refuse_homonyms("types", types)
        _refuse_homonyms("reference kinds", kinds)
        known = (_entity_type(vocabulary, iri, properties) for iri in types)
        return cls(
            types=tuple(sorted(known, key=lambda each: each.name)),
            kinds={local_name(kind.value): kind for kind in kinds},
            _properties=properties,
            dependent_ends={kind: end for kind in kinds if (end := _dependent_end(vocabulary, kind))},
        )

    @classmethod
    def load(cls, texts: Iterable[str]) -> TypeCatalog:
        """Return the catalog of the union of some Turtle documents; raise BadArgument when they are not sound."""
        return cls.of(Vocabulary(texts_by_name(texts)))

    @classmethod
    def shipped(cls) -> TypeCatalog:
        """Return the catalog of the ontology that ships with the package; read once per process."""
        return _shipped()

    def type(self, name_or_iri: str | NamedNode) -> EntityType:
        """Return the type of this local name or IRI; raise UnknownType when there is none."""
        wanted = _text(name_or_iri)
        found = self._by_name.get(wanted)
        if found is not None:
            return found
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

    @cached_property
    def _by_name(self) -> Mapping[str, EntityType]:
        return {key: known for known in self.types for key in (known.name, known.iri.value)}

    def superclasses(self, type_iri: NamedNode) -> tuple[NamedNode, ...]:
        """Return all classes above a type; none for a type that is not known here."""
        known = self._by_name.get(type_iri.value)
        return known.superclasses if known is not None else ()

    @cached_property
    def identifying(self) -> frozenset[NamedNode]:
        """Return the properties by whose values a query may name an entity."""
        return frozenset(iri for iri, declared in self._properties.items() if declared.identifying)


def _declared(vocabulary: Vocabulary, iri: NamedNode) -> Property:
    multi, identifying = (vocabulary.text(iri, flag) in ("true", "1") for flag in (MULTI, IDENTIFYING))
    kinds = vocabulary.nodes(iri, RDF_TYPE)
    range_ = next(iter(vocabulary.nodes(iri, RANGE)), None)
    name = local_name(iri.value)
    if OBJECT_PROPERTY in kinds:
        return Property(iri, name, multi=multi, identifying=identifying, object_class=range_ or ENTITY)
    if DATATYPE_PROPERTY in kinds:
        datatype = None if range_ == _ANY_LITERAL else range_ or _STRING
        return Property(iri, name, datatype, multi, identifying)
    raise BadArgument(
        f"a type declares the property {iri.value}, which is not described",
        rule="a declared property is an owl:DatatypeProperty or an owl:ObjectProperty",
        mend=f"add '<{iri.value}> a owl:DatatypeProperty ; rdfs:range xsd:string .' to the ontology",
        node=iri.value,
    )


def _entity_type(vocabulary: Vocabulary, iri: NamedNode, properties: Mapping[NamedNode, Property]) -> EntityType:
    above = vocabulary.above(iri)
    if ENTITY not in above:
        raise BadArgument(
            f"the type {iri.value} is not a kind of entity",
            rule="every prism:Type is a subclass of prism:Entity, directly or through others",
            mend=f"add '<{iri.value}> rdfs:subClassOf prism:Entity .' to the ontology",
            node=iri.value,
        )

    def declared(predicate: NamedNode) -> tuple[Property, ...]:
        found = {properties[node] for cls in (iri, *above) for node in vocabulary.nodes(cls, predicate)}
        return tuple(sorted(found, key=lambda each: each.name))

    immutable, mutable = declared(IMMUTABLE), declared(MUTABLE)
    _refuse_homonyms(f"properties of {local_name(iri.value)}", (each.iri for each in immutable + mutable))
    return EntityType(
        iri=iri,
        name=local_name(iri.value),
        zone=vocabulary.text(iri, ZONE) or "project",
        ptype=vocabulary.text(iri, PTYPE),
        immutable=immutable,
        mutable=mutable,
        superclasses=above,
    )


def _dependent_end(vocabulary: Vocabulary, kind: NamedNode) -> str:
    """Return what a kind says of itself, else what the nearest kind says that it is a case of; empty when none does."""
    seen, frontier = set[NamedNode](), [kind]
    while frontier:
        known = frontier.pop(0)
        if end := vocabulary.text(known, _DEPENDENT_END):
            return end
        seen.add(known)
        frontier += [above for above in vocabulary.nodes(known, _SUBPROPERTY) if above not in seen]
    return ""


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
    return TypeCatalog.of(Vocabulary.shipped())
