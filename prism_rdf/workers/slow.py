"""The log of slow queries: JSON lines in a file beside the store, of bounded size; what is slow is said by the pool."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

NAME = "slow-queries.jsonl"
MOST_BYTES = 1 << 20  # then the file becomes the older one, and the older one goes
LONGEST_QUERY = 20_000  # characters of a query that are kept


class SlowLog:
    """One file and its predecessor. Thread-safe."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self.path = folder / NAME
        self._older = folder / f"{NAME}.1"
        self._most = most_bytes
        self._lock = threading.Lock()

    def write(self, entry: Mapping[str, Any]) -> None:
        """Add a line; a log that cannot be written, as on a full disk, fails no query."""
        line = json.dumps(entry, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n"
        with self._lock, suppress(OSError):
            if self.path.exists() and self.path.stat().st_size + len(line) > self._most:
                os.replace(self.path, self._older)
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "ab") as file:
                file.write(line)

    def clear(self) -> None:
        """Remove both files: queries quote what may have to be forgotten."""
        with self._lock:
            self.path.unlink(missing_ok=True)
            self._older.unlink(missing_ok=True)
