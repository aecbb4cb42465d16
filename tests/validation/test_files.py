"""Files are judged by what they hold, node by node; what is not ours is left alone, and what cannot be read says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.type_shapes import type_shapes
from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import PRISM, SHAPE
from prism_rdf.validation.files import FileFinding, validate_paths

CASES = Path(__file__).parent.parent / "cases" / "shapes"
PREFIXES = """@prefix ex: <https://example.org/> .
@prefix prism: <https://w3id.org/prism-rdf/ns#> .
@prefix type: <https://w3id.org/prism-rdf/type#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""
# Judged alone, these have nothing by which a file could tell what they are, or their other end is not in the file.
UNTOLD = {
    "EntityStates/invalid-foreign-property",
    *(f"{kind}/invalid-{end}-unknown" for kind in ("REFERENCES", "RELATES_TO") for end in ("source", "target")),
}


def check(*paths: Path) -> tuple[FileFinding, ...]:
    return validate_paths(paths, lambda: type_shapes(TypeCatalog.shipped()))


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def shapes(findings: tuple[FileFinding, ...]) -> set[str]:
    return {finding.shape.strip("<>").removeprefix(SHAPE) for finding in findings}


def test_a_folder_of_cases_is_judged_file_by_file() -> None:
    flagged = {finding.file for finding in check(CASES)}
    invalid = {file for file in CASES.rglob("invalid-*.ttl") if f"{file.parent.name}/{file.stem}" not in UNTOLD}
    assert len(invalid) > 150
    assert flagged == invalid


def test_a_finding_names_file_focus_node_path_value_shape_message_severity_and_mend() -> None:
    file = CASES / "Type-ADR" / "invalid-number-as-integer.ttl"
    assert check(file) == (
        FileFinding(
            file=file,
            focus="<https://example.org/state>",
            path=f"<{PRISM}number>",
            value='"7"^^<http://www.w3.org/2001/XMLSchema#integer>',
            shape=f"<{SHAPE}Type-ADR-number>",
            message="number of ADR is at most one value of type xsd:string",
            severity="Violation",
            mend="Give one value as a literal of xsd:string.",
        ),
    )


def test_the_state_of_an_entity_is_judged_in_its_own_graph(tmp_path: Path) -> None:
    text = """ex:canonical { ex:adr a type:ADR . }
        ex:temporal { ex:adr prism:hasState ex:first, ex:second . }
        ex:first { ex:adr prism:title "One" ; prism:colour "blue" . }
        ex:second { ex:adr prism:title "Two" . }"""
    (found,) = check(written(tmp_path, "store.trig", PREFIXES + text))
    assert (found.focus, found.path, found.value) == ("<https://example.org/first>", f"<{PRISM}colour>", '"blue"')


def test_a_thing_of_the_current_graph_may_carry_identity_and_names(tmp_path: Path) -> None:
    text = """<urn:prism:default/demo/graph/%s> {
        ex:adr a type:ADR, prism:Document, prism:Entity ; prism:uuid "0b6e3c1e-8a54-5f0e-9d3b-2f5f2c9c7a10" ;
          prism:tenant "default" ; prism:title "One" ; skos:altLabel "Layers" ; prism:FORMALIZES ex:spec .
        ex:spec a type:SPEC, prism:Document, prism:Entity . }"""
    assert check(written(tmp_path, "current.trig", PREFIXES + text % "current")) == ()
    assert "Identity" in shapes(check(written(tmp_path, "canonical.trig", PREFIXES + text % "canonical")))


def test_a_link_is_judged_when_both_ends_have_a_type(tmp_path: Path) -> None:
    types = "ex:var a type:EnvVar . ex:one a type:Persona . "
    (found,) = check(written(tmp_path, "a.ttl", f"{PREFIXES}{types} ex:var prism:SUPERSEDES ex:one, ex:unknown ."))
    assert (found.focus, found.value) == ("<https://example.org/var>", "<https://example.org/one>")
    assert shapes((found,)) == {"SUPERSEDES"}


def test_a_type_that_does_not_exist_is_a_finding(tmp_path: Path) -> None:
    (found,) = check(written(tmp_path, "a.ttl", f'{PREFIXES} ex:it a type:ADRR ; prism:title "x" .'))
    assert found.value == "<https://w3id.org/prism-rdf/type#ADRR>"


def test_the_users_own_rdf_is_left_alone(tmp_path: Path) -> None:
    text = """ex:it a ex:Thing ; skos:prefLabel "free" ; prism:title "even so" .
        ex:it ex:knows [ ex:name "a blank node" ] ."""
    assert check(written(tmp_path, "free.ttl", PREFIXES + text)) == ()


def test_the_ontology_and_the_shapes_pass_their_own_gate() -> None:
    root = Path(__file__).parent.parent.parent
    assert check(root / "ontology", root / "shapes") == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("it.nt", '<urn:s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{t}ADR> .\n<urn:s> <{p}colour> "x" .\n'),
        (
            "it.nq",
            "<urn:s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{t}ADR> <urn:g> .\n"
            '<urn:s> <{p}colour> "x" <urn:g> .\n',
        ),
        ("it.jsonld", '{{"@id": "urn:s", "@type": "{t}ADR", "{p}colour": "x"}}'),
        ("it.json", '{{"@id": "urn:s", "@type": "{t}ADR", "{p}colour": "x"}}'),
    ],
)
def test_every_format_is_read(tmp_path: Path, name: str, text: str) -> None:
    (found,) = check(written(tmp_path, name, text.format(t="https://w3id.org/prism-rdf/type#", p=PRISM)))
    assert (found.focus, found.path, found.value) == ("<urn:s>", f"<{PRISM}colour>", '"x"')


def test_a_syntax_error_is_a_finding_with_its_line_and_does_not_hide_other_files(tmp_path: Path) -> None:
    bad = written(tmp_path, "bad.ttl", f"{PREFIXES}ex:it a type:ADR ;;; nonsense .\n")
    worse = written(tmp_path, "odd.ttl", f'{PREFIXES}ex:it a type:ADR ; prism:colour "blue" .\n')
    syntax, colour = check(bad, worse)
    assert syntax.line == 5
    assert "at line 5" in syntax.message
    assert syntax.file == bad
    assert colour.file == worse


def test_a_file_that_is_not_text_is_a_finding(tmp_path: Path) -> None:
    file = tmp_path / "latin.ttl"
    file.write_bytes(PREFIXES.encode() + b'ex:it prism:title "\xe9t\xe9" .')
    (found,) = check(file)
    assert "cannot be read" in found.message


@pytest.mark.parametrize("name", ["notes.docx", "absent.ttl"])
def test_a_path_that_is_no_rdf_file_is_an_error(tmp_path: Path, name: str) -> None:
    if name == "notes.docx":
        written(tmp_path, name, "not RDF")
    with pytest.raises(BadArgument, match=name):
        check(tmp_path / name)
