"""Files into proposals: decision records with their history become intents; nothing is written here."""

from prism_rdf.ingest.checking import check_document, check_folder
from prism_rdf.ingest.documents import Finding
from prism_rdf.ingest.reading import read
from prism_rdf.ingest.report import (
    Ambiguous,
    Dangling,
    Duplicate,
    Failure,
    IngestReport,
    Proposal,
    Skipped,
)

__all__ = [
    "Ambiguous",
    "Dangling",
    "Duplicate",
    "Failure",
    "Finding",
    "IngestReport",
    "Proposal",
    "Skipped",
    "check_document",
    "check_folder",
    "read",
]
