"""Names in a real history: numbers that were freed on one day mean what they meant at the time, on both axes."""

from __future__ import annotations

import subprocess
from itertools import pairwise

import pytest

from prism_rdf import Prism
from prism_rdf.errors import AmbiguousError

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def real(shared_data, tmp_path_factory):
    clone = tmp_path_factory.mktemp("real") / "adr-history"
    bundle = shared_data / "adr-history" / "adr-history.bundle"
    subprocess.run(["git", "clone", "-q", "-b", "main", str(bundle), str(clone)], check=True)
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.ingest(clone)
        yield project


def test_a_decision_is_found_by_its_number_of_the_time_and_by_that_of_now(real):
    uuid = real.resolve_alias("ADR-808")["uuid"]
    for as_of, called in (("2026-01-01", "ADR-044"), ("2026-07-01", "ADR-808"), (None, "ADR-808")):
        found = real.resolve_alias("ADR-044", as_of=as_of)
        assert (found["uuid"], found["identifier"]) == (uuid, called)
        assert found["why"].startswith("'ADR-044' was its identifier from 2025-")
        assert real.state_as_of("adr-044", as_of)["uuid"] == uuid


def test_the_number_given_again_means_the_new_one_from_then_on_and_as_it_was_believed(real):
    old = real.resolve_alias("ADR-044")["uuid"]
    known = real.prism.commit_number
    new = real.entity("ADR", {"number": "ADR-044", "title": "Another one"}, valid_from="2026-09-01")["uuid"]
    assert real.resolve_alias("ADR-044")["uuid"] == new
    assert real.resolve_alias("ADR-044", as_of="2026-01-01")["uuid"] == old
    assert real.resolve_alias("ADR-044", as_of="2026-08-01")["uuid"] == old
    assert real.resolve_alias("ADR-044", known_at=known)["uuid"] == old
    with pytest.raises(AmbiguousError) as raised:
        real.state_as_of("ADR-044", "2026-01-01")
    assert sorted(each["why"].split()[1] for each in raised.value.candidates) == ["is", "was"]


def test_every_merge_of_a_real_history_can_be_taken_back(real):
    uuids = sorted(each["uuid"] for each in real.list_entities("ADR", limit=12))
    names = [each["identifier"] for each in real.list_entities("ADR", limit=12)]
    before = {name: real.resolve_alias(name) for name in (*names, *uuids)}
    current = set(real.prism.store.quads_for_pattern(None, None, None, real.names.graph("current")))
    pairs = list(pairwise(uuids))
    for one, other in pairs:
        real.merge(one, other)
    assert {real.resolve_alias(uuid)["uuid"] for uuid in uuids} == {uuids[-1]}
    for one, _ in reversed(pairs):
        real.unmerge(one)
    assert {name: real.resolve_alias(name) for name in (*names, *uuids)} == before
    assert set(real.prism.store.quads_for_pattern(None, None, None, real.names.graph("current"))) == current
    assert real.check() == []
