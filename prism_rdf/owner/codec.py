"""What JSON lacks, as JSON and back, exactly: times, RDF terms, intents, receipts, errors; decoding executes nothing.

A value that JSON lacks is ``{"$prism": kind, "v": …}``. Dataclasses go field by field in their order, which both ends
share because they run the same release. A list inside a dataclass comes back as a tuple.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple, parse, serialize

from prism_rdf import clock, errors, model, naming
from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument, PrismError
from prism_rdf.owner.wire import TAG
from prism_rdf.storage.changelog import LoggedChange

_STRING = "http://www.w3.org/2001/XMLSchema#string"
_SHARED = (clock, model, naming, errors)


def error_json(error: PrismError) -> dict[str, Any]:
    """Return an error with everything it carries."""
    carried = {name: _tag("tuple", value) if isinstance(value, tuple) else value for name, value in vars(error).items()}
    return {"class": type(error).__name__, "text": str(error), "with": carried}


def error_of(body: Mapping[str, Any]) -> PrismError:
    """Return the error again, of the same class; of the root where this process does not know the class."""
    kind = _error_classes().get(body["class"], PrismError)
    error = kind.__new__(kind)
    Exception.__init__(error, body["text"])
    vars(error).update(body["with"])
    return error


def tagged(value: Any) -> Any:
    """Return what JSON can hold in place of a value it cannot. Raises BadArgument for one that has no form."""
    kind = type(value)
    if kind not in _ENCODER_OF:
        _ENCODER_OF[kind] = _encoder(kind)
    return _ENCODER_OF[kind](value)


def _encoder(kind: type) -> Callable[[Any], Any]:
    if kind in _dataclasses().values():
        names = tuple(field.name for field in fields(kind))
        return lambda value: _tag(kind.__name__, [_held(getattr(value, name)) for name in names])
    for known, encode in _ENCODERS.items():
        if issubclass(kind, known):
            return encode
    if issubclass(kind, Mapping):
        return dict
    if issubclass(kind, (set, frozenset, Iterator)):
        return list
    raise unspeakable(f"a value of type {kind.__name__} has no form on the wire")


def unspeakable(why: str) -> BadArgument:
    """Return the error about something that has no form on the wire."""
    return BadArgument(
        f"the process that owns the store cannot be told this: {why}",
        rule="values are str, int, float, Decimal, bool, date, aware datetime, an RDF term or a list of them",
        mend="convert it, or open the store with exclusive=True",
    )


def _tag(kind: str, value: Any) -> dict[str, Any]:
    return {TAG: kind, "v": value}


def _held(value: Any) -> Any:
    """A mapping inside a dataclass may have terms as keys."""
    return _tag("map", list(value.items())) if isinstance(value, Mapping) else value


def _literal(value: Literal) -> dict[str, Any]:
    if value.direction is not None:
        return _term(value)
    if value.language is not None:
        return _tag("lit", [value.value, None, value.language])
    kind = value.datatype.value
    return _tag("lit", [value.value] if kind == _STRING else [value.value, kind])


def _literal_of(value: str, datatype: str | None = None, language: str | None = None) -> Literal:
    return Literal(value, datatype=NamedNode(datatype) if datatype else None, language=language)


def _term(value: Any) -> dict[str, Any]:
    return _tag("term", f"<urn:s> <urn:p> {value} .")


def _change(value: LoggedChange) -> dict[str, Any]:
    head = [value.number, value.recorded_at.micros, value.namespace, value.verb]
    return _tag("change", [*head, _nquads(value.adds), _nquads(value.removes)])


def _change_of(value: list[Any]) -> LoggedChange:
    number, micros, namespace, verb, adds, removes = value
    return LoggedChange(number, Instant(micros), namespace, verb, _quads(adds), _quads(removes))


def _nquads(quads: tuple[Quad, ...]) -> str:
    data = serialize(quads, format=RdfFormat.N_QUADS)
    assert data is not None
    return data.decode()


def _quads(text: str) -> tuple[Quad, ...]:
    return tuple(parse(text, format=RdfFormat.N_QUADS))


_ENCODERS: Mapping[type, Callable[[Any], Any]] = {
    NamedNode: lambda value: _tag("iri", value.value),
    Literal: _literal,
    Instant: lambda value: _tag("instant", value.micros),
    LoggedChange: _change,
    BlankNode: _term,
    Triple: lambda value: _tag("triple", [value.subject, value.predicate, value.object]),
    Quad: lambda value: _tag("quad", _nquads((value,))),
    DefaultGraph: lambda value: _tag("default graph", None),
    datetime: lambda value: _tag("datetime", value.isoformat()),
    date: lambda value: _tag("date", value.isoformat()),
    Decimal: lambda value: _tag("decimal", str(value)),
    bytes: lambda value: _tag("bytes", base64.b64encode(value).decode()),
}
_ENCODER_OF: dict[type, Callable[[Any], Any]] = {}  # filled as types are met
_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "iri": NamedNode,
    "lit": lambda value: _literal_of(*value),
    "instant": Instant,
    "change": _change_of,
    "term": lambda value: next(iter(parse(value, format=RdfFormat.N_TRIPLES))).object,
    "triple": lambda value: Triple(*value),
    "quad": lambda value: _quads(value)[0],
    "default graph": lambda value: DefaultGraph(),
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "decimal": Decimal,
    "bytes": base64.b64decode,
    "map": lambda value: {key: _tupled(held) for key, held in value},
    "tuple": tuple,
}


def untagged(found: dict[str, Any]) -> Any:
    """Return the value that ``tagged`` was given. Raises BadArgument for what it never wrote."""
    kind = found[TAG]
    decode = _DECODERS.get(kind)
    if decode is not None:
        return decode(found["v"])
    known = _dataclasses().get(kind)
    if known is None:
        raise BadArgument(
            f"a value of kind {kind!r} is not known here", rule=f"the name {TAG} is taken", mend="choose another name"
        )
    return known(*map(_tupled, found["v"]))


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


@cache
def _dataclasses() -> Mapping[str, type]:
    """The frozen values that travel between rooms travel between processes too."""
    found = [each for module in _SHARED for each in vars(module).values() if isinstance(each, type)]
    return {each.__name__: each for each in found if is_dataclass(each) and each is not Instant}


@cache
def _error_classes() -> Mapping[str, type[PrismError]]:
    found: dict[str, type[PrismError]] = {}
    waiting = [PrismError]
    while waiting:
        kind = waiting.pop()
        found[kind.__name__] = kind
        waiting += kind.__subclasses__()
    return found
