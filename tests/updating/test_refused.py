"""What an update may not do: each refusal names what to do instead, and leaves all as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prism_rdf import Prism
from prism_rdf.errors import BadArgument, PrismError, RefusedError

CASES = json.loads((Path(__file__).parent.parent / "cases/updating/refused.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def prism() -> Prism:
    opened = Prism.in_memory()
    demo = opened.project("demo")
    made = demo.entity("ADR", {"number": "ADR-1", "title": "One", "status": "Proposed"})
    demo.entity("Persona", {"name": "Ada"})
    demo.alias("Erstens", made["uuid"], kind="former", valid_until="2020-01-01")
    opened.update("INSERT DATA { GRAPH <urn:of-other> { <urn:a> <urn:p> 1 } }", pid="other")
    opened.update("CREATE GRAPH <urn:here>", pid="demo")
    return opened


def test_there_are_cases() -> None:
    assert len(CASES) == 59
    assert len({case["what"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["what"])
def test_is_refused_and_changes_nothing(prism: Prism, case: dict[str, Any]) -> None:
    before = set(prism.store.quads_for_pattern(None, None, None))
    if case["error"] is None:
        receipt = prism.update(case["update"], pid="demo")
        assert receipt.commit is None
        assert case["says"] in receipt.notes
    else:
        with pytest.raises(PrismError) as caught:
            prism.update(case["update"], pid="demo")
        error = caught.value
        assert type(error).__name__ == case["error"]
        assert case["says"] in f"{error.message} | {error.rule} | {error.mend}"
        assert error.mend
    assert set(prism.store.quads_for_pattern(None, None, None)) == before


def test_the_protocol_and_the_request_do_not_both_name_the_dataset(prism: Prism) -> None:
    text = "INSERT { GRAPH <urn:mine> { ?s ?p ?o } } USING <urn:here> WHERE { ?s ?p ?o }"
    with pytest.raises(BadArgument, match="names its graphs twice"):
        prism.update(text, pid="demo", using_graphs=["urn:here"])


def test_a_graph_of_the_protocol_is_an_iri(prism: Prism) -> None:
    with pytest.raises(BadArgument, match="IRI"):
        prism.update("INSERT { GRAPH <urn:mine> { ?s ?p ?o } } WHERE { ?s ?p ?o }", using_graphs=["not an iri"])


def test_an_update_that_only_guesses_is_refused() -> None:
    with Prism.in_memory(tier=3) as guessing, pytest.raises(RefusedError, match="tier 3"):
        guessing.update("INSERT DATA { GRAPH <urn:mine> { <urn:a> <urn:p> 1 } }", pid="demo")


def test_the_verbs_of_an_unmanaged_store_that_ask_of_the_past_are_refused() -> None:
    with Prism.in_memory(managed=False) as unmanaged, pytest.raises(RefusedError, match="no past"):
        unmanaged.sparql("ASK {}", as_of="2020-01-01")
