"""The change feed of a store: its commits as they were written, and as they are told; nothing is changed here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from pyoxigraph import NamedNode

from prism_rdf.commit import Committer, touched_by
from prism_rdf.free import is_free
from prism_rdf.storage.changelog import ChangeLog, LoggedChange, LoggedText
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
        return (text.change() for text in self._logged(since))

    def _logged(self, since: int) -> Iterator[LoggedText]:
        last = self.commit_number  # what the log has beyond it is being written now, and may yet be rolled back
        if since >= last:
            return iter(())  # to look for the end of a log takes as long as its last commits are large
        return takewhile(lambda text: text.number <= last, self._log.read_texts(since))

    def log(self, since: int = 0, pid: str | None = None) -> Iterator[dict[str, object]]:
        """Yield the commits after number ``since``, oldest first, of one project or of all.

        Each is ``{"commit", "recorded_at", "pid", "verb", "entities", "added", "removed"}``; ``entities`` are those
        whose history, names or references the commit changed, the last two count quads.
        """
        for text in self._logged(since):
            if pid is None or text.namespace == pid:
                change = text.change(self._is_of_engine)  # free graphs, however much there is in them, say of no entity
                yield {
                    "commit": change.number,
                    "recorded_at": change.recorded_at.iso(),
                    "pid": change.namespace,
                    "verb": change.verb,
                    "entities": [entity.value for entity in touched_by(self.store, change, self.base)],
                    "added": text.adds.count("\n"),
                    "removed": text.removes.count("\n"),
                }

    def _is_of_engine(self, graph: str) -> bool:
        return graph.startswith(f"{self.base}/") and not is_free(NamedNode(graph), self.base)
