"""One document is one entity: through renames, renumberings, moves, deletion and return; and numbers are reused."""

from __future__ import annotations

import pytest

LONG = "\n".join(
    f"This sentence, the {n}th of its kind, is what makes the text long enough to be known again." for n in range(12)
)


def test_a_document_keeps_its_identity_through_move_renumbering_and_retitling(repo, told, adr) -> None:
    first = repo.commit(0, {"docs/ADR-044-truth.md": adr("ADR-044", "Truth", "Proposed", LONG)}, "Add truth")
    repo.commit(1, {"docs/ADR-044-truth.md": adr("ADR-044", "Truth", "Accepted", LONG)})
    repo.move(2, "docs/ADR-044-truth.md", "docs/ai/ADR-044-truth.md")
    repo.move(3, "docs/ai/ADR-044-truth.md", "docs/ai/ADR-808-truth.md", adr("ADR-808", "Truth", "Accepted", LONG))
    repo.commit(4, {"docs/ai/ADR-808-truth.md": adr("ADR-808", "Convergence", "Accepted", LONG)})

    read = told(repo)

    assert read.story("docs/ai/ADR-808-truth.md") == [
        (0, "created", {"title": "Truth", "number": "ADR-044", "status": "Proposed", "path": "docs/ADR-044-truth.md"}),
        (1, "status_transition", {"status": "Accepted"}),
        (2, "moved", {"path": "docs/ai/ADR-044-truth.md"}),
        (3, "renumbered", {"number": "ADR-808", "path": "docs/ai/ADR-808-truth.md"}),
        (4, "rename", {"title": "Convergence"}),
    ]
    assert read.aliases("docs/ai/ADR-808-truth.md") == [("ADR-044", 0, 3)]
    assert read.report.documents == 1
    created = read.events[read.uuids[0]][0]
    assert (created.cause_commit, created.description, created.tier, created.sequence) == (first, "Add truth", 2, 0)
    assert created.source == f"git:{first[:12]}:docs/ADR-044-truth.md"


def test_several_changes_in_one_commit_are_one_event_named_for_the_weightiest(repo, told, adr) -> None:
    repo.commit(0, {"ADR-1-a.md": adr("ADR-1", "A", "Proposed", LONG)})
    repo.move(1, "ADR-1-a.md", "x/ADR-2-b.md", adr("ADR-2", "B", "Accepted", LONG))
    repo.commit(2, {"x/ADR-2-b.md": adr("ADR-2", "C", "Rejected", LONG)})

    kinds = [kind for _, kind, _ in told(repo).story("x/ADR-2-b.md")]

    assert kinds == ["created", "renumbered", "rename"]


def test_numbers_handed_round_in_one_commit_stay_with_their_documents(repo, told, adr) -> None:
    """ADR-1 becomes ADR-2, ADR-2 becomes ADR-3; the paths are the numbers alone, so every path changes hands."""
    texts = {"A": LONG.upper(), "B": LONG}
    repo.commit(0, {f"ADR-{n}.md": adr(f"ADR-{n}", t, text=texts[t]) for n, t in ((1, "A"), (2, "B"))})
    repo.commit(
        1,
        {
            "ADR-1.md": None,
            "ADR-2.md": adr("ADR-2", "A", text=texts["A"]),
            "ADR-3.md": adr("ADR-3", "B", text=texts["B"]),
        },
    )

    read = told(repo)

    assert [kind for _, kind, _ in read.story("ADR-2.md")] == ["created", "renumbered"]
    assert read.state(read.document("ADR-2.md")) == {
        "title": "A",
        "number": "ADR-2",
        "status": "Accepted",
        "path": "ADR-2.md",
    }
    assert read.aliases("ADR-3.md") == [("ADR-2", 0, 1)]
    assert read.report.documents == 2


