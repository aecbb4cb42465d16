"""A worker seen from the owner of the stores: its process, the copies it has, what it says. Limits are the pool's."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyoxigraph import Quad, RdfFormat, serialize

from prism_rdf.config import Limits
from prism_rdf.errors import BadQuery, PrismError, QueryTooLarge, ServiceFailed, StorageFailed
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.folder import remove
from prism_rdf.storage.journal import Change

MOST_STORES = 4  # that a worker has open: the store itself and some snapshots of it
_LONGEST_TEXT = 300  # characters of what another server said
Message = dict[str, Any]


class Ended(Exception):
    """The worker is no more."""


class WorkerProcess:
    """One process; one thread at a time talks to it, and any may kill it."""

    def __init__(self, folder: Path, number: int, limits: Limits) -> None:
        self.limits = limits
        self._folder = folder / str(number)
        self._folder.mkdir(parents=True)
        self._copies: OrderedDict[str, tuple[Path, int]] = OrderedDict()  # of each store its folder and its version
        self._made = 0
        self.peak = 0  # bytes
        told = [limits.memory, *map(_port, limits.services)]
        ours, theirs = socket.socketpair()
        with theirs, (self._folder / "stderr").open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "prism_rdf.workers.worker", str(theirs.fileno()), *map(str, told)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=(theirs.fileno(),),
            )
        self._connection = Connection(ours.detach())

    def has(self, store: EmbeddedStore) -> bool:
        """Return whether it has a copy of the store, of whatever version."""
        return store.key in self._copies

    def ask(self, store: EmbeddedStore, question: Message, commit: Callable[[], int] | None) -> None:
        """Send a question of the store as it is now, or a moment later; ``commit`` tells which one it has seen.

        Raises OSError where the store cannot be copied.
        """
        with store.journal.still():
            path, changes = self._follow(store)
            known = commit() if commit is not None else None
        follow = [(_nquads(change.removes), _nquads(change.adds)) for change in changes]
        place = {"store": store.key, "open": path and str(path), "follow": follow, "drop": self._drop()}
        self._send({**place, "commit": known, **question})

    def write(self, form: str | None, prefixes: Mapping[str, str] | None = None) -> None:
        """Have the answer written, or given up (None)."""
        self._send({"write": form, "prefixes": prefixes})

    def hears(self, seconds: float) -> bool:
        """Return whether the worker said something, or died, within so many seconds."""
        return self._connection.poll(seconds)

    def receive(self) -> Message | bytes:
        """Return what it says, waiting for it; bytes are a piece of an answer. Raises Ended, or what kept it."""
        try:
            said = self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise Ended from error
        if said[:1] == b"D":
            return said[1:]
        message: Message = json.loads(said[1:])
        if "error" in message:
            raise _failure(message)
        self.peak = message.get("peak", self.peak)
        return message

    def kill(self) -> None:
        """End the process, whatever it does; ``receive`` raises Ended then."""
        self._process.kill()

    def bury(self) -> None:
        """End the process, wait for its end, and remove its copies."""
        self.kill()
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()
        remove(self._folder)  # the connection goes with who still reads from it

    def why_it_died(self) -> PrismError:
        """Return what ended the process, by its last words and the signal: more memory than it may have, or a fault."""
        status = self._process.wait()
        words = (self._folder / "stderr").read_text("utf-8", "replace")
        if "memory allocation" in words or "bad_alloc" in words or -status == signal.SIGKILL:  # or the system's wish
            return out_of_memory()
        if -status in (signal.SIGSEGV, signal.SIGBUS):
            return BadQuery(
                "the query is nested too deeply for the engine",
                rule="brackets, groups and expressions within each other are read with a stack of limited depth",
                mend="write it flatter: a list with IN, VALUES in place of many ORs, fewer brackets",
            )
        return PrismError(
            f"the process of the query ended with status {status}: {words.strip()[-200:]}",
            rule="this should not happen: it is a defect of prism, or of the machine it runs on",
            mend="ask again, and report it",
        )

    def _follow(self, store: EmbeddedStore) -> tuple[Path | None, Sequence[Change]]:
        """Return the folder of a new copy, or None and the changes that bring the copy it has up to date."""
        path, version = self._copies.get(store.key, (None, -1))
        changes = None if path is None else store.journal.since(version)
        if path is None or changes is None:
            if path is not None:
                remove(path)  # it is still open there, which does not matter
            self._made += 1
            path = self._folder / str(self._made)
            self._copies[store.key] = path, store.copy(path)
            self._copies.move_to_end(store.key)
            return path, []
        self._copies[store.key] = path, changes[-1].version if changes else version
        self._copies.move_to_end(store.key)
        return None, changes

    def _drop(self) -> list[str]:
        dropped = []
        while len(self._copies) > MOST_STORES:
            key, (path, _) = self._copies.popitem(last=False)
            remove(path)
            dropped.append(key)
        return dropped

    def _send(self, message: Message) -> None:
        try:
            self._connection.send_bytes(json.dumps(message).encode("utf-8", "surrogatepass"))
        except OSError as error:
            raise Ended from error


def out_of_memory() -> QueryTooLarge:
    return QueryTooLarge(
        "the query needs more memory than a query may have, and was stopped",
        rule="sorting, grouping and DISTINCT hold all that they look at in memory",
        mend="ask for less: a narrower pattern, a sum in place of rows, LIMIT within a sub-select",
    )


def _failure(message: Message) -> Exception:
    kind, text = message["error"], message["text"]
    if kind == "syntax":
        return SyntaxError(text)
    if kind == "memory":
        return out_of_memory()
    if kind == "disk":
        return StorageFailed(
            f"the query failed: {_line(text)}",
            rule="a query that can be stopped reads a copy of the store, which takes some room beside it",
            mend="make room on the disk, or mend it, and ask again",
        )
    if kind == "service":
        return ServiceFailed(
            f"{' or '.join(message['services'])} did not answer the query as it should: {_line(text)}",
            rule="what stands behind SERVICE is asked of that server while the query runs, and no redirection followed",
            mend="see whether it answers; SERVICE SILENT goes on without it",
            node=message["services"][0],
        )
    return PrismError(
        f"the query failed: {text}",
        rule="this should not happen: it is a defect of prism, or of the machine it runs on",
        mend="ask again, and report it",
    )


def _port(service: str) -> int:
    parts = urlsplit(service)
    return parts.port or (443 if parts.scheme == "https" else 80)


def _line(text: str) -> str:
    """Return what another server said as one line that is not too long."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= _LONGEST_TEXT else f"{line[:_LONGEST_TEXT]}…"


def _nquads(quads: Sequence[Quad]) -> str:
    data = serialize(quads, format=RdfFormat.N_QUADS)
    assert data is not None
    return data.decode()
