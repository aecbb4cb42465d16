"""What a change would break is found before it is logged, and is what the named checks find in the store after it."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store

from prism_rdf import Prism
from prism_rdf.belief import Delta
from prism_rdf.changes import DUE_AT
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.errors import ValidationError
from prism_rdf.model import Merge
from prism_rdf.namespaces import Names
from prism_rdf.namespaces import prism as term
from prism_rdf.preflight import INVARIANTS, broken_by
from prism_rdf.storage.overlay import Overlay
from prism_rdf.storage.read_once import ReadOnce
from prism_rdf.validation.checks import load_checks, run_checks

CASES = Path(__file__).parent.parent / "cases" / "checks"
NAMES = Names("urn:prism:default", "demo")
CHECKS = [check for check in load_checks() if check.name in INVARIANTS]
HELD = ("canonical", "temporal", "semantic", "current")


def case(name: str, kind: str) -> Store:
    made = Store()
    made.load((CASES / name / f"{kind}.trig").read_text(encoding="utf-8"), RdfFormat.TRIG)
    return made


def as_written(store: Store) -> Store:
    """Return a sound store with what the engine writes beside its open states: the tail, the thread of a draft."""
    made, temporal = Store(), NAMES.graph("temporal")
    made.extend(store)
    for quad in store.quads_for_pattern(None, term("commitStatus"), None, temporal):
        [owner] = {each.subject for each in store.quads_for_pattern(None, term("hasState"), quad.subject, temporal)}
        said = {each.predicate for each in store.quads_for_pattern(quad.subject, None, None, temporal)}
        if said.isdisjoint({term("validUntil"), term("withdrawnAt")}):
            made.add(Quad(owner, term("tail"), quad.subject, NAMES.graph("tail")))
            made.add(Quad(quad.subject, term("draftThread"), NAMES.draft("x"), temporal))
            made.add(Quad(NAMES.draft("x"), term("draftOf"), owner, temporal))
    return made


def found_before(before: Store, adds, removes) -> set[tuple[str, str]]:
    reading = ReadOnce(before)
    after = Overlay(reading, adds, removes)
    return {(v.shape, v.node) for v in broken_by(reading, after, NAMES)}


def found_after(before: Store, adds, removes) -> set[tuple[str, str]]:
    after = Store()
    after.extend(quad for quad in before if quad not in set(removes))
    after.extend(adds)
    return {(finding.check, finding.entity) for finding in run_checks(after, NAMES, CHECKS)}


def test_every_check_of_what_is_written_is_held_in_every_write():
    written = {"canonical", "temporal", "semantic"}
    assert set(INVARIANTS) == {check.name for check in load_checks() if written & check.layers}


@pytest.mark.parametrize("name", INVARIANTS)
def test_a_case_is_found_when_all_of_it_is_written_at_once(name):
    adds = list(case(name, "broken"))
    assert found_before(Store(), adds, []) == found_after(Store(), adds, [])
    assert {check for check, _ in found_before(Store(), adds, [])} >= {name}


@pytest.mark.parametrize("name", INVARIANTS)
def test_a_case_is_found_from_what_breaks_a_sound_store(name):
    sound, broken = set(case(name, "sound")), set(case(name, "broken"))
    before, adds, removes = as_written(case(name, "sound")), broken - sound, sound - broken
    found, meant = found_before(before, adds, removes), found_after(before, adds, removes)
    assert {check for check, _ in found} == {check for check, _ in meant} >= {name}
    assert found <= meant


@pytest.mark.parametrize("name", INVARIANTS)
def test_what_is_sound_may_be_written(name):
    adds = list(case(name, "sound"))
    assert found_before(Store(), adds, []) == set()


@pytest.fixture(scope="module")
def lived() -> Corruption:
    """A store of five entities with all that the engine writes: ends, voids, corrections, drafts, names, merges."""
    clock = ManualClock(Instant.parse("2026-06-01T00:00:00Z"))
    with Prism.in_memory(clock=clock) as prism:
        project = prism.project("demo")
        made = [
            project.entity(
                "ADR", {"number": f"ADR-{n}", "title": f"T{n}", "status": "Proposed"}, valid_from="2026-01-01"
            )
            for n in range(5)
        ]
        uuids = [each["uuid"] for each in made]
        for month in (2, 3, 4):
            for uuid in uuids[:3]:
                project.fact(uuid, "title", f"T{month}", valid_from=f"2026-0{month}-01")
        project.fact(uuids[0], "status", "Held", valid_from="2026-02-10", valid_until="2026-02-20")
        project.correct(uuids[1], {"title": "Right"}, valid_from="2026-03-01")
        project.retire(uuids[2], valid_from="2026-05-01")
        project.reopen(uuids[2], valid_from="2026-05-10")
        project.wip(uuids[0], {"title": "Drafted"})
        clock.advance(days=1)
        project.wip(uuids[0], {"title": "Drafted again"})
        project.seal(project.wip(uuids[1], {"title": "Sealed"})["wip"])
        project.discard(project.wip(uuids[1], {"title": "Given up"})["wip"])
        project.alias("First", uuids[0], valid_from="2026-01-01", valid_until="2026-02-01")
        project.alias("Second", uuids[1], kind="synonym")
        project.reference(uuids[0], uuids[1], "SUPERSEDES", valid_from="2026-02-01", valid_until="2026-04-01")
        project.reference(uuids[1], uuids[2], "DEPENDS_ON")
        project.write([Merge(uuids[4], uuids[3])])
        store = Store()
        store.extend(prism.store.quads_for_pattern(None, None, None))
    assert run_checks(store, NAMES) == ()
    return Corruption(store)


class Corruption:
    """Changes that no planner would plan, made of what a store says already."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.graphs = [NAMES.graph(layer) for layer in HELD]
        self.alike: dict[tuple, list[Quad]] = {}
        for quad in sorted(store, key=str):
            shown = str(quad.graph_name).startswith(f"<{NAMES.state('').value}")
            if shown or (quad.graph_name in self.graphs and quad.predicate != DUE_AT):
                self.alike.setdefault((quad.predicate, None if shown else quad.graph_name), []).append(quad)

    def change(self, seed: int, edits: int) -> tuple[list[Quad], list[Quad]]:
        """Return what a few random edits add and remove: each of any property with the same chance."""
        chance = random.Random(seed)
        adds: dict[Quad, None] = {}
        removes: dict[Quad, None] = {}
        for _ in range(edits):
            alike = chance.choice(list(self.alike.values()))
            quad, other = chance.choice(alike), chance.choice(alike)
            elsewhere = chance.choice(chance.choice(list(self.alike.values())))
            how = chance.randrange(6)
            if how in (0, 1):
                removes[quad] = None
            if how in (1, 2):
                adds[Quad(quad.subject, quad.predicate, other.object, quad.graph_name)] = None
            if how == 3:
                adds[Quad(other.subject, quad.predicate, quad.object, quad.graph_name)] = None
            if how == 4:
                adds[Quad(elsewhere.subject, quad.predicate, quad.object, quad.graph_name)] = None
            if how == 5 and chance.random() < 0.3:
                adds[Quad(quad.subject, quad.predicate, quad.object, elsewhere.graph_name)] = None
        adds = {quad: None for quad in adds if quad not in self.store and quad not in removes}
        return list(adds), list(removes)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**9), edits=st.integers(1, 6))
