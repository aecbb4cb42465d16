"""Files of types, each with what is wrong with it beside it; and what is asked of the reasoner."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from prism_rdf.canonical.reasoning import reason
from prism_rdf.canonical.schemas import Schema, faults
from prism_rdf.canonical.vocabulary import Vocabulary
from prism_rdf.errors import Violation

CASES = Path(__file__).parent.parent / "cases" / "types"
FILES = sorted(CASES.glob("*.ttl"))
NEEDS_JAVA = pytest.mark.skipif(shutil.which("java") is None, reason="the reasoner HermiT needs Java")


def found(file: Path) -> tuple[Violation, ...]:
    return faults(((file.name, file.read_text("utf-8")),))


def test_the_cases_are_all_found() -> None:
    assert len(FILES) == 90
    assert len([file for file in FILES if file.stem.startswith("valid-")]) == 15


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_exactly_what_stands_beside_a_file_is_wrong_with_it(file: Path) -> None:
    beside = file.with_suffix(".json")
    expected = json.loads(beside.read_text("utf-8")) if file.stem.startswith("invalid-") else []
    violations = found(file)
    left = list(violations)
    for each in expected:
        fitting = [v for v in left if v.node.startswith(each["about"]) and each["says"] in f"{v.message} {v.mend}"]
        assert fitting, (each, violations)
        left.remove(fitting[0])
    assert left == []
    assert all(v.message.startswith(file.name) and v.mend and v.shape for v in violations)


@pytest.mark.parametrize("file", [f for f in FILES if f.stem.startswith("valid-")], ids=lambda file: file.stem)
def test_what_is_sound_can_be_used(file: Path) -> None:
    schema = Schema.of({file.name: file.read_text("utf-8")})
    assert schema.gate.check({"snapshot": [], "link": []}) == ()
    assert schema.unusable == ()
    assert len(schema.catalog.types) >= 14


def test_two_files_share_no_declaration_but_may_build_on_each_other() -> None:
    head = (CASES / "valid-nothing.ttl").read_text("utf-8")
    one = head + "my:Risk a owl:Class, prism:Type ; rdfs:subClassOf my:Threat .\n"
    two = head + "my:Threat a owl:Class ; rdfs:subClassOf prism:Entity ; prism:mutableProperty prism:title .\n"
    assert faults((("one.ttl", one), ("two.ttl", two))) == ()
    assert faults((("one.ttl", one),)) != ()
    again = faults((("one.ttl", one), ("three.ttl", one), ("two.ttl", two)))
    assert [violation.message for violation in again] == ["one.ttl: Risk is declared in one.ttl and in three.ttl"]


def test_what_no_longer_goes_with_what_ships_is_left_out_and_told() -> None:
    texts = {
        name: (CASES / name).read_text("utf-8")
        for name in ("invalid-name-of-a-shipped-type.ttl", "valid-kind-with-ends.ttl")
    }
    schema = Schema.of(texts)
    assert [name for name, _ in schema.unusable] == ["invalid-name-of-a-shipped-type.ttl"]
    assert "HITS" in schema.catalog.kinds


def test_without_java_the_reasoner_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    verdict = reason(Vocabulary({}))
    assert verdict.status == "java-missing"
    assert "default-jre-headless" in verdict.message


@pytest.mark.slow
@pytest.mark.java
@NEEDS_JAVA
def test_the_reasoner_finds_what_the_checks_in_python_do_not() -> None:
    head = (CASES / "valid-type-with-properties.ttl").read_text("utf-8")
    odd = """my:A a owl:Class ; rdfs:subClassOf [ a owl:Restriction ; owl:onProperty my:p ; owl:someValuesFrom my:B ] .
        my:B a owl:Class . my:C a owl:Class ; owl:disjointWith my:B . my:p a owl:ObjectProperty ; rdfs:range my:C ."""
    assert faults((("odd.ttl", head + odd),)) == ()
    verdict = reason(Vocabulary({"odd.ttl": head + odd}))
    assert (verdict.status, verdict.classes) == ("inconsistent", ("https://example.org/my#A",))
    assert reason(Vocabulary({"sound.ttl": head})).status == "consistent"


@pytest.mark.slow
@pytest.mark.java
@NEEDS_JAVA
def test_the_reasoner_finds_a_type_that_nothing_can_be() -> None:
    """A type is a class and an individual: what is said of the one must not hide what is said of the other."""
    impossible = """
        @prefix my: <https://example.org/my#> . @prefix prism: <https://w3id.org/prism-rdf/ns#> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        my:p a owl:ObjectProperty .
        my:K a owl:Class, prism:Type ; rdfs:subClassOf prism:Entity,
            [ a owl:Restriction ; owl:onProperty my:p ; owl:minCardinality 2 ],
            [ a owl:Restriction ; owl:onProperty my:p ; owl:maxCardinality 1 ] ."""
    verdict = reason(Vocabulary({"impossible.ttl": impossible}))
    assert (verdict.status, verdict.classes) == ("inconsistent", ("https://example.org/my#K",))
