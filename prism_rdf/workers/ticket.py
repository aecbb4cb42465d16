"""One query on its way: who asked it and when, how far it is, what ended it; the worker that has it may be killed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from prism_rdf.clock import SystemClock
from prism_rdf.errors import PrismError, QueryStopped, QueryTimeout, QueryTooLarge
from prism_rdf.workers.asking import Client
from prism_rdf.workers.process import Ended, WorkerProcess

_LOOK = 0.2  # seconds between two looks whether somebody still waits
_SLOWEST_READER = 60.0  # seconds in which a reader takes the next piece


@dataclass(frozen=True)
class Question:
    """A query, the engine's options as JSON has them, where the store counts its commits, and what it is asked of.

    ``ahead``: a write waits for its answer, and other writes for that one; so it waits for no turn, and is not cut.
    ``services`` are the other servers that it asks.
    """

    text: str
    options: Mapping[str, Any]
    counter: tuple[str, str, str]
    dataset: str
    as_of: str | None = None
    ahead: bool = False
    services: tuple[str, ...] = ()


@dataclass(eq=False)
class Ticket:
    """A query that waits, runs or is being sent."""

    id: str
    question: Question
    client: Client
    limit: float  # seconds
    began: float = field(default_factory=time.monotonic)
    began_at: str = field(default_factory=lambda: SystemClock().now().iso())
    state: Literal["waiting", "running", "sending"] = "waiting"
    worker: WorkerProcess | None = None
    found: bool = False  # whether its answer was handed over, to be read
    hearing: bool = False  # whether somebody waits for what the worker says next
    left: float = 0.0  # monotonic time at which a reader was given the last piece; 0 while the query works
    paused: float = 0.0  # seconds in which it waited for its reader
    rows: int | None = None
    size: int = 0  # bytes
    ended: PrismError | None = None

    @property
    def seconds(self) -> float:
        """Return for how long it has been asked, without the time that its reader took."""
        return time.monotonic() - self.began - self.paused

    def hear(self) -> dict[str, Any] | bytes:
        """Return what the worker says next; what ends the query is raised."""
        worker = self.worker
        if worker is None:  # it was taken from a reader that slept
            assert self.ended is not None
            raise self.ended
        self.hearing = True
        try:
            while not worker.hears(min(_LOOK, max(0.0, self.limit - self.seconds))):
                self.check()
            return worker.receive()
        except Ended:
            raise self.ended or worker.why_it_died() from None
        finally:
            self.hearing = False

    def check(self) -> None:
        """Raise what ends the query: it was stopped, nobody waits any more, its time is over."""
        if self.ended is None and self.client.gone():
            self.ended = stopped("who asked it has gone")
        if self.ended is None and self.seconds >= self.limit:
            self.ended = timeout(self.limit)
        if self.ended is not None:
            if self.worker is not None:
                self.worker.kill()
            raise self.ended

    def stop(self, why: PrismError) -> None:
        """End the query from outside: whoever waits for it is told why."""
        self.ended = self.ended or why
        if self.worker is not None:
            self.worker.kill()

    def reader_sleeps(self) -> bool:
        """Return whether what was found waits for a reader that takes nothing any more."""
        return self.left > 0 and time.monotonic() - self.left > _SLOWEST_READER

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "state": self.state,
            "seconds": round(self.seconds, 3),
            "began_at": self.began_at,
            "who": self.client.who,
            "dataset": self.question.dataset,
            "as_of": self.question.as_of,
            "query": self.question.text,
        }


def stopped(why: str) -> QueryStopped:
    return QueryStopped(
        f"the query was stopped: {why}",
        rule="a query may be stopped at any moment; it only reads, so nothing is lost",
        mend="ask it again",
    )


def timeout(limit: float) -> QueryTimeout:
    return QueryTimeout(
        f"the query took longer than {limit:g} s, and was stopped",
        rule="a query may take so long, waiting included",
        mend="ask for less, or allow more with a longer timeout",
    )


def too_large(size: int) -> QueryTooLarge:
    return QueryTooLarge(
        f"the answer is larger than {size >> 20} MiB, and was stopped",
        rule="an answer may be so large",
        mend="ask for less: LIMIT and OFFSET, fewer columns, a sum in place of rows",
    )
