"""Which build of the package a process runs, and whether it is older than this one; no process is asked here."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any, Literal

from prism_rdf import resources

_PACKAGE = Path(__file__).parents[1]

Age = Literal["same", "older", "newer"]


@cache
def version() -> str:
    """Return the installed version of the package."""
    from importlib import metadata  # slow to import, and most commands need it not

    try:
        return metadata.version("prism-rdf")
    except metadata.PackageNotFoundError:
        return "0"


@cache
def code() -> int:
    """Return when a file of this package changed last, in ns: a checkout changes while its version stays."""
    folders = [_PACKAGE, *(resources.path(folder) for folder in resources.FOLDERS)]
    return max(_newest(os.fspath(folder)) for folder in folders)


def describe() -> dict[str, Any]:
    """Return what an owner says of its build."""
    return {"version": version(), "package": str(_PACKAGE), "code": code()}


def age(other: dict[str, Any]) -> Age:
    """Return how old the build of an owner is, seen from this process.

    Of one version and another folder it counts as the same: a file's time says nothing across installations.
    """
    if other["package"] == str(_PACKAGE) and other["code"] <= code():
        return "same" if other["code"] == code() else "older"
    if other["version"] == version():
        return "same"
    return "newer" if _release(other["version"]) > _release(version()) else "older"


def _release(text: str) -> tuple[int, ...]:
    """Return the numbers of a release.

    >>> _release("0.2.0rc1") < _release("0.10.0")
    True
    """
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(number) for number in match[0].split(".")) if match else ()


def _newest(folder: str) -> int:
    newest = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                newest = max(newest, _newest(entry.path) if entry.name != "__pycache__" else 0)
            else:
                newest = max(newest, entry.stat().st_mtime_ns)
    return newest
