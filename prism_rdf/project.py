"""A project (namespace) of a store with every verb: what it answers, what it records, what it takes in."""

from __future__ import annotations

from prism_rdf.writing import Writing


class Project(Writing):
    """One project of a store. Get it with ``Prism.project(pid)``."""
