"""A project (namespace) of a store with every verb: what it answers, what it records, what it takes in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode

from prism_rdf.deduplicating import DuplicatesVerbs
from prism_rdf.drafting import DraftingVerbs
from prism_rdf.model import Event, Intent, NewEntity
from prism_rdf.reviewing import ReviewingVerbs
from prism_rdf.statements import node_named
from prism_rdf.storage.about import about
from prism_rdf.teaching import TeachingVerbs


class Project(DuplicatesVerbs, DraftingVerbs, ReviewingVerbs, TeachingVerbs):
    """One project of a store. Get it with ``Prism.project(pid)``."""

    def ingest(
        self,
        path: str | PathLike[str],
        *,
        ref: str | None = None,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> dict[str, Any]:
        """Read the decision records of a git repository or a folder, with their history, in one commit.

        Returns ``{"receipt", "report"}``; the report names what was skipped, dangling, ambiguous or failed. Running it
        again changes nothing. ``ref`` is read in place of the checked-out branch; ``progress`` is told (done, total,
        label). Raises NotFoundError, NotARepository, BadArgument; a bad file is a failure in the report.
        """
        from prism_rdf.ingest import read

        proposal = read(Path(path), self.names, ref=ref, progress=progress, resolve=self.bearer_uuid)
        receipt = self.write(proposal.intents, "ingest")
        gone = self.left_behind(Path(path), proposal.intents)
        return {"receipt": receipt.as_dict(), "report": proposal.report.as_dict(), "left_behind": gone}

    def left_behind(self, folder: Path, intents: Iterable[Intent]) -> list[str]:
        """Return the paths of current documents of an earlier reading of a plain folder that it no longer holds.

        Without a history nobody can say whether a file was renamed or deleted, so they stay as they are. Empty when
        ``intents`` are not of a plain folder.
        """
        wanted = tuple(intents)
        if not any(isinstance(intent, Event) and intent.source.startswith("file:") for intent in wanted):
            return []
        read = {intent.uuid for intent in wanted if isinstance(intent, NewEntity)}
        query = f"""SELECT DISTINCT ?entity ?path {{
            GRAPH {self.names.graph("temporal")} {{
                ?event prism:changes ?entity ; prism:source ?source FILTER (STRSTARTS(?source, "file:")) }}
            GRAPH {self.names.graph("current")} {{ ?entity prism:path ?path }} }}"""
        rows = self.prism.sparql(query, dataset="raw").rows()
        found = ((self.names.uuid_of(entity.value), path.value) for entity, path in rows)
        return sorted(path for uuid, path in found if uuid not in read and not (folder / path).exists())

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
