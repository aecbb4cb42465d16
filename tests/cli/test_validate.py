"""``prism validate``: RDF files and documents in one go; file and node per finding; nothing is skipped unsaid."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
PREFIXES = "@prefix type: <https://w3id.org/prism-rdf/type#> . @prefix prism: <https://w3id.org/prism-rdf/ns#> .\n"
GOOD = PREFIXES + '<urn:x:good> a type:ADR ; prism:title "One" .\n'
TWO_TITLES = PREFIXES + '<urn:x:bad> a type:ADR ; prism:title "One", "Two" .\n'
FILES = {
    "good.ttl": GOOD,
    "bad.ttl": TWO_TITLES,
    "broken.nq": "<urn:a> <urn:b> .\n",
    "ADR-001-good.md": "# ADR-001: Good\n\nStatus: Accepted\n",
    "ADR-002-bad.md": "---\nstatus: [open\n---\n# ADR-002: Bad\n",
    "notes.txt": "not looked at",
    ".hidden/bad.ttl": TWO_TITLES,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_folder_of_both_kinds(run: Run, folder: Path) -> None:
    ran = run("validate", str(folder), "--json")
    assert ran.status == 8
    answer = json.loads(ran.out)
    assert answer["files"] == 5
    found = {Path(finding["file"]).name: finding for finding in answer["findings"]}
    assert found.keys() == {"bad.ttl", "broken.nq", "ADR-002-bad.md"}
    assert found["bad.ttl"]["node"] == "<urn:x:bad>"
    assert found["bad.ttl"]["path"].endswith("title>")
    assert all(finding["message"] and finding["mend"] for finding in answer["findings"])


def test_the_table_names_file_line_node_and_path(run: Run, folder: Path) -> None:
    ran = run("validate", str(folder))
    assert ran.status == 8
    heading, *lines, last = ran.out.splitlines()
    assert heading.split() == ["file", "node", "path", "message"]
    assert last == "3 findings in 5 files"
    assert any(line.startswith(f"{folder}/bad.ttl ") and "urn:x:bad  prism:title" in line for line in lines)
    assert any(f"{folder}/ADR-002-bad.md:2" in line for line in lines)


def test_good_files_say_how_many_were_looked_at(run: Run, folder: Path) -> None:
    ran = run("validate", str(folder / "good.ttl"), str(folder / "ADR-001-good.md"))
    assert (ran.status, ran.out) == (0, "no findings in 2 files\n")


def test_what_cannot_be_checked_is_an_error(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run("validate", str(tmp_path / "empty")).status == 6
    unknown = run("validate", str(folder / "notes.txt"))
    assert unknown.status == 2
    assert ".ttl" in unknown.err


def test_the_shipped_ontology_is_valid(run: Run) -> None:
    ontology = Path(__file__).parents[2] / "ontology"
    assert run("validate", str(ontology)).status == 0


def test_a_pipe_is_refused_by_name_and_passed_over_in_a_folder(run: Run, folder: Path) -> None:
    os.mkfifo(folder / "pipe.ttl")
    assert run("validate", str(folder / "pipe.ttl")).status == 2
    assert json.loads(run("validate", str(folder), "--json").out)["files"] == 5
