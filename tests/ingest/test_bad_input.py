"""Bad files, bad folders, bad repositories: each one clear message, and never the end of the rest."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pygit2
import pytest

from prism_rdf import Prism
from prism_rdf.errors import BadArgument, NotARepository, NotFoundError
from prism_rdf.ingest import Skipped

GOOD = "# ADR-1: Good\n\n**Status:** Accepted\n"
BOMB = (
    "---\na: &a [x, x]\n"
    + "".join(f"k{n}: &k{n} [*{'a' if n == 0 else f'k{n - 1}'}, *a]\n" for n in range(60))
    + "---\n# T\n"
)

BAD_FILES = {
    "latin-1": ("# ADR-2: Übung\n".encode("latin-1"), "not UTF-8: byte 0xdc in line 1", 1),
    "utf-16": ("# ADR-2: T\n".encode("utf-16"), "not UTF-8: byte 0xff in line 1", 1),
    "binary": (b"\x89PNG\0\0", "binary", 0),
    "huge": (b"# ADR-2: T\n" + b"x" * 2_100_000, "2,100,011 bytes", 0),
    "not yaml": (b"---\ntitle: x\nstatus: [Accepted\n---\n# ADR-2: T\n", "not YAML", 3),
    "not fields": (b"---\n- a\n- b\n---\n# ADR-2: T\n", "is a list, not fields", 2),
    "not closed": (b"---\nstatus: Accepted\n\n# ADR-2: T\n", "not closed", 1),
    "too long": (b"---\nstatus: " + b"x" * 70_000 + b"\n---\n# ADR-2: T\n", "70008 characters", 1),
    "a bomb of aliases": (BOMB.encode(), "aliases", 1),
    "nested": (b"---\nstatus: " + b"[" * 3_000 + b"\n---\n# ADR-2: T\n", "nested too deep", 1),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_version_is_reported_and_the_one_before_stays(repo, told, name) -> None:
    data, reason, line = BAD_FILES[name]
    repo.commit(0, {"ADR-1.md": GOOD, "ADR-2.md": "# ADR-2: Before\n\n**Status:** Draft\n"})
    commit = repo.commit(1, {"ADR-2.md": data})
    repo.commit(2, {"ADR-2.md": "# ADR-2: After\n\n**Status:** Draft\n", "ADR-3.md": data})

    read = told(repo)

    first, second = read.report.failures
    assert (first.path, first.commit, first.line) == ("ADR-2.md", commit, line)
    assert reason in first.reason
    assert first.rule
    assert first.mend
    assert second.path == "ADR-3.md"
    assert [(when, kind) for when, kind, _ in read.story("ADR-2.md")] == [(0, "created"), (2, "rename")]
    assert [memory.until and memory.until.iso()[:10] for memory in read.memories("ADR-2.md")] == ["2025-01-03", None]
    assert read.report.documents == 2


def test_windows_line_ends_and_a_byte_order_mark_are_nothing_bad(repo, told) -> None:
    text = "---\nstatus: Accepted\nrelated: [ADR-2]\n---\n# ADR-1: Windows\n\nText.\n"
    repo.commit(0, {"ADR-1.md": b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(), "ADR-2.md": "# ADR-2: B\n"})
    repo.commit(1, {"ADR-1.md": text})

    read = told(repo)

    assert read.report.failures == ()
    assert read.story("ADR-1.md") == [
        (0, "created", {"title": "Windows", "number": "ADR-1", "status": "Accepted", "path": "ADR-1.md"})
    ]
    assert len(read.memories("ADR-1.md")) == 1
    assert len(read.references()) == 1


def test_what_is_no_record_is_skipped_with_a_reason(repo, told) -> None:
    repo.commit(
        0,
        {
            "ADR-1.md": GOOD,
            "docs/README_pictures.md": "# ADR-9: no\n",
            "docs/adr-template.md": "# ADR-NNN: Title\n",
            "docs/0000-template.md": "# Title\n\n## Status\n\nProposed\n",
            "docs/INDEX.md": "# All\n\nADR-1\n",
            "docs/guide.md": "# How to\n\nAs ADR-1 says.\n",
            "docs/2025-03-01-retro.md": "# Retro\n\n**Status:** Done\n",
            "docs/bad.md": b"\xff\xfe\xfd",
            "adr.txt": "# ADR-7: not markdown\n",
        },
    )

    read = told(repo)

    assert read.report.documents == 1
    assert read.report.failures == ()
    mark = "no mark of a decision record: no ADR number in its file name, first heading or front matter"
    assert read.report.skipped == (
        Skipped("docs/0000-template.md", "a template is not a decision"),
        Skipped("docs/2025-03-01-retro.md", mark),
        Skipped("docs/INDEX.md", "an index is not a decision"),
        Skipped("docs/README_pictures.md", "a README is not a decision"),
        Skipped("docs/adr-template.md", "a template is not a decision"),
        Skipped("docs/bad.md", mark),
        Skipped("docs/guide.md", mark),
    )


def test_a_path_that_leads_nowhere(tmp_path, told) -> None:
    (tmp_path / "history.bundle").write_bytes(b"# v2 git bundle\n")
    for path, thing, mend in (
        ("missing", "there is no", "check the path"),
        ("history.bundle", "is not a folder", "git clone history.bundle"),
    ):
        with pytest.raises(NotFoundError, match=thing) as refused:
            told(tmp_path / path)
        assert mend in refused.value.mend


def test_an_empty_folder_and_one_without_records(tmp_path, told) -> None:
    with pytest.raises(NotFoundError, match="no markdown file") as refused:
        told(tmp_path)
    assert refused.value.mend
    (tmp_path / "notes.md").write_text("# Notes\n")
    with pytest.raises(NotFoundError, match="among 1 markdown files"):
        told(tmp_path)


def test_a_broken_repository_is_not_taken_for_a_folder(repo, told) -> None:
    repo.commit(0, {"ADR-1.md": GOOD})
    (repo.path / "ADR-1.md").write_text(GOOD)
    (repo.path / ".git" / "HEAD").unlink()

    with pytest.raises(NotARepository, match="is not a git repository that can be read") as refused:
        told(repo)
    assert "clone it again" in refused.value.mend


def test_a_repository_without_commits(repo, told) -> None:
    with pytest.raises(NotFoundError, match="has no commit"):
        told(repo)


def test_an_unknown_ref_names_those_there_are(repo, told) -> None:
    repo.commit(0, {"ADR-1.md": GOOD})

    with pytest.raises(NotFoundError, match="no commit 'release'") as refused:
        told(repo, ref="release")
    assert "main" in refused.value.mend
    with pytest.raises(NotARepository, match="not in a git repository"):
        told(repo.path.parent, ref="main")


def test_a_clone_with_nothing_checked_out_reads_the_only_branch_and_says_so(repo, told, tmp_path) -> None:
    repo.commit(0, {"ADR-1.md": GOOD})
    bundle = tmp_path / "history.bundle"
    git(repo.path, "bundle", "create", str(bundle), "main")
    git(tmp_path, "-c", "init.defaultBranch=master", "clone", "-q", str(bundle), "clone")

    read = told(tmp_path / "clone")

    assert read.report.documents == 1
    assert read.report.notes == ("no branch is checked out; read the only one there is, origin/main",)


def test_several_branches_and_none_checked_out(repo, told) -> None:
    first = repo.commit(0, {"ADR-1.md": GOOD})
    repo.git.branches.local.create("other", repo.git[first])
    repo.git.set_head("refs/heads/unborn")
    assert "read the only one there is" in told(repo).report.notes[0]

    repo.commit(1, {"ADR-2.md": "# ADR-2: B\n"})
    with pytest.raises(BadArgument, match="main, other") as refused:
        told(repo)
    assert "--ref main" in refused.value.mend
    assert told(repo, ref="other").report.documents == 1
    assert told(repo, ref="main").report.documents == 2


def test_a_shallow_clone_is_noted(repo, told, tmp_path, adr) -> None:
    for day, status in enumerate(("Draft", "Proposed", "Accepted")):
        repo.commit(day, {"ADR-1.md": adr("ADR-1", "A", status)})
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{repo.path}", "shallow")

    read = told(tmp_path / "shallow")

    assert "shallow clone" in read.report.notes[0]
    assert [kind for _, kind, _ in read.story("ADR-1.md")] == ["created", "status_transition"]


def test_an_unreadable_file_of_a_folder(tmp_path, told, monkeypatch) -> None:
    for name in ("ADR-1.md", "ADR-2.md"):
        (tmp_path / name).write_text(GOOD)
    os.mkfifo(tmp_path / "ADR-3.md")
    read_bytes = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "ADR-2.md":
            raise PermissionError(13, "Permission denied")
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)

    read = told(tmp_path)

    assert [(f.path, f.reason) for f in read.report.failures] == [
        ("ADR-2.md", "the file cannot be read: Permission denied")
    ]
    assert read.report.documents == 1


def test_a_missing_object_is_a_failure_of_that_version(repo, told) -> None:
    repo.commit(0, {"ADR-1.md": GOOD, "ADR-2.md": "# ADR-2: B\n"})
    blob = repo.git.revparse_single("main:ADR-2.md").id
    loose = repo.path / ".git" / "objects" / str(blob)[:2] / str(blob)[2:]
    loose.unlink()

    read = told(repo)

    assert [(f.path, "not in this clone" in f.reason) for f in read.report.failures] == [("ADR-2.md", True)]
    assert read.report.documents == 1


def git(folder, *arguments: str) -> None:
    assert shutil.which("git"), "these tests need git"
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def test_a_file_too_large_a_loop_of_links_and_a_link_to_nothing(tmp_path, told) -> None:
    (tmp_path / "ADR-1.md").write_text(GOOD)
    with (tmp_path / "ADR-2.md").open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "ADR-3.md").symlink_to("nowhere.md")
    (tmp_path / "ADR-4.md").symlink_to("ADR-4.md")

    report = told(tmp_path).report

    assert report.documents == 1
    assert [(f.path, f.reason) for f in report.failures] == [("ADR-2.md", "the file has 209,715,200 bytes")]
    assert [(s.path, s.why) for s in report.skipped] == [
        ("ADR-3.md", "a symbolic link is not followed: nowhere.md, which is not there"),
        ("ADR-4.md", "a symbolic link is not followed: ADR-4.md, which is not there"),
    ]


def test_links_and_large_files_in_a_history(repo, told) -> None:
    repo.commit(0, {"ADR-1.md": GOOD})
    index = repo.git.index
    index.add(pygit2.IndexEntry("ADR-1.md", repo.git.revparse_single("main:ADR-1.md").id, pygit2.enums.FileMode.BLOB))
    link = repo.git.create_blob(b"ADR-1.md")
    index.add(pygit2.IndexEntry("ADR-2.md", link, pygit2.enums.FileMode.LINK))
    large = repo.git.create_blob(b"# ADR-3: X\n" + b"x" * 3_000_000)
    index.add(pygit2.IndexEntry("ADR-3.md", large, pygit2.enums.FileMode.BLOB))
    who = pygit2.Signature("Contributor", "contributor@example.org", 1_800_000_000, 0)
    parents = [repo.git.branches["main"].target]
    commit = repo.git.create_commit("refs/heads/main", who, who, "Odd", index.write_tree(), parents)

    report = told(repo).report

    assert [(f.path, f.commit, f.reason) for f in report.failures] == [
        ("ADR-3.md", str(commit), "the file has 3,000,011 bytes")
    ]
    assert [(s.path, s.why) for s in report.skipped] == [("ADR-2.md", "a symbolic link is not followed: ADR-1.md")]


def test_a_damaged_tree_is_reported_and_the_commit_after_it_says_it_all(repo, told) -> None:
    repo.commit(0, {"docs/ADR-1.md": GOOD})
    bad = repo.commit(1, {"docs/ADR-2.md": "# ADR-2: B\n"})
    repo.commit(2, {"docs/ADR-2.md": "# ADR-2: Better\n", "docs/ADR-3.md": "# ADR-3: C\n"})
    tree = str(repo.git[bad].tree["docs"].id)
    damaged = repo.path / ".git" / "objects" / tree[:2] / tree[2:]
    damaged.chmod(0o644)
    damaged.write_bytes(b"broken")

    read = told(repo)

    assert [(f.path, f.commit) for f in read.report.failures] == [("", bad)]
    assert "cannot be read" in read.report.failures[0].reason
    assert read.report.documents == 3
    assert read.state(read.document("docs/ADR-2.md"))["title"] == "Better"


def test_a_damaged_commit_ends_history_there_and_says_so(repo, told) -> None:
    first = repo.commit(0, {"ADR-1.md": GOOD})
    repo.commit(1, {"ADR-2.md": "# ADR-2: B\n"})
    lost = repo.path / ".git" / "objects" / first[:2] / first[2:]
    lost.unlink()

    report = told(repo).report

    assert report.documents == 2
    assert [(f.commit, "nor what came before" in f.reason) for f in report.failures] == [(first, True)]


def test_dates_that_no_calendar_knows_are_named_with_their_line(tmp_path, told, repo) -> None:
    bad = {"ADR-1.md": "20225-01-01", "ADR-2.md": "2025-13-01", "ADR-3.md": "2025-02-30"}
    for name, date in bad.items():
        (tmp_path / name).write_text(f"---\nstatus: Draft\ndate: {date}\n---\n# {name[:5]}: T\n")

    report = told(tmp_path).report

    assert [(f.path, f.line) for f in report.failures] == [(name, 3) for name in bad]
    assert all(date in failure.reason for failure, date in zip(report.failures, bad.values(), strict=True))
    assert report.documents == 3
    assert "ADR-1.md, ADR-2.md, ADR-3.md" in report.notes[0]


def test_a_commit_of_the_year_20219_is_taken_as_it_is_and_the_next_one_comes_after(tmp_path, told) -> None:
    git(tmp_path, "init", "-q", "far")
    for n, when in enumerate(("@575900000000 +0000", "@1700000000 -0700")):
        (tmp_path / "far" / "ADR-1.md").write_text(f"# ADR-1: {n}\n")
        git(tmp_path / "far", "add", ".")
        who = ("-c", "user.name=Contributor", "-c", "user.email=contributor@example.org")
        subprocess.run(
            ["git", "-C", str(tmp_path / "far"), *who, "commit", "-q", "-m", "x"],
            check=True,
            env={**os.environ, "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when},
        )

    read = told(tmp_path / "far")

    assert [event.at.instant.iso() for event in read.events[read.uuids[0]]] == [
        "20219-07-19T06:13:20Z",
        "20219-07-19T06:13:20.000001Z",
    ]


def test_an_identifier_changed_to_one_in_use_and_an_empty_title(repo, told, adr) -> None:
    repo.commit(0, {"ADR-1.md": adr("ADR-1", "A"), "b.md": adr("ADR-2", "B")})
    repo.commit(1, {"b.md": adr("ADR-1", "B")})
    third = repo.commit(2, {"ADR-3.md": "---\nstatus: Draft\ntitle: ''\n---\n\n#\n\nText.\n"})

    read = told(repo)

    assert [(d.number, d.documents) for d in read.report.duplicates] == [("ADR-1", ("ADR-1.md", "b.md"))]
    assert read.aliases("b.md") == [("ADR-2", 0, 1)]
    assert read.state(read.document("ADR-3.md")) == {"number": "ADR-3", "status": "Draft", "path": "ADR-3.md"}
    [twice] = read.report.duplicates
    [note] = read.report.notes
    assert twice.commit
    assert note == f"without a title (`# ADR-7: Title`), in some version or in all: ADR-3.md ({third[:12]})"


def test_a_date_of_no_time_is_told_with_its_commit_and_line(repo, told, adr) -> None:
    commit = repo.commit(0, {"ADR-1.md": adr("ADR-1", "A", date="20225-01-01"), "ADR-2.md": adr("ADR-2", "B")})
    repo.commit(1, {"ADR-1.md": adr("ADR-1", "A", "Rejected", date="20225-01-01")})

    read = told(repo)

    [failure] = read.report.failures
    assert (failure.path, failure.commit, failure.line) == ("ADR-1.md", commit, 3)
    assert read.state(read.document("ADR-1.md"))["status"] == "Rejected"


def test_of_two_decisions_that_supersede_each_other_one_is_taken_at_its_word(repo, adr) -> None:
    repo.commit(
        0, {"ADR-1.md": adr("ADR-1", "A", supersedes="ADR-2"), "ADR-2.md": adr("ADR-2", "B", supersedes="ADR-1")}
    )
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        report = project.ingest(repo.path)["report"]
        kept = project.list_references(source="ADR-1") + project.list_references(source="ADR-2")
        again = project.ingest(repo.path)

    assert [note for note in report["notes"] if "which supersedes it: this is left out" in note]
    assert len({(r["source"]["identifier"], r["target"]["identifier"]) for r in kept}) == 1
    assert again["receipt"]["commit"] is None


SHORT_TITLES = """
@prefix prism: <https://w3id.org/prism-rdf/ns#> .
@prefix type: <https://w3id.org/prism-rdf/type#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix my: <https://example.org/my#> .

my:Short a sh:NodeShape ; sh:targetClass type:ADR ;
    sh:property [ sh:path prism:title ; sh:maxLength 9 ; sh:message "A title has at most 9 characters. Cut it." ] .
"""


def test_what_a_rule_of_the_project_refuses_is_left_out_alone(repo, adr) -> None:
    repo.commit(
        0,
        {"ADR-1.md": adr("ADR-1", "Good"), "ADR-2.md": adr("ADR-2", "Far too long"), "ADR-3.md": adr("ADR-3", "Fine")},
    )
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.add_types(SHORT_TITLES, "short.ttl")
        report = project.ingest(repo.path)["report"]
        taken = [each["identifier"] for each in project.list_entities("ADR")]

    assert taken == ["ADR-1", "ADR-3"]
    assert report["refused"][0]["reason"] == "A title has at most 9 characters"
    assert len(report["refused"]) == 2  # the document and its passage, which is about nothing then
