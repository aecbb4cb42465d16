"""What a decision record said at a time, found out with the git command and a few regular expressions only.

Shares no code with the reader it is there to check: it follows renames with `git log --follow` and reads versions with
`git show`. It knows decision records that exist at the tip, and the forms of number, title and status that one
project used: `# ADR-n: Title`, front matter, `**Status:** …` lines before the first section.
"""

from __future__ import annotations

import re
import subprocess
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path

EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def expected(repo: Path, path_at_tip: str, at_iso: str) -> dict[str, str] | None:
    """Return number, title, status and path (each "" when absent) of a record at an instant; None when it was not.

    ``path_at_tip`` is where it lies in HEAD; ``at_iso`` is ISO 8601 with a zone.
    """
    commit = commit_at(repo, datetime.fromisoformat(at_iso.replace("Z", "+00:00")))
    if commit is None:
        return None
    path = path_in(repo, path_at_tip, commit)
    if path is None:
        return None
    text = show(repo, commit, path)
    header = re.split(r"^## ", strip_front_matter(text), maxsplit=1, flags=re.M)[0]
    heading = re.search(r"^# (.+)$", strip_front_matter(text), re.M)
    strong = re.match(r"(ADR-[0-9][0-9.]*[A-Za-z]?):\s*(.*)", heading[1].strip()) if heading else None
    in_name = re.match(r"(?i)adr-([0-9]+(?:\.[0-9]+)*[a-z]?)(?=[-.])", path.rsplit("/", 1)[-1])
    number = strong[1] if strong else ""
    if not strong and in_name and not said_elsewhere(repo, commit, f"ADR-{in_name[1]}"):
        number = f"ADR-{in_name[1]}"
    title = strong[2] if strong else heading[1] if heading else ""
    return {"number": number, "title": plain(title), "status": plain(status(text, header)), "path": path}


def records_at_tip(repo: Path) -> list[str]:
    """Return the paths in HEAD whose file names begin with ADR-, in order."""
    return [
        path
        for path in git(repo, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
        if "/ADR-" in f"/{path}" and path.rsplit("/", 1)[-1].startswith("ADR-")
    ]


@lru_cache
def commit_times(repo: Path) -> list[tuple[datetime, str]]:
    """Return (valid time, commit) along the first parents, oldest first: never earlier than the commit before."""
    times: list[tuple[datetime, str]] = []
    for line in git(repo, "log", "--first-parent", "--reverse", "--format=%ct %H").splitlines():
        seconds, commit = line.split()
        at = EPOCH + timedelta(seconds=int(seconds))
        if times:
            at = max(at, times[-1][0] + timedelta(microseconds=1))
        times.append((at, commit))
    return times


def commit_at(repo: Path, at: datetime) -> str | None:
    earlier = [commit for when, commit in commit_times(repo) if when <= at]
    return earlier[-1] if earlier else None


@lru_cache
def order(repo: Path) -> dict[str, int]:
    return {commit: n for n, (_, commit) in enumerate(commit_times(repo))}


@lru_cache
def path_changes(repo: Path, path_at_tip: str) -> list[tuple[int, str]]:
    """Return (index of commit, path from then on) of a record, oldest first."""
    log = git(repo, "log", "--first-parent", "--follow", "-M50%", "--name-status", "--format=@%H", "--", path_at_tip)
    changes: list[tuple[int, str]] = []
    commit = ""
    for line in log.splitlines():
        if line.startswith("@"):
            commit = line[1:]
        elif line:
            changes.append((order(repo)[commit], line.split("\t")[-1]))
    return sorted(changes)


def path_in(repo: Path, path_at_tip: str, commit: str) -> str | None:
    now = order(repo)[commit]
    paths = [path for index, path in path_changes(repo, path_at_tip) if index <= now]
    return paths[-1] if paths else None


def said_elsewhere(repo: Path, commit: str, number: str) -> bool:
    """Return whether some document of that commit says in its first heading that it is this number."""
    pattern = f"^# {number.replace('.', '[.]')}:"
    found = subprocess.run(["git", "-C", str(repo), "grep", "-q", "-E", pattern, commit, "--", "*.md"], check=False)
    return found.returncode == 0


def strip_front_matter(text: str) -> str:
    return re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)


def status(text: str, header: str) -> str:
    front = re.match(r"---\n(.*?)\n---\n", text, re.S)
    if front and (field := re.search(r"^status:[ \t]*(.+)$", front[1], re.M)):
        return field[1]
    if line := re.search(r"^\*\*Status:?\*\*:?[ \t]*(.+)$", header, re.M):
        return line[1]
    if line := re.search(r"^Status:[ \t]*(.+)$", header, re.M):
        return line[1]
    section = re.search(r"^## Status\s*\n+(.+)$", text, re.M)
    return section[1] if section else ""


def plain(text: str) -> str:
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\*\*|`|(?<!\w)_|_(?!\w)", "", text).strip().strip("\"'")


@lru_cache
def show(repo: Path, commit: str, path: str) -> str:
    return git(repo, "show", f"{commit}:{path}").replace("\r\n", "\n").lstrip("\ufeff")


def git(repo: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(repo), *arguments], check=True, capture_output=True)
    return done.stdout.decode()
