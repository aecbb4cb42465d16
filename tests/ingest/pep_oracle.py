"""What every Python Enhancement Proposal said of itself at any time, found out with the git command and nothing else.

Shares no code with the reader that it is there to check. A document is a file number: pep-0484.txt, pep-0484.rst and
peps/pep-0484.rst are one. Valid time is the committer's, and at least 1 µs after that of the first parent.
"""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

FILE = re.compile(r"(?:peps/)?pep-0*(\d+)\.(?:txt|rst)")
SINGLE = {"title": "title", "status": "status", "type": "category"}
LISTS = {"replaces": "replaces", "superseded-by": "replacedBy", "replaced-by": "replacedBy", "requires": "requires"}


@dataclass(frozen=True)
class Header:
    """A header as it was written: the first of each name; lists are cut at commas."""

    single: dict[str, str]
    lists: dict[str, tuple[str, ...]]

    def numbers(self, name: str) -> frozenset[str]:
        return frozenset(str(int(n)) for part in self.lists.get(name, ()) for n in re.findall(r"\d+", part))


@dataclass
class Line:
    """The versions of one document: (valid time in µs, path, header), the header None where there is no file."""

    versions: list[tuple[int, str, Header | None]] = field(default_factory=list)

    def at(self, micros: int) -> tuple[str, Header | None]:
        index = bisect_right(self.versions, micros, key=lambda version: version[0])
        return self.versions[index - 1][1:] if index else ("", None)


def read(repo: Path, ref: str = "HEAD") -> dict[str, Line]:
    """Return the line of each document by its number, along the first parents of ``ref``."""
    log = git(repo, "log", "--first-parent", "--reverse", "--raw", "--no-renames", "--no-abbrev", "-m",
              "--format=@%ct %H", "--root", ref).decode(errors="replace")  # fmt: skip
    contents = Contents(repo)
    lines: defaultdict[str, Line] = defaultdict(Line)
    files: defaultdict[str, dict[str, str]] = defaultdict(dict)
    micros, changed = -(10**18), dict[str, None]()

    def settle() -> None:
        for number in changed:
            held = sorted(files[number].items())
            path, blob = held[-1] if held else ("", "")
            header = header_of(contents.of(blob)) if blob else None
            last = lines[number].versions[-1] if lines[number].versions else None
            if last is None or last[1:] != (path, header):
                lines[number].versions.append((micros, path, header))
        changed.clear()

    for line in log.splitlines():
        if line.startswith("@"):
            settle()
            micros = max(int(line[1:].split()[0]) * 1_000_000, micros + 1)
        elif line.startswith(":"):
            meta, path = line.split("\t", 1)
            match = FILE.fullmatch(path)
            if match:
                number, (_, _, _, blob, status) = str(int(match[1])), meta.split()
                changed[number] = None
                files[number].pop(path, None)
                if status != "D":
                    files[number][path] = blob
    settle()
    contents.close()
    return dict(lines)


def header_of(data: bytes) -> Header:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    head = re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\n"), maxsplit=1)[0]
    head = re.sub(r"\n[ \t]+", " ", head)
    single: dict[str, str] = {}
    lists: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in re.findall(r"^([A-Za-z][\w-]*)[ \t]*:(.*)$", head, re.M):
        value = " ".join(value.split()) if name.lower() in LISTS else value.strip()
        if name.lower() in SINGLE and value:
            single.setdefault(SINGLE[name.lower()], value)
        elif name.lower() in LISTS:
            lists[LISTS[name.lower()]] += [part.strip() for part in value.split(",") if part.strip()]
    return Header(single, {name: tuple(dict.fromkeys(parts)) for name, parts in lists.items()})


class Contents:
    """Blobs from one ``git cat-file --batch``."""

    def __init__(self, repo: Path) -> None:
        command = ["git", "-C", str(repo), "cat-file", "--batch"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def of(self, blob: str) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{blob}\n".encode())
        self._process.stdin.flush()
        size = int(self._process.stdout.readline().split()[2])
        data = self._process.stdout.read(size)
        self._process.stdout.read(1)
        return data

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def git(repo: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(repo), *arguments], check=True, capture_output=True).stdout
