"""What the gate found, for doors that speak RDF; the report itself is made by the validation."""

from __future__ import annotations

from prism_rdf.errors import ValidationError
from prism_rdf.updating.loading import FORMATS
from prism_rdf.validation.report import as_rdf


def report_in(error: ValidationError, form: str) -> bytes:
    """Return the sh:ValidationReport of a refused write as ttl, nt, rdf, jsonld, trig or nq."""
    return as_rdf(error.report, FORMATS[form])
