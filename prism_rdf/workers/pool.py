"""The pool of workers: as many queries as may run at once, and those that wait; how an answer is read is not here."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prism_rdf.config import Limits
from prism_rdf.errors import (
    BadArgument,
    BusyError,
    PrismError,
    RefusedError,
    ServiceFailed,
    StorageFailed,
    TooManyQueries,
)
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.folder import remove
from prism_rdf.workers.answer import WorkedAnswer
from prism_rdf.workers.asking import client
from prism_rdf.workers.process import Ended, Message, WorkerProcess
from prism_rdf.workers.slow import LONGEST_QUERY, SlowLog
from prism_rdf.workers.ticket import Question, Ticket, stopped

_MIB = 1 << 20
_KEPT_MEMORY = 512 * _MIB  # a worker that ever had more is not kept: the memory is given back
_LOOK = 0.2  # seconds
_ENDING = 2.0  # seconds in which those who wait for a query that was stopped let go of it


class Pool:
    """Answers questions of stores in worker processes, which it starts when they are needed. Thread-safe.

    ``folder`` is for the copies; it must be of the pool alone, and on the disk of the stores, since what lies there
    is removed when the pool begins and ends.
    """

    def __init__(self, folder: Path, limits: Limits, log: SlowLog | None = None) -> None:
        self.folder = folder
        self.limits = limits
        self._log = log
        self._state = threading.Condition()
        self._free: list[WorkerProcess] = []
        self._tickets: dict[str, Ticket] = {}
        self._busy = 0
        self._waiting = 0
        self._numbers = itertools.count(1)
        self._closed = False
        remove(folder)  # of a process that was killed
        folder.mkdir(parents=True)

    def ask(
        self,
        store: EmbeddedStore,
        question: Question,
        *,
        timeout: float | None = None,
        max_rows: int | None = None,
        commit: Callable[[], int] | None = None,
    ) -> WorkedAnswer:
        """Return what a query of the store finds, as the store is now or a moment later.

        ``commit`` tells which one the store has seen, where it does not count them itself.

        Raises SyntaxError with the words of the engine, QueryTimeout, QueryStopped, QueryTooLarge, TooManyQueries,
        ServiceFailed, BadArgument.
        """
        ticket = self._enter(question, self._limit(timeout))
        alive = False
        try:
            ticket.check()
            ticket.worker = self._worker(store)
            ticket.check()  # it may have been stopped while it had no worker to kill
            asked: Message = {"query": question.text, "options": question.options, "counter": question.counter}
            asked["services"] = question.services
            most = None if question.ahead else self._most_rows(max_rows)
            try:
                ticket.worker.ask(store, {**asked, "max_rows": most}, commit)
                alive = True
                head = ticket.hear()
            except Ended:
                raise ticket.ended or ticket.worker.why_it_died() from None
            assert isinstance(head, dict)
        except OSError as error:
            self._release(ticket, False, error)
            raise ticket.ended or _no_room(self.folder, error) from error
        except BaseException as error:
            self._release(ticket, alive and isinstance(error, (SyntaxError, ServiceFailed)), error)
            raise
        ticket.found = True
        return WorkedAnswer(ticket, head, self.limits.size * _MIB, self._release)

    def limit(self, limits: Limits) -> None:
        """Have queries be within these limits from now on; workers that have nothing to do are begun anew."""
        self.limits = limits
        self._dismiss()

    def running(self) -> list[dict[str, Any]]:
        """Return the queries that wait, run or are being sent, the oldest first."""
        with self._state:
            return [ticket.as_dict() for ticket in self._tickets.values()]

    def stop(self, id: str, why: str) -> bool:
        """Stop a query; return False where there is none of this id."""
        with self._state:
            ticket = self._tickets.get(id)
        if ticket is not None:
            self._end(ticket, why)
        return ticket is not None

    def stop_all(self, why: str) -> None:
        """Stop every query, and wait until those who asked let go of it."""
        with self._state:
            tickets = list(self._tickets.values())
        for ticket in tickets:
            self._end(ticket, why)
        with self._state:
            self._state.wait_for(lambda: not self._busy, timeout=_ENDING)

    def clear(self, why: str) -> None:
        """Stop every query and remove every copy, as when a store was written anew."""
        self.stop_all(why)
        self._dismiss()
        if self._log is not None:
            self._log.clear()

    def close(self) -> None:
        """Stop everything, and leave nothing."""
        self._closed = True
        self.stop_all("the store is being closed")
        self._dismiss()
        remove(self.folder)

    def _dismiss(self) -> None:
        with self._state:
            free, self._free = self._free, []
        for worker in free:
            worker.bury()

    def _end(self, ticket: Ticket, why: str) -> None:
        """Stop a query; its place is free at once where nobody waits for its next piece, who would give it back."""
        ticket.stop(stopped(why))
        if ticket.found and not ticket.hearing:
            self._release(ticket, False, ticket.ended)
        with self._state:
            self._state.notify_all()

    def _limit(self, timeout: float | None) -> float:
        limit = self.limits.timeout if timeout is None else timeout
        if not 0 < limit <= self.limits.longest:
            raise BadArgument(
                f"the timeout is {limit:g} s",
                rule=f"a query may be given more than 0 s, and at most {self.limits.longest:g} s",
                mend="give another number of seconds; PRISM_QUERY_LONGEST is the most that may be given",
            )
        return limit

    def _most_rows(self, asked: int | None) -> int | None:
        """Return after how many rows an answer is cut: those asked for, and never more than the limit."""
        if asked is not None and asked < 1:
            raise BadArgument("max_rows is less than 1", rule="an answer has a row at least", mend="leave it out")
        return min(filter(None, (asked, self.limits.rows)), default=None)

    def _enter(self, question: Question, limit: float) -> Ticket:
        """Return the ticket of a query once it may run. Raises TooManyQueries, or what ended it while it waited."""
        with self._state:
            if self._closed:
                raise stopped("the store is being closed")
            if not question.ahead and self._busy >= self.limits.workers and self._waiting >= self.limits.queue:
                raise self._crowded()
            ticket = Ticket(f"q{next(self._numbers)}", question, client(), limit)
            self._tickets[ticket.id] = ticket
            self._waiting += 1
        try:
            while not self._begin(ticket):
                for sleeper in self._sleepers():
                    self._end(sleeper, "its reader took nothing for a minute")
        except BaseException as error:
            with self._state:
                del self._tickets[ticket.id]
            self._note(ticket, error)
            raise
        finally:
            with self._state:
                self._waiting -= 1
        return ticket

    def _begin(self, ticket: Ticket) -> bool:
        """Have the query run if it may, after a moment's wait if need be; return whether it does."""
        ahead = ticket.question.ahead
        with self._state:
            if not ahead and self._busy >= self.limits.workers:
                self._state.wait(min(_LOOK, max(0.01, ticket.limit - ticket.seconds)))
            if ticket.seconds >= ticket.limit:
                raise self._crowded()
            ticket.check()
            if ahead or self._busy < self.limits.workers:
                self._busy += 1
                ticket.state = "running"
            return ticket.state == "running"

    def _sleepers(self) -> list[Ticket]:
        """Return the queries whose readers take nothing any more, while others wait for their workers."""
        with self._state:
            return [ticket for ticket in self._tickets.values() if ticket.reader_sleeps()]

    def _worker(self, store: EmbeddedStore) -> WorkerProcess:
        """Return a worker that nobody else has: best one that knows the store, a new one where all are at work."""
        with self._state:
            known = next((worker for worker in reversed(self._free) if worker.has(store)), None)
            chosen = known or (self._free[-1] if self._free else None)
            if chosen is not None:
                self._free.remove(chosen)
                return chosen
            number = next(self._numbers)
        return WorkerProcess(self.folder, number, self.limits)

    def _release(self, ticket: Ticket, alive: bool, error: BaseException | None) -> None:
        with self._state:
            if self._tickets.pop(ticket.id, None) is None:
                return  # it was taken from its reader
        worker, ticket.worker = ticket.worker, None
        keep = alive and ticket.ended is None and not self._closed
        keep = keep and worker is not None and worker.peak <= _KEPT_MEMORY and worker.limits is self.limits
        if worker is not None and not keep:
            worker.bury()
        with self._state:
            if worker is not None and keep:
                self._free.append(worker)
            self._busy -= 1
            self._state.notify_all()
        self._note(ticket, error)

    def _note(self, ticket: Ticket, error: BaseException | None) -> None:
        """Log a query that was slow, or was ended by a limit."""
        ended = error or ticket.ended
        limited = isinstance(ended, (BusyError, RefusedError))
        if self._log is None or not (limited or ticket.seconds >= self.limits.slow):
            return
        outcome = ended.code if isinstance(ended, PrismError) else "ok" if ended is None else type(ended).__name__
        told = {name: value for name, value in ticket.as_dict().items() if name not in ("id", "state", "query")}
        text = ticket.question.text[:LONGEST_QUERY]
        self._log.write({**told, "outcome": outcome, "rows": ticket.rows, "bytes": ticket.size, "query": text})

    def _crowded(self) -> TooManyQueries:
        return TooManyQueries(
            f"{self._busy} queries are running and {self._waiting} are waiting",
            rule=f"{self.limits.workers} queries run at once, {self.limits.queue} wait",
            mend="ask again in a moment",
        )


def _no_room(folder: Path, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"the store cannot be copied for a query: {error}",
        rule="a query that can be stopped reads a copy of the store, which takes some room beside it",
        mend=f"free some disk space, or mend the permissions of {folder}",
    )
