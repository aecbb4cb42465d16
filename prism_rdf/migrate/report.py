"""What a migration came to: counts, and every row that did not go in, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class BadRow:
    """A row that was left out, or a part of one; ``number`` counts the rows of a table from 1."""

    table: str
    number: int
    id: str
    column: str
    reason: str
    mend: str


@dataclass(frozen=True)
class Unknown:
    """What a row names and that nobody bears, or that several bear: no reference is made."""

    table: str
    id: str
    identifier: str
    bearers: int


@dataclass(frozen=True)
class Example:
    """A row as it is understood, for eyes; times are ISO 8601."""

    type: str
    id: str
    identifier: str
    title: str
    valid_from: str
    updated_at: str


@dataclass
class MigrationReport:
    """Counts of what was read and of what is new by this run; a second run of the same rows has only ``rows``."""

    rows: int = 0
    entities: int = 0
    states: int = 0
    passages: int = 0
    references: int = 0
    aliases: int = 0
    legacy_memories: int = 0
    candidates: int = 0
    types: dict[str, int] = field(default_factory=dict)
    examples: list[Example] = field(default_factory=list)
    bad_rows: list[BadRow] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> Mapping[str, Any]:
        """Return the report in JSON's own types."""
        return asdict(self)
