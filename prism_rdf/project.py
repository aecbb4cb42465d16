"""A project (namespace) of a store with every verb: what it answers, what it records, what it takes in."""

from __future__ import annotations

from prism_rdf.writing import WritingVerbs


class Project(WritingVerbs):
    """One project of a store. Get it with ``Prism.project(pid)``."""
