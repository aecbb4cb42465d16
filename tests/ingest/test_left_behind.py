"""A plain folder has no history: what is no longer in it is told, and stays as it was."""

from __future__ import annotations

import pytest

from prism_rdf import Prism


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "adr"
    folder.mkdir()
    for number, title in ((2, "Caches"), (3, "Queues"), (4, "Locks")):
        text = f"# ADR-00{number}: {title}\n\n**Status:** Accepted\n\nText of {title}.\n"
        (folder / f"ADR-00{number}-{title.lower()}.md").write_text(text, encoding="utf-8")
    return folder


def test_files_that_went_are_told_and_stay_current(folder):
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        assert project.ingest(folder)["left_behind"] == []
        (folder / "ADR-003-queues.md").unlink()
        (folder / "ADR-002-caches.md").rename(folder / "ADR-020-caches.md")
        assert project.ingest(folder)["left_behind"] == ["ADR-002-caches.md", "ADR-003-queues.md"]
        assert project.state_as_of("ADR-003")["flag"] == "current"
        project.retire("ADR-003")
        assert project.ingest(folder)["left_behind"] == ["ADR-002-caches.md"]
