"""The lexical index follows the change log: within a question where that is soon done, else beside it in a thread."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from itertools import islice

from prism_rdf.recall.following import Source
from prism_rdf.recall.lexical import LexicalIndex, LexicalLeg
from prism_rdf.recall.memories import Passage

_log = logging.getLogger(__name__)

_COMMITS_AT_ONCE = 64


class _Stopped(Exception):
    """The index is being closed; what it lacks is taken up at the next start."""


class Words:
    """The lexical index of a project and its leg, kept up with the store. Safe to use from several threads.

    A store that ``keeps_log`` is followed commit by commit, another one is read as a whole.
    """

    def __init__(self, index: LexicalIndex, source: Source, *, keeps_log: bool) -> None:
        self._index = index
        self._source = source
        self._keeps_log = keeps_log
        self._writing, self._starting = threading.Lock(), threading.Lock()
        self._worker: threading.Thread | None = None
        self._began = 0.0
        self._done = self._all = 0  # memories, while all of them are read
        self._stop = False
        self._refused = False  # whether the disk has refused the index
        self.leg = LexicalLeg(index, source.last_commit, self._progress)

    def catch_up(self, seconds: float) -> None:
        """See that what was written is indexed, and wait for it until so long after somebody began with it."""
        for _ in range(2):  # a thread that was about to end may have missed the last commit
            with self._starting:
                if self._worker is None or not self._worker.is_alive():
                    if not self._wanted():
                        return
                    self._stop, self._began = False, time.monotonic()
                    self._worker = threading.Thread(target=self._follow, name="prism-words", daemon=True)
                    self._worker.start()
                worker = self._worker
            worker.join(max(0.0, self._began + seconds - time.monotonic()))

    def rebuild(self) -> None:
        """Make the index anew from the store; the old one serves until then. Raises OSError when the disk refuses."""
        self._halt()
        with self._writing:
            self._index.rebuild(self._source.passages(), self._source.last_commit())
            self._refused = False

    def close(self) -> None:
        """Stop following, and close the index."""
        self._halt()
        self._index.close()

    def _halt(self) -> None:
        self._stop = True
        if self._worker is not None:
            self._worker.join()
        self._worker = None

    def _wanted(self) -> bool:
        position = self._index.position
        if position is None:
            return not self._refused and self._index.health().status == "absent"
        return position < self._source.last_commit()

    def _progress(self) -> str:
        if self._worker is None or not self._worker.is_alive():
            return ""
        what = f"{self._done:,} of {self._all:,} memories" if self._all else "what was written"
        return f"{what} being indexed; it goes on in the background"

    def _follow(self) -> None:
        with self._writing:
            try:
                self._take_in()
            except _Stopped:
                pass
            except Exception:  # the other legs answer without it, and the next question tries again
                _log.warning("the lexical index cannot follow", exc_info=True)

    def _take_in(self) -> None:
        number, since = self._source.last_commit(), self._index.position
        if since is None:
            self._build(number)
        elif not self._keeps_log:
            self._index.rebuild(self._counted(), number)
        else:
            changes = iter(self._source.changes(since))
            while some := list(islice(changes, _COMMITS_AT_ONCE)):
                if self._stop:
                    raise _Stopped
                self._index.apply(some)

    def _build(self, number: int) -> None:
        """Build an index that never was. Where the disk refuses, recall does without it, and says what to run."""
        try:
            self._index.rebuild(self._counted(), number)
        except OSError:
            _log.warning("the lexical index cannot be built", exc_info=True)
            self._refused = True  # the next question does not try again what takes long and fails

    def _counted(self) -> Iterator[Passage]:
        passages = list(self._source.passages())
        self._done, self._all = 0, len(passages)
        try:
            for passage in passages:
                if self._stop:
                    raise _Stopped
                yield passage
                self._done += 1
        finally:
            self._all = 0
