"""Instants, partial dates and the system clock: the only place where time is parsed or formatted.

An instant is a whole number of microseconds, so years before 1 and after 9999 are ordinary data.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Literal, Protocol

from prism_rdf.errors import BadTime

Precision = Literal["instant", "day", "month", "year"]

_MICROS_PER_DAY = 86_400_000_000
_ERA_DAYS = 146_097  # days in 400 Gregorian years
_EPOCH_SHIFT = 719_468  # days from 0000-03-01 to 1970-01-01
_MAX_YEAR = 9_999
_MIN_YEAR = -9_999

_DATETIME = re.compile(
    r"(-?\d{4,})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|z|[+-]\d{2}:?\d{2})?"
)
_PARTIAL = re.compile(r"(-?\d{4,})(?:-(\d{2})(?:-(\d{2}))?)?")


def _days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar (H. Hinnant, chrono-compatible date algorithms)."""
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * _ERA_DAYS + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - _EPOCH_SHIFT


def _civil_from_days(days: int) -> tuple[int, int, int]:
    era, day_of_era = divmod(days + _EPOCH_SHIFT, _ERA_DAYS)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return era * 400 + year_of_era + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def _month_length(year: int, month: int) -> int:
    following = (year + 1, 1) if month == 12 else (year, month + 1)
    return _days_from_civil(*following, 1) - _days_from_civil(year, month, 1)


@dataclass(frozen=True, order=True)
class Instant:
    """A point on the UTC time line: ``micros`` since 1970-01-01T00:00:00Z, negative before.

    >>> Instant.parse("2025-10-30T02:00:00+02:00").iso()
    '2025-10-30T00:00:00Z'
    """

    micros: int

    @classmethod
    def of(cls, moment: datetime) -> Instant:
        """Return the instant of an aware datetime; raise BadTime on a naive one."""
        if moment.tzinfo is None:
            raise _naive(moment.isoformat())
        delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
        return cls((delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds)

    @classmethod
    def parse(cls, text: str) -> Instant:
        """Return the instant of an ISO 8601 date and time with a zone; raise BadTime otherwise."""
        return _parsed(text)

    @classmethod
    def _read(cls, text: str) -> Instant:
        match = _DATETIME.fullmatch(text.strip())
        if match is None:
            raise _unparsable(text)
        year, month, day, hour, minute = (int(match[i]) for i in range(1, 6))
        second = int(match[6] or 0)
        fraction = int((match[7] or "0").ljust(6, "0")[:6])
        if match[8] is None:
            raise _naive(text)
        _check_date(text, year, month, day)
        if hour > 24 or minute > 59 or second > 59 or (hour == 24 and (minute or second or fraction)):
            raise _unparsable(text)
        offset = 0
        if match[8] not in "Zz":
            sign = -1 if match[8][0] == "-" else 1
            offset = sign * (int(match[8][1:3]) * 60 + int(match[8][-2:]))
        seconds = _days_from_civil(year, month, day) * 86_400 + hour * 3600 + (minute - offset) * 60 + second
        return cls(seconds * 1_000_000 + fraction)

    def iso(self) -> str:
        """Return the canonical xsd:dateTime in Z, microseconds only where there are any."""
        return _formatted(self.micros)

    def _written(self) -> str:
        days, rest = divmod(self.micros, _MICROS_PER_DAY)
        year, month, day = _civil_from_days(days)
        seconds, micros = divmod(rest, 1_000_000)
        fraction = f".{micros:06d}".rstrip("0") if micros else ""
        sign = "-" if year < 0 else ""
        return (
            f"{sign}{abs(year):04d}-{month:02d}-{day:02d}T"
            f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}Z"
        )

    def as_datetime(self) -> datetime:
        """Return an aware UTC datetime; raise BadTime outside of years 1 to 9999."""
        try:
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=self.micros)
        except OverflowError as error:
            raise BadTime(
                f"{self.iso()} does not fit a Python datetime",
                rule="datetime holds years 1 to 9999",
                mend="use the ISO text instead",
            ) from error

    def plus(self, *, micros: int = 0, days: int = 0) -> Instant:
        return Instant(self.micros + micros + days * _MICROS_PER_DAY)

    def __str__(self) -> str:
        return self.iso()


