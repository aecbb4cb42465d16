"""How much memory this process may still take; what it is for is decided elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

_MACHINE = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def memory_left() -> int:
    """Return the bytes that may still be taken, by the machine and by the container; a guess where neither tells."""
    limits = [limit for limit in (_of_machine(), _of_container()) if limit is not None]
    return min(limits) if limits else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4


def _of_machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in _MACHINE.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _of_container() -> int | None:
    try:
        return int((_GROUP / "memory.max").read_text()) - int((_GROUP / "memory.current").read_text())
    except (OSError, ValueError):  # no such file, or the word "max"
        return None
