"""A connection does what its caller may: scopes, projects, the highest tier; what it may not is not even listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client

from prism_rdf.mcp import Caller, knowing
from prism_rdf.mcp.callers import READ_ONLY
from prism_rdf.mcp.table import VERBS
from prism_rdf.prism import Prism


@pytest.fixture
def prism() -> Any:
    with Prism.in_memory() as opened:
        opened.project("demo").entity("ADR", {"number": "ADR-1", "title": "One"}, valid_from="2026-01-01")
        opened.project("secret").entity("ADR", {"number": "ADR-9", "title": "Hidden"}, valid_from="2026-01-01")
        yield opened


Call = Callable[..., dict[str, Any]]
Ask = Callable[..., Any]


def tools(ask: Ask, prism: Prism, caller: Caller) -> set[str]:
    async def talk(client: Client) -> Any:
        return {tool.name for tool in (await client.list_tools()).tools}

    return set(ask(prism, caller, talk))


def test_read_only_offers_what_changes_nothing(prism: Prism, call: Call, ask: Ask) -> None:
    caller = Caller(scopes=READ_ONLY)
    assert tools(ask, prism, caller) == {verb.name for verb in VERBS if verb.needs == "read"}
    before = prism.commit_number
    refused = call(prism, caller, "prism_fact", pid="demo", entity_uuid="ADR-1", predicate="title", value="x")["error"]
    assert (refused["code"], refused["message"]) == ("refused", "this connection has no prism_fact")
    assert refused["call_instead"] == []
    assert call(prism, caller, "prism_start", pid="demo")["agent"] is None
    assert prism.commit_number == before


def test_hints_say_what_each_tool_does(prism: Prism, ask: Ask) -> None:
    async def talk(client: Client) -> Any:
        return (await client.list_tools()).tools

    hints = {tool.name: tool.annotations for tool in ask(prism, Caller(forgets=True), talk)}
    reads = {name for name, hint in hints.items() if hint.read_only_hint}
    assert reads == {verb.name for verb in VERBS if verb.needs == "read"}
    assert {name for name, hint in hints.items() if hint.destructive_hint} == {"prism_forget"}
    assert not hints["prism_fact"].idempotent_hint
    assert hints["prism_remember"].idempotent_hint


def test_every_argument_is_described(prism: Prism, ask: Ask) -> None:
    async def talk(client: Client) -> Any:
        return (await client.list_tools()).tools

    found = {
        (tool.name, name): schema
        for tool in ask(prism, Caller(forgets=True), talk)
        for name, schema in tool.input_schema["properties"].items()
    }
    assert len(found) > 150
    assert [where for where, schema in found.items() if not schema.get("description")] == []


def test_forgetting_is_offered_where_it_is_enabled(prism: Prism, call: Call, ask: Ask) -> None:
    assert "prism_forget" not in tools(ask, prism, Caller())
    assert "prism_forget" not in tools(ask, prism, Caller(forgets=True, scopes=frozenset({"read", "write", "review"})))
    assert call(prism, Caller(pid="demo"), "prism_forget", target="ADR-1")["error"]["code"] == "refused"
    caller = Caller(pid="demo", forgets=True)
    assert call(prism, caller, "prism_forget", target="ADR-1")["dry_run"]
    assert call(prism, caller, "prism_state_as_of", entity_uuid="ADR-1")["identifier"] == "ADR-1"
    assert call(prism, caller, "prism_forget", target="ADR-1", dry_run=False)["going"]
    assert call(prism, caller, "prism_state_as_of", entity_uuid="ADR-1")["error"]["code"] == "unknown-entity"


@pytest.mark.parametrize(
    ("cap", "tier", "refused"),
    [(1, 1, False), (1, None, False), (2, 1, True), (2, 2, False), (3, 2, True), (3, None, False), (3, 3, False)],
)
def test_a_tier_above_the_cap_is_refused(prism: Prism, cap: Any, tier: int | None, refused: bool, call: Call) -> None:
    said = {} if tier is None else {"authority_tier": tier}
    caller = Caller(pid="demo", tier=cap)
    told = call(
        prism, caller, "prism_alias", surface_form="first", canonical_entity_uuid="ADR-1", kind="synonym", **said
    )
    if refused:
        assert told["error"]["code"] == "refused"
    else:
        assert told["commit"]
        assert bool(told.get("candidates")) == (cap == 3)


def test_a_verb_without_a_tier_is_held_to_the_cap_too(prism: Prism, call: Call) -> None:
    told = call(prism, Caller(pid="demo", tier=3), "prism_wip", entity_uuid="ADR-1", props={"title": "x"})
    assert told["error"]["code"] == "refused"


def test_what_an_agent_says_of_no_tier_is_that_of_an_agent(prism: Prism, call: Call) -> None:
    caller = Caller(agent="planner", pid="demo", tier=1)
    call(prism, caller, "prism_fact", entity_uuid="ADR-1", predicate="title", value="Two")
    [event] = call(prism, caller, "prism_blame", entity_uuid="ADR-1", predicate="title")["events"]
    assert (event["tier"], event["source"]) == (2, "agent:planner")


def test_a_draft_that_an_agent_seals_is_no_word_of_a_person(prism: Prism, call: Call) -> None:
    caller = Caller(agent="planner", pid="demo", tier=1)
    for said, tier in (({}, 2), ({"tier": 1}, 1)):
        call(prism, caller, "prism_wip", entity_uuid="ADR-1", props={"title": f"by {tier}"})
        sealed = call(
            prism, caller, "prism_seal", wip_state_uuid="ADR-1", props_at_seal={"title": f"sealed by {tier}"}, **said
        )
        assert sealed["notes"] == ["props_drift: sealed with other values than the draft had: title"]
        [event] = call(prism, caller, "prism_blame", entity_uuid="ADR-1", predicate="title")["events"]
        assert (event["event_type"], event["tier"]) == ("wip_sealed", tier)


def test_a_caller_of_some_projects_sees_no_other(prism: Prism, call: Call, ask: Ask) -> None:
    caller = Caller(pids=frozenset({"demo"}))
    assert call(prism, caller, "prism_list_entities")["total"] == 1
    there = call(prism, caller, "prism_state_as_of", pid="secret", entity_uuid="ADR-9")["error"]
    nowhere = call(prism, caller, "prism_state_as_of", pid="nowhere", entity_uuid="ADR-9")["error"]
    assert there["message"].replace("secret", "nowhere") == nowhere["message"]
    assert "secret" not in there["mend"]
    hidden = "SELECT ?t { { ?e prism:title ?t } UNION { GRAPH ?g { ?e prism:title ?t } } }"
    assert "Hidden" not in str(call(prism, caller, "prism_sparql", query=hidden))
    assert call(prism, caller, "prism_sparql", query=hidden, dataset="raw")["error"]["code"] == "refused"
    elsewhere = call(prism, caller, "prism_sparql", query="ASK { SERVICE <http://example.org/> { ?s ?p ?o } }")["error"]
    assert elsewhere["code"] == "refused"
    assert "some projects" in elsewhere["message"]
    new = call(prism, caller, "prism_entity", pid="fresh", type_name="ADR", initial_props={"title": "x"})
    assert new["error"]["code"] == "not-found"

    async def talk(client: Client) -> Any:
        return [str(each.uri) for each in (await client.list_resources()).resources]

    assert ask(prism, caller, talk) == ["prism://demo/types", "prism://demo/wip", "prism://demo/queries"]


def test_where_several_projects_are_none_is_guessed(prism: Prism, call: Call) -> None:
    told = call(prism, Caller(), "prism_list_entities")["error"]
    assert told["code"] == "bad-argument"
    assert "demo, secret" in told["mend"]


def test_the_client_is_the_agent_where_none_is_named(filled: tuple[Prism, dict[str, str]], call: Call) -> None:
    prism, known = filled
    caller, candidate = Caller(pid="demo"), known["$fact"]
    told = call(prism, caller, "prism_review_fact_candidate", candidate_id=candidate, new_status="rejected")
    assert told["status"] == "rejected"
    [ruling] = prism.project("demo").candidate(candidate)["rulings"]
    assert ruling["reviewer"] == "mcp"  # what the client of the SDK calls itself


def test_an_unknown_tool_is_told_with_those_that_are_spelt_alike(prism: Prism, call: Call) -> None:
    told = call(prism, Caller(), "prism_recall")["error"]
    assert told["code"] == "not-found"
    assert "semantic_recall" in told["mend"]


def test_an_update_that_is_asked_as_a_question_is_pointed_to_the_tools_that_write(prism: Prism, call: Call) -> None:
    told = call(prism, Caller(), "prism_sparql", pid="demo", query="DELETE WHERE { ?s ?p ?o }")["error"]
    assert told["call_instead"] == ["prism_fact", "prism_transition", "prism_queries"]
    reading = call(prism, Caller(scopes=READ_ONLY), "prism_sparql", pid="demo", query="DELETE WHERE { ?s ?p ?o }")
    assert reading["error"]["call_instead"] == ["prism_queries"]


def test_a_guessed_alias_names_the_tool_that_rules_on_it(prism: Prism, call: Call) -> None:
    said = {"surface_form": "the first", "canonical_entity_uuid": "ADR-1", "authority_tier": 3}
    [note] = call(prism, Caller(pid="demo"), "prism_alias", **said)["notes"]
    assert "prism_review_alias_candidate" in note
    assert "prism_review_fact_candidate" not in note


def test_references_of_a_large_project_are_asked_by_their_ends(
    filled: tuple[Prism, dict[str, str]], call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    prism, caller = filled[0], Caller(pid="demo")
    assert len(call(prism, caller, "prism_list_references")["references"]) == 1
    monkeypatch.setattr(knowing, "_MOST_REFERENCES", 0)
    told = call(prism, caller, "prism_list_references")["error"]
    assert "demo has 1 references" in told["message"]
    assert {"prism_impact", "prism_sparql"} <= set(told["call_instead"])
    assert call(prism, caller, "prism_list_references", target="ADR-3")["references"]


def test_a_graph_of_another_project_is_answered_as_one_that_is_not_there(prism: Prism, call: Call) -> None:
    prism.update('INSERT DATA { GRAPH <urn:elsewhere> { <urn:a> <urn:b> "TOPSECRET" } }', pid="secret")
    prism.load(b'<urn:a> <urn:b> "TOPSECRET" .', f"{prism.base}/secret/free/notes", format="ttl", pid="secret")
    caller = Caller(pids=frozenset({"demo"}))
    for there, not_there in (
        ("urn:elsewhere", "urn:nowhere"),
        (f"{prism.base}/secret/free/notes", f"{prism.base}/secret/free/nones"),
        (f"{prism.base}/secret/graph/current", f"{prism.base}/nobody/graph/current"),
        (f"{prism.base}/secret/graph/temporal", f"{prism.base}/nobody/graph/temporal"),
    ):
        for query in ("SELECT * FROM <{}> {{ ?s ?p ?o }}", "SELECT * FROM NAMED <{}> {{ GRAPH ?g {{ ?s ?p ?o }} }}"):
            for more in ({}, {"as_of": "2026-06-01"}):
                answers = [
                    repr(call(prism, caller, "prism_sparql", pid="demo", query=query.format(iri), **more))
                    for iri in (there, not_there)
                ]
                assert answers[0].replace(there, "IRI") == answers[1].replace(not_there, "IRI")
                assert "TOPSECRET" not in answers[0]
