"""A large commit is judged on a copy; what it would break is refused by name, and nothing is written."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf import Prism
from prism_rdf.belief import Delta
from prism_rdf.errors import ValidationError
from prism_rdf.model import ChangeSet
from prism_rdf.namespaces import prism as term
from prism_rdf.preflight import MOST_STATES_IN_AN_UPDATE, broken_by
from prism_rdf.storage.overlay import Overlay
from prism_rdf.validation.checks import load_checks, touched_states


@pytest.fixture
def project():
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.entity("ADR", {"number": "ADR-1", "title": "One"}, valid_from="2026-01-01")
        project.fact("ADR-1", "title", "Two", valid_from="2026-02-01")
        yield project


def broken(project, adds=(), removes=()):
    names = project.names
    entity = project.resolve("ADR-1")
    change = ChangeSet(tuple(adds), tuple(removes), (entity,))
    after = Overlay(project.prism.store, adds, removes)
    states = touched_states(after, names, (*adds, *removes))
    found = broken_by(change, project.prism.store, names, load_checks(), states)
    return {violation.shape for violation in found}


def test_a_copy_shows_what_a_change_would_break(project):
    temporal = project.names.graph("temporal")
    first, second = (NamedNode(state["state"]) for state in project.history("ADR-1"))
    until = next(project.prism.store.quads_for_pattern(first, term("validUntil"), None, temporal))
    assert broken(project, adds=[Quad(first, term("description"), Literal("x"), temporal)]) == set()
    assert "two-open-sealed-states" in broken(project, removes=[until])
    assert "gap-between-states" in broken(project, adds=[Quad(second, term("withdrawnAt"), until.object, temporal)])


@pytest.mark.parametrize("most", [0, MOST_STATES_IN_AN_UPDATE], ids=["judged on a copy", "judged in the update"])
def test_a_planner_gone_wrong_is_refused_either_way(project, monkeypatch, most):
    monkeypatch.setattr("prism_rdf.commit.MOST_STATES_IN_AN_UPDATE", most)
    monkeypatch.setattr("prism_rdf.temporal.states.revise", lambda *_: Delta())
    before = sorted(map(str, project.prism.store.quads_for_pattern(None, None, None)))
    with pytest.raises(ValidationError, match="would break an invariant"):
        project.fact("ADR-1", "title", "Three", valid_from="2026-03-01")
    assert sorted(map(str, project.prism.store.quads_for_pattern(None, None, None))) == before
