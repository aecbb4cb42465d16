"""A whole store written anew in place of the old one, in one step; what is to be in it is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pyoxigraph import Quad

from prism_rdf.maintenance.site import Site, no_room
from prism_rdf.storage.changelog import LoggedChange, write_log
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.folder import StoreFolder, remove


def rewrite(site: Site, quads: Iterable[Quad], changes: Iterable[LoggedChange]) -> StoreFolder | None:
    """Make the store hold exactly these quads and the log these commits, and remove all there was before.

    Call it while writing is paused. Returns the folder from then on; what was built on the old one (search indexes)
    is gone. Until the one rename that puts it in place the store is as it was, and a crash leaves it so; after it,
    whoever opens the store finishes the removal. Raises RefusedError when the disk refuses.
    """
    if site.folder is None:
        fresh = EmbeddedStore()
        fresh.load(quads)
        site.store.become(fresh)
        site.committer.reread()
        return None
    folder = site.folder.following()
    try:
        for part in (folder.quads, folder.log):
            remove(part)  # of an attempt that failed in this process
        fresh = write_store(folder, quads, changes)
        folder.take_over()
    except OSError as error:
        for part in (folder.quads, folder.log):
            with suppress(OSError):
                remove(part)
        raise no_room("the new store", error) from error
    site.store.become(fresh)
    site.log.move(folder.log)
    site.committer.reread()
    _empty_diaries(folder.path)
    folder.clear_leftovers()
    return folder


def write_store(folder: StoreFolder, quads: Iterable[Quad], changes: Iterable[LoggedChange]) -> EmbeddedStore:
    """Write the parts of a store that is being built; they are on disk when the open store is returned."""
    fresh = EmbeddedStore(folder.quads)
    try:
        fresh.load(quads)
        fresh.flush()
        write_log(folder.log, changes)
    except BaseException:
        fresh.close()
        raise
    return fresh


def _empty_diaries(folder: Path) -> None:
    """Empty what processes wrote down beside the store, such as error messages: they may quote what is gone."""
    for diary in folder.glob("owner.log*"):
        with diary.open("r+b") as file:
            file.truncate(0)
