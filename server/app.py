"""The Flask application over one open store: which routes there are, and what holds for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Flask, Response, request

from prism_rdf.tokens.keeping import Tokens

from . import (
    audit,
    changes,
    cross_origin,
    entities,
    failures,
    graph_store,
    health,
    metrics,
    protocol,
    queries,
    reports,
    tokens,
    workbench,
)
from .api.calling import Api
from .api.calling import blueprint as api_blueprint
from .api.jobs import Jobs
from .asking import Asker

if TYPE_CHECKING:
    from prism_rdf import Prism

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


_ASK_THEMSELVES = ("api", "health", "metrics")  # these routes say which scope they take


def guard_of(prism: Prism, *, required: bool = False) -> tokens.Guard:
    """Return who lets requests to a store in; ``required``: each has to carry a token."""
    return tokens.Guard(Tokens(prism.folder.path if prism.folder else None, prism.clock), required=required)


def create_app(prism: Prism, guard: tokens.Guard | None = None) -> Flask:
    """Return the application: SPARQL, the JSON API, and the page at /; ``app.extensions["api"]`` is to be closed.

    Who may ask is said by ``guard``; without one, programs of this machine, and who has a token.
    """
    app = Flask(__name__)
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    failures.install(app)
    reports.install(app)
    cross_origin.install(app)
    guard, asker, jobs = guard or guard_of(prism), Asker(prism), Jobs(prism.clock)
    log = audit.Audit(prism.folder.path if prism.folder else None, prism.clock)
    app.extensions["api"] = api = Api(prism, jobs, log)
    metrics.install(app, metrics.Metrics(prism, jobs))
    tokens.install(app, guard)
    audit.install(app, log)

    @app.before_request
    def need_a_scope() -> None:
        if request.blueprint in _ASK_THEMSELVES or request.endpoint == "static" or request.method == "OPTIONS":
            return
        reads = request.method in ("GET", "HEAD") or request.blueprint == "protocol"
        tokens.caller().need("read" if reads else "write")

    for routes in (
        protocol.blueprint(asker),
        queries.blueprint(asker),
        graph_store.blueprint(asker),
        entities.blueprint(asker),
        workbench.blueprint(asker),
        health.blueprint(prism, guard, jobs),
        api_blueprint(api),
        changes.blueprint(prism),
    ):
        app.register_blueprint(routes)

    @app.after_request
    def protect(response: Response) -> Response:
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Content-Security-Policy"] = _POLICY
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    return app
