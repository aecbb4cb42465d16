"""The public face of the package: the names a program may rely on, and nothing that does work.

Names load when they are first used, so that ``import prism_rdf`` stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prism_rdf.clock import Instant
    from prism_rdf.errors import (
        AmbiguousError,
        BadArgument,
        BadQuery,
        BadTime,
        BusyError,
        IdempotencyConflict,
        NotARepository,
        NotAStore,
        NotFoundError,
        PrismError,
        QueryStopped,
        QueryTimeout,
        QueryTooLarge,
        RefusedError,
        ServiceFailed,
        StorageFailed,
        StoreVersionError,
        TooManyQueries,
        UnknownEntity,
        UnknownType,
        Unreadable,
        UsageError,
        ValidationError,
        Violation,
    )
    from prism_rdf.model import Receipt
    from prism_rdf.prism import Prism
    from prism_rdf.project import Project

    __version__: str

_HOME = {
    "Prism": "prism_rdf.prism",
    "Project": "prism_rdf.project",
    "Instant": "prism_rdf.clock",
    "Receipt": "prism_rdf.model",
}

__all__ = [
    "AmbiguousError",
    "BadArgument",
    "BadQuery",
    "BadTime",
    "BusyError",
    "IdempotencyConflict",
    "Instant",
    "NotARepository",
    "NotAStore",
    "NotFoundError",
    "Prism",
    "PrismError",
    "Project",
    "QueryStopped",
    "QueryTimeout",
    "QueryTooLarge",
    "Receipt",
    "RefusedError",
    "ServiceFailed",
    "StorageFailed",
    "StoreVersionError",
    "TooManyQueries",
    "UnknownEntity",
    "UnknownType",
    "Unreadable",
    "UsageError",
    "ValidationError",
    "Violation",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'prism_rdf' has no attribute {name!r}")
    value = _version() if name == "__version__" else getattr(import_module(_HOME.get(name, "prism_rdf.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import version

    return version("prism-rdf")
