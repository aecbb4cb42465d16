"""The HTTP door: ``create_app`` makes the Flask application, ``serve`` runs it; the verbs live in ``Prism``."""

from .app import create_app
from .running import serve

__all__ = ["create_app", "serve"]