def test_a_new_title_in_place_is_the_same_document_though_its_old_title_goes_to_a_new_one(repo, told, adr) -> None:
    repo.commit(0, {"ADR-1-api.md": adr("ADR-1", "API", text=LONG)})
    repo.commit(
        1,
        {
            "ADR-1-api.md": adr("ADR-1", "API, first attempt", "Superseded", LONG),
            "ADR-9-api.md": adr("ADR-9", "API", supersedes="ADR-1", text="Quite another text."),
        },
    )

    read = told(repo)

    assert [kind for _, kind, _ in read.story("ADR-1-api.md")] == ["created", "rename"]
    assert [kind for _, kind, _ in read.story("ADR-9-api.md")] == ["created"]
    assert read.references() == [("ADR-9-api.md", "SUPERSEDES", "ADR-1-api.md", 1, None)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("ADR-1", "Same title", "Old words."), ("ADR-7", "Same title", "Entirely new ones, nothing is left.")),
        (("ADR-1", "Before", "Old words."), ("ADR-1", "After", "Entirely new ones, nothing is left.")),
    ],
    ids=["same title", "same number"],
)
def test_a_rewritten_file_is_known_again_by_its_title_or_number(repo, told, adr, old, new) -> None:
    number, title, text = old
    repo.commit(0, {"a/ADR-1-x.md": adr(number, title, text=text)})
    number, title, text = new
    repo.move(1, "a/ADR-1-x.md", "b/ADR-7-y.md", f"# {number}: {title}\n\n**Status:** Draft\n\n{text}\n")

    assert told(repo).report.documents == 1


def test_a_rename_without_number_or_title_is_found_by_git(repo, told) -> None:
    repo.commit(0, {"adr-0001-x.md": f"# First words\n\n{LONG}\n"})
    repo.move(1, "adr-0001-x.md", "adr-0002-y.md", f"# Other words\n\n{LONG}\n")

    assert [kind for _, kind, _ in told(repo).story("adr-0002-y.md")] == ["created", "renumbered"]


def test_a_deleted_document_is_retired_and_comes_back_as_the_same(repo, told, adr) -> None:
    text = adr("ADR-1", "A", text=LONG)
    repo.commit(0, {"ADR-1-a.md": text, "ADR-2-b.md": adr("ADR-2", "B", text="Other.")})
    repo.commit(1, {"ADR-1-a.md": None})
    repo.commit(2, {"archive/ADR-1-a.md": text.replace("Accepted", "Rejected")})
    repo.commit(3, {"archive/ADR-1-a.md": None})
    repo.commit(4, {"archive/ADR-1-a.md": adr("ADR-5", "Z", text="All new.")})

    read = told(repo)

    assert read.story("archive/ADR-1-a.md") == [
        (0, "created", {"title": "A", "number": "ADR-1", "status": "Accepted", "path": "ADR-1-a.md"}),
        (1, "retired", {"retired": "true"}),
        (2, "reopened", {"status": "Rejected", "path": "archive/ADR-1-a.md", "retired": "false"}),
        (3, "retired", {"retired": "true"}),
        (4, "reopened", {"title": "Z", "number": "ADR-5", "status": "Accepted", "retired": "false"}),
    ]
    assert read.aliases("archive/ADR-1-a.md") == [("ADR-1", 0, 3)]
    assert read.report.documents == 2
    memories = read.memories("archive/ADR-1-a.md")
    assert [(m.start.iso()[:10], m.until.iso()[:10] if m.until else None) for m in memories] == [
        ("2025-01-01", "2025-01-02"),
        ("2025-01-03", "2025-01-04"),
        ("2025-01-05", None),
    ]


def test_a_number_given_to_another_document_later_belongs_to_each_in_its_time(repo, told, adr) -> None:
    repo.commit(0, {"ADR-100-old.md": adr("ADR-100", "Old", text=LONG)})
    repo.move(1, "ADR-100-old.md", "ADR-900-old.md", adr("ADR-900", "Old", text=LONG))
    repo.commit(2, {"ADR-100-new.md": adr("ADR-100", "New", text="Nothing in common.")})

    read = told(repo)

    assert read.report.documents == 2
    assert read.aliases("ADR-900-old.md") == [("ADR-100", 0, 1)]
    assert read.story("ADR-100-new.md")[0][:2] == (2, "created")


