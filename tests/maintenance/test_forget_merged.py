"""Of two that were merged one may be forgotten: no name of it stays on the other, which is as it was."""

from __future__ import annotations

from canary import CANARY
from pyoxigraph import NamedNode
from whole_stores import files_with

from prism_rdf import Prism


def test_forgetting_one_of_two_that_were_merged_leaves_the_other(home):
    with Prism.open(home, exclusive=True) as prism:
        project = prism.project("demo")
        thing, other, third = (
            project.entity("Component", {"name": name}, valid_from="2025-01-01")["uuid"]
            for name in (CANARY, "other", "third")
        )
        before = project.state_as_of(other)["props"], project.state_as_of(third)["props"]
        project.alias("the", thing, kind="synonym")  # a name that no text is searched for
        project.merge(thing, other, description=f"{CANARY} is the other one")
        project.merge(other, third)
        told = project.forget(CANARY, dry_run=True)
        assert {"merge", "entity"} <= {each["what"] for each in told["going"]}
        assert f"{project.names.entity(other).value} was merged with it and stays: is it to go too?" in told["notes"]
        project.forget(CANARY)
        assert project.check() == []
        assert project.resolve("other") == project.names.entity(third)
        project.unmerge("other")
        assert (project.state_as_of(other)["props"], project.state_as_of(third)["props"]) == before
        labels = prism.store.quads_for_pattern(None, NamedNode("http://www.w3.org/2004/02/skos/core#altLabel"), None)
        assert [quad.object.value for quad in labels] == []
        assert not any('"the"' in str(quad) for change in prism.changes(0) for quad in change.adds)
    assert files_with(home, CANARY, thing) == []


def test_the_preferred_one_may_be_forgotten_and_the_merged_one_is_itself_again(home):
    with Prism.open(home, exclusive=True) as prism:
        project = prism.project("demo")
        one = project.entity("Component", {"name": "one"}, valid_from="2025-01-01")["uuid"]
        thing = project.entity("Component", {"name": CANARY}, valid_from="2025-01-01")["uuid"]
        project.merge(one, thing)
        project.forget(thing)
        assert project.check() == []
        assert project.resolve("one") == project.names.entity(one)
    assert files_with(home, CANARY, thing) == []
