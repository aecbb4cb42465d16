"""Which ports a worker can reach over the network: Linux keeps it from all others (Landlock), whatever a query says.

Which servers a query may ask is judged by its words, elsewhere; this holds where no word was understood.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # landlock_create_ruleset, _add_rule, _restrict_self: on every architecture
_CONNECT_TCP, _OF_PORT, _NO_NEW_PRIVILEGES = 2, 2, 38


def confine(ports: Iterable[int]) -> bool:
    """Keep this thread, and those that it will begin, from connecting to other TCP ports; return whether it is so.

    It is not where the system knows nothing of the kind: Linux does from 6.7 on.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    rules = _call(libc, _CREATE, struct.pack("=QQ", 0, _CONNECT_TCP), ctypes.c_size_t(16), 0)
    if rules < 0:
        return False
    try:
        for port in ports:
            _call(libc, _ADD, rules, _OF_PORT, struct.pack("=QQ", _CONNECT_TCP, port), 0)
        kept = libc.prctl(_NO_NEW_PRIVILEGES, *map(ctypes.c_ulong, (1, 0, 0, 0))) == 0
        return kept and _call(libc, _RESTRICT, rules, 0) == 0
    finally:
        os.close(rules)


def _call(libc: ctypes.CDLL, number: int, *given: object) -> int:
    return int(libc.syscall(ctypes.c_long(number), *(ctypes.c_long(x) if isinstance(x, int) else x for x in given)))
