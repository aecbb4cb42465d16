"""The constraints of SHACL Core that the screen knows, each as a test of value nodes; no shape is read here.

A test that holds must mean that pySHACL finds nothing. It may fail where pySHACL finds nothing either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from prism_rdf.namespaces import RDF, RDF_TYPE, SH, XSD
from prism_rdf.validation.lexical import EARLIEST, LATEST, VALUES

Term = NamedNode | BlankNode | Literal | Triple
Said = Mapping[Term, Mapping[Term, Collection[Term]]]  # subject, predicate, values
Alone = Callable[[Any], bool]  # of one value, by what it is
Each = Callable[[Said, Any], bool]  # of one value, by what is said of it
Whole = Callable[[Collection[Term]], bool]  # of all values together

_KINDS: Mapping[str, tuple[type, ...]] = {
    "IRI": (NamedNode,),
    "BlankNode": (BlankNode,),
    "Literal": (Literal,),
    "BlankNodeOrIRI": (BlankNode, NamedNode),
    "BlankNodeOrLiteral": (BlankNode, Literal),
    "IRIOrLiteral": (NamedNode, Literal),
}
_STRINGS = frozenset((XSD + "string", RDF + "langString"))
_ANY_FORM = frozenset(XSD + name for name in ("anyURI", "gYear", "gYearMonth"))  # pySHACL asks for no form
_NUMBERS = frozenset(XSD + name for name in ("integer", "decimal", "double", "float"))
_INTEGER = NamedNode(XSD + "integer")
_INSTANT = XSD + "dateTime"


class Unknown(Exception):
    """The screen cannot judge by this constraint, as it stands in the shapes."""


def never(*_: object) -> bool:
    """Stand for a constraint that is not known."""
    return False


def datatype(wanted: Term) -> Alone:
    """The value is a literal of this datatype, and its form is one that the datatype allows."""
    if not isinstance(wanted, NamedNode):
        raise Unknown
    if wanted.value in _STRINGS or wanted.value in _ANY_FORM:
        return lambda value: type(value) is Literal and value.datatype == wanted
    if wanted.value not in VALUES:
        raise Unknown
    convert = VALUES[wanted.value]

    def holds(value: Any) -> bool:
        if type(value) is not Literal or value.datatype != wanted:
            return False
        try:
            convert(value.value)
        except ValueError:
            return False
        return True

    return holds


def node_kind(wanted: Term) -> Alone:
    """The value is an IRI, a blank node or a literal, as is wanted."""
    name = wanted.value.removeprefix(SH) if isinstance(wanted, NamedNode) else ""
    if name not in _KINDS:
        raise Unknown
    kinds = _KINDS[name]
    return lambda value: type(value) in kinds


def instance_of(wanted: Term) -> Each:
    """The value has this class among its types; subclasses that the data declare are for pySHACL to follow."""
    return lambda said, value: value in said and wanted in said[value].get(RDF_TYPE, ())


def one_of(wanted: Iterable[Term]) -> Alone:
    """The value is one of these terms."""
    allowed = frozenset(wanted)
    return lambda value: value in allowed


def pattern(wanted: Term, flags: Term | None) -> Alone:
    """The text of the value matches somewhere."""
    letters = _text(flags).lower() if flags is not None else ""
    if set(letters) - {"i", "m"}:
        raise Unknown
    try:
        compiled = re.compile(_text(wanted), (re.IGNORECASE * ("i" in letters)) | (re.MULTILINE * ("m" in letters)))
    except re.error as error:
        raise Unknown from error
    search = compiled.search
    return lambda value: type(value) is not BlankNode and search(value.value) is not None


def length(wanted: Term, compare: Callable[[int, int], bool]) -> Alone:
    """The text of the value is long enough, or short enough."""
    bound = count(wanted)
    return lambda value: type(value) is not BlankNode and compare(len(value.value), bound)


def limit(wanted: Term, compare: Callable[[Any, Any], bool]) -> Alone:
    """The value lies on the right side of a number or an instant; what cannot be compared does not."""
    bound = _comparable(wanted)
    if bound is None:
        raise Unknown
    numeric = isinstance(bound, (int, Decimal, float))

    def holds(value: Any) -> bool:
        known = _comparable(value)
        return known is not None and isinstance(known, (int, Decimal, float)) is numeric and compare(known, bound)

    return holds


def language_in(wanted: Iterable[Term]) -> Alone:
    """The language of the value is one of these, or a variety of one of these."""
    ranges = {_text(each).lower() for each in wanted}

    def holds(value: Any) -> bool:
        tag = value.language.lower() if type(value) is Literal and value.language else ""
        return bool(tag) and ("*" in ranges or tag in ranges or tag.split("-")[0] in ranges)

    return holds


def has_value(wanted: Term) -> Whole:
    """This term is among the values."""
    return lambda values: wanted in values


def unique_language(wanted: Term) -> Whole:
    """No two values have the same language."""
    if wanted != Literal(True):
        raise Unknown

    def holds(values: Collection[Term]) -> bool:
        tags = [value.language for value in values if isinstance(value, Literal) and value.language]
        return len(tags) == len(set(tags))

    return holds


def count(wanted: Term) -> int:
    """Return a number of values, or of characters."""
    if not isinstance(wanted, Literal) or wanted.datatype != _INTEGER:
        raise Unknown
    try:
        number = int(VALUES[_INTEGER.value](wanted.value))
    except ValueError as error:
        raise Unknown from error
    if number < 0:
        raise Unknown
    return number


def only(values: Sequence[Term]) -> Term:
    """Return the value of a parameter that pySHACL takes once."""
    if len(values) != 1:
        raise Unknown
    return values[0]


def _text(term: Term) -> str:
    if not isinstance(term, Literal) or term.datatype.value not in _STRINGS:
        raise Unknown
    return term.value


def _comparable(term: Any) -> Any:
    """Return a number, or an instant that says its offset, in the years that Python knows; None for all else."""
    if type(term) is not Literal or term.datatype.value not in (*_NUMBERS, _INSTANT):
        return None
    try:
        value = VALUES[term.datatype.value](term.value)
    except ValueError:
        return None
    if term.datatype.value == _INSTANT:
        return None if value.tzinfo is None or value in (EARLIEST, LATEST) else value
    return value if value == value else None  # NaN compares with nothing
