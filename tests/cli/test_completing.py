"""The shell offers what a store holds while its owner runs, and starts nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from prism_rdf import Prism
from prism_rdf.cli import completing


def typing(**params: Any) -> Any:
    return SimpleNamespace(params=params, parent=SimpleNamespace(params={"pid": None}, parent=None))


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with Prism.in_memory() as prism:
        for pid, number in (("atlas", "ADR-7"), ("demo", "ADR-8")):
            project = prism.project(pid)
            project.entity("ADR", {"number": number, "title": "Use a graph"})
            project.alias("the Graph decision", number, kind="synonym")

        class Running(nullcontext[Prism]):
            def __getattr__(self, name: str) -> Any:
                return getattr(prism, name)

        monkeypatch.setattr(completing, "_running", lambda ctx: Running(prism))
        yield


@pytest.mark.usefixtures("running")
def test_names_and_projects_are_offered_as_they_begin() -> None:
    assert completing.entities(typing(), "adr-") == ["adr-7", "adr-8"]
    assert completing.entities(typing(pid="demo"), "adr-") == ["adr-8"]
    assert completing.entities(typing(pid="demo"), "Use") == ["Use a graph"]
    assert completing.entities(typing(), "the g") == ["the Graph decision"]
    assert completing.projects(typing(), "a") == ["atlas"]


def test_nothing_is_offered_and_started_where_there_is_no_owner(home: Path, tmp_path: Path) -> None:
    for folder in (home, tmp_path):
        assert completing.entities(typing(home=folder), "") == []
        assert completing.projects(typing(home=folder), "") == []
    assert list(tmp_path.iterdir()) == []
