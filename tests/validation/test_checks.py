"""Every named check fires on a store broken in its way, is silent on a sound one, and can undo a write."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store

from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import Names, prism
from prism_rdf.validation.checks import Check, Finding, load_checks, run_checks, touched_states

CASES = Path(__file__).parent.parent / "cases" / "checks"
NAMES = Names("urn:prism:default", "demo")
CHECKS = {check.name: check for check in load_checks()}
BROKEN = NamedNode("urn:prism:broken")
HEADER = ("summary", "why", "parameters", "dataset", "columns")
COUNT = 24


def store(name: str, kind: str) -> Store:
    made = Store()
    made.load((CASES / name / f"{kind}.trig").read_text(encoding="utf-8"), RdfFormat.TRIG)
    return made


def entities(name: str) -> list[str]:
    found: list[str] = json.loads((CASES / name / "broken.json").read_text(encoding="utf-8"))
    return found


def guarded(check: Check, focus: list[NamedNode]) -> str:
    """Return an update that writes something and is undone when the check finds something."""
    write = "INSERT DATA { GRAPH <urn:prism:free> { <urn:s> <urn:p> 1 } }"
    return f"{write} ;\n{check.post_condition(NAMES, focus, BROKEN)} ;\nCREATE GRAPH {BROKEN} ;\nDROP GRAPH {BROKEN}"


def test_every_check_has_its_cases() -> None:
    assert len(CHECKS) == COUNT
    assert {folder.name for folder in CASES.iterdir()} == set(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_fires_on_what_is_broken(name: str) -> None:
    found = run_checks(store(name, "broken"), NAMES, [CHECKS[name]])
    assert {finding.check for finding in found} == {name}
    assert sorted({NAMES.uuid_of(finding.entity) for finding in found}) == entities(name)


@pytest.mark.parametrize("name", CHECKS)
def test_nothing_at_all_fires_on_what_is_sound(name: str) -> None:
    assert run_checks(store(name, "sound"), NAMES) == ()


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_minds_its_own_namespace(name: str) -> None:
    assert run_checks(store(name, "broken"), Names("urn:prism:default", "other")) == ()


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_can_be_focused_on_the_entities_of_a_write(name: str) -> None:
    check = CHECKS[name]
    broken = store(name, "broken")
    assert check.can_focus
    for uuid in entities(name):
        found = [row["entity"] for row in broken.query(check.bind(NAMES, [NAMES.entity(uuid)]))]  # type: ignore[union-attr]
        assert {entity.value for entity in found} == {NAMES.entity(uuid).value}
    assert not list(broken.query(check.bind(NAMES, [NAMES.entity("bystander")])))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_finds_the_same_from_the_states_of_a_write(name: str) -> None:
    """Each state alone is enough: what breaks between two states is found from the later one as well."""
    broken, check = store(name, "broken"), CHECKS[name]
    focus = [NAMES.entity(uuid) for uuid in entities(name)]
    states = touched_states(broken, NAMES, broken)
    found = {row["entity"].value for row in broken.query(check.bind(NAMES, focus, states))}  # type: ignore[union-attr]
    assert found == {entity.value for entity in focus}
    if re.search(r"# focus \?state", check.text):
        assert states
        assert not list(broken.query(check.bind(NAMES, focus, [])))  # type: ignore[arg-type]
        assert not list(broken.query(check.bind(NAMES, focus, [NAMES.state("bystander")])))  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "later"), [("gap-between-states", "e"), ("overlapping-states", "d")])
def test_what_breaks_between_two_states_is_found_from_the_later_one(name: str, later: str) -> None:
    broken, check = store(name, "broken"), CHECKS[name]
    temporal = NAMES.graph("temporal")
    mentioned = list(broken.quads_for_pattern(NAMES.state(later), None, None, temporal))
    states = touched_states(broken, NAMES, [quad for quad in mentioned if quad.predicate != prism("supersededBy")])
    rows = list(broken.query(check.bind(NAMES, [], states)))  # type: ignore[arg-type]
    before = {"e": "d", "d": "c"}[later]
    assert [row["state"] for row in rows] == [NAMES.state(before)]  # type: ignore[index]


def test_touched_states_are_those_that_a_change_mentions_anywhere() -> None:
    one, two, three = (NAMES.state(name) for name in ("one", "two", "three"))
    entity, temporal = NAMES.entity("x"), NAMES.graph("temporal")
    quads = [
        Quad(entity, prism("hasState"), one, temporal),
        Quad(two, prism("supersededBy"), one, temporal),
        Quad(entity, prism("title"), Literal("t"), three),
        Quad(Names("urn:prism:default", "other").state("four"), prism("void"), Literal(True), temporal),
    ]
    assert touched_states(Store(), NAMES, quads) == (one, two, three)


def test_touched_states_have_with_them_those_that_they_supersede() -> None:
    before, one, temporal = NAMES.state("before"), NAMES.state("one"), NAMES.graph("temporal")
    after = Store()
    after.add(Quad(before, prism("supersededBy"), one, temporal))
    assert touched_states(after, NAMES, [Quad(one, prism("void"), Literal(True), temporal)]) == (one, before)


@pytest.mark.parametrize("name", CHECKS)
def test_a_post_condition_undoes_the_whole_update_when_it_finds_something(name: str) -> None:
    broken, check = store(name, "broken"), CHECKS[name]
    before = set(broken)
    with pytest.raises(RuntimeError, match=f"The graph {BROKEN} already exists"):
        broken.update(guarded(check, [NAMES.entity(uuid) for uuid in entities(name)]))
    assert set(broken) == before


@pytest.mark.parametrize("name", CHECKS)
def test_a_post_condition_lets_a_sound_update_pass_and_leaves_no_trace(name: str) -> None:
    sound, check = store(name, "sound"), CHECKS[name]
    before = set(sound)
    sound.update(guarded(check, [NAMES.entity("one"), NAMES.entity("two")]))
    assert len(set(sound) - before) == 1
    assert not sound.contains_named_graph(BROKEN)


def test_all_post_conditions_go_into_one_update() -> None:
    sound = store("gap-between-states", "sound")
    sound.update(" ;\n".join(guarded(check, [NAMES.entity("one")]) for check in CHECKS.values()))
    assert not sound.contains_named_graph(BROKEN)


@pytest.mark.parametrize("name", CHECKS)
def test_a_header_says_what_why_with_what_and_in_which_columns(name: str) -> None:
    text = CHECKS[name].text
    assert tuple(re.findall(r"^#\+ (\w+):", text, re.MULTILINE)) == HEADER
    described = re.findall(r"^#\+   (\w+) \(iri\): .+$", text, re.MULTILINE)
    assert sorted(described) == sorted(set(re.findall(r"\$(\w+)", text)))
    columns = re.findall(r"^#\+   (\w+): .+$", text.partition("#+ columns:")[2], re.MULTILINE)
    answer = Store().query(CHECKS[name].bind(NAMES))
    assert columns == [variable.value for variable in answer.variables]  # type: ignore[union-attr]
    assert columns[0] == "entity"
    assert CHECKS[name].summary.endswith(".")
    assert CHECKS[name].why.endswith(".")


def test_a_finding_reads_as_column_and_value() -> None:
    found = run_checks(store("overlapping-states", "broken"), NAMES, [CHECKS["overlapping-states"]])
    one = NAMES.entity("one").value
    detail = f"state {NAMES.state('a').value}, next {NAMES.state('b').value}"
    assert Finding("overlapping-states", one, detail) in found


def test_a_parameter_that_no_check_has_is_an_error() -> None:
    odd = Check("odd", "s", "w", "SELECT ?entity WHERE { GRAPH $evidence { ?entity ?p ?o } }")
    with pytest.raises(BadArgument, match=r"unknown parameter \$evidence"):
        odd.bind(NAMES)


def test_names_of_graphs_are_not_mistaken_for_prefixed_names() -> None:
    names = Names("urn:prism:default", "prism:demo".replace(":", "."))
    operation = CHECKS["not-one-type"].post_condition(names, [names.entity("one")], BROKEN)
    assert "<urn:prism:default/prism.demo/graph/canonical>" in operation
    assert "PREFIX" not in operation
