"""What a reading of documents comes to: the intents, and a report of what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from prism_rdf.clock import Instant
from prism_rdf.model import Intent


@dataclass(frozen=True)
class Skipped:
    """A file among the documents that is none itself."""

    path: str
    why: str


@dataclass(frozen=True)
class Recognised:
    """A file that is taken for a document: its type, identifier and title, and by what it was recognised."""

    path: str
    type: str
    number: str
    title: str
    why: str


@dataclass(frozen=True)
class Dangling:
    """An identifier that no document ever bore, and the version that first says it."""

    document: str
    identifier: str
    at: Instant


@dataclass(frozen=True)
class Ambiguous:
    """An identifier that several documents bore when it was said, none of them nearest: no reference is made."""

    document: str
    identifier: str
    at: Instant
    candidates: tuple[str, ...]


@dataclass(frozen=True)
class Duplicate:
    """One number on several documents at once, since ``at``; ``outcome`` says who carries it.

    ``commit`` brought it about; it is empty in a plain folder.
    """

    number: str
    documents: tuple[str, ...]
    at: Instant
    outcome: str
    commit: str = ""


@dataclass(frozen=True)
class Failure:
    """A version of a file that could not be read; ``commit`` is empty in a plain folder, ``line`` 0 when unknown."""

    path: str
    commit: str
    reason: str
    rule: str
    mend: str
    line: int = 0


@dataclass(frozen=True)
class Refused:
    """Something that a document says and that a rule of the store does not allow."""

    what: str
    reason: str
    mend: str


@dataclass(frozen=True)
class IngestReport:
    """Counts of what was read, and everything that did not become data.

    ``failed_before`` counts the failures of an earlier run, when nothing is new since; that run named them.
    """

    documents: int = 0
    versions: int = 0
    states: int = 0
    references: int = 0
    aliases: int = 0
    memories: int = 0
    candidates: int = 0
    notes: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    dangling: tuple[Dangling, ...] = ()
    ambiguous: tuple[Ambiguous, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    failures: tuple[Failure, ...] = ()
    refused: tuple[Refused, ...] = ()
    failed_before: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the report in JSON's own types, times as ISO text."""
        return {entry.name: _plain(getattr(self, entry.name)) for entry in fields(self)}


@dataclass(frozen=True)
class Proposal:
    """What a reading wants written: identities and their events first, references last."""

    intents: tuple[Intent, ...]
    report: IngestReport


def _plain(value: Any) -> Any:
    if isinstance(value, Instant):
        return value.iso()
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, (str, int, Mapping)):
        return value
    return {entry.name: _plain(getattr(value, entry.name)) for entry in fields(value)}
