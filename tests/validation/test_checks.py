"""Every named check fires on a store broken in its way, and is silent on a sound one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store

from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import Names
from prism_rdf.validation.checks import Check, Finding, load_checks, run_checks

CASES = Path(__file__).parent.parent / "cases" / "checks"
NAMES = Names("urn:prism:default", "demo")
CHECKS = {check.name: check for check in load_checks()}
HEADER = ("summary", "why", "parameters", "dataset", "columns")
COUNT = 27


def store(name: str, kind: str) -> Store:
    made = Store()
    made.load((CASES / name / f"{kind}.trig").read_text(encoding="utf-8"), RdfFormat.TRIG)
    return made


def entities(name: str) -> list[str]:
    found: list[str] = json.loads((CASES / name / "broken.json").read_text(encoding="utf-8"))
    return found


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
    odd = Check("odd", "s", "w", "SELECT ?entity WHERE { GRAPH $memory { ?entity ?p ?o } }")
    with pytest.raises(BadArgument, match=r"unknown parameter \$memory"):
        odd.bind(NAMES)
