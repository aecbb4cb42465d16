"""One document's text: each case is a record and, beside it, what is to be read from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prism_rdf.ingest import check_document, check_folder
from prism_rdf.ingest.blocks import BlockReader
from prism_rdf.ingest.documents import claim, parse
from prism_rdf.ingest.kinds import is_record

CASES = sorted((Path(__file__).resolve().parent.parent / "cases" / "ingest").glob("*.md"))


def test_there_are_as_many_cases_as_thought() -> None:
    assert len(CASES) == 13


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_case(case: Path) -> None:
    wanted = json.loads(case.with_suffix(".json").read_text())
    path, data = wanted["path"], case.read_bytes()

    document = parse(data, BlockReader())

    assert is_record(document, path)
    read = {
        "path": path,
        "title": document.title,
        "number": claim(document, path)[0],
        "status": document.status,
        "date": document.date,
        "mentions": [
            f"{said.kind}{' by' if said.inverse else ''} {said.identifier} {said.href}" for said in document.mentions
        ],
        "findings": sorted(f"{found.line} {found.message}" for found in check_document(path, data)),
    }
    assert read == wanted


def test_a_section_is_read_alike_alone_and_as_part_of_a_text() -> None:
    """The same blocks come out whether a text is read whole or section by section, code and comments included."""
    texts = [
        "# A\n\ntext\n# B\n- item\n  ```\n  # code\n  ```\n# C\n~~~\n# code\n```\n~~~\n## D\n> quote\n# E\nlazy",
        "# A\n<!--\n```\n-->\n```\n# code\n```\n",
        "# A\n```a`b\n# B\n```\n# code",
        "# A\n    # indented\n\n1. x\n\n    ```\n    # code\n# B\n====\n",
    ]
    for text in texts:
        parts = [(line, block.content) for line, block in BlockReader().read(text)]
        whole = [(line, block.content) for line, block in BlockReader().read("<!-- -->\n" + text)]
        assert parts == [(line - 1, content) for line, content in whole], text


def test_a_folder_of_documents_is_checked_file_by_file(tmp_path) -> None:
    (tmp_path / "ADR-1.md").write_text("# ADR-1: Good\n\n**Status:** Accepted\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "ADR-2.md").write_text("---\nstatus: [\n---\n# ADR-2: Bad\n")
    (tmp_path / "sub" / "ADR-3.md").write_bytes(b"# ADR-3: \xdc\n")
    (tmp_path / "README.md").write_text("no heading")
    (tmp_path / "notes.md").write_bytes(b"\xff")

    found = check_folder(tmp_path)

    assert [(finding.path, finding.line) for finding in found] == [("sub/ADR-2.md", 2), ("sub/ADR-3.md", 1)]
    assert all(finding.rule and finding.mend for finding in found)
