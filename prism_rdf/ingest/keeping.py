"""What a reading knows at a commit, as a file, so that the next one goes on there; nothing of it is knowledge.

A file that is lost, damaged, of another release or of other types costs time: the history is read from its beginning.
Loading one makes objects of the classes named here and calls nothing else. It lies with the indexes of a store, and
goes when they do.
"""

from __future__ import annotations

import io
import os
import pickle
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from prism_rdf.canonical.catalog import EntityType, TypeCatalog
from prism_rdf.clock import Instant
from prism_rdf.ingest.mapping import Mapping, Rule
from prism_rdf.model import Bookmark
from prism_rdf.storage.folder import StoreFolder

_FORMAT = 1
_OURS = ("prism_rdf.ingest.", "prism_rdf.semantic.successors", "prism_rdf.model", "prism_rdf.clock")
_OTHERS = frozenset(
    {
        *(("builtins", name) for name in ("set", "frozenset", "list", "dict", "tuple")),
        *(("collections", name) for name in ("defaultdict", "OrderedDict", "Counter")),
        *(("pyoxigraph", name) for name in ("Literal", "NamedNode")),
    }
)


@dataclass(frozen=True)
class Kept:
    """What was known once ``commit`` was read, whose valid time is ``at``; ``state`` is the reader's own."""

    commit: str
    at: Instant
    state: dict[str, Any]


@dataclass(frozen=True)
class Keeper:
    """Turns what a reading knows into bytes and back; rules and types are named, since the next reading has its own."""

    mapping: Mapping
    catalog: TypeCatalog

    def dump(self, kept: Kept) -> bytes:
        held = io.BytesIO()
        pickler = pickle.Pickler(held, protocol=5)
        pickler.persistent_id = self._name  # type: ignore[method-assign]
        pickler.dump((_FORMAT, self._digest, kept))
        return zlib.compress(held.getvalue(), 1)

    def load(self, data: bytes) -> Kept | None:
        """Return what was kept; None for what is no such thing, or was kept by other rules or types."""
        try:
            made, digest, kept = _Unpickler(zlib.decompress(data), self.mapping, self.catalog).load()
        except Exception:  # whatever a damaged file may lead to
            return None
        return kept if (made, digest) == (_FORMAT, self._digest) and isinstance(kept, Kept) else None

    @property
    def _digest(self) -> str:
        return blake2b(repr((self.mapping.digest, self.catalog.types)).encode(), digest_size=16).hexdigest()

    def _name(self, value: object) -> tuple[str, str | int] | None:
        if isinstance(value, EntityType):
            return "type", value.name
        return ("rule", self.mapping.rules.index(value)) if isinstance(value, Rule) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, mapping: Mapping, catalog: TypeCatalog) -> None:
        super().__init__(io.BytesIO(data))
        self._mapping, self._catalog = mapping, catalog

    def persistent_load(self, name: tuple[str, Any]) -> object:
        what, which = name
        return self._catalog.type(which) if what == "type" else self._mapping.rules[which]

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _OTHERS and not module.startswith(_OURS):
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a reading")
        found = super().find_class(module, name)
        if not isinstance(found, type):
            raise pickle.UnpicklingError(f"{module}.{name} is no class")
        return found


@dataclass(frozen=True)
class Shelf:
    """Where the readings of one project are kept: with the indexes of its store, of the same generation."""

    folder: StoreFolder
    pid: str

    def read(self, source: str, mapping: str) -> bytes | None:
        try:
            return self._file(source, mapping).read_bytes()
        except OSError:
            return None

    def put(self, source: str, mapping: str, data: bytes) -> None:
        """Keep what is known of a source; that there is no room for it, or the store was made anew, is no error."""
        file = self._file(source, mapping)
        fresh = file.with_name(f"{file.name}.{os.getpid()}.fresh")
        with suppress(OSError):
            if self.folder.is_current():
                file.parent.mkdir(parents=True, exist_ok=True)
                try:
                    fresh.write_bytes(data)
                    os.replace(fresh, file)
                finally:
                    fresh.unlink(missing_ok=True)

    def _file(self, source: str, mapping: str) -> Path:
        name = blake2b(f"{source}\n{mapping}".encode(errors="replace"), digest_size=16).hexdigest()
        return self.folder.index("reading", self.pid) / name


def fits(kept: Kept | None, after: Bookmark, line: Sequence[str]) -> bool:
    """Return whether what is kept is of this history, and not beyond what the store was told."""
    if kept is None or kept.commit not in line:
        return False
    return line.index(kept.commit) <= line.index(after.commit)
