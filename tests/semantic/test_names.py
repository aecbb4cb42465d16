"""What a name means: at the time, as believed, followed to the preferred entity; and what no name can be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_rdf.errors import AmbiguousError, BadArgument, RefusedError, UnknownEntity
from prism_rdf.semantic.aliases import folded


def meant(project, name, **when):
    return project.resolve_alias(name, **when)["uuid"]


def test_a_project_that_was_renamed_is_found_by_both_names_now_and_then(project, make):
    prism = make("Project", "2024-01-01", name="PrismGR")
    project.transition(prism, {"name": "Prism"}, "rename", valid_from="2026-04-19")
    for name in ("PrismGR", "Prism"):
        for as_of, called in (("2025-06-01", "PrismGR"), ("2026-05-01", "Prism"), (None, "Prism")):
            assert project.resolve(name, as_of) == project.names.entity(prism)
            state = project.state_as_of(name, as_of)
            assert (state["uuid"], state["identifier"]) == (prism, called)
    assert project.state_as_of("PrismGR", "2023-12-31")["reason"] == "its first state begins at 2024-01-01T00:00:00Z"


def test_the_alias_of_a_renamed_project_is_found_however_it_is_written(project, make):
    prism = make("Project", name="Prism")
    project.alias("Prism  GR", prism, valid_until="2026-04-18")
    for spelling in ("Prism GR", "PRISM GR", " prism\u00a0gr ", "Ｐｒｉｓｍ GR"):
        found = project.resolve_alias(spelling)
        assert found["uuid"] == prism
        assert found["chain"][0]["from"] == "Prism  GR", "the spelling is kept"
    with pytest.raises(UnknownEntity):
        project.resolve("PrismGR")


def test_a_number_that_was_freed_and_given_again_means_what_it_meant_at_the_time(project, make):
    first = make("ADR", number="ADR-044", title="Ground truth")
    project.transition(first, {"number": "ADR-808"}, "renumber", valid_from="2026-02-01")
    second = make("ADR", "2026-03-01", number="ADR-044", title="Another one")
    assert meant(project, "ADR-044", as_of="2026-01-01") == first
    assert meant(project, "ADR-044", as_of="2026-02-15") == first, "nobody bore it: who bore it last"
    assert meant(project, "ADR-044", as_of="2026-03-02") == second
    assert meant(project, "ADR-044") == second
    assert meant(project, "ADR-044", as_of="2024-01-01") == first, "who bears it first after"
    why = project.resolve_alias("ADR-044", as_of="2026-01-01")["why"]
    assert why == (
        "'ADR-044' was its identifier from 2025-01-01T00:00:00Z until 2026-02-01T00:00:00Z; now 'ADR-044' names ADR-044"
    )
    with pytest.raises(AmbiguousError) as raised:
        project.state_as_of("ADR-044", "2026-01-01")
    assert sorted(each["why"] for each in raised.value.candidates) == [
        "'ADR-044' is its identifier since 2026-03-01T00:00:00Z",
        "'ADR-044' was its identifier from 2025-01-01T00:00:00Z until 2026-02-01T00:00:00Z",
    ]


def test_an_alias_that_was_freed_and_given_again_means_what_it_meant_at_the_time(project, make):
    first, second = make("Component", name="store"), make("Component", name="graph")
    project.alias("db", first, kind="synonym", valid_from="2025-01-01", valid_until="2025-06-30")
    project.alias("db", second, kind="synonym", valid_from="2026-01-01")
    assert [meant(project, "DB", as_of=day) for day in ("2025-03-01", "2025-09-01", "2026-02-01")] == [
        first,
        first,
        second,
    ]


def test_a_name_means_what_was_believed_of_it_at_a_system_time(project, make, prism):
    first, second = make("Component", name="store"), make("Component", name="graph")
    project.alias("db", first, kind="synonym")
    then = prism.commit_number
    project.revert(then)
    project.alias("db", second, kind="synonym")
    assert meant(project, "db") == second
    assert meant(project, "db", known_at=then) == first
    assert project.state_as_of("db", known_at=then)["uuid"] == first
    assert meant(project, "db", known_at=1) == second, "it was not known then: what it means as it is believed now"


def test_the_interval_is_that_of_the_name_and_not_of_the_states_that_bear_it(project, make):
    one = make("ADR", number="ADR-1", title="One")
    for day, status in (("2025-02-01", "Proposed"), ("2025-03-01", "Accepted"), ("2025-04-01", "Frozen")):
        project.fact(one, "status", status, valid_from=day)
    project.fact(one, "number", "ADR-2", valid_from="2025-05-01")
    [step] = project.resolve_alias("ADR-1")["chain"]
    assert (step["since"], step["until"]) == ("2025-01-01T00:00:00Z", "2025-05-01T00:00:00Z")


def test_several_bearers_are_listed_each_with_its_interval(project, make):
    for title in ("One", "Two"):
        make("ADR", number="ADR-7", title=title)
    with pytest.raises(AmbiguousError, match="'ADR-7' names 2 entities of demo") as raised:
        project.resolve_alias("ADR-7")
    assert {each["why"] for each in raised.value.candidates} == {"'ADR-7' is its identifier since 2025-01-01T00:00:00Z"}
    assert len({each["uuid"] for each in raised.value.candidates}) == 2


def test_what_nobody_is_called_is_told_with_what_is_spelt_like_it(project, make):
    prism = make("Project", name="Prism")
    project.alias("tri-graph", prism, kind="synonym")
    with pytest.raises(UnknownEntity) as raised:
        project.resolve_alias("Prizm")
    assert raised.value.mend.startswith("did you mean 'Prism'? ")
    with pytest.raises(UnknownEntity) as raised:
        project.resolve("trigraph")
    assert raised.value.mend.startswith("did you mean 'tri-graph'? ")
    with pytest.raises(UnknownEntity) as raised:
        project.resolve("nothing alike")
    assert raised.value.mend.startswith("prism entities lists")


def test_an_entity_of_another_project_is_told_as_such(project, prism, make):
    other = prism.project("other").entity("Project", {"name": "Elsewhere"})
    make("Project", name="Prism")
    with pytest.raises(UnknownEntity, match="is of the project other, not of demo"):
        project.alias("x", other["entity"])
    with pytest.raises(UnknownEntity, match="no entity of demo"):
        project.alias("x", other["uuid"])
    with pytest.raises(UnknownEntity, match="is of the project other"):
        project.merge("Prism", other["entity"])


NO_NAMES = ["", "  ", "\u200b", "a\tb", "a\nb", "bell\x07", "\u202eevil", "line\u2028two"]


@pytest.mark.parametrize("form", NO_NAMES, ids=map(ascii, NO_NAMES))
def test_a_form_that_shows_nothing_or_steers_the_text_is_no_name(project, make, form):
    make("Project", name="Prism")
    with pytest.raises(BadArgument):
        project.alias(form, "Prism")


@pytest.mark.parametrize("form", ["Проект", "مشروع", "क्\u200dष", "👩‍💻", "C++", "naïve"])
def test_a_name_may_be_of_any_script(project, make, form):
    prism = make("Project", name="Prism")
    project.alias(form, prism, kind="synonym")
    assert meant(project, form) == prism


def test_the_name_that_an_entity_bears_needs_no_alias(project, make):
    prism = make("Project", name="Prism")
    for kind in ("former", "synonym"):
        with pytest.raises(RefusedError, match="'Prism' is what Prism is called now"):
            project.alias("Prism", prism, kind=kind)
    assert project.alias("Prism", prism, valid_from="2024-01-01", valid_until="2024-12-31").commit is not None


@pytest.mark.parametrize("form", ["kraken", "Kraken", "KRAKEN"])
def test_an_alias_that_another_entity_is_called_says_that_both_are_meant(project, make, form):
    kraken, hydra = make("Project", name="Kraken"), make("Project", name="Hydra")
    [note] = project.alias(form, hydra, kind="synonym").notes
    assert note == (
        f"'Kraken' is also the name of Kraken ({kraken}): both are meant from now on, and a uuid tells them apart"
    )
    with pytest.raises(AmbiguousError):
        project.resolve("Kraken")
    assert project.alias(form, hydra, valid_from="2020-01-01", valid_until="2021-01-01").notes == ()
    notes = project.alias(form, make("Project", name="Typhon"), kind="synonym").notes
    assert len(notes) == 2
    assert any(f"is also another name of Hydra ({hydra})" in note for note in notes)


def test_an_alias_of_a_name_that_is_of_the_same_thing_by_a_merge_is_not_told(project, make):
    kraken, hydra = make("Project", name="Kraken"), make("Project", name="Hydra")
    project.merge(kraken, hydra)
    assert project.alias("kraken", hydra, kind="synonym").notes == ()


def test_the_uuid_or_iri_of_an_entity_is_no_alias(project, make):
    kraken, hydra = make("Project", name="Kraken"), make("Project", name="Hydra")
    for form in (kraken, project.names.entity(kraken).value):
        with pytest.raises(RefusedError, match="is the uuid or the IRI of Kraken"):
            project.alias(form, hydra)


def test_an_alias_that_is_believed_already_changes_nothing(project, make):
    prism = make("Project", name="Prism")
    assert project.alias("P", prism, kind="synonym").commit is not None
    assert project.alias("P", prism, kind="synonym").commit is None


def test_a_bare_mention_does_not_stretch_over_a_longer_word(project, make):
    prism = make("Project", name="Prism")
    project.alias("PR", prism, kind="synonym")
    project.remember("PRs are open", about=[])
    assert project.recall("the PRs")["anchors"] == []
    assert [each["entity"] for each in project.recall("the PR")["anchors"]] == [
        f"urn:prism:default/demo/entity/{prism}"
    ]


@given(st.text(max_size=20))
def test_folding_twice_is_folding_once(text):
    assert folded(folded(text)) == folded(text)
    assert folded(f"  {text}\t") == folded(text)
