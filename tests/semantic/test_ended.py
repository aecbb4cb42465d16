"""What was ended and is said again: it stays ended, and that is told."""

from __future__ import annotations

import pytest

from prism_rdf import Prism


@pytest.fixture
def project():
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.entity("Component", {"name": "Hydra"})
        project.entity("Component", {"name": "Kraken"})
        yield project


def test_an_alias_that_was_ended_stays_so_and_says_why(project) -> None:
    project.alias("Wow", "Hydra", valid_from="2025-01-01", valid_until="2025-06-30")
    ended = project.prism.commit_number
    said = project.alias("Wow", "Hydra", valid_from="2025-01-01")
    assert said.commit is None
    assert said.notes[0].startswith("the alias 'Wow' was ended at 2025-07-01T00:00:00Z, and saying it again")
    assert project.resolve_alias("Wow", as_of="2025-03-01")["identifier"] == "Hydra"
    project.revert(ended)
    project.alias("Wow", "Hydra", valid_from="2025-01-01")
    assert project.resolve_alias("Wow", as_of="2025-08-01")["identifier"] == "Hydra"


def test_a_reference_that_was_ended_stays_so_and_says_why(project) -> None:
    project.reference("Hydra", "Kraken", "DEPENDS_ON", valid_from="2025-01-01", valid_until="2025-06-30")
    said = project.reference("Hydra", "Kraken", "DEPENDS_ON", valid_from="2025-01-01")
    assert said.commit is None
    assert said.notes[0].startswith("the reference was ended at 2025-07-01T00:00:00Z")
    assert project.list_references(source="Hydra") == []


def test_what_was_never_ended_has_no_note(project) -> None:
    project.alias("Wow", "Hydra", valid_from="2025-01-01")
    assert project.alias("Wow", "Hydra", valid_from="2025-01-01").notes == ()
