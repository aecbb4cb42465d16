"""Files of RDF in free graphs: every format, few statements and many, whole or not at all, found beside the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from prism_rdf import Prism
from prism_rdf.errors import BadArgument, NotFoundError, PrismError, RefusedError
from prism_rdf.updating import loading

TURTLE = '@prefix : <urn:> . :a :p "x", _:b . _:b :q <relative> .'


@pytest.fixture
def prism() -> Iterator[Prism]:
    with Prism.in_memory() as opened:
        yield opened


def _count(prism: Prism, graph: str, pid: str | None = None) -> int:
    (row,) = prism.sparql(f"SELECT (COUNT(*) AS ?n) {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}", pid=pid).rows()
    return int(row[0].value)


@pytest.mark.parametrize(
    ("suffix", "content", "count"),
    [
        ("ttl", TURTLE, 3),
        ("nt", '<urn:a> <urn:p> "x" .\n', 1),
        ("nq", '<urn:a> <urn:p> "x" <urn:g> .\n<urn:a> <urn:p> "y" .\n', 2),
        ("trig", '<urn:g> { <urn:a> <urn:p> "x" } <urn:a> <urn:p> "y" .', 2),
        ("jsonld", '{"@id": "urn:a", "urn:p": "x"}', 1),
        (
            "rdf",
            '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:">'
            '<r:Description r:about="urn:a"><e:p>x</e:p></r:Description></r:RDF>',
            1,
        ),
    ],
)
def test_a_file_of_each_format(prism: Prism, tmp_path: Path, suffix: str, content: str, count: int) -> None:
    file = tmp_path / f"file.{suffix}"
    file.write_text(content, "utf-8")
    receipt = prism.load(file, "urn:g", pid="demo")
    assert receipt.notes == (f"{count} {'triple' if count == 1 else 'triples'} added, 0 removed",)
    assert _count(prism, "urn:g") == count
    assert prism.load(content.encode(), "urn:other", format=suffix, base_iri="urn:base:").commit == 2


def test_relative_iris_start_from_the_file_or_what_is_given(prism: Prism, tmp_path: Path) -> None:
    file = tmp_path / "file.ttl"
    file.write_text("<> <urn:p> <x> .", "utf-8")
    prism.load(file, "urn:g")
    prism.load(file, "urn:h", base_iri="http://example.org/d/f")
    found = prism.sparql("SELECT ?g ?s ?o { GRAPH ?g { ?s ?p ?o } } ORDER BY ?g").rows()
    assert [[term.value for term in row] for row in found] == [
        ["urn:g", file.as_uri(), (tmp_path / "x").as_uri()],
        ["urn:h", "http://example.org/d/f", "http://example.org/d/x"],
    ]


def test_blank_nodes_of_two_files_are_two(prism: Prism) -> None:
    prism.load(b"_:same <urn:p> 'x' .", "urn:g", format="ttl")
    prism.load(b"_:same <urn:p> 'x' .", "urn:g", format="ttl")
    assert _count(prism, "urn:g") == 2


def test_a_graph_can_be_replaced(prism: Prism) -> None:
    prism.load(b"<urn:a> <urn:p> 1, 2 .", "urn:g", format="ttl")
    receipt = prism.load(b"<urn:a> <urn:p> 2, 3 .", "urn:g", format="text/turtle", replaces=True)
    assert receipt.notes == ("1 triple added, 1 removed",)
    assert prism.load(b"", "urn:g", format="ttl", replaces=True).notes == ("0 triples added, 2 removed",)
    assert prism.free_graphs() == ["urn:g"]


def test_many_statements_go_into_a_new_graph_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_FEW", 50)
    file = tmp_path / "many.ttl"
    file.write_text("".join(f"<urn:n{i}> <urn:p> {i}.50 , _:b{i} .\n" for i in range(200)), "utf-8")
    with Prism.open(tmp_path / "home", exclusive=True) as prism:
        receipt = prism.load(file, "urn:g", pid="demo", idempotency_key="k")
        assert receipt.notes == ("400 statements read",)
        assert (receipt.commit, _count(prism, "urn:g"), prism.free_graphs("demo")) == (1, 400, ["urn:g"])
        assert prism.load(file, "urn:g", pid="demo", idempotency_key="k").replayed
        assert prism.load(file, "urn:g", pid="demo").notes == ("200 triples added, 0 removed",), (
            "the blank nodes are new"
        )
        held = set(prism.store._store)
        logged = {quad for change in prism.changes(0) for quad in change.adds}
        assert {quad for quad in held if str(quad.graph_name) == "<urn:g>"} <= logged
        assert [(each["commit"], each["verb"]) for each in prism.log()] == [(1, "load"), (2, "load")]
    with Prism.open(tmp_path / "home", exclusive=True) as again:
        assert set(again.store._store) == held


def test_what_the_log_has_of_many_statements_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_FEW", 10)
    text = "".join(f"<urn:n{i}> <urn:p> _:b{i} .\n" for i in range(20)).encode()
    prism = Prism.open(tmp_path / "home", exclusive=True)

    def fails(nquads: str) -> None:
        raise RefusedError("no room")

    monkeypatch.setattr(prism.store, "load_text", fails)
    with pytest.raises(RefusedError, match="no room"):
        prism.load(text, "urn:g", format="nt")
    assert prism.free_graphs() == []
    prism.close()
    with Prism.open(tmp_path / "home", exclusive=True) as again:
        assert (again.commit_number, _count(again, "urn:g")) == (1, 20)


@pytest.mark.parametrize("few", [10_000, 1])
@pytest.mark.parametrize(
    ("content", "options", "error", "says"),
    [
        (b"<urn:a> <urn:p> 1 . <urn:a> <urn:p> .", {"graph": "urn:g", "format": "ttl"}, RefusedError, "line 1"),
        (b"<urn:a> <urn:p> 1 .", {"format": "ttl"}, RefusedError, "no graph"),
        (b"_:g { <urn:a> <urn:p> 1 }", {"format": "trig", "graph": "urn:g"}, RefusedError, "without an IRI"),
        (b"<urn:a> <urn:p> 1 .", {"graph": "urn:g"}, BadArgument, "not known"),
        (b"<urn:a> <urn:p> 1 .", {"graph": "urn:g", "format": "docx"}, BadArgument, "no format 'docx'"),
        (b"<urn:a> <urn:p> 1 .", {"graph": "not an iri", "format": "ttl"}, BadArgument, "IRI"),
        (
            b"<urn:a> <urn:p> 1, 2 .",
            {"graph": "urn:prism:default/demo/graph/temporal", "format": "ttl"},
            RefusedError,
            "kept by the store",
        ),
        (
            b"<urn:prism:default/-/graph/meta> { <urn:a> <urn:p> 1, 2 }",
            {"format": "trig"},
            RefusedError,
            "kept by the store",
        ),
        (b"<urn:of-other> { <urn:a> <urn:p> 1, 2 }", {"format": "trig"}, RefusedError, "not of the project demo"),
    ],
)
def test_what_cannot_be_loaded_changes_nothing(
    prism: Prism,
    monkeypatch: pytest.MonkeyPatch,
    few: int,
    content: bytes,
    options: dict[str, str],
    error: type[PrismError],
    says: str,
) -> None:
    monkeypatch.setattr(loading, "_FEW", few)
    prism.update("CREATE GRAPH <urn:of-other>", pid="other")
    with pytest.raises(error, match=says) as caught:
        prism.load(content, pid="demo", **options)
    assert caught.value.mend
    assert (prism.commit_number, prism.free_graphs()) == (1, ["urn:of-other"])


def test_a_file_that_is_not_there_and_a_tier_that_only_guesses(tmp_path: Path) -> None:
    with Prism.in_memory(tier=3) as guessing, pytest.raises(RefusedError):
        guessing.load(b"<urn:a> <urn:p> 1 .", "urn:g", format="ttl")
    with Prism.in_memory() as prism, pytest.raises(NotFoundError, match="cannot read"):
        prism.load(tmp_path / "none.ttl", "urn:g")


def test_too_much_for_one_load(prism: Prism, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "MOST_BYTES", 20)
    with pytest.raises(RefusedError, match="has 28 bytes"):
        prism.load(b"<urn:a> <urn:p> 1, 2, 3, 4 .", "urn:g", format="ttl")
    assert prism.commit_number == 0


def test_free_graphs_are_found_beside_the_rest(prism: Prism) -> None:
    made = prism.project("demo").entity("ADR", {"number": "ADR-1", "title": "One"})
    prism.load(f'<{made["entity"]}> <urn:note> "seen" .'.encode(), "urn:notes", format="ttl", pid="demo")
    beside = "SELECT ?t ?n { ?d prism:title ?t . GRAPH <urn:notes> { ?d <urn:note> ?n } }"
    for pid in (None, "demo"):
        assert [[t.value for t in row] for row in prism.sparql(beside, pid=pid).rows()] == [["One", "seen"]]
    assert list(prism.sparql("SELECT ?n { ?d <urn:note> ?n }").rows()) == []
    assert len(list(prism.sparql("SELECT ?n FROM <urn:notes> { ?d ?p ?n }", pid="demo").rows())) == 1
    prism.project("other").entity("ADR", {"title": "Other"})
    assert list(prism.sparql(beside, pid="other").rows()) == []
    for graph in ("urn:notes", "urn:not:there"):
        assert list(prism.sparql(f"SELECT ?n FROM <{graph}> {{ ?d ?p ?n }}", pid="other").rows()) == []


def test_a_graph_that_is_being_loaded_is_seen_whole_or_not_at_all(
    prism: Prism, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_FEW", 10)
    text = "".join(f"<urn:n{i}> <urn:p> {i} .\n" for i in range(20)).encode()
    seen = []
    load_text, asked = prism.store.load_text, "SELECT * FROM <urn:g> { ?s ?p ?o }"

    def in_two_steps(nquads: str) -> None:
        lines = nquads.splitlines(keepends=True)
        for part in (lines[:10], lines[10:]):
            load_text("".join(part))
            seen.append(len(list(prism.sparql(asked).rows())))

    monkeypatch.setattr(prism.store, "load_text", in_two_steps)
    prism.load(text, "urn:g", format="ttl")
    assert [*seen, len(list(prism.sparql(asked).rows()))] == [0, 0, 20]
