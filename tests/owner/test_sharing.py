"""Many programs on one store at once: nothing is lost, nothing is done twice, and nobody meets a lock."""

from __future__ import annotations

import os
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from prism_rdf.errors import AmbiguousError, BadArgument, BadQuery, IdempotencyConflict, PrismError, UnknownEntity
from prism_rdf.errors import ValidationError as Refused
from prism_rdf.owner.remote import RemotePrism
from prism_rdf.prism import Prism

PROCESSES, THREADS = 8, 4
WRITES = int(os.environ.get("PRISM_TEST_WRITES", "2"))


def test_a_store_is_asked_through_its_owner_unless_one_wants_it_alone(home: Any) -> None:
    with home.open() as prism, home.open() as second:
        assert type(prism) is RemotePrism
        made = prism.project("demo").entity("Project", {"name": "PrismGR"}, valid_from="2025")
        assert second.project("demo").state_as_of("PrismGR")["entity"] == made["entity"]
        assert second.projects() == ["demo"]
        assert second.commit_number == 2
        assert home.pid() not in (0, os.getpid())


def test_eight_processes_of_four_threads_write_one_entity(home: Any) -> None:
    with home.open() as prism:
        project = prism.project("demo")
        running = [home.worker("write", f"p{number}", THREADS, WRITES) for number in range(PROCESSES)]
        threads = [thread for process in home.workers(running) for thread in process]
        receipts = sorted((commit, value) for thread in threads for commit, value in thread)
        assert len(receipts) == PROCESSES * THREADS * WRITES
        assert [commit for commit, _ in receipts] == list(range(2, len(receipts) + 2))
        assert all(a[0] < b[0] for thread in threads for a, b in pairwise(thread)), "a thread's writes are in its order"
        logged = list(prism.log())
        assert [entry["commit"] for entry in logged] == list(range(1, len(receipts) + 2))
        history = [state["props"].get("description") for state in project.history("Counter")]
        assert sorted(value for value in history if value) == sorted(value for _, value in receipts)
        assert project.check() == []


def test_the_log_can_be_followed_and_recalled_from_while_it_is_written(home: Any) -> None:
    with home.open() as prism:
        project = prism.project("demo")
        running = [home.worker("write", f"p{number}", 2, 5) for number in range(2)]
        looks = 0
        while any(worker.poll() is None for worker in running):
            seen = [change.number for change in prism.changes(0)]
            assert seen == list(range(1, len(seen) + 1))
            assert project.recall("Counter")["legs"]["lexical"]["status"] in ("ok", "absent", "lagging")
            looks += 1
        home.workers(running)
        assert looks > 1


def test_threads_share_one_open_store(both: Any) -> None:
    project = both[0].project("demo")
    seen: list[str] = []

    def look() -> None:
        seen.extend(project.state_as_of("ADR-1")["identifier"] for _ in range(20))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["ADR-1"] * 160


def test_a_forked_child_has_connections_of_its_own(both: Any) -> None:
    remote, _ = both
    number = remote.commit_number
    child = os.fork()
    if child == 0:
        os._exit(0 if remote.commit_number == number else 1)
    assert [remote.commit_number for _ in range(50)] == [number] * 50
    assert os.waitpid(child, 0)[1] == 0


FAILING = {
    "unknown entity": (UnknownEntity, lambda prism: prism.project("demo").state_as_of("ADR-99")),
    "ambiguous": (AmbiguousError, lambda prism: prism.project("demo").state_as_of("the decision")),
    "refused": (Refused, lambda prism: prism.project("demo").fact("ADR-1", "titel", "Two")),
    "no SPARQL": (BadQuery, lambda prism: prism.sparql("SELECT ?a\nWHERE {")),
    "no dataset": (BadArgument, lambda prism: prism.sparql("ASK {}", dataset="raw", as_of="2025")),
    "nothing": (BadArgument, lambda prism: prism.project("demo").entity("ADR", {})),
    "no value": (BadArgument, lambda prism: prism.project("demo").fact("ADR-1", "title", object())),
}


@pytest.mark.parametrize("case", FAILING)
def test_an_error_is_the_same_through_the_owner(both: Any, case: str) -> None:
    kind, fail = FAILING[case]
    caught: list[PrismError] = []
    for prism in both:
        with pytest.raises(kind) as error:
            fail(prism)
        caught.append(error.value)
    remote, local = caught
    assert type(remote) is type(local)
    if case == "no value":
        return  # it cannot even be said to the owner, so the words differ
    for error in caught:
        for candidate in getattr(error, "candidates", ()):  # uuids are made anew in each store
            candidate.pop("uuid")
            candidate.pop("entity")
    assert remote.as_dict() == local.as_dict()
    assert str(remote) == str(local)


