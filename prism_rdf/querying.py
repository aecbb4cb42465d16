"""The verbs of a store about SPARQL queries: asking one, seeing which run, stopping one."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from prism_rdf.changes import Ground
from prism_rdf.clock import Clock, Instant, TimeInput, as_of_instant
from prism_rdf.commit import Committer
from prism_rdf.config import Limits, query_limits
from prism_rdf.datasets import Dataset, Datasets, QueryAnswer
from prism_rdf.errors import BadArgument, NotFoundError, RefusedError
from prism_rdf.evaluating import Evaluation
from prism_rdf.feed import FeedVerbs
from prism_rdf.namespaces import commit_iri, meta_graph, prism
from prism_rdf.services import services_of
from prism_rdf.storage.about import about
from prism_rdf.storage.folder import StoreFolder, remove
from prism_rdf.visible import NONE, Graphs
from prism_rdf.workers.pool import Pool
from prism_rdf.workers.slow import SlowLog

_FOR_EVER = Instant.parse("9999-12-31T23:59:59.999999Z")


class QueryingVerbs(FeedVerbs):
    """What a store answers in SPARQL; ``Prism`` has the rest."""

    folder: StoreFolder | None
    managed: bool
    clock: Clock
    projects: Callable[[], list[str]]
    bring_up_to_date: Callable[[], None]
    _ground: Ground
    _committer: Committer
    _datasets: Datasets

    def _begin_querying(self) -> None:
        self._limits: Limits | None = None
        self._unlimited = Evaluation(self.base)
        self._pool: Pool | None = None
        self._rooms = threading.Lock()
        self._see_anew()

    def _see_anew(self) -> None:
        """Forget what was made of the store as it was, also by queries that still run."""
        if self._pool is not None:
            self._pool.clear("the store was written anew")
        room = self.folder.workers / "snapshots" if self.folder else None
        self._datasets = Datasets(self._ground, self.base, self.changes if self.folder else None, room)

    def _end_querying(self) -> None:
        if self._pool is not None:
            self._pool.close()
            remove(self._pool.folder.parent)

    def limit_queries(self, limits: Limits) -> None:
        """Have every query from now on run within these limits, in a process of its own that can be stopped.

        Without, as in a store that a program has opened for itself, only those do that are asked with a limit.
        """
        self._limits = limits
        if self._pool is not None:
            self._pool.limit(limits)

    def sparql(
        self,
        query: str,
        *,
        pid: str | None = None,
        pids: Sequence[str] | None = None,
        as_of: TimeInput | None = None,
        known_at: TimeInput | int | None = None,
        prefer_wip: bool = False,
        dataset: Dataset = "current",
        default_graphs: Sequence[str] = (),
        named_graphs: Sequence[str] = (),
        timeout: float | None = None,
        max_rows: int | None = None,
    ) -> QueryAnswer:
        """Answer a SPARQL query over the world now, as of an instant (a day means its last), or the raw graphs.

        ``pid`` limits it to one project, ``pids`` to some. With ``prefer_wip`` entities are as their drafts have them,
        and say so by ``prism:commitStatus "wip"``. The IRIs of graphs declare the dataset as the SPARQL
        protocol does: of these graphs alone, whatever FROM says. ``timeout`` is in seconds, after which the query is
        stopped, waiting for its turn included; after ``max_rows`` the answer is cut, and says so. SERVICE asks the
        servers that the limits list (``PRISM_SERVICES``), always in a process of its own. Raises BadArgument
        for a query that is not SPARQL, BadTime, RefusedError for a graph that is not in the dataset or a server that is
        not listed, ServiceFailed, QueryTimeout, QueryStopped, QueryTooLarge, TooManyQueries.
        """
        graphs = Graphs.of(default_graphs, named_graphs) if default_graphs or named_graphs else NONE
        by = self._evaluation_of(query, timeout, max_rows)
        if dataset == "raw":
            if as_of is not None or known_at is not None or prefer_wip:
                raise BadArgument(
                    "the raw dataset has no as-of, and prefers no drafts",
                    rule="raw shows every state and draft with its interval",
                    mend="leave out as-of, known-at and prefer-wip, or use the current dataset",
                )
            return self._datasets.raw(by, query, self.commit_number, graphs)
        limited = [pid] if pid else pids
        namespaces = self.projects() if limited is None else list(limited)
        present = as_of is None and known_at is None
        if present and not prefer_wip:
            self.bring_up_to_date()
            bound = limited is not None
            return self._datasets.current(by, query, namespaces, self.commit_number, graphs, bound=bound)
        self._check_history()
        shown = None if present else as_of_instant(as_of) if as_of is not None else self.clock.now()
        at, known = shown or self._as_far_as_now_lasts(), self.system_time(known_at)
        return self._datasets.as_of(
            by, query, namespaces, at, known, self.commit_number, graphs, prefer_wip=prefer_wip, shown=shown
        )

    def check_query(self, query: str) -> None:
        """Raise BadQuery for what is not SPARQL, RefusedError for a SERVICE that may not be asked; nothing is asked."""
        self._evaluation_of(query, None, None).check(query)

    def _as_far_as_now_lasts(self) -> Instant:
        """Return the last instant at which the world is as now unless it is written: one snapshot serves so long."""
        self.bring_up_to_date()
        due = self._committer.next_due
        return _FOR_EVER if due is None else due.plus(micros=-1)

    def running(self) -> list[dict[str, Any]]:
        """Return the SPARQL queries that wait for their turn, run, or are being read, the oldest first.

        Each is ``{"id", "state", "seconds", "began_at", "who", "dataset", "as_of", "query"}``; ``state`` is waiting,
        running or sending. Queries without limits, in a program that opened the store for itself, are not among them.
        """
        return self._pool.running() if self._pool is not None else []

    def stop_query(self, id: str) -> None:
        """Stop a query that ``running`` lists; who asked it is told. Raises NotFoundError when it has ended."""
        if self._pool is None or not self._pool.stop(id, "somebody asked for that"):
            raise NotFoundError(
                f"there is no query {id!r}",
                rule="a query has its id until it ends",
                mend="see which are running: `prism running`",
            )

    def stop_queries(self, why: str) -> None:
        """Stop every query that runs or waits; ``why`` is told to who asked."""
        if self._pool is not None:
            self._pool.stop_all(why)

    @property
    def version(self) -> str:
        """Return a text that is another one whenever a query of the present may have another answer."""
        self.bring_up_to_date()
        return self._datasets.version(self.commit_number, self._committer.next_due)

    def stale_snapshots(self, pid: str) -> list[tuple[Any, str]]:
        """Return (node, what differs) of each world of the past that is kept and differs from the computation.

        It is forgotten: the next question makes it anew. Writers wait only where something differs.
        """
        if not self._datasets.stale(pid, self.commit_number):
            return []
        with self._committer.paused():  # a commit in between may only have made it seem so
            return self._datasets.stale(pid, self.commit_number, forget=True)

    def system_time(self, known_at: TimeInput | int | None) -> Instant | None:
        """Return the instant of a system time given as time or as commit number. Raises NotFoundError."""
        if not isinstance(known_at, int):
            return None if known_at is None else as_of_instant(known_at)
        recorded = about(self.store, commit_iri(self.base, known_at), meta_graph(self.base)).instant(
            prism("recordedAt")
        )
        if recorded is None:
            raise NotFoundError(
                f"there is no commit {known_at}",
                rule=f"commits are numbered from 1 to {self.commit_number}",
                mend="give one of these numbers, or a time",
            )
        return recorded

    def _check_history(self) -> None:
        if not self.managed:
            raise RefusedError(
                "an unmanaged store has no past",
                rule="free graphs are as they were last written; what is recorded by verbs has a history",
                mend="leave out as-of and known-at",
            )

    def _evaluation_of(self, query: str, timeout: float | None, max_rows: int | None) -> Evaluation:
        """Return who evaluates a query; one that asks another server can always be stopped."""
        return self._pooled(timeout, max_rows) if services_of(query) else self._evaluation(timeout, max_rows)

    def _evaluation(self, timeout: float | None, max_rows: int | None) -> Evaluation:
        if self._limits is None and timeout is None and max_rows is None:
            return self._unlimited
        return self._pooled(timeout, max_rows)

    def _pooled(self, timeout: float | None, max_rows: int | None) -> Evaluation:
        with self._rooms:
            if self._pool is None:
                limits = self._limits or query_limits()
                root = self.folder.workers if self.folder else Path(tempfile.mkdtemp(prefix="prism-"))
                self._pool = Pool(root / "copies", limits, SlowLog(self.folder.path) if self.folder else None)
        return Evaluation(self.base, self._pool, timeout, max_rows, self._pool.limits.services)
