"""Work that takes long: begun, looked at and called off by separate requests; what the work is, is not known here.

One job runs at a time, the others wait in turn. A job goes step by step where it has steps, and can be called off
between two. What it came to is kept for an hour, in memory: a server that is started again knows of no earlier job.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from prism_rdf.clock import Clock
from prism_rdf.errors import BusyError, IdempotencyConflict, NotFoundError, PrismError, RefusedError

_LOG = logging.getLogger("prism_server")
_MOST_WAITING = 32
_KEPT = 200  # jobs
_KEPT_FOR = 3600.0  # seconds after their end

# yields (steps done, of how many); returns what it came to
Work = Callable[[], Generator[tuple[int, int], None, Any]]


@dataclass
class Job:
    """One piece of work; ``owner`` is who may look at it, ``file`` what it wrote for its owner to fetch."""

    id: str
    verb: str
    pid: str | None
    owner: str | None
    created_at: str
    work: Work
    ended: Callable[[Job], None]
    fingerprint: str = ""
    key: str = ""
    state: str = "queued"
    done: int = 0
    steps: int = 1
    started_at: str | None = None
    ended_at: str | None = None
    began: float = 0.0
    seconds: float = 0.0
    result: Any = None
    error: PrismError | None = None
    file: Path | None = None
    called_off: threading.Event = field(default_factory=threading.Event)

    @property
    def over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    def as_dict(self) -> dict[str, Any]:
        """Return what is told of it."""
        running = time.monotonic() - self.began if self.state == "running" else self.seconds
        return {
            "id": self.id,
            "verb": self.verb,
            "pid": self.pid,
            "state": self.state,
            "progress": {"done": self.done, "steps": self.steps, "seconds": round(running, 3)},
            "created_at": self.created_at,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "result": self.result,
            "error": self.error.as_dict()["error"] if self.error else None,
        }


class Jobs:
    """The jobs of one server. ``close`` ends it once the job that runs is over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, Job] = {}
        self._waiting: queue.Queue[Job | None] = queue.Queue()
        self._runner: threading.Thread | None = None

    def begin(
        self,
        verb: str,
        pid: str | None,
        owner: str | None,
        work: Work,
        *,
        ended: Callable[[Job], None],
        key: str = "",
        fingerprint: str = "",
    ) -> Job:
        """Take in a job; the same ``key`` of one owner means the same job. Raises BusyError, IdempotencyConflict."""
        with self._lock:
            self._drop_old()
            known = next((job for job in self._known.values() if key and (job.key, job.owner) == (key, owner)), None)
            if known is not None:
                if known.fingerprint != fingerprint:
                    raise IdempotencyConflict(
                        f"the idempotency key {key!r} was used for another job",
                        rule="a key means one request",
                        mend="repeat the request as it was, or choose a new key",
                    )
                return known
            if sum(not job.over for job in self._known.values()) >= _MOST_WAITING:
                raise BusyError(
                    f"{_MOST_WAITING} jobs wait already", rule="jobs are done one at a time", mend="try again later"
                )
            at = self._clock.now().iso()
            job = Job(uuid4().hex, verb, pid, owner, at, work, ended, fingerprint, key)
            self._known[job.id] = job
            self._waiting.put(job)
            if self._runner is None:
                self._runner = threading.Thread(target=self._run, name="jobs", daemon=True)
                self._runner.start()
            return job

    def find(self, ident: str, owner: str | None, everyone: bool) -> Job:
        """Return a job that its owner asks for, or ``everyone``. Raises NotFoundError."""
        with self._lock:
            job = self._known.get(ident)
            if job is None or not (everyone or job.owner == owner):
                raise NotFoundError(
                    f"there is no job {ident[:40]!r}",
                    rule="a job is known to who began it, for an hour after its end",
                    mend="GET /jobs lists them",
                )
            return job

    def all(self, owner: str | None, everyone: bool) -> list[Job]:
        """Return the jobs of an owner, or of everyone, oldest first."""
        with self._lock:
            self._drop_old()
            return [job for job in self._known.values() if everyone or job.owner == owner]

    def waiting(self) -> int:
        """Return how many jobs are not over."""
        with self._lock:
            return sum(not job.over for job in self._known.values())

    def call_off(self, job: Job) -> None:
        """Let a job that waits not begin, one of several steps go no further, and one that is over be forgotten.

        Raises RefusedError for one that runs and has one step.
        """
        with self._lock:
            if job.over:
                self._forget(job)
            elif job.state == "queued":
                job.called_off.set()
                self._end(job, "cancelled")
            elif job.steps == 1:
                raise RefusedError(
                    f"the job {job.id} is in its only step",
                    rule="a step is done whole, or not begun",
                    mend="wait for its end",
                )
            else:
                job.called_off.set()

    def close(self) -> None:
        """Begin no further job, and wait for the one that runs."""
        with self._lock:
            for job in self._known.values():
                job.called_off.set()
                if job.file is not None:
                    job.file.unlink(missing_ok=True)
        if self._runner is not None:
            self._waiting.put(None)
            self._runner.join()

    def _run(self) -> None:
        while (job := self._waiting.get()) is not None:
            with self._lock:
                if job.over or job.called_off.is_set():
                    continue
                job.state, job.started_at, job.began = "running", self._clock.now().iso(), time.monotonic()
            state = "failed"
            try:
                state = self._work(job)
            except PrismError as error:
                job.error = error
            except Exception:
                _LOG.exception("unforeseen failure of the job %s", job.verb)
                job.error = PrismError(
                    "the job failed in a way that was not foreseen",
                    rule="this should not happen: it is a defect of prism, or of the machine it runs on",
                    mend="look into the server's log for the details, and report them",
                )
            with self._lock:
                self._end(job, state)
            with suppress(Exception):
                job.ended(job)

    def _work(self, job: Job) -> str:
        going = job.work()
        try:
            while True:
                job.done, job.steps = next(going)
                if job.called_off.is_set():
                    going.close()
                    return "cancelled"
        except StopIteration as end:
            job.result, job.done = end.value, job.steps
            return "done"

    def _end(self, job: Job, state: str) -> None:
        job.state, job.ended_at = state, self._clock.now().iso()
        job.seconds = time.monotonic() - job.began if job.began else 0.0
        job.began = time.monotonic()

    def _drop_old(self) -> None:
        over = [job for job in self._known.values() if job.over]
        late = time.monotonic() - _KEPT_FOR
        for index, job in enumerate(over):
            if job.began < late or index < len(over) - _KEPT:
                self._forget(job)

    def _forget(self, job: Job) -> None:
        self._known.pop(job.id, None)
        if job.file is not None:
            job.file.unlink(missing_ok=True)
