"""Triples inserted into the world of a project and deleted from it: changes, names and references, with a history."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from prism_rdf import Prism
from prism_rdf.clock import Instant
from prism_rdf.errors import ValidationError

MADE = """
INSERT DATA {
  [] a type:ADR ; prism:number "ADR-1" ; prism:title "One" ; prism:status "Proposed" ; prism:deciders "ada", "bob" .
  [] a type:Component, prism:Entity ; prism:name "Core"
}
"""


class _Days:
    """A clock that goes on by a day each time."""

    def __init__(self) -> None:
        self._at = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> Instant:
        self._at += timedelta(hours=1)
        return Instant.of(self._at)


@pytest.fixture
def prism() -> Iterator[Prism]:
    with Prism.in_memory(clock=_Days()) as opened:
        opened.update(MADE, pid="demo")
        yield opened


def _props(prism: Prism, ref: str = "ADR-1") -> dict[str, Any]:
    return dict(prism.project("demo").state_as_of(ref)["props"])


def _ask(prism: Prism, pattern: str) -> bool:
    ((found,),) = prism.sparql(f"ASK {{ ?d prism:number 'ADR-1' . ?c prism:name 'Core' . {pattern} }}").rows()
    return bool(found)


def test_new_entities_are_made_with_their_first_state(prism: Prism) -> None:
    receipt = prism.update('INSERT DATA { _:a a type:Persona ; prism:name "Ada" }', pid="demo")
    assert [prism.project("demo").state_as_of(each)["type"] for each in receipt.created] == ["Persona"]
    assert _props(prism)["deciders"] == ["ada", "bob"]
    assert len(prism.project("demo").list_entities()) == 3
    assert prism.project("demo").check() == []


def test_an_iri_of_the_project_may_be_chosen(prism: Prism) -> None:
    node = "urn:prism:default/demo/entity/6f0c1f6e-5d5e-5c0b-9a51-6a6d1b7d2c10"
    text = f'INSERT DATA {{ <{node}> a type:SPEC ; prism:uuid "{node[-36:]}" ; prism:title "S" }}'
    assert prism.update(text, pid="demo").created == (node,)
    assert prism.update(text, pid="demo").commit is None


def test_one_value_is_set_in_place_of_what_it_was(prism: Prism) -> None:
    prism.update('INSERT { ?d prism:status "Accepted" } WHERE { ?d prism:number "ADR-1" }', source="board")
    prism.update(
        'DELETE { ?d prism:status ?s } INSERT { ?d prism:status "Rejected" } '
        'WHERE { ?d prism:number "ADR-1" ; prism:status ?s }',
        tier=2,
    )
    history = prism.project("demo").history("ADR-1")
    assert [state["props"]["status"] for state in history] == ["Proposed", "Accepted", "Rejected"]
    (event,) = prism.project("demo").blame("ADR-1", "status")["events"]
    assert (event["tier"], event["event_type"]) == (2, "transition")


def test_a_value_that_is_deleted_is_cleared(prism: Prism) -> None:
    prism.update("DELETE { ?d prism:status ?s } WHERE { ?d prism:status ?s }")
    assert "status" not in _props(prism)
    assert prism.update("DELETE { ?d prism:status ?s } WHERE { ?d prism:status ?s }").commit is None


def test_of_several_values_each_comes_and_goes_alone(prism: Prism) -> None:
    prism.update(
        'DELETE { ?d prism:deciders "ada" } INSERT { ?d prism:deciders "eve" } WHERE { ?d prism:number "ADR-1" }'
    )
    assert _props(prism)["deciders"] == ["bob", "eve"]
    prism.update('INSERT { ?d prism:deciders "ada" } WHERE { ?d prism:number "ADR-1" }')
    assert _props(prism)["deciders"] == ["ada", "bob", "eve"]


def test_names_begin_and_end(prism: Prism) -> None:
    where = 'WHERE { ?d prism:number "ADR-1" }'
    prism.update(f'INSERT {{ ?d skos:altLabel "First" ; skos:hiddenLabel "Zeroth" }} {where}')
    demo = prism.project("demo")
    assert demo.resolve("First") == demo.resolve("Zeroth") == demo.resolve("ADR-1")
    assert _ask(prism, "?d skos:altLabel 'First' ; skos:hiddenLabel 'Zeroth'")
    prism.update("DELETE { ?d skos:altLabel ?l } WHERE { ?d skos:altLabel ?l }")
    assert _ask(prism, "?d skos:hiddenLabel 'First' MINUS { ?d skos:altLabel 'First' }")


def test_references_begin_and_end(prism: Prism) -> None:
    pair = 'WHERE { ?d prism:number "ADR-1" . ?c prism:name "Core" }'
    prism.update(f"INSERT {{ ?d prism:SPECIFIES ?c }} {pair}", source="review 7")
    (found,) = prism.project("demo").list_references()
    assert (found["kind"], found["provenance"]) == ("SPECIFIES", "review 7")
    prism.update(f"DELETE {{ ?d prism:SPECIFIES ?c }} {pair}")
    assert prism.project("demo").list_references() == []
    assert not _ask(prism, "?d prism:SPECIFIES ?c")


def test_the_world_and_free_graphs_change_in_one_commit_or_not_at_all(prism: Prism) -> None:
    text = (
        'INSERT { ?d prism:title %s . GRAPH <urn:notes> { ?d <urn:was> ?t } } WHERE { ?d prism:number "ADR-1" ; '
        "prism:title ?t } ; CREATE GRAPH <urn:more> ; COPY <urn:notes> TO <urn:more>"
    )
    before = prism.commit_number
    with pytest.raises(ValidationError):
        prism.update(text % "5")
    assert (prism.commit_number, prism.free_graphs()) == (before, [])
    receipt = prism.update(text % "'Two'")
    assert receipt.commit == before + 1
    assert receipt.notes == ("3 triples added, 0 removed",)
    assert _ask(prism, "GRAPH <urn:more> { ?d <urn:was> 'One' } ?d prism:title 'Two'")


def test_free_graphs_may_be_read_after_the_world_has_changed(prism: Prism) -> None:
    prism.update('INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:says> "Three" } }')
    prism.update(
        'INSERT { ?d prism:title "Two" } WHERE { ?d prism:number "ADR-1" } ;\n'
        "INSERT { GRAPH <urn:h> { ?s ?p ?o } } USING <urn:g> WHERE { ?s ?p ?o }"
    )
    assert _ask(prism, "GRAPH <urn:h> { ?s ?p 'Three' } ?d prism:title 'Two'")


def test_what_a_graph_says_can_be_said_of_the_world(prism: Prism) -> None:
    (entity,) = (row[0] for row in prism.sparql("SELECT ?d { ?d prism:number 'ADR-1' }").rows())
    prism.update(f'INSERT DATA {{ GRAPH <urn:g> {{ {entity} prism:title "Of the graph" }} }}')
    prism.update("ADD <urn:g> TO DEFAULT ; COPY <urn:g> TO <urn:h>")
    assert _props(prism)["title"] == "Of the graph"
    prism.update("COPY DEFAULT TO <urn:world>")
    assert _ask(prism, "GRAPH <urn:world> { ?d prism:title 'Of the graph' ; a type:ADR }")


def test_what_a_correction_outranks_says_so(prism: Prism) -> None:
    prism.project("demo").correct("ADR-1", {"status": "Corrected"}, valid_from="2025-01-01")
    receipt = prism.update('INSERT { ?d prism:status "Accepted" } WHERE { ?d prism:number "ADR-1" }')
    assert any("outranks" in note for note in receipt.notes)
    assert _props(prism)["status"] == "Corrected"


def test_without_a_pid_the_only_project_is_meant_and_of_several_none(prism: Prism) -> None:
    prism.project("other").entity("ADR", {"title": "Of other"})
    insert = 'INSERT { ?d prism:status "S" } WHERE { ?d prism:title "Of other" }'
    with pytest.raises(Exception, match="of no project"):
        prism.update(insert)
    assert prism.update(insert, pid="demo").commit is None, "it is not of this project"
    assert prism.update(insert, pid="other").commit is not None
