"""A plain folder: one version of each file, dated by what it says, or else by when it was changed."""

from __future__ import annotations

import os

from prism_rdf.clock import Instant
from prism_rdf.model import Event, NewEntity

CHANGED = Instant.parse("2024-05-06T07:08:09Z")


def write(folder, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(0, CHANGED.micros * 1000))


def test_dates_keep_the_precision_they_were_given_with(tmp_path, told, adr) -> None:
    write(tmp_path, "ADR-1.md", adr("ADR-1", "Year", date="2019"))
    write(tmp_path, "ADR-2.md", adr("ADR-2", "Month", created="2019-03"))
    write(tmp_path, "ADR-3.md", "# ADR-3: Line\n\n**Status:** Draft\n**Date:** 2019-03-04 (revised)\n")
    write(tmp_path, "ADR-4.md", adr("ADR-4", "Instant", date='"2019-03-04T10:00:00+02:00"'))
    write(tmp_path, "sub/ADR-5.md", adr("ADR-5", "None", date="last spring"))

    read = told(tmp_path)

    at = {event.source: (event.at.instant.iso(), event.at.precision) for event in read.of(Event)}
    assert at == {
        "file:ADR-1.md": ("2019-01-01T00:00:00Z", "year"),
        "file:ADR-2.md": ("2019-03-01T00:00:00Z", "month"),
        "file:ADR-3.md": ("2019-03-04T00:00:00Z", "day"),
        "file:ADR-4.md": ("2019-03-04T08:00:00Z", "instant"),
        "file:sub/ADR-5.md": (CHANGED.iso(), "instant"),
    }
    assert read.report.notes[0].startswith("1 documents give no date")


def test_references_numbers_and_memories_are_as_in_a_history(tmp_path, told, adr) -> None:
    write(tmp_path, "ADR-1.md", adr("ADR-1", "One", date="2020", related="[ADR-2, ADR-9]"))
    write(tmp_path, "ADR-2.md", adr("ADR-2", "Two", date="2024"))
    write(tmp_path, "ADR-2-plan.md", "# Plan\n\nText.\n")
    write(tmp_path, "README.md", "# Read me\n")
    write(tmp_path, ".hidden/ADR-3.md", adr("ADR-3", "Hidden"))
    (tmp_path / "ADR-4.md").symlink_to(tmp_path / "ADR-1.md")

    read = told(tmp_path)

    assert [(s, k, t) for s, k, t, _, _ in read.references()] == [("ADR-1.md", "RELATES_TO", "ADR-2.md")]
    assert "number" not in read.state(read.document("ADR-2-plan.md"))
    assert [d.identifier for d in read.report.dangling] == ["ADR-9"]
    assert [(s.path, s.why.partition(":")[0]) for s in read.report.skipped] == [
        ("ADR-4.md", "a symbolic link is not followed"),
        ("README.md", "a README is not a decision"),
    ]
    [memory] = read.memories("ADR-1.md")
    at = (tmp_path / "ADR-1.md").read_text().index("## Context"), len((tmp_path / "ADR-1.md").read_text()) - 1
    assert memory.source == f"file:ADR-1.md#char={at[0]},{at[1]}"
    assert (memory.start.iso()[:4], memory.until) == ("2020", None)


def test_the_same_folder_elsewhere_holds_the_same_documents(tmp_path, told, adr) -> None:
    for place in ("here", "there"):
        write(tmp_path / place, "x/ADR-1.md", adr("ADR-1", "One", date="2020"))

    here, there = told(tmp_path / "here").proposal, told(tmp_path / "there").proposal

    assert here == there
    assert isinstance(here.intents[0], NewEntity)


def test_an_edit_under_the_same_date_counts_as_the_later_word(tmp_path, told, adr) -> None:
    write(tmp_path, "ADR-1.md", adr("ADR-1", "One", "Proposed", date="2020-01-01"))
    [before] = told(tmp_path).of(Event)
    write(tmp_path, "ADR-1.md", adr("ADR-1", "One", "Accepted", date="2020-01-01"))
    os.utime(tmp_path / "ADR-1.md", ns=(0, CHANGED.micros * 1000 + 10**9))
    [after] = told(tmp_path).of(Event)

    assert before.entity == after.entity
    assert before.uuid != after.uuid
    assert (before.at, before.sequence) < (after.at, after.sequence)