def test_a_wrong_call_is_a_type_error_and_changes_nothing(both: Any) -> None:
    for prism in both:
        with pytest.raises(TypeError, match="titel"):
            prism.project("demo").entity("ADR", {"title": "x"}, titel=1)


def test_what_only_the_owner_has_says_how_to_reach_it(both: Any) -> None:
    remote, _ = both
    with pytest.raises(AttributeError, match="exclusive=True"):
        _ = remote.store
    with pytest.raises(AttributeError, match="exclusive=True"):
        remote.answering("demo")


def test_a_closed_store_answers_nothing(both: Any) -> None:
    prism = Prism.open(both[0].folder.path.parent)
    assert prism.projects() == ["demo"]
    prism.close()
    with pytest.raises(BadArgument, match="closed"):
        prism.projects()


def test_the_same_key_is_the_same_write(both: Any) -> None:
    project = both[0].project("keyed")
    made = project.entity("Project", {"name": "A"}, idempotency_key="k")
    again = project.entity("Project", {"name": "A"}, idempotency_key="k")
    assert (again["entity"], again["commit"], again["replayed"]) == (made["entity"], made["commit"], True)
    with pytest.raises(IdempotencyConflict):
        project.entity("Project", {"name": "B"}, idempotency_key="k")


QUERIES = {
    "select": "SELECT ?number ?title ?nothing WHERE { ?a prism:number ?number ; prism:title ?title } ORDER BY ?number",
    "no row": "SELECT ?a WHERE { ?a prism:number 'ADR-99' }",
    "no column": "SELECT * WHERE {}",
    "ask": "ASK { ?a prism:number 'ADR-1' }",
    "graph": "CONSTRUCT { ?number prism:title _:b . _:b prism:title ?title } WHERE { ?a prism:number ?n ; prism:title "
    "?title BIND(IRI(?n) AS ?number) }",
    "terms": """SELECT ?v WHERE { VALUES ?v { 1 1.5 1e0 true "x"@en "a\\tb\\nc\\"d\\\\" "" <urn:ü> "2020"^^xsd:gYear
        "01"^^xsd:integer UNDEF } }""",
}


@pytest.mark.parametrize("name", QUERIES)
def test_an_answer_is_the_same_through_the_owner(both: Any, name: str) -> None:
    answers = [prism.sparql(QUERIES[name], as_of="2025-06-01") for prism in both]
    assert len({(a.kind, a.dataset, a.as_of, a.known_at, tuple(a.variables)) for a in answers}) == 1
    assert [answer.commit for answer in answers] == [prism.commit_number for prism in both]
    form = "nt" if answers[0].kind == "graph" else "tsv" if answers[0].kind == "select" else "json"
    if name == "graph":
        assert len({len(list(answer.rows())) for answer in answers}) == 1
        texts = [prism.sparql(QUERIES[name]).serialize("ttl").decode() for prism in both]
        assert ["prism:title" in text for text in texts] == [True, True]
        return
    rows = [list(answer.rows()) for answer in answers]
    assert rows[0] == rows[1]
    written = [prism.sparql(QUERIES[name]).serialize(form) for prism in both]
    assert written[0] == written[1]


def test_an_answer_of_any_size_comes_whole(both: Any) -> None:
    query = "SELECT ?v WHERE { VALUES ?a { %s } VALUES ?b { %s } BIND(CONCAT(STR(?a), 'x', STR(?b)) AS ?v) }"
    numbers = " ".join(map(str, range(400)))
    remote, _ = both
    rows = [row[0].value for row in remote.sparql(query % (numbers, numbers)).rows()]
    assert len(set(rows)) == len(rows) == 160_000
    long = remote.sparql(f"SELECT ('{'y' * 3_000_000}' AS ?v) WHERE {{}}").serialize("csv")
    assert len(long) > 3_000_000


def test_a_folder_is_read_here_and_written_there(home: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = tmp_path / "records"
    records.mkdir()
    for number in range(1, 4):
        text = f"# ADR-{number:03}: Title {number}\n\nStatus: Accepted\n\nSee ADR-001.\n"
        (records / f"ADR-{number:03}-x.md").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)  # the owner has another working folder
    told: list[tuple[int, int]] = []
    with home.open() as prism:
        project = prism.project("demo")
        answer = project.ingest("records", progress=lambda done, total, label: told.append((done, total)))
        assert answer["report"]["documents"] == 3
        assert told
        assert [state["identifier"] for state in project.list_entities("ADR")] == ["ADR-001", "ADR-002", "ADR-003"]
        assert project.ingest("records")["receipt"]["commit"] is None
        saved = prism.backup("saved")
        assert Path(str(saved["target"])) == tmp_path / "saved"
    with Prism.in_memory() as local:
        assert local.project("demo").ingest("records")["report"] == answer["report"]
