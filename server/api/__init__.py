"""The JSON API: every verb of the store as a route, with its OpenAPI description; the verbs live in ``Prism``."""
