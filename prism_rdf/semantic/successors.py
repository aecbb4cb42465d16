"""What supersedes what never leads back: all that holds at one time is in an order; other kinds may go in circles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from prism_rdf.clock import Instant
from prism_rdf.model import Reference
from prism_rdf.namespaces import prism

SUPERSEDES = prism("SUPERSEDES")
Span = tuple[Instant | None, Instant | None]
Node = TypeVar("Node")


def way_back(
    source: Node, target: Node, span: Span, superseded_by: Callable[[Node], Iterable[tuple[Node, Span]]]
) -> tuple[Node, ...]:
    """Return the way from ``target`` to ``source``, both included, by steps that all hold at one time in ``span``.

    ``superseded_by(x)`` gives what x supersedes, and when. Empty when there is none.
    """
    waiting: list[tuple[tuple[Node, ...], Span]] = [((target,), span)]
    seen = {(target, span)}
    while waiting:
        way, over = waiting.pop(0)
        if way[-1] == source:
            return way
        for following, held in superseded_by(way[-1]):
            common = _common(over, held)
            if common is not None and (following, common) not in seen:
                seen.add((following, common))
                waiting.append(((*way, following), common))
    return ()


def _common(one: Span, other: Span) -> Span | None:
    """Return the time that two intervals share; None when it is none."""
    start = max((edge for edge in (one[0], other[0]) if edge is not None), default=None)
    until = min((edge for edge in (one[1], other[1]) if edge is not None), default=None)
    return None if start is not None and until is not None and until <= start else (start, until)


def in_order(references: Sequence[Reference]) -> tuple[list[Reference], list[Reference]]:
    """Return the references without those that would close a circle with the ones before them, and these.

    >>> first, second = Reference("a", "b", SUPERSEDES), Reference("b", "a", SUPERSEDES)
    >>> in_order([first, second]) == ([first], [second])
    True
    """
    known: dict[str, list[tuple[str, Span]]] = defaultdict(list)
    kept, left_out = list[Reference](), list[Reference]()
    for reference in references:
        span = reference.start, reference.until
        if reference.kind == SUPERSEDES:
            if way_back(reference.source, reference.target, span, lambda uuid: known[uuid]):
                left_out.append(reference)
                continue
            known[reference.source].append((reference.target, span))
        kept.append(reference)
    return kept, left_out
