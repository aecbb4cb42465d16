"""What supersedes what never leads back: all that holds at one time is in an order; other kinds may go in circles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
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


class InOrder:
    """Takes references as they come and leaves out those that would close a circle with what was taken before.

    A reference may come again with an end, as one that was left out may.

    >>> order, back = InOrder(), Reference("b", "a", SUPERSEDES)
    >>> [taken.source for taken in order.take([Reference("a", "b", SUPERSEDES), back])], order.left_out == (back,)
    (['a'], True)
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[tuple[str, Instant | None], Instant | None]] = defaultdict(dict)
        self._left_out: dict[tuple[str, str, Instant | None], Reference] = {}

    @property
    def left_out(self) -> tuple[Reference, ...]:
        """Return what was left out, each once, in the order in which it came."""
        return tuple(self._left_out.values())

    def take(self, references: Iterable[Reference]) -> list[Reference]:
        """Return those of the references that are taken."""
        return [reference for reference in references if reference.kind != SUPERSEDES or self._fits(reference)]

    def _fits(self, reference: Reference) -> bool:
        source, target, start, until = reference.source, reference.target, reference.start, reference.until
        if (source, target, start) in self._left_out:
            return False
        if way_back(source, target, (start, until), self._superseded_by):
            self._left_out[source, target, start] = reference
            return False
        self._known[source][target, start] = until
        return True

    def _superseded_by(self, source: str) -> Iterator[tuple[str, Span]]:
        for (target, start), until in self._known[source].items():
            yield target, (start, until)
