"""From the signature of a verb to what a request may say: its fields, their JSON schema, and what is read from them.

Nothing is converted in a body: a number is no text. In a URL everything is text, and read as what the verb takes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from math import isfinite
from typing import Annotated, Any, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema, create_model

from prism_rdf.clock import Instant, TimeInput
from prism_rdf.errors import BadArgument
from prism_rdf.model import Tier
from prism_rdf.statements import Props
from prism_rdf.values import Value

KEY = "idempotency_key"
_LARGEST = 2**63 - 1  # what the store holds as an integer


def _text(value: str) -> str:
    """Raise ValueError for what is no text: half a character, or the one that ends a text elsewhere."""
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise ValueError("a text has no lone surrogates and no NUL")
    return value


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool) or (isinstance(value, int) and -_LARGEST <= value <= _LARGEST):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    raise ValueError("a value is a text, a number (whole ones of 64 bits), true or false, or a list of these")


def _values(value: Any) -> Any:
    return [_scalar(each) for each in value] if isinstance(value, list) else _scalar(value)


def _known_at(value: Any) -> Any:
    """Return a commit number as one also where a URL has only digits."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        return int(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST:
        return value
    raise ValueError("a system time is a text, or the number of a commit")


_SCALAR = {"type": ["string", "boolean", "integer", "number"]}
_VALUES = [_SCALAR, {"type": "array", "items": _SCALAR}]

Text = Annotated[str, AfterValidator(_text)]
Whole = Annotated[int, Field(ge=-_LARGEST, le=_LARGEST)]
Number = Annotated[float, Field(allow_inf_nan=False)]
TierField = Annotated[int, Field(ge=1, le=3)]
One = Annotated[Any, AfterValidator(_scalar), WithJsonSchema(_SCALAR)]
Values = Annotated[Any, AfterValidator(_values), WithJsonSchema({"anyOf": _VALUES})]
ValuesOrNull = Annotated[
    Any,
    AfterValidator(lambda value: None if value is None else _values(value)),
    WithJsonSchema({"anyOf": [*_VALUES, {"type": "null"}]}),
]
Time = Annotated[
    Text,
    Field(description="ISO 8601: 2015, 2015-03, 2015-03-01, or an instant with its zone", examples=["2025-10-30"]),
]
KnownAt = Annotated[
    Any,
    AfterValidator(_known_at),
    WithJsonSchema(
        {
            "type": ["string", "integer"],
            "minimum": 0,
            "description": "a system time, or the number of a commit",
            "examples": ["2026-01", 12],
        }
    ),
]
Properties = Annotated[
    dict[Text, ValuesOrNull],
    Field(description="by name; a list for many values, null clears", examples=[{"status": "Accepted"}]),
]
Edits = dict[Text, ValuesOrNull]

_KINDS: Sequence[tuple[Any, Any]] = (
    (Tier, TierField),
    (TimeInput, Time),
    (TimeInput | int, KnownAt),
    (Instant, Time),
    (Props, Properties),
    (Value, One),
    (Value | Sequence[Value], Values),
    (Mapping[str, Any], Edits),
    (str | Mapping[str, str], Text | dict[Text, Text]),
    (Sequence[str], list[Text]),
    (Sequence[int], list[Whole]),
    (str, Text),
    (int, Whole),
    (float, Number),
    (bool, bool),
)


def kebab(name: str) -> str:
    """Return a name as it stands in a URL.

    >>> kebab("as_of")
    'as-of'
    """
    return name.replace("_", "-")


class NoForm(TypeError):
    """A parameter of a verb is of a type that has no form in JSON."""


class Body(BaseModel):
    """What all requests have in common: they say nothing that the verb does not take."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Asked(BaseModel):
    """The same of a URL, where everything is text."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, alias_generator=kebab)


def fields_of(verb: Callable[..., Any], without: frozenset[str] = frozenset()) -> dict[str, tuple[Any, Any]]:
    """Return the fields of the parameters of a verb: what each takes, and its default (``...``: none)."""
    hints = get_type_hints(verb)
    found: dict[str, tuple[Any, Any]] = {}
    for name, each in signature(verb).parameters.items():
        if name not in ("self", *without) and each.kind is not Parameter.VAR_KEYWORD:
            default = ... if each.default is Parameter.empty else each.default
            found[name] = (_kind(hints[name], name), list(default) if isinstance(default, tuple) else default)
    return found


def model(name: str, fields: Mapping[str, Any], *, in_url: bool) -> type[BaseModel]:
    """Return the model of the requests of a verb."""
    base: type[BaseModel] = Asked if in_url else Body
    return create_model(name, __base__=base, **dict(fields))


def read_body(of: type[BaseModel], body: bytes) -> dict[str, Any]:
    """Return the arguments that a JSON body says. Raises BadArgument naming the field."""
    try:
        given = json.loads(body.decode() or "{}", object_pairs_hook=_object, parse_constant=_no_number)
        if not isinstance(given, dict):
            raise ValueError("it is no object")
    except (ValueError, RecursionError) as error:
        raise BadArgument(
            f"the body is not JSON: {str(error)[:200]}",
            rule="a body is one JSON object, in UTF-8",
            mend="/openapi.json has the schema",
        ) from error
    try:
        return _said(of.model_validate(given))
    except ValidationError as error:
        raise _wrong(error, of, "field", "/openapi.json has the schema") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice in one object")
    return found


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


def read_url(of: type[BaseModel], given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the arguments that the parameters of a URL say; an empty one says nothing. Raises BadArgument."""
    many = {each.alias for each in of.model_fields.values() if "list" in str(each.annotation)}
    values: dict[str, Any] = {}
    for name, texts in given.items():
        said = [text for text in texts if text.strip()]
        if name in many:
            values[name] = said
        elif len(texts) > 1:
            raise BadArgument(f"parameter {name} is given {len(texts)} times", rule="it is given once", mend="drop one")
        elif said:
            values[name] = said[0]
    try:
        return _said(of.model_validate(values))
    except ValidationError as error:
        raise _wrong(error, of, "parameter", "/openapi.json has the schema") from error


def _said(found: BaseModel) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found.model_fields_set}


def _wrong(error: ValidationError, of: type[BaseModel], what: str, mend: str) -> BadArgument:
    found = error.errors(include_url=False)
    first = next((each for each in found if each["type"] == "extra_forbidden"), found[0])
    where = ".".join(str(part) for part in first["loc"] if not str(part).endswith("]"))
    known = ", ".join(each.alias or name for name, each in of.model_fields.items())
    if first["type"] == "extra_forbidden":
        return BadArgument(f"there is no {what} {where[:100]!r}", rule=f"{what}s are {known or 'none'}", mend=mend)
    if first["type"] == "missing":
        return BadArgument(f"{what} {where} is missing", rule=f"{what}s are {known}", mend=mend)
    message = str(first["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    return BadArgument(f"{what} {where}: {message}" if where else message, rule=f"{what}s are {known}", mend=mend)


def _kind(annotation: Any, name: str) -> Any:
    """Return what a parameter takes in JSON."""
    for known, kind in _KINDS:
        if annotation == known:
            return kind
        if annotation == known | None:
            return kind | None
    if str(annotation).startswith(("typing.Literal", "typing.Optional[typing.Literal")):
        return annotation
    raise NoForm(f"the parameter {name} is of type {annotation}")
