"""Mapping files: what a project says its files mean is what is read; a bad mapping says where and how to mend it."""

from __future__ import annotations

import json

import pytest

from prism_rdf import Prism
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.errors import NotFoundError, PrismError
from prism_rdf.ingest.mapping import load, parse, shipped

PEP = """PEP: {number}
Title: {title}
Version: $Revision$
Author: Somebody <a at example.org>,
        Else
Status: {status}
Type: Standards Track
Topic: Packaging, Typing
{extra}Created: 01-Jan-2001

Abstract
========

See PEP 2, :pep:`3` and :pep:`the third <0003>`, not::

    PEP 4

Nor PEP-less words.

Motivation
==========

Words.
"""
BAD = {
    "[[document]]\ntype = ": "is not TOML",
    "x = 1": "has x",
    "": "has no [[document]]",
    '[[document]]\ntype = "SPEK"\npaths = ["*"]': "there is no type 'SPEK'",
    '[[document]]\ntype = "SPEC"': "has no paths",
    '[[document]]\ntype = "SPEC"\npaths = ["*"]\nformat = "docx"': "names the format 'docx'",
    '[[document]]\ntype = "SPEC"\npaths = ["*"]\nencodings = ["koi8"]': "names the encodings koi8",
    '[[document]]\ntype = "SPEC"\npaths = ["*"]\n[document.fields]\na = "color"': "property 'color' is not declared",
    '[[document]]\ntype = "SPEC"\npaths = ["*"]\n[document.fields]\na = {reference = "LIKES"}': "no kind of reference",
    '[[document]]\ntype = "SPEC"\npaths = ["*"]\n[document.fields]\na = {split = "("}': "no regular expression",
    '[[document]]\ntype = "SPEC"\npaths = ["*"]\n[document.identifier]\nform = "x"': "a form holds one {}",
    '[[document]]\ntype = "SPEC"\npaths = ["*"]\n[document.identifier]\nfile = "x"': "has no group",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_mapping_says_what_is_wrong(text: str) -> None:
    with pytest.raises(PrismError) as refused:
        parse(text, "x.toml", TypeCatalog.shipped())
    assert BAD[text] in f"{refused.value} {refused.value.mend}"
    assert refused.value.mend


def test_the_mappings_that_ship_are_sound() -> None:
    assert shipped() == ["peps"]
    for name in shipped():
        assert load(name, TypeCatalog.shipped()).rules
    with pytest.raises(NotFoundError, match="no mapping nothing"):
        load("nothing", TypeCatalog.shipped())


def pep(number: object, title: str, status: str = "Draft", extra: str = "") -> str:
    return PEP.format(number=number, title=title, status=status, extra=extra)


def test_peps_across_both_moves_keep_what_their_headers_say(repo) -> None:
    repo.commit(0, {f"pep-000{n}.txt": pep(n, f"P{n}") for n in (1, 2, 3)})
    latin = pep(1, "Übung", "Final", "Replaces: 2,\n 3\nPython-Version: 2.1\n").replace("\n", "\r\n").encode("latin-1")
    repo.commit(1, {"pep-0001.txt": latin})
    repo.move(2, "pep-0001.txt", "pep-0001.rst")
    repo.move(3, "pep-0001.rst", "peps/pep-0001.rst")
    repo.commit(4, {"pep-0002.txt": pep("2", "P2", "Superseded", "Superseded-By: 1\nRequires: 3\n")})
    with Prism.in_memory() as prism:
        project = prism.project("peps")
        report = project.ingest(repo.path, mapping="peps")["report"]
        state = project.state_as_of("PEP 1")
        told = project.explain("pep 1")
        references = {
            (r["source"]["identifier"], r["kind"], r["target"]["identifier"]) for r in project.list_references()
        }

    assert (report["documents"], report["failures"], report["dangling"]) == (3, [], [])
    assert state["props"] | {"topic": None} == {
        "title": "Übung", "number": "PEP 1", "status": "Final", "category": "Standards Track", "topic": None,
        "date": "01-Jan-2001", "targetVersion": "2.1", "replaces": ["2", "3"], "path": "peps/pep-0001.rst",
    }  # fmt: skip
    assert sorted(state["props"]["topic"]) == ["Packaging", "Typing"]
    assert references == {
        ("PEP 1", "SUPERSEDES", "PEP 2"), ("PEP 1", "SUPERSEDES", "PEP 3"), ("PEP 2", "DEPENDS_ON", "PEP 3"),
        ("PEP 1", "REFERENCES", "PEP 2"), ("PEP 1", "REFERENCES", "PEP 3"), ("PEP 2", "REFERENCES", "PEP 3"),
        ("PEP 3", "REFERENCES", "PEP 2"),
    }  # fmt: skip
    assert [span["name"] for span in told["files"]] == ["pep-0001.txt", "pep-0001.rst", "peps/pep-0001.rst"]
    assert [chapter["known_by"] for chapter in told["story"]] == [
        None,
        "known again by its content, before pep-0001.txt",
        "known again by its content, before pep-0001.rst",
    ]


def test_odd_headers_and_numbers_that_are_none(repo, told) -> None:
    repo.commit(
        0,
        {
            "pep-0005.txt": "PEP: XXX\nTitle:\tA\n   title  \nodd line\nStatus:Draft\n\nBody",
            "pep-0006.txt": "\ufeff\nPEP: 0006\nTitle: B\n\n",
            "pep-0007.txt": "No header at all.\n\nText.",
        },
    )
    read = told(repo, mapping="peps")

    assert read.state(read.document("pep-0005.txt")) == {
        "title": "A title", "status": "Draft", "number": "PEP 5", "path": "pep-0005.txt",
    }  # fmt: skip
    assert read.state(read.document("pep-0006.txt"))["number"] == "PEP 6"
    assert read.state(read.document("pep-0007.txt")) == {"number": "PEP 7", "path": "pep-0007.txt"}


def test_records_of_json_lines_are_documents_of_their_own(repo) -> None:
    rules = """[[document]]
type = "Component"
paths = ["parts.jsonl"]
format = "jsonl"
record = "id"
[document.fields]
label = "name"
state = { property = "status", values = { up = "running" } }
tags = "tags"
"""
    (repo.path / ".prism").mkdir()
    (repo.path / ".prism" / "ingest.toml").write_text(rules)
    parts = [{"id": "a", "label": "Gateway", "state": "up", "tags": ["x", "y"]}, {"id": "b", "label": "Store"}]
    repo.commit(0, {"parts.jsonl": "\n".join(map(json.dumps, parts)) + "\n"})
    parts[0]["state"] = "down"
    repo.commit(1, {"parts.jsonl": "\n".join(map(json.dumps, parts[:1]))})
    bad = repo.commit(2, {"parts.jsonl": '{"id": "a"}\n{"id": '})
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        report = project.ingest(repo.path)["report"]
        gateway = [(s["props"]["status"], sorted(s["props"]["tags"])) for s in project.history("Gateway")]
        store = project.history("Store")

    assert gateway == [("running", ["x", "y"]), ("down", ["x", "y"])]
    assert [state["valid_until"] for state in store] == ["2025-01-02T00:00:00Z"]
    assert [(f["path"], f["commit"], f["line"]) for f in report["failures"]] == [("parts.jsonl", bad, 2)]
