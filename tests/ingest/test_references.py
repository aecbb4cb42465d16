"""What documents say of one another: kinds, intervals, whom a number meant at the time, and what it never meant."""

from __future__ import annotations

from prism_rdf.clock import Instant
from prism_rdf.ingest import Ambiguous, Dangling

PROSE = "\n".join(f"Sentence number {n} of a text that stays alike under small changes." for n in range(12))
DAY = "2025-01-0{}T00:00:00Z"


def test_fields_say_their_kind_and_direction(repo, told, adr) -> None:
    others = {f"ADR-{n}.md": adr(f"ADR-{n}", f"T{n}") for n in range(1, 9)}
    fields = {
        "related": "[ADR-1, ADR-2 (with a reason)]",
        "supersedes": "ADR-3",
        "superseded-by": "4",
        "depends_on": '["[five](ADR-5.md)"]',
        "implements": "{id: ADR-6}",
        "note": "see ADR-7",
        "extends": "ADR-8.md",
    }
    repo.commit(0, {**others, "ADR-9.md": adr("ADR-9", "Nine", text="Nothing.", **fields)})

    assert told(repo).references() == [
        ("ADR-4.md", "SUPERSEDES", "ADR-9.md", 0, None),
        ("ADR-9.md", "DEPENDS_ON", "ADR-5.md", 0, None),
        ("ADR-9.md", "EXTENDS", "ADR-8.md", 0, None),
        ("ADR-9.md", "IMPLEMENTS", "ADR-6.md", 0, None),
        ("ADR-9.md", "REFERENCES", "ADR-7.md", 0, None),
        ("ADR-9.md", "RELATES_TO", "ADR-1.md", 0, None),
        ("ADR-9.md", "RELATES_TO", "ADR-2.md", 0, None),
        ("ADR-9.md", "SUPERSEDES", "ADR-3.md", 0, None),
    ]


def test_lines_and_sections_about_status_say_them_too(repo, told) -> None:
    repo.commit(
        0,
        {
            "ADR-1.md": "# ADR-1: A\n\n**Status:** Superseded by ADR-2 (B)\n**Related:** ADR-3, ADR-4\n",
            "ADR-2.md": "# ADR-2: B\n\n- **Status:** Accepted\n- **Related ADRs:**\n  - ADR-3\n  - [D](ADR-4.md)\n",
            "ADR-3.md": "# ADR-3: C\n\n## Status\n\nSuperseded by [4. D](ADR-4.md)\n\nSupersedes ADR-1\n\n## Context\n",
            "ADR-4.md": "# ADR-4: D\n\nStatus: Accepted\n",
        },
    )

    assert told(repo).references() == [
        ("ADR-1.md", "RELATES_TO", "ADR-3.md", 0, None),
        ("ADR-1.md", "RELATES_TO", "ADR-4.md", 0, None),
        ("ADR-2.md", "RELATES_TO", "ADR-3.md", 0, None),
        ("ADR-2.md", "RELATES_TO", "ADR-4.md", 0, None),
        ("ADR-2.md", "SUPERSEDES", "ADR-1.md", 0, None),
        ("ADR-3.md", "SUPERSEDES", "ADR-1.md", 0, None),
        ("ADR-4.md", "SUPERSEDES", "ADR-3.md", 0, None),
    ]


def test_prose_names_records_and_code_does_not(repo, told, adr) -> None:
    text = """ADR-2 in a sentence, ADR-1 is this one. `ADR-3` is code, https://example.org/ADR-4 is elsewhere.

| table | ADR-5 |
|-------|-------|

```text
ADR-6 in a fence
# ADR-6: no heading
```

    ADR-7 indented

- item, see [the eighth](ADR-8.md#decision)

### On ADR-9
"""
    repo.commit(0, {f"ADR-{n}.md": adr(f"ADR-{n}", f"T{n}") for n in range(2, 10)})
    repo.commit(1, {"ADR-1.md": adr("ADR-1", "One", text=text)})

    assert [target for _, _, target, _, _ in told(repo).references()] == [f"ADR-{n}.md" for n in (2, 5, 8, 9)]


