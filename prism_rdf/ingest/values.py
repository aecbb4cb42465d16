"""What a document says of itself as values of the properties that its type declares; time is not known here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from pyoxigraph import Literal

from prism_rdf.canonical.catalog import EntityType, Property
from prism_rdf.clock import Instant
from prism_rdf.errors import BadTime
from prism_rdf.ingest.documents import Document
from prism_rdf.ingest.inline import plain
from prism_rdf.ingest.kinds import title_of
from prism_rdf.namespaces import XSD
from prism_rdf.values import instant_literal

Values = Mapping[str, tuple[Literal, ...]]

_SYNONYMS = {"author": "authors", "tag": "tags", "keywords": "tags", "due": "dueDate", "default": "defaultValue"}
_HANDLED = frozenset({"title", "status", "number", "path", "retired", "id", "adr", "type", "kind"})
_FORMS = {"integer": r"[+-]?\d+", "boolean": r"true|false", "decimal": r"[+-]?\d+(?:\.\d+)?"}
_BOOLEANS = {"yes": "true", "no": "false", "on": "true", "off": "false"}


def values_of(document: Document, number: str, path: str, known: EntityType, odd: Callable[[str, str], None]) -> Values:
    """Return the values by property name; ``odd(property, value)`` hears of each that its property does not take.

    A field counts when its name is that of a declared property: ``due_date`` and ``due-date`` are dueDate.
    """
    declared = declared_by(known)
    named = "title" if "title" in declared else "name"
    said: dict[str, tuple[str, ...]] = {
        named: (title_of(document),),
        "number": (number,),
        "status": (document.status,),
        "path": (path,),
    }
    for name, texts in document.fields.items():
        prop = name if document.rule is not None else property_named(name)
        if prop not in _HANDLED:
            said[prop] = texts if document.rule is not None else tuple(plain(text) or text for text in texts)
    found: dict[str, tuple[Literal, ...]] = {}
    for name, texts in said.items():
        prop_ = declared.get(name)
        held = tuple(text for text in texts if text)
        if prop_ is not None and prop_.object_class is None and held:
            literals = _literals(prop_, held if prop_.multi else (", ".join(held),), odd)
            if literals:
                found[name] = literals
    return found


@cache
def property_named(field: str) -> str:
    """Return the property that the field of a document means by its name.

    >>> property_named("due_date"), property_named("Author"), property_named("dueDate")
    ('dueDate', 'authors', 'dueDate')
    """
    words = re.split(r"[-_\s]+", field.strip())
    first = words[0] if words[0][1:] != words[0][1:].lower() and not words[0].isupper() else words[0].lower()
    joined = first[:1].lower() + first[1:] + "".join(word[:1].upper() + word[1:] for word in words[1:])
    return _SYNONYMS.get(joined, joined)


def declared_by(known: EntityType) -> Mapping[str, Property]:
    """Return the properties of a type by name."""
    found = _declared.get(known.iri.value)
    if found is None or found[0] is not known:
        found = _declared[known.iri.value] = known, {prop.name: prop for prop in known.properties}
    return found[1]


_declared: dict[str, tuple[EntityType, Mapping[str, Property]]] = {}


def _literals(prop: Property, texts: tuple[str, ...], odd: Callable[[str, str], None]) -> tuple[Literal, ...]:
    found = []
    for text in texts:
        literal = literal_of(prop, text)
        if literal is None:
            odd(prop.name, text)
        else:
            found.append(literal)
    return tuple(dict.fromkeys(found))


def literal_of(prop: Property, text: str) -> Literal | None:
    """Return a text as a value of a property; None for what it does not take."""
    kind = prop.datatype.value.removeprefix(XSD) if prop.datatype is not None else "string"
    if prop.datatype is None or kind == "string":
        return Literal(text)
    if kind == "dateTime":
        try:
            return instant_literal(Instant.parse(text))
        except BadTime:
            return None
    if kind == "boolean":
        text = _BOOLEANS.get(text.lower(), text.lower())
    return Literal(text, datatype=prop.datatype) if re.fullmatch(_FORMS.get(kind, r".+"), text) else None
