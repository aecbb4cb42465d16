"""A report reads as rows, as text, as JSON and as SHACL, and each says the same."""

from __future__ import annotations

import json

from pyoxigraph import Literal, NamedNode, RdfFormat, parse

from prism_rdf.errors import Violation
from prism_rdf.namespaces import PRISM, SH, SHAPE
from prism_rdf.validation.report import COLUMNS, as_json, as_rows, as_text, as_turtle

FOUND = (
    Violation(
        node="<urn:s>",
        path=f"<{PRISM}title>",
        value='"say \\"no\\"\\nand go"',
        shape=f"<{SHAPE}Type-ADR-title>",
        message="title of ADR is at most one value of type xsd:string",
        mend="Give one value.",
        component=f"<{SH}MaxCountConstraintComponent>",
    ),
    Violation("", "titel", "", "the closed shape of ADR", "property 'titel' is not declared for type ADR"),
)


def test_rows_write_known_vocabularies_with_their_prefixes() -> None:
    rows = as_rows(FOUND)
    assert [tuple(row) for row in rows] == [COLUMNS, COLUMNS]
    assert rows[0]["path"] == "prism:title"
    assert rows[0]["shape"] == "shape:Type-ADR-title"
    assert rows[0]["node"] == "<urn:s>"
    assert rows[1]["path"] == "titel"


def test_text_says_what_where_and_how_to_mend() -> None:
    first, second = as_text(FOUND).split("\n\n")
    assert first.splitlines() == [
        "title of ADR is at most one value of type xsd:string",
        '  at    <urn:s> prism:title "say \\"no\\"\\nand go"',
        "  rule  shape:Type-ADR-title",
        "  mend  Give one value.",
    ]
    assert "mend" not in second
    assert as_text(()) == "no violations"


def test_json_keeps_terms_as_they_are() -> None:
    assert [Violation(**entry) for entry in json.loads(as_json(FOUND))] == list(FOUND)


def test_turtle_is_a_shacl_report() -> None:
    triples = [quad.triple for quad in parse(as_turtle(FOUND), RdfFormat.TURTLE)]
    said = {(triple.predicate.value.removeprefix(SH), triple.object) for triple in triples}
    assert ("conforms", Literal(False)) in said
    assert ("focusNode", NamedNode("urn:s")) in said
    assert ("resultPath", NamedNode(PRISM + "title")) in said
    assert ("value", Literal('say "no"\nand go')) in said
    assert ("sourceShape", NamedNode(SHAPE + "Type-ADR-title")) in said
    assert ("resultMessage", Literal(f"{FOUND[0].message}. Give one value.")) in said
    assert len([predicate for predicate, _ in said if predicate == "result"]) == 2
    components = {triple.object for triple in triples if triple.predicate.value == SH + "sourceConstraintComponent"}
    assert components == {
        NamedNode(SH + "MaxCountConstraintComponent"),
        NamedNode(SH + "SPARQLConstraintComponent"),  # of what the engine holds itself
    }
    assert not any(isinstance(value, Literal) for name, value in said if name in ("resultPath", "sourceShape"))


def test_turtle_of_nothing_conforms() -> None:
    triples = [quad.triple for quad in parse(as_turtle(()), RdfFormat.TURTLE)]
    assert len(triples) == 2
    assert Literal(True) in {triple.object for triple in triples}
