"""What the server counts, in the text format of Prometheus at /metrics; what is counted here is kept in memory."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Blueprint, Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from .api.jobs import Jobs
from .health import leg_health
from .tokens import caller

if TYPE_CHECKING:
    from prism_rdf import Prism

disable_created_metrics()  # type: ignore[no-untyped-call]

_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SIZE_IS_KEPT = 15.0  # seconds; a large store has thousands of files


class Metrics:
    """The counts of one application."""

    def __init__(self, prism: Prism, jobs: Jobs) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "prism_http_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "prism_http_request_seconds",
            "Seconds from a request to the head of its answer.",
            ("route",),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.registry.register(_Store(prism, jobs))

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answer; the route is that of the table, so that a stranger's paths make no new series."""
        self._requests.labels(method if method in _METHODS else "other", route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)


class _Store(Collector):
    """What is looked up at the moment of asking."""

    def __init__(self, prism: Prism, jobs: Jobs) -> None:
        self._prism = prism
        self._jobs = jobs
        self._size = (0.0, -_SIZE_IS_KEPT)

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        commit = self._prism.commit_number
        yield GaugeMetricFamily("prism_commit", "Number of the last commit.", commit)
        yield GaugeMetricFamily("prism_jobs", "Jobs that are not over.", self._jobs.waiting())
        yield GaugeMetricFamily(
            "prism_queries", "SPARQL queries that wait, run or are read.", len(self._prism.running())
        )
        yield GaugeMetricFamily("prism_store_bytes", "Size of the folder of the store.", self._bytes())
        lag = GaugeMetricFamily(
            "prism_index_lag_commits", "Commits that an index has not seen; absent: no index.", labels=("pid", "leg")
        )
        for pid in self._prism.projects():
            for leg in ("lexical", "vector"):
                position = leg_health(self._prism, pid, leg).position
                if position is not None:
                    lag.add_metric((pid, leg), commit - position)
        yield lag

    def _bytes(self) -> float:
        size, at = self._size
        if self._prism.folder is not None and time.monotonic() - at >= _SIZE_IS_KEPT:
            size = float(_size_of(self._prism.folder.path))
            self._size = (size, time.monotonic())
        return size


def install(app: Flask, metrics: Metrics) -> None:
    """Count every answer of the application, and give the counts at /metrics."""
    routes = Blueprint("metrics", __name__)

    @routes.get("/metrics")
    def give() -> Response:
        caller().need("read")
        caller().reach_all("what is counted")
        return Response(generate_latest(metrics.registry), content_type=_TYPE)

    @app.before_request
    def began() -> None:
        g.began = time.perf_counter()

    @app.after_request
    def count(response: Response) -> Response:
        route = g.get("route") or (request.url_rule.rule if request.url_rule is not None else "none")
        seconds = time.perf_counter() - g.get("began", time.perf_counter())
        metrics.count(request.method, route, response.status_code, seconds)
        return response

    app.register_blueprint(routes)


def _size_of(folder: Path) -> int:
    """Return the bytes of all files; what goes away meanwhile is not counted."""
    size = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        size += _size_of(Path(entry.path))
                    else:
                        size += entry.stat(follow_symlinks=False).st_size
                except OSError:
                    continue
    except OSError:
        return size
    return size
