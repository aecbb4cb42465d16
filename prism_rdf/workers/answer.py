"""An answer that a worker has and writes piece by piece as it is taken; how it was found is not known here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal

from prism_rdf.errors import BadArgument, PrismError
from prism_rdf.workers.process import Ended
from prism_rdf.workers.ticket import Ticket, too_large

_COUNTED = {"tsv": 1, "nt": 0}  # formats of one line a row, and how many lines go before the first
Release = Callable[[Ticket, bool, BaseException | None], None]


class WorkedAnswer:
    """What a query found; it can be read once. ``release`` takes the worker back."""

    def __init__(self, ticket: Ticket, head: Mapping[str, Any], most_bytes: int, release: Release) -> None:
        self.kind: Literal["select", "ask", "graph"] = head["kind"]
        self.variables: list[str] = head["variables"]
        self.commit: int = head["commit"]
        self.truncated: bool = head["truncated"]
        self._ticket = ticket
        self._most_bytes = most_bytes
        self._release = release
        self._state: Literal["found", "read", "over"] = "found"

    def stream(self, form: str, prefixes: Mapping[str, str] | None) -> Iterator[bytes]:
        """Return the answer in pieces; what goes wrong before the first one is raised here."""
        if self._state != "found":
            raise BadArgument("the answer was read before", rule="an answer is read once", mend="ask again")
        self._state, self._ticket.state = "read", "sending"
        try:
            if self._ticket.worker is not None:
                self._ticket.worker.write(form, prefixes)
        except Ended:
            pass  # the next line says why
        return self._pieces(self._next(form), form)

    def _pieces(self, piece: bytes | None, form: str) -> Iterator[bytes]:
        try:
            while piece is not None:
                self._ticket.left = time.monotonic()
                yield piece
                self._ticket.paused += time.monotonic() - self._ticket.left
                self._ticket.left = 0.0
                piece = self._next(form)
        finally:
            self.close()

    def _next(self, form: str) -> bytes | None:
        """Return the next piece, None at the end."""
        ticket = self._ticket
        try:
            said = ticket.hear()
            if isinstance(said, bytes):
                ticket.size += len(said)
                if form in _COUNTED:
                    ticket.rows = said.count(b"\n") + (-_COUNTED[form] if ticket.rows is None else ticket.rows)
                if ticket.size > self._most_bytes:
                    raise too_large(self._most_bytes)
                return said
        except BaseException as error:
            self._end(alive=False, error=error)
            raise
        self._end(alive=True)
        return None

    def close(self) -> None:
        """Give up what was not read."""
        if self._state == "found":
            alive = self._ticket.worker is not None
            try:
                if self._ticket.worker is not None:
                    self._ticket.worker.write(None)
            except Ended:
                alive = False
            self._end(alive=alive)
        elif self._state == "read":
            self._end(alive=False)

    def _end(self, *, alive: bool, error: BaseException | None = None) -> None:
        if self._state != "over":
            self._state = "over"
            self._release(self._ticket, alive, error)

    def __del__(self) -> None:
        with suppress(PrismError, OSError):
            self.close()
