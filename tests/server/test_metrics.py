"""/metrics in the text format of Prometheus: requests by route and status, commits, jobs, queries, lag, size."""

from __future__ import annotations

from pathlib import Path

from prism_server import create_app
from prometheus_client.parser import text_string_to_metric_families

from prism_rdf.prism import Prism


def test_what_happens_is_counted(tmp_path: Path) -> None:
    with Prism.open(tmp_path, exclusive=True) as prism:
        demo = prism.project("demo")
        demo.remember("ADR-1 is our plan.")
        demo.recall("plan")
        client = create_app(prism).test_client()
        client.get("/api/demo/list_types")
        client.post("/api/demo/remember", json={"content": "More of it."})
        client.get("/api/demo/nothing")
        client.get("/a/strange/path")
        client.open("/", method="STRANGE")
        response = client.get("/metrics")
    assert response.headers["Content-Type"].startswith("text/plain; version=")
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }

    def requests(method: str, route: str, status: str) -> float:
        labels = {"method": method, "route": route, "status": status}
        return samples.get(("prism_http_requests_total", *sorted(labels.items())), 0.0)

    assert requests("GET", "/api/{pid}/list_types", "200") == 1
    assert requests("POST", "/api/{pid}/remember", "200") == 1
    assert requests("GET", "/api/<pid>/<verb>", "404") == 1
    assert requests("GET", "none", "404") == 1
    assert requests("other", "none", "405") == 1
    assert samples[("prism_http_request_seconds_count", ("route", "/api/{pid}/list_types"))] == 1
    assert samples[("prism_commit",)] == 2
    assert samples[("prism_jobs",)] == 0
    assert samples[("prism_queries",)] == 0
    assert samples[("prism_index_lag_commits", ("leg", "lexical"), ("pid", "demo"))] == 1
    assert samples[("prism_store_bytes",)] > 10_000
    assert "strange" not in response.text
