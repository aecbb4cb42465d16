"""The parts of one open store that maintenance works on, together; each part is made elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from prism_rdf.changes import Ground
from prism_rdf.clock import Clock, Instant
from prism_rdf.commit import Committer
from prism_rdf.errors import RefusedError
from prism_rdf.storage.changelog import ChangeLog
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.folder import StoreFolder


@dataclass(frozen=True)
class Site:
    """An open store from the inside. ``folder`` is None for a store in memory."""

    folder: StoreFolder | None
    base: str
    ground: Ground
    store: EmbeddedStore
    log: ChangeLog
    committer: Committer
    clock: Clock

    def now(self) -> Instant:
        """Return the present, which is not before the last commit even when the clock was put back."""
        now, last = self.clock.now(), self.committer.recorded_at
        return now if last is None else max(now, last)

    def own_folder(self) -> StoreFolder:
        """Return the folder; raise RefusedError for a store in memory."""
        if self.folder is None:
            raise RefusedError(
                "a store in memory has no files",
                rule="a backup copies the files of a store",
                mend="export it instead",
            )
        return self.folder


def no_room(what: str, error: OSError) -> RefusedError:
    """Return the error for what a disk refused: nothing of it is left, and what was there is as it was."""
    return RefusedError(
        f"{what} cannot be written: {error.strerror or error}",
        rule="it appears whole or not at all",
        mend="free some disk space or mend the permissions, then try again; nothing was changed",
    )
