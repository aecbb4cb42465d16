"""The graph store protocol at /store, in a store of verbs: free graphs are the user's, the world is only read."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask.testing import FlaskClient
from prism_server import create_app

from prism_rdf.prism import Prism

WORLD = "urn:prism:default/demo/graph/current"
TURTLE = {"content_type": "text/turtle"}
TRIPLE = "<urn:a> <urn:b> <urn:c> ."


@pytest.fixture(scope="module")
def store() -> Iterator[Prism]:
    with Prism.in_memory() as prism:
        demo = prism.project("demo")
        made = demo.entity("ADR", {"number": "ADR-1", "title": "A", "status": "Proposed"}, valid_from="2025-10-01")
        demo.fact(made["uuid"], "status", "Accepted", valid_from="2025-11-01")
        yield prism


@pytest.fixture(scope="module")
def door(store: Prism) -> FlaskClient:
    return create_app(store).test_client()


def text(door: FlaskClient, target: str, **options: Any) -> str:
    response = door.get(f"/store?{target}", headers={"Accept": "application/n-triples"}, **options)
    assert response.status_code == 200, response.text
    return str(response.text)


def code(response: Any, status: int) -> str:
    assert response.status_code == status, response.text
    error = json.loads(response.data)["error"]
    assert all(error[part] for part in ("message", "rule", "mend"))
    return str(error["code"])


def test_a_free_graph_is_put_added_to_and_removed(door: FlaskClient) -> None:
    put = door.put("/store?graph=urn:mine", data=TRIPLE, **TURTLE)
    assert (put.status_code, put.data) == (201, b"")
    assert int(put.headers["Prism-Commit"]) > 0
    assert text(door, "graph=urn:mine") == "<urn:a> <urn:b> <urn:c> .\n"
    assert door.post("/store?graph=urn:mine", data="<urn:a> <urn:b> 2 .", **TURTLE).status_code == 204
    assert text(door, "graph=urn:mine").count("\n") == 2
    assert door.put("/store?graph=urn:mine", data=TRIPLE, **TURTLE).status_code == 204
    assert text(door, "graph=urn:mine").count("\n") == 1
    assert door.delete("/store?graph=urn:mine").status_code == 204
    assert code(door.get("/store?graph=urn:mine"), 404) == "not-found"
    assert code(door.delete("/store?graph=urn:mine"), 404) == "not-found"


def test_an_empty_graph_is_there(door: FlaskClient) -> None:
    assert door.put("/store?graph=urn:empty", data="", **TURTLE).status_code == 201
    assert text(door, "graph=urn:empty") == ""


def test_the_world_is_read_as_of_a_time(door: FlaskClient) -> None:
    for target in ("default", f"graph={WORLD}"):
        assert '"Accepted"' in text(door, target)
        assert '"Proposed"' in text(door, f"{target}&as-of=2025-10-15")
        assert '"Accepted"' not in text(door, f"{target}&as-of=2025-10-15")


def test_what_the_store_keeps_of_itself_is_read_raw_and_written_by_verbs(door: FlaskClient) -> None:
    temporal = WORLD.replace("current", "temporal")
    assert code(door.get(f"/store?graph={temporal}"), 422) == "refused"
    assert "validFrom" in text(door, f"graph={temporal}&dataset=raw")
    for graph in (temporal, WORLD):
        assert code(door.put(f"/store?graph={graph}", data=TRIPLE, **TURTLE), 422) == "refused"
        assert code(door.post(f"/store?graph={graph}", data=TRIPLE, **TURTLE), 422) == "refused"
    assert code(door.delete(f"/store?graph={WORLD}"), 422) == "refused"
    assert code(door.delete("/store?default"), 422) == "refused"
    assert '"Accepted"' in text(door, "default")


def test_a_graph_has_an_address_of_its_own(door: FlaskClient) -> None:
    assert door.put("/store/notes/1", data="<> <urn:b> <x> .", **TURTLE).status_code == 201
    assert "<http://localhost/store/notes/1> <urn:b> <http://localhost/store/notes/x>" in text(
        door, "graph=http://localhost/store/notes/1"
    )
    made = door.post("/store", data=TRIPLE, **TURTLE)
    assert made.status_code == 201
    assert door.get(made.headers["Location"], headers={"Accept": "application/n-triples"}).text.startswith("<urn:a>")


def test_the_files_of_a_form_are_one_graph(door: FlaskClient) -> None:
    parts = {
        "one": (io.BytesIO(b"[] <urn:b> 1 ."), "one.ttl", "text/turtle"),
        "two": (io.BytesIO(b"_:b0 <urn:b> 2 ."), "two.nt", "text/turtle"),
    }
    sent = door.post("/store?graph=urn:form", data=parts, content_type="multipart/form-data")
    assert sent.status_code == 201
    nodes = {line.split()[0] for line in text(door, "graph=urn:form").splitlines()}
    assert len(nodes) == 2
    empty = door.post("/store?graph=urn:form", data={"default": ""}, content_type="multipart/form-data")
    assert code(empty, 415) == "unsupported-body"


def test_a_graph_that_did_not_change_is_not_sent_again(door: FlaskClient) -> None:
    door.put("/store?graph=urn:tagged", data=TRIPLE, **TURTLE)
    first = door.get("/store?graph=urn:tagged")
    known = {"If-None-Match": first.headers["ETag"]}
    assert door.get("/store?graph=urn:tagged", headers=known).status_code == 304
    door.post("/store?graph=urn:tagged", data="<urn:a> <urn:b> 9 .", **TURTLE)
    assert door.get("/store?graph=urn:tagged", headers=known).status_code == 200


def test_the_same_key_writes_once(door: FlaskClient, store: Prism) -> None:
    key = {"Idempotency-Key": "k1"}
    first = door.post("/store?graph=urn:once", data=TRIPLE, headers=key, **TURTLE)
    number = store.commit_number
    again = door.post("/store?graph=urn:once", data=TRIPLE, headers=key, **TURTLE)
    assert first.headers["Prism-Commit"] == again.headers["Prism-Commit"] == str(number) == str(store.commit_number)


def test_a_graph_that_is_made_under_a_key_has_one_address(door: FlaskClient, store: Prism) -> None:
    key = {"Idempotency-Key": "made"}
    first, again = (door.post("/store", data=TRIPLE, headers=key, **TURTLE) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.headers["Location"] == again.headers["Location"]
    assert first.headers["Prism-Commit"] == again.headers["Prism-Commit"] == str(store.commit_number)
    assert code(door.post("/store", data="<urn:x> <urn:y> 1 .", headers=key, **TURTLE), 409) == "idempotency-conflict"
    other = door.post("/store", data=TRIPLE, headers={"Idempotency-Key": "other"}, **TURTLE)
    assert other.headers["Location"] != first.headers["Location"]


def test_a_graph_that_was_removed_under_a_key_is_removed_once(door: FlaskClient, store: Prism) -> None:
    door.put("/store?graph=urn:going", data=TRIPLE, **TURTLE)
    first, again = (door.delete("/store?graph=urn:going", headers={"Idempotency-Key": "gone"}) for _ in range(2))
    assert (first.status_code, again.status_code) == (204, 204)
    assert first.headers["Prism-Commit"] == again.headers["Prism-Commit"] == str(store.commit_number)
    absent = door.delete("/store?graph=urn:never", headers={"Idempotency-Key": "never"})
    assert code(absent, 404) == "not-found"
    another = door.delete("/store?graph=urn:never", headers={"Idempotency-Key": "gone"})
    assert code(another, 409) == "idempotency-conflict"


@pytest.mark.parametrize("tag", ['""', '"", "x"', "", "x", "W/", '"', ",", "*, *"])
@pytest.mark.parametrize("condition", ["If-Match", "If-None-Match"])
def test_a_tag_that_is_none_is_no_fault_of_the_server(door: FlaskClient, condition: str, tag: str) -> None:
    for send in (
        lambda headers: door.put("/store?graph=urn:tags", data=TRIPLE, headers=headers, **TURTLE),
        lambda headers: door.delete("/store?graph=urn:tags", headers=headers),
        lambda headers: door.post("/sparql", data={"update": "INSERT DATA {}"}, headers=headers),
        lambda headers: door.get("/store?graph=urn:tags", headers=headers),
    ):
        assert send({condition: tag}).status_code < 500


def test_a_graph_with_blank_nodes_is_written_once_under_a_key(door: FlaskClient, store: Prism) -> None:
    bodies = {"text/turtle": "[] <urn:b> [] .", "application/ld+json": '{"urn:b": {"urn:c": 1}}'}
    for media_type, body in bodies.items():
        sent = {"data": body, "content_type": media_type, "headers": {"Idempotency-Key": media_type}}
        first, again = (door.put("/store?graph=urn:blank", **sent) for _ in range(2))
        assert again.status_code == 204, again.text
        assert first.headers["Prism-Commit"] == again.headers["Prism-Commit"] == str(store.commit_number)


def test_many_statements_are_put_into_a_new_graph_and_over_an_old_one(door: FlaskClient, store: Prism) -> None:
    def lines(first: int, last: int) -> list[str]:
        return sorted(f'<urn:s{n}> <urn:p> "{n}" .' for n in range(first, last))

    for first, last, status in ((0, 10_500, 201), (500, 11_000, 204)):
        put = door.put(
            "/store?graph=urn:many", data="\n".join(lines(first, last)), content_type="application/n-triples"
        )
        assert (put.status_code, put.headers["Prism-Commit"]) == (status, str(store.commit_number))
        assert sorted(text(door, "graph=urn:many").splitlines()) == lines(first, last)
    broken = "\n".join([*lines(0, 10_500), "<urn:a> <urn:b>"])
    sent = door.put("/store?graph=urn:many", data=broken, content_type="application/n-triples")
    assert code(sent, 400) == "unreadable"
    assert "line 10501" in sent.text
    assert sorted(text(door, "graph=urn:many").splitlines()) == lines(500, 11_000)


def test_a_write_depends_on_what_was_read(door: FlaskClient, store: Prism) -> None:
    door.put("/store?graph=urn:read", data=TRIPLE, **TURTLE)
    update = {"update": "INSERT DATA { GRAPH <urn:read> { <urn:a> <urn:b> 7 } }"}
    asked = {"query": "ASK { GRAPH <urn:read> { ?s ?p ?o } }"}
    writes = (
        lambda headers: door.put("/store?graph=urn:read", data="<urn:a> <urn:b> 3 .", headers=headers, **TURTLE),
        lambda headers: door.post("/store?graph=urn:read", data="<urn:a> <urn:b> 4 .", headers=headers, **TURTLE),
        lambda headers: door.post("/sparql", data=update, headers=headers),
        lambda headers: door.delete("/store?graph=urn:read", headers=headers),
    )
    for number, write in enumerate(writes):
        for read in (lambda: door.get("/store?graph=urn:read"), lambda: door.get("/sparql", query_string=asked)):
            tag = read().headers["ETag"]
            door.put("/store?graph=urn:elsewhere", data=f"<urn:a> <urn:b> {store.commit_number} .", **TURTLE)
            before = store.commit_number, text(door, "graph=urn:read")
            for moved in (tag, f"{tag}, {tag}", f"W/{tag}", "nonsense", ","):
                assert code(write({"If-Match": moved}), 412) == "precondition-failed", moved
            assert code(write({"If-None-Match": read().headers["ETag"]}), 412) == "precondition-failed"
            assert (store.commit_number, text(door, "graph=urn:read")) == before
        assert write({"If-Match": f'"x", {read().headers["ETag"]}'}).status_code in (200, 204), number
        assert store.commit_number == before[0] + 1


def test_a_graph_is_made_only_where_there_is_none_or_changed_only_where_there_is_one(door: FlaskClient) -> None:
    absent, there = {"If-None-Match": "*"}, {"If-Match": "*"}
    put = {"path": "/store?graph=urn:new", "method": "PUT", "data": TRIPLE, **TURTLE}
    assert code(door.open(headers=there, **put), 412) == "precondition-failed"
    assert code(door.get("/store?graph=urn:new"), 404) == "not-found"
    assert door.open(headers=absent, **put).status_code == 201
    assert code(door.open(headers=absent, **put), 412) == "precondition-failed"
    assert door.open(headers=there, **put).status_code == 204
    assert door.post("/sparql", data={"update": "DROP GRAPH <urn:new>"}, headers=there).status_code == 200
    assert code(door.delete("/store?graph=urn:new", headers=there), 404) == "not-found"


def test_a_conditional_write_is_answered_again_under_its_key(door: FlaskClient, store: Prism) -> None:
    headers = {"If-None-Match": "*", "Idempotency-Key": "made once"}
    sent = [door.put("/store?graph=urn:keyed", data=TRIPLE, headers=headers, **TURTLE) for _ in range(2)]
    assert [each.status_code for each in sent] == [201, 204]
    assert {each.headers["Prism-Commit"] for each in sent} == {str(store.commit_number)}


def test_of_many_who_saw_the_same_one_writes(store: Prism) -> None:
    app = create_app(store)
    tag = app.test_client().get("/store?default").headers["ETag"]

    def write(number: int) -> int:
        sent = app.test_client().post(
            "/store?graph=urn:raced", data=f"<urn:a> <urn:b> {number} .", headers={"If-Match": tag}, **TURTLE
        )
        return sent.status_code

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(write, range(8))) == [201, *[412] * 7]
    assert text(app.test_client(), "graph=urn:raced").count("\n") == 1


def test_a_part_of_a_graph_is_not_patched(door: FlaskClient) -> None:
    for path in ("/store?default", "/store/notes/1"):
        assert door.patch(path, data="", content_type="application/sparql-update").headers["Allow"] == (
            "DELETE, GET, HEAD, OPTIONS, POST, PUT"
        )


BAD = {
    "no graph": ("GET", "/store", "", "", 400),
    "two graphs": ("PUT", "/store?default&graph=urn:a", TRIPLE, "text/turtle", 400),
    "graph and address": ("PUT", "/store/x?graph=urn:a", TRIPLE, "text/turtle", 400),
    "empty graph": ("PUT", "/store?graph=", TRIPLE, "text/turtle", 400),
    "relative graph": ("PUT", "/store?graph=notes", TRIPLE, "text/turtle", 400),
    "no turtle": ("PUT", "/store?graph=urn:a", "<urn:a> <urn:b>", "text/turtle", 400),
    "another type": ("PUT", "/store?graph=urn:a", "{}", "application/pdf", 415),
    "the type of a form": ("PUT", "/store?graph=urn:a", TRIPLE, "application/x-www-form-urlencoded", 415),
    "no type": ("PUT", "/store?graph=urn:a", TRIPLE, "", 415),
    "a named graph inside": ("PUT", "/store?graph=urn:a", f"<urn:g> {{ {TRIPLE} }}", "application/trig", 400),
    "misspelt": ("GET", "/store?grap=urn:a", "", "", 400),
    "unknown format": ("GET", "/store?default&format=docx", "", "", 406),
    "a table": ("GET", "/store?default&format=csv", "", "", 406),
    "a method": ("PATCH", "/store?default", "", "", 405),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_requests_say_what_is_wrong(door: FlaskClient, store: Prism, case: str) -> None:
    method, path, body, media_type, status = BAD[case]
    number = store.commit_number
    options = {"data": body} if body else {}
    response = door.open(path, method=method, content_type=media_type or None, **options)
    assert code(response, status)
    assert store.commit_number == number
