"""Notices that files of a folder or commits of its repository changed, a burst at a time; nothing is read or written.

An editor that saves by renaming, a checkout that touches a thousand files, a commit: each is one burst.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

import pygit2
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserverVFS

QUIET = 0.5  # seconds without a change that end a burst
LONGEST = 5.0  # seconds after which a burst ends even when changes go on
_POLL = 1.0  # seconds between two looks, without the system's own notices
_TELLING = ("created", "modified", "moved", "deleted")
_SKIPPED = frozenset({"node_modules"})
_OWN = ".prism"  # the only hidden folder that matters: it holds the mapping
_REFS = ("HEAD", "packed-refs", "refs", "reftable")

Wants = Callable[[str], bool]


class Noticing:
    """A folder under watch, within ``with``.

    ``wants(path)`` says which files below the folder count; a folder that goes or moves always does. ``polling``: look
    again every second, where the file system does not tell (network drives, some containers).
    """

    def __init__(
        self, folder: Path, wants: Wants, *, polling: bool = False, quiet: float = QUIET, longest: float = LONGEST
    ) -> None:
        self.folder, self.polling = folder.resolve(), polling
        self._wants, self._quiet, self._longest = wants, quiet, longest
        self._changed: set[str] = set()
        self._something = threading.Condition()
        self._stopped = False
        self._observer: BaseObserver | None = None

    def __enter__(self) -> Noticing:
        try:
            self._begin()
        except OSError:
            if self.polling:
                raise
            self.polling = True  # the system has no more watches to give
            self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join(5)

    @property
    def stopped(self) -> bool:
        return self._stopped

    def stop(self) -> None:
        """End the wait for a burst, and what is made of it; from any thread or from a signal handler."""
        self._stopped = True

    def burst(self, at_most: float | None = None) -> tuple[str, ...]:
        """Wait for a burst to begin and end, and return the paths that changed; empty once ``stop`` is called.

        Empty also after ``at_most`` seconds in which nothing changed. What changes while the caller is busy is told by
        the next call.
        """
        began = time.monotonic()
        last: float | None = None
        seen: set[str] = set()
        first = began
        while not self._stopped:
            with self._something:
                self._something.wait(0.1)
                fresh, self._changed = self._changed, set()
            now = time.monotonic()
            if fresh:
                first = now if last is None else first
                last, seen = now, seen | fresh
            if last is not None and (now - last >= self._quiet or now - first >= self._longest):
                break
            if last is None and at_most is not None and now - began >= at_most:
                break
        return tuple(sorted(seen))

    def _begin(self) -> None:
        observer = _poller() if self.polling else Observer()
        self._observer = observer
        observer.schedule(_Handler(self._heard_file), str(self.folder), recursive=True)
        for place, deep in _git_places(self.folder):
            observer.schedule(_Handler(self._heard_git), str(place), recursive=deep)
        try:
            observer.start()
        except OSError:
            self._observer = None
            observer.stop()
            raise

    def _heard_file(self, path: str, is_folder: bool, kind: str) -> None:
        try:
            inside = Path(path).relative_to(self.folder)
        except ValueError:
            return
        hidden = any(part in _SKIPPED or (part.startswith(".") and part != _OWN) for part in inside.parts)
        matters = kind in ("moved", "deleted") if is_folder else self._wants(inside.as_posix())
        if matters and not hidden:
            self._tell(path)

    def _heard_git(self, path: str, is_folder: bool, kind: str) -> None:
        parts = Path(path).parts
        if not is_folder and not path.endswith(".lock") and any(name in parts for name in _REFS):
            self._tell(path)

    def _tell(self, path: str) -> None:
        with self._something:
            self._changed.add(path)
            self._something.notify()


class _Handler(FileSystemEventHandler):
    def __init__(self, heard: Callable[[str, bool, str], None]) -> None:
        self._heard = heard

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in _TELLING and not (event.is_directory and event.event_type == "modified"):
            for path in filter(None, (event.src_path, event.dest_path)):
                self._heard(str(path), event.is_directory, event.event_type)


def _git_places(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield the folders of a repository that tell of commits, each with whether those below it matter too."""
    try:
        found = pygit2.discover_repository(str(folder))
    except pygit2.GitError:
        return
    if found is None:
        return
    own = Path(found).resolve()
    named = own / "commondir"  # of a linked work tree, whose branches lie with the repository
    common = (own / named.read_text().strip()).resolve() if named.is_file() else own
    yield from ((place, False) for place in dict.fromkeys((own, common)))
    yield from ((common / name, True) for name in ("refs", "reftable") if (common / name).is_dir())


def _poller() -> BaseObserver:
    return PollingObserverVFS(stat=os.stat, listdir=_listed, polling_interval=_POLL)


def _listed(folder: str | None) -> Iterator[os.DirEntry[str]]:
    """Yield what a folder holds, without what is hidden and vast, such as .git."""
    for entry in os.scandir(folder):
        if entry.name not in _SKIPPED and (entry.name == _OWN or not entry.name.startswith(".")):
            yield entry
