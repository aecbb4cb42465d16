"""The page of saved queries lists those that ship, each as its header says."""

from __future__ import annotations

import re
from pathlib import Path

from prism_rdf import Prism
from prism_rdf.saved.keeping import shipped

PAGE = (Path(__file__).parents[2] / "docs" / "queries.md").read_text("utf-8")


def test_the_table_is_that_of_the_headers() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*?) \| (.*) \|$", PAGE, re.MULTILINE)
    told = [
        ", ".join(f"`{each.name}`" if each.required else f"`{each.name}` = {each.default}" for each in query.parameters)
        for query in shipped()
    ]
    known = [(query.name, said, query.summary) for query, said in zip(shipped(), told, strict=True)]
    assert [row for row in rows if len(row[2].split()) > 3] == known


def test_the_example_can_be_saved_and_run() -> None:
    [text] = re.findall(r"```sparql\n(.*?)```", PAGE, re.DOTALL)
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.entity("ADR", {"number": "ADR-7"})
        project.entity("ADR", {"number": "ADR-8", "status": "Proposed"})
        project.reference("ADR-8", "ADR-7", "DEPENDS_ON")
        project.add_query(text, "waiting")
        assert [row[0].value for row in project.run_query("waiting", about="ADR-7").rows()] == ["ADR-8"]
