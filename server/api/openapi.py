"""The OpenAPI 3.1 description of the JSON API, made of the same table that answers the requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

from .answers import SCHEMAS, answer_of
from .endpoints import Endpoint
from .examples import EXAMPLES

_ERRORS = {
    "400": "an argument is wrong",
    "401": "no token, or none that is known",
    "403": "the token lacks a scope, or does not reach the project",
    "404": "there is no such project or thing",
    "405": "the other method",
    "409": "a name means several things, or an idempotency key something else",
    "413": "the request is too large",
    "415": "the body is no JSON",
    "422": "understood, and refused: nothing was written",
    "429": "too many requests; Retry-After says when",
    "503": "not now; Retry-After says when",
}
_Part = dict[str, Any]
_PID: _Part = {
    "name": "pid",
    "in": "path",
    "required": True,
    "description": "the project",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"},
    "example": "demo",
}
_KEY: _Part = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "the same key with the same request is done once",
    "schema": {"type": "string", "maxLength": 255, "pattern": "^[!-~]*$"},
}
_IDENT: _Part = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
}


def document(endpoints: Iterable[Endpoint]) -> _Part:
    """Return the whole description."""
    paths: dict[str, _Part] = {}
    for each in endpoints:
        paths[each.path] = {each.method.lower(): _operation(each)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Prism RDF",
            "version": metadata.version("prism-rdf"),
            "description": "Every verb of a store. What reads is asked by GET, with its arguments in the URL; what "
            "writes by POST, with a JSON object; what takes long is a job. SPARQL is at /sparql.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "externalDocs": {"url": "https://w3id.org/prism-rdf/docs/http"},
        "servers": [{"url": "/"}],
        "security": [{}, {"token": []}],
        "tags": [{"name": name} for name in ("ask", "record", "jobs", "server")],
        "paths": {**paths, **_others()},
        "components": {
            "schemas": dict(SCHEMAS),
            "responses": {"Error": _response("the thing, the rule, the mend", {"$ref": "#/components/schemas/Error"})},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(each: Endpoint) -> _Part:
    example = EXAMPLES.get(each.verb)
    operation: _Part = {
        "operationId": each.verb,
        "summary": each.summary,
        "description": f"{each.doc}\n\nTakes the scope {each.scope}.",
        "tags": ["jobs" if each.job else "ask" if each.method == "GET" else "record"],
        "parameters": [] if each.of_store else [_PID],
        "responses": _answers(each),
    }
    schema = each.request.model_json_schema(by_alias=True)
    if each.method == "GET":
        operation["parameters"] += _parameters(schema, example or {})
    else:
        operation["parameters"].append(_KEY)
        content: _Part = {"schema": schema}
        if example is not None:
            content["example"] = example
        body = {"required": bool(schema.get("required")), "content": {"application/json": content}}
        operation["requestBody"] = body
    return operation


def _parameters(schema: Mapping[str, Any], example: Mapping[str, Any]) -> list[_Part]:
    """Return the arguments as parameters of the URL."""
    found = []
    for name, each in schema.get("properties", {}).items():
        required = name in schema.get("required", ())
        parameter: _Part = {"name": name, "in": "query", "required": required, "schema": _without_null(each)}
        if name in example:
            parameter["example"] = example[name]
        found.append(parameter)
    return found


def _without_null(schema: Mapping[str, Any]) -> _Part:
    """Return a schema without the null that a URL cannot say: it leaves the parameter out."""
    found = {name: part for name, part in schema.items() if not (name == "default" and part is None)}
    kinds = [kind for kind in found.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        found = {**{name: part for name, part in found.items() if name != "anyOf"}, **kinds[0]}
    return found


def _answers(each: Endpoint) -> _Part:
    if each.job:
        done = _response("begun; Location says where it is looked at", {"$ref": "#/components/schemas/Job"})
        return {"202": done, **_errors()}
    return {"200": _response("done", answer_of(each.verb, str(each.returns))), **_errors()}


def _errors() -> _Part:
    return {status: {"$ref": "#/components/responses/Error", "description": why} for status, why in _ERRORS.items()}


def _response(description: str, schema: Mapping[str, Any]) -> _Part:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _others() -> dict[str, _Part]:
    """Return the routes that are no verbs."""
    job = {"$ref": "#/components/schemas/Job"}
    health = {"$ref": "#/components/schemas/Health"}
    text = {
        "description": "in the text format of Prometheus",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    }
    forms = ("application/trig", "application/n-quads", "application/ld+json")
    file = {"description": "the file", "content": {form: {} for form in forms}}
    return {
        "/jobs": {"get": _other("jobs", "List the jobs.", {"200": _response("all", {"type": "array", "items": job})})},
        "/jobs/{id}": {
            "parameters": [_IDENT],
            "get": _other("job", "Look at a job.", {"200": _response("how it is", job)}),
            "delete": _other(
                "call_off", "Call a job off, or forget one that is over.", {"200": _response("done", job)}
            ),
        },
        "/jobs/{id}/file": {
            "parameters": [_IDENT],
            "get": _other("job_file", "Fetch what an export wrote.", {"200": file}),
        },
        "/health": {
            "get": _other(
                "health",
                "Say how each component is.",
                {"200": _response("well", health), "503": _response("one is not", health)},
            )
        },
        "/ready": {
            "get": _other(
                "ready",
                "Say whether requests are taken.",
                {"200": _response("yes", health), "503": _response("no", health)},
            )
        },
        "/metrics": {"get": _other("metrics", "Count requests, commits and the like.", {"200": text})},
    }


def _other(name: str, summary: str, answers: _Part) -> _Part:
    tag = "jobs" if "job" in name or name == "call_off" else "server"
    return {"operationId": name, "summary": summary, "tags": [tag], "responses": {**_errors(), **answers}}
