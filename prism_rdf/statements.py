"""From what a caller says (names, Python values, times) to assertions and interval ends; bad input ends here."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from pyoxigraph import Literal, NamedNode

from prism_rdf.canonical.catalog import EntityType, Property
from prism_rdf.clock import Edge, Instant, TimeInput, end_of, start_of
from prism_rdf.errors import BadArgument, BadTime
from prism_rdf.model import Assertion, Op
from prism_rdf.namespaces import XSD, Names, article
from prism_rdf.values import Value, instant_literal, term_of

Props = Mapping[str, Value | Sequence[Value] | None]
Resolve = Callable[[str], NamedNode]

_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_DATE_TIME = NamedNode(XSD + "dateTime")


def begin(valid_from: TimeInput | None) -> Instant | None:
    return None if valid_from is None else start_of(valid_from).instant


def end(valid_until: TimeInput | None) -> Instant | None:
    return None if valid_until is None else end_of(valid_until).instant


def check_order(start: Instant | None, until: Instant | None) -> None:
    if start is not None and until is not None and until <= start:
        raise BadTime(
            f"it cannot hold from {start} until {until}",
            rule="an interval ends after it starts",
            mend="swap the two, or leave the end out",
        )


def check_alias(surface_form: str) -> None:
    """Raise BadArgument for a form that shows nothing, or has characters that are none of a name."""
    kinds = {char: unicodedata.category(char) for char in surface_form.strip()}
    if not any(kind[0] not in "CZ" for kind in kinds.values()):
        raise BadArgument(
            "an alias needs a surface form", rule="a name is not empty", mend="give the name as it is written"
        )
    odd = [char for char, kind in kinds.items() if kind in ("Cc", "Cs", "Zl", "Zp") or char in _REORDERING]
    if odd:
        raise BadArgument(
            f"the name {surface_form!r} has the character U+{ord(odd[0]):04X}",
            rule="a name is one line of text, without control characters and marks that reorder it",
            mend="give the name as it is read, in one line",
        )


def node_named(text: str, mint: Resolve) -> NamedNode | None:
    """Return the node that a uuid (its IRI is ``mint(uuid)``) or an IRI names; None for text that can be neither."""
    try:
        return NamedNode(text) if ":" in text else mint(text)
    except ValueError:
        return None


def memory_named(names: Names, text: str) -> str:
    """Return the IRI of the memory that is named as a cause, by uuid or IRI; empty for empty text."""
    node = node_named(text, lambda uuid: names.memory(str(UUID(uuid)))) if text else None
    if text and node is None:
        raise BadArgument(
            f"{text!r} names no memory",
            rule="a cause is named by the uuid or the IRI of a memory",
            mend="prism recall TEXT --json shows the id of each memory",
        )
    return node.value if node else ""


def assertions(
    known: EntityType,
    props: Props,
    start: Edge,
    until: Instant | None,
    resolve: Resolve,
    undeclared: Mapping[str, NamedNode] | None = None,
) -> tuple[Assertion, ...]:
    """Return what the props say: None clears, a list replaces all values of a multi-valued property.

    ``resolve`` finds the entity that the text of a reference names. What is ``undeclared``, by name, can be cleared.
    """
    said: list[Assertion] = []
    for name, value in props.items():
        if value is None and undeclared and name in undeclared:
            said.append(Assertion(undeclared[name], None, "clear", start.instant, until))
            continue
        prop = known.property(name)
        if value is None or prop.multi:
            said.append(Assertion(prop.iri, None, "clear", start.instant, until))
        if value is None:
            continue
        values = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        if not prop.multi and len(values) != 1:
            raise BadArgument(
                f"{prop.name} of {article(known.name)} takes one value, not {len(values)}",
                rule=f"{prop.name} is single-valued",
                mend="give one value",
            )
        op: Op = "add" if prop.multi else "set"
        said += [Assertion(prop.iri, _term(prop, each, resolve), op, start.instant, until) for each in values]
    return tuple(said)


def _term(prop: Property, value: Value, resolve: Resolve) -> NamedNode | Literal:
    if not isinstance(value, str):
        return term_of(value)
    if prop.object_class is not None:
        return resolve(value)
    if prop.datatype == _DATE_TIME:
        return _instant_of(prop, value)
    return Literal(value) if prop.datatype is None else Literal(value, datatype=prop.datatype)


def _instant_of(prop: Property, value: str) -> Literal:
    try:
        return instant_literal(Instant.parse(value))
    except BadTime as error:
        raise BadTime(
            f"{prop.name} is an instant, and {value!r} is none",
            rule="an instant has a date, a time and a zone",
            mend="write it as 2015-03-01T12:00:00Z",
        ) from error
