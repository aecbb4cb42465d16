"""Shipped files are found by name, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from prism_rdf import resources
from prism_rdf.errors import NotFoundError

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in resources.FOLDERS
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".ttl", ".rq"}
)


def test_every_shipped_file_is_listed_and_read() -> None:
    listed = [
        name for folder in resources.FOLDERS for suffix in (".rq", ".ttl") for name in resources.names(folder, suffix)
    ]
    assert sorted(listed) == SHIPPED
    assert all(resources.text(name) == (ROOT / name).read_text(encoding="utf-8") for name in listed)


@pytest.mark.parametrize(
    "name", ["ontology/absent.ttl", "pyproject.toml", "ontology/../pyproject.toml", "", "/etc/hostname", "tests"]
)
def test_anything_else_is_not_found(name: str) -> None:
    with pytest.raises(NotFoundError, match="no file") as caught:
        resources.path(name)
    assert caught.value.mend
