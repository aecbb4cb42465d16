"""How many requests a token may make: a bucket of ten seconds' worth that fills up again; nothing is kept on disk."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

_SECONDS = 10  # of requests may come at once


class Rates:
    """The buckets of all tokens, by id; ``now`` is in seconds and never goes back."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._full_at: dict[str, float] = {}  # by token, when its bucket is full again

    def wait(self, token: str, rate: int) -> int:
        """Take one request out of the bucket and return 0, or return after how many whole seconds there is one in it.

        >>> rates = Rates(lambda: 0.0)
        >>> [rates.wait("ada", 12) for _ in range(3)]
        [0, 0, 5]
        """
        each = 60 / rate
        room = max(_SECONDS, each)
        with self._lock:
            now = self._now()
            full_at = max(now, self._full_at.get(token, now)) + each
            if full_at - now > room + 1e-9:
                return max(1, math.ceil(full_at - now - room))
            self._full_at[token] = full_at
            return 0
