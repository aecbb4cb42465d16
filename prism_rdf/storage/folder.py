"""The folder of a tenant's store: where each part lies, and which version wrote it."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from prism_rdf.errors import BadArgument, NotAStore, NotFoundError, StoreVersionError
from prism_rdf.namespaces import check_name

FORMAT_VERSION = 1
_MARK = "prism.json"


@dataclass(frozen=True)
class StoreFolder:
    """``{home}/{tenant}/``: prism.json, quads/ (Oxigraph), changes.log, index/."""

    path: Path
    tenant: str
    base: str

    @property
    def quads(self) -> Path:
        return self.path / "quads"

    @property
    def log(self) -> Path:
        return self.path / "changes.log"

    def index(self, leg: str, namespace: str) -> Path:
        return self.path / "index" / leg / namespace


def open_folder(home: Path, tenant: str, *, create: bool, base: str | None = None) -> StoreFolder:
    """Return the store folder of a tenant, made when ``create`` is set and nothing is there.

    Raises NotFoundError when it is absent and must not be made, NotAStore when something else lies there,
    StoreVersionError when a newer release wrote it, BadArgument when ``base`` differs from the store's own.
    """
    check_name("tenant", tenant)
    path = home / tenant
    mark = path / _MARK
    if mark.is_file():
        return _read_mark(path, mark, tenant, base)
    _refuse_foreign(home, path)
    if not create:
        raise NotFoundError(
            f"there is no store of tenant {tenant!r} in {home}",
            rule="reading does not make a store",
            mend="run `prism ingest PATH --pid PID` first, or name another --home or --tenant",
        )
    return _make(path, mark, tenant, base or f"urn:prism:{tenant}")


def tenants(home: Path) -> tuple[str, ...]:
    """Return the tenants that have a store in ``home``."""
    return tuple(sorted(mark.parent.name for mark in home.glob(f"*/{_MARK}")))


def _read_mark(path: Path, mark: Path, tenant: str, base: str | None) -> StoreFolder:
    try:
        settings = json.loads(mark.read_text("utf-8"))
        version, own_base = int(settings["format"]), str(settings["base"])
    except (ValueError, KeyError, TypeError) as error:
        raise NotAStore(
            f"{mark} is not readable as a store's description",
            rule="prism.json names the format and the base of a store",
            mend="restore it from a backup of the store",
        ) from error
    if version > FORMAT_VERSION:
        raise StoreVersionError(
            f"the store in {path} has format {version}, this release reads up to {FORMAT_VERSION}",
            rule="an older release never touches a newer store",
            mend="upgrade: pip install --upgrade prism-rdf",
        )
    if base is not None and base != own_base:
        raise BadArgument(
            f"the store in {path} has base {own_base}, not {base}",
            rule="the base is fixed when a store is made",
            mend="leave base out, or make a new store",
        )
    return StoreFolder(path, tenant, own_base)


def _refuse_foreign(home: Path, path: Path) -> None:
    for place in (home, path):
        if place.exists() and not place.is_dir():
            raise NotAStore(f"{place} is a file, not a store", rule="a home is a folder", mend="choose another --home")
    occupied = path.is_dir() and any(path.iterdir())
    foreign = home.is_dir() and any(home.iterdir()) and not tenants(home)
    if occupied or foreign:
        raise NotAStore(
            f"{home} is not a store, and it is not empty",
            rule="a store is made only in a new or empty folder",
            mend="choose another --home, or an empty folder",
        )


def _make(path: Path, mark: Path, tenant: str, base: str) -> StoreFolder:
    if base.endswith("/") or " " in base or ":" not in base:
        raise BadArgument(
            f"{base!r} is not usable as a base",
            rule="a base is an absolute IRI without a trailing slash",
            mend="for example urn:prism:acme or https://data.example.org/prism",
        )
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    fresh.mkdir(parents=True)
    text = json.dumps({"format": FORMAT_VERSION, "tenant": tenant, "base": base}, indent=2) + "\n"
    (fresh / _MARK).write_text(text, "utf-8")
    try:
        fresh.rename(path)
    except OSError:
        shutil.rmtree(fresh)
        if not mark.is_file():
            raise
    return StoreFolder(path, tenant, base)
