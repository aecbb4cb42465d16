"""The Flask application over one open store: which routes there are, and what holds for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Flask, Response

from . import failures, health, protocol, workbench
from .asking import Asker

if TYPE_CHECKING:
    from prism_rdf import Prism

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def create_app(prism: Prism) -> Flask:
    """Return the application: /sparql, /health and the page at /.

    Only requests for this machine's own names are answered, so that a foreign web page cannot reach the store by
    pointing a name of its own at 127.0.0.1.
    """
    app = Flask(__name__)
    app.config["TRUSTED_HOSTS"] = ["localhost", "127.0.0.1", "::1"]
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    failures.install(app)
    asker = Asker(prism)
    for routes in (protocol.blueprint(asker), workbench.blueprint(asker), health.blueprint(prism)):
        app.register_blueprint(routes)

    @app.after_request
    def protect(response: Response) -> Response:
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Content-Security-Policy"] = _POLICY
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    return app
