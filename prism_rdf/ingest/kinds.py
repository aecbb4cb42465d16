"""Of which type a document is: by a mapping, by what it says itself, by its file name, its heading or its folder."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from prism_rdf.canonical.catalog import EntityType, TypeCatalog
from prism_rdf.ingest.documents import Document
from prism_rdf.ingest.identifiers import SERIES, in_file_name, not_a_record, series_of
from prism_rdf.namespaces import article

_SAID = {
    "decision": "ADR",
    "architecture decision record": "ADR",
    "specification": "SPEC",
    "to do": "TODO",
    "retrospective": "Retro",
    "environment variable": "EnvVar",
    "env var": "EnvVar",
    "host": "Location",
}
_FOLDERS = {
    **dict.fromkeys(("spec", "specs", "specifications"), "SPEC"),
    **dict.fromkeys(("plan", "plans"), "Plan"),
    **dict.fromkeys(("todo", "todos"), "TODO"),
    **dict.fromkeys(("delta", "deltas"), "Delta"),
    **dict.fromkeys(("journal", "journals"), "Journal"),
    **dict.fromkeys(("retro", "retros", "retrospectives"), "Retro"),
    **dict.fromkeys(("component", "components"), "Component"),
    **dict.fromkeys(("envvar", "envvars", "env-vars", "environment-variables"), "EnvVar"),
    **dict.fromkeys(("location", "locations"), "Location"),
    **dict.fromkeys(("mode", "modes"), "Mode"),
    **dict.fromkeys(("session", "sessions"), "Session"),
    **dict.fromkeys(("persona", "personas"), "Persona"),
}
_HEADING = re.compile(
    r"(SPEC|Plan|TODO|Delta|Journal|Retro|Retrospective|Component|EnvVar|Environment variable|Location|Mode|Session"
    r"|Persona|Project)\s*:\s+(\S.*)"
)


def kind_of(document: Document, path: str, catalog: TypeCatalog) -> tuple[EntityType, str] | None:
    """Return (type, why) of a document; None when it is none that is known, and so no record.

    In this order: the mapping, ``type:`` or ``kind:`` in the front matter, the file name, the heading, the folder.
    """
    if document.rule is not None:
        return catalog.type(document.rule.type), "the mapping"
    if not_a_record(path):
        return None
    said = _named(document.kind, catalog)
    if said is not None:
        return said, f"it says that it is {article(said.name)}"
    in_name = in_file_name(path, decides=bool(document.status))
    if in_name:
        return catalog.type(SERIES[series_of(in_name)]), f"its file name says {in_name}"
    if document.marked:
        series = series_of(document.number or document.counted) or "ADR"
        return catalog.type(SERIES[series]), f"its heading or front matter says {document.number or document.counted}"
    heading = _HEADING.fullmatch(document.title)
    if heading and (known := _named(heading[1], catalog)) is not None:
        return known, f"its heading begins with {heading[1]}"
    folder = PurePosixPath(path).parent.name.lower()
    if folder in _FOLDERS and document.title:
        return catalog.type(_FOLDERS[folder]), f"it lies in {folder}/"
    return None


def title_of(document: Document) -> str:
    """Return the title without the type before it, as in ``Component: gateway``."""
    heading = _HEADING.fullmatch(document.title)
    return heading[2].strip() if heading and document.rule is None and not document.number else document.title


def may_be_by_path(path: str) -> bool:
    """Return whether the folder of a file alone may make it a document."""
    return PurePosixPath(path).parent.name.lower() in _FOLDERS


def is_record(document: Document, path: str) -> bool:
    """Return whether a document is of one of the shipped types."""
    return kind_of(document, path, TypeCatalog.shipped()) is not None


def _named(text: str, catalog: TypeCatalog) -> EntityType | None:
    words = " ".join(re.sub(r"[-_]", " ", text).split()).lower()
    wanted = _SAID.get(words, words).lower().replace(" ", "")
    return next((known for known in catalog.types if known.name.lower() == wanted), None) if wanted else None
