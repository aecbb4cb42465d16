"""The naive model of history: at each instant ask every assertion; slow, obvious, shares no code with the engine."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

SECOND = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ERA = 146_097 * 86_400 * SECOND  # 400 years, after which the calendar repeats


def micros(year, month=1, day=1):
    """Days are counted by Python's calendar, moved by whole eras for the years that it lacks."""
    eras = (year - 2000) // 400
    return (datetime(year - 400 * eras, month, day, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1) + eras * _ERA


def iso(at):
    """Return the canonical xsd:dateTime; None at either infinity."""
    if abs(at) == inf:
        return None
    eras, rest = divmod(int(at) - micros(2000), _ERA)
    moment = _EPOCH + timedelta(microseconds=rest + micros(2000))
    year = moment.year + 400 * eras
    fraction = f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else ""
    return f"{'-' if year < 0 else ''}{abs(year):04d}-{moment:%m-%dT%H:%M:%S}{fraction}Z"


class Moment(NamedTuple):
    """A time as a caller gives it, its first instant, the first one after it, and its precision."""

    given: Any
    first: int
    after: int
    precision: str = "instant"


@dataclass(frozen=True)
class Said:
    event: str
    prop: str
    value: str | None
    op: str
    start: float
    until: float
    level: int = 0
    sequence: int = 0

    def rank(self):
        kind = {"clear": 0, "remove": 1}.get(self.op, 2)
        return (self.level, self.start, self.sequence, self.event, kind, str(self.value))


def at(said, when, multi, retired="retired"):
    """Return {prop: set of values} at ``when``; None where there is nothing."""
    covering = [a for a in said if a.start <= when < a.until]
    held: dict[str, set[str]] = {}
    for prop in {a.prop for a in covering}:
        mine = [a for a in covering if a.prop == prop]
        if prop in multi:
            cleared = max((a.rank() for a in mine if a.op in ("clear", "set")), default=None)
            values = set()
            for value in {a.value for a in mine if a.op != "clear"}:
                best = max((a for a in mine if a.value == value and a.op != "clear"), key=Said.rank)
                if best.op != "remove" and (cleared is None or best.rank() >= cleared):
                    values.add(value)
        else:
            best = max(mine, key=Said.rank)
            values = set() if best.op == "clear" else {best.value}
        if values:
            held[prop] = values
    if held.pop(retired, None) == {"true"}:
        return None
    return held or None


def history(said, multi):
    """Return [(start, until, held)], oldest first, each as long as nothing changes; left out where there is nothing."""
    edges = sorted({edge for a in said for edge in (a.start, a.until) if a.start < a.until} | {inf})
    told = []
    for start, until in pairwise(edges):
        held = at(said, start, multi)
        if told and told[-1][2] == held:
            told[-1] = (told[-1][0], until, held)
        else:
            told.append((start, until, held))
    return [each for each in told if each[2] is not None]


@dataclass(frozen=True)
class Happened:
    """An event as it was recorded; ``commit`` is the one since which it is believed."""

    entity: str
    kind: str
    start: float
    precision: str
    said: tuple[Said, ...]
    source: str
    commit: int
    drift: bool | None = None


@dataclass(frozen=True)
class Span:
    """An alias or a reference of ``entity``; ``ends`` tells (commit, end) for each end ever given, oldest first."""

    entity: str
    name: tuple[str, str, str]
    start: float
    ends: tuple[tuple[int, float], ...]

    @property
    def until(self):
        return self.ends[-1][1]


class Version(NamedTuple):
    """What a draft said over [start, until); ``commit`` is the one that recorded it."""

    start: float
    until: float
    commit: int
    props: dict[str, set[str]]


@dataclass(frozen=True)
class Draft:
    """A thread of work in progress, the newest version last: each holds from its touch until the next one."""

    entity: str
    touched: float
    versions: tuple[Version, ...]
    closed: bool = False

    def cut(self, when):
        """Return the versions as far as they lie before ``when``."""
        return tuple(v._replace(until=min(v.until, when)) for v in self.versions if v.start < when)

    def touch(self, when, commit, props):
        last = self.versions[-1] if self.versions else None
        if last is not None and (last.start, last.props) == (when, props):
            return replace(self, touched=when)
        return replace(self, touched=when, versions=(*self.cut(when), Version(when, inf, commit, props)))

    def close(self, when):
        return replace(self, versions=self.cut(when), closed=True)


@dataclass(frozen=True)
class Beliefs:
    """All that is believed at one time; a question about a system time is asked of the beliefs of that time."""

    events: dict[str, Happened] = field(default_factory=dict)
    spans: dict[tuple, Span] = field(default_factory=dict)
    drafts: dict[str, Draft] = field(default_factory=dict)

    def having(self, layer, key, value):
        """Return the beliefs with one more or another thing; with None, without it."""
        items = {**getattr(self, layer), key: value}
        return replace(self, **{layer: {k: v for k, v in items.items() if v is not None}})

    def said(self, entity):
        return [said for event in self.events.values() if event.entity == entity for said in event.said]

    def sealed(self, entity, when, multi):
        return at(self.said(entity), when, multi)

    def state(self, entity, when, multi, prefer_wip):
        """Return what held; a draft lies over the sealed state in which its version was begun."""
        versions = [v for draft in self.drafts.values() if draft.entity == entity for v in draft.versions]
        drafts = [v for v in versions if v.start <= when < v.until]
        if not drafts or not prefer_wip:
            return self.sealed(entity, when, multi)
        draft = max(drafts, key=lambda version: (version.start, version.commit))
        return {**(self.sealed(entity, draft.start, multi) or {}), **draft.props}

    def labels(self, entity, when):
        """Return the other names of an entity as (predicate, name): those that hold, and those that are over."""
        spans = [s for s in self.spans.values() if s.entity == entity and s.name[0] == "alias" and s.start <= when]
        return {("altLabel" if when < s.until else "hiddenLabel", s.name[1]) for s in spans}

    def links(self, entity, when):
        spans = [s for s in self.spans.values() if s.entity == entity and s.name[0] == "reference"]
        return {s.name[1:3] for s in spans if s.start <= when < s.until}

    def world(self, entities, when, multi):
        """Return every (entity, predicate, value) that holds."""
        triples = set()
        for entity in entities:
            held = self.sealed(entity, when, multi)
            if held is not None:
                pairs = {(prop, value) for prop, values in held.items() for value in values}
                triples |= {(entity, *p) for p in pairs | self.labels(entity, when) | self.links(entity, when)}
        return triples

    def without(self, commit, now):
        """Return the beliefs once commit number ``now`` has reverted ``commit``.

        The events that it recorded go, as do the spans that it began; a span to which it gave the last word about the
        end has the end from before it.
        """
        events = {k: e for k, e in self.events.items() if e.commit != commit}
        spans = {k: s for k, s in self.spans.items() if s.ends[0][0] != commit}
        for key, span in spans.items():
            if span.ends[-1][0] == commit:
                spans[key] = replace(span, ends=(*span.ends, (now, span.ends[-2][1])))
        return replace(self, events=events, spans=spans)


def keeps(said, prop, multi):
    """Return whether a property that never changes keeps its one value through all of the history."""
    states = [held for _, _, held in history(said, multi)]
    values = [held.get(prop) for held in states]
    while values and values[0] is None:
        values.pop(0)
    return len({frozenset(value or ()) for value in values}) <= 1
