"""The verbs of the time engine, as a user calls them, on both axes."""

from __future__ import annotations

import pytest

from prism_rdf import Prism
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.errors import BadArgument, BadTime, NotFoundError, RefusedError, UnknownEntity, ValidationError


@pytest.fixture
def clock():
    return ManualClock(Instant.parse("2026-06-01T00:00:00Z"))


@pytest.fixture
def project(clock):
    with Prism.in_memory(clock=clock) as prism:
        project = prism.project("demo")
        project.entity("ADR", {"number": "ADR-1", "title": "Use RDF", "status": "Proposed"}, valid_from="2026-01-01")
        yield project
        assert project.check() == []


def status(project, as_of=None, known_at=None):
    found = project.state_as_of("ADR-1", as_of, known_at=known_at)
    return found["props"].get("status") if found["state"] else None


def graph(project):
    return set(project.prism.store.quads_for_pattern(None, None, None))


def test_a_late_statement_about_the_past_changes_the_past_only(project):
    project.fact("ADR-1", "status", "Accepted", valid_from="2026-05-01")
    project.fact("ADR-1", "status", "Reviewed", valid_from="2026-03-01")
    assert [status(project, day) for day in ("2026-02-01", "2026-03-01", "2026-05-01")] == [
        "Proposed",
        "Reviewed",
        "Accepted",
    ]


def test_a_correction_outranks_what_was_said_later_and_a_correction_of_it_outranks_that(project):
    project.fact("ADR-1", "status", "Accepted", valid_from="2026-05-01")
    project.correct("ADR-1", {"status": "Rejected"}, valid_from="2026-03-01")
    assert status(project, "2026-05-02") == "Rejected"
    project.correct("ADR-1", {"status": "Withdrawn"}, valid_from="2026-03-01")
    assert status(project, "2026-05-02") == "Withdrawn"
    assert status(project, "2026-02-01") == "Proposed"


def test_a_bounded_statement_shows_again_what_still_covers(project):
    project.fact("ADR-1", "status", "Frozen", valid_from="2026-02-01", valid_until="2026-02-28")
    assert [status(project, day) for day in ("2026-02-28", "2026-03-01")] == ["Frozen", "Proposed"]


def test_what_was_believed_stays_known(project):
    project.fact("ADR-1", "status", "Accepted", valid_from="2026-05-01")
    project.fact("ADR-1", "status", "Reviewed", valid_from="2026-03-01")
    assert [status(project, "2026-04-01", known_at=commit) for commit in (1, 2, 3)] == [
        "Proposed",
        "Proposed",
        "Reviewed",
    ]
    assert status(project, "2026-05-02", known_at=1) == "Proposed"


def test_blame_names_the_event_and_the_commit(project):
    project.fact("ADR-1", "status", "Accepted", valid_from="2026-05-01", cause_commit="abc123", description="vote")
    found = project.blame("ADR-1", "status")
    assert (found["values"], found["since"]) == (["Accepted"], "2026-05-01T00:00:00Z")
    assert [(e["commit"], e["cause_commit"], e["description"]) for e in found["events"]] == [(2, "abc123", "vote")]
    assert project.blame("ADR-1", "status", "2026-02-01")["events"][0]["event_type"] == "created"


def test_a_retracted_event_is_folded_away_and_stays_known(project):
    project.fact("ADR-1", "status", "Accepted", valid_from="2026-05-01")
    [event] = project.blame("ADR-1", "status")["events"]
    receipt = project.retract(event["event"])
    assert status(project) == "Proposed"
    assert status(project, known_at=receipt.commit - 1) == "Accepted"
    project.fact("ADR-1", "status", "Accepted", valid_from="2026-05-01")
    assert status(project) == "Accepted"
    assert status(project, known_at=receipt.commit) == "Proposed"


