"""Who wrote what: one JSON line for each write that came over HTTP, in the folder of the store; never a token itself.

``audit.log`` holds the newest lines; when it is full it becomes ``audit.log.1``, and so on, and the oldest is dropped.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, g, request

from .tokens import NOBODY, Caller

if TYPE_CHECKING:
    from prism_rdf.clock import Clock

FILE = "audit.log"
_LARGEST = 10 << 20  # bytes of one file
_KEPT = 5  # files before the newest
_LOG = logging.getLogger("prism_server")
_ONE_AT_A_TIME = threading.Lock()  # several doors of one process write to one log


class Audit:
    """The log of writes of one store; of a store that keeps nothing it is kept nowhere."""

    def __init__(self, folder: Path | None, clock: Clock, largest: int = _LARGEST) -> None:
        self._file = None if folder is None else folder / FILE
        self._clock = clock
        self._largest = largest

    def note(self, who: Caller, verb: str, pid: str | None, commit: int | None, **more: Any) -> None:
        """Append a line; a write is not undone where that fails, so it is told to the server's log."""
        if self._file is None:
            return
        line = {"at": self._clock.now().iso(), "who": who.name, "token": who.token, "verb": verb, "pid": pid}
        text = json.dumps({**line, "commit": commit, **more}, ensure_ascii=False, default=str) + "\n"
        try:
            with _ONE_AT_A_TIME:
                self._append(self._file, text.encode("utf-8", "replace"))
        except OSError:
            _LOG.exception("the audit log could not be written: %s", text.strip())

    def _append(self, file: Path, line: bytes) -> None:
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line)
            size = os.fstat(handle).st_size
        finally:
            os.close(handle)
        if size >= self._largest:
            for number in range(_KEPT, 0, -1):
                older = file.with_name(f"{file.name}.{number}")
                newer = file if number == 1 else file.with_name(f"{file.name}.{number - 1}")
                if newer.exists():
                    os.replace(newer, older)


def noting(verb: str, pid: str | None = None, commit: int | None = None) -> None:
    """Say what the request that is being answered writes; ``commit`` once it is known."""
    g.written = {"verb": verb, "pid": pid, "commit": commit}


def install(app: Flask, audit: Audit) -> None:
    """Note each write when it is answered, refused ones too: what a handler said of it, else the path."""

    @app.after_request
    def note(response: Response) -> Response:
        who = g.get("caller", NOBODY)
        written = g.get("written")
        if written is not None and who is not NOBODY:
            audit.note(who, **written, status=response.status_code, address=request.remote_addr, method=request.method)
        return response
