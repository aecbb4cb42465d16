"""The documents keep up with the code: errors have their headings, links lead somewhere, decisions are well formed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import prism_server.failures
import pytest
import yaml

from prism_rdf import errors

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
RECORDS = sorted((ROOT / "docs" / "decisions").glob("ADR-*.md"))
STATUSES = {"Proposed", "Accepted", "Rejected", "Superseded"}


def _classes(root: type[errors.PrismError]) -> Iterator[type[errors.PrismError]]:
    yield root
    for child in root.__subclasses__():
        yield from _classes(child)


def _front_matter(record: Path) -> dict[str, object]:
    loaded = yaml.safe_load(record.read_text(encoding="utf-8").split("---\n")[1])
    assert isinstance(loaded, dict)
    return loaded


def _number(record: Path) -> str:
    return record.name[:7]


def test_every_error_has_a_heading_and_every_heading_an_error() -> None:
    assert prism_server.failures.Forbidden.code == "forbidden"
    ours = {c.code for c in _classes(errors.PrismError) if c.__module__.startswith(("prism_rdf", "prism_server"))}
    headings = set(re.findall(r"^## (.+)$", (ROOT / "docs" / "errors.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert headings == ours


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_to_files_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_paths_and_targets_that_readme_and_contributing_name_exist() -> None:
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)`", text))
    assert {"demo", "test"} <= named <= targets
    paths = re.findall(r"`((?:docs|tests|prism_rdf|server|ontology|shapes|queries|demo)/[\w./-]*)`", text)
    assert len(paths) >= 5
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_there_are_decisions() -> None:
    assert len(RECORDS) >= 9


@pytest.mark.parametrize("record", RECORDS, ids=_number)
def test_a_decision_is_well_formed(record: Path) -> None:
    text = record.read_text(encoding="utf-8")
    matter = _front_matter(record)
    assert matter["status"] in STATUSES
    assert re.search(rf"^# {_number(record)}: \S", text, re.MULTILINE)
    sections = re.findall(r"^## (\w+)$", text, re.MULTILINE)
    assert [name for name in ("Context", "Options", "Decision") if name not in sections] == []


@pytest.mark.parametrize("record", RECORDS, ids=_number)
def test_decisions_that_are_named_exist_and_supersede_each_other(record: Path) -> None:
    matters = {_number(other): _front_matter(other) for other in RECORDS}
    matter = matters[_number(record)]
    related = matter.get("related", [])
    assert isinstance(related, list)
    assert [name for name in related if name not in matters] == []
    assert (matter["status"] == "Superseded") == ("superseded_by" in matter)
    if "superseded_by" in matter:
        assert matters[str(matter["superseded_by"])]["supersedes"] == _number(record)