def test_revert_withdraws_what_a_commit_recorded(project):
    project.entity("SPEC", {"number": "SPEC-1", "title": "Graphs"}, valid_from="2026-01-01")
    project.reference("ADR-1", "SPEC-1", "FORMALIZES", valid_from="2026-01-02")
    made = project.alias("The RDF one", "ADR-1", kind="synonym")
    assert len(project.list_references("ADR-1")) == 1
    project.revert(3)
    assert project.list_references("ADR-1") == []
    project.revert(made.commit)
    with pytest.raises(UnknownEntity):
        project.resolve("The RDF one")


def test_only_reopen_ends_a_retirement(project):
    project.retire("ADR-1", valid_from="2026-02-01")
    project.fact(project.who("ADR-1")[0].entity.value, "status", "Accepted", valid_from="2026-03-01")
    uuid = project.names.uuid_of(project.resolve("ADR-1").value)
    gone = project.state_as_of(uuid)
    assert gone["state"] is None
    assert "retired" in gone["reason"]
    project.reopen(uuid, valid_from="2026-04-01")
    assert status(project) == "Accepted"
    assert project.state_as_of(uuid, "2026-03-15")["state"] is None


def test_diff_of_one_entity_and_of_the_project(project):
    project.fact("ADR-1", "status", "Accepted", valid_from="2026-05-01")
    project.entity("ADR", {"number": "ADR-2", "title": "New"}, valid_from="2026-05-02")
    [one] = project.diff("2026-04-01", "2026-05-10", "ADR-1")
    assert (one["change"], one["props"]) == ("changed", {"status": {"from": "Proposed", "to": "Accepted"}})
    both = project.diff("2026-04-01", "2026-05-10")
    assert [(each["identifier"], each["change"]) for each in both] == [("ADR-1", "changed"), ("ADR-2", "appeared")]
    assert project.diff("2026-05-10", "2026-05-11") == []


def test_timeline_tells_what_happened_and_why(project):
    project.fact("ADR-1", "status", "Accepted", valid_from="2026-05-01", description="vote")
    project.alias("RDF record", "ADR-1", kind="synonym", valid_from="2026-03-01")
    told = project.timeline("ADR-1")
    assert [(entry["at"][:10], entry["kind"]) for entry in told] == [
        ("2026-01-01", "state"),
        ("2026-03-01", "alias"),
        ("2026-05-01", "state"),
    ]
    assert told[2]["changes"] == {"status": {"from": "Proposed", "to": "Accepted"}}
    assert told[2]["events"][0]["description"] == "vote"


def test_a_draft_stands_beside_the_sealed_state_until_it_is_sealed(project, clock):
    wip = project.wip("ADR-1", {"title": "Use RDF 1.2"}, source="session_intent")["wip"]
    first = clock.now()
    again = project.wip("ADR-1", {"status": "Draft"})
    assert again["wip"] == wip
    now = project.state_as_of("ADR-1")
    assert (now["flag"], now["commit_status"]) == ("wip", "wip")
    assert now["props"] == {"number": "ADR-1", "title": "Use RDF 1.2", "status": "Draft"}
    assert project.state_as_of("ADR-1", first)["props"]["status"] == "Proposed"
    assert project.state_as_of("ADR-1", prefer_wip=False)["props"]["title"] == "Use RDF"
    project.seal(wip, {"status": "Accepted"})
    sealed = project.state_as_of("ADR-1")
    assert (sealed["flag"], sealed["props"]["title"], sealed["props"]["status"]) == (
        "current",
        "Use RDF 1.2",
        "Accepted",
    )
    [event] = project.blame("ADR-1", "title")["events"]
    assert (event["event_type"], event["props_drift"]) == ("wip_sealed", True)
    assert project.drafts() == []
    with pytest.raises(RefusedError, match="not open: it was sealed"):
        project.seal(wip)


def test_sealing_what_the_draft_says_is_no_drift_and_discarding_seals_nothing(project):
    wip = project.wip("ADR-1", {"title": "Other"})["wip"]
    project.seal(wip)
    assert project.blame("ADR-1", "title")["events"][0]["props_drift"] is False
    wip = project.wip("ADR-1", {"title": "Never"})["wip"]
    project.discard(wip)
    assert project.state_as_of("ADR-1")["props"]["title"] == "Other"
    with pytest.raises(RefusedError, match="not open: it was discarded"):
        project.discard(wip)


