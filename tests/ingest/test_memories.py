"""The text of a document is a memory for as long as it says the same."""

from __future__ import annotations

from prism_rdf.clock import Instant

FIRST = Instant.parse("2025-01-01T00:00:00Z")

TEXT = """The `graph_store` keeps it, and the `graph_store` is asked. Once: `other_thing`. See ADR-2.

## Sealed State Folding

Words.

## Implementation Plan

Words.
"""


def day(instant):
    return None if instant is None else (instant.micros - FIRST.micros) / 86_400_000_000


def test_a_new_memory_begins_where_the_meaning_changes(repo, told, adr) -> None:
    first = repo.commit(0, {"ADR-1.md": adr("ADR-1", "A", "Proposed", "One  text,\nin lines.")})
    repo.commit(1, {"ADR-1.md": adr("ADR-1", "A", "Accepted", "One text, in\n\nlines.")})
    repo.commit(2, {"ADR-1.md": adr("ADR-1", "A", "Accepted", "Another text.")})

    old, new = told(repo).memories("ADR-1.md")

    assert (old.start.iso(), old.until.iso()) == ("2025-01-01T00:00:00Z", "2025-01-03T00:00:00Z")
    assert old.start == old.created_at
    assert (new.start, new.until) == (old.until, None)
    assert old.content == "## Context\n\nOne  text,\nin lines."
    begin = len("---\nstatus: Proposed\n---\n\n# ADR-1: A\n\n")
    assert old.source == f"ADR-1.md@{first[:12]}#char={begin},{begin + len(old.content)}"
    assert (old.kind, old.heading, old.tier) == ("passage", "A > Context", 2)
    assert old.key != new.key


def test_a_document_is_cut_at_its_headings_and_only_what_changed_is_said_anew(repo, told, adr) -> None:
    text = "Alpha.\n\n## Decision\n\nBeta.\n\n### Detail\n\n```\n# no heading\n```\n\n## Context\n\nAlpha."
    first = repo.commit(0, {"ADR-1.md": adr("ADR-1", "A", text=text)})
    second = repo.commit(1, {"ADR-1.md": adr("ADR-1", "A", text=text.replace("Beta", "Gamma"))})
    repo.commit(2, {"ADR-1.md": None})
    repo.commit(3, {"ADR-1.md": adr("ADR-1", "A", text=text)})

    read = told(repo)

    spans = [
        (m.heading, m.content.split("\n")[-1], m.source[:21], day(m.start), day(m.until))
        for m in read.memories("ADR-1.md")
    ]
    there = f"ADR-1.md@{first[:12]}", f"ADR-1.md@{second[:12]}"
    once = [("A > Context", "Alpha.", there[0], 0, 2), ("A > Decision > Detail", "```", there[0], 0, 2)]
    assert [span for span in spans if span[3] < 3] == [
        ("A > Decision", "Beta.", there[0], 0, 1),
        once[0],
        once[1],
        once[0],
        ("A > Decision", "Gamma.", there[1], 1, 2),
    ]
    assert [(span[0], span[4]) for span in spans if span[3] == 3] == [
        ("A > Context", None),
        ("A > Decision", None),
        ("A > Decision > Detail", None),
        ("A > Context", None),
    ]


def test_the_offsets_of_a_memory_lead_to_its_words(repo, told) -> None:
    text = "\ufeff---\r\nstatus: Accepted\r\n---\r\n\r\n# ADR-1: Ü\r\n\r\nWörter.\r\n\r\nMore\r\n----\r\n\r\nEnd.\r\n"
    repo.commit(0, {"ADR-1.md": text.encode()})
    plain = text.replace("\r\n", "\n").lstrip("\ufeff")

    memories = told(repo).memories("ADR-1.md")

    assert [m.content for m in memories] == ["# ADR-1: Ü\n\nWörter.", "More\n----\n\nEnd."]
    for memory in memories:
        begin, end = memory.source.partition("#char=")[2].split(",")
        assert plain[int(begin) : int(end)] == memory.content


def test_a_passage_mentions_what_it_names_and_a_few_concepts(repo, told, adr) -> None:
    repo.commit(0, {"ADR-1.md": adr("ADR-1", "A", text=TEXT), "ADR-2.md": adr("ADR-2", "B")})

    read = told(repo)

    assert [m.mentions for m in read.memories("ADR-1.md")] == [
        (f"entity:{read.document('ADR-2.md')}", "concept:graph_store"),
        ("concept:Sealed State Folding",),
        (),
    ]


def test_concepts_are_few(repo, told, adr) -> None:
    terms = " ".join(f"`term_{n}` `term_{n}`" for n in range(100))
    headings = "".join(f"## Peculiar Thing {'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[n]}o\n\n" for n in range(26)) + "End.\n"
    repo.commit(0, {"ADR-1.md": adr("ADR-1", "A", text=f"{terms}\n\n{headings}")})

    assert [len(memory.mentions) for memory in told(repo).memories("ADR-1.md")] == [12, 1]


def test_a_new_title_or_front_matter_leaves_the_passages_as_they_are(repo, told) -> None:
    body = "\n\n## Context\n\nWords.\n"
    repo.commit(0, {"ADR-1.md": f"# ADR-1: A\n\n**Status:** Draft{body}"})
    repo.commit(1, {"ADR-1.md": f"---\nstatus: Draft\n---\n# ADR-1: B{body}"})

    memories = told(repo).memories("ADR-1.md")

    assert [(m.content, day(m.until)) for m in memories] == [
        ("# ADR-1: A\n\n**Status:** Draft", 1),
        ("## Context\n\nWords.", None),
    ]