def test_any_corruption_is_found_exactly_as_the_checks_find_it(lived, seed, edits):
    adds, removes = lived.change(seed, edits)
    found, meant = found_before(lived.store, adds, removes), found_after(lived.store, adds, removes)
    assert {check for check, _ in found} == {check for check, _ in meant}
    assert found <= meant


@pytest.fixture
def project():
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.entity("ADR", {"number": "ADR-1", "title": "One"}, valid_from="2026-01-01")
        project.fact("ADR-1", "title", "Two", valid_from="2026-02-01")
        yield project


def test_a_planner_gone_wrong_is_refused_and_nothing_is_written(project, monkeypatch):
    monkeypatch.setattr("prism_rdf.temporal.states.revise", lambda *_: Delta())
    before = set(project.prism.store.quads_for_pattern(None, None, None))
    with pytest.raises(ValidationError, match="would break an invariant"):
        project.fact("ADR-1", "title", "Three", valid_from="2026-03-01")
    assert set(project.prism.store.quads_for_pattern(None, None, None)) == before


def test_a_logged_commit_that_breaks_an_invariant_was_never_acknowledged_and_is_not_replayed(tmp_path):
    with Prism.open(tmp_path, exclusive=True) as prism:
        made = prism.project("demo").entity("ADR", {"number": "ADR-1", "title": "One"}, valid_from="2026-01-01")
        [last] = prism.changes(0)
        names, entity = prism.project("demo").names, NamedNode(made["entity"])
        again = Quad(entity, term("hasState"), names.state("x"), names.graph("temporal"))
        second = Quad(names.state("x"), term("commitStatus"), Literal("committed"), names.graph("temporal"))
        prism.site.log.append(replace(last, number=2, adds=(again, second), removes=()))
        before = set(prism.store.quads_for_pattern(None, None, None))
    for _ in range(2):
        with Prism.open(tmp_path, exclusive=True) as prism:
            assert prism.commit_number == 1
            assert set(prism.store.quads_for_pattern(None, None, None)) == before
    with Prism.open(tmp_path, exclusive=True) as prism:
        assert prism.project("demo").fact("ADR-1", "title", "Two").commit == 2
