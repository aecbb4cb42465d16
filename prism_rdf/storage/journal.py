"""The last changes of a store in memory, for copies of it that keep up; what a copy is, is not known here."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pyoxigraph import Quad

MOST_QUADS = 20_000  # kept; to copy a store anew is less work than to tell of more


@dataclass(frozen=True)
class Change:
    """What one update removed and then added; ``version`` is that of the store after it."""

    version: int
    adds: tuple[Quad, ...]
    removes: tuple[Quad, ...]


class Journal:
    """Counts the versions of a store and keeps what led to the last ones. Thread-safe."""

    def __init__(self, most_quads: int = MOST_QUADS) -> None:
        self.version = 0
        self._most = most_quads
        self._kept: deque[Change] = deque()
        self._quads = 0
        self._known_since = 0  # a copy of an earlier version cannot be brought up to date
        self._lock = threading.RLock()

    @contextmanager
    def changing(self, adds: Sequence[Quad] = (), removes: Sequence[Quad] = (), *, told: bool = True) -> Iterator[None]:
        """Have the store changed within; ``told`` off: by what is not listed, so that copies have to be made anew."""
        with self._lock:
            try:
                yield
            except BaseException:
                self._note((), (), told=False)  # it may have been changed in part
                raise
            self._note(tuple(adds), tuple(removes), told=told)

    @contextmanager
    def still(self) -> Iterator[int]:
        """Have the store unchanged within: yields its version."""
        with self._lock:
            yield self.version

    def since(self, version: int) -> list[Change] | None:
        """Return the changes after ``version``, oldest first; None where they are not all known any more."""
        with self._lock:
            if version < self._known_since:
                return None
            return [change for change in self._kept if change.version > version]

    def _note(self, adds: tuple[Quad, ...], removes: tuple[Quad, ...], *, told: bool) -> None:
        self.version += 1
        size = len(adds) + len(removes)
        if not told or size > self._most:
            self._kept.clear()
            self._quads, self._known_since = 0, self.version
            return
        self._kept.append(Change(self.version, adds, removes))
        self._quads += size
        while self._quads > self._most:
            oldest = self._kept.popleft()
            self._quads -= len(oldest.adds) + len(oldest.removes)
            self._known_since = oldest.version
