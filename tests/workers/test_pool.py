"""What a worker answers is what the store says now; who asks too much is told so, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat

from prism_rdf.errors import (
    BadArgument,
    BadQuery,
    PrismError,
    QueryStopped,
    QueryTimeout,
    QueryTooLarge,
    TooManyQueries,
)
from prism_rdf.workers.asking import asked_by
from prism_rdf.workers.formats import RESULT_FORMATS
from prism_rdf.workers.slow import SlowLog

ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
ALL = "SELECT ?s ?p ?o { ?s ?p ?o }"
Make = Callable[..., Any]
GRAPH = NamedNode("urn:g")


def waited(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()


def begun(asked: Any, text: str, **options: Any) -> tuple[threading.Thread, list[BaseException]]:
    """Ask in a thread; return it, and what it will have raised."""
    raised: list[BaseException] = []

    def ask() -> None:
        try:
            asked.text(text, **options)
        except PrismError as error:
            raised.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    return thread, raised


def test_every_format_is_what_the_engine_writes(make: Make) -> None:
    asked = make()
    for name, form in RESULT_FORMATS.items():
        here = asked.store.query(ALL, default_graph=[GRAPH]).serialize(format=form)
        assert sorted(asked.text(ALL, name)) == sorted(here.decode()), name
    assert asked.answer(ALL).variables == ["s", "p", "o"]
    assert asked.text("ASK { ?s ?p ?o }", "json") == '{"head":{},"boolean":true}'
    graph = "CONSTRUCT { ?s a ?o } WHERE { ?s ?p ?o FILTER(?o = 'value 7') }"
    assert asked.answer(graph).kind == "graph"
    assert asked.text(graph, "nt") == ('<urn:s7> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "value 7" .\n')


def test_an_answer_is_never_older_than_its_question(make: Make) -> None:
    asked = make()
    count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    assert asked.text(count) == "?n\n2000\n"
    for number in range(2000, 2030):
        nameless = Quad(BlankNode("b"), NamedNode("urn:p"), Literal(number), GRAPH)
        asked.store.apply([Quad(NamedNode("urn:s"), NamedNode("urn:p"), Literal(number), GRAPH), nameless], ())
        assert asked.text(count) == f"?n\n{2000 + 2 * (number - 1999)}\n"
    asked.store.apply((), list(asked.store.quads_for_pattern(NamedNode("urn:s"), None, None, GRAPH)))
    assert asked.text(count) == "?n\n2030\n"
    asked.store.load([Quad(NamedNode("urn:t"), NamedNode("urn:p"), Literal(n), GRAPH) for n in range(100)])
    assert asked.text(count) == "?n\n2130\n"
    assert asked.text("SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s <urn:p> ?o FILTER(isBlank(?s)) }") == "?n\n1\n"


def test_the_commit_of_an_answer_is_that_of_its_content(make: Make) -> None:
    asked = make()
    meta = [NamedNode(iri) for iri in ("urn:base", "urn:count", "urn:meta")]
    last = None
    for number in (1, 2, 3):
        now = Quad(meta[0], meta[1], Literal(number), meta[2])
        asked.store.apply([now], [last] if last else ())
        last = now
        assert asked.answer("ASK {}").commit == number
    assert asked.answer("ASK {}", commit=lambda: 77).commit == 77


def test_an_answer_is_cut_after_so_many_rows_and_says_so(make: Make) -> None:
    asked = make(rows=1500)
    for most, rows, form in ((3, 3, "json"), (1499, 1499, "csv"), (None, 1500, "tsv"), (5000, 1500, "xml")):
        answer = asked.answer(ALL, max_rows=most)
        assert answer.truncated
        text = b"".join(answer.stream(form, None)).decode()
        assert text.count("value ") == rows
    whole = asked.answer("SELECT ?s ?p ?o { ?s ?p ?o FILTER(?o < 'value 2') }", max_rows=1112)
    number = b"".join(whole.stream(form, None)).decode().count("value ")
    assert not whole.truncated
    exact = asked.answer("SELECT ?s ?p ?o { ?s ?p ?o FILTER(?o < 'value 2') }", max_rows=number)
    assert not exact.truncated
    assert asked.answer("SELECT ?s ?p ?o { ?s ?p ?o FILTER(?o < 'value 2') }", max_rows=number - 1).truncated
    graph = asked.answer("CONSTRUCT WHERE { ?s ?p ?o }", max_rows=2)
    assert graph.truncated
    assert b"".join(graph.stream("nt", None)).count(b"\n") == 2


def test_a_fault_in_a_query_is_told_and_the_worker_goes_on(make: Make) -> None:
    asked = make(workers=1)
    asked.text(ALL)
    before = set(os.listdir(asked.pool.folder))
    with pytest.raises(SyntaxError, match="1:6"):
        asked.text("SELEC")
    assert asked.text("ASK {}", "csv") == "true"
    assert set(os.listdir(asked.pool.folder)) == before
    with pytest.raises(BadArgument, match="timeout"):
        asked.text("ASK {}", timeout=0)
    with pytest.raises(BadArgument, match="max_rows"):
        asked.text("ASK {}", max_rows=0)


def test_a_query_that_overflows_the_stack_of_the_engine_breaks_nothing_else(make: Make) -> None:
    asked = make(workers=1)
    with pytest.raises(BadQuery, match="nested too deeply"):
        asked.text("ASK { FILTER(" + "(" * 200_000 + "1" + ")" * 200_000 + ") }")
    assert asked.text("ASK {}", "csv") == "true"


def test_what_eats_memory_is_stopped(make: Make) -> None:
    asked = make(workers=1, memory=200)
    double = " ".join(f"BIND(CONCAT(?v{n}, ?v{n}) AS ?v{n + 1})" for n in range(40))
    with pytest.raises(QueryTooLarge, match="memory"):
        asked.text(f"SELECT (STRLEN(?v40) AS ?n) {{ BIND('0123456789' AS ?v0) {double} }}")
    assert asked.text("ASK {}", "csv") == "true"
    assert json.loads(asked.log.path.read_text())["outcome"] == "query-too-large"


def test_a_worker_that_had_much_memory_is_not_kept(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = make(workers=1)
    asked.text(ALL)
    kept = os.listdir(asked.pool.folder)
    asked.text(ALL)
    assert os.listdir(asked.pool.folder) == kept
    monkeypatch.setattr("prism_rdf.workers.pool._KEPT_MEMORY", 1)
    asked.text(ALL)
    assert os.listdir(asked.pool.folder) == []


def test_an_answer_that_is_too_large_breaks_off(make: Make) -> None:
    asked = make(size=1)
    rows = asked.answer("SELECT ?o ?q { ?s ?p ?o . ?t ?p ?q }").stream("json", None)
    with pytest.raises(QueryTooLarge, match="larger than 1 MiB"):
        for _ in rows:
            pass
    assert asked.pool.running() == []


def test_as_many_wait_as_may_and_the_next_is_refused(make: Make) -> None:
    asked = make(workers=1, queue=1)
    first, told = begun(asked, ENDLESS)
    assert waited(lambda: [each["state"] for each in asked.pool.running()] == ["running"])
    second, also_told = begun(asked, ENDLESS, timeout=0.3)
    assert waited(lambda: [each["state"] for each in asked.pool.running()] == ["running", "waiting"])
    with pytest.raises(TooManyQueries) as refused:
        asked.text("ASK {}")
    assert (refused.value.exit_status, refused.value.http_status, refused.value.retry_after) == (7, 503, 1)
    second.join(5)
    assert [type(error) for error in also_told] == [TooManyQueries]
    [running] = asked.pool.running()
    assert running["query"] == ENDLESS
    assert running["who"] == f"process {os.getpid()}"
    assert asked.pool.stop(running["id"], "it was enough")
    first.join(5)
    assert [str(error) for error in told] == ["the query was stopped: it was enough"]
    assert not asked.pool.stop(running["id"], "again")
    assert asked.text("ASK {}", "csv") == "true"


def test_a_query_that_waits_can_be_stopped(make: Make) -> None:
    asked = make(workers=1)
    first, _ = begun(asked, ENDLESS)
    assert waited(lambda: len(asked.pool.running()) == 1)
    second, told = begun(asked, ENDLESS)
    assert waited(lambda: len(asked.pool.running()) == 2)
    asked.pool.stop(asked.pool.running()[1]["id"], "no")
    second.join(5)
    assert [type(error) for error in told] == [QueryStopped]
    asked.pool.clear("written anew")
    first.join(5)
    assert os.listdir(asked.pool.folder) == []
    assert not asked.log.path.exists()


def test_a_query_that_nobody_waits_for_ends(make: Make) -> None:
    asked = make(workers=1)
    began = time.monotonic()
    with pytest.raises(QueryStopped, match="gone"), asked_by("ann", lambda: time.monotonic() > began + 0.2):
        asked.text(ENDLESS)
    assert time.monotonic() - began < 3
    assert json.loads(asked.log.path.read_text())["who"] == "ann"


def test_an_answer_that_is_given_up_frees_its_worker(make: Make) -> None:
    asked = make(workers=1)
    rows = asked.answer("SELECT ?o ?q { ?s ?p ?o . ?t ?p ?q }").stream("csv", None)
    assert next(rows).startswith(b"o,q")
    assert [each["state"] for each in asked.pool.running()] == ["sending"]
    rows.close()
    assert asked.pool.running() == []
    unread = asked.answer(ALL)
    assert len(asked.pool.running()) == 1
    unread.close()
    assert asked.pool.running() == []
    asked.answer(ALL)  # nobody keeps it
    assert asked.pool.running() == []
    read = asked.answer("ASK {}")
    assert list(read.stream("csv", None)) == [b"true"]
    with pytest.raises(BadArgument, match="read before"):
        read.stream("csv", None)


def test_a_reader_that_sleeps_gives_way_when_others_wait(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = make(workers=1)
    rows = asked.answer("SELECT ?o ?q { ?s ?p ?o . ?t ?p ?q }", timeout=1).stream("csv", None)
    next(rows)
    time.sleep(1.2)
    assert next(rows)  # the time that a reader takes does not count
    monkeypatch.setattr("prism_rdf.workers.ticket._SLOWEST_READER", 0.1)
    assert asked.text("ASK {}", "csv") == "true"
    with pytest.raises(QueryStopped, match="reader"):
        list(rows)


def test_a_worker_that_somebody_kills_is_replaced(make: Make) -> None:
    asked = make(workers=1)
    asked.text(ALL)
    assert waited(lambda: bool(asked.pool._free))
    [worker] = asked.pool._free
    os.kill(worker._process.pid, signal.SIGKILL)
    worker._process.wait()
    with pytest.raises(QueryTooLarge):  # it looks as if the system was short of memory
        asked.text("ASK {}")
    assert asked.text("ASK {}", "csv") == "true"


def test_a_worker_of_a_large_program_is_kept(make: Make) -> None:
    ballast = bytearray(600 << 20)  # more than a worker that is kept may ever have had
    ballast[:: 1 << 12] = b"x" * len(ballast[:: 1 << 12])
    asked = make(workers=1)
    asked.text("ASK {}")
    assert waited(lambda: bool(asked.pool._free))
    [worker] = asked.pool._free
    assert worker.peak < len(ballast) / 2


def test_a_worker_ends_with_its_owner(make: Make) -> None:
    asked = make(workers=1)
    thread, told = begun(asked, ENDLESS)
    assert waited(lambda: bool(asked.pool._tickets) and all(t.worker for t in asked.pool._tickets.values()))
    [ticket] = asked.pool._tickets.values()
    process = ticket.worker._process
    time.sleep(0.3)  # it is deep in the query now
    process.stdin.close()  # as when the owner is killed
    assert process.wait(5) == 0
    thread.join(5)
    assert [type(error) for error in told] == [PrismError]


def test_what_was_left_of_a_killed_owner_goes(tmp_path: Path, make: Make) -> None:
    left = tmp_path / "0" / "workers" / "7" / "1"
    left.mkdir(parents=True)
    (left / "old.sst").write_text("x")
    assert os.listdir(make().pool.folder) == []


def test_a_full_disk_is_a_clean_refusal(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = make(workers=1)

    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(asked.store, "copy", full)
        with pytest.raises(PrismError, match="No space left") as error:
            asked.text("ASK {}")
        assert error.value.exit_status == 5
    assert asked.pool.running() == []
    assert asked.text("ASK {}", "csv") == "true"


def test_the_log_of_slow_queries_is_bounded(tmp_path: Path) -> None:
    log = SlowLog(tmp_path, most_bytes=2000)
    for number in range(100):
        log.write({"query": "x" * 100, "number": number})
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["slow-queries.jsonl", "slow-queries.jsonl.1"]
    assert all(file.stat().st_size <= 2000 for file in files)
    assert json.loads(files[0].read_text().splitlines()[-1])["number"] == 99
    assert files[0].stat().st_mode & 0o777 == 0o600


def test_what_is_slow_is_logged_and_what_is_not_is_not(make: Make) -> None:
    asked = make(slow=30)
    asked.text(ALL)
    assert not asked.log.path.exists()
    every = make(slow=0)
    every.text(ALL, "tsv")
    logged = json.loads(every.log.path.read_text())
    assert (logged["rows"], logged["outcome"], logged["query"]) == (2000, "ok", ALL)
    assert logged["bytes"] > 50_000


def test_a_timeout_is_what_it_says(make: Make) -> None:
    asked = make(timeout=0.3)
    with pytest.raises(QueryTimeout, match=r"longer than 0\.3 s") as error:
        asked.text(ENDLESS)
    assert (error.value.code, error.value.exit_status, error.value.http_status) == ("query-timeout", 7, 504)


def test_graphs_come_with_prefixes(make: Make) -> None:
    asked = make()
    pieces = asked.answer("CONSTRUCT WHERE { <urn:s1> ?p ?o }").stream("ttl", {"u": "urn:"})
    assert b"@prefix u: <urn:>" in b"".join(pieces)
    here = asked.store.query("CONSTRUCT WHERE { <urn:s1> ?p ?o }", default_graph=[GRAPH])
    assert asked.text("CONSTRUCT WHERE { <urn:s1> ?p ?o }", "nt").encode() == here.serialize(format=RdfFormat.N_TRIPLES)
    assert QueryResultsFormat.JSON is RESULT_FORMATS["json"]


def test_a_query_is_stopped_while_its_worker_begins(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = make(workers=1)
    copied, go_on = threading.Event(), threading.Event()
    copy = asked.store.copy

    def slowly(target: Path) -> int:
        copied.set()
        go_on.wait(5)
        return int(copy(target))

    monkeypatch.setattr(asked.store, "copy", slowly)
    thread, told = begun(asked, "ASK {}")
    assert copied.wait(5)
    [running] = asked.pool.running()
    asked.pool.stop(running["id"], "at once")
    go_on.set()
    thread.join(5)
    assert [str(error) for error in told] == ["the query was stopped: at once"]
    assert asked.pool.running() == []
    assert os.listdir(asked.pool.folder) == []
