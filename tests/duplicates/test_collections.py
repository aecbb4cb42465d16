"""Precision and recall on labelled pairs of public collections, as bench/duplicates.py prints them; with some slack."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "er-magellan"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/er-magellan is not there"),
]


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_duplicates", ROOT / "bench" / "duplicates.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def found(bench: ModuleType) -> dict[str, Any]:
    return {folder.name: bench.read(folder) for folder in sorted(DATA.iterdir()) if (folder / "valid.txt").exists()}


@pytest.fixture(scope="module")
def every(found: dict[str, Any]) -> list[Any]:
    return [pair for pairs, _ in found.values() for pair in pairs]


def test_there_are_eight_collections(found: dict[str, Any], every: list[Any]) -> None:
    assert len(found) == 8
    assert len(every) == 9654


def test_blocking_keeps_the_true_pairs_of_each_collection_and_few_others(found: dict[str, Any]) -> None:
    for name, (pairs, blocking) in found.items():
        true = [pair for pair in pairs if pair.same]
        assert sum(pair.blocked for pair in true) / len(true) >= 0.95, name
        assert blocking.reduction >= 0.95, name


def test_what_would_be_merged_is_right_in_99_of_100_and_not_nothing(bench: ModuleType, every: list[Any]) -> None:
    for pairs, lowest in ((every, 0.985), ([pair for pair in every if pair.held_out], 0.975)):
        merge = bench.measured(pairs, bench.MERGE_AT, merge=True)
        assert merge.precision >= 0.99
        assert bench.wilson(merge.hits, merge.picked)[0] >= lowest
        assert merge.recall >= 0.35


def test_what_is_proposed_is_most_of_what_there_is(bench: ModuleType, every: list[Any]) -> None:
    queue = bench.measured([pair for pair in every if pair.held_out], bench.REVIEW_AT)
    assert queue.precision >= 0.85
    assert queue.recall >= 0.75
