"""The fields at the top of a text: RFC 822 headers and reST field lists; what a field means is said by a mapping."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEADER = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]*)(.*)")
_FIELD = re.compile(r":([^:\n]+):(?:[ \t]+(.*))?")


@dataclass(frozen=True)
class Fields:
    """What stands at the top: (name, value, line from 1) in order; where the body begins; lines that are no field."""

    fields: tuple[tuple[str, str, int], ...] = ()
    body: int = 0
    odd: tuple[tuple[int, str], ...] = ()

    def text(self, name: str) -> str:
        """Return the value of the first field of this name, whatever the case of its letters; empty for none."""
        return next((value for known, value, _ in self.fields if known.lower() == name.lower()), "")


def rfc822(text: str) -> Fields:
    """Read ``Name: value`` lines up to the first blank one; a line that begins with a blank goes on with the last.

    >>> found = rfc822("PEP: 8\\nTitle:\\tStyle\\n  Guide\\n\\nBody")
    >>> found.fields, "PEP: 8\\nTitle:\\tStyle\\n  Guide\\n\\nBody"[found.body :]
    ((('PEP', '8', 1), ('Title', 'Style Guide', 2)), 'Body')
    """
    start = len(text) - len(text.lstrip("\n"))
    skipped = text.count("\n", 0, start)
    end = re.compile(r"\n[ \t]*\n").search(text, start)
    head = text[start : end.start() if end else len(text)]
    found: list[tuple[str, list[str], int]] = []
    odd: list[tuple[int, str]] = []
    for number, line in enumerate(head.split("\n"), start=skipped + 1):
        match = _HEADER.fullmatch(line)
        if match:
            found.append((match[1], [match[2].strip()], number))
        elif line[:1] in " \t" and found:
            found[-1][1].append(line.strip())
        elif line.strip():
            odd.append((number, line.strip()))
    if not found:
        return Fields(body=0)
    return Fields(_joined(found), end.end() if end else len(text), tuple(odd))


def field_list(text: str, begin: int) -> Fields:
    """Read the ``:Name: value`` lines at ``begin`` of a reST text; no fields when something else stands there.

    >>> field_list("\\n:Status: Draft\\n:Related: ADR-1,\\n   ADR-2\\n\\nText", 0).fields
    (('Status', 'Draft', 2), ('Related', 'ADR-1, ADR-2', 3))
    """
    rest = text[begin:]
    at = begin + len(rest) - len(rest.lstrip("\n"))
    number = text.count("\n", 0, at) + 1
    found: list[tuple[str, list[str], int]] = []
    for line in text[at:].split("\n"):
        match = _FIELD.fullmatch(line)
        if match:
            found.append((match[1].strip(), [(match[2] or "").strip()], number))
        elif not found or line[:1] not in (" ", "\t") or not line.strip():
            break
        else:
            found[-1][1].append(line.strip())
        at += len(line) + 1
        number += 1
    return Fields(_joined(found), min(at, len(text)) if found else begin)


def _joined(found: list[tuple[str, list[str], int]]) -> tuple[tuple[str, str, int], ...]:
    return tuple((name, " ".join(part for part in parts if part), line) for name, parts, line in found)
