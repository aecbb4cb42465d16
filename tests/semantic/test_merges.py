"""Merges: what moves is told first, all verbs follow, nothing of either is lost, and two are two again."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from prism_rdf import Prism
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.errors import AmbiguousError
from prism_rdf.model import Merge, NewEntity
from prism_rdf.namespaces import PREFIXES
from prism_rdf.views import entity_view

EVERYTHING = "SELECT ?s ?p ?o { ?s ?p ?o }"
LABELS = """SELECT ?name ?label { ?s prism:name ?name { ?s skos:altLabel ?label } UNION { ?s skos:hiddenLabel ?label } }
    ORDER BY ?label"""


def all_quads(project):
    return set(project.prism.store.quads_for_pattern(None, None, None))


def name_of(project, name, **when):
    return project.resolve_alias(name, **when)["identifier"]


@pytest.fixture
def twins(project, make):
    """A project that was entered twice, and what refers to the duplicate. Returns (duplicate, preferred)."""
    duplicate, preferred = make("Project", "2024-01-01", name="Prism RDF"), make("Project", name="Prism")
    spec = make("SPEC", number="SPEC-20", title="Tri-graph")
    project.alias("PRDF", duplicate, kind="synonym")
    project.alias("PrismGR", duplicate, valid_from="2024-01-01", valid_until="2024-12-31")
    project.reference(spec, duplicate, "SPECIFIES", valid_from="2025-01-01", source_document="a.md")
    project.remember("how it is installed", about=[duplicate])
    project.wip(duplicate, {"name": "Prism RDF 2"})
    project.alias("the store", duplicate, tier=3, quote="the store")
    return duplicate, preferred


def test_what_is_merged_is_left_out_of_a_count_by_what_it_is_merged_into(project, twins):
    project.merge(*twins)
    once = "FILTER NOT EXISTS { ?p prism:mergedInto ?x }"
    for which, names in (("", ["Prism", "Prism RDF"]), (once, ["Prism"])):
        query = f"SELECT ?name {{ ?p a type:Project ; prism:name ?name {which} }} ORDER BY ?name"
        found = project.prism.sparql(query)
        assert [row[0].value for row in found.rows()] == names


def test_a_dry_run_tells_what_moves_and_what_differs_and_writes_nothing(project, twins):
    duplicate, preferred = twins
    project.fact(preferred, "phase", "beta", valid_from="2025-01-01")
    before = all_quads(project)
    told = project.merge(duplicate, preferred, dry_run=True)
    assert all_quads(project) == before
    assert (told["dry_run"], told["commit"]) == (True, None)
    assert (told["duplicate"]["identifier"], told["preferred"]["identifier"]) == ("Prism RDF", "Prism")
    assert {(each["name"], each["kind"]) for each in told["moves"]["names"]} == {
        ("Prism RDF", "name"),
        ("PRDF", "synonym"),
        ("PrismGR", "former"),
    }
    assert [each["kind"] for each in told["moves"]["references"]] == ["SPECIFIES"]
    assert [each["content"] for each in told["moves"]["memories"]] == ["how it is installed"]
    assert [each["kind"] for each in told["moves"]["candidates"]] == ["alias"]
    assert told["counts"] == {
        "names": 3,
        "references": 1,
        "memories": 1,
        "drafts": 1,
        "candidates": 1,
        "merged": 0,
    }
    assert told["differs"] == {
        "name": {"duplicate": "Prism RDF", "into": "Prism"},
        "phase": {"duplicate": None, "into": "beta"},
    }


def test_whatever_names_the_duplicate_means_the_preferred_one(project, twins, prism):
    duplicate, preferred = twins
    before = prism.commit_number
    done = project.merge(duplicate, preferred, description="entered twice", source="a review")
    iri = project.names.entity(duplicate).value
    for name in ("Prism RDF", "PRDF", "prdf", "PrismGR", duplicate, iri):
        assert project.resolve(name) == project.names.entity(preferred)
        assert name_of(project, name) == "Prism"
        assert project.resolve(name, None, before) == project.names.entity(duplicate), "as believed before the merge"
        assert name_of(project, name, known_at=before) == "Prism RDF"
        assert name_of(project, name, as_of="2025-06-01") == "Prism", "they always were one thing"
    found = project.resolve_alias("PRDF")
    assert [(step["from"], step["to"], step["how"]) for step in found["chain"]] == [
        ("PRDF", "Prism RDF", "other name"),
        ("Prism RDF", "Prism", "merged"),
    ]
    assert found["chain"][1]["recorded_at"] == done["recorded_at"]
    assert found["why"] == f"'PRDF' is another name of it; merged into Prism ({done['recorded_at']})"
    assert project.history("PRDF") == project.history(preferred)
    assert project.blame("PRDF", "name")["values"] == ["Prism"]


def test_references_lists_and_timelines_follow_and_say_by_which_they_came(project, twins, prism):
    duplicate, preferred = twins
    before = prism.commit_number
    project.merge(duplicate, preferred)
    [found] = project.list_references(target="Prism")
    assert found["target"]["identifier"] == "Prism"
    assert {end: each["identifier"] for end, each in found["via"].items()} == {"target": "Prism RDF"}
    assert project.list_references(entity="Prism") == [found]
    assert project.list_references(target="Prism", known_at=before) == []
    assert [each["identifier"] for each in project.list_entities("Project")] == ["Prism"]
    shown = project.list_entities("Project", include_merged=True)
    assert [each.get("merged_into", {}).get("identifier") for each in shown] == [None, "Prism"]
    assert len(project.list_entities("Project", known_at=before)) == 2
    entries = {
        entry["kind"]: entry for entry in project.timeline("Prism") if "via" in entry or entry["kind"] == "merge"
    }
    assert entries["alias"]["via"]["identifier"] == "Prism RDF"
    assert (entries["merge"]["at"], entries["merge"]["merged"]["identifier"]) == (None, "Prism RDF")
    assert len(project.history("Prism", include_merged=True)) == len(project.history("Prism")) + 2
    assert [e["entity"]["identifier"] for e in project.impact("SPEC-20")["affected"]] == ["Prism"]
    assert project.impact("SPEC-20", known_at=before)["affected"][0]["entity"]["identifier"] == "Prism RDF"


def test_where_only_the_merged_one_was_its_state_is_told(project, twins):
    duplicate, preferred = twins
    project.merge(duplicate, preferred)
    told = project.state_as_of("Prism", "2024-06-01")
    assert (told["identifier"], told["merged_into"]["identifier"]) == ("Prism RDF", "Prism")
    assert "merged_into" not in project.state_as_of("Prism", "2025-06-01", prefer_wip=False)


def test_what_is_said_of_the_merged_one_goes_to_the_preferred_one_and_the_receipt_says_so(project, twins):
    duplicate, preferred = twins
    project.merge(duplicate, preferred)
    note = f"Prism RDF is merged into Prism: this is recorded of {project.names.entity(preferred).value}"
    writes = [
        lambda: project.fact("PRDF", "phase", "beta").as_dict(),
        lambda: project.alias("P", duplicate, kind="synonym").as_dict(),
        lambda: project.reference("SPEC-20", "Prism RDF", "DOCUMENTS").as_dict(),
        lambda: project.remember("more of it", about=["PRDF"]).as_dict(),
        lambda: project.wip("PRDF", {"phase": "rc"}),
        lambda: project.retire("PRDF", valid_from="2027-01-01").as_dict(),
    ]
    for write in writes:
        told = write()
        assert told["commit"] is not None
        assert note in told["notes"]
    project.unmerge(duplicate)
    assert "phase" not in project.state_as_of(duplicate)["props"]
    assert name_of(project, "P") == "Prism", "what was recorded meanwhile stays with the preferred one"


def test_a_chain_leads_to_its_end_and_any_link_can_be_taken_out(project, make, prism):
    one, two, three = (make("Component", name=name) for name in ("one", "two", "three"))
    project.merge(one, two)
    project.merge(two, three)
    assert [name_of(project, name) for name in ("one", "two", "three")] == ["three", "three", "three"]
    leads = "SELECT ?name ?end { ?s prism:name ?name ; prism:mergedInto/prism:name ?end } ORDER BY ?name"
    ends = [(name.value, end.value) for name, end in prism.sparql(leads).rows()]
    assert ends == [("one", "three"), ("two", "three")]
    assert sorted(labels(prism)) == [("three", "one"), ("three", "two")]
    project.unmerge("two")
    assert [name_of(project, name) for name in ("one", "two", "three")] == ["two", "two", "three"]
    assert labels(prism) == [("two", "one")]
    project.merge("two", "three")
    project.unmerge("one")
    assert [name_of(project, name) for name in ("one", "two", "three")] == ["one", "three", "three"]


def test_what_is_merged_into_one_that_is_merged_leads_on(project, make):
    one, two, three = (make("Component", name=name) for name in ("one", "two", "three"))
    project.merge(two, three)
    told = project.merge(one, two)
    assert told["preferred"]["identifier"] == "three"
    assert told["notes"] == ["two is itself merged into three"]
    assert project.resolve("one") == project.names.entity(three)


def test_taking_a_merge_back_gives_every_answer_as_before(project, twins, prism):
    duplicate, preferred = twins
    names = ("Prism RDF", "PRDF", "PrismGR", "Prism", "SPEC-20", duplicate, preferred)

    def answers():
        told = [project.resolve_alias(name) for name in names]
        told += [project.state_as_of(name, day) for name in names[:5] for day in ("2024-06-01", "2025-06-01")]
        told += [project.list_references(), project.list_entities(), project.timeline(preferred)]
        told += [project.timeline(duplicate), project.recall("PRDF installed")["anchors"]]
        return told

    def current():
        return set(prism.store.quads_for_pattern(None, None, None, project.names.graph("current")))

    before = answers(), current()
    receipt = project.merge(duplicate, preferred)
    assert answers() != before[0]
    project.unmerge(duplicate)
    assert (answers(), current()) == before
    project.merge(duplicate, preferred)
    project.revert(prism.commit_number)
    assert (answers(), current()) == before, "a revert takes a merge back as well"
    assert project.resolve("PRDF", None, receipt["commit"]) == project.names.entity(preferred), "it was believed then"


def test_two_of_one_name_are_merged_by_uuid_and_the_name_means_one_thing_then(project, make):
    one, two = make("Component", name="gateway"), make("Component", name="gateway")
    with pytest.raises(AmbiguousError):
        project.merge("gateway", two)
    project.merge(one, two)
    assert project.resolve("gateway") == project.names.entity(two)
    project.unmerge("gateway")
    with pytest.raises(AmbiguousError):
        project.resolve("gateway")


def test_references_between_the_two_are_told_as_of_one_thing(project, make):
    one, two = make("Component", name="one"), make("Component", name="two")
    project.reference(one, two, "DEPENDS_ON")
    told = project.merge(one, two, dry_run=True)
    assert told["notes"] == ["references between the two lead from one thing to itself: DEPENDS_ON"]
    project.merge(one, two)
    assert project.impact(two)["affected"] == []


def test_a_merge_said_again_changes_nothing(project, twins):
    duplicate, preferred = twins
    assert project.merge(duplicate, preferred, idempotency_key="k")["commit"] is not None
    assert project.merge(duplicate, preferred)["commit"] is None
    assert project.merge(duplicate, preferred, idempotency_key="k")["replayed"]
    taken = project.unmerge(duplicate, idempotency_key="u")
    assert project.unmerge(duplicate, idempotency_key="u").commit == taken.commit


def test_one_batch_may_make_and_merge(project):
    kind = project.prism.schema("demo").catalog.type("Component").iri
    uuids = [f"00000000-0000-4000-8000-00000000000{n}" for n in range(3)]
    merges = [Merge(uuids[0], uuids[1]), Merge(uuids[1], uuids[2])]
    project.write([*(NewEntity(uuid, kind) for uuid in uuids), *merges])
    assert project.resolve(uuids[0]) == project.names.entity(uuids[2])


def test_recall_takes_the_two_for_one(project, twins):
    duplicate, preferred = twins
    project.remember("the other one has it too", about=[preferred])
    project.merge(duplicate, preferred)
    told = project.recall("what is PRDF")
    assert [each["identifier"] for each in told["anchors"]] == ["Prism"]
    hits = {hit["content"]: hit for hit in told["hits"]}
    assert set(hits) == {"how it is installed", "the other one has it too"}
    assert {hit["entity"] for hit in hits.values()} == {project.names.entity(preferred).value}


def labels(prism, **when):
    return [(name.value, label.value) for name, label in prism.sparql(LABELS, **when).rows()]


def test_the_views_show_where_a_merged_one_leads_and_its_names_on_the_preferred_one(project, twins, prism):
    duplicate, preferred = twins
    into = "SELECT ?into { ?s prism:name 'Prism RDF' ; prism:mergedInto ?into }"
    assert list(prism.sparql(into).rows()) == []
    assert ("Prism", "PRDF") not in labels(prism)
    project.merge(duplicate, preferred)
    for when in ({}, {"as_of": "2025-06-01"}):
        assert list(prism.sparql(into, **when).rows()) == [(project.names.entity(preferred),)]
        assert {form for name, form in labels(prism, **when) if name == "Prism"} >= {"PRDF", "Prism RDF", "PrismGR"}
    assert list(prism.sparql(into, known_at=2).rows()) == []
    project.fact(project.names.entity(preferred).value, "name", "Prism!", valid_from="2026-05-01")
    assert {name for name, form in labels(prism) if form == "PRDF"} == {"Prism RDF", "Prism!"}


def test_after_each_write_a_kept_snapshot_is_as_a_fresh_one_and_the_views_agree(tmp_path):
    """Also of an entity that is not in the current graph any more, so that no commit mentions it there."""
    with Prism.open(tmp_path, exclusive=True, clock=ManualClock(Instant.parse("2026-06-01T00:00:00Z"))) as prism:
        project = prism.project("demo")
        uuids = [
            project.entity("Component", {"name": name}, valid_from="2025-01-01")["uuid"] for name in ("a", "b", "c")
        ]
        project.retire(uuids[0], valid_from="2025-12-31")
        days = ("2025-06-01", "2026-05-01", "2026-08-01")
        writes = [
            lambda: project.merge(uuids[0], uuids[1]),
            lambda: project.alias("x", uuids[0], valid_from="2025-02-01", valid_until="2025-08-01"),
            lambda: project.merge(uuids[1], uuids[2]),
            lambda: project.fact(uuids[1], "name", "bb", valid_from="2025-03-01"),
            lambda: project.fact(uuids[2], "name", "cc", valid_from="2026-07-01"),
            lambda: project.unmerge("a"),
            lambda: project.unmerge(uuids[1]),
        ]
        for write in writes:
            kept = {day: sorted(map(str, prism.sparql(EVERYTHING, as_of=day).rows())) for day in days}
            assert kept
            write()
            patched = {day: sorted(map(str, prism.sparql(EVERYTHING, as_of=day).rows())) for day in days}
            prism._datasets.snapshots.clear()
            assert patched == {day: sorted(map(str, prism.sparql(EVERYTHING, as_of=day).rows())) for day in days}
            assert one_by_one(prism, project, days) == at_once(prism, project, days)
        assert project.check() == []


def one_by_one(prism, project, days):
    catalog = prism.schema("demo").catalog
    found = set()
    for day in days:
        at = Instant.parse(f"{day}T23:59:59.999999Z")
        for uuid in [entity["uuid"] for entity in project.list_entities(as_of=day, include_merged=True)]:
            node = project.names.entity(uuid)
            view = entity_view(
                prism.store, project.names, node, at, catalog.superclasses, identifying=catalog.identifying
            )
            found |= {(day, str(triple)) for triple in view}
    return found


def at_once(prism, project, days):
    graph = f"SELECT ?s ?p ?o {{ GRAPH {project.names.graph('current')} {{ ?s ?p ?o }} }}"
    return {(day, " ".join(map(str, row))) for day in days for row in prism.sparql(graph, as_of=day).rows()}


def test_a_name_that_begins_later_shows_on_the_preferred_one_when_its_time_has_come(project, make, clock, prism):
    one, two = make("Component", name="one"), make("Component", name="two")
    project.merge(one, two)
    project.fact(project.names.entity(two).value, "name", "two", valid_from="2025-02-01")
    project.write([], "nothing")
    project.unmerge(one)
    project.fact(one, "name", "uno", valid_from="2026-07-01")
    project.merge(one, two)
    assert ("two", "one") in labels(prism)
    clock.advance(days=60)
    assert ("two", "uno") in labels(prism)


def test_a_merge_in_the_log_names_both(tmp_path):
    with Prism.open(tmp_path, exclusive=True) as prism:
        project = prism.project("demo")
        one, two = (project.entity("Component", {"name": name})["uuid"] for name in ("one", "two"))
        project.merge(one, two)
        project.unmerge(one)
        ends = {project.names.entity(one).value, project.names.entity(two).value}
        assert [set(entry["entities"]) for entry in prism.log(2)] == [ends, ends]
        assert [entry["verb"] for entry in prism.log(2)] == ["merge", "unmerge"]


def test_merges_travel_with_an_export(project, twins, prism, tmp_path):
    project.merge(*twins)
    prism.export(tmp_path / "all.trig")
    Prism.import_(tmp_path / "all.trig", tmp_path / "home", "default")
    with Prism.open(tmp_path / "home", "default", exclusive=True) as again:
        assert again.project("demo").resolve_alias("PRDF")["identifier"] == "Prism"
        assert again.project("demo").check() == []


def test_a_circle_that_a_foreign_hand_made_is_found(prism, make):
    project = prism.project("demo")
    one, two = make("Component", name="one"), make("Component", name="two")
    project.merge(one, two)
    graph = project.names.graph("semantic")
    text = f"<urn:m> a prism:Merge ; prism:mergedEntity {project.names.entity(two)} ; prism:mergedInto "
    text += f"{project.names.entity(one)} ; prism:recordedAt '2026-01-01T00:00:00Z'^^<http://www.w3.org/2001/XMLSchema#dateTime>"
    prism.store._store.update(f"INSERT DATA {{ GRAPH {graph} {{ {text} }} }}", prefixes=PREFIXES)
    circle = {each["entity"] for each in project.check() if each["check"] == "merged-in-a-circle"}
    assert circle == {project.names.entity(one).value, project.names.entity(two).value}
    assert isinstance(project.resolve("one"), NamedNode), "who asks gets an answer all the same"
    prism.store._store.update(f"DELETE WHERE {{ GRAPH {graph} {{ <urn:m> ?p ?o }} }}")
    prism.rebuild("demo")
