"""A plain folder has no history: what is no longer in it is told, and stays as it was."""

from __future__ import annotations

import pytest

from prism_rdf import Prism
from prism_rdf.noticing import Noticing


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


def test_a_file_that_is_seen_to_go_retires_its_document_until_it_is_back(folder):
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        seeing = Seeing(folder, [(), ("ADR-003-queues.md",), ("ADR-003-queues.md",), ()])
        told = project.watch(folder, noticing=seeing)
        next(told)
        text = (folder / "ADR-003-queues.md").read_text()
        (folder / "ADR-003-queues.md").unlink()
        (folder / "ADR-004-locks.md").unlink()  # nobody saw it go

        went = next(told)

        assert (went["retired"], went["left_behind"]) == (["ADR-003-queues.md"], ["ADR-004-locks.md"])
        assert [state["identifier"] for state in project.list_entities()] == ["ADR-002", "ADR-004"]
        (folder / "ADR-003-queues.md").write_text(text.replace("Accepted", "Rejected"))
        back = next(told)
        assert (back["retired"], back["reopened"]) == ([], ["ADR-003-queues.md"])
        assert project.state_as_of("ADR-003")["props"]["status"] == "Rejected"
        assert project.check() == []


class Seeing(Noticing):
    """Notices what it is told to have noticed: the paths of each burst, below the folder."""

    def __init__(self, folder, bursts):
        super().__init__(folder, lambda path: True)
        self.bursts = [tuple(str(self.folder / name) for name in burst) for burst in bursts[1:]]

    def burst(self, at_most=None):
        return self.bursts.pop(0)
