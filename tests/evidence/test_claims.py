"""Evidence in a store: both sides, both axes, what it never changes, what is refused, and how it goes again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_rdf import Prism
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.errors import BadArgument, BadTime, PrismError, RefusedError, UnknownEntity, ValidationError

PAGE = Path(__file__).parents[2] / "docs" / "evidence.md"
QUOTES = "SELECT ?q { ?e a prism:Evidence ; prism:quote ?q }"


def opened() -> Prism:
    return Prism.in_memory(clock=ManualClock(Instant.parse("2026-06-01T00:00:00Z")))


@pytest.fixture
def project():
    with opened() as prism:
        project = prism.project("demo")
        seed(project)
        yield project


def seed(project):
    project.entity(
        "ADR",
        {"number": "ADR-7", "title": "Use RDF", "status": "Proposed", "deciders": ["Ada"]},
        valid_from="2026-01-01",
        source="docs/ADR-7.md@1",
    )
    project.fact("ADR-7", "status", "Accepted", valid_from="2026-02-01", source="docs/ADR-7.md@2")


def standing(project, property="status", **when):
    return {
        claim["value"]: (claim["status"], claim["flag"])
        for claim in project.evidence("ADR-7", property, **when)["claims"]
    }


def quads(project):
    return set(project.prism.store.quads_for_pattern(None, None, None))


def test_both_sides_are_shown_and_nothing_else_changes(project):
    state = project.state_as_of("ADR-7", "2026-05-01")
    project.claim("ADR-7", "status", "Accepted", source="minutes.md#2", quote="we accepted it", tier=2)
    receipt = project.claim(
        "ADR-7", "status", "Accepted", stance="contradicts", source="audit.md", quote="never passed"
    )
    assert receipt.commit == 4
    [claim] = project.evidence("ADR-7")["claims"]
    assert (claim["status"], claim["flag"]) == ("CONTESTED", "current")
    assert [(said["kind"], said["source"], said["tier"]) for said in claim["for"]] == [
        ("evidence", "minutes.md#2", 2),
        ("state", "docs/ADR-7.md@2", 1),
    ]
    assert [said["quote"] for said in claim["against"]] == ["never passed"]
    assert project.state_as_of("ADR-7", "2026-05-01") == state
    assert project.check() == []


def test_what_is_superseded_is_not_incorrect(project):
    project.claim("ADR-7", "status", "Proposed", source="minutes.md", valid_from="2026-01", valid_until="2026-01")
    assert standing(project) == {}, "it is said of January"
    assert standing(project, as_of="2026-01-15") == {"Proposed": ("AFFIRMATIVE", "current")}
    project.claim("ADR-7", "status", "Accepted", source="minutes.md", valid_from="2026-02-01")
    assert standing(project) == {"Accepted": ("AFFIRMATIVE", "current")}


def test_support_of_another_value_contradicts_a_single_valued_property_alone(project):
    project.claim("ADR-7", "status", "Rejected", source="mail from Bo", quote="it was rejected")
    assert standing(project) == {"Accepted": ("CONTESTED", "current"), "Rejected": ("CONTESTED", None)}
    [claim] = [each for each in project.evidence("ADR-7", "status")["claims"] if each["value"] == "Accepted"]
    assert [(said["says"], said["quote"]) for said in claim["against"]] == [("Rejected", "it was rejected")]
    project.claim("ADR-7", "deciders", "Bo", source="minutes.md")
    assert standing(project, "deciders") == {"Ada": ("AFFIRMATIVE", "current"), "Bo": ("AFFIRMATIVE", None)}


def test_a_status_is_as_believed_then(project):
    project.claim("ADR-7", "status", "Accepted", source="minutes.md")
    before = project.prism.commit_number
    project.claim("ADR-7", "status", "Accepted", stance="contradicts", source="audit.md")
    assert standing(project)["Accepted"][0] == "CONTESTED"
    assert standing(project, known_at=before)["Accepted"][0] == "AFFIRMATIVE"
    project.revert(project.prism.commit_number)
    assert standing(project)["Accepted"][0] == "AFFIRMATIVE"
    assert standing(project, known_at=before + 1)["Accepted"][0] == "CONTESTED"
    again = project.claim("ADR-7", "status", "Accepted", stance="contradicts", source="audit.md")
    assert again.commit is not None
    assert standing(project)["Accepted"][0] == "CONTESTED"


def test_what_is_said_again_changes_nothing_and_an_end_is_kept(project):
    first = project.claim("ADR-7", "status", "Accepted", source="minutes.md", quote="yes")
    assert project.claim("ADR-7", "status", "Accepted", source="minutes.md", quote="yes").commit is None
    ended = project.claim("ADR-7", "status", "Accepted", source="minutes.md", quote="yes", valid_until="2026-03-01")
    assert (first.commit, ended.commit) == (3, 4)
    assert standing(project) == {}
    assert standing(project, as_of="2026-02-15")["Accepted"][0] == "AFFIRMATIVE"


@pytest.mark.parametrize("ends", [("2026-03-01", "2026-05-01"), ("2026-05-01", "2026-03-01")])
def test_of_two_ends_the_earlier_one_holds_in_either_order(project, ends):
    for until in ends:
        project.claim("ADR-7", "status", "Accepted", source="minutes.md", valid_until=until)
    assert standing(project, as_of="2026-02-15")["Accepted"][0] == "AFFIRMATIVE"
    assert standing(project, as_of="2026-04-01") == {}


def test_one_passage_of_two_tiers_is_two_statements_of_one_source(project):
    for tier in (3, 1):
        project.claim("ADR-7", "title", "Use Turtle", source="mail", tier=tier)
    [claim] = [each for each in project.evidence("ADR-7", "title")["claims"] if each["value"] == "Use Turtle"]
    assert [said["tier"] for said in claim["for"]] == [3, 1]
    assert (claim["support"], claim["sources"]["for"]) == (0.95, 1)


def test_claims_of_a_whole_project_come_worst_first(project):
    project.entity("ADR", {"number": "ADR-8", "title": "Use SHACL"}, valid_from="2026-01-01")
    project.claim("ADR-8", "title", "Use SHACL", source="a")
    project.claim("ADR-7", "status", "Rejected", source="b")
    project.claim("ADR-7", "status", "Withdrawn", stance="contradicts", source="c")
    found = project.list_claims()
    assert [(each["identifier"], each["value"], each["status"]) for each in found] == [
        ("ADR-7", "Withdrawn", "CONTRADICTORY"),
        ("ADR-7", "Accepted", "CONTESTED"),
        ("ADR-7", "Rejected", "CONTESTED"),
        ("ADR-8", "Use SHACL", "AFFIRMATIVE"),
    ]
    assert [each["value"] for each in project.list_claims("contested")] == ["Accepted", "Rejected"]
    assert len(project.list_claims(limit=2)) == 2
    assert [each["category"] for each in project.start()["rules_reminders"]] == ["contested_claims"]


REFUSED = {
    "from nowhere": (("status", "Accepted"), {}, BadArgument, "comes from nowhere"),
    "blank source": (("status", "Accepted"), {"source": "  "}, BadArgument, "comes from nowhere"),
    "no such side": (
        ("status", "Accepted"),
        {"source": "a", "stance": "doubts"},
        BadArgument,
        "supports or contradicts",
    ),
    "too sure": (("status", "Accepted"), {"source": "a", "confidence": 1.5}, BadArgument, "confidence"),
    "no passage": (("status", "Accepted"), {"source": "a", "offsets": (9, 3)}, BadArgument, "offsets"),
    "no memory": (("status", "Accepted"), {"memory": "not one"}, BadArgument, "names no memory"),
    "another kind of value": (("status", 3), {"source": "a"}, ValidationError, "xsd:string"),
    "no such property": (("port", "80"), {"source": "a"}, ValidationError, "not declared"),
    "several values": (("deciders", ["Ada", "Bo"]), {"source": "a"}, BadArgument, "has one value"),
    "no value": (("status", None), {"source": "a"}, BadArgument, "has one value"),
    "it ends first": (
        ("status", "Accepted"),
        {"source": "a", "valid_from": "2026-03", "valid_until": "2026-01"},
        BadTime,
        "ends after it starts",
    ),
    "too high a claim": (("status", "Accepted"), {"source": "a", "tier": 4}, BadArgument, "tier"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_changes_nothing(project, name):
    said, options, kind, words = REFUSED[name]
    before = quads(project)
    with pytest.raises(kind) as caught:
        project.claim("ADR-7", *said, **options)
    error = caught.value
    assert words in f"{error} {error.rule}"
    assert error.mend or isinstance(error, ValidationError)
    assert quads(project) == before


def test_of_nobody(project):
    with pytest.raises(PrismError) as caught:
        project.claim("ADR-99", "status", "Accepted", source="a")
    assert isinstance(caught.value, UnknownEntity)


def test_sparql_sees_evidence_now_and_then(project):
    project.claim("ADR-7", "status", "Accepted", source="minutes.md", quote="now", valid_from="2026-03-01")
    project.claim("ADR-7", "status", "Accepted", source="audit.md", quote="always")

    def told(**when):
        return sorted(row[0].value for row in project.prism.sparql(QUOTES, **when).rows())

    assert told() == ["always", "now"]
    assert told(as_of="2026-02-15") == ["always"]
    assert told(as_of="2026-04-01", known_at=3) == ["now"]
    project.revert(4)
    assert told(as_of="2026-04-01") == ["now"]
    assert told(as_of="2026-04-01", known_at=4) == ["always", "now"]


def test_a_memory_that_is_cited_says_how_its_claim_stands(project):
    memory = project.remember("The audit says that ADR-7 never passed.", source="audit.md").created[0]
    project.remember("Bo likes ADR-7 all the same.", source="mail")
    project.claim("ADR-7", "status", "Accepted", stance="contradicts", memory=memory)
    found = {hit["content"]: hit["evidence"] for hit in project.recall("what is said of ADR-7?")["hits"]}
    assert found["The audit says that ADR-7 never passed."] == "CONTESTED"
    assert found["Bo likes ADR-7 all the same."] is None


def test_it_is_forgotten_with_its_entity_and_with_its_memory(tmp_path):
    with Prism.open(tmp_path, exclusive=True) as prism:
        project = prism.project("demo")
        seed(project)
        canary = "xylophonequartz"
        memory = project.remember(f"The {canary} audit says that it never passed.", source="audit.md").created[0]
        project.claim(
            "ADR-7", "status", "Accepted", memory=memory, quote=f"the {canary} audit says that it never passed"
        )
        project.forget(memory)
        assert standing(project) == {}
        project.claim("ADR-7", "status", "Accepted", memory=memory)
        assert standing(project) == {}, "evidence from what was forgotten is not taken in"
        project.claim("ADR-7", "status", "Accepted", source="minutes.md", quote=f"{canary}: yes")
        project.forget("ADR-7")
    found = [path for path in tmp_path.rglob("*") if path.is_file() and canary.encode() in path.read_bytes()]
    assert found == []


def test_an_export_brings_it_back(project, tmp_path):
    project.claim("ADR-7", "status", "Accepted", stance="contradicts", source="audit.md", quote="no", confidence=0.9)
    project.prism.export(tmp_path / "all.nq", "nquads")
    Prism.import_(tmp_path / "all.nq", tmp_path / "new")
    with Prism.open(tmp_path / "new", exclusive=True) as other:
        assert other.project("demo").evidence("ADR-7")["claims"] == project.evidence("ADR-7")["claims"]
        assert other.project("demo").check() == []


CLAIMS = st.tuples(
    st.sampled_from(["Accepted", "Rejected"]),
    st.sampled_from(["supports", "contradicts"]),
    st.sampled_from(["a", "b@1", "b@2"]),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([None, "2026-01-10", "2026-03-01"]),
    st.sampled_from([None, "2026-04-01", "2026-07-01"]),
)


@settings(max_examples=40, deadline=None)
@given(drawn=st.lists(CLAIMS, min_size=1, max_size=5, unique=True), order=st.randoms())
def test_the_order_of_arrival_does_not_matter(drawn, order):
    shuffled = list(drawn)
    order.shuffle(shuffled)
    found = []
    for claims in (drawn, shuffled):
        with opened() as prism:
            project = prism.project("demo")
            seed(project)
            for value, stance, source, tier, start, until in claims:
                project.claim(
                    "ADR-7",
                    "status",
                    value,
                    stance=stance,
                    source=source,
                    tier=tier,
                    valid_from=start,
                    valid_until=until,
                )
            found.append(
                [standing(project, as_of=at) for at in ("2026-01-05", "2026-02-15", "2026-05-01", "2026-08-01")]
            )
    assert found[0] == found[1]


def test_the_page_holds():
    [code] = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    exec(compile(code, str(PAGE), "exec"), {})


def test_a_connection_claims_no_more_than_it_may():
    with Prism.in_memory(tier=3) as prism, pytest.raises(RefusedError, match="its highest tier is 3"):
        prism.project("demo").claim("ADR-7", "status", "Accepted", source="a", tier=1)


def test_a_pattern_may_file_what_it_read_and_it_weighs_little(project):
    project.claim("ADR-7", "title", "Use Turtle", source="mail", tier=3, confidence=0.5)
    found = standing(project, "title")
    assert found == {"Use RDF": ("AFFIRMATIVE", "current"), "Use Turtle": ("CONTRADICTORY", None)}
