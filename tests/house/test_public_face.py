"""The names a program may rely on, the version, and what an import costs."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import prism_rdf

ROOT = Path(__file__).resolve().parents[2]
NAMES = [
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


def test_the_public_names_are_these() -> None:
    assert sorted(NAMES) == prism_rdf.__all__


@pytest.mark.parametrize("name", NAMES)
def test_each_public_name_loads(name: str) -> None:
    assert getattr(prism_rdf, name) is not None
    assert name in dir(prism_rdf)


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'prizm'"):
        prism_rdf.prizm  # noqa: B018


def test_the_version_is_that_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert prism_rdf.__version__ == project["version"]


def test_the_changelog_tells_of_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{prism_rdf.__version__}]" in changelog


def test_importing_the_package_loads_none_of_the_engine() -> None:
    heavy = "pyoxigraph rdflib pyshacl whoosh flask typer rich pygit2 owlready2 markdown_it yaml"
    program = f"import sys, prism_rdf; print([name for name in {heavy.split()!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
