"""The routes of the JSON API: who may call is asked, the request read, the verb called, the answer told in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, g, render_template, request, send_file
from pyoxigraph import Literal, NamedNode

from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument, NotFoundError
from prism_rdf.model import Receipt

from ..audit import Audit, noting
from ..failures import BadRequest, UnsupportedBody
from ..tokens import Caller, caller
from .arguments import KEY, read_body, read_url
from .endpoints import STORE, Endpoint, all_endpoints
from .jobs import Job, Jobs
from .openapi import document
from .working import Workshop, media_of

if TYPE_CHECKING:
    from prism_rdf import Prism

_KEY_HEADER = "Idempotency-Key"
_LONGEST_KEY = 255


class Api:
    """What the routes share: the store, the jobs, the audit log."""

    def __init__(self, prism: Prism, jobs: Jobs, audit: Audit) -> None:
        self.prism = prism
        self.jobs = jobs
        self.audit = audit
        self.workshop = Workshop(prism)
        self.endpoints = all_endpoints()

    def close(self) -> None:
        """End the jobs and remove what they wrote."""
        self.jobs.close()
        self.workshop.close()

    def call(self, pid: str, verb: str) -> Response:
        """Answer a request for a verb, of a project or of the whole store."""
        who = caller()
        endpoint = self._endpoint(pid, verb)
        if request.method not in (endpoint.method, "HEAD" if endpoint.method == "GET" else ""):
            wrong = BadRequest(
                f"{verb} is not asked by {request.method}",
                status=405,
                rule="what reads is asked by GET, what writes or takes long by POST",
                mend=f"send {endpoint.method}",
            )
            wrong.headers = {"Allow": endpoint.method}
            raise wrong
        project = None if endpoint.of_store else pid
        g.route = endpoint.path
        if endpoint.effect == "writes" or endpoint.scope == "admin":
            noting(verb, project)
        who.need(endpoint.scope)
        options = self._options(endpoint)
        self._check_reach(who, endpoint, project, options)
        if endpoint.job:
            return self._begin(who, endpoint, project, options)
        return self._answer(who, endpoint, project, options)

    def _endpoint(self, pid: str, verb: str) -> Endpoint:
        found = self.endpoints.get((pid == STORE, verb))
        if found is None:
            of = "the whole store" if pid == STORE else "a project"
            names = sorted(each.verb for (store, _), each in self.endpoints.items() if store == (pid == STORE))
            raise NotFoundError(
                f"{of} has no verb {verb[:60]!r} here",
                rule=f"its verbs are {', '.join(names)}",
                mend=f"those of the whole store are at /api/{STORE}/, those of a project at /api/PID/; see /api",
            )
        return found

    def _options(self, endpoint: Endpoint) -> dict[str, Any]:
        if endpoint.method == "GET":
            return read_url(endpoint.request, {name: request.args.getlist(name) for name in request.args})
        if request.args:
            raise BadArgument(
                f"the URL has the parameter {next(iter(request.args))!r}",
                rule="what a POST says stands in its body",
                mend="send it as JSON",
            )
        body = request.get_data()
        if body and request.mimetype != "application/json":
            raise UnsupportedBody(
                f"a body of type {request.mimetype or 'unknown'} is no JSON",
                rule="a verb takes a JSON object",
                mend="set Content-Type: application/json",
            )
        options = read_body(endpoint.request, body)
        key = request.headers.get(_KEY_HEADER, "").strip()
        if not key:
            return options
        if len(key) > _LONGEST_KEY or options.get(KEY, key) != key:
            raise BadArgument(
                f"the header {_KEY_HEADER} is too long"
                if len(key) > _LONGEST_KEY
                else "there are two idempotency keys",
                rule=f"a request has one key, of at most {_LONGEST_KEY} characters",
                mend="choose one, such as a uuid",
            )
        return {**options, KEY: key}

    def _check_reach(self, who: Caller, endpoint: Endpoint, pid: str | None, options: Mapping[str, Any]) -> None:
        """Raise an error for a project that the caller does not reach, or that nothing can be read of."""
        named = pid if pid is not None else options.get("pid")
        if named is not None:
            who.reach(named)
            self.prism.project(named)  # a name that is none is refused
            if (pid is None or endpoint.effect == "reads") and named not in self.prism.projects():
                known = who.pids(self.prism.projects())
                raise NotFoundError(
                    f"there is no project {named!r} in this store",
                    rule="a project begins with its first write",
                    mend=f"use one of: {', '.join(known)}" if known else "the store is empty",
                )
        elif endpoint.verb not in ("projects", "commit_number", "system_time"):
            who.reach_all(endpoint.verb)

    def _answer(self, who: Caller, endpoint: Endpoint, pid: str | None, options: dict[str, Any]) -> Response:
        most = options.pop("limit", 1_000) if endpoint.items else None
        if not endpoint.keyed:
            options.pop(KEY, None)
        target = getattr(self.prism if pid is None else self.prism.project(pid), endpoint.verb)
        with who.speaking(self.prism.tier):
            found = target(**options) if callable(target) else target
            if endpoint.verb == "projects":
                found = who.pids(found)
            elif isinstance(found, Iterator):
                found = list(islice(found, most + 1 if most else None))
        cut = most is not None and len(found) > most
        response = _json(found[:most] if cut else found)
        if cut:
            response.headers["Prism-Truncated"] = str(most)
        if endpoint.effect == "writes":
            told = found.as_dict() if isinstance(found, Receipt) else found
            commit = told.get("commit") if isinstance(told, Mapping) else None
            noting(endpoint.verb, pid or options.get("pid"), commit)
        response.headers["Prism-Commit"] = str(self.prism.commit_number)
        response.headers["Cache-Control"] = "no-store"
        return response

    def _begin(self, who: Caller, endpoint: Endpoint, pid: str | None, options: dict[str, Any]) -> Response:
        key = options.get(KEY, "") if endpoint.keyed else options.pop(KEY, "")
        work = self.workshop.work(endpoint.verb, pid, options, lambda: who.speaking(self.prism.tier))

        def ended(job: Job) -> None:
            self.workshop.keep_file(job)
            if endpoint.effect == "writes" or endpoint.scope == "admin":
                commit = job.result.get("commit") if isinstance(job.result, dict) else None
                self.audit.note(who, endpoint.verb, job.pid, commit, job=job.id, state=job.state)

        said = json.dumps([endpoint.verb, pid, options], sort_keys=True)
        job = self.jobs.begin(
            endpoint.verb,
            pid or options.get("pid"),
            who.token,
            work,
            ended=ended,
            key=key,
            fingerprint=sha256(said.encode()).hexdigest(),
        )
        response = _json(job.as_dict(), 202)
        response.headers["Location"] = f"/jobs/{job.id}"
        return response


def blueprint(api: Api) -> Blueprint:
    """Return the routes /api, /openapi.json and /jobs."""
    routes = Blueprint("api", __name__, template_folder="templates")
    methods = ["GET", "POST"]

    @routes.route("/api/<pid>/<verb>", methods=methods)
    def call(pid: str, verb: str) -> Response:
        return api.call(pid, verb)

    @routes.get("/api")
    def page() -> str:
        caller().need("read")
        return render_template("api.html", endpoints=list(api.endpoints.values()))

    @routes.get("/openapi.json")
    def openapi() -> Response:
        caller().need("read")
        return _json(document(api.endpoints.values()))

    @routes.get("/jobs")
    def jobs() -> Response:
        who = caller()
        return _json([job.as_dict() for job in api.jobs.all(who.token, _sees_all(who))])

    @routes.get("/jobs/<ident>")
    def job(ident: str) -> Response:
        return _json(_own(api, ident).as_dict())

    @routes.get("/jobs/<ident>/file")
    def file(ident: str) -> Response:
        found = _own(api, ident)
        if found.file is None or not found.file.is_file():
            raise NotFoundError("the job has no file", rule="an export that is done has one", mend="look at its state")
        suffix, media = media_of(found.result["format"])
        return send_file(found.file, mimetype=media, as_attachment=True, download_name=f"prism.{suffix}")

    @routes.delete("/jobs/<ident>")
    def call_off(ident: str) -> Response:
        found = _own(api, ident)
        api.jobs.call_off(found)
        return _json(found.as_dict())

    return routes


def _own(api: Api, ident: str) -> Job:
    who = caller()
    return api.jobs.find(ident, who.token, _sees_all(who))


def _sees_all(who: Caller) -> bool:
    return who.namespaces is None and who.may("admin")


def _json(value: Any, status: int = 200) -> Response:
    body = json.dumps(value, ensure_ascii=False, default=_plain) + "\n"
    return Response(body.encode("utf-8", "replace"), status=status, mimetype="application/json")


def _plain(value: Any) -> Any:
    """Return what JSON can hold of a value of the engine."""
    if isinstance(value, Receipt):
        return value.as_dict()
    if isinstance(value, Instant):
        return value.iso()
    if isinstance(value, (NamedNode, Literal)):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (tuple, set, frozenset, Iterator)):
        return list(value)
    return str(value)
