"""The folder of an index: one that is gone with its user, and one made anew beside it that takes its place."""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp


def kept_for_now(user: object, name: str) -> Path:
    """Return a place for an index that goes when ``user`` is no longer used; the folder itself is not made."""
    room = mkdtemp(prefix="prism-")
    weakref.finalize(user, shutil.rmtree, room, ignore_errors=True)
    return Path(room, name)


@contextmanager
def made_anew(folder: Path) -> Iterator[Path]:
    """Give the place to build the successor of ``folder`` in; nothing stays there when the building fails."""
    fresh = folder.with_name(f"{folder.name}.fresh")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        yield fresh
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def take_place(fresh: Path, folder: Path, between: Callable[[], None]) -> None:
    """Make ``fresh`` the folder; ``between`` is called when it is, and the old one goes afterwards."""
    old = folder.with_name(f"{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        os.replace(folder, old)
    os.replace(fresh, folder)
    between()
    shutil.rmtree(old, ignore_errors=True)