def test_a_draft_untouched_for_thirty_days_is_stale(project, clock):
    project.wip("ADR-1", {"title": "Other"}, source="working_tree")
    assert project.drafts(stale_after_days=30) == []
    clock.advance(days=31)
    assert [draft["identifier"] for draft in project.drafts(stale_after_days=30)] == ["ADR-1"]


def test_a_state_that_begins_in_the_future_becomes_current_by_time_alone(project, clock):
    project.fact("ADR-1", "status", "Accepted", valid_from="2026-07-01")
    query = 'SELECT ?s { ?adr prism:number "ADR-1" ; prism:status ?s }'

    def now():
        return [row[0].value for row in project.prism.sparql(query).rows()]

    assert now() == ["Proposed"]
    clock.advance(days=40)
    assert now() == ["Accepted"]
    assert status(project, "2026-06-15") == "Proposed"


def test_an_unknown_start_and_a_negative_year_are_ordinary(project):
    project.entity("Component", {"name": "Archive", "status": "open"}, valid_from="-0043-03")
    assert project.state_as_of("Archive", "-0043-03-01")["valid_from"] == "-0043-03-01T00:00:00Z"
    before = project.state_as_of("Archive", "-0043-02")
    assert before["state"] is None
    assert "first state begins" in before["reason"]


def test_log_tells_the_commits(project):
    project.fact("ADR-1", "status", "Accepted")
    assert list(project.prism.log()) == []  # a store in memory keeps no log


BAD = [
    ("naive time", lambda p: p.fact("ADR-1", "status", "x", valid_from="2026-01-01T00:00:00"), BadTime, "no zone"),
    ("no time", lambda p: p.fact("ADR-1", "status", "x", valid_from="soon"), BadTime, "cannot read"),
    ("a digit too many", lambda p: p.fact("ADR-1", "status", "x", valid_from="20225-01-01"), BadTime, "out of range"),
    (
        "end before start",
        lambda p: p.fact("ADR-1", "status", "x", valid_from="2026-02", valid_until="2026-01"),
        BadTime,
        "cannot hold",
    ),
    ("unknown property", lambda p: p.fact("ADR-1", "colour", "x"), ValidationError, "'colour' is not declared"),
    ("wrong datatype", lambda p: p.fact("ADR-1", "status", 7), ValidationError, "status"),
    ("two values of a single one", lambda p: p.fact("ADR-1", "status", ["a", "b"]), BadArgument, "takes one value"),
    ("unknown entity", lambda p: p.fact("ADR-404", "status", "x"), UnknownEntity, "ADR-404"),
    ("unknown event", lambda p: p.retract("urn:x:none"), NotFoundError, "no event"),
    ("unknown commit", lambda p: p.revert(99), NotFoundError, "no commit 99"),
    ("unknown draft", lambda p: p.seal("nope"), NotFoundError, "no draft"),
    ("unknown draft source", lambda p: p.wip("ADR-1", {"title": "x"}, source="dream"), BadArgument, "no source"),
    ("empty draft", lambda p: p.wip("ADR-1", {}), BadArgument, "says nothing"),
    ("draft of a wrong datatype", lambda p: p.wip("ADR-1", {"title": 7}), ValidationError, "title"),
]


@pytest.mark.parametrize(("why", "act", "error", "says"), BAD, ids=[case[0] for case in BAD])
def test_bad_input_is_refused_by_name_and_changes_nothing(project, why, act, error, says):
    before = graph(project)
    with pytest.raises(error, match=says) as caught:
        act(project)
    assert caught.value.mend
    assert graph(project) == before


def test_an_immutable_property_never_changes(project):
    project.entity("Project", {"name": "Prism", "pid": "P1"}, valid_from="2026-01-01")
    before = graph(project)
    with pytest.raises(ValidationError, match="pid of a Project never changes: it is P1, not P2"):
        project.fact("Prism", "pid", "P2")
    assert graph(project) == before


