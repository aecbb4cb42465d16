"""How documents are numbered and named, in file names and in text; what a document says is read elsewhere."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath

MARKDOWN = (".md", ".markdown")

# The series of documents that a project numbers, and the type of what bears such a number.
SERIES = {
    "ADR": "ADR",
    "SPEC": "SPEC",
    "PLAN": "Plan",
    "TODO": "TODO",
    "DELTA": "Delta",
    "JOURNAL": "Journal",
    "RETRO": "Retro",
}

_DIGITS = r"\d+(?:\.\d+)*[A-Za-z]?"
_ANY_SERIES = "|".join(SERIES)
_IN_FILE_NAME = re.compile(rf"({_ANY_SERIES})[-_ ]?({_DIGITS})(?![A-Za-z0-9])", re.IGNORECASE)
_BARE_FILE_NAME = re.compile(r"(\d{1,5})[-_ ]")
_DATED_FILE_NAME = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?!\d)")
_SERIES_OF_FOLDER = {
    **dict.fromkeys(
        ("adr", "adrs", "decision", "decisions", "decision-records", "architecture-decisions"),
        "ADR",
    ),
    **dict.fromkeys(("spec", "specs", "specifications"), "SPEC"),
    **dict.fromkeys(("plan", "plans"), "PLAN"),
    **dict.fromkeys(("todo", "todos"), "TODO"),
    **dict.fromkeys(("delta", "deltas"), "DELTA"),
    **dict.fromkeys(("journal", "journals"), "JOURNAL"),
    **dict.fromkeys(("retro", "retros", "retrospectives"), "RETRO"),
}
_IN_HEADING = re.compile(rf"({_ANY_SERIES})(?:[-\s]?#?)({_DIGITS})(?:\s*:|\s+[-–—](?=\s))\s*(.*)", re.IGNORECASE)
_COUNTED_HEADING = re.compile(r"(\d+)\.\s+(.+)")
# A series whose name is also a word needs a hyphen or # before the number: nobody means a document by "Plan 2 is".
_IN_TEXT = re.compile(
    r"(?<![A-Za-z0-9])"
    r"(?:(ADR|SPEC)[-\u2010\u2011 ]?|(PLAN|Plan|TODO|DELTA|Delta|JOURNAL|Journal|RETRO|Retro)(?:[-\u2010\u2011]| ?#))"
    rf"({_DIGITS})(?![A-Za-z0-9])"
)
_ALONE = re.compile(rf"(?:({_ANY_SERIES})[-\s]?#?)?({_DIGITS})", re.IGNORECASE)
_LEADING_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
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

    A bare number counts with a leading zero, in a folder named for a series, or when the file ``decides`` something,
    that is, has a status; a date is no number.

    >>> in_file_name("docs/adr-0007-use-postgres.md"), in_file_name("x/0012-title.md"), in_file_name("ADR-304.1-a.md")
    ('ADR-0007', 'ADR-0012', 'ADR-304.1')
    >>> in_file_name("retros/005-plan-6.md"), in_file_name("spec-020.md")
    ('RETRO-005', 'SPEC-020')
    """
    name = PurePosixPath(path)
    if match := _IN_FILE_NAME.match(name.stem):
        return f"{match[1].upper()}-{match[2]}"
    bare = _BARE_FILE_NAME.match(name.stem)
    if bare is None or _DATED_FILE_NAME.match(name.stem):
        return ""
    series = _SERIES_OF_FOLDER.get(name.parent.name.lower(), "")
    padded = bare[1].startswith("0") and len(bare[1]) >= 3
    return f"{series or 'ADR'}-{bare[1]}" if padded or decides or series else ""


def series_of(identifier: str) -> str:
    """Return the series of an identifier, in capitals; empty when it belongs to none that is known.

    >>> series_of("ADR-7"), series_of("PEP 8")
    ('ADR', '')
    """
    prefix = identifier.partition("-")[0].upper()
    return prefix if prefix in SERIES else ""


def split_heading(heading: str) -> tuple[str, str]:
    """Return (identifier, title) of a first heading; the identifier is empty unless it has the form ``ADR-n: Title``.

    >>> split_heading("ADR-076B: Baseline"), split_heading("ADR-068 Plan"), split_heading("7. Use Postgres")
    (('ADR-076B', 'Baseline'), ('', 'ADR-068 Plan'), ('', 'Use Postgres'))
    >>> split_heading("Plan #6: Six waves")
    ('PLAN-6', 'Six waves')
    """
    if match := _IN_HEADING.fullmatch(heading):
        return f"{match[1].upper()}-{match[2]}", match[3].strip()
    if match := _COUNTED_HEADING.fullmatch(heading):
        return "", match[2].strip()
    return "", heading


def counted_heading(heading: str) -> str:
    """Return the identifier of a heading such as ``7. Use Postgres``; empty for any other."""
    match = _COUNTED_HEADING.fullmatch(heading)
    return f"ADR-{match[1]}" if match else ""


def in_text(text: str) -> list[tuple[int, str]]:
    """Return (offset, identifier) of each numbered document that a text names.

    >>> in_text("As ADR-304.1 and ADR-12. ADR-0XX is none.")
    [(3, 'ADR-304.1'), (17, 'ADR-12')]
    >>> in_text("After Plan #6, not plan 7.")
    [(6, 'PLAN-6')]
    """
    return [(m.start(), f"{(m[1] or m[2]).upper()}-{m[3]}") for m in _IN_TEXT.finditer(text)]


def spans_in_text(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, identifier) of each numbered document that a text names.

    >>> spans_in_text("As ADR-304.1.")
    [(3, 12, 'ADR-304.1')]
    """
    return [(m.start(), m.end(), f"{(m[1] or m[2]).upper()}-{m[3]}") for m in _IN_TEXT.finditer(text)]


def alone(text: str) -> str:
    """Return the identifier that a field holds; a bare number is a decision's; empty when it holds anything else."""
    match = _ALONE.fullmatch(text.strip())
    return f"{(match[1] or 'ADR').upper()}-{match[2]}" if match else ""


@lru_cache(maxsize=65_536)
def exact_key(identifier: str) -> str:
    """Return the form under which identifiers are the same: letters do not count by their case."""
    return identifier.upper()


@lru_cache(maxsize=65_536)
def loose_key(identifier: str) -> str:
    """Return the form under which ADR-7 finds ADR-0007, where no ADR-7 exists.

    >>> loose_key("ADR-0007"), loose_key("adr-000"), loose_key("PEP 0304.05")
    ('ADR-7', 'ADR-0', 'PEP 304.05')
    """
    return _LEADING_ZEROS.sub("", identifier.upper(), count=1)