def test_lettered_numbers_become_dotted_ones(repo, told, adr) -> None:
    repo.commit(0, {"ADR-051a-dedup.md": adr("ADR-051a", "Dedup", text=LONG), "ADR-076B-base.md": "# Base\n\nText.\n"})
    repo.move(1, "ADR-051a-dedup.md", "ADR-304.1-dedup.md", adr("ADR-304.1", "Dedup", text=LONG))

    read = told(repo)

    assert read.state(read.document("ADR-304.1-dedup.md"))["number"] == "ADR-304.1"
    assert read.aliases("ADR-304.1-dedup.md") == [("ADR-051a", 0, 1)]
    assert read.state(read.document("ADR-076B-base.md"))["number"] == "ADR-076B"


def test_a_number_in_the_file_name_yields_to_one_in_the_text(repo, told, adr) -> None:
    repo.commit(0, {"ADR-068-plan.md": "# Plan for ADR-068\n\n**Status:** Draft\n\nSteps.\n"})
    repo.commit(1, {"ADR-068-source.md": adr("ADR-068", "Source", text=LONG)})
    repo.move(2, "ADR-068-source.md", "ADR-812-source.md", adr("ADR-812", "Source", text=LONG))

    read = told(repo)

    assert [(when, kind, change.get("number", "-")) for when, kind, change in read.story("ADR-068-plan.md")] == [
        (0, "created", "ADR-068"),
        (1, "renumbered", None),
        (2, "renumbered", "ADR-068"),
    ]
    assert read.aliases("ADR-068-plan.md") == [("ADR-068", 0, 1)]
    [duplicate] = read.report.duplicates
    assert (duplicate.number, duplicate.documents) == ("ADR-068", ("ADR-068-plan.md", "ADR-068-source.md"))
    assert "ADR-068-plan.md only in the file name" in duplicate.outcome


def test_two_texts_that_claim_one_number_both_keep_it_and_are_reported(repo, told, adr) -> None:
    repo.commit(0, {"ADR-49-a.md": adr("ADR-49", "A", text=LONG), "ADR-49-b.md": adr("ADR-49", "B", text="Other.")})

    read = told(repo)

    assert [read.state(uuid)["number"] for uuid in read.uuids] == ["ADR-49", "ADR-49"]
    assert [duplicate.outcome for duplicate in read.report.duplicates] == ["each carries it"]


def test_times_that_run_backwards_are_put_in_the_order_of_history(repo, told, adr) -> None:
    repo.commit(5, {"ADR-1.md": adr("ADR-1", "A", "Proposed")})
    repo.commit(3, {"ADR-1.md": adr("ADR-1", "A", "Accepted")})
    repo.commit(3, {"ADR-1.md": adr("ADR-1", "A", "Rejected")})
    repo.commit(9, {"ADR-1.md": adr("ADR-1", "A", "Superseded")})

    events = told(repo).events.popitem()[1]

    assert [event.at.instant.iso() for event in events] == [
        "2025-01-06T00:00:00Z",
        "2025-01-06T00:00:00.000001Z",
        "2025-01-06T00:00:00.000002Z",
        "2025-01-10T00:00:00Z",
    ]
    assert [event.sequence for event in events] == [0, 1, 2, 3]


def test_a_merge_counts_as_one_change_of_its_first_parent(repo, told, adr) -> None:
    base = repo.commit(0, {"ADR-1.md": adr("ADR-1", "A", "Proposed")})
    repo.git.branches.local.create("side", repo.git[base])
    before = dict(repo.files)
    side = repo.commit(1, {"ADR-1.md": adr("ADR-1", "A", "Draft"), "ADR-2.md": adr("ADR-2", "B")}, branch="side")
    side = repo.commit(2, {"ADR-1.md": adr("ADR-1", "A", "Accepted")}, branch="side")
    merged, repo.files = dict(repo.files), before
    main = repo.commit(3, {"notes.txt": "unrelated"})
    repo.files |= merged
    repo.write(4, "Merge side", "main", [main, side])

    read = told(repo)

    assert [(when, kind) for when, kind, _ in read.story("ADR-1.md")] == [(0, "created"), (4, "status_transition")]
    assert [(when, kind) for when, kind, _ in read.story("ADR-2.md")] == [(4, "created")]
    assert [event.sequence for event in read.events[read.document("ADR-1.md")]] == [0, 2]
