"""A backup made a store again: verified, built apart, and put in place whole; also as it was at an earlier commit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from pyoxigraph import NamedNode, Quad

from prism_rdf.changes import DUE_AT, Ground
from prism_rdf.clock import Instant, TimeInput, as_of_instant
from prism_rdf.commit import HAS_NAMESPACE, last_commit
from prism_rdf.errors import NotFoundError, RefusedError, StoreVersionError
from prism_rdf.forgotten import TOMBSTONE
from prism_rdf.free import is_unmanaged
from prism_rdf.maintenance.backup import FORMAT_VERSION, MANIFEST, Manifest, checksum, copy_file
from prism_rdf.maintenance.derived import current_graph
from prism_rdf.maintenance.site import no_room
from prism_rdf.namespaces import RDF_TYPE, Names, meta_graph
from prism_rdf.storage.about import about
from prism_rdf.storage.changelog import LoggedChange, read_log, write_log
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.folder import StoreFolder, building, vacant

_BATCH = 100_000


def restore(source: Path, home: Path, tenant: str, at: TimeInput | int | None = None) -> dict[str, Any]:
    """Make the store of a tenant from a backup, where there is none; ``at``: as it was then, or after that commit.

    Everything is verified before the store is visible. Returns ``{"store", "tenant", "commit", "recorded_at",
    "made_at"}``. Raises RefusedError when there is a store, or the backup is damaged or another tenant's;
    NotFoundError for a point in time that the backup does not reach.
    """
    manifest = _verified(source)
    if manifest.tenant != tenant:
        raise RefusedError(
            f"{source} is a backup of tenant {manifest.tenant!r}, not {tenant!r}",
            rule="the tenant is part of every identity in a store",
            mend=f"restore it with --tenant {manifest.tenant}",
        )
    folder = StoreFolder(vacant(home, tenant), tenant, manifest.base)
    point = None if at is None else _point(source, manifest, at)
    try:
        with building(folder) as fresh:
            if point is None:
                _copy(source, fresh, manifest.files)
            else:
                _replay(source, fresh, point)
            commit, recorded_at = _last(fresh)
            if commit != (manifest.commit if point is None else point.commit):
                raise _damaged(source, f"its store ends with commit {commit}, not {manifest.commit}")
    except OSError as error:
        raise no_room(f"the store {folder.path}", error) from error
    return {
        "store": str(folder.path),
        "tenant": tenant,
        "commit": commit,
        "recorded_at": recorded_at.iso() if recorded_at else None,
        "made_at": manifest.made_at,
    }


def _verified(source: Path) -> Manifest:
    try:
        says = json.loads((source / MANIFEST).read_text("utf-8"))
        manifest = Manifest(**says)
        files = dict(manifest.files)
    except (OSError, ValueError, TypeError) as error:
        raise RefusedError(
            f"{source} is not a backup of a store",
            rule=f"a backup is a folder with {MANIFEST}, which names its files and their checksums",
            mend="make one with `prism backup TARGET`",
        ) from error
    if manifest.format > FORMAT_VERSION:
        raise StoreVersionError(
            f"the backup {source} has format {manifest.format}, this release reads up to {FORMAT_VERSION}",
            rule="an older release never guesses at what a newer one wrote",
            mend="upgrade: pip install --upgrade prism-rdf",
        )
    for name, expected in files.items():
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise _damaged(source, f"it names {name}, which is not in it")
        if not (source / name).is_file():
            raise _damaged(source, f"{name} is missing")
        if checksum(source / name) != expected:
            raise _damaged(source, f"{name} is not what was backed up")
    return manifest


def _damaged(source: Path, how: str) -> RefusedError:
    return RefusedError(
        f"the backup {source} is damaged: {how}",
        rule="a backup is restored only when every file is as it was written",
        mend="restore another backup",
    )


def _copy(source: Path, fresh: StoreFolder, files: Iterable[str]) -> None:
    for name in files:
        target = fresh.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy_file(source / name, target, mode=0o600 if target == fresh.forget_key else 0o644)


@dataclass(frozen=True)
class _Point:
    """A commit to go back to, and the tombstones of later ones: what was forgotten since stays so."""

    commit: int
    recorded_at: Instant
    tombstones: tuple[Quad, ...]


def _point(source: Path, manifest: Manifest, at: TimeInput | int) -> _Point:
    """Return the last commit at or before ``at``; raise NotFoundError when the log does not reach it."""
    limit = at if isinstance(at, int) else as_of_instant(at)
    found: LoggedChange | None = None
    later: list[Quad] = []
    for change in _logged(source):
        if change.number <= limit if isinstance(limit, int) else change.recorded_at <= limit:
            found = change
        else:
            later += _tombstones(change.adds, meta_graph(manifest.base))
    if found is None or (isinstance(limit, int) and limit > manifest.commit):
        raise NotFoundError(
            f"the backup does not reach {'commit ' if isinstance(limit, int) else ''}{limit}",
            rule=f"it ends with commit {manifest.commit} of {manifest.recorded_at or 'no time'}",
            mend="name a point that lies in it; `prism log` lists the commits of a store",
        )
    return _Point(found.number, found.recorded_at, tuple(later))


def _tombstones(quads: Iterable[Quad], meta: NamedNode) -> list[Quad]:
    ours = [quad for quad in quads if quad.graph_name == meta]
    graves = {quad.subject for quad in ours if quad.predicate == RDF_TYPE and quad.object == TOMBSTONE}
    return [quad for quad in ours if quad.subject in graves]


def _logged(source: Path) -> Iterator[LoggedChange]:
    return read_log(source / "changes.log")


def _replay(source: Path, fresh: StoreFolder, point: _Point) -> None:
    """Write the store that the commits up to a point make, and a log of just these."""
    store = EmbeddedStore(fresh.quads)
    try:
        pending: dict[Quad, bool] = {}
        for change in _until(source, point):
            pending |= dict.fromkeys(change.removes, False) | dict.fromkeys(change.adds, True)
            if len(pending) > _BATCH:
                store.patch(_primary(pending, fresh.base))
                pending = {}
        store.patch(_primary(pending, fresh.base))
        ground = Ground(store, fresh.tenant)
        meta = meta_graph(fresh.base)
        for namespace in about(store, NamedNode(fresh.base), meta).texts(HAS_NAMESPACE):
            store.load(list(current_graph(ground, Names(fresh.base, namespace), point.recorded_at)))
        store.flush()
        if is_unmanaged(store, fresh.base):
            replace(fresh, managed=False).take_over()
    finally:
        store.close()
    write_log(fresh.log, _until(source, point))
    if (source / fresh.forget_key.name).is_file():
        copy_file(source / fresh.forget_key.name, fresh.forget_key, mode=0o600)


def _until(source: Path, point: _Point) -> Iterator[LoggedChange]:
    """Yield the commits up to the point; the last one also has the tombstones of later ones."""
    changes = (change for change in _logged(source) if change.number <= point.commit)
    before = next(changes)
    for change in changes:
        yield before
        before = change
    yield replace(before, adds=(*before.adds, *point.tombstones))


def _primary(quads: dict[Quad, bool], base: str) -> dict[Quad, bool]:
    """Leave out the current graphs: they follow from the rest and the time, and not every change of them is logged."""
    current = re.compile(rf"{re.escape(base)}/[^/]+/graph/current")
    return {
        quad: there
        for quad, there in quads.items()
        if quad.predicate != DUE_AT
        and not (isinstance(quad.graph_name, NamedNode) and current.fullmatch(quad.graph_name.value))
    }


def _last(fresh: StoreFolder) -> tuple[int, Instant | None]:
    store = EmbeddedStore(fresh.quads)
    try:
        return last_commit(store, fresh.base)
    finally:
        store.close()
