"""Is the store well, and does it take requests? JSON answers at /health and /ready; nothing is mended here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, jsonify

from .api.jobs import Jobs
from .tokens import Guard, caller

if TYPE_CHECKING:
    from prism_rdf import Prism
    from prism_rdf.recall.legs import LegHealth

_WELL = ("ok", "absent", "lagging")  # an index that is not there yet is built by the first recall, or is being built
_Examine = Callable[[], Mapping[str, Any]]


def blueprint(prism: Prism, guard: Guard, jobs: Jobs) -> Blueprint:
    """Return the routes: /health tells of every component, /ready of what no request can be answered without.

    The status is 200 when all of these are well, 503 when one is not.
    """
    routes = Blueprint("health", __name__)
    vital: dict[str, _Examine] = {"store": lambda: _store(prism), "tokens": lambda: _tokens(guard)}
    every: dict[str, _Examine] = {
        **vital,
        "lexical": lambda: _legs(prism, "lexical"),
        "vector": lambda: _legs(prism, "vector"),
        "jobs": lambda: {"status": "ok", "waiting": jobs.waiting()},
    }

    @routes.get("/health")
    def health() -> Response:
        return _answer(every)

    @routes.get("/ready")
    def ready() -> Response:
        return _answer(vital)

    return routes


def _answer(components: Mapping[str, _Examine]) -> Response:
    found = {name: _examined(examine) for name, examine in components.items()}
    well = all(component["status"] in _WELL for component in found.values())
    body: dict[str, Any] = {"status": "ok" if well else "failed"}
    if caller().namespaces is None:  # what is said of the components tells of all projects
        body["components"] = found
    response = jsonify(body)
    response.status_code = 200 if well else 503
    response.headers["Cache-Control"] = "no-store"
    return response


def _examined(examine: _Examine) -> Mapping[str, Any]:
    try:
        return examine()
    except Exception as error:  # whatever breaks in a component is what this page is there to say
        return {"status": "failed", "reason": f"{type(error).__name__}: {error}"}


def _store(prism: Prism) -> dict[str, Any]:
    return {"status": "ok", "commit": prism.commit_number, "projects": len(prism.projects())}


def _tokens(guard: Guard) -> dict[str, Any]:
    return {"status": "ok", "active": len(guard.tokens.active())}


def _legs(prism: Prism, leg: str) -> dict[str, Any]:
    """Return the worst status of a leg of recall among the projects, and how many commits the last one is behind."""
    found = {pid: leg_health(prism, pid, leg) for pid in prism.projects()}
    bad = {pid: health.detail for pid, health in found.items() if health.status not in _WELL}
    if bad:
        return {"status": "failed", "reason": "; ".join(f"{pid}: {detail}" for pid, detail in bad.items())}
    absent = [pid for pid, health in found.items() if health.status == "absent"]
    if absent:
        reasons = {found[pid].detail for pid in absent} - {""}
        reason = "; ".join(sorted(reasons)) or "built by the first recall"
        return {"status": "absent", "reason": reason, "projects": absent}
    behind = [prism.commit_number - (health.position or 0) for health in found.values()]
    lags = any(health.status == "lagging" for health in found.values())
    return {"status": "lagging" if lags else "ok", "behind": max(behind, default=0)}


def leg_health(prism: Prism, pid: str, leg: str) -> LegHealth:
    """Return how a leg of the recall of a project is."""
    answering = prism.answering(pid)
    if leg == "lexical":
        return answering.health()
    return next(each for each in answering.legs() if each.name == leg).health()
