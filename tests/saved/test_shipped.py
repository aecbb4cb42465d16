"""Every query that ships answers its question on a small project, and says of itself what a caller has to know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from prism_rdf import Prism, Project
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.model import Memory
from prism_rdf.saved.heading import SavedQuery
from prism_rdf.saved.keeping import shipped
from prism_rdf.values import term_text

QUERIES = {query.name: query for query in shipped()}

# name → parameters, the columns that are compared, and what stands in them, in the order of the answer
CASES: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "aliases-in-use": ({}, "alias name kind", ["ADR-1|ADR-101|former", "The graph one|ADR-101|synonym"]),
    "begun-per-month": (
        {},
        "month type entities",
        ["2025-01|type:ADR|3", "2025-02|type:ADR|3", "2025-02|type:Project|1"],
    ),
    "changed-between": (
        {"since": "2025-06-01", "until": "2025-06-02"},
        "at name event property value source",
        ["2025-06-01T00:00:00Z|ADR-101|rename|prism:number|ADR-101|renumbering.md"],
    ),
    "contested-claims": ({}, "name property value supports contradicts", ["ADR-3|prism:status|Accepted|1|1"]),
    "depends-on-superseded": (
        {},
        "name how supersededName successorName",
        ["ADR-3|prism:DEPENDS_ON|ADR-2|ADR-101"],
    ),
    "impact": ({"changed": "ADR-2"}, "name status directly", ["ADR-3|Proposed|true", "ADR-4|Superseded|false"]),
    "memories-about": (
        {"entity": "ADR-3"},
        "said kind speaker content",
        ["2025-03-01T00:00:00Z|note|Ada|We wait for RDF-star."],
    ),
    "most-mentioned": ({}, "name memories", ["RDF-star|1"]),
    "most-referenced": ({"most": 1}, "name references", ["ADR-2|2"]),
    "most-states": ({"most": 1}, "name states last", ["ADR-101|3|2025-06-01T00:00:00Z"]),
    "names-reused": ({}, "form entities", ["ADR-1|2"]),
    "open-candidates": ({}, "kind says value quote", ["fact|prism:status|Accepted|as good as accepted"]),
    "orphans": ({}, "name type", ["ADR-1|type:ADR"]),
    "recorded-between": (
        {"since": "2026-01-11", "until": "2026-02-01"},
        "event property value at",
        [
            "created|prism:number|ADR-1|2025-01-01T00:00:00Z",
            "created|prism:status|Superseded|2025-01-01T00:00:00Z",
            "rename|prism:number|ADR-101|2025-06-01T00:00:00Z",
        ],
    ),
    "references-into-type": (
        {"type": "Project"},
        "name how targetName",
        ["ADR-3|prism:RELATES_TO|store"],
    ),
    "renamed": ({}, "before until name", ["ADR-1|2025-06-01T00:00:00Z|ADR-101"]),
    "retired": ({}, "name since description", ["ADR-5|2025-05-01T00:00:00Z|never needed"]),
    "stale-drafts": ({"days": 7}, "name source touched", ["ADR-3|session_intent|2025-07-01T00:00:00Z"]),
    "stale-entities": ({}, "name status since days", ["ADR-3|Proposed|2025-02-01T00:00:00Z|344"]),
    "status-counts": (
        {},
        "type status entities",
        ["type:ADR|Superseded|3", "type:ADR|Accepted|1", "type:ADR|Proposed|1", "type:Project||1"],
    ),
    "status-timeline": (
        {"entity": "ADR-101"},
        "status from until event source",
        [
            "Proposed|2025-01-01T00:00:00Z|2025-04-01T00:00:00Z|created|",
            "Accepted|2025-04-01T00:00:00Z||fact|minutes.md",
        ],
    ),
    "successor-still-open": ({}, "name status supersededName", ["ADR-3|Proposed|ADR-4"]),
    "superseded-without-successor": ({}, "name status", ["ADR-1|Superseded"]),
    "who-said-so": (
        {"entity": "ADR-101"},
        "value from tier source",
        ["Accepted|2025-04-01T00:00:00Z|1|minutes.md", "Proposed|2025-01-01T00:00:00Z|1|"],
    ),
    "without-memories": ({"type": "Project"}, "name", ["store"]),
}


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    clock = ManualClock(Instant.parse("2026-01-10T00:00:00Z"))
    with Prism.in_memory(clock=clock) as prism:
        project = prism.project("demo")
        project.entity("ADR", {"number": "ADR-1", "status": "Proposed"}, valid_from="2025-01-01")
        project.entity("ADR", {"number": "ADR-2", "status": "Superseded"}, valid_from="2025-02-01")
        project.entity("ADR", {"number": "ADR-3", "status": "Proposed"}, valid_from="2025-02-01")
        project.entity("ADR", {"number": "ADR-4", "status": "Superseded"}, valid_from="2025-02-01")
        project.entity("ADR", {"number": "ADR-5"}, valid_from="2025-01-01")
        project.entity("Project", {"name": "store"}, valid_from="2025-02-01")
        project.fact("ADR-1", "status", "Accepted", valid_from="2025-04-01", source="minutes.md")
        project.retire("ADR-5", valid_from="2025-05-01", description="never needed")
        project.alias("The graph one", "ADR-1", kind="synonym")
        project.reference("ADR-3", "ADR-2", "DEPENDS_ON", valid_from="2025-02-01")
        project.reference("ADR-4", "ADR-3", "DEPENDS_ON", valid_from="2025-02-01")
        project.reference("ADR-1", "ADR-2", "SUPERSEDES", valid_from="2025-04-01")
        project.reference("ADR-3", "ADR-4", "SUPERSEDES", valid_from="2025-04-01")
        project.reference("ADR-3", "store", "RELATES_TO", valid_from="2025-02-01")
        project.remember("We wait for RDF-star.", about=["ADR-3"], speaker="Ada", created_at="2025-03-01")
        project.write([Memory("RDF-star is late.", "note", clock.now(), mentions=("concept:RDF-star",))])
        project.claim("ADR-3", "status", "Accepted", quote="it was accepted", source="minutes.md")
        project.claim(
            "ADR-3", "status", "Accepted", stance="contradicts", quote="nobody accepted it", source="audit.md"
        )
        project.wip("ADR-3", {"status": "Accepted"}, "session_intent", at="2025-07-01")
        project.fact("ADR-3", "status", "Accepted", tier=3, quote="as good as accepted")
        clock.advance(days=1)
        project.transition("ADR-1", {"number": "ADR-101"}, "rename", valid_from="2025-06-01", source="renumbering.md")
        project.alias("ADR-1", "ADR-101", valid_from="2025-01-01", valid_until="2025-06-01T00:00:00Z")
        project.entity("ADR", {"number": "ADR-1", "status": "Superseded"}, valid_from="2025-01-01")
        yield project


@pytest.mark.parametrize("name", QUERIES)
def test_it_finds_what_it_says(project: Project, name: str) -> None:
    parameters, columns, expected = CASES[name]
    answer = project.run_query(name, **parameters)
    assert answer.variables == [column for column, _ in QUERIES[name].columns]
    places = [answer.variables.index(column) for column in columns.split()]
    assert ["|".join(term_text(row[place]) for place in places) for row in answer.rows()] == expected


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_it_says_what_it_finds_and_why(query: SavedQuery) -> None:
    assert query.summary.endswith("."), query.summary
    assert query.why.endswith(".")
    assert query.columns
    assert all(each.default or each.example for each in query.parameters)


@pytest.mark.parametrize("name", QUERIES)
def test_it_sees_its_own_project_alone(project: Project, name: str) -> None:
    other = project.prism.project("other")
    if not other.list_entities():
        other.entity("ADR", {"number": "ADR-2"}, valid_from="2020-01-01")
        other.entity("ADR", {"number": "ADR-101"}, valid_from="2020-01-01")
        other.entity("ADR", {"number": "ADR-3"}, valid_from="2020-01-01")
    rows = other.run_query(name, **CASES[name][0]).rows()
    assert not [term for row in rows for term in row if "/demo/" in str(term)]


def test_each_has_its_case() -> None:
    assert set(CASES) == set(QUERIES)
    assert len(QUERIES) >= 20
