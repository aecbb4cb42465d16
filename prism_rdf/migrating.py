"""What a project takes in from the tables of an older system, and lets go of again; rows are read in migrate/."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.schemas import Schema
from prism_rdf.clock import SystemClock
from prism_rdf.errors import RefusedError
from prism_rdf.ingesting import IngestingVerbs
from prism_rdf.model import Receipt

if TYPE_CHECKING:
    from prism_rdf.migrate import Migration

_SHOWN = 3  # findings of a check


class MigratingVerbs(IngestingVerbs):
    """The verbs of a project that have to do with an older system."""

    def migrate(
        self,
        source: str | PathLike[str],
        mapping: str | PathLike[str],
        *,
        dry_run: bool = False,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> dict[str, Any]:
        """Read the artifacts and memories of an older system's tables, as a mapping file explains them.

        ``source`` is a CSV or JSON Lines file, a folder of them, a SQLite file or a postgresql:// address. Each row is
        an entity that begins at its created_at; a row that changed since the last run is a state from its updated_at.
        Returns ``{"dry_run", "receipt", "commits", "report"}``; the report counts what is new and names the rows that
        were left out. Running it again changes nothing. Raises NotFoundError, BadArgument, and BadTime for times
        without a zone where the mapping names none; nothing is written then.
        """
        found = migration(str(source), Path(mapping), self.pid, self, None if dry_run else lambda: self)
        return {"dry_run": dry_run, **found.run(progress).as_dict()}

    def drop_legacy(self, *, dry_run: bool = False) -> dict[str, Any]:
        """Stop believing the older system's memories, and so what they mention; only when the check is clean.

        Returns ``{"dry_run", "commits", "legacy", "findings"}``; ``legacy`` counts what goes, and with ``dry_run``
        nothing else happens. Another migration does not bring them back. Raises RefusedError when there are findings.
        """
        from prism_rdf.migrate.legacy import legacy_of, removals

        legacy, findings = legacy_of(self), self.check()
        if findings and not dry_run:
            first = "; ".join(f"{each['check']}: {each['entity']} {each['detail']}" for each in findings[:_SHOWN])
            raise RefusedError(
                f"the check of {self.pid} has {len(findings)} findings, so the older memories stay: {first}",
                rule="what is older is dropped only when what takes its place is sound",
                mend="mend what `prism check` lists, then run it again",
            )
        commits: list[int] = []
        if not dry_run and legacy.memories:
            receipts: list[Receipt] = [self.write(batch, "drop-legacy") for batch in removals(self, legacy.sources)]
            commits = [receipt.commit for receipt in receipts if receipt.commit is not None]
        return {"dry_run": dry_run, "commits": commits, "legacy": asdict(legacy), "findings": findings}


def migration(
    source: str,
    mapping: Path,
    pid: str,
    project: MigratingVerbs | None,
    taker: Callable[[], MigratingVerbs] | None,
) -> Migration:
    """Return a run over a source that has not begun; ``project`` None: there is none yet. Raises as ``migrate``."""
    from prism_rdf.migrate import Migration, load

    catalog = TypeCatalog.shipped() if project is None else Schema.of(project.type_texts()).catalog
    return Migration(source, load(mapping, catalog), pid, catalog, project, taker, SystemClock().now())
