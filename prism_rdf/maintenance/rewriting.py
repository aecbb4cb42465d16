"""A whole store written anew in place of the old one, in one step; what is to be in it is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from prism_rdf.maintenance.site import Site, no_room
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.folder import StoreFolder, remove


@dataclass(frozen=True)
class Fresh:
    """The store that is being written: empty at first, and without a change log, which is written into ``folder``."""

    store: EmbeddedStore
    folder: StoreFolder | None


@contextmanager
def rewriting(site: Site) -> Iterator[Fresh]:
    """Yield an empty store; it takes the place of the old one, with its log, when all went well. Writers wait.

    Until the one rename that puts it in place the store is as it was, and a crash leaves it so; after it, whoever
    opens the store finishes removing the old one. Search indexes go with the old one. An error leaves all as it was;
    raises RefusedError when the disk refuses.
    """
    with site.committer.paused():
        if site.folder is None:
            fresh = Fresh(EmbeddedStore(), None)
            yield fresh
            _adopt(site, fresh)
            return
        folder = site.folder.following()
        try:
            with _built(folder) as store:
                fresh = Fresh(store, folder)
                yield fresh
                store.flush()
                folder.take_over()
        except OSError as error:
            raise no_room("the new store", error) from error
        _adopt(site, fresh)


@contextmanager
def _built(folder: StoreFolder) -> Iterator[EmbeddedStore]:
    """Yield the store of the parts of a generation that is being built; they are removed again on any error."""
    _remove_parts(folder)  # of an attempt that failed in this process
    store: EmbeddedStore | None = None
    try:
        store = EmbeddedStore(folder.quads)
        yield store
    except BaseException:
        if store is not None:
            store.close()
        with suppress(OSError):
            _remove_parts(folder)
        raise


def _adopt(site: Site, fresh: Fresh) -> None:
    site.store.become(fresh.store)
    if fresh.folder is not None:
        site.log.move(fresh.folder.log)
        _empty_diaries(fresh.folder.path)
        fresh.folder.clear_leftovers()
    site.committer.reread()


def _remove_parts(folder: StoreFolder) -> None:
    for part in (folder.quads, folder.log):
        remove(part)


def _empty_diaries(folder: Path) -> None:
    """Empty what processes wrote down beside the store, such as error messages: they may quote what is gone."""
    for diary in folder.glob("owner.log*"):
        with diary.open("r+b") as file:
            file.truncate(0)
