"""What an owner leaves in the store's folder: a lock, a note that says who, a socket, a log; it starts no process.

| file | what it is |
|---|---|
| ``owner.lock`` | locked (flock) as long as a process has the store; the kernel unlocks it when the process dies |
| ``owner.json`` | who that is: pid, door, version, started_at, socket, url; stale when the lock is free |
| ``owner.sock`` | where it answers, mode 0600; in a folder of the system where this path would be too long |
| ``owner.start`` | locked by whoever starts, replaces or displaces an owner, so that they take turns |
| ``owner.log`` | what a daemon wrote, tracebacks of unforeseen failures included |
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Literal

from prism_rdf.errors import BusyError

Door = Literal["daemon", "serve", "exclusive"]

PATIENCE = 60.0  # seconds to wait for an owner that starts or leaves
PAUSE = 0.01  # seconds between two looks
_LONGEST_PATH = 100  # bytes; systems allow 104 to 108, the final zero included


@dataclass(frozen=True)
class Holder:
    """Who has the store, as the note says."""

    pid: int
    door: Door
    version: str
    started_at: str
    program: str = ""
    socket: str = ""
    url: str = ""

    def describe(self) -> str:
        what = {"daemon": "its owner", "serve": "`prism serve`", "exclusive": "an exclusive program"}[self.door]
        where = f" at {self.url}" if self.url else f" ({self.program})" if self.door == "exclusive" else ""
        return f"process {self.pid}, {what}{where}, since {self.started_at}"


@dataclass(frozen=True)
class Place:
    """The files of the owner of one store."""

    folder: Path

    @classmethod
    def of(cls, folder: Path) -> Place:
        return cls(folder.absolute())

    @property
    def log(self) -> Path:
        return self.folder / "owner.log"

    @property
    def _note(self) -> Path:
        return self.folder / "owner.json"

    def holder(self) -> Holder | None:
        """Return what the note says; None where there is no readable one."""
        try:
            found = json.loads(self._note.read_text("utf-8"))
            return Holder(**{field.name: found[field.name] for field in fields(Holder) if field.name in found})
        except (OSError, ValueError, TypeError):
            return None

    def lock(self) -> Lock:
        return Lock(self.folder / "owner.lock")

    def is_held(self) -> bool:
        """Return whether a living process has the store."""
        lock = self.lock()
        held = not lock.take()
        lock.release()
        return held

    @contextmanager
    def turn(self, deadline: float) -> Iterator[None]:
        """Wait for one's turn to start or displace an owner. Raises BusyError after the deadline."""
        lock = Lock(self.folder / "owner.start")
        try:
            while not lock.take():
                if time.monotonic() > deadline:
                    raise self.busy("another program has been starting or stopping its owner all the time")
                time.sleep(PAUSE)
            yield
        finally:
            lock.release()

    def busy(self, why: str, mend: str = "try again; owner.log in the folder of the store tells more") -> BusyError:
        return BusyError(
            f"the store in {self.folder} is busy: {why}", rule="one process owns a store at a time", mend=mend
        )

    def write_note(self, holder: Holder) -> None:
        """Replace the note; only the one who holds the lock may."""
        fresh = self._note.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(holder), indent=2) + "\n", "utf-8")
        fresh.replace(self._note)

    def clear(self) -> None:
        """Remove the note and the socket that it names; only the one who holds the lock may."""
        holder = self.holder()
        if holder is not None and holder.socket:
            socket = Path(holder.socket)
            socket.unlink(missing_ok=True)
            if socket.parent != self.folder:
                with suppress(OSError):
                    socket.parent.rmdir()
        self._note.unlink(missing_ok=True)

    def socket_path(self) -> Path:
        """Return a path for the socket that is short enough to bind, in a private folder where the own is not."""
        path = self.folder / "owner.sock"
        if len(os.fsencode(path)) <= _LONGEST_PATH:
            path.unlink(missing_ok=True)
            return path
        for root in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):
            if root and len(os.fsencode(root)) <= _LONGEST_PATH - 30 and os.access(root, os.W_OK | os.X_OK):
                return Path(tempfile.mkdtemp(prefix="prism-", dir=root)) / "owner.sock"
        raise self.busy("there is no place for its socket", "point TMPDIR at a folder with a short path")


class Lock:
    """A lock on a file between processes; the kernel releases it when the process that has it dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = -1

    def take(self) -> bool:
        """Lock the file, or return False where another one has it locked."""
        if self._handle < 0:
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def is_of_this_path(self) -> bool:
        """Return whether the locked file still lies there: a folder may be deleted or replaced under its owner."""
        try:
            return os.path.samestat(os.fstat(self._handle), os.stat(self._path))
        except OSError:
            return False

    def release(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


class Hold:
    """The store is this process's: the lock, and the note that says so."""

    def __init__(self, place: Place, lock: Lock, holder: Holder) -> None:
        self._place = place
        self._lock = lock
        self.holder = holder

    @classmethod
    def begin(cls, place: Place, lock: Lock, holder: Holder) -> Hold:
        """Write the note, once the lock is taken; what a dead owner left is removed."""
        place.clear()
        place.write_note(holder)
        return cls(place, lock, holder)

    def announce(self, *, socket: str = "", url: str = "") -> None:
        """Say in the note where one answers."""
        self.holder = replace(self.holder, socket=socket or self.holder.socket, url=url or self.holder.url)
        self._place.write_note(self.holder)

    def release(self) -> None:
        """Give the store up; doing it twice is doing it once."""
        if self._lock.is_of_this_path():
            self._place.clear()
        self._lock.release()
