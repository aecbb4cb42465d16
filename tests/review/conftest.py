"""A project with a decision, a renamed project and a bystander, on a clock that the tests move."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pyoxigraph import Quad

from prism_rdf import Prism, Project
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.namespaces import meta_graph

START = Instant.parse("2026-06-01T00:00:00Z")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def prism(clock: ManualClock) -> Iterator[Prism]:
    with Prism.in_memory(clock=clock) as prism:
        yield prism


@pytest.fixture
def project(prism: Prism) -> Project:
    project = prism.project("demo")
    project.entity("Project", {"name": "PrismGR"}, valid_from="2025-01-01")
    project.transition("PrismGR", {"name": "Prism"}, "rename", valid_from="2026-01-01")
    first = {"number": "ADR-1", "title": "Use a graph", "status": "Proposed", "created": "2025-01-01"}
    project.entity("ADR", first, valid_from="2025-01-01")
    project.entity("ADR", {"number": "ADR-2", "title": "Use a table"}, valid_from="2025-01-01")
    return project


@pytest.fixture
def world(project: Project) -> Callable[[], set[Quad]]:
    """What all graphs hold but the review graph and the commits: everything that is believed, and how it is shown."""
    apart = (project.names.graph("review"), meta_graph(project.names.base))

    def go() -> set[Quad]:
        found = project.prism.store.quads_for_pattern(None, None, None, None)
        return {quad for quad in found if quad.graph_name not in apart}

    return go
