"""Values between Python and RDF: terms of what callers say, as the store gives them back, and as JSON and eyes want."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, Store

from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import XSD, short

Term = NamedNode | Literal
Value = str | int | float | bool | Decimal | date | datetime | Instant | NamedNode | Literal

_XSD_DATETIME = NamedNode(XSD + "dateTime")
_SCRATCH_NODE = NamedNode("urn:prism:scratch")


@lru_cache(maxsize=65_536)  # a commit says the same few instants again and again
def instant_literal(instant: Instant) -> Literal:
    return Literal(instant.iso(), datatype=_XSD_DATETIME)


def term_of(value: Value) -> Term:
    """Return the RDF term of a Python value; raise BadArgument for what has none.

    A naive datetime raises BadTime; a float that is not finite is refused.
    """
    if isinstance(value, (NamedNode, Literal)):
        return value
    if isinstance(value, Instant):
        return instant_literal(value)
    if isinstance(value, datetime):
        return instant_literal(Instant.of(value))
    if isinstance(value, date):
        return Literal(value.isoformat(), datatype=NamedNode(XSD + "date"))
    if isinstance(value, Decimal):
        return Literal(str(value), datatype=NamedNode(XSD + "decimal"))
    if isinstance(value, (bool, int, float, str)):
        return Literal(value)
    raise BadArgument(
        f"a value of type {type(value).__name__} has no RDF term",
        rule="values are str, int, float, Decimal, bool, date, aware datetime, an RDF term or a list of them",
        mend="convert it, or give a reference to an entity as its IRI",
    )


@lru_cache(maxsize=4_096)
def canonical_term(term: Term) -> Term:
    """Return the term as the store will give it back, so that it can be compared and hashed.

    >>> canonical_term(Literal("1.50", datatype=NamedNode(XSD + "decimal"))).value
    '1.5'
    """
    if isinstance(term, NamedNode) or (term.language is None and term.datatype.value == XSD + "string"):
        return term
    scratch = Store()
    scratch.add(Quad(_SCRATCH_NODE, _SCRATCH_NODE, term))
    stored = next(iter(scratch)).object
    assert isinstance(stored, Literal)
    return stored


def python_of(term: Term) -> Any:
    """Return the JSON-friendly value of a term: str, int, float, bool; times and decimals as text."""
    if isinstance(term, NamedNode):
        return term.value
    kind = term.datatype.value.removeprefix(XSD)
    if kind in {"integer", "int", "long", "nonNegativeInteger", "positiveInteger"}:
        return int(term.value)
    if kind == "boolean":
        return term.value == "true"
    if kind in {"double", "float"}:
        return float(term.value)
    return term.value


def quad_text(quad: Quad) -> str:
    """Return what a quad says of its subject for eyes."""
    return f"{term_text(quad.predicate)} {term_text(quad.object)}"


def term_text(term: object) -> str:
    """Return a term of a query's answer for eyes: IRIs shortened, literals bare; an unbound variable is empty.

    >>> from prism_rdf.namespaces import prism
    >>> term_text(prism("title")), term_text(Literal("Haus", language="de")), term_text(None)
    ('prism:title', 'Haus@de', '')
    """
    if term is None:
        return ""
    if isinstance(term, NamedNode):
        return short(term.value)
    if isinstance(term, Literal):
        return f"{term.value}@{term.language}" if term.language else term.value
    return str(term)
