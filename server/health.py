"""Is the store well? One JSON answer at /health, component by component; nothing is mended here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, jsonify

if TYPE_CHECKING:
    from prism_rdf import Prism

_WELL = ("ok", "absent")  # an index that is not there yet is built by the first recall


def blueprint(prism: Prism) -> Blueprint:
    """Return the route /health: 200 when every component is well, 503 when one is not."""
    routes = Blueprint("health", __name__)

    @routes.get("/health")
    def health() -> Response:
        components = {"store": _examined(_store, prism), "lexical": _examined(_lexical, prism)}
        well = all(component["status"] in _WELL for component in components.values())
        response = jsonify({"status": "ok" if well else "failed", "components": components})
        response.status_code = 200 if well else 503
        response.headers["Cache-Control"] = "no-store"
        return response

    return routes


def _examined(examine: Any, prism: Prism) -> dict[str, Any]:
    try:
        return dict(examine(prism))
    except Exception as error:  # whatever breaks in a component is what this page is there to say
        return {"status": "failed", "reason": f"{type(error).__name__}: {error}"}


def _store(prism: Prism) -> dict[str, Any]:
    return {"status": "ok", "commit": prism.commit_number, "projects": len(prism.projects())}


def _lexical(prism: Prism) -> dict[str, Any]:
    """Return the worst status of the projects' indexes, and how many commits the last one is behind."""
    found = {pid: prism.answering(pid).health() for pid in prism.projects()}
    behind = {pid: prism.commit_number - (health.position or 0) for pid, health in found.items()}
    bad = {pid: health.detail for pid, health in found.items() if health.status not in _WELL}
    if bad:
        return {"status": "failed", "reason": "; ".join(f"{pid}: {detail}" for pid, detail in bad.items())}
    absent = [pid for pid, health in found.items() if health.status == "absent"]
    if absent:
        return {"status": "absent", "reason": "built by the first recall", "projects": absent}
    return {"status": "ok", "behind": max(behind.values(), default=0)}