def test_what_never_changes_and_was_wrong_is_mended_as_the_refusal_says(project):
    made = project.entity("Project", {"name": "Prism", "pid": "P1"}, valid_from="2026-01-01")
    with pytest.raises(ValidationError) as caught:
        project.correct("Prism", {"pid": "P2"})
    assert "retract the event that says so (blame pid names it)" in caught.value.mend
    [event] = project.blame("Prism", "pid")["events"]
    project.retract(event["event"])
    project.transition(made["uuid"], {"name": "Prism", "pid": "P2"}, valid_from="2026-01-01")
    assert project.state_as_of("Prism")["props"]["pid"] == "P2"


def test_an_idempotency_key_stands_for_one_request(project):
    first = project.fact("ADR-1", "status", "Accepted", idempotency_key="k1")
    again = project.fact("ADR-1", "status", "Accepted", idempotency_key="k1")
    assert (again.commit, again.replayed) == (first.commit, True)
    with pytest.raises(RefusedError, match="already used"):
        project.fact("ADR-1", "status", "Rejected", idempotency_key="k1")
    made = project.entity("ADR", {"number": "ADR-9", "title": "x"}, idempotency_key="k2")
    assert project.entity("ADR", {"number": "ADR-9", "title": "x"}, idempotency_key="k2")["uuid"] == made["uuid"]


def test_a_memory_is_linked_to_what_it_mentions_and_can_be_a_cause(project):
    made = project.remember("ADR-1 stays in `prism_rdf`, unlike ADR-404.")
    [memory] = made.created
    mentioned = """SELECT ?m { ?memory prism:mentions ?e
        OPTIONAL { ?e prism:number ?n } OPTIONAL { ?e skos:prefLabel ?l } BIND(COALESCE(?n, ?l) AS ?m) }"""
    assert sorted(row[0].value for row in project.prism.sparql(mentioned).rows()) == ["ADR-1", "prism_rdf"]
    project.fact("ADR-1", "status", "Accepted", cause_memory=memory)
    assert project.blame("ADR-1", "status")["events"][0]["cause_memory"] == memory


@pytest.mark.parametrize("verb", ["remember", "entity", "retire"])
def test_what_was_guessed_does_not_write_directly(project, verb):
    arguments = {"remember": ("text",), "entity": ("ADR", {"title": "x"}), "retire": ("ADR-1",)}[verb]
    before = graph(project)
    with pytest.raises(RefusedError, match="tier 3 does not write directly"):
        getattr(project, verb)(*arguments, tier=3)
    assert graph(project) == before


def test_a_statement_that_shows_nowhere_says_so(project):
    assert project.fact("ADR-1", "status", "Accepted", valid_from="2026-05-01").notes == ()
    project.correct("ADR-1", {"status": "Rejected"}, valid_from="2026-03-01")
    [note] = project.fact("ADR-1", "status", "Revived", valid_from="2026-05-20").notes
    assert "no state changes" in note
    assert "outranks it" in note
    assert status(project) == "Rejected"


def test_what_is_said_of_a_retired_entity_says_that_only_reopen_shows_it(project):
    project.retire("ADR-1", valid_from="2026-05-01")
    [note] = project.fact("ADR-1", "status", "Revived", valid_from="2026-05-20").notes
    assert "it is retired since 2026-05-01T00:00:00Z, and only reopen ends that" in note
    assert project.fact("ADR-1", "status", "Earlier", valid_from="2026-04-01").notes == ()
    project.reopen("ADR-1", valid_from="2026-06-01")
    [note] = project.fact("ADR-1", "title", "Between", valid_from="2026-05-20", valid_until="2026-05-25").notes
    assert "it is retired since 2026-05-01T00:00:00Z" in note
    assert status(project) == "Revived"


def test_a_wrong_datatype_is_refused_even_where_no_state_would_show_it(project):
    project.correct("ADR-1", {"status": "Rejected"}, valid_from="2026-01-01")
    before = graph(project)
    with pytest.raises(ValidationError, match="status"):
        project.fact("ADR-1", "status", 7, valid_from="2026-03-01")
    assert graph(project) == before
