"""What a project's own files may declare: their terms, types, properties and kinds, judged one by one.

Whether all of it can be true together is asked in consistency.py, whether its shapes can be used in own_shapes.py.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from prism_rdf.canonical.vocabulary import (
    CLASS,
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
    Term,
    Vocabulary,
)
from prism_rdf.errors import Violation
from prism_rdf.namespaces import OWL, PRISM, RDF, RDF_TYPE, RDFS, SH, SHAPE, SKOS, XSD, local_name, short
from prism_rdf.namespaces import TYPE as TYPES

_OURS = (PRISM, TYPES, SHAPE)
_STANDARD = (RDF, RDFS, OWL, XSD, SH)
_DESCRIBING = frozenset({ZONE, PTYPE, IMMUTABLE, MUTABLE, IDENTIFYING, MULTI})
_FLAGS = (IDENTIFYING, MULTI)
_IMPORTS = NamedNode(OWL + "imports")
_RESERVED = frozenset(NamedNode(SKOS + name) for name in ("altLabel", "hiddenLabel"))
_STRING = NamedNode(XSD + "string")
_NAME = re.compile(r"[^\W\d][\w.-]*")
_BOOLEANS = (Literal(True), Literal(False))
_OWN_NAMESPACE = "give it a namespace of your own, such as @prefix my: <https://example.org/my-project#>"


def faults(own: Vocabulary, whole: Vocabulary) -> Iterator[Violation]:
    """Yield what is wrong with the declarations of ``own``; ``whole`` also has what ships with the package."""
    shipped = Vocabulary.shipped()
    for file in own.files:
        yield from _unknown_terms(file, own.of_file(file), shipped)
        yield from _foreign_statements(file, own.of_file(file), shipped)
    for iri in own.instances(TYPE):
        yield from _of_type(iri, own, whole)
    for iri in own.instances(REFERENCE_KIND):
        yield from _of_kind(iri, own, whole)
    for iri in _declared(own):
        yield from _of_property(iri, own, whole)
    for declaring in (IMMUTABLE, MUTABLE):
        for node in own.subjects(declaring):
            yield from _of_declarer(node, declaring, own, whole)
    for iri in (*own.instances(TYPE), *own.instances(REFERENCE_KIND), *_declared(own)):
        files = own.files_of(iri, RDF_TYPE)
        if len(files) > 1:
            yield fault(
                own,
                iri,
                "a term is declared in one file",
                f"{called(iri)} is declared in {' and in '.join(files)}",
                "keep one of the declarations",
            )
    yield from _homonyms("types", whole.instances(TYPE), own)
    yield from _homonyms("kinds of reference", whole.instances(REFERENCE_KIND), own)
    for iri in whole.instances(TYPE):
        classes = (iri, *whole.above(iri))
        declared = [{prop for cls in classes for prop in whole.nodes(cls, of)} for of in (IMMUTABLE, MUTABLE)]
        props = [prop for each in declared for prop in sorted(each, key=str)]
        yield from _homonyms(f"properties of {local_name(iri.value)}", props, own, classes)


def fault(
    own: Vocabulary,
    node: Term,
    rule: str,
    message: str,
    mend: str,
    *,
    file: str = "",
    path: NamedNode | None = None,
    value: object = "",
) -> Violation:
    """Return one thing that is wrong, with the file that says it in front."""
    said = file or (next(iter(own.files_of(node)), "") if isinstance(node, (NamedNode, BlankNode)) else "")
    text = f"{said}: {message}" if said else message
    return Violation(str(node), str(path or ""), str(value), rule, text, mend)


def called(iri: NamedNode) -> str:
    """Return a term for eyes: with the prefix of a vocabulary that is known here, else by its local name."""
    said = short(iri.value)
    return said if said != iri.value else local_name(iri.value) or said


def _unknown_terms(file: str, triples: Iterable[Triple], shipped: Vocabulary) -> Iterator[Violation]:
    """Yield each term that looks like one of ours and is none: as a rule it is misspelt."""
    known = [node.value for node in shipped.subjects() if isinstance(node, NamedNode)]
    seen: set[str] = set()
    for triple in triples:
        for term in (triple.subject, triple.predicate, triple.object):
            if not isinstance(term, NamedNode) or not term.value.startswith(_OURS) or term.value in (*seen, *known):
                continue
            seen.add(term.value)
            close = difflib.get_close_matches(term.value, known, n=1, cutoff=0.9)
            hint = f"did you mean {called(NamedNode(close[0]))}? " if close else ""
            yield fault(
                shipped,
                term,
                "terms of prism are those that ship with it",
                f"there is no {called(term)}",
                f"{hint}for a term of your own, {_OWN_NAMESPACE}",
                file=file,
            )


def _foreign_statements(file: str, triples: Iterable[Triple], shipped: Vocabulary) -> Iterator[Violation]:
    """Yield what a file says of terms that are not its own, or of things that are no part of an ontology."""
    types = frozenset(shipped.instances(TYPE))
    for triple in triples:
        node, predicate, value = triple.subject, triple.predicate, triple.object
        if predicate == _IMPORTS:
            yield fault(
                shipped,
                node,
                "nothing is fetched from elsewhere",
                f"it imports {_said(value)}",
                "leave owl:imports out, and add that file too if it is needed",
                file=file,
            )
        elif isinstance(node, NamedNode) and _is_taken(node, shipped):
            extends = predicate == MUTABLE and (node == ENTITY or ENTITY in shipped.above(node))
            if not extends and triple not in shipped:
                yield fault(
                    shipped,
                    node,
                    "what ships is not changed, save that a type gets more mutable properties",
                    f"it says of {called(node)}: {called(predicate)} {_said(value)}",
                    f"say it of a term of your own: {_OWN_NAMESPACE}",
                    file=file,
                    path=predicate,
                    value=value,
                )
        elif predicate == RDF_TYPE and value in types:
            yield fault(
                shipped,
                node,
                "these files say what kinds of things there are, not which things",
                f"{_said(node)} is {_said(value)}: it is an entity",
                "record it with `prism entity`",
                file=file,
            )
        elif predicate.value.startswith(PRISM) and predicate not in _DESCRIBING and shipped.has(predicate):
            yield fault(
                shipped,
                node,
                "these files say what kinds of things there are, not what the things are like",
                f"it says {called(predicate)} of {_said(node)}",
                "record it with `prism entity` or `prism fact`",
                file=file,
                path=predicate,
            )


def _is_taken(node: NamedNode, shipped: Vocabulary) -> bool:
    return node.value.startswith(_STANDARD) or shipped.has(node)


def _of_type(iri: NamedNode, own: Vocabulary, whole: Vocabulary) -> Iterator[Violation]:
    name = called(iri)
    yield from _unusable_name(iri, own)
    above = whole.above(iri)
    if ENTITY not in above:
        yield fault(
            own,
            iri,
            "every prism:Type is a subclass of prism:Entity, directly or through others",
            f"the type {name} is not a kind of entity",
            f"add '<{iri.value}> rdfs:subClassOf prism:Entity .', or prism:Document for a written work",
        )
    for predicate, allowed in ((ZONE, "project"), (PTYPE, "")):
        values = own.objects(iri, predicate)
        wrong = len(values) > 1 or any(not isinstance(v, Literal) or (allowed and v.value != allowed) for v in values)
        if wrong:
            what = f"'{allowed}'" if allowed else "one text, such as 'application'"
            yield fault(
                own,
                iri,
                f"the {local_name(predicate.value)} of a type of a project is {what}",
                f"{name} has {called(predicate)} {', '.join(map(_said, values))}",
                "say that, or leave it out",
                path=predicate,
            )
    if not any(whole.has(cls, of) for cls in (iri, *above) for of in (IMMUTABLE, MUTABLE)):
        yield fault(
            own,
            iri,
            "an entity is made with its first state, so a type has a property",
            f"{name} declares no property",
            "add for example 'prism:mutableProperty prism:name'",
        )


def _of_kind(iri: NamedNode, own: Vocabulary, whole: Vocabulary) -> Iterator[Violation]:
    yield from _unusable_name(iri, own)
    if OBJECT_PROPERTY not in whole.nodes(iri, RDF_TYPE):
        yield fault(
            own,
            iri,
            "a kind of reference is an owl:ObjectProperty",
            f"{called(iri)} is none",
            f"add '<{iri.value}> a owl:ObjectProperty ; rdfs:subPropertyOf prism:REFERENCES .'",
        )
    if whole.subjects(IMMUTABLE, iri) or whole.subjects(MUTABLE, iri):
        yield fault(
            own,
            iri,
            "a kind of reference is no property of a type: references have times and provenance of their own",
            f"{called(iri)} is both",
            "give one of them another name",
        )


def _declared(own: Vocabulary) -> tuple[NamedNode, ...]:
    """Return the properties that these files declare for a type, and that are not shipped."""
    found = {prop for of in (IMMUTABLE, MUTABLE) for cls in own.subjects(of) for prop in own.nodes(cls, of)}
    return tuple(sorted((prop for prop in found if not Vocabulary.shipped().has(prop)), key=str))


def _of_property(iri: NamedNode, own: Vocabulary, whole: Vocabulary) -> Iterator[Violation]:
    name = called(iri)
    yield from _unusable_name(iri, own)
    kinds = whole.nodes(iri, RDF_TYPE)
    if DATATYPE_PROPERTY not in kinds and OBJECT_PROPERTY not in kinds:
        yield fault(
            own,
            iri,
            "a property that a type declares is described, as an owl:DatatypeProperty or an owl:ObjectProperty",
            f"{name} is declared for {_declarers(iri, own)} and not described",
            f"add '<{iri.value}> a owl:DatatypeProperty ; rdfs:range xsd:string .'",
            file=next(iter(_declaring_files(iri, own)), ""),
        )
    for flag in _FLAGS:
        values = own.objects(iri, flag)
        if values and (len(values) > 1 or values[0] not in _BOOLEANS):
            yield fault(
                own,
                iri,
                f"{called(flag)} is true or false",
                f"{called(flag)} of {name} is {', '.join(map(_said, values))}",
                "write true or false without quotes, once",
                path=flag,
            )
    range_ = next(iter(whole.nodes(iri, RANGE)), _STRING)
    if whole.text(iri, IDENTIFYING) == "true" and (OBJECT_PROPERTY in kinds or range_ != _STRING):
        what = "refers to other entities" if OBJECT_PROPERTY in kinds else f"has the range {called(range_)}"
        yield fault(
            own,
            iri,
            "what a query may name an entity by is text",
            f"{name} is identifying and {what}",
            "make it an owl:DatatypeProperty with the range xsd:string, or leave prism:identifying out",
        )


def _of_declarer(
    node: NamedNode | BlankNode, declaring: NamedNode, own: Vocabulary, whole: Vocabulary
) -> Iterator[Violation]:
    """Yield what is wrong with a node that declares properties, and with those that no project may declare."""
    is_class = isinstance(node, NamedNode) and {TYPE, CLASS} & set(whole.nodes(node, RDF_TYPE))
    if not is_class:
        yield fault(
            own,
            node,
            "properties are declared by a type, or by a class above one",
            f"{_said(node)} declares properties, and is neither",
            "add 'a owl:Class, prism:Type ; rdfs:subClassOf prism:Entity'",
        )
    shipped = Vocabulary.shipped()
    usable = {prop for of in (IMMUTABLE, MUTABLE) for cls in shipped.subjects(of) for prop in shipped.nodes(cls, of)}
    for value in own.objects(node, declaring):
        foreign = isinstance(value, NamedNode) and not value.value.startswith((*_OURS, *_STANDARD))
        if not isinstance(value, NamedNode) or not (value in usable or (foreign and value not in _RESERVED)):
            yield fault(
                own,
                node,
                "a type declares properties of states, its own or those of types that ship",
                f"{_said(node)} declares {_said(value)}, which is none",
                "name a property of your own namespace",
                path=declaring,
                value=value,
            )


def _homonyms(
    what: str, iris: Iterable[NamedNode], own: Vocabulary, within: Iterable[NamedNode] = ()
) -> Iterator[Violation]:
    """Yield what cannot be told apart by its name; names are how people and JSON speak of these things."""
    seen: dict[str, NamedNode] = {}
    for iri in iris:
        other = seen.setdefault(local_name(iri.value), iri)
        blamed = next((node for node in (iri, other, *within) if own.has(node)), None)
        if other is not iri and blamed is not None:
            both = f": {other.value} and {iri.value}" if other != iri else ", one immutable and one mutable"
            yield fault(
                own,
                blamed,
                "local names are unique, and a property is either mutable or immutable",
                f"two {what} are named {local_name(iri.value)!r}{both}",
                "rename one of them, or leave one declaration out",
            )


def _unusable_name(iri: NamedNode, own: Vocabulary) -> Iterator[Violation]:
    name = local_name(iri.value)
    if not _NAME.fullmatch(name):
        yield fault(
            own,
            iri,
            "people, JSON and commands speak of a term by what follows the last # or / of its IRI",
            f"the IRI {iri.value} ends in {name!r}, which cannot be written as a name",
            "let it end in a letter, then letters, digits, '_', '.' or '-'",
        )


def _declarers(iri: NamedNode, own: Vocabulary) -> str:
    found = {node for of in (IMMUTABLE, MUTABLE) for node in own.subjects(of, iri)}
    return ", ".join(sorted(map(_said, found)))


def _declaring_files(iri: NamedNode, own: Vocabulary) -> tuple[str, ...]:
    return tuple(
        file for of in (IMMUTABLE, MUTABLE) for node in own.subjects(of, iri) for file in own.files_of(node, of, iri)
    )


def _said(term: object) -> str:
    if isinstance(term, NamedNode):
        return called(term)
    if isinstance(term, Literal):
        return repr(term.value)
    return "a node without a name"
