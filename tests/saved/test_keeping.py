"""A project's own queries are kept in its store, hide none that ships, and go into exports."""

from __future__ import annotations

from pathlib import Path

import pytest

from prism_rdf import Prism
from prism_rdf.errors import BadArgument, BadQuery, NotFoundError, RefusedError

TITLES = "#+ summary: The titles.\nSELECT ?title { ?s prism:title ?title }"
HEAD = "#+ summary: s\n"


def test_a_query_is_kept_found_replaced_and_removed(tmp_path: Path) -> None:
    with Prism.open(tmp_path / "a", exclusive=True) as prism:
        project = prism.project("demo")
        project.entity("ADR", {"number": "ADR-1", "title": "Use RDF"})
        assert project.add_query(TITLES, "titles").commit == 2
        assert project.add_query(TITLES, "titles").commit is None
        prism.export(tmp_path / "all.trig")
    with Prism.open(tmp_path / "a", exclusive=True) as prism:
        project = prism.project("demo")
        assert [row[0].value for row in project.run_query("titles").rows()] == ["Use RDF"]
        assert project.saved_query("titles")["text"] == TITLES
        with pytest.raises(RefusedError, match="has a query named titles"):
            project.add_query(f"{TITLES} LIMIT 1", "titles")
        project.add_query(f"{TITLES} LIMIT 1", "titles", replace=True)
        assert [each["name"] for each in project.queries() if each["origin"] == "project"] == ["titles"]
        assert "titles" not in {each["name"] for each in prism.project("other").queries()}
        project.remove_query("titles")
        with pytest.raises(NotFoundError, match="no saved query 'titles'"):
            project.run_query("titles")
    Prism.import_(tmp_path / "all.trig", tmp_path / "b")
    with Prism.open(tmp_path / "b", exclusive=True) as prism:
        assert prism.project("demo").saved_query("titles")["text"] == TITLES


def test_what_ships_is_neither_hidden_nor_removed() -> None:
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        with pytest.raises(RefusedError, match="that ships is named orphans"):
            project.add_query(TITLES, "orphans", replace=True)
        with pytest.raises(RefusedError, match="orphans ships"):
            project.remove_query("orphans")
        graph = f"{prism.base}/demo/free/queries"
        prism.update(
            f"INSERT DATA {{ GRAPH <{graph}> {{ <{graph}/orphans> rdf:value '{HEAD}' }} }}".replace("\n", " "),
            pid="demo",
        )
        told = {each["origin"]: each["problem"] for each in project.queries() if each["name"] == "orphans"}
        assert told["shipped"] == ""
        assert "under another one" in told["project"]
        assert project.saved_query("orphans")["origin"] == "shipped"
        project.remove_query("orphans")
        assert [each["origin"] for each in project.queries() if each["name"] == "orphans"] == ["shipped"]


def test_one_that_was_written_past_the_verb_says_what_is_wrong_with_it() -> None:
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        graph = f"{prism.base}/demo/free/queries"
        prism.update(f"INSERT DATA {{ GRAPH <{graph}> {{ <{graph}/bare> rdf:value 'ASK {{}}' }} }}", pid="demo")
        [told] = [each for each in project.queries() if each["name"] == "bare"]
        assert "says no summary" in told["problem"]
        with pytest.raises(BadArgument, match="bare cannot be run"):
            project.run_query("bare")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("SELECT * { ?s ?p ?o }", "says no summary"),
        (HEAD + "#+ colour: red\nASK {}", "has the heading 'colour'"),
        (HEAD + HEAD + "ASK {}", "has the heading 'summary'"),
        (HEAD + "#+ dataset: past\nASK {}", "has the dataset 'past'"),
        (HEAD + "#+ parameters:\n#+   x: it\nASK { $x ?p ?o }", "has the parameter 'x: it'"),
        (HEAD + "#+ parameters:\n#+   x (colour): it\nASK { $x ?p ?o }", "has the parameter 'x (colour): it'"),
        (HEAD + "#+ parameters:\n#+   pid (iri): it\nASK { $pid ?p ?o }", "named 'pid'"),
        (HEAD + "#+ parameters:\n#+   x (iri): it\nASK {}", "declares x and does not use it"),
        (HEAD + "ASK { $x ?p ?o }", "uses $x, which its header does not declare"),
        (HEAD + "ASK { GRAPH $temporal { ?s ?p ?o } }", "uses $temporal, a graph as it is stored"),
    ],
)
def test_a_header_that_is_wrong_is_refused(text: str, says: str) -> None:
    with Prism.in_memory() as prism, pytest.raises(BadArgument) as raised:
        prism.project("demo").add_query(text, "mine")
    assert says in raised.value.message


def test_what_is_not_sparql_or_asks_elsewhere_is_refused() -> None:
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        for text in ("SELECT {", "INSERT DATA { <urn:a> <urn:b> 1 }"):
            with pytest.raises(BadQuery):
                project.add_query(HEAD + text, "mine")
        with pytest.raises(RefusedError, match="SERVICE"):
            project.add_query(HEAD + "ASK { SERVICE <urn:x> { ?s ?p ?o } }", "mine")
        for name in ("", "A", "a/b", "../x", "a b", "x" * 65):
            with pytest.raises(BadArgument, match="not usable"):
                project.add_query(HEAD + "ASK {}", name)
        assert prism.commit_number == 0
