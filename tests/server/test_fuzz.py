"""Malformed requests, and requests made of the OpenAPI description: the server answers each, and never with a 5xx."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import hypothesis
import pytest
import schemathesis
from flask import Flask
from prism_server import create_app
from schemathesis import GenerationMode

from prism_rdf.prism import Prism

pytestmark = pytest.mark.slow
BENCH = Path(__file__).parents[2] / "bench" / "http_fuzz.py"


@pytest.fixture(scope="module")
def fuzzing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("http_fuzz", BENCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["http_fuzz"] = module
    spec.loader.exec_module(module)
    return module


def test_a_thousand_malformed_requests(fuzzing: ModuleType, tmp_path: Path) -> None:
    served = fuzzing.Served(tmp_path)
    try:
        seen = fuzzing.fuzz(served.port, 1_000, seed=7)
    finally:
        ended = served.close()
    assert seen.bad == []
    assert sum(seen.statuses.values()) == 1_000
    assert seen.statuses["200"] >= 30
    assert seen.statuses["400"] >= 100
    assert ended == 0


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    with Prism.open(tmp_path_factory.mktemp("home"), exclusive=True) as prism:
        for number in ("ADR-001", "ADR-002", "ADR-003"):
            prism.project("demo").entity("ADR", {"number": number, "title": number, "status": "Accepted"})
        made = create_app(prism)
        yield made
        made.extensions["api"].close()


ELSEWHERE = ("add_types", "recall", "reindex", "backup")  # a reasoner, a model, a disk: they take long


def test_what_the_description_allows_and_forbids(app: Flask) -> None:
    described = schemathesis.openapi.from_wsgi("/openapi.json", app)
    tried = 0
    for found in described.get_all_operations():
        operation = found.ok()
        if operation.path.rsplit("/", 1)[-1] in ELSEWHERE:
            continue
        tried += 1
        for mode in GenerationMode:

            @hypothesis.given(operation.as_strategy(generation_mode=mode))
            @hypothesis.settings(
                max_examples=4,
                deadline=None,
                derandomize=True,
                database=None,
                suppress_health_check=list(hypothesis.HealthCheck),
                phases=[hypothesis.Phase.generate],
            )
            def ask(case: schemathesis.Case) -> None:
                response = case.call()
                assert response.status_code < 500, response.text
                case.validate_response(response, checks=[schemathesis.checks.response_schema_conformance])

            with suppress(hypothesis.errors.Unsatisfiable):  # nothing is forbidden where nothing is told
                ask()
    assert tried >= 50
