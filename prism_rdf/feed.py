"""The change feed of a store: its commits as they were written, and as they are told; nothing is changed here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from prism_rdf.commit import Committer, touched_by
from prism_rdf.storage.changelog import ChangeLog, LoggedChange
from prism_rdf.storage.embedded import EmbeddedStore


class FeedVerbs:
    """What a store tells of its commits; ``Prism`` has the rest."""

    store: EmbeddedStore
    base: str
    _log: ChangeLog
    _committer: Committer

    @property
    def commit_number(self) -> int:
        """Return the number of the last commit; 0 in a new store."""
        return self._committer.number

    def changes(self, since: int) -> Iterator[LoggedChange]:
        """Yield the commits with a number greater than ``since``, in order, as they were written."""
        last = self.commit_number  # what the log has beyond it is being written now, and may yet be rolled back
        return takewhile(lambda change: change.number <= last, self._log.read(since))

    def log(self, since: int = 0, pid: str | None = None) -> Iterator[dict[str, object]]:
        """Yield the commits after number ``since``, oldest first, of one project or of all.

        Each is ``{"commit", "recorded_at", "pid", "verb", "entities", "added", "removed"}``; ``entities`` are those
        whose history, names or references the commit changed, the last two count quads.
        """
        for change in self.changes(since):
            if pid is None or change.namespace == pid:
                yield {
                    "commit": change.number,
                    "recorded_at": change.recorded_at.iso(),
                    "pid": change.namespace,
                    "verb": change.verb,
                    "entities": [entity.value for entity in touched_by(self.store, change, self.base)],
                    "added": len(change.adds),
                    "removed": len(change.removes),
                }
