"""A connection has a highest tier: claiming more is refused, what is said without one has it, and 3 only guesses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prism_rdf import BadArgument, Prism, Project, RefusedError
from prism_rdf.clock import ManualClock
from prism_rdf.model import Alias
from prism_rdf.tiers import speaking_for

Say = Callable[..., Any]
SAYINGS: dict[str, Say] = {
    "entity": lambda p, **said: p.entity("ADR", {"number": "ADR-9"}, **said),
    "fact": lambda p, **said: p.fact("ADR-1", "status", "Accepted", **said),
    "transition": lambda p, **said: p.transition("ADR-1", {"title": "x"}, **said),
    "correct": lambda p, **said: p.correct("ADR-1", {"title": "y"}, **said),
    "retire": lambda p, **said: p.retire("ADR-2", **said),
    "reopen": lambda p, **said: p.reopen("ADR-2", **said),
    "alias": lambda p, **said: p.alias("other", "ADR-1", **said),
    "reference": lambda p, **said: p.reference("ADR-1", "Prism", "REFERENCES", **said),
    "remember": lambda p, **said: p.remember("text", **said),
}
OTHERS: dict[str, Say] = {
    "wip": lambda p: p.wip("ADR-1", {"title": "z"}),
    "revert": lambda p: p.revert(4),
    "retract": lambda p: p.retract(p.blame("ADR-1", "title")["events"][0]["event"]),
    "merge": lambda p: p.merge("ADR-2", "ADR-1"),
    "merge-duplicates": lambda p: p.merge_duplicates(),
    "different": lambda p: p.different("ADR-1", "ADR-2"),
    "forget": lambda p: p.forget("ADR-1"),
    "review": lambda p: p.review(p.list_candidates()["candidates"][0]["uuid"], "reject", reviewer="me"),
}
GUESSED = ("fact", "transition", "alias", "reference")


@pytest.fixture
def limited(project: Project) -> Callable[[int], Project]:
    """The project as a connection of a highest tier sees it."""
    project.alias("guessed", "ADR-1", tier=3)

    def go(tier: int) -> Project:
        project.prism._tier = tier  # type: ignore[assignment]
        return project

    return go


@pytest.mark.parametrize("verb", SAYINGS)
def test_claiming_more_is_refused(limited: Callable[[int], Project], world: Callable[[], object], verb: str) -> None:
    project = limited(2)
    if verb == "reopen":
        project.retire("ADR-2")
    before = world()
    with pytest.raises(RefusedError, match="tier 1 is more than this connection may claim: its highest is 2") as caught:
        SAYINGS[verb](project, tier=1)
    assert caught.value.exit_status == 5
    assert world() == before
    assert SAYINGS[verb](project)
    assert world() != before


def test_what_is_said_without_a_tier_has_the_highest(limited: Callable[[int], Project]) -> None:
    project = limited(2)
    project.fact("ADR-1", "status", "Accepted")
    project.reference("ADR-1", "ADR-2", "SUPERSEDES")
    draft = project.wip("ADR-1", {"title": "drafted"})
    project.seal(draft["wip"])
    tiers = [project.blame("ADR-1", name)["events"][0]["tier"] for name in ("status", "title")]
    assert [*tiers, project.list_references()[0]["tier"]] == [2, 2, 2]


@pytest.mark.parametrize("verb", [*SAYINGS, *OTHERS])
def test_the_third_tier_only_guesses(limited: Callable[[int], Project], world: Callable[[], object], verb: str) -> None:
    project = limited(3)
    before, waiting = world(), project.list_candidates()["total"]
    if verb in GUESSED:
        assert SAYINGS[verb](project).candidates
        assert project.list_candidates()["total"] == waiting + 1
    else:
        with pytest.raises(RefusedError, match=r"only guesses|does not write directly|corrects nothing") as caught:
            (SAYINGS | OTHERS)[verb](project)
        assert caught.value.exit_status == 5
    assert world() == before


@pytest.mark.parametrize("tier", [0, 4, "1"])
def test_there_are_three_tiers(project: Project, tier: Any) -> None:
    with pytest.raises(BadArgument, match="no tier"):
        project.fact("ADR-1", "status", "x", tier=tier)


def test_intents_claim_no_more_either(limited: Callable[[int], Project]) -> None:
    project = limited(2)
    uuid = project.names.uuid_of(project.resolve("ADR-1").value)
    with pytest.raises(RefusedError, match="tier 1 is more"):
        project.write([Alias(uuid, "x", tier=1)])
    assert project.write([Alias(uuid, "x", tier=2)]).commit


def test_the_second_tier_reviews(limited: Callable[[int], Project]) -> None:
    project = limited(2)
    [row] = project.list_candidates()["candidates"]
    assert project.review(row["uuid"], "promote", reviewer="agent")["status"] == "promoted"
    assert project.review(row["uuid"], "undo", reviewer="agent")["status"] == "pending"


def test_a_process_speaks_for_its_connections(project: Project) -> None:
    with speaking_for(2):
        assert project.prism.tier == 2
        with pytest.raises(RefusedError, match="highest is 2"):
            project.fact("ADR-1", "status", "x", tier=1)
        with speaking_for(3):
            assert project.prism.tier == 3
    assert project.prism.tier == 1


def test_the_highest_tier_is_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: ManualClock) -> None:
    with Prism.open(tmp_path, exclusive=True, tier=2) as prism:
        assert prism.tier == 2
    monkeypatch.setenv("PRISM_TIER", "3")
    with Prism.open(tmp_path, exclusive=True) as prism:
        assert prism.tier == 3
    with Prism.open(tmp_path, exclusive=True, tier=1, clock=clock) as prism:
        assert prism.tier == 1, "an argument wins over the environment"
    monkeypatch.setenv("PRISM_TIER", "person")
    with pytest.raises(BadArgument, match="highest tier is 'person'"):
        Prism.open(tmp_path, exclusive=True)