def test_a_reference_holds_from_the_version_that_says_it_to_the_one_that_drops_it(repo, told, adr) -> None:
    repo.commit(0, {"ADR-1.md": adr("ADR-1", "A", text=PROSE), "ADR-2.md": adr("ADR-2", "B")})
    repo.commit(1, {"ADR-1.md": adr("ADR-1", "A", text=PROSE + "ADR-2")})
    repo.commit(2, {"ADR-1.md": adr("ADR-1", "A", text=PROSE)})
    says_again = repo.commit(3, {"ADR-1.md": adr("ADR-1", "A", text=PROSE + "See ADR-2.")})
    repo.commit(4, {"ADR-1.md": None})

    read = told(repo)

    assert read.references() == [
        ("ADR-1.md", "REFERENCES", "ADR-2.md", 1, 2),
        ("ADR-1.md", "REFERENCES", "ADR-2.md", 3, 4),
    ]
    last = list(read.of(type(read.proposal.intents[-1])))[-1]
    assert (last.provenance, last.cause_commit, last.tier) == (f"ADR-1.md@{says_again[:12]}", says_again, 2)


def test_a_renumbering_that_only_rewrites_the_number_leaves_the_reference_open(repo, told, adr) -> None:
    repo.commit(
        0, {"ADR-25.md": adr("ADR-25", "Target", text=PROSE), "ADR-1.md": adr("ADR-1", "A", text="As ADR-25 has it.")}
    )
    repo.commit(
        1,
        {
            "ADR-25.md": None,
            "ADR-601.md": adr("ADR-601", "Target", text=PROSE),
            "ADR-1.md": adr("ADR-1", "A", text="As ADR-601 has it."),
        },
    )

    assert told(repo).references() == [("ADR-1.md", "REFERENCES", "ADR-601.md", 0, None)]


def test_a_number_means_who_bore_it_when_it_was_said(repo, told, adr) -> None:
    """ADR-100 is given up on day 1 and given to another on day 3."""
    repo.commit(
        0, {"ADR-100-old.md": adr("ADR-100", "Old", text=PROSE), "ADR-1.md": adr("ADR-1", "A", text="See ADR-100.")}
    )
    repo.move(1, "ADR-100-old.md", "ADR-900-old.md", adr("ADR-900", "Old", text=PROSE))
    repo.commit(2, {"ADR-2.md": adr("ADR-2", "B", text="Lags behind: ADR-100.")})
    repo.commit(3, {"ADR-100-new.md": adr("ADR-100", "New", text="Other.")})
    repo.commit(4, {"ADR-3.md": adr("ADR-3", "C", text="See ADR-100.")})
    repo.commit(5, {"ADR-1.md": adr("ADR-1", "A", text="Now again: ADR-100.")})

    assert told(repo).references() == [
        ("ADR-1.md", "REFERENCES", "ADR-100-new.md", 5, None),
        ("ADR-1.md", "REFERENCES", "ADR-900-old.md", 0, 5),
        ("ADR-2.md", "REFERENCES", "ADR-900-old.md", 2, None),
        ("ADR-3.md", "REFERENCES", "ADR-100-new.md", 4, None),
    ]


def test_a_reference_to_nothing_is_reported_and_not_invented(repo, told, adr) -> None:
    repo.commit(
        0, {"ADR-304.1.md": adr("ADR-304.1", "Part one", related="[ADR-304, ADR-9]", text="As ADR-304 says, ADR-10.")}
    )
    repo.commit(1, {"ADR-304.2.md": adr("ADR-304.2", "Part two"), "ADR-10.md": adr("ADR-10", "Ten")})
    repo.commit(2, {"ADR-304.1.md": adr("ADR-304.1", "Part one", related="[ADR-304, ADR-9]", text="As ADR-304 says.")})

    read = told(repo)

    assert read.report.dangling == (
        Dangling("ADR-304.1.md", "ADR-304", Instant.parse(DAY.format(1))),
        Dangling("ADR-304.1.md", "ADR-9", Instant.parse(DAY.format(1))),
    )
    assert read.references() == [("ADR-304.1.md", "REFERENCES", "ADR-10.md", 1, 2)]


def test_resolve_is_asked_for_what_nobody_bore_and_only_for_that(repo, told, adr) -> None:
    asked = []

    def resolve(identifier: str, at: Instant) -> str | None:
        asked.append((identifier, at.iso()))
        return "0b0e3f0e-0000-4000-8000-000000000000" if identifier == "ADR-77" else None

    repo.commit(0, {"ADR-1.md": adr("ADR-1", "A", text="ADR-2, ADR-77 and ADR-88.")})
    repo.commit(1, {"ADR-2.md": adr("ADR-2", "B")})
    repo.commit(2, {"ADR-1.md": adr("ADR-1", "A", text="ADR-2 and ADR-88.")})

    read = told(repo, resolve=resolve)

    assert sorted(asked) == [("ADR-77", DAY.format(1)), ("ADR-88", DAY.format(1))]
    assert [d.identifier for d in read.report.dangling] == ["ADR-88"]
    assert ("ADR-1.md", "REFERENCES", "0b0e3f0e-0000-4000-8000-000000000000", 0, 2) in read.references()


