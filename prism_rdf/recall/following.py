"""An index that follows the change log in a thread of its own, since embedding takes longer than anyone should wait."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from prism_rdf.clock import Instant
from prism_rdf.recall.embedders import Embedder
from prism_rdf.recall.legs import LegHealth, Question, Ranking
from prism_rdf.recall.memories import Passage
from prism_rdf.recall.vectors import BATCH, VectorIndex
from prism_rdf.storage.changelog import LoggedChange

_log = logging.getLogger(__name__)


class Source(Protocol):
    """Where an index takes memories from: the last commit, those after a number, and all there are."""

    def last_commit(self) -> int: ...

    def changes(self, since: int) -> Iterable[LoggedChange]: ...

    def passages(self) -> Iterator[Passage]: ...


class _Stopped(Exception):
    """The index is being closed; what is not embedded yet is taken up at the next start."""


class VectorLeg:
    """The vector index as a leg, kept up with the store in the background.

    ``catch_up`` waits a little for what was just written, so that one finds one's own words; a long way behind, the leg
    says how far it has come and is left out of answers until it is there.
    """

    name = "vector"

    def __init__(self, index: VectorIndex, source: Source) -> None:
        self._index = index
        self._source = source
        self._changed = threading.Condition()
        self._worker: threading.Thread | None = None
        self._stop = self._rebuilding = False
        self._waiting = 0  # memories still to be embedded of those that are being taken in
        self._trouble = ""

    def catch_up(self, seconds: float) -> None:
        """See that somebody brings the index up to the last commit, and wait for it at most so long."""
        if self._rebuilding:
            if self._index.health().status != "ok":
                with self._changed:
                    self._changed.wait_for(lambda: not self._rebuilding, seconds)
            return
        if self._index.health().status == "failed":
            return
        with self._changed:
            wanted = self._behind() or self._index.untended
            if wanted and (self._worker is None or not self._worker.is_alive()):
                self._worker = threading.Thread(target=self._follow, name="prism-vectors", daemon=True)
                self._worker.start()
            self._changed.wait_for(lambda: not self._behind() or self._trouble, seconds)

    def search(self, question: Question, as_of: Instant, limit: int) -> Ranking:
        texts = dict.fromkeys(text for text in (question.text, question.unnamed, *question.expansions) if text.strip())
        return self._index.search(tuple(texts), limit, said_by=as_of, known_at=question.known_at)

    def health(self) -> LegHealth:
        health = self._index.health()
        if self._trouble:
            return LegHealth("failed", health.position, self._trouble)
        if self._rebuilding:
            detail = f"being made anew, {self._waiting:,} memories to go; until then the one that was there serves"
            return LegHealth(health.status, health.position, f"{health.detail} ({detail})" if health.detail else detail)
        if health.status == "failed" or not self._behind():
            return health
        detail = f"{len(self._index):,} memories embedded"
        if self._worker is not None and self._worker.is_alive():
            detail += f", {self._waiting:,} to go; it goes on in the background"
        return LegHealth("lagging", health.position, detail)

    def rebuild(self, embedder: Embedder | None = None, done: Callable[[], None] = lambda: None) -> None:
        """Begin to embed everything anew, by another model if one is given; the old index serves until then.

        ``done`` is called once the new one has taken its place. What stops it in between leaves the old one.
        """
        self.close()
        self._rebuilding, self._stop, self._trouble = True, False, ""  # so that nobody else writes meanwhile
        self._worker = threading.Thread(
            target=self._rebuild, args=(embedder, done), name="prism-vectors-anew", daemon=True
        )
        self._worker.start()

    def _rebuild(self, embedder: Embedder | None, done: Callable[[], None]) -> None:
        try:
            number = self._source.last_commit()
            self._index.rebuild(self._counted(list(self._source.passages())), number, embedder)
            done()
        except _Stopped:
            pass
        except Exception as error:  # the old index is still there, and the other legs
            _log.warning("the vector index cannot be made anew", exc_info=True)
            self._trouble = f"the vector index cannot be made anew ({type(error).__name__}: {error}): run prism reindex"
        finally:
            self._waiting, self._rebuilding = 0, False
            with self._changed:
                self._changed.notify_all()

    def close(self) -> None:
        """Stop following; what is written so far is kept."""
        self._stop = True
        if self._worker is not None:
            self._worker.join()
        self._worker = None

    def _behind(self) -> bool:
        return self._index.position is None or self._index.position < self._source.last_commit()

    def _follow(self) -> None:
        try:
            while (self._behind() or self._index.untended) and not self._stop:
                if not self._behind():
                    self._index.tend()
                    continue
                number = self._source.last_commit()
                if self._index.position is None or not self._take_log(self._index.position):
                    self._index.fill(self._counted(list(self._source.passages())), number)
                with self._changed:
                    self._changed.notify_all()
        except _Stopped:
            pass
        except Exception as error:  # the other legs answer without it
            _log.warning("the vector index cannot follow", exc_info=True)
            self._trouble = f"the vector index cannot be written ({type(error).__name__}: {error}): run prism reindex"
        finally:
            self._waiting = 0
            with self._changed:
                self._changed.notify_all()

    def _take_log(self, since: int) -> bool:
        """Take in the commits since a number; return whether the log reached from there to the last one."""
        reached = since
        for change in self._source.changes(since):
            if self._stop:
                raise _Stopped
            self._index.apply([change])
            reached = change.number
        return reached > since

    def _counted(self, passages: list[Passage]) -> Iterator[Passage]:
        for place, passage in enumerate(passages):
            if self._stop:
                raise _Stopped
            self._waiting = len(passages) - place // BATCH * BATCH  # a batch is taken before it is embedded
            yield passage
