"""The text of a document is a memory for as long as it says the same."""

from __future__ import annotations

from prism_rdf.ingest.documents import MAX_CONCEPTS

TEXT = """The `graph_store` keeps it, and the `graph_store` is asked. Once: `other_thing`. See ADR-2.

## Sealed State Folding

Words.

## Implementation Plan

Words.
"""


def test_a_new_memory_begins_where_the_meaning_changes(repo, told, adr) -> None:
    first = repo.commit(0, {"ADR-1.md": adr("ADR-1", "A", "Proposed", "One  text,\nin lines.")})
    repo.commit(1, {"ADR-1.md": adr("ADR-1", "A", "Accepted", "One text, in\n\nlines.")})
    repo.commit(2, {"ADR-1.md": adr("ADR-1", "A", "Accepted", "Another text.")})

    old, new = told(repo).memories("ADR-1.md")

    assert (old.start.iso(), old.until.iso()) == ("2025-01-01T00:00:00Z", "2025-01-03T00:00:00Z")
    assert old.start == old.created_at
    assert (new.start, new.until) == (old.until, None)
    assert old.content == "# ADR-1: A\n\n## Context\n\nOne  text,\nin lines."
    assert (old.source, old.kind, old.heading, old.tier) == (f"ADR-1.md@{first[:12]}", "document", "A", 2)
    assert old.key != new.key


def test_it_mentions_the_documents_it_names_and_a_few_concepts(repo, told, adr) -> None:
    repo.commit(0, {"ADR-1.md": adr("ADR-1", "A", text=TEXT), "ADR-2.md": adr("ADR-2", "B")})

    read = told(repo)

    assert read.memories("ADR-1.md")[0].mentions == (
        f"entity:{read.document('ADR-2.md')}",
        "concept:graph_store",
        "concept:Sealed State Folding",
    )


def test_concepts_are_few(repo, told, adr) -> None:
    terms = " ".join(f"`term_{n}` `term_{n}`" for n in range(100))
    headings = "".join(f"## Peculiar Thing {'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[n]}o\n\n" for n in range(26))
    repo.commit(0, {"ADR-1.md": adr("ADR-1", "A", text=f"{terms}\n\n{headings}")})

    assert len(told(repo).memories("ADR-1.md")[0].mentions) == MAX_CONCEPTS
