"""What is bound is a term, whatever it says; what is no value of its type is an error that lists the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, QuerySolutions, Store

from prism_rdf import Prism, Project
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.clock import Instant
from prism_rdf.errors import AmbiguousError, BadArgument, BadTime, PrismError, UnknownEntity, UnknownType
from prism_rdf.namespaces import PRISM, TYPE, XSD
from prism_rdf.saved.binding import Ground, bind
from prism_rdf.saved.heading import TYPES, read_query

NOW = Instant.parse("2026-01-10T12:00:00Z")
GROUND = Ground(lambda ref: NamedNode(f"urn:entity:{ref}"), TypeCatalog.shipped(), NOW, {})
HOSTILE = [
    '"',
    "\\",
    '\\" } ',
    "'",
    '"""',
    'x" } ; DROP ALL ; SELECT * { ?s ?p "',
    "} UNION { ?s ?p ?o",
    "<urn:x>",
    "?s",
    "$x",
    "$now",
    "# comment",
    "\n\r\t",
    "\\u0022 }",
    "%22",
    "\u2028\u0085",
    "𝕏 é",
    "@en",
    "^^<urn:type>",
    "UNDEF",
    "any",
]


def one(kind: str, value: Any, default: str = "") -> Any:
    """Return the term that a value of a type is bound to, as the engine reads it."""
    head = f"#+ summary: one\n#+ parameters:\n#+   x ({kind}{default}): it\n"
    text = bind(read_query("one", f"{head}SELECT ?x {{ VALUES ?x {{ $x }} }}", "project"), {"x": value}, GROUND)
    rows = Store().query(text)
    assert isinstance(rows, QuerySolutions)
    [row] = rows
    return row[0]


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_text_is_a_text(value: str) -> None:
    assert one("string", value) == Literal(value)


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind not in ("string", "entity")])
def test_a_hostile_text_is_nothing_else(kind: str, value: str) -> None:
    with pytest.raises((BadArgument, BadTime, UnknownType)):
        one(kind, value)


@pytest.mark.parametrize("value", [*HOSTILE, "\x00", "\ud800"])
def test_a_hostile_name_names_nobody(value: str) -> None:
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.entity("ADR", {"number": "ADR-1"})
        with pytest.raises((UnknownEntity, BadArgument)):
            project.run_query("status-timeline", entity=value)


@pytest.mark.parametrize("value", ["\x00", "\ud800", 3, None, ["a"]])
def test_what_is_no_text_is_refused(value: Any) -> None:
    with pytest.raises(BadArgument, match="x"):
        one("string", value)


DATE_TIME = NamedNode(f"{XSD}dateTime")


@pytest.mark.parametrize(
    ("kind", "value", "term"),
    [
        ("integer", "-5", Literal("-5", datatype=NamedNode(f"{XSD}integer"))),
        ("integer", 2**62, Literal(str(2**62), datatype=NamedNode(f"{XSD}integer"))),
        ("boolean", "true", Literal(True)),
        ("boolean", False, Literal(False)),
        ("date", "2025-10", Literal("2025-10-01", datatype=NamedNode(f"{XSD}date"))),
        ("dateTime", "2025-10-30", Literal("2025-10-30T00:00:00Z", datatype=DATE_TIME)),
        ("dateTime", date(2025, 10, 30), Literal("2025-10-30T00:00:00Z", datatype=DATE_TIME)),
        ("dateTime", "now", Literal("2026-01-10T12:00:00Z", datatype=DATE_TIME)),
        ("dateTime", "7 days ago", Literal("2026-01-03T12:00:00Z", datatype=DATE_TIME)),
        ("iri", "urn:x:1", NamedNode("urn:x:1")),
        ("iri", "prism:title", NamedNode(f"{PRISM}title")),
        ("property", "status", NamedNode(f"{PRISM}status")),
        ("type", "ADR", NamedNode(f"{TYPE}ADR")),
        ("kind", "DEPENDS_ON", NamedNode(f"{PRISM}DEPENDS_ON")),
        ("entity", "ADR-1", NamedNode("urn:entity:ADR-1")),
    ],
)
def test_each_type_has_its_term(kind: str, value: Any, term: Any) -> None:
    assert one(kind, value) == term


@pytest.mark.parametrize(
    ("kind", "value"),
    [("integer", "1.5"), ("integer", True), ("integer", 2**64), ("integer", "٣"), ("boolean", "yes"), ("date", 5)],
)
def test_what_is_near_a_type_is_not_of_it(kind: str, value: Any) -> None:
    with pytest.raises(BadArgument, match="parameter x of one"):
        one(kind, value)


def test_only_tokens_are_replaced() -> None:
    head = "#+ summary: s\n#+ parameters:\n#+   x (integer = 3): it\n"
    body = (
        "SELECT ?y { # $x\n { SELECT ?y { BIND($x AS ?y) FILTER('$x' != \"$x\" && <urn:$x> != <urn:y>) } LIMIT $x } }"
    )
    text = bind(read_query("q", head + body, "project"), {}, GROUND)
    assert text.endswith(
        'SELECT ?y { # $x\n { SELECT ?y { BIND("3"^^<http://www.w3.org/2001/XMLSchema#integer> AS ?y) '
        "FILTER('$x' != \"$x\" && <urn:$x> != <urn:y>) } LIMIT 3 } }"
    )


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        for number in ("ADR-1", "ADR-2"):
            project.entity("ADR", {"number": number, "title": "Use RDF"}, valid_from="2025-01-01")
        project.transition("ADR-2", {"number": "ADR-3"}, "rename", valid_from="2025-06-01")
        yield project


@pytest.mark.parametrize(
    ("given", "error", "says", "lists"),
    [
        ({}, BadArgument, "lacks its parameter 'entity'", "it takes entity (entity), most (integer = 50)"),
        (
            {"entiti": "ADR-1"},
            BadArgument,
            "has no parameter 'entiti'",
            "it takes entity (entity), most (integer = 50)",
        ),
        ({"entity": "ADR-1", "most": "x"}, BadArgument, "parameter most of memories-about is 'x'", "most is a whole"),
        ({"entity": "Use RDF"}, AmbiguousError, "names 2 entities", "one thing"),
        ({"entity": "ADR-9"}, UnknownEntity, "is called 'ADR-9'", "identifier"),
    ],
)
def test_errors_name_what_is_wrong_and_list_what_there_is(
    project: Project, given: dict[str, Any], error: type[PrismError], says: str, lists: str
) -> None:
    with pytest.raises(error) as raised:
        project.run_query("memories-about", **given)
    assert says in raised.value.message
    assert lists in raised.value.rule
    assert raised.value.mend


def test_an_entity_is_named_at_the_time_that_is_asked_of(project: Project) -> None:
    query = "#+ summary: s\n#+ parameters:\n#+   who (entity, such as ADR-1): it\nSELECT ?n { $who prism:number ?n }"
    project.add_query(query, "number-of")
    then = [row[0].value for row in project.run_query("number-of", who="ADR-2", as_of="2025-03-01").rows()]
    assert then == ["ADR-2"]
    assert [row[0].value for row in project.run_query("number-of", who="ADR-2").rows()] == ["ADR-3"]
