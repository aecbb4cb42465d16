"""Recall wired for one project: its legs, its indexes in the store's folder, and catching up with the change log."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from prism_rdf.recall import AbsentLeg, GraphLeg, LexicalIndex, LexicalLeg, Recall, all_passages
from prism_rdf.recall.legs import LegHealth
from prism_rdf.recall.memories import MemoryReader

if TYPE_CHECKING:
    from prism_rdf.clock import Instant
    from prism_rdf.project import Project


class Answering:
    """Answers questions about one project; made once per project, safe to use from several threads."""

    def __init__(self, project: Project) -> None:
        prism, names = project.prism, project.names
        self._project = project
        self._lock = threading.Lock()
        folder = prism.folder.index("lexical", names.namespace) if prism.folder else None
        self._index = LexicalIndex.open(folder, names.graph("memory"))
        memories = MemoryReader(prism.store, names)

        def last_commit() -> int:
            return prism.commit_number

        self._recall = Recall(
            prism.store,
            names,
            prism.catalog.identifying,
            (
                AbsentLeg("vector", "there is no vector leg in this release"),
                LexicalLeg(self._index, last_commit),
                GraphLeg(prism.store, names, last_commit, memories),
            ),
            project.state_json_at,
            changes=project.prism.changes,
            memories=memories,
        )

    def ask(
        self, text: str, as_of: Instant, known_at: Instant | None, limit: int, prefer_wip: bool, explain: bool
    ) -> dict[str, Any]:
        """Catch up, then answer; see ``Recall.ask``."""
        self.catch_up()
        return self._recall.ask(text, as_of, known_at, limit, prefer_wip, explain)

    def catch_up(self) -> None:
        """Index what was written since the index was last written; an index that never was is built."""
        with self._lock:
            number = self._project.prism.commit_number
            if self._index.position is None and self._index.health().status == "absent":
                self._rebuild(number)
            elif self._index.position is not None and self._index.position < number:
                self._index.apply(self._project.prism.changes(self._index.position))
                if self._index.position < number and self._project.prism.folder is None:
                    self._rebuild(number)  # a store in memory keeps no log to follow

    def reindex(self) -> None:
        """Build the index anew from the store."""
        with self._lock:
            self._rebuild(self._project.prism.commit_number)

    def health(self) -> LegHealth:
        return self._index.health()

    def close(self) -> None:
        self._index.close()

    def _rebuild(self, number: int) -> None:
        self._index.rebuild(all_passages(self._project.prism.store, self._project.names), number)
