"""Where versions of files come from: the commits of a git repository, or a plain folder; no file is understood here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pygit2
from pygit2.enums import DiffFind, FileMode, ObjectType

from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument, NotARepository, NotFoundError
from prism_rdf.ingest.identifiers import is_markdown

SHORT = 12  # fixed, so that a source reads the same in every clone
_RENAME_THRESHOLD, _RENAME_LIMIT = 50, 10_000

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Snapshot:
    """All markdown files at one moment: path to content id. ``modified`` dates the files of a plain folder."""

    at: Instant
    files: Mapping[str, str]
    commit: str = ""
    subject: str = ""
    sequence: int = 0
    modified: Mapping[str, Instant] = field(default_factory=dict)
    similar: Callable[[], list[tuple[str, str]]] = list


class History(Protocol):
    """Snapshots, oldest first; those that change no markdown file are left out."""

    origin: str
    identity: tuple[str, ...]
    folder: str
    notes: list[str]
    unreadable: dict[str, str]

    def snapshots(self, progress: Progress | None) -> Iterator[Snapshot]: ...

    def content(self, key: str) -> bytes:
        """Return the bytes of a content id; raise OSError when they cannot be had."""


class GitHistory:
    """The first-parent history of one commit.

    Valid time of a commit is its committer's time, and at least 1 µs after its first parent's valid time.
    ``folder`` limits which documents are wanted, not what is read: a document may have come from elsewhere.
    """

    def __init__(self, repository: pygit2.Repository, ref: str | None, folder: str = "") -> None:
        self.repository, self.folder = repository, folder
        self.notes: list[str] = []
        self.unreadable: dict[str, str] = {}
        self._trees: dict[pygit2.Oid, dict[str, str]] = {}
        self._commits = self._first_parents(self._tip(ref))
        root = str(self._commits[0].id)
        self.origin = f"git:{root[:SHORT]}"
        self.identity: tuple[str, ...] = (root,)
        if repository.is_shallow:
            self.notes.append(
                f"this is a shallow clone: history begins at {root[:SHORT]}, so its documents are not known as the same"
                " as those of the whole repository; `git fetch --unshallow` brings the rest"
            )

    def snapshots(self, progress: Progress | None) -> Iterator[Snapshot]:
        before: dict[str, str] = {}
        at: Instant | None = None
        parent: pygit2.Commit | None = None
        total = len(self._commits)
        for sequence, commit in enumerate(self._commits):
            said = Instant(commit.commit_time * 1_000_000)
            at = said if at is None else max(said, at.plus(micros=1))
            files = self._files(commit.tree)
            subject = _subject(commit)
            if files != before:
                yield Snapshot(
                    at, files, str(commit.id), subject, sequence, similar=_Similar(self.repository, parent, commit)
                )
            before, parent = files, commit
            if progress is not None:
                progress(sequence + 1, total, subject)

    def content(self, key: str) -> bytes:
        try:
            blob = self.repository[key]
        except (KeyError, pygit2.GitError) as error:
            raise OSError(f"its content {key[:SHORT]} is not in this clone") from error
        assert isinstance(blob, pygit2.Blob)
        return blob.data

    def _tip(self, ref: str | None) -> pygit2.Commit:
        if ref is not None:
            return self._named(ref)
        if not self.repository.head_is_unborn:
            return self.repository.head.peel(pygit2.Commit)
        branches = _branches(self.repository)
        tips = {self.repository.branches[name].peel(pygit2.Commit).id for name in branches}
        if not tips:
            raise NotFoundError(
                f"the repository {self.repository.path} has no commit",
                rule="documents are read from commits",
                mend="commit the documents first, or give a folder outside of the repository",
            )
        if len(tips) > 1:
            raise BadArgument(
                f"the repository {self.repository.path} has no checked-out branch, and several others: "
                + ", ".join(branches),
                rule="one branch is read",
                mend=f"name one with --ref, such as --ref {branches[0]}",
            )
        self.notes.append(f"no branch is checked out; read the only one there is, {branches[0]}")
        return self.repository.branches[branches[0]].peel(pygit2.Commit)

    def _named(self, ref: str) -> pygit2.Commit:
        try:
            return self.repository.revparse_single(ref).peel(pygit2.Commit)
        except (KeyError, ValueError, pygit2.GitError) as error:
            raise NotFoundError(
                f"the repository {self.repository.path} has no commit {ref!r}",
                rule="a ref is a branch, a tag or a commit",
                mend="give one of: " + (", ".join(_branches(self.repository)) or "a commit's full hash"),
            ) from error

    def _first_parents(self, tip: pygit2.Commit) -> list[pygit2.Commit]:
        commits = [tip]
        while commits[-1].parent_ids:
            parent = self.repository.get(commits[-1].parent_ids[0])
            if not isinstance(parent, pygit2.Commit):
                break
            commits.append(parent)
        return commits[::-1]

    def _files(self, tree: pygit2.Tree) -> dict[str, str]:
        """Return the markdown files of a tree; an unchanged folder is read once."""
        known = self._trees.get(tree.id)
        if known is not None:
            return known
        found: dict[str, str] = {}
        for entry in tree:
            name = self._name(entry)
            if name is None:
                continue
            if entry.type == ObjectType.TREE:
                inner = self._files(entry)  # type: ignore[arg-type]
                found.update({f"{name}/{path}": key for path, key in inner.items()})
            elif entry.type == ObjectType.BLOB and entry.filemode != FileMode.LINK and is_markdown(name):
                found[name] = str(entry.id)
        self._trees[tree.id] = found
        return found

    def _name(self, entry: pygit2.Object) -> str | None:
        raw: bytes = entry.raw_name or b""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            shown = raw.decode(errors="replace")
            if is_markdown(shown):
                self.unreadable[shown] = "its name is not UTF-8"
            return None


@dataclass(frozen=True)
class _Similar:
    """Asks git which files of a commit were renamed, only when somebody wants to know."""

    repository: pygit2.Repository
    parent: pygit2.Commit | None
    commit: pygit2.Commit

    def __call__(self) -> list[tuple[str, str]]:
        if self.parent is None:
            return []
        diff = self.repository.diff(self.parent, self.commit)
        assert isinstance(diff, pygit2.Diff)
        diff.find_similar(DiffFind.FIND_RENAMES, rename_threshold=_RENAME_THRESHOLD, rename_limit=_RENAME_LIMIT)
        return sorted((delta.old_file.path, delta.new_file.path) for delta in diff.deltas if delta.status_char() == "R")


class FolderHistory:
    """A folder without history: one snapshot, and one version of each file."""

    origin = "file"
    identity: tuple[str, ...] = ()
    folder = ""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.notes: list[str] = []
        self.unreadable: dict[str, str] = {}

    def snapshots(self, progress: Progress | None) -> Iterator[Snapshot]:
        files: dict[str, str] = {}
        modified: dict[str, Instant] = {}
        for path in markdown_files(self.root):
            relative = path.relative_to(self.root).as_posix()
            if not relative.isascii() and not _encodable(relative):
                self.unreadable[relative.encode(errors="replace").decode()] = "its name is not UTF-8"
                continue
            files[relative] = relative
            modified[relative] = Instant(path.stat().st_mtime_ns // 1000)
        if files:
            yield Snapshot(max(modified.values()), files, modified=modified)
        if progress is not None:
            progress(len(files), len(files), self.root.name)

    def content(self, key: str) -> bytes:
        return (self.root / key).read_bytes()


def markdown_files(root: Path) -> Iterator[Path]:
    """Yield the markdown files below a folder in order, without hidden folders, symbolic links and pipes."""
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith(".") and name != "node_modules")
        for name in sorted(files):
            path = Path(folder, name)
            if is_markdown(name) and path.is_file() and not path.is_symlink():
                yield path


def open_history(path: Path, ref: str | None) -> History:
    """Return the history behind a path: its repository's, a folder of it, or the plain folder's.

    Raises NotFoundError, NotARepository, BadArgument.
    """
    if not path.is_dir():
        raise _no_folder(path)
    repository = _repository(path)
    if repository is None:
        if ref is not None:
            raise NotARepository(
                f"{path} is not in a git repository",
                rule="a ref names a commit of a repository",
                mend="leave the ref out to read the plain folder",
            )
        return FolderHistory(path)
    work_tree = Path(repository.workdir).resolve() if repository.workdir else path.resolve()
    below = path.resolve().relative_to(work_tree).as_posix() if path.resolve().is_relative_to(work_tree) else "."
    folder = "" if below == "." else f"{below}/"
    if folder and ref is None and not _tracked(repository, folder):
        plain = FolderHistory(path)
        plain.notes.append("no file of this folder is in the last commit of its repository; read as a plain folder")
        return plain
    return GitHistory(repository, ref, folder)


def _no_folder(path: Path) -> NotFoundError:
    if not path.exists():
        return NotFoundError(f"there is no {path}", rule="a folder or a git repository is read", mend="check the path")
    mend = f"clone it first: git clone {path.name}" if path.suffix == ".bundle" else "give the folder that it lies in"
    return NotFoundError(f"{path} is not a folder", rule="a folder or a git repository is read", mend=mend)


def _repository(path: Path) -> pygit2.Repository | None:
    try:
        found = str(path) if (path / ".git").exists() else pygit2.discover_repository(str(path))
        return None if found is None else pygit2.Repository(found)
    except pygit2.GitError as error:
        raise _broken(path, str(error)) from error


def _broken(path: Path, reason: str) -> NotARepository:
    return NotARepository(
        f"{path} is not a git repository that can be read: {reason}",
        rule="the .git of a repository holds HEAD, objects and refs, and belongs to the user who reads it",
        mend="clone it again, or take .git away to read the plain folder; for another user's repository,"
        " git config --global --add safe.directory PATH",
    )


def _tracked(repository: pygit2.Repository, folder: str) -> bool:
    if repository.head_is_unborn:
        return False
    try:
        tree = repository.head.peel(pygit2.Commit).tree[folder.rstrip("/")]
    except KeyError:
        return False
    return tree.type == ObjectType.TREE


def _branches(repository: pygit2.Repository) -> list[str]:
    return sorted(name for name in repository.branches if not name.endswith("/HEAD"))


def _subject(commit: pygit2.Commit) -> str:
    lines = commit.raw_message.decode(errors="replace").strip().splitlines()
    return lines[0].strip() if lines else ""


def _encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
