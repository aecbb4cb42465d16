"""A project with a clock of its own, which is sound after every test."""

from __future__ import annotations

import pytest

from prism_rdf import Prism
from prism_rdf.clock import Instant, ManualClock

NOW = Instant.parse("2026-06-01T00:00:00Z")


@pytest.fixture
def clock():
    return ManualClock(NOW)


@pytest.fixture
def prism(clock):
    with Prism.in_memory(clock=clock) as prism:
        yield prism


@pytest.fixture
def project(prism):
    project = prism.project("demo")
    yield project
    assert project.check() == []


@pytest.fixture
def make(project):
    """Make an entity and return its uuid."""

    def go(type_name, valid_from="2025-01-01", **props):
        return project.entity(type_name, props, valid_from=valid_from)["uuid"]

    return go
