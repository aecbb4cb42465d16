"""The folder of a tenant's store: where each part lies, which version wrote it, and how a whole store is replaced.

A store is rewritten as its next generation: new parts are built beside the old ones, and become the store in one
rename of ``prism.json``. Parts of any other generation are leftovers, of a rewriting that was cut off before that
rename or after it, and are removed by whoever opens the store next.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from prism_rdf.errors import BadArgument, NotAStore, NotFoundError, RefusedError, StoreVersionError
from prism_rdf.namespaces import check_name

FORMAT_VERSION = 1
_MARK = "prism.json"
_EMBEDDERS = "embedders.json"
_BUILDING = ".new"
_ATTEMPTS, _PAUSE = 100, 0.02  # seconds
_PARTS = ("quads", "changes.log", "index")


@dataclass(frozen=True)
class StoreFolder:
    """``{home}/{tenant}/``: prism.json, quads/ (Oxigraph), changes.log, index/; from the second generation numbered.

    A store that is not ``managed`` has free graphs only.
    """

    path: Path
    tenant: str
    base: str
    generation: int = 1
    managed: bool = True

    @property
    def quads(self) -> Path:
        return self._part("quads")

    @property
    def log(self) -> Path:
        return self._part("changes.log")

    @property
    def trial(self) -> Path:
        """Where a copy of the quads may be tried out; no generation has the number 0, so it is a leftover."""
        return self.path / "quads.0"

    @property
    def workers(self) -> Path:
        """Where copies of the store are for the processes that answer queries."""
        return self.path / "workers"

    @property
    def forget_key(self) -> Path:
        return self.path / "forget.key"

    @property
    def types(self) -> Path:
        """Where files of types may be laid, in a folder for each project."""
        return self.path / "types"

    def index(self, leg: str, namespace: str) -> Path:
        return self._part("index") / leg / namespace

    def kept_embedder(self, namespace: str) -> str:
        """Return the setting of the model that a project's vectors were last made by on request; empty when never."""
        try:
            kept = json.loads((self.path / _EMBEDDERS).read_text())
        except (OSError, ValueError):
            return ""
        return str(kept.get(namespace, "")) if isinstance(kept, dict) else ""

    def keep_embedder(self, namespace: str, setting: str) -> None:
        """Keep the setting of a model, whatever generation the store comes to."""
        try:
            kept = json.loads((self.path / _EMBEDDERS).read_text())
        except (OSError, ValueError):
            kept = {}
        fresh = self.path / f"{_EMBEDDERS}.fresh"
        fresh.write_text(json.dumps({**kept, namespace: setting}))
        os.replace(fresh, self.path / _EMBEDDERS)

    def following(self) -> StoreFolder:
        """Return the next generation, whose parts are to be built."""
        return replace(self, generation=self.generation + 1)

    def take_over(self) -> None:
        """Make the parts of this generation the store: atomic, and on disk when this returns."""
        _write_mark(self)

    def is_current(self) -> bool:
        """Return whether ``prism.json`` still names this generation."""
        return _read_mark(self.path, self.tenant, None) == self

    def clear_leftovers(self) -> None:
        """Remove the parts of other generations; only for who holds the store."""
        own = {self._part(name) for name in _PARTS}
        for name in _PARTS:
            for part in self.path.glob(f"{name}*"):
                if part not in own and part.name.removeprefix(name).removeprefix(".").isdecimal() | (part.name == name):
                    remove(part)

    def _part(self, name: str) -> Path:
        return self.path / (name if self.generation == 1 else f"{name}.{self.generation}")


def open_folder(
    home: Path, tenant: str, *, create: bool, base: str | None = None, managed: bool | None = None
) -> StoreFolder:
    """Return the store folder of a tenant, made when ``create`` is set and nothing is there.

    Raises NotFoundError when it is absent and must not be made, NotAStore when something else lies there,
    StoreVersionError when a newer release wrote it, BadArgument when ``base`` or ``managed`` differ from the store's
    own; ``managed`` None is as it is, and managed for one that is made.
    """
    check_name("tenant", tenant)
    path = home / tenant
    if (path / _MARK).is_file():
        return _as_meant(_read_mark(path, tenant, base), managed)
    _refuse_foreign(home, path)
    if not create:
        raise NotFoundError(
            f"there is no store of tenant {tenant!r} in {home}",
            rule="reading does not make a store",
            mend="run `prism ingest PATH --pid PID` first, or name another --home or --tenant",
        )
    try:
        base_iri = _usable(base or f"urn:prism:{tenant}")
        with building(StoreFolder(path, tenant, base_iri, managed=managed is not False)):
            pass
    except OSError:
        if not (path / _MARK).is_file():  # else another process made it in the meantime
            raise
    return _as_meant(_read_mark(path, tenant, base), managed)


