"""The commands that look for faults: check the store, validate files before they are written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from prism_rdf.cli.options import Common, command
from prism_rdf.cli.terminal import print_json, print_table
from prism_rdf.errors import BadArgument, NotFoundError

FINDINGS = 8

_DOCUMENTS = (".md", ".markdown")
_IN_FOLDERS = (".ttl", ".trig", ".nq", ".nt", ".jsonld", *_DOCUMENTS)


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    command(
        app,
        "check",
        """
        prism check
        prism check --pid demo --json | jq length
        """,
    )(check)
    command(
        app,
        "validate",
        """
        prism validate docs/decisions
        prism validate team.ttl history.trig
        prism validate docs/decisions extra/ --json | jq '.findings[].message'
        """,
    )(validate)


def check(common: Common) -> int:
    """Check the invariants of the store: of all its projects, or of the one that --pid names.

    They are the queries in queries/checks: no gap, no overlap, no cycle, exactly one type, and so on. And every node
    is held against its shapes again. Exit code 8 when something is broken.
    """
    with common.store() as prism:
        pid = common.named_pid(prism)
        findings = [finding for each in ([pid] if pid else prism.projects()) for finding in prism.project(each).check()]
    if common.json:
        print_json(findings)
    elif findings:
        print_table(
            ["check", "entity", "detail"],
            [(finding["check"], finding["entity"], finding["detail"]) for finding in findings],
            fixed=1,
        )
    else:
        print("no findings")
    return FINDINGS if findings else 0


def validate(
    common: Common,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="RDF files, documents, or folders that hold them.")
    ],
) -> int:
    """Check files against the shapes before they are written.

    RDF files are Turtle, TriG, N-Quads, N-Triples or JSON-LD; documents are markdown decision records. In a folder
    every .ttl, .trig, .nq, .nt, .jsonld and .md file is checked. Nothing is written. Exit code 8 on findings.
    The types are those that ship, and those of the project where there is one. Files of types: `prism types check`.
    """
    files = [file for path in paths for file in _files(path)]
    readable = [file for file in files if os.access(file, os.R_OK)]
    findings = [*_unreadable(files, readable), *_rdf_findings(common, readable), *_document_findings(readable)]
    if common.json:
        print_json({"files": len(files), "findings": findings})
    else:
        if findings:
            print_table(["file", "node", "path", "message"], map(_finding_row, findings))
        print(f"{_count(len(findings), 'finding')} in {_count(len(files), 'file')}")
    return FINDINGS if findings else 0


def _files(path: Path) -> Sequence[Path]:
    """Return the files that a PATH stands for; raise NotFoundError when there is nothing to check."""
    if not path.exists():
        raise NotFoundError(f"there is no {path}", rule="each PATH is a file or a folder", mend="check the path")
    if not path.is_dir():
        if not path.is_file():
            raise BadArgument(f"{path} is no file", rule="a pipe or a device is not checked", mend="give a file")
        return [path]
    found = [file for file in _walk(path) if file.suffix.lower() in _IN_FOLDERS]
    if not found:
        raise NotFoundError(
            f"{path} holds nothing to check",
            rule=f"files to check end in {', '.join(_IN_FOLDERS)}",
            mend="name the folder that holds them",
        )
    return found


def _walk(folder: Path) -> Iterator[Path]:
    for here, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if not name.startswith(".") and name != "node_modules")
        yield from (file for file in (Path(here, name) for name in sorted(files)) if not file.is_fifo())


def _is_document(file: Path) -> bool:
    return file.suffix.lower() in _DOCUMENTS


def _unreadable(files: Sequence[Path], readable: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for file in files:
        if file not in readable:
            yield _finding(file, None, "the file cannot be read", "mend its permissions")


def _rdf_findings(common: Common, files: Iterable[Path]) -> Iterator[dict[str, Any]]:
    from prism_rdf.canonical.schemas import Schema
    from prism_rdf.canonical.type_shapes import type_shapes
    from prism_rdf.validation.files import validate_paths

    graphs = [file for file in files if not _is_document(file)]
    if not graphs:
        return
    schema = Schema.of(_own_types(common))
    kinds = schema.catalog.kinds.values()
    for finding in validate_paths(graphs, lambda: type_shapes(schema.catalog), schema.gate, kinds):
        yield _finding(
            finding.file,
            finding.line,
            finding.message,
            finding.mend,
            node=finding.focus,
            path=finding.path,
            value=finding.value,
            shape=finding.shape,
            severity=finding.severity,
        )


def _own_types(common: Common) -> dict[str, str]:
    """Return the files of types of the project that is named, or the only one; none where there is no such."""
    unclear = () if common.settings.pid else (BadArgument,)  # there are several projects
    with suppress(NotFoundError, *unclear), common.project() as project:
        return project.type_texts()
    return {}


def _document_findings(files: Iterable[Path]) -> Iterator[dict[str, Any]]:
    from prism_rdf.ingest import check_document

    for file in filter(_is_document, files):
        for finding in check_document(str(file), file.read_bytes()):
            yield _finding(file, finding.line, finding.message, finding.mend, shape=finding.rule)


def _finding(file: Path, line: int | None, message: str, mend: str, **more: str) -> dict[str, Any]:
    """Return one finding as JSON; what it says about a node is empty for a document."""
    about = {"node": "", "path": "", "value": "", "shape": "", "severity": "Violation"} | more
    return {"file": str(file), "line": line, **about, "message": message, "mend": mend}


def _finding_row(finding: Mapping[str, Any]) -> tuple[str, str, str, str]:
    from prism_rdf.namespaces import short

    where = f"{finding['file']}:{finding['line']}" if finding["line"] else finding["file"]
    node, path = (short(finding[name].removeprefix("<").removesuffix(">")) for name in ("node", "path"))
    message = ". ".join(part.rstrip(".") for part in (finding["message"], finding["mend"]) if part)
    return where, node, path, message


def _count(number: int, thing: str) -> str:
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"
