"""What the random machine found wrong once, each as the few calls that showed it."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode

from prism_rdf import Prism
from prism_rdf.clock import Edge, Instant, ManualClock
from prism_rdf.errors import ValidationError
from prism_rdf.model import Assertion, Event, NewEntity
from prism_rdf.namespaces import prism as term

COMPONENT = NamedNode("https://w3id.org/prism-rdf/type#Component")
UUID = "00000000-0000-4000-8000-000000000001"
NEW_YEAR = Instant.parse("2026-01-01T00:00:00Z")


@pytest.fixture
def clock():
    return ManualClock(Instant.parse("2026-06-01T00:00:00Z"))


@pytest.fixture
def project(clock):
    with Prism.in_memory(clock=clock) as prism:
        project = prism.project("demo")
        project.write([NewEntity(UUID, COMPONENT)])
        project.fact(UUID, "name", "gateway", valid_from="2026-01-01")
        yield project
        assert project.check() == []


def event(*assertions, **more):
    return Event(UUID, "test", Edge(NEW_YEAR), assertions, **more)


def props(project, as_of=None, **more):
    found = project.state_as_of(UUID, as_of, **more)
    return found["props"] if found["state"] else None


@pytest.mark.parametrize("ops", [("add", "remove"), ("remove", "add")])
def test_of_one_event_that_adds_and_removes_a_value_the_add_counts(project, ops):
    tags, value = term("tags"), Literal("x")
    project.write([event(*(Assertion(tags, value, op) for op in ops))])
    assert props(project)["tags"] == ["x"]


FORMS = [
    (
        "ends before it begins",
        Assertion(term("status"), Literal("a"), until=NEW_YEAR.plus(days=-1)),
        "cannot hold from",
    ),
    ("ends where it begins", Assertion(term("status"), Literal("a"), until=NEW_YEAR), "cannot hold from"),
    ("removes from a single one", Assertion(term("status"), Literal("a"), "remove"), "single-valued"),
    ("sets nothing", Assertion(term("status"), None, "set"), "no fitting value"),
    ("clears something", Assertion(term("status"), Literal("a"), "clear"), "no fitting value"),
]


@pytest.mark.parametrize(("why", "assertion", "says"), FORMS, ids=[form[0] for form in FORMS])
def test_an_assertion_without_sense_refuses_the_whole_batch(project, why, assertion, says):
    before = set(project.prism.store.quads_for_pattern(None, None, None))
    good = event(Assertion(term("status"), Literal("good")))
    with pytest.raises(ValidationError, match=says) as caught:
        project.write([good, event(assertion, sequence=1)])
    assert caught.value.mend
    assert set(project.prism.store.quads_for_pattern(None, None, None)) == before


def test_a_value_that_no_state_shows_yet_is_judged_as_well(project):
    project.correct(UUID, {"status": "a"}, valid_from="2026-01-01")
    with pytest.raises(ValidationError, match="status"):
        project.fact(UUID, "status", 7, valid_from="2026-02-01")


def test_a_draft_is_shown_over_what_was_believed_then(project):
    receipt = project.fact(UUID, "status", "a", valid_from="2026-01-01")
    wip = project.wip(UUID, {"tags": ["x"]}, at="2026-02-01")
    project.revert(receipt.commit)
    assert props(project) == {"name": "gateway", "tags": ["x"]}
    assert props(project, known_at=wip["commit"]) == {"name": "gateway", "status": "a", "tags": ["x"]}


def test_a_draft_said_again_changes_nothing_and_can_be_changed_back(project):
    first = project.wip(UUID, {"status": "a"}, at="2026-02-01")
    assert project.wip(UUID, {"status": "a"}, at="2026-02-01")["commit"] is None
    project.wip(UUID, {"status": "b"}, at="2026-02-01")
    assert props(project)["status"] == "b"
    project.wip(UUID, {"status": "a"}, at="2026-02-01")
    assert props(project)["status"] == "a"
    assert props(project, known_at=first["commit"] + 1)["status"] == "b"


def test_a_draft_touched_at_an_earlier_time_holds_from_there_on(project, clock):
    wip = project.wip(UUID, {"status": "a"}, at="2026-02-01")["wip"]
    project.wip(UUID, {"status": "b"}, at="2026-06-20")
    project.wip(UUID, {"status": "c"}, at="2026-03-01")
    assert [props(project, day)["status"] for day in ("2026-02-15", "2026-03-15", "2026-06-25")] == ["a", "c", "c"]
    clock.advance(days=1)
    project.discard(wip)
    assert props(project, "2026-06-25") == {"name": "gateway"}


def test_of_two_drafts_of_one_instant_the_later_one_counts(project):
    for status in "ab":
        project.discard(project.wip(UUID, {"status": status}, at="2026-02-01")["wip"])
    assert props(project, "2026-02-02")["status"] == "b"


def test_reverting_what_only_ended_a_name_lets_it_go_on(project):
    said = {"kind": "synonym", "valid_from": "2026-02-01"}
    began = project.alias("Gate", UUID, **said)
    ended = project.alias("Gate", UUID, **said, valid_until="2026-03-31")
    moved = project.alias("Gate", UUID, **said, valid_until="2026-04-30")

    def until():
        aliases = project.prism.sparql(
            "SELECT ?until { ?a prism:surfaceForm 'Gate' ; prism:recordedAt ?r . "
            "OPTIONAL { ?a prism:validUntil ?until } FILTER NOT EXISTS { ?a prism:withdrawnAt ?w } }",
            dataset="raw",
        )
        return [row[0] and row[0].value for row in aliases.rows()]

    assert until() == ["2026-05-01T00:00:00Z"]
    reverted = project.revert(moved.commit)
    assert until() == ["2026-04-01T00:00:00Z"]
    project.revert(reverted.commit)
    assert until() == ["2026-05-01T00:00:00Z"]
    project.revert(ended.commit)
    assert until() == ["2026-05-01T00:00:00Z"]  # a later commit had the last word
    project.revert(began.commit)
    assert until() == []


def test_reverting_the_end_of_a_name_that_was_open(project):
    project.alias("Gate", UUID, kind="synonym", valid_from="2026-02-01")
    ended = project.alias("Gate", UUID, kind="synonym", valid_from="2026-02-01", valid_until="2026-03-31")
    query = f"ASK {{ <{project.names.entity(UUID).value}> skos:altLabel 'Gate' }}"
    assert list(project.prism.sparql(query).rows()) == [(False,)]
    project.revert(ended.commit)
    assert list(project.prism.sparql(query).rows()) == [(True,)]


def test_what_never_changes_does_not_change_after_a_gap_either(project):
    project.fact(UUID, "name", None, valid_from="2026-02-01")
    project.fact(UUID, "created", "2020", valid_from="2026-03-01", valid_until="2026-03-31")
    with pytest.raises(ValidationError, match="created of a Component never changes: it is 2020, not 2021"):
        project.fact(UUID, "created", "2021", valid_from="2026-05-01")


def test_a_year_and_its_first_day_are_two_statements(project):
    year = project.fact(UUID, "status", "a", valid_from="2026")
    day = project.fact(UUID, "status", "a", valid_from="2026-01-01")
    assert (year.commit, day.commit) == (3, 4)