def test_a_number_that_two_documents_bear_refers_to_neither_until_one_gives_it_up(repo, told, adr) -> None:
    repo.commit(0, {"ADR-49-a.md": adr("ADR-49", "A", text=PROSE), "ADR-49-b.md": adr("ADR-49", "B", text="Other.")})
    repo.commit(
        1,
        {"ADR-1.md": adr("ADR-1", "One", text="ADR-49"), "ADR-2.md": adr("ADR-2", "Two", text="[ADR-49](ADR-49-a.md)")},
    )

    read = told(repo)
    assert read.report.ambiguous == (
        Ambiguous("ADR-1.md", "ADR-49", Instant.parse(DAY.format(2)), ("ADR-49-a.md", "ADR-49-b.md")),
    )
    assert read.references() == [("ADR-2.md", "REFERENCES", "ADR-49-a.md", 1, None)]

    repo.move(2, "ADR-49-a.md", "ADR-59-a.md", adr("ADR-59", "A", text=PROSE))
    read = told(repo)
    assert read.report.ambiguous == ()
    assert ("ADR-1.md", "REFERENCES", "ADR-49-b.md", 2, None) in read.references()


def test_each_part_of_a_repository_may_number_its_own_records(repo, told, adr) -> None:
    repo.commit(
        0,
        {
            "a/adr/ADR-1.md": adr("ADR-1", "A one"),
            "a/adr/ADR-2.md": adr("ADR-2", "A two", related="[ADR-1]"),
            "b/adr/ADR-1.md": adr("ADR-1", "B one"),
            "b/adr/sub/ADR-3.md": adr("ADR-3", "B three", related="[ADR-1]"),
            "c/ADR-4.md": adr("ADR-4", "C four", related="[ADR-1]"),
        },
    )

    read = told(repo)

    assert read.references() == [
        ("a/adr/ADR-2.md", "RELATES_TO", "a/adr/ADR-1.md", 0, None),
        ("b/adr/sub/ADR-3.md", "RELATES_TO", "b/adr/ADR-1.md", 0, None),
    ]
    assert [entry.document for entry in read.report.ambiguous] == ["c/ADR-4.md"]


def test_leading_zeros_do_not_matter_where_only_one_can_be_meant(repo, told) -> None:
    repo.commit(0, {"adr/0007-a.md": "# 7. A\n\n## Status\n\nAccepted\n", "adr/0008-b.md": "# 8. B\n\nAfter ADR-7.\n"})

    read = told(repo)

    assert read.state(read.document("adr/0007-a.md")) == {
        "title": "A",
        "number": "ADR-0007",
        "status": "Accepted",
        "path": "adr/0007-a.md",
    }
    assert read.references() == [("adr/0008-b.md", "REFERENCES", "adr/0007-a.md", 0, None)]


def test_two_documents_that_say_the_same_make_one_reference(repo, told, adr) -> None:
    repo.commit(0, {"ADR-1.md": adr("ADR-1", "A"), "ADR-2.md": adr("ADR-2", "B", supersedes="ADR-1")})
    repo.commit(1, {"ADR-1.md": adr("ADR-1", "A", "Superseded by ADR-2")})
    repo.commit(2, {"ADR-2.md": adr("ADR-2", "B")})

    assert told(repo).references() == [("ADR-2.md", "SUPERSEDES", "ADR-1.md", 0, None)]


def test_documents_that_supersede_each_other_stop_nothing_and_are_told(repo, told, adr) -> None:
    one = adr("ADR-1", "One", supersedes="ADR-2")
    repo.commit(0, {"ADR-1.md": one, "ADR-2.md": adr("ADR-2", "Two")})
    repo.commit(1, {"ADR-2.md": adr("ADR-2", "Two", supersedes="ADR-1")})
    documents = told(repo)
    assert documents.references() == [("ADR-1.md", "SUPERSEDES", "ADR-2.md", 0, None)]
    assert documents.report.notes == ("ADR-2.md supersedes ADR-1.md, which supersedes it: this is left out",)
