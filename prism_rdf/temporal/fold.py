"""The fold: from believed assertions to the pieces of an entity's history; pure, and blind to the order of arrival.

At an instant t a property of which values are only set has the value of the covering assertion with the greatest rank
(correction level, from, source sequence, content hash); one to which values were added holds each value whose best
covering operation is an ``add`` that outranks every covering ``clear``, and a ``set`` is a clear and an add in one.
When a bounded assertion ends, what still covers t shows again. So what was said keeps its meaning when a type changes
how many values a property has.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from pyoxigraph import NamedNode

from prism_rdf.clock import Instant
from prism_rdf.model import RETIRED, Op
from prism_rdf.values import Term

Edge = float  # microseconds, or -inf / inf for unknown start and open end
Rank = tuple[int, Edge, int, str, int, str]
_KINDS = {"clear": 0, "remove": 1}  # of one event's own operations an add is the last


@dataclass(frozen=True)
class Stated:
    """A believed assertion with all that ranks it; covers [start, until) in microseconds. ``node`` is its IRI."""

    event: str
    prop: NamedNode
    value: Term | None
    op: Op
    start: Edge
    until: Edge
    level: int = 0
    sequence: int = 0
    node: str = ""

    @cached_property
    def rank(self) -> Rank:
        return (self.level, self.start, self.sequence, self.event, _KINDS.get(self.op, 2), str(self.value))


@dataclass(frozen=True)
class Segment:
    """What one property held over [start, until): the values, and the events that made it so at ``start``."""

    start: Edge
    until: Edge
    values: tuple[Term, ...]
    causes: tuple[str, ...]
    setters: tuple[str, ...]


@dataclass(frozen=True)
class Piece:
    """One stretch of an entity's history; ``void`` when nothing is asserted there or the entity is retired.

    ``setters`` says, for each property, which events set the values that hold.
    """

    start: Edge
    until: Edge
    props: Mapping[NamedNode, tuple[Term, ...]]
    causes: tuple[str, ...]
    setters: Mapping[NamedNode, tuple[str, ...]]
    void: bool


def edge(instant: Instant | None, unknown: Edge) -> Edge:
    return unknown if instant is None else instant.micros


def instant(at: Edge) -> Instant | None:
    return None if at in (inf, -inf) else Instant(int(at))


def fold(stated: Iterable[Stated], since: Edge = -inf) -> tuple[Piece, ...]:
    """Return the history of one entity: pieces in order, without gaps, none of zero length.

    Neighbours that hold the same values are one piece. The last piece is open. Before the first assertion there is
    none. With ``since`` only what holds from then on is returned, and the first piece begins there; it is right when
    ``stated`` holds all that can matter from then on.
    """
    by_property: defaultdict[NamedNode, list[Stated]] = defaultdict(list)
    for assertion in stated:
        if assertion.start < assertion.until:
            by_property[assertion.prop].append(assertion)
    segments = {
        prop: (_multi_segments if any(map(_counts_values, assertions)) else _single_segments)(assertions)
        for prop, assertions in by_property.items()
    }
    pieces = _merge(segments)
    if since != -inf:
        return _since(pieces, since)
    first = next((index for index, piece in enumerate(pieces) if not piece.void), len(pieces))
    return pieces[first:]


def _counts_values(stated: Stated) -> bool:
    """Return whether an assertion is about one value among others."""
    return stated.op in ("add", "remove")


def _since(pieces: tuple[Piece, ...], since: Edge) -> tuple[Piece, ...]:
    """Cut off what ended by ``since``; where nothing is stated from there on, there is a void."""
    kept = [replace(piece, start=max(piece.start, since)) for piece in pieces if piece.until > since]
    if kept and kept[0].start == since:
        return tuple(kept)
    if kept and kept[0].void:
        return (replace(kept[0], start=since), *kept[1:])
    return (Piece(since, kept[0].start if kept else inf, {}, (), {}, True), *kept)


def _boundaries(assertions: Iterable[Stated]) -> list[Edge]:
    return sorted({a.start for a in assertions} | {a.until for a in assertions if a.until != inf})


def _single_segments(assertions: list[Stated]) -> list[Segment]:
    waiting = sorted(assertions, key=lambda a: a.start)
    active: list[_Active] = []
    segments: list[Segment] = []
    held: Stated | None = None
    position = 0
    edges = _boundaries(assertions)
    for index, at in enumerate(edges):
        while position < len(waiting) and waiting[position].start <= at:
            heapq.heappush(active, _Active(waiting[position]))
            position += 1
        while active and active[0].stated.until <= at:
            heapq.heappop(active)
        winner = active[0].stated if active else None
        until = edges[index + 1] if index + 1 < len(edges) else inf
        revealed = winner is None or winner.start < at
        cause = held if revealed and held is not None and held is not winner else winner
        values = () if winner is None or winner.value is None or winner.op == "clear" else (winner.value,)
        setters = (winner.event,) if winner is not None else ()
        segments.append(Segment(at, until, values, (cause.event,) if cause is not None else (), setters))
        held = winner
    return segments


class _Active:
    """An assertion in a heap, which gives its least, that is to give the greatest rank."""

    __slots__ = ("stated",)

    def __init__(self, stated: Stated) -> None:
        self.stated = stated

    def __lt__(self, other: _Active) -> bool:
        return self.stated.rank > other.stated.rank


def _multi_segments(assertions: list[Stated]) -> list[Segment]:
    edges = _boundaries(assertions)
    starting: defaultdict[Edge, list[Stated]] = defaultdict(list)
    for assertion in assertions:
        starting[assertion.start].append(assertion)
    active: list[Stated] = []
    segments: list[Segment] = []
    before: dict[Term, Stated] = {}
    cleared_before: Stated | None = None
    for index, at in enumerate(edges):
        active = _undominated([a for a in active if a.until > at] + starting[at])
        until = edges[index + 1] if index + 1 < len(edges) else inf
        best, cleared = _deciding(active)
        holding, held = _holding(best, cleared), _holding(before, cleared_before)
        deciding = (
            (_outranking(before.get(value), cleared_before), _outranking(best.get(value), cleared))
            for value in holding.keys() ^ held.keys()
        )
        causes = tuple(sorted({_cause(was, now, at) for was, now in deciding}))
        setters = tuple(sorted({a.event for a in holding.values()}))
        segments.append(Segment(at, until, tuple(sorted(holding, key=str)), causes, setters))
        before, cleared_before = best, cleared
    return segments


def _cause(was: Stated | None, now: Stated | None, at: Edge) -> str:
    """Return the event that changed a value at ``at``: what began there, else what ended there and shows the rest."""
    new = now is not None and (now.start == at or was is None)
    cause = now if new else was
    assert cause is not None
    return cause.event


def _undominated(active: list[Stated]) -> list[Stated]:
    """Drop what an open-ended clear outranks for good: it can never show again."""
    floor = max((a.rank for a in active if not _counts_values(a) and a.until == inf), default=None)
    return active if floor is None else [a for a in active if a.rank >= floor]


def _deciding(active: Iterable[Stated]) -> tuple[dict[Term, Stated], Stated | None]:
    """Return what of it decides each value that it names, and the clear that decides all others."""
    best: dict[Term, Stated] = {}
    cleared: Stated | None = None
    for assertion in active:
        if not _counts_values(assertion):
            cleared = _outranking(assertion, cleared)
        if assertion.value is None:
            continue
        if assertion.value not in best or assertion.rank > best[assertion.value].rank:
            best[assertion.value] = assertion
    return best, cleared


def _outranking(one: Stated | None, other: Stated | None) -> Stated | None:
    if one is None or other is None:
        return one or other
    return one if one.rank > other.rank else other


def _holding(best: Mapping[Term, Stated], cleared: Stated | None) -> dict[Term, Stated]:
    return {
        value: assertion
        for value, assertion in best.items()
        if assertion.op in ("add", "set") and (cleared is None or assertion.rank >= cleared.rank)
    }


def _merge(segments: Mapping[NamedNode, list[Segment]]) -> tuple[Piece, ...]:
    edges = sorted({segment.start for run in segments.values() for segment in run})
    cursor = dict.fromkeys(segments, -1)
    pieces: list[Piece] = []
    for index, at in enumerate(edges):
        until = edges[index + 1] if index + 1 < len(edges) else inf
        starting: dict[NamedNode, Segment] = {}
        for prop, run in segments.items():
            if cursor[prop] + 1 < len(run) and run[cursor[prop] + 1].start == at:
                cursor[prop] += 1
                starting[prop] = run[cursor[prop]]
        holding = {prop: run[cursor[prop]] for prop, run in segments.items() if cursor[prop] >= 0}
        _append(pieces, _piece(at, until, holding, starting, pieces[-1] if pieces else None))
    return tuple(pieces)


def _piece(
    at: Edge,
    until: Edge,
    holding: Mapping[NamedNode, Segment],
    starting: Mapping[NamedNode, Segment],
    before: Piece | None,
) -> Piece:
    retired = holding.get(RETIRED)
    props = {prop: s.values for prop, s in holding.items() if s.values and prop != RETIRED}
    void = not props or (retired is not None and bool(retired.values) and _is_true(retired.values[0]))
    if void:
        props = {}
    was = before.props if before is not None else {}
    changed = {prop for prop in starting if props.get(prop) != was.get(prop)}
    if RETIRED in starting and before is not None and before.void != void:
        changed = {RETIRED}
    causes = sorted({event for prop in changed or starting for event in starting[prop].causes})
    setters = {prop: holding[prop].setters for prop in props}
    return Piece(at, until, props, tuple(causes), setters, void)


def _is_true(term: Term) -> bool:
    return term.value in ("true", "1")


def _append(pieces: list[Piece], piece: Piece) -> None:
    """Add a piece, or lengthen the last one when it holds the same."""
    last = pieces[-1] if pieces else None
    if last is not None and last.void == piece.void and last.props == piece.props:
        pieces[-1] = Piece(last.start, piece.until, last.props, last.causes, last.setters, last.void)
    else:
        pieces.append(piece)