def _as_meant(folder: StoreFolder, managed: bool | None) -> StoreFolder:
    if managed is not None and managed != folder.managed:
        raise BadArgument(
            f"the store in {folder.path} is {'managed' if folder.managed else 'unmanaged'}",
            rule="whether a store is managed is fixed when it is made",
            mend="leave that out, or name another --home or --tenant",
        )
    return folder


def vacant(home: Path, tenant: str) -> Path:
    """Return the folder in which a whole store of the tenant may be put; raise RefusedError when there is one."""
    path = home / check_name("tenant", tenant)
    if (path / _MARK).is_file():
        raise RefusedError(
            f"there already is a store of tenant {tenant!r} in {home}",
            rule="a store, in use or not, is never written over",
            mend="name another --home, or move that folder away first",
        )
    _refuse_foreign(home, path)
    return path


@contextmanager
def building(folder: StoreFolder) -> Iterator[StoreFolder]:
    """Yield a folder beside ``folder`` to build a store in; it is renamed into its place when all went well.

    Its description is written unless that was done. Nothing is left of it when an error is raised; OSError when
    another store was put there in the meantime.
    """
    fresh = replace(folder, path=folder.path.with_name(f".{folder.path.name}.{os.getpid()}{_BUILDING}"))
    home = folder.path.parent
    made_home = not home.exists()
    fresh.path.mkdir(parents=True)
    try:
        yield fresh
        if not (fresh.path / _MARK).is_file():
            _write_mark(fresh)
        fresh.path.rename(folder.path)
        sync_folder(home)
    except BaseException:
        remove(fresh.path)
        if made_home:
            with suppress(OSError):  # somebody else began to use it
                home.rmdir()
        raise


def tenants(home: Path) -> tuple[str, ...]:
    """Return the tenants that have a store in ``home``."""
    return tuple(sorted(mark.parent.name for mark in home.glob(f"[!.]*/{_MARK}")))


def remove(part: Path) -> None:
    """Remove a file or a folder with all that is in it, even while a store that is being left still writes there."""
    if not part.is_dir():
        part.unlink(missing_ok=True)
        return
    for _ in range(_ATTEMPTS):
        shutil.rmtree(part, ignore_errors=True)
        if not part.exists():
            return
        time.sleep(_PAUSE)
    shutil.rmtree(part)


def sync_folder(folder: Path) -> None:
    """Put on disk what was made, renamed or removed in a folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read_mark(path: Path, tenant: str, base: str | None) -> StoreFolder:
    mark = path / _MARK
    try:
        settings = json.loads(mark.read_text("utf-8"))
        version, own_base = int(settings["format"]), str(settings["base"])
        generation, managed = int(settings.get("generation", 1)), bool(settings.get("managed", True))
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
    return StoreFolder(path, tenant, own_base, generation, managed)


def _refuse_foreign(home: Path, path: Path) -> None:
    for place in (home, path):
        if place.exists() and not place.is_dir():
            raise NotAStore(f"{place} is a file, not a store", rule="a home is a folder", mend="choose another --home")
    occupied = path.is_dir() and any(path.iterdir())
    others = (child for child in home.iterdir() if not child.name.endswith(_BUILDING)) if home.is_dir() else iter(())
    foreign = any(others) and not tenants(home)
    if occupied or foreign:
        raise NotAStore(
            f"{home} is not a store, and it is not empty",
            rule="a store is made only in a new or empty folder",
            mend="choose another --home, or an empty folder",
        )


def _usable(base: str) -> str:
    if base.endswith("/") or " " in base or ":" not in base:
        raise BadArgument(
            f"{base!r} is not usable as a base",
            rule="a base is an absolute IRI without a trailing slash",
            mend="for example urn:prism:acme or https://data.example.org/prism",
        )
    return base


def _write_mark(folder: StoreFolder) -> None:
    says = {"format": FORMAT_VERSION, "tenant": folder.tenant, "base": folder.base, "generation": folder.generation}
    if not folder.managed:
        says["managed"] = False
    fresh = folder.path / f"{_MARK}{_BUILDING}"
    with fresh.open("w", encoding="utf-8") as file:
        file.write(json.dumps(says, indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, folder.path / _MARK)
    sync_folder(folder.path)
