"""How decision records are numbered and named, in file names and in text; what a document says is read elsewhere."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath

MARKDOWN = (".md", ".markdown")

_DIGITS = r"\d+(?:\.\d+)*[A-Za-z]?"
_IN_FILE_NAME = re.compile(rf"adr[-_ ]?({_DIGITS})(?![A-Za-z0-9])", re.IGNORECASE)
_BARE_FILE_NAME = re.compile(r"(\d{1,5})[-_ ]")
_DATED_FILE_NAME = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?!\d)")
_DECISION_FOLDERS = frozenset({"adr", "adrs", "decision", "decisions", "decision-records", "architecture-decisions"})
_IN_HEADING = re.compile(rf"ADR[-\s]?({_DIGITS})(?:\s*:|\s+[-–—](?=\s))\s*(.*)", re.IGNORECASE)
_COUNTED_HEADING = re.compile(r"(\d+)\.\s+(.+)")
_IN_TEXT = re.compile(rf"(?<![A-Za-z0-9])ADR[-\u2010\u2011 ]?({_DIGITS})(?![A-Za-z0-9])")
_ALONE = re.compile(rf"(?:ADR[-\s]?)?({_DIGITS})", re.IGNORECASE)
_NOT_A_RECORD = (
    (re.compile(r"readme"), "a README is not a decision"),
    (re.compile(r"(?:adr[-_ ]?)?(?:0+[-_ ])?template(?![a-z])"), "a template is not a decision"),
    (re.compile(r"(?:adr[-_ ]?)?(?:index|toc)$"), "an index is not a decision"),
)


def is_markdown(path: str) -> bool:
    return path.lower().endswith(MARKDOWN)


def not_a_record(path: str) -> str:
    """Return why a file of this name is no decision record whatever it holds; empty when it may be one.

    >>> not_a_record("docs/adr/README_VISUALIZATIONS.md")
    'a README is not a decision'
    >>> not_a_record("docs/adr/ADR-012-template-engine.md")
    ''
    """
    stem = PurePosixPath(path).stem.lower()
    return next((why for form, why in _NOT_A_RECORD if form.match(stem)), "")


@lru_cache(maxsize=4096)
def in_file_name(path: str, *, decides: bool = False) -> str:
    """Return the identifier that a file name carries, digits as written; empty when it carries none.

    A bare number counts with a leading zero, in a folder named for decisions, or when the file ``decides`` something,
    that is, has a status; a date is no number.

    >>> in_file_name("docs/adr-0007-use-postgres.md"), in_file_name("x/0012-title.md"), in_file_name("ADR-304.1-a.md")
    ('ADR-0007', 'ADR-0012', 'ADR-304.1')
    """
    name = PurePosixPath(path)
    if match := _IN_FILE_NAME.match(name.stem):
        return f"ADR-{match[1]}"
    bare = _BARE_FILE_NAME.match(name.stem)
    if bare is None or _DATED_FILE_NAME.match(name.stem):
        return ""
    padded = bare[1].startswith("0") and len(bare[1]) >= 3
    return f"ADR-{bare[1]}" if padded or decides or name.parent.name.lower() in _DECISION_FOLDERS else ""


def split_heading(heading: str) -> tuple[str, str]:
    """Return (identifier, title) of a first heading; the identifier is empty unless it has the form ``ADR-n: Title``.

    >>> split_heading("ADR-076B: Baseline"), split_heading("ADR-068 Plan"), split_heading("7. Use Postgres")
    (('ADR-076B', 'Baseline'), ('', 'ADR-068 Plan'), ('', 'Use Postgres'))
    """
    if match := _IN_HEADING.fullmatch(heading):
        return f"ADR-{match[1]}", match[2].strip()
    if match := _COUNTED_HEADING.fullmatch(heading):
        return "", match[2].strip()
    return "", heading


def counted_heading(heading: str) -> str:
    """Return the identifier of a heading such as ``7. Use Postgres``; empty for any other."""
    match = _COUNTED_HEADING.fullmatch(heading)
    return f"ADR-{match[1]}" if match else ""


def in_text(text: str) -> list[tuple[int, str]]:
    """Return (offset, identifier) of each record that a text names.

    >>> in_text("As ADR-304.1 and ADR-12. ADR-0XX is none.")
    [(3, 'ADR-304.1'), (17, 'ADR-12')]
    """
    return [(match.start(), f"ADR-{match[1]}") for match in _IN_TEXT.finditer(text)]


def alone(text: str) -> str:
    """Return the identifier that a field holds, with or without ``ADR-``; empty when it holds anything else."""
    match = _ALONE.fullmatch(text.strip())
    return f"ADR-{match[1]}" if match else ""


def exact_key(identifier: str) -> str:
    """Return the form under which identifiers are the same: letters do not count by their case."""
    return identifier.upper()


def loose_key(identifier: str) -> str:
    """Return the form under which ADR-7 finds ADR-0007, where no ADR-7 exists."""
    return f"ADR-{identifier[4:].lstrip('0') or '0'}".upper()
