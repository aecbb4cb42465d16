"""Values, drafts, events and causes as a person names them: by any name of an entity, as text, by uuid or IRI."""

from __future__ import annotations

import pytest

from prism_rdf import Prism
from prism_rdf.errors import BadArgument, BadTime, NotFoundError, UnknownEntity, ValidationError


@pytest.fixture
def project():
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.entity("Location", {"name": "server1", "fqdn": "server1.example.org"}, valid_from="2026-01-01")
        project.entity("Component", {"name": "gateway"}, valid_from="2026-01-01")
        project.alias("the big one", "server1", kind="synonym")
        yield project
        assert project.check() == []


def location(project):
    return project.state_as_of("gateway")["props"]["location"]


def test_a_reference_is_given_by_any_name_of_the_entity(project):
    iri = project.resolve("server1").value
    for name in ("server1", "server1.example.org", "the big one", iri, project.names.uuid_of(iri)):
        project.fact("gateway", "location", None)
        project.fact("gateway", "location", name)
        assert location(project) == {"ref": iri, "identifier": "server1"}, name


def test_what_is_told_of_a_reference_names_the_entity(project):
    project.transition("gateway", {"location": "server1"}, valid_from="2026-02-01")
    project.reference("gateway", "server1", "DEPENDS_ON", valid_from="2026-02-01")
    named = {"ref": project.resolve("server1").value, "identifier": "server1"}
    [changed] = project.diff("2026-01-15", "2026-02-15", "gateway")
    assert changed["props"] == {"location": {"from": None, "to": named}}
    assert changed["references"]["began"] == [{"kind": "DEPENDS_ON", "target": named}]
    assert project.blame("gateway", "location")["values"] == [named]
    told = project.timeline("gateway")
    assert [entry["changes"] for entry in told if entry["kind"] == "state"][1:] == [
        {"location": {"from": None, "to": named}}
    ]
    assert [entry["target"] for entry in told if entry["kind"] == "reference"] == [named]


def test_an_instant_is_kept_in_utc(project):
    project.entity("Session", {"title": "s", "startedAt": "2026-01-01T14:00:00+02:00"})
    assert project.state_as_of("s")["props"]["startedAt"] == "2026-01-01T12:00:00Z"


def test_a_draft_is_named_by_its_entity_too(project):
    project.wip("gateway", {"status": "up"})
    project.seal("gateway", {"location": "server1"})
    assert project.state_as_of("gateway")["props"]["status"] == "up"
    assert location(project)["identifier"] == "server1"
    project.wip("gateway", {"status": "down"})
    project.discard("gateway")
    assert project.drafts() == []


def test_an_event_is_retracted_by_its_uuid(project):
    project.fact("gateway", "status", "up")
    [event] = project.blame("gateway", "status")["events"]
    project.retract(project.names.uuid_of(event["event"]))
    assert "status" not in project.state_as_of("gateway")["props"]


def test_a_cause_is_named_by_uuid_or_iri(project):
    uuid = "7e792054-b136-5048-b1c0-7f82f0ab7194"
    for number, name in enumerate((uuid, project.names.memory(uuid).value)):
        project.fact("gateway", "status", f"s{number}", cause_memory=name)
        [event] = project.blame("gateway", "status")["events"]
        assert event["cause_memory"] == project.names.memory(uuid).value


BAD = [
    ("reference to nothing", lambda p: p.fact("gateway", "location", "nowhere at all"), UnknownEntity, "nowhere"),
    ("reference to another type", lambda p: p.fact("gateway", "location", "gateway"), ValidationError, "Location"),
    ("naive instant", lambda p: p.entity("Session", {"startedAt": "2026-01-01T12:00:00"}), BadTime, "startedAt"),
    ("day for an instant", lambda p: p.entity("Session", {"startedAt": "2026-01-01"}), BadTime, "startedAt"),
    ("no uuid of a memory", lambda p: p.fact("gateway", "status", "x", cause_memory="42"), BadArgument, "'42'"),
    ("no memory to retire for", lambda p: p.retire("gateway", cause_memory="a b"), BadArgument, "'a b'"),
    ("no event", lambda p: p.retract("that event"), NotFoundError, "that event"),
    ("no draft", lambda p: p.seal("that <draft>"), NotFoundError, "no draft that <draft>"),
    ("no draft of the entity", lambda p: p.discard("gateway"), NotFoundError, "no draft gateway"),
]


@pytest.mark.parametrize(("why", "act", "error", "says"), BAD, ids=[case[0] for case in BAD])
def test_bad_names_are_refused_and_change_nothing(project, why, act, error, says):
    before = set(project.prism.store.quads_for_pattern(None, None, None))
    with pytest.raises(error, match=says) as caught:
        act(project)
    assert caught.value.mend
    assert set(project.prism.store.quads_for_pattern(None, None, None)) == before
