"""A small world over HTTP: one decision that was renumbered and superseded another, in a store that keeps nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient
from prism_server import create_app

from prism_rdf.prism import Prism


@pytest.fixture(scope="module")
def prism() -> Iterator[Prism]:
    with Prism.in_memory() as store:
        demo = store.project("demo")
        new = demo.entity(
            "ADR", {"number": "ADR-001", "title": "Use a graph", "status": "Proposed"}, valid_from="2025-10-01"
        )
        demo.transition(new["uuid"], {"status": "Accepted"}, valid_from="2025-11-01")
        demo.transition(new["uuid"], {"number": "ADR-101"}, "rename", valid_from="2026-01-01")
        old = demo.entity(
            "ADR", {"number": "ADR-002", "title": "Use <b>tables</b>", "status": "Accepted"}, valid_from="2025-09-01"
        )
        demo.reference(new["uuid"], old["uuid"], "SUPERSEDES", valid_from="2025-11-01")
        store.project("other").entity("ADR", {"number": "ADR-900", "title": "Of another project", "status": "Accepted"})
        yield store


@pytest.fixture(scope="module")
def client(prism: Prism) -> FlaskClient:
    return create_app(prism).test_client()
