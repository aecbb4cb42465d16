"""Saved queries over HTTP: as /sparql answers, of one project, for tokens of some projects too."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask.testing import FlaskClient
from prism_server import create_app
from prism_server.app import guard_of

from prism_rdf import Prism


def test_they_are_listed(client: FlaskClient) -> None:
    listed = client.get("/queries?pid=demo").get_json()["queries"]
    assert {"stale-drafts", "impact"} <= {each["name"] for each in listed}
    assert "2 projects" in client.get("/queries").get_json()["error"]["message"]


def test_one_is_answered_in_every_format_and_at_a_time(client: FlaskClient) -> None:
    url = "/queries/depends-on-superseded?pid=demo"
    assert client.get(url).content_type == "application/sparql-results+json"
    now = client.get("/queries/status-counts?pid=demo&format=csv")
    assert now.text.splitlines()[1].endswith("#ADR,Accepted,2")
    then = client.get("/queries/status-counts?pid=demo&as-of=2025-10-15", headers={"Accept": "text/csv"})
    assert sorted(line.split(",")[1] for line in then.text.splitlines()[1:]) == ["Accepted", "Proposed"]
    assert then.headers["Prism-As-Of"].startswith("2025-10-15T23:59:59")
    timeline = client.get("/queries/status-timeline?pid=demo&entity=ADR-101&format=tsv").text.splitlines()
    assert [line.split("\t")[0] for line in timeline] == ["?status", '"Proposed"', '"Accepted"']
    assert client.get("/queries/most-states?pid=demo&most=1&max-rows=1&format=csv").text.count("\n") == 2


def test_an_answer_that_is_known_is_not_sent_again(client: FlaskClient) -> None:
    first = client.get("/queries/status-counts?pid=demo")
    again = client.get("/queries/status-counts?pid=demo", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("url", "status", "says"),
    [
        ("/queries/stale-draft?pid=demo", 404, "did you mean 'stale-drafts'"),
        ("/queries/stale-drafts?pid=demo&day=3", 400, "did you mean 'days'"),
        ("/queries/stale-drafts?pid=demo&days=x", 400, "days=30"),
        ("/queries/stale-drafts?pid=demo&days=1&days=2", 400, "drop one"),
        ("/queries/stale-drafts?pid=demo&as-of=2025-01-01", 400, "leave out as-of"),
        ("/queries/impact?pid=demo", 400, "add changed=ADR-7"),
        ("/queries/impact?pid=demo&changed=nobody", 404, "prism entities"),
        ("/queries/impact?pid=nothing", 404, "demo"),
        ("/queries?x=1", 400, "spelling"),
    ],
)
def test_an_error_says_what_to_do(client: FlaskClient, url: str, status: int, says: str) -> None:
    answer = client.get(url)
    assert answer.status_code == status
    assert says in answer.get_json()["error"]["mend"]


def test_a_token_of_one_project_runs_what_ships_and_no_raw_query_of_its_own(tmp_path: Path) -> None:
    with Prism.open(tmp_path, exclusive=True) as prism:
        for pid in ("mine", "theirs"):
            prism.project(pid).entity("ADR", {"number": "ADR-1", "title": f"of {pid}"}, valid_from="2025-01-01")
        raw = "#+ summary: s\n#+ dataset: raw\nSELECT ?o { GRAPH ?g { ?s prism:title ?o } }"
        prism.project("mine").add_query(raw, "all-titles")
        guard = guard_of(prism, required=True)
        secret, _ = guard.tokens.create("bound", scopes=["read"], namespaces=["mine"])[::-1]
        client = create_app(prism, guard).test_client()
        headers = {"Authorization": f"Bearer {secret}"}
        seen = client.get("/queries/begun-per-month?format=csv", headers=headers)
        assert seen.text.splitlines()[1:] == ["2025-01,https://w3id.org/prism-rdf/type#ADR,1"]
        assert client.get("/queries/all-titles", headers=headers).status_code == 403
        assert client.get("/queries?pid=theirs", headers=headers).status_code == 403
        assert client.get("/queries/orphans?pid=theirs", headers=headers).status_code == 403
        assert client.get("/queries").status_code == 401
