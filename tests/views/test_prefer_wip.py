"""SPARQL over the world as drafts have it: laid over the sealed states, marked, as of a time, and never stale."""

from __future__ import annotations

import pytest

from prism_rdf import Prism
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.errors import BadArgument

STATES = """SELECT ?n ?title ?status ?wip { ?d prism:number ?n ; prism:title ?title .
    OPTIONAL { ?d prism:status ?status } OPTIONAL { ?d prism:commitStatus ?wip } } ORDER BY ?n"""


@pytest.fixture(params=["memory", "folder"])
def prism(request, tmp_path):
    clock = ManualClock(Instant.parse("2026-06-01T00:00:00Z"))
    opened = (
        Prism.in_memory(clock=clock) if request.param == "memory" else Prism.open(tmp_path, exclusive=True, clock=clock)
    )
    with opened as prism:
        project = prism.project("demo")
        for number in (7, 8):
            props = {"number": f"ADR-{number}", "title": f"Decision {number}", "status": "Proposed"}
            project.entity("ADR", props, valid_from="2026-01-01")
        yield prism


def asked(prism: Prism, **when):
    answer = prism.sparql(STATES, prefer_wip=True, **when)
    return {row[0].value: tuple(None if term is None else term.value for term in row[1:]) for row in answer.rows()}


def test_a_draft_is_laid_over_and_marked(prism):
    project = prism.project("demo")
    project.wip("ADR-7", {"status": "Accepted"})
    assert asked(prism) == {
        "ADR-7": ("Decision 7", "Accepted", "wip"),
        "ADR-8": ("Decision 8", "Proposed", None),
    }
    plain = prism.sparql("ASK { ?d prism:status 'Accepted' }")
    assert list(plain.rows()) == [(False,)]
    assert prism.sparql(STATES, prefer_wip=True).as_of is None


def test_it_follows_drafts_facts_and_what_comes_due(prism):
    project = prism.project("demo")
    thread = project.wip("ADR-7", {"status": "Accepted"})["wip"]
    assert asked(prism)["ADR-7"] == ("Decision 7", "Accepted", "wip")
    prism.clock.advance(days=1)
    project.wip("ADR-7", {"status": "Held", "title": "Decision seven"})
    assert asked(prism)["ADR-7"] == ("Decision seven", "Held", "wip")
    project.fact("ADR-8", "status", "Accepted")
    project.fact("ADR-8", "status", "Superseded", valid_from="2026-07-01")
    assert asked(prism)["ADR-8"] == ("Decision 8", "Accepted", None)
    prism.clock.advance(days=40)
    assert asked(prism)["ADR-8"] == ("Decision 8", "Superseded", None)
    project.seal(thread, {"status": "Rejected"})
    assert asked(prism)["ADR-7"] == ("Decision seven", "Rejected", None)


def test_a_draft_is_that_of_its_time(prism):
    project = prism.project("demo")
    project.wip("ADR-7", {"status": "Accepted"})
    prism.clock.advance(days=10)
    project.wip("ADR-7", {"status": "Held"})
    prism.clock.advance(days=10)
    assert asked(prism, as_of="2026-05-01")["ADR-7"] == ("Decision 7", "Proposed", None)
    assert asked(prism, as_of="2026-06-05")["ADR-7"] == ("Decision 7", "Accepted", "wip")
    assert asked(prism, as_of="2026-06-15")["ADR-7"] == ("Decision 7", "Held", "wip")
    assert asked(prism, known_at=3)["ADR-7"] == ("Decision 7", "Accepted", "wip")


def test_raw_prefers_nothing(prism):
    with pytest.raises(BadArgument, match="prefers no drafts"):
        prism.sparql(STATES, dataset="raw", prefer_wip=True)
