"""A start tells where a project stands and what is new for an agent, and fits its budget whatever the store holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from prism_rdf import Prism, Project
from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument, NotFoundError
from prism_rdf.starting import LEAST, tokens

SERVICES = """@prefix my: <https://example.org/atlas#> . @prefix prism: <https://w3id.org/prism-rdf/ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix type: <https://w3id.org/prism-rdf/type#> .
my:Service a owl:Class, prism:Type ; rdfs:subClassOf type:Component .
"""


class Calendar:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.at = Instant.parse("2026-01-01T00:00:00Z")

    def now(self) -> Instant:
        self.at = self.at.plus(micros=1)
        return self.at


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


@pytest.fixture
def project(calendar: Calendar) -> Iterator[Project]:
    """A project with two decisions, the newer of which supersedes the other."""
    with Prism.in_memory(clock=calendar) as prism:
        demo = prism.project("demo")
        demo.entity("Project", {"name": "Prism", "pid": "demo"}, valid_from="2025-01-01")
        demo.entity("ADR", {"number": "ADR-1", "title": "Use a graph"}, valid_from="2025-01-01")
        demo.entity("ADR", {"number": "ADR-2", "title": "Use a table"}, valid_from="2025-02-01")
        demo.entity("SPEC", {"number": "SPEC-1", "title": "Tables"}, valid_from="2025-02-01")
        yield demo


def reminders(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["category"]: each for each in found["rules_reminders"]}


def test_an_agent_learns_what_came_after_its_last_start(project: Project) -> None:
    first = project.start("ada")
    assert not first["since"]["known"]
    assert [each["identifier"] for each in first["changed"]["entities"]] == ["SPEC-1", "ADR-2", "ADR-1", "Prism"]
    project.reference("ADR-1", "ADR-2", "SUPERSEDES")
    project.fact("ADR-1", "status", "Accepted")
    project.alias("the graph", "ADR-1", kind="synonym")
    project.remember("We took the graph.")
    project.start("bob")
    found = project.start("ada")
    assert found["since"]["known"]
    assert found["since"]["commit"] == 4
    assert found["changed"]["commits"] == 4
    (told,) = found["changed"]["entities"]
    assert told["identifier"] == "ADR-1"
    assert told["what"] == ["also called the graph", "fact: status = Accepted", "SUPERSEDES ADR-2"]
    assert [each["content"] for each in found["changed"]["memories"]] == ["We took the graph."]
    assert project.start("ada")["changed"]["commits"] == 0


def test_what_was_said_and_taken_back_meanwhile_is_told_once(project: Project) -> None:
    project.alias("graff", "ADR-1", kind="synonym")
    project.unalias("graff")
    assert project.start(since=4)["changed"]["entities"][0]["what"] == ["no longer believed: also called graff"]


def test_starting_often_is_not_written_often(project: Project) -> None:
    project.start("ada")
    before = project.prism.commit_number
    for _ in range(3):
        project.start("ada")
    assert project.prism.commit_number == before
    project.start()
    project.start("ada", since=2)
    assert project.prism.commit_number == before, "without an agent, and with since, nothing is written"


def test_a_start_that_is_asked_again_under_its_key_says_the_same(project: Project) -> None:
    project.start("ada")
    project.fact("ADR-1", "status", "Accepted")
    once = project.start("ada", idempotency_key="k")
    again = project.start("ada", idempotency_key="k")
    assert once["since"] == again["since"]
    assert once["changed"]["commits"] == 1


def test_since_is_a_commit_or_a_system_time(project: Project, calendar: Calendar) -> None:
    calendar.at = Instant.parse("2026-03-01T00:00:00Z")
    project.fact("ADR-1", "status", "Accepted")
    assert project.start(since="2026-02")["since"]["commit"] == 4
    assert project.start(since=4)["changed"] == project.start(since="2026-02")["changed"]
    assert project.start(since="2020")["changed"]["commits"] == 5
    assert project.start(since=0)["changed"]["commits"] == 5
    with pytest.raises(NotFoundError, match="no commit 99"):
        project.start(since=99)


def test_whoever_only_guesses_may_start() -> None:
    with Prism.in_memory(tier=3) as prism:
        prism.project("demo").start("guesser")
        assert prism.project("demo").start("guesser")["since"]["known"]


def test_reminders_say_what_wants_attention(project: Project, calendar: Calendar) -> None:
    assert project.start()["rules_reminders"] == []
    project.reference("ADR-1", "ADR-2", "SUPERSEDES")
    project.reference("ADR-1", "ADR-2", "EXTENDS")
    project.reference("SPEC-1", "ADR-2", "FORMALIZES")
    project.wip("ADR-1", {"title": "Use the graph"})
    project.fact("ADR-1", "status", "Deprecated", tier=3, quote="it is deprecated")
    calendar.at = calendar.at.plus(days=31)
    project.wip("Prism", {"name": "Prism RDF"})
    found = reminders(project.start())
    assert found.keys() == {"stale_wip", "pending_reviews", "resting_on_superseded"}
    assert (found["stale_wip"]["count"], found["stale_wip"]["items"]) == (1, ["ADR-1"])
    assert found["pending_reviews"]["items"] == ["ADR-1: status = Deprecated"]
    assert found["resting_on_superseded"]["items"] == ["SPEC-1 rests on ADR-2 by FORMALIZES: superseded by ADR-1"], (
        "what supersedes a thing may extend it"
    )


def test_what_rests_on_a_retired_thing_is_told_until_it_rests_no_more(project: Project) -> None:
    project.entity("Component", {"name": "store"}, valid_from="2025-01-01")
    project.reference("store", "ADR-1", "IMPLEMENTS")
    project.retire("ADR-1")
    assert reminders(project.start())["resting_on_superseded"]["items"] == [
        "store rests on ADR-1 by IMPLEMENTS: retired"
    ]
    project.retire("store")
    assert project.start()["rules_reminders"] == []


def test_the_project_and_its_draft_are_told_as_of_a_time(project: Project) -> None:
    project.wip("Prism", {"name": "Prism RDF"})
    now = project.start()
    assert now["project"]["props"] == {"name": "Prism", "pid": "demo"}
    assert now["project"]["wip"] == {"name": "Prism RDF"}
    assert now["counts"]["entities"] == {"ADR": 2, "Project": 1, "SPEC": 1}
    then = project.start(as_of="2025-01-15")
    assert then["project"]["wip"] is None
    assert then["open_wip"] == []
    assert then["counts"]["entities"] == {"ADR": 1, "Project": 1}
    assert project.start(as_of="2020")["project"] is None


def test_an_entity_is_counted_as_what_it_is(project: Project) -> None:
    project.add_types({"services.ttl": SERVICES})
    project.entity("Component", {"name": "store"})
    project.entity("Service", {"name": "gateway"})
    assert project.start()["counts"]["entities"] == {"ADR": 2, "Component": 1, "Project": 1, "SPEC": 1, "Service": 1}


def test_it_fits_its_budget_and_counts_what_it_leaves_out(project: Project) -> None:
    words = "a long title that says what it is about in more words than one would wish for, " * 4
    for number in range(12):
        project.entity("ADR", {"number": f"ADR-{100 + number}", "title": words, "status": words})
        project.wip(f"ADR-{100 + number}", {"title": f"{words} {number}"})
    for budget in (LEAST, 800, 1500, 20_000):
        found = project.start(since=0, budget=budget)
        assert tokens(found) <= budget
        left, changed, wip = found["left_out"], found["changed"], found["open_wip"]
        assert left["changed"] == changed["entities_total"] - len(changed["entities"]) == 16 - len(changed["entities"])
        assert left["open_wip"] == 12 - len(wip)
    assert (len(wip), len(changed["entities"])) == (10, 10)


def test_a_budget_that_nothing_fits_is_refused(project: Project) -> None:
    with pytest.raises(BadArgument, match="10 tokens"):
        project.start(budget=10)
