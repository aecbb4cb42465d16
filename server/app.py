"""The Flask application over one open store: which routes there are, and what holds for all of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flask import Flask, Response, request

from . import cross_origin, failures, health, protocol, workbench
from .asking import Asker
from .loopback import is_loopback

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
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    failures.install(app)
    cross_origin.install(app)
    asker = Asker(prism)
    for routes in (protocol.blueprint(asker), workbench.blueprint(asker), health.blueprint(prism)):
        app.register_blueprint(routes)

    @app.before_request
    def only_called_by_own_names() -> None:
        name = re.sub(r":\d+$", "", request.host)
        if not is_loopback(name):
            raise failures.BadRequest(
                f"the host {name!r} is not this machine",
                status=400,
                rule="the server answers to localhost, 127.0.0.1 and [::1]",
                mend="call it by one of these names",
            )

    @app.after_request
    def protect(response: Response) -> Response:
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Content-Security-Policy"] = _POLICY
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    return app
