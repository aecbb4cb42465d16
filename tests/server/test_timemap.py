"""An entity over time: its address answers at every time it is asked for, and its TimeMap lists each state once."""

from __future__ import annotations

import json
import re

from flask.testing import FlaskClient

from prism_rdf.prism import Prism

TURTLE = {"Accept": "text/turtle"}


def test_an_entity_is_shown_at_its_times(client: FlaskClient) -> None:
    now = client.get("/entity/demo/ADR-101", headers=TURTLE)
    assert now.status_code == 200
    assert "ADR-101" in now.text
    assert 'rel="timemap"' in now.headers["Link"]
    then = client.get("/entity/demo/ADR-001?as-of=2025-10-15", headers=TURTLE)
    assert "Proposed" in then.text
    assert then.headers["Memento-Datetime"] == "Wed, 15 Oct 2025 23:59:59 GMT"
    by_header = {**TURTLE, "Accept-Datetime": "Wed, 15 Oct 2025 12:00:00 GMT"}
    assert "Proposed" in client.get("/entity/demo/ADR-101", headers=by_header).text
    page = client.get("/entity/demo/ADR-101", headers={"Accept": "text/html"})
    assert (page.status_code, page.mimetype) == (200, "text/html")
    known = {**TURTLE, "If-None-Match": now.headers["ETag"]}
    assert client.get("/entity/demo/ADR-101", headers=known).status_code == 304


def test_a_timemap_lists_each_state_and_each_can_be_had(client: FlaskClient, prism: Prism) -> None:
    states = prism.project("demo").history("ADR-101")
    link = client.get("/entity/demo/ADR-101", headers=TURTLE).headers["Link"]
    address = re.search(r'<([^>]+)>; rel="timemap"', link)
    assert address is not None
    listed = client.get(address[1])
    assert listed.mimetype == "application/link-format"
    found = re.findall(r'<([^>]+)>; rel="([a-z ]*)memento"; datetime="([^"]+)"', listed.text)
    assert [(rel, date) for _, rel, date in found] == [
        ("first ", "Wed, 01 Oct 2025 00:00:00 GMT"),
        ("", "Sat, 01 Nov 2025 00:00:00 GMT"),
        ("last ", "Thu, 01 Jan 2026 00:00:00 GMT"),
    ]
    assert len(found) == len(states) == 3
    for (url, _, date), word in zip(found, ("Proposed", "Accepted", "ADR-101"), strict=True):
        memento = client.get(url, headers=TURTLE)
        assert word in memento.text
        assert memento.headers["Memento-Datetime"] == date
    told = json.loads(client.get(address[1], headers={"Accept": "application/json"}).data)
    assert [each["uri"] for each in told["mementos"]["list"]] == [url for url, _, _ in found]
    assert told["mementos"]["first"]["datetime"] == "2025-10-01T00:00:00Z"
    assert told["original_uri"] == found[0][0].partition("?")[0]


def test_a_state_without_a_start_is_shown_before_its_end() -> None:
    from prism_server import create_app

    with Prism.in_memory() as store:
        demo, door = store.project("demo"), create_app(store).test_client()
        made = demo.entity("ADR", {"number": "ADR-1", "title": "A", "status": "Proposed"})
        demo.fact(made["uuid"], "status", "Accepted", valid_from="2025-11-01")
        states = demo.history("ADR-1")
        listed = json.loads(door.get("/timemap/demo/ADR-1?format=json").data)["mementos"]["list"]
        assert len(listed) == len(states)
        for memento, status in zip(listed, [state["props"]["status"] for state in states], strict=True):
            assert f'"{status}"' in door.get(memento["uri"], headers=TURTLE).text


def test_what_is_not_there_is_told(client: FlaskClient) -> None:
    for path, code in {
        "/entity/demo/ADR-777": "unknown-entity",
        "/timemap/demo/ADR-777": "unknown-entity",
        "/entity/nope/ADR-101": "not-found",
        "/timemap/nope/ADR-101": "not-found",
    }.items():
        answer = client.get(path)
        assert answer.status_code == 404
        assert json.loads(answer.data)["error"]["code"] == code
    assert client.get("/entity/demo/ADR-101?asof=2025").status_code == 400
