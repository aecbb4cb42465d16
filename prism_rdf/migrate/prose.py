"""What the prose of passages states, as candidates, once all rows are told; and whether a run came to the end of it.

Who may be meant is known only then. So a mark says that passages were told whose prose is still to be read: where a
run was stopped in between, the next one reads the prose of all passages, not of its new ones alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyoxigraph import NamedNode

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.clock import Instant
from prism_rdf.evidence.memories import memory_node
from prism_rdf.ingest.prose_memories import Knowing, guessed_in
from prism_rdf.ingest.values import declared_by
from prism_rdf.migrate.said import Project, references_by
from prism_rdf.migrate.telling import Ends, ends_of
from prism_rdf.migrate.understanding import Artifact
from prism_rdf.model import Bookmark, Intent, Memory, Reference
from prism_rdf.namespaces import Names

_PROSE = "prose"  # the mapping of the mark
_BEGUN, _READ = "begun", "read"

Meant = Callable[[str, Instant], list[str]]  # the uuids of those that bear a name


def begun(source: str) -> Bookmark:
    """Return the mark that passages are told whose prose is still to be read."""
    return Bookmark(f"migrate:{source}", _PROSE, _BEGUN)


def read(source: str) -> Bookmark:
    """Return the mark that the prose of all passages was read."""
    return Bookmark(f"migrate:{source}", _PROSE, _READ)


def was_interrupted(project: Any, source: str) -> bool:
    """Return whether a run told passages and did not come to read their prose."""
    return any((mark.mapping, mark.commit) == (_PROSE, _BEGUN) for mark in project.bookmarks(f"migrate:{source}"))


@dataclass(frozen=True)
class Told:
    """Who bears a name, in the rows and in the project; and what the project holds of properties."""

    project: Project
    meant: Meant

    def bearer_uuid(self, identifier: str, at: Instant) -> str | None:
        return _one(self.meant(identifier, at))

    def property_held(self, uuid: str, name: str, at: Instant) -> tuple[NamedNode | None, tuple[str, ...]]:
        return self.project.property_held(uuid, name, at)


@dataclass
class Foreseen:
    """The same before anything is written: what the rows say, beside what the project holds, if there is one."""

    meant: Meant
    catalog: TypeCatalog
    project: Project | None
    links: set[Ends] = field(default_factory=set)
    _rows: dict[str, list[Artifact]] = field(default_factory=dict)

    def note(self, uuid: str, artifact: Artifact) -> None:
        self._rows.setdefault(uuid, []).append(artifact)

    def bearer_uuid(self, identifier: str, at: Instant) -> str | None:
        return _one(self.meant(identifier, at))

    def property_held(self, uuid: str, name: str, at: Instant) -> tuple[NamedNode | None, tuple[str, ...]]:
        rows = self._rows.get(uuid)
        if rows is None:
            return self.project.property_held(uuid, name, at) if self.project is not None else (None, ())
        declared = declared_by(self.catalog.type(rows[0].type)).get(name)
        until = [each for each in rows if each.created <= at and (each.stood <= at or each is rows[0])]
        values = until[-1].values.get(name, ()) if until else ()
        return (declared.iri, tuple(values)) if declared is not None else (None, ())


def references_said(project: Project, passages: Iterable[Memory]) -> set[Ends]:
    """Return the references that the rows of some passages make themselves."""
    places = list(dict.fromkeys(each.source.partition("@")[0] for each in passages))
    return {ends_of(each) for told in references_by(project, places).values() for each in told}


def guess(
    passages: Sequence[Memory], names: Names, knowing: Knowing, said: Collection[Ends]
) -> list[tuple[Memory, list[Intent]]]:
    """Return what the prose of passages states, as candidates; not what their rows say themselves (``said``)."""
    found: list[tuple[Memory, list[Intent]]] = []
    for passage in passages:
        new = [
            each
            for each in guessed_in(passage, memory_node(passage, names), knowing)
            if not (isinstance(each.proposal, Reference) and ends_of(each.proposal) in said)
        ]
        if new:
            found.append((passage, list(new)))
    return found


def _one(found: Sequence[str]) -> str | None:
    return found[0] if len(found) == 1 else None
