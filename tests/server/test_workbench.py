"""The page at /: it answers without a query, shows the time it looked at, escapes what it shows, and fails clearly."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient
from prism_server import workbench

TITLES = "SELECT ?adr ?title { ?adr prism:title ?title }"


def page(client: FlaskClient, status: int = 200, **parameters: str) -> str:
    response = client.get("/", query_string={name.replace("_", "-"): value for name, value in parameters.items()})
    assert response.status_code == status
    assert response.mimetype == "text/html"
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    return response.text


def test_the_front_page_says_what_is_in_the_store(client: FlaskClient) -> None:
    html = page(client)
    assert '<span class="badge now">now</span>' in html
    assert ">type:ADR</a>" in html
    assert 'name="viewport"' in html


def test_values_are_escaped_and_iris_lead_to_what_is_said_about_them(client: FlaskClient) -> None:
    html = page(client, query=TITLES, as_of="2025-10-15", pid="demo")
    assert "Use &lt;b&gt;tables&lt;/b&gt;" in html
    assert "<b>tables" not in html
    links = [unescape(link) for link in re.findall(r'<td><a href="([^"]+)">', html)]
    assert len(links) == 2
    for link in links:
        about = client.get(link)
        assert about.status_code == 200
        assert "as-of=2025-10-15" in link
        assert "prism:title" in about.text


def test_the_time_looked_at_is_shown(client: FlaskClient) -> None:
    html = page(client, query=TITLES, as_of="2025-10-15")
    assert "2025-10-15T23:59:59.999999Z" in html
    assert "badge past" in html
    assert "badge raw" in page(client, query=TITLES, dataset="raw")


def test_downloads_give_the_same_answer(client: FlaskClient) -> None:
    html = page(client, query=TITLES, pid="demo", as_of="2025-10-15")
    links = [unescape(link) for link in re.findall(r'href="(/sparql[^"]+)"', html)]
    assert len(links) == 4
    assert all("Use a graph" in client.get(link).text for link in links)


def test_long_answers_say_what_they_leave_out(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbench, "_MOST_ROWS", 1)
    html = page(client, query=TITLES)
    assert html.count("<tr>") == 2
    assert "2 more are in the downloads" in html


def test_answers_without_rows(client: FlaskClient) -> None:
    assert "No rows" in page(client, query=TITLES, as_of="2020")
    assert ">Yes<" in page(client, query="ASK { ?s a type:ADR }")
    assert "prism:SUPERSEDES" in page(client, query="CONSTRUCT WHERE { ?a prism:SUPERSEDES ?b }")


@pytest.mark.parametrize(
    ("parameters", "status", "words"),
    [
        ({"query": "SELECT <script>"}, 400, "not SPARQL"),
        ({"query": TITLES, "as_of": "yesterday"}, 400, "yesterday"),
        ({"query": TITLES, "pid": "nope"}, 404, "nope"),
    ],
)
def test_failures_are_shown_and_what_was_typed_is_kept(
    client: FlaskClient, parameters: dict[str, str], status: int, words: str
) -> None:
    html = page(client, status, **parameters)
    assert 'role="alert"' in html
    assert words in html
    assert "<script>" not in html.replace("<script src", "")
    assert parameters["query"] in unescape(html)


@pytest.mark.parametrize("name", workbench.EXAMPLES)
def test_every_example_runs(client: FlaskClient, name: str) -> None:
    assert 'role="alert"' not in page(client, query=workbench.EXAMPLES[name])


def test_its_assets_are_its_own(client: FlaskClient) -> None:
    html = page(client)
    assets = re.findall(r'(?:src|href)="(/static/[^"]+)"', html)
    assert len(assets) == 2
    for asset in assets:
        with client.get(asset) as response:
            assert response.status_code == 200
    assert not re.search(r'(?:src|href)="https?:', html)
