"""Parameters into a saved query: each value as a term that was made and serialised, never as text that is pasted in.

A ``$name`` is replaced where it is a token of SPARQL, so not in strings, IRIs and comments; as it is replaced and not
bound beside the query, it holds in subselects too.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from pyoxigraph import Literal, NamedNode

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.clock import Instant, start_of
from prism_rdf.errors import BadArgument, NotFoundError
from prism_rdf.namespaces import PREFIXES, XSD
from prism_rdf.reach import TOKEN
from prism_rdf.saved.heading import ANY, Parameter, SavedQuery

UNBOUND = "UNDEF"
_AGO = re.compile(r"(\d{1,6}) days? ago")
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_LARGEST = 2**63
_INTEGER, _DATE, _DATE_TIME = (NamedNode(XSD + name) for name in ("integer", "date", "dateTime"))


@dataclass(frozen=True)
class Ground:
    """What parameters are read by: who is meant by a name, the types of the project, the time, and its graphs."""

    resolve: Callable[[str], NamedNode]
    catalog: TypeCatalog
    now: Instant
    graphs: Mapping[str, NamedNode]


def bind(query: SavedQuery, given: Mapping[str, Any], ground: Ground) -> str:
    """Return the query with its parameters bound.

    Raises BadArgument for a parameter that is unknown, missing or not of its type, with the list of them; BadTime;
    UnknownEntity and AmbiguousError for an entity; UnknownType.
    """
    known = {each.name: each for each in query.parameters}
    said = {name.replace("-", "_"): value for name, value in given.items()}
    for name in said:
        if name not in known:
            raise _unknown(query, name)
    bound = {name: graph for name, graph in ground.graphs.items() if name in query.mentioned}
    terms: dict[str, Any] = {**bound, "now": _instant(ground.now)}
    for name, parameter in known.items():
        value = said.get(name)
        if value is None or value == "":
            if parameter.default is None:
                raise _missing(query, parameter)
            value = parameter.default
        terms[name] = UNBOUND if value == ANY == parameter.default else _term(query, parameter, value, ground)
    return _replaced(query.text, terms)


def sample(query: SavedQuery, ground: Ground) -> str:
    """Return the query with some value for each parameter, to see whether it is SPARQL at all."""
    node, day = NamedNode("urn:sample"), Instant(0)
    values = {"string": Literal("sample"), "integer": Literal(1), "boolean": Literal(True), "dateTime": _instant(day)}
    values["date"] = Literal("1970-01-01", datatype=_DATE)
    terms: dict[str, Any] = {**ground.graphs, "now": _instant(day)}
    for each in query.parameters:
        terms[each.name] = UNBOUND if each.default == ANY else values.get(each.type, node)
    return _replaced(query.text, terms)


def _replaced(text: str, terms: Mapping[str, Any]) -> str:
    parts: list[str] = []
    before = ""
    for token in TOKEN.finditer(text):
        said = token[0]
        if token.lastgroup == "variable" and said.startswith("$") and said[1:] in terms:
            term = terms[said[1:]]
            # a literal with its datatype joins with nothing around it; only here does SPARQL want a bare number
            bare = before in ("limit", "offset") and isinstance(term, Literal) and term.datatype == _INTEGER
            parts.append(str(max(0, int(term.value))) if bare else str(term))
        else:
            parts.append(said)
        if token.lastgroup != "nothing":
            before = said.lower()
    return "".join(parts)


def _term(query: SavedQuery, parameter: Parameter, value: Any, ground: Ground) -> NamedNode | Literal:
    try:
        return _READERS[parameter.type](value, ground)
    except _NotOne as error:
        raise BadArgument(
            f"parameter {parameter.name} of {query.name} is {str(value)[:100]!r}",
            rule=f"{parameter.name} is {error}: {parameter.description}",
            mend=f"write it like this: {parameter.name}={parameter.example or parameter.default or error.example}",
        ) from None


class _NotOne(Exception):
    """A value is none of its type; the text says what one is."""

    def __init__(self, what: str, example: str) -> None:
        super().__init__(what)
        self.example = example


def _entity(value: Any, ground: Ground) -> NamedNode:
    return ground.resolve(value.value if isinstance(value, NamedNode) else _string(value, ground).value)


def _iri(value: Any, ground: Ground) -> NamedNode:
    if isinstance(value, NamedNode):
        return value
    text = str(value)
    prefix, colon, local = text.partition(":")
    try:
        return NamedNode(PREFIXES[prefix] + local if colon and prefix in PREFIXES else text)
    except ValueError:
        raise _NotOne("an absolute IRI, or one with a known prefix", "prism:title") from None


def _string(value: Any, ground: Ground) -> Literal:
    text = value.value if isinstance(value, Literal) else value
    if not isinstance(text, str) or "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise _NotOne("a text", "some words")
    return Literal(text)


def _integer(value: Any, ground: Ground) -> Literal:
    whole = int(value) if isinstance(value, str) and value.isascii() and _WHOLE.fullmatch(value.strip()) else value
    if isinstance(whole, bool) or not isinstance(whole, int) or not -_LARGEST <= whole < _LARGEST:
        raise _NotOne("a whole number", "30")
    return Literal(str(whole), datatype=_INTEGER)


def _boolean(value: Any, ground: Ground) -> Literal:
    read = (
        {"true": True, "false": False, True: True, False: False}.get(value) if isinstance(value, (str, bool)) else None
    )
    if read is None:
        raise _NotOne("true or false", "true")
    return Literal(read)


def _date_time(value: Any, ground: Ground) -> Literal:
    return _instant(_moment(value, ground))


def _date(value: Any, ground: Ground) -> Literal:
    return Literal(_moment(value, ground).iso().partition("T")[0], datatype=_DATE)


def _moment(value: Any, ground: Ground) -> Instant:
    if isinstance(value, str):
        ago = _AGO.fullmatch(value.strip())
        if value.strip() == "now" or ago:
            return ground.now.plus(days=-int(ago[1]) if ago else 0)
    if not isinstance(value, (str, Instant, date)):
        raise _NotOne("a time", "2025-10-30")
    return start_of(value).instant


def _property(value: Any, ground: Ground) -> NamedNode:
    names = {each.name: each.iri for known in ground.catalog.types for each in known.properties}
    text = value.value if isinstance(value, NamedNode) else str(value).removeprefix("prism:")
    for name, iri in names.items():
        if text in (name, iri.value):
            return iri
    close = difflib.get_close_matches(text, names, n=1)
    raise _NotOne("a property that some type of the project has", close[0] if close else "status")


def _type(value: Any, ground: Ground) -> NamedNode:
    return ground.catalog.type(value if isinstance(value, NamedNode) else str(value).removeprefix("type:")).iri


def _kind(value: Any, ground: Ground) -> NamedNode:
    return ground.catalog.kind(value if isinstance(value, NamedNode) else str(value).removeprefix("prism:"))


def _instant(instant: Instant) -> Literal:
    return Literal(instant.iso(), datatype=_DATE_TIME)


_READERS: Mapping[str, Callable[[Any, Ground], NamedNode | Literal]] = {
    "entity": _entity,
    "iri": _iri,
    "string": _string,
    "integer": _integer,
    "date": _date,
    "dateTime": _date_time,
    "boolean": _boolean,
    "property": _property,
    "type": _type,
    "kind": _kind,
}


def _taken(parameters: Iterable[Parameter]) -> str:
    return ", ".join(map(str, parameters)) or "no parameters"


def _unknown(query: SavedQuery, name: str) -> BadArgument:
    close = difflib.get_close_matches(name, [each.name for each in query.parameters], n=1)
    return BadArgument(
        f"the query {query.name} has no parameter {name[:60]!r}",
        rule=f"it takes {_taken(query.parameters)}",
        mend=f"did you mean {close[0]!r}?" if close else "leave it out, or check its spelling",
    )


def _missing(query: SavedQuery, parameter: Parameter) -> BadArgument:
    return BadArgument(
        f"the query {query.name} lacks its parameter {parameter.name!r}: {parameter.description}",
        rule=f"it takes {_taken(query.parameters)}",
        mend=f"add {parameter.name}={parameter.example or '…'}",
    )


def unknown_query(name: str, known: Iterable[str]) -> NotFoundError:
    """Return the error for a name that no saved query has; it suggests one that is spelt alike."""
    close = difflib.get_close_matches(name, known := sorted(known), n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    return NotFoundError(
        f"there is no saved query {name[:80]!r}",
        rule="a saved query is one that ships, or one that the project added",
        mend=f"{meant}prism query lists them",
    )