@lru_cache(maxsize=65_536)
def _parsed(text: str) -> Instant:
    """The store gives the same few instants back again and again."""
    return Instant._read(text)


@lru_cache(maxsize=65_536)
def _formatted(micros: int) -> str:
    return Instant(micros)._written()


TimeInput = Instant | datetime | date | str


@dataclass(frozen=True)
class Edge:
    """One end of an interval as it was given: the instant it means, and how precisely it was said."""

    instant: Instant
    precision: Precision = "instant"


def start_of(value: TimeInput) -> Edge:
    """Return the first instant of what was said: 2015 is 2015-01-01T00:00:00Z. Raises BadTime."""
    return _edge(value, end=False)


def end_of(value: TimeInput) -> Edge:
    """Return the first instant *after* what was said (intervals are half-open): 2015 is 2016-01-01T00:00:00Z."""
    return _edge(value, end=True)


def as_of_instant(value: TimeInput) -> Instant:
    """Return the instant to look at: of a day, month or year its last microsecond.

    >>> as_of_instant("2025-10-30").iso()
    '2025-10-30T23:59:59.999999Z'
    """
    if isinstance(value, Instant):
        return value
    edge = _edge(value, end=True)
    return edge.instant if edge.precision == "instant" else edge.instant.plus(micros=-1)


def _edge(value: TimeInput, *, end: bool) -> Edge:
    if isinstance(value, Instant):
        return Edge(value)
    if isinstance(value, datetime):
        return Edge(Instant.of(value))
    text = value.isoformat() if isinstance(value, date) else value.strip()
    match = _PARTIAL.fullmatch(text)
    if match is None:
        return Edge(Instant.parse(text))
    year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
    _check_date(text, year, month, day)
    precision: Precision = "day" if match[3] else "month" if match[2] else "year"
    days = _days_from_civil(year, month, day)
    if end:
        following = {
            "day": days + 1,
            "month": days + _month_length(year, month),
            "year": _days_from_civil(year + 1, 1, 1),
        }
        days = following[precision]
    return Edge(Instant(days * _MICROS_PER_DAY), precision)


def _check_date(text: str, year: int, month: int, day: int) -> None:
    if not _MIN_YEAR <= year <= _MAX_YEAR:
        raise BadTime(
            f"the year of {text!r} is out of range",
            rule=f"years run from {_MIN_YEAR} to {_MAX_YEAR}",
            mend="check for a slip of the finger, such as one digit too many",
        )
    if not 1 <= month <= 12 or not 1 <= day <= _month_length(year, month):
        raise _unparsable(text)


def _naive(text: str) -> BadTime:
    return BadTime(
        f"time {text!r} has no zone",
        rule="all instants are UTC; a naive time could mean any of 38 instants",
        mend="add Z or an offset such as +02:00, or give a date alone",
    )


def _unparsable(text: str) -> BadTime:
    return BadTime(
        f"cannot read {text!r} as a time",
        rule="a time is ISO 8601: 2015, 2015-03, 2015-03-01 or 2015-03-01T12:00:00Z",
        mend="write it in one of these forms",
    )


class Clock(Protocol):
    """Where the store takes system time from; tests own theirs."""

    def now(self) -> Instant: ...


class SystemClock:
    """The machine's clock, strictly increasing within a process: max(now, last + 1 µs)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def now(self) -> Instant:
        with self._lock:
            self._last = max(time.time_ns() // 1000, self._last + 1)
            return Instant(self._last)


class ManualClock:
    """A clock for tests: starts where told and advances a microsecond at each reading, or as told."""

    def __init__(self, start: Instant) -> None:
        self._now = start

    def now(self) -> Instant:
        self._now = self._now.plus(micros=1)
        return self._now

    def advance(self, *, days: int = 0, micros: int = 0) -> None:
        self._now = self._now.plus(days=days, micros=micros)
