"""Findings about decision records as they lie in a folder, for `prism validate`; nothing is read from history here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from prism_rdf.ingest.blocks import BlockReader
from prism_rdf.ingest.documents import Finding, parse
from prism_rdf.ingest.history import markdown_files
from prism_rdf.ingest.identifiers import in_file_name, not_a_record
from prism_rdf.ingest.kinds import is_record
from prism_rdf.ingest.texts import Unreadable


def check_document(path: str, data: bytes) -> tuple[Finding, ...]:
    """Return what is wrong with a decision record, by line; nothing for a file that is none.

    Findings: no title, no status, front matter that cannot be read, an identifier in no known form, no text in UTF-8.

    >>> [(found.line, found.message) for found in check_document("ADR-1.md", b"# ADR-1: Use Oxigraph\\n")]
    [(1, 'no status')]
    """
    if not_a_record(path):
        return ()
    try:
        document = parse(data, BlockReader())
    except Unreadable as error:
        if not in_file_name(path):
            return ()
        return (Finding(path, max(error.line, 1), error.reason, error.rule, error.mend),)
    if not is_record(document, path):
        return ()
    return tuple(replace(finding, path=path) for finding in document.findings)


def check_folder(root: Path) -> tuple[Finding, ...]:
    """Return the findings about all decision records below a folder, in the order of their paths from there."""
    found: list[Finding] = []
    for path in markdown_files(root):
        name = path.relative_to(root).as_posix()
        try:
            found += check_document(name, path.read_bytes())
        except OSError as error:
            reason = f"the file cannot be read: {error.strerror or error}"
            found.append(Finding(name, 1, reason, "a document can be read", "mend its permissions"))
    return tuple(found)
