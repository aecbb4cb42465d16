"""Copies of a whole store on disk: made while writing goes on, verified, and put back, also to an earlier commit.

A backup is a folder: ``quads/`` (by hard links where the disk can), ``changes.log``, ``prism.json``, the key of the
tombstones where there is one, and ``backup.json`` with the commit and the checksum of every file. Search indexes are
left out: they are made anew from the store.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from prism_rdf.errors import RefusedError
from prism_rdf.maintenance.site import Site, no_room
from prism_rdf.storage.folder import StoreFolder, remove, sync_folder

FORMAT_VERSION = 1
MANIFEST = "backup.json"

_PIECE = 1 << 20


@dataclass(frozen=True)
class Manifest:
    """What a backup says of itself; ``files`` maps each path in it to the sha256 of what lies there."""

    format: int
    tenant: str
    base: str
    commit: int
    recorded_at: str
    made_at: str
    files: dict[str, str]


def backup(site: Site, target: Path) -> dict[str, Any]:
    """Copy the store as it is at one commit into ``target``, which must not be there or be empty.

    Writers wait only while the files are linked. Returns ``{"target", "commit", "recorded_at", "files", "bytes"}``.
    Raises RefusedError; nothing is left in that case.
    """
    folder = site.own_folder()
    _refuse_occupied(target, folder)
    fresh = replace(folder, path=target.with_name(f".{target.name}.{os.getpid()}.new"), generation=1)
    try:
        fresh.path.mkdir(parents=True)
        manifest = _copy(site, folder, fresh)
        _write_manifest(fresh.path, manifest)
        fresh.path.rename(target)
        sync_folder(target.parent)
    except OSError as error:
        remove(fresh.path)
        raise no_room(f"the backup {target}", error) from error
    except BaseException:
        remove(fresh.path)
        raise
    return {
        "target": str(target),
        "commit": manifest.commit,
        "recorded_at": manifest.recorded_at or None,
        "files": len(manifest.files),
        "bytes": sum((target / name).stat().st_size for name in manifest.files),
    }


def _copy(site: Site, folder: StoreFolder, fresh: StoreFolder) -> Manifest:
    with site.committer.paused():
        commit, recorded_at = site.committer.number, site.committer.recorded_at
        site.store.backup(fresh.quads)
        log = folder.log.open("rb")
        size = site.log.size
        if folder.forget_key.is_file():
            copy_file(folder.forget_key, fresh.forget_key, mode=0o600)
    with log, fresh.log.open("xb") as copied:
        while size:  # the log only grows: what was in it under the lock still is
            piece = log.read(min(size, _PIECE))
            copied.write(piece)
            size -= len(piece)
        copied.flush()
        os.fsync(copied.fileno())
    fresh.take_over()
    return Manifest(
        format=FORMAT_VERSION,
        tenant=folder.tenant,
        base=folder.base,
        commit=commit,
        recorded_at=recorded_at.iso() if recorded_at else "",
        made_at=site.clock.now().iso(),
        files={str(file.relative_to(fresh.path)): checksum(file) for file in _files(fresh.path)},
    )


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def _refuse_occupied(target: Path, folder: StoreFolder) -> None:
    if target.resolve().is_relative_to(folder.path.resolve()):
        raise RefusedError(
            f"{target} lies in the store itself",
            rule="a backup is kept apart from what it is a copy of",
            mend="name a folder elsewhere, best on another disk",
        )
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise RefusedError(
            f"{target} is already there",
            rule="a backup never writes over anything",
            mend="name a folder that is not there yet, for instance with the date in its name",
        )


def _write_manifest(folder: Path, manifest: Manifest) -> None:
    with (folder / MANIFEST).open("x", encoding="utf-8") as file:
        file.write(json.dumps(asdict(manifest), indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    sync_folder(folder)


def checksum(file: Path) -> str:
    """Return the sha256 of a file, in hexadecimal."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def copy_file(source: Path, target: Path, mode: int = 0o644) -> None:
    """Copy a file to a place where there is none; it is on disk when this returns."""
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with source.open("rb") as read, open(handle, "wb") as written:
        while piece := read.read(_PIECE):
            written.write(piece)
        written.flush()
        os.fsync(written.fileno())
