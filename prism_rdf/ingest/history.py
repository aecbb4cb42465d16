"""Where versions of files come from: the commits of a git repository, or a plain folder; no file is understood here.

A commit is told as what it changed against its first parent, so that a long history costs what it says and no more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pygit2
from pygit2.enums import DiffFind, FileMode, FileStatus, ObjectType

from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument, NotARepository, NotFoundError
from prism_rdf.ingest.identifiers import is_markdown
from prism_rdf.ingest.texts import MAX_BYTES, Unreadable, too_large

SHORT = 12  # fixed, so that a source reads the same in every clone
_RENAME_THRESHOLD, _RENAME_LIMIT = 50, 10_000

Progress = Callable[[int, int, str], None]
Wants = Callable[[str], bool]


@dataclass(frozen=True)
class Snapshot:
    """What one commit changed, of the files that are wanted: path to content id, None where the file is gone.

    ``modified`` dates the files of a plain folder; ``similar`` asks git what was renamed.
    """

    at: Instant
    changed: Mapping[str, str | None]
    commit: str = ""
    subject: str = ""
    sequence: int = 0
    modified: Mapping[str, Instant] = field(default_factory=dict)
    similar: Callable[[], list[tuple[str, str]]] = list


@dataclass(frozen=True)
class Damage:
    """What could not be read for a reason that lies outside of any document; ``commit`` may be empty."""

    path: str
    commit: str
    reason: str
    rule: str
    mend: str


class History(Protocol):
    """Snapshots, oldest first, from ``after`` (a commit and its valid time); those of no wanted file are left out.

    ``links`` are files that are symbolic links, and where they lead to; ``tip`` is the last commit.
    """

    origin: str
    identity: tuple[str, ...]
    folder: str
    tip: str
    notes: list[str]
    damage: list[Damage]
    links: dict[str, str]

    def snapshots(self, progress: Progress | None, after: tuple[str, Instant] | None = None) -> Iterator[Snapshot]: ...

    def line(self) -> Sequence[str]: ...

    def content(self, key: str) -> bytes:
        """Return the bytes of a content id; raise OSError when they cannot be had, Unreadable for too many."""


class GitHistory:
    """The first-parent history of one commit: what a merge brings counts at the merge.

    Valid time of a commit is its committer's time, and at least 1 µs after its first parent's valid time.
    ``folder`` limits which documents are wanted, not what is read: a document may have come from elsewhere.
    """

    def __init__(self, repository: pygit2.Repository, ref: str | None, folder: str, wants: Wants) -> None:
        self.repository, self.folder, self._wants = repository, folder, wants
        self.notes: list[str] = []
        self.damage: list[Damage] = []
        self.links: dict[str, str] = {}
        self._commits = self._first_parents(self._tip(ref))
        root = str(self._commits[0])
        self.tip = str(self._commits[-1])
        self.origin = f"git:{root[:SHORT]}"
        self.identity: tuple[str, ...] = (root,)
        if repository.is_shallow:
            self.notes.append(
                f"this is a shallow clone: history begins at {root[:SHORT]}, so its documents are not known as the same"
                " as those of the whole repository; `git fetch --unshallow` brings the rest"
            )
        if ref is None:
            self._tell_uncommitted()

    def snapshots(self, progress: Progress | None, after: tuple[str, Instant] | None = None) -> Iterator[Snapshot]:
        at: Instant | None = None
        parent: pygit2.Commit | None = None
        total, begin = len(self._commits), 0
        if after is not None:
            before = self.repository[after[0]]
            assert isinstance(before, pygit2.Commit)
            begin, parent, at = self._commits.index(before.id) + 1, before, after[1]
        for sequence, name in enumerate(self._commits[begin:], begin):
            commit = self.repository[name]
            assert isinstance(commit, pygit2.Commit)
            said = Instant(commit.commit_time * 1_000_000)
            at = said if at is None else max(said, at.plus(micros=1))
            subject = _subject(commit)
            changed = self._changed(parent, commit)
            if changed:
                similar = _Similar(self.repository, parent, commit)
                yield Snapshot(at, changed, str(name), subject, sequence, similar=similar)
            if changed is not None:
                parent = commit
            if progress is not None:
                progress(sequence + 1, total, subject)

    def content(self, key: str) -> bytes:
        try:
            _, size = self.repository.odb.read_header(key)
            if size > MAX_BYTES:
                raise too_large(size)
            blob = self.repository[key]
        except (KeyError, pygit2.GitError) as error:
            raise OSError(f"its content {key[:SHORT]} is not in this clone, or is damaged") from error
        assert isinstance(blob, pygit2.Blob)
        return blob.data

    def line(self) -> Sequence[str]:
        """Return the full names of all commits that are read, the oldest first."""
        return [str(name) for name in self._commits]

    def _changed(self, parent: pygit2.Commit | None, commit: pygit2.Commit) -> dict[str, str | None] | None:
        """Return what a commit changed; None when its tree cannot be read: the next one then says it all."""
        try:
            tree = commit.tree
            diff = tree.diff_to_tree(swap=True) if parent is None else parent.tree.diff_to_tree(tree)
        except (KeyError, pygit2.GitError) as error:
            self.damage.append(
                Damage(
                    "",
                    str(commit.id),
                    f"the tree of the commit cannot be read: {error}",
                    "each commit has a tree",
                    "clone the repository again, or run git fsck to see what is broken",
                )
            )
            return None
        changed: dict[str, str | None] = {}
        for delta in diff.deltas:
            path = self._name(delta.new_file, str(commit.id))
            if path is None or not self._wants(path):
                continue
            mode = delta.new_file.mode
            if mode == FileMode.LINK:
                self.links[path] = self._aim(str(delta.new_file.id))
            is_file = delta.status_char() != "D" and mode in (FileMode.BLOB, FileMode.BLOB_EXECUTABLE)
            changed[path] = str(delta.new_file.id) if is_file else None
        return changed

    def _aim(self, key: str) -> str:
        try:
            return self.content(key).decode(errors="replace")
        except (OSError, Unreadable):
            return "?"

    def _name(self, file: pygit2.DiffFile, commit: str) -> str | None:
        raw: bytes = file.raw_path
        try:
            return raw.decode()
        except UnicodeDecodeError:
            shown = raw.decode(errors="replace")
            if self._wants(shown):
                self.damage.append(Damage(shown, commit, "its name is not UTF-8", "paths are UTF-8", "rename the file"))
            return None

    def _tell_uncommitted(self) -> None:
        if self.repository.is_bare:
            return
        try:
            status = self.repository.status(untracked_files="all")
        except (pygit2.GitError, UnicodeDecodeError, ValueError):
            return
        left_out = FileStatus.IGNORED | FileStatus.WT_DELETED | FileStatus.INDEX_DELETED  # gone: not checked out
        changed = (path for path, flag in status.items() if flag and not flag & left_out)
        open_ = sorted(path for path in changed if path.startswith(self.folder) and self._wants(path))
        if open_:
            some = ", ".join(open_[:3]) + (", …" if len(open_) > 3 else "")
            self.notes.append(f"{len(open_)} changed files are not committed, and so are not read: {some}")

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

    def _first_parents(self, tip: pygit2.Commit) -> list[pygit2.Oid]:
        """Return the first-parent line as far as there are commits, the oldest first."""
        names = [tip.id]
        commit = tip
        while commit.parent_ids:
            try:
                parent = self.repository[commit.parent_ids[0]]
            except (KeyError, pygit2.GitError) as error:
                if not self.repository.is_shallow:
                    self.damage.append(
                        Damage(
                            "",
                            str(commit.parent_ids[0]),
                            f"the commit cannot be read, nor what came before it: {error}",
                            "history is read from the first commit on",
                            "clone the repository again, or run git fsck to see what is broken",
                        )
                    )
                break
            assert isinstance(parent, pygit2.Commit)
            names.append(parent.id)
            commit = parent
        return names[::-1]


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
    tip = ""

    def __init__(self, root: Path, wants: Wants) -> None:
        self.root, self._wants = root, wants
        self.notes: list[str] = []
        self.damage: list[Damage] = []
        self.links: dict[str, str] = {}

    def snapshots(self, progress: Progress | None, after: tuple[str, Instant] | None = None) -> Iterator[Snapshot]:
        files: dict[str, str | None] = {}
        modified: dict[str, Instant] = {}
        for path in files_below(self.root):
            relative = path.relative_to(self.root).as_posix()
            shown = relative.encode(errors="replace").decode()
            if not self._wants(shown):
                continue
            if shown != relative:
                self.damage.append(Damage(shown, "", "its name is not UTF-8", "paths are UTF-8", "rename the file"))
            elif path.is_symlink():
                self.links[relative] = f"{os.readlink(path)}{'' if path.exists() else ', which is not there'}"
            elif path.is_file():
                files[relative] = relative
                modified[relative] = Instant(path.stat().st_mtime_ns // 1000)
        if files:
            yield Snapshot(max(modified.values()), files, modified=modified)
        if progress is not None:
            progress(len(files), len(files), self.root.name)

    def content(self, key: str) -> bytes:
        path = self.root / key
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise too_large(size)
        return path.read_bytes()

    def line(self) -> Sequence[str]:
        return ()


def files_below(root: Path) -> Iterator[Path]:
    """Yield the files below a folder in order, symbolic links and pipes too; hidden folders are left out."""
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith(".") and name != "node_modules")
        for name in sorted(files):
            yield Path(folder, name)


def markdown_files(root: Path) -> Iterator[Path]:
    """Yield the markdown files below a folder in order, without hidden folders, symbolic links and pipes."""
    for path in files_below(root):
        if is_markdown(path.name) and path.is_file() and not path.is_symlink():
            yield path


def open_history(path: Path, ref: str | None, wants: Wants) -> History:
    """Return the history behind a path: its repository's, a folder of it, or the plain folder's.

    ``wants(path)`` says which files may be documents. Raises NotFoundError, NotARepository, BadArgument.
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
        return FolderHistory(path, wants)
    work_tree = Path(repository.workdir).resolve() if repository.workdir else path.resolve()
    below = path.resolve().relative_to(work_tree).as_posix() if path.resolve().is_relative_to(work_tree) else "."
    folder = "" if below == "." else f"{below}/"
    if folder and ref is None and not _tracked(repository, folder):
        plain = FolderHistory(path, wants)
        plain.notes.append("no file of this folder is in the last commit of its repository; read as a plain folder")
        return plain
    return GitHistory(repository, ref, folder, wants)


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
