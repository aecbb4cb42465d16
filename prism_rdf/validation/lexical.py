"""The values of lexical forms, by datatype, as far as a verdict hangs on them; no term of any library is made here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from prism_rdf.namespaces import XSD

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|-?INF|NaN")
_DATE = re.compile(r"(-?[0-9]{4,})-([0-9]{2})-([0-9]{2})(Z|[+-][0-9]{2}:[0-9]{2})?")
_INSTANT = re.compile(
    r"-?([0-9]{4,})-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@lru_cache(maxsize=8192)  # what a store is fullest of, and most instants stand in it several times
def _instant(text: str) -> datetime:
    """Return EARLIEST or LATEST for the years that Python does not know: whoever asks wants to know the type."""
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    if text[0] == "-" or match[1] == "0000":
        return EARLIEST
    if len(match[1]) > 4:
        return LATEST
    return datetime.fromisoformat(text)


def _date(text: str) -> date:
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError(text)
    year = int(match[1])
    if 1 <= year <= 9999:
        return date(year, int(match[2]), int(match[3]))
    return date.min if year < 1 else date.max


class _NotANumber(float):
    """NaN, which is neither less nor greater. A decimal that meets it raises what pySHACL does not expect."""

    def _compare(self, other: object) -> bool:
        raise TypeError("NaN compares with nothing")

    __lt__ = __le__ = __gt__ = __ge__ = _compare


def _double(text: str) -> float:
    return _NotANumber(text) if text == "NaN" else float(text)


def _matched(pattern: re.Pattern[str], make: Callable[[str], Any]) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        if pattern.fullmatch(text) is None:
            raise ValueError(text)
        return make(text)

    return convert


def _boolean(text: str) -> bool:
    if text not in _BOOLEANS:
        raise ValueError(text)
    return _BOOLEANS[text]


# Each raises ValueError for a form that its datatype does not allow.
VALUES: Mapping[str, Callable[[str], Any]] = {
    XSD + "dateTime": _instant,
    XSD + "date": _date,
    XSD + "integer": _matched(_INTEGER, int),
    XSD + "decimal": _matched(_DECIMAL, Decimal),
    XSD + "double": _matched(_DOUBLE, _double),
    XSD + "float": _matched(_DOUBLE, _double),
    XSD + "boolean": _boolean,
}
