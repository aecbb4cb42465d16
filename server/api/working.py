"""The verbs that are jobs: each as steps that a job goes through, and where what they write on disk may lie."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_rdf.errors import RefusedError

from .jobs import Job, Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_rdf import Prism

    Speaking = Callable[[], AbstractContextManager[None]]

_BACKUPS = ".backups"
SUFFIXES = {"trig": ("trig", "application/trig"), "nquads": ("nq", "application/n-quads")}
_JSONLD = ("jsonld", "application/ld+json")
_Steps = Generator[tuple[int, int], None, Any]


class Workshop:
    """Makes the work of a job of a verb and its arguments; ``close`` removes the files of exports."""

    def __init__(self, prism: Prism) -> None:
        self._prism = prism
        self._exports: tempfile.TemporaryDirectory[str] | None = None

    def work(self, verb: str, pid: str | None, options: Mapping[str, Any], speaking: Speaking) -> Work:
        """Return the work; ``speaking`` has it claim no more than its caller may."""
        if verb == "rebuild":
            return lambda: self._rebuild(**options)
        if verb == "backup":
            return lambda: self._backup(**options)
        if verb == "export":
            return lambda: self._export(**options)
        assert pid is not None

        def whole() -> _Steps:
            yield 0, 1
            with speaking():
                return getattr(self._prism.project(pid), verb)(**options)

        return whole

    def keep_file(self, job: Job) -> None:
        """Let the file of an export be that of its job, and be named nowhere else."""
        if job.verb == "export" and job.result is not None:
            job.file = Path(job.result.pop("target"))
            job.result["file"] = f"/jobs/{job.id}/file"

    def close(self) -> None:
        if self._exports is not None:
            self._exports.cleanup()

    def _rebuild(self, pid: str | None = None) -> _Steps:
        pids = [pid] if pid else self._prism.projects()
        stale: dict[str, int] = {}
        for number, each in enumerate(pids):
            yield number, len(pids)
            stale |= self._prism.rebuild(each)
        return stale

    def _backup(self, name: str) -> _Steps:
        yield 0, 1
        folder = self._prism.folder
        if folder is None:
            raise RefusedError("a store in memory has no backup", rule="it keeps nothing", mend="export it")
        place = folder.path.parent / _BACKUPS / folder.tenant
        place.mkdir(parents=True, exist_ok=True)
        return {**self._prism.backup(place / name), "target": f"{_BACKUPS}/{folder.tenant}/{name}"}

    def _export(self, format: str = "trig", pid: str | None = None) -> _Steps:
        yield 0, 1
        if self._exports is None:
            self._exports = tempfile.TemporaryDirectory(prefix="prism-export-", ignore_cleanup_errors=True)
        with tempfile.NamedTemporaryFile(dir=self._exports.name, delete=False) as made:
            target = Path(made.name)
        return self._prism.export(target, format, pid)


def media_of(form: str) -> tuple[str, str]:
    """Return the suffix and the media type of a format of exports."""
    return SUFFIXES.get(form, _JSONLD)
