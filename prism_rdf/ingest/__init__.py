"""Files into intents: documents with their history, by rules that a project may change; nothing is written here."""

from prism_rdf.ingest.checking import check_document, check_folder
from prism_rdf.ingest.documents import Finding
from prism_rdf.ingest.ingestion import BATCH, Batch, Ingestion, read
from prism_rdf.ingest.report import (
    Ambiguous,
    Dangling,
    Duplicate,
    Failure,
    IngestReport,
    Proposal,
    Recognised,
    Skipped,
)
from prism_rdf.ingest.taking import Outcome, take_in

__all__ = [
    "BATCH",
    "Ambiguous",
    "Batch",
    "Dangling",
    "Duplicate",
    "Failure",
    "Finding",
    "IngestReport",
    "Ingestion",
    "Outcome",
    "Proposal",
    "Recognised",
    "Skipped",
    "check_document",
    "check_folder",
    "read",
    "take_in",
]
