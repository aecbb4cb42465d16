"""A real history of 168 commits against a checker that knows nothing but git and a few regular expressions."""

from __future__ import annotations

import subprocess
import time

import pytest

from prism_rdf.clock import Instant
from prism_rdf.ingest import read as read_documents

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def real(shared_data, tmp_path_factory):
    clone = tmp_path_factory.mktemp("real") / "adr-history"
    bundle = shared_data / "adr-history" / "adr-history.bundle"
    subprocess.run(["git", "clone", "-q", "-b", "main", str(bundle), str(clone)], check=True)
    return clone


@pytest.fixture(scope="module")
def read(real):
    begun = time.process_time()
    proposal = read_documents(real, "demo")
    assert time.process_time() - begun < 20
    return proposal


def test_each_document_at_the_tip_is_one_entity(read, oracle, real, told) -> None:
    documents = told(read)
    paths = oracle.records_at_tip(real)

    states = [state["path"] for uuid in documents.uuids if (state := documents.state(uuid))]

    assert len(paths) == 121
    assert sorted(states) == paths
    assert read.report.documents == 126
    assert [skipped.path.rsplit("/", 1)[1] for skipped in read.report.skipped] == ["README_VISUALIZATIONS.md"]
    assert read.report.failures == ()


def test_states_agree_with_what_git_shows(read, oracle, real, told) -> None:
    documents = told(read)
    by_path = {state["path"]: uuid for uuid in documents.uuids if (state := documents.state(uuid))}
    times = [at for at, _ in oracle.commit_times(real)]
    compared = absent = 0
    for n, path in enumerate(oracle.records_at_tip(real)):
        for at in (times[(n * 37) % len(times)], times[(n * 11) % 100 + 60]):
            wanted = oracle.expected(real, path, at.isoformat())
            state = documents.state(by_path[path], Instant.of(at))
            found = {name: state.get(name, "") for name in ("number", "title", "status", "path")} if state else None
            assert found == wanted, (path, at)
            compared += wanted is not None
            absent += wanted is None
    assert compared >= 100
    assert absent >= 20


def test_the_renumbered_record_is_the_one_it_was(read, told) -> None:
    documents = told(read)
    path = "docs/architecture/ai-embeddings/ADR-808-probabilistic-truth-convergence.md"
    uuid = documents.document(path)

    assert documents.state(uuid)["number"] == "ADR-808"
    then = documents.state(uuid, Instant.parse("2025-10-30T00:00:00Z"))
    assert (then["number"], then["status"]) == ("ADR-044", "Proposed")
    [alias] = [alias for alias in documents.aliases(path) if alias[0] == "ADR-044"]
    assert alias[2] is not None


def test_what_refers_to_nothing_is_reported(read) -> None:
    nothing = {entry.identifier for entry in read.report.dangling}

    assert {"ADR-304", "ADR-305", "ADR-603", "ADR-073"} <= nothing
    assert nothing.isdisjoint({"ADR-044", "ADR-808", "ADR-051a"})
