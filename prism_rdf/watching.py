"""What a project does as long as files change: it ingests them; which files changed is noticed in noticing.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.schemas import Schema
from prism_rdf.clock import SystemClock
from prism_rdf.errors import BusyError, NotARepository, NotFoundError, PrismError
from prism_rdf.ingesting import IngestingVerbs, open_source

if TYPE_CHECKING:
    from prism_rdf.ingest import Ingestion
    from prism_rdf.ingest.mapping import Mapping as Rules
    from prism_rdf.noticing import Noticing

_LISTS = ("left_behind", "retired", "reopened")
AGAIN = 5.0  # seconds after which a store that was busy is asked again

Progress = Callable[[int, int, str], None]
Ingest = Callable[[Progress, tuple[str, ...]], dict[str, Any]]  # with the paths that changed


class WatchingVerbs(IngestingVerbs):
    """The verb of a project that does not end by itself."""

    def watch(
        self,
        path: str | PathLike[str],
        *,
        ref: str | None = None,
        mapping: str = "",
        noticing: Noticing | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Ingest a folder or a repository now, and again after each change; yield what each run came to.

        Each is ``{"at", "path", "changed", "outcome", "receipt", "commits", "report", "left_behind", "retired",
        "reopened", "error"}``: ``changed`` are the paths of the burst (none at first), ``outcome`` is ingested,
        unchanged or failed, and ``error`` says why; a failure ends nothing. A document of a plain folder whose file is
        seen to go is retired, and reopened when it is back. It goes on until ``stop`` of ``noticing`` is called (see
        ``noticing_of``), or the iteration is given up. Raises NotFoundError, NotARepository, BadArgument, for a path
        or a mapping that cannot be meant from the beginning.
        """
        folder = Path(path)
        seeing = noticing if noticing is not None else noticing_of(folder, self, ref=ref, mapping=mapping)

        def ingest(told: Progress, changed: tuple[str, ...]) -> dict[str, Any]:
            source = open_source(folder, self.pid, self, ref=ref, mapping=mapping)
            return ingested(source, self, lambda: self, told, changed)

        with seeing:
            yield from runs(seeing, ingest)


def noticing_of(
    folder: Path,
    project: IngestingVerbs | None = None,
    *,
    ref: str | None = None,
    mapping: str = "",
    polling: bool = False,
) -> Noticing:
    """Return what notices changes of the files that may be documents. Raises NotFoundError, BadArgument, …

    A repository that has no commit yet may be watched, and so may an empty folder.
    """
    from prism_rdf.noticing import Noticing

    wanted = _Wanted(folder, mapping, TypeCatalog.shipped() if project is None else _catalog_of(project))
    try:
        open_source(folder, "watched", project, ref=ref, mapping=mapping)
    except NotFoundError as error:
        if isinstance(error, NotARepository) or not folder.is_dir():
            raise
    return Noticing(folder, wanted, polling=polling)


def ingested(
    source: Ingestion,
    known: IngestingVerbs | None,
    project: Callable[[], IngestingVerbs],
    told: Progress,
    changed: tuple[str, ...],
) -> dict[str, Any]:
    """Take in what is new of a source, and follow the files that went and came back; return what it came to.

    ``project`` is asked for only when there is something to write.
    """
    from prism_rdf.ingest import take_in

    taken = take_in(source, known, project, progress=told)
    if not taken.intents:
        return {**taken.as_dict(), **{name: [] for name in _LISTS}}
    went = [path for path in changed if not Path(path).exists()]
    followed = project().follow_deletions(source.path, taken.intents, went)
    left = project().left_behind(source.path, taken.intents)
    commits = [*taken.commits, *followed.pop("commits")]
    return {**taken.as_dict(), "commits": commits, "left_behind": left, **followed}


def runs(seeing: Noticing, ingest: Ingest) -> Iterator[dict[str, Any]]:
    """Yield what each run of ``ingest`` came to: one at first, one after each burst, and again after a busy store."""
    changed: tuple[str, ...] = ()
    while not seeing.stopped:
        found = _run(seeing, ingest, changed)
        if found is None:
            return
        busy = found.pop("busy")
        yield found
        changed = seeing.burst(AGAIN if busy else None)


class _Stopped(Exception):
    """The watch ends while something is read; what is committed by then is what the next run goes on from."""


def _run(seeing: Noticing, ingest: Ingest, changed: tuple[str, ...]) -> dict[str, Any] | None:
    """Return what a run came to, and under ``busy`` whether to try again; None when it was stopped."""

    def told(done: int, total: int, label: str) -> None:
        if seeing.stopped:
            raise _Stopped

    said: dict[str, Any] = {"at": SystemClock().now().iso(), "path": str(seeing.folder), "changed": list(changed)}
    try:
        taken = ingest(told, changed)
    except _Stopped:
        return None
    except PrismError as error:
        nothing: dict[str, Any] = {"receipt": None, "commits": [], "report": None, **{name: [] for name in _LISTS}}
        why = error.as_dict()["error"]
        return {**said, "outcome": "failed", **nothing, "error": why, "busy": isinstance(error, BusyError)}
    outcome = "ingested" if taken["commits"] else "unchanged"
    return {**said, "outcome": outcome, **taken, "error": None, "busy": False}


class _Wanted:
    """Which files may be documents, by the mapping as it is now; the mapping counts too."""

    def __init__(self, folder: Path, given: str, catalog: TypeCatalog) -> None:
        from prism_rdf.ingest.mapping import OWN

        self._own, self._file, self._given, self._catalog = OWN, folder / OWN, given, catalog
        self._mapping, self._read_at = self._load(), self._changed_at()

    def __call__(self, path: str) -> bool:
        from prism_rdf.ingest.versions import may_hold_documents

        if path == self._own:
            return True
        if not self._given and self._changed_at() != self._read_at:
            try:
                self._mapping, self._read_at = self._load(), self._changed_at()
            except PrismError:
                return True  # the run says what is wrong with it
        return may_hold_documents(path, self._mapping)

    def _load(self) -> Rules:
        from prism_rdf.ingest.mapping import Mapping, load

        if self._given:
            return load(self._given, self._catalog)
        return load(str(self._file), self._catalog) if self._file.is_file() else Mapping()

    def _changed_at(self) -> int:
        try:
            return self._file.stat().st_mtime_ns
        except OSError:
            return 0


def _catalog_of(project: IngestingVerbs) -> TypeCatalog:
    return Schema.of(project.type_texts()).catalog
