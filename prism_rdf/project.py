"""A project (namespace) of a store with every verb: what it answers, what it records, what it takes in."""

from __future__ import annotations

from typing import Any

from pyoxigraph import NamedNode

from prism_rdf.deduplicating import DuplicatesVerbs
from prism_rdf.drafting import DraftingVerbs
from prism_rdf.ending import EndingVerbs
from prism_rdf.migrating import MigratingVerbs
from prism_rdf.saved.verbs import SavedQueriesVerbs
from prism_rdf.starting import StartingVerbs
from prism_rdf.statements import node_named
from prism_rdf.storage.about import about
from prism_rdf.watching import WatchingVerbs


class Project(
    WatchingVerbs, MigratingVerbs, DuplicatesVerbs, DraftingVerbs, EndingVerbs, StartingVerbs, SavedQueriesVerbs
):
    """One project of a store. Get it with ``Prism.project(pid)``."""

    def forget(self, ref: str, *, dry_run: bool = False, idempotency_key: str = "") -> dict[str, Any]:
        """Remove an entity or a memory for good: itself, what quotes it, and what that was the cause of.

        The store and its log are written anew without it, other histories stay as they are, and reading its source
        again does not bring it back. Returns ``{"dry_run", "commit", "recorded_at", "going", "notes"}``; ``going``
        lists all that goes as ``{"node", "what", "why", "says"}``, and with ``dry_run`` nothing else happens. Copies
        made before, such as backups, still hold it. Raises UnknownEntity, AmbiguousError, RefusedError.
        """
        return self.prism.forget(self.pid, lambda: self._thing(ref), dry_run=dry_run, key=idempotency_key)

    def _thing(self, ref: str) -> NamedNode:
        """Return the memory of this uuid or IRI, else the entity that bears the name ``ref`` itself, merged or not."""
        memory = node_named(ref, self.names.memory)
        if memory is not None and about(self.prism.store, memory, self.names.graph("memory")).quads:
            return memory
        return self._named_itself(ref)
