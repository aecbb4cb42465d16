"""A store on another machine, asked over HTTP: the same verbs, answers and errors as Prism and Project have here.

The verbs are those of the owner's table, asked of the JSON API of `prism serve`; SPARQL is asked of /sparql, saved
queries of /queries. What HTTP has no form for is refused by name.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import date
from http.client import HTTPException
from inspect import signature
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

from pyoxigraph import Literal, NamedNode, QueryResultsFormat, RdfFormat, parse, parse_query_results

from prism_rdf.clock import Instant
from prism_rdf.datasets import QueryAnswer
from prism_rdf.errors import BadArgument, BusyError, PrismError, RefusedError, UsageError, Violation
from prism_rdf.model import Receipt
from prism_rdf.namespaces import check_name
from prism_rdf.owner import verbs
from prism_rdf.owner.remote import send_every_verb
from prism_rdf.owner.wire import Message
from prism_rdf.prism import Prism
from prism_rdf.project import Project

# Asked by POST though they change no knowledge: they take long, or they do something.
POSTED = frozenset({"check", "rebuild", "reindex", "stop_query"})
# Not in the JSON API: what the engine asks itself, and what is at a place of its own.
ABSENT = frozenset(
    {"bearer_elsewhere", "bearer_uuid", "bind_query", "bookmarks", "changes", "entity_records", "load"}
) | {*("property_held", "said_by", "state_json_at", "version", "who", "write")}
_ROWS, _TRIPLES = "application/sparql-results+json", "application/n-triples"
_ACCEPT = f"{_ROWS}, {_TRIPLES};q=0.9"
_LOOK = 0.1  # seconds
_STORE = "-"


def connect(url: str, token: str | None = None, *, timeout: float = 120.0) -> ClientPrism:
    """Return the store that `prism serve` serves at an address; ``timeout`` is in seconds, of each request.

    Raises BusyError where nobody answers, UsageError or RefusedError for a token that does not fit.
    """
    prism = ClientPrism(_Door(url.rstrip("/"), token, timeout))
    prism.projects()
    return prism


class _Door:
    """The address of a server, and how a request is sent to it."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        if not url.startswith(("http://", "https://")):
            raise BadArgument(f"{url!r} is no address", rule="a server has an http URL", mend="http://127.0.0.1:8080")
        self.url = url
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._timeout = timeout

    def send(self, path: str, *, body: bytes | None = None, **headers: str) -> tuple[bytes, Mapping[str, str], int]:
        """Return the body, the headers and the status of an answer. Raises the error that it tells."""
        said = {name.replace("_", "-"): value for name, value in headers.items()}
        request = Request(f"{self.url}{path}", data=body, headers={**self._headers, **said})
        try:
            with urlopen(request, timeout=self._timeout) as answer:
                return answer.read(), answer.headers, answer.status
        except HTTPError as error:
            with error:
                raise _error_of(error.read(), error.code, dict(error.headers)) from None
        except (URLError, HTTPException, OSError) as error:
            raise BusyError(
                f"{self.url} does not answer: {getattr(error, 'reason', error)}",
                rule="a server has to run there, and its answer to come whole",
                mend="start it with `prism serve`, or ask again",
            ) from error

    def verb(self, pid: str | None, verb: str, options: Message, *, reads: bool) -> Any:
        """Return what a verb answers, once it is done."""
        path = f"/api/{quote(pid or _STORE)}/{verb}"
        said = {name: _plain(value) for name, value in options.items() if value is not None}
        if reads and verb not in POSTED:
            query = urlencode(
                [(name.replace("_", "-"), text) for name, value in said.items() for text in _texts(value)]
            )
            body, _, _ = self.send(f"{path}?{query}" if query else path)
            return json.loads(body)
        sent = json.dumps(said).encode()
        body, _, status = self.send(path, body=sent, Content_Type="application/json")
        return self._awaited(json.loads(body)) if status == 202 else json.loads(body)

    def _awaited(self, job: Mapping[str, Any]) -> Any:
        while job["state"] in ("queued", "running"):
            time.sleep(_LOOK)
            job = json.loads(self.send(f"/jobs/{job['id']}")[0])
        if job["state"] != "done":
            told = job["error"] or {"code": "error", "message": f"the job was {job['state']}"}
            raise _error_of(json.dumps({"error": told.get("error", told)}).encode(), 500, {})
        return job["result"]

    def ask(self, path: str, parameters: Mapping[str, Any], *, form: bool) -> QueryAnswer:
        """Return the answer of a query."""
        said = [
            (name, text) for name, value in parameters.items() if value is not None for text in _texts(_plain(value))
        ]
        if form:
            body, headers, _ = self.send(path, body=urlencode(said).encode(), Accept=_ACCEPT)
        else:
            body, headers, _ = self.send(f"{path}?{urlencode(said)}", Accept=_ACCEPT)
        results: Any
        if headers["Content-Type"].startswith(_TRIPLES):
            kind, results = "graph", (quad.triple for quad in parse(body, format=RdfFormat.N_TRIPLES))
        else:
            results = parse_query_results(body, QueryResultsFormat.JSON)
            kind = "select" if hasattr(results, "variables") else "ask"
        as_of, known = headers.get("Prism-As-Of", "now"), headers.get("Prism-Known-At")
        return QueryAnswer(
            kind=kind,  # type: ignore[arg-type]
            dataset=headers["Prism-Dataset"],  # type: ignore[arg-type]
            as_of=None if as_of == "now" else Instant.parse(as_of),
            known_at=Instant.parse(known) if known else None,
            commit=int(headers["Prism-Commit"]),
            _results=results,
            truncated=headers.get("Prism-Truncated") == "true",
        )


class ClientPrism(Prism):
    """The store of one tenant, behind a server."""

    def __init__(self, door: _Door) -> None:
        self._door = door

    def project(self, pid: str) -> ClientProject:
        return ClientProject(self, check_name("project", pid))

    def close(self) -> None:
        """Nothing is kept open between requests."""

    def _ask(self, verb: str, options: Message, *, reads: bool) -> Any:
        if verb == "sparql":
            return self._sparql(options)
        if verb == "update":
            return self._update(options)
        _check_present(verb)
        return _told(Prism, verb, self._door.verb(None, verb, options, reads=reads))

    def _sparql(self, options: Message) -> QueryAnswer:
        if options.pop("pids", None) is not None:
            raise RefusedError(
                "pids is not answered over HTTP", rule="one project, or all", mend="give pid, or neither"
            )
        names = {"default_graphs": "default-graph-uri", "named_graphs": "named-graph-uri"}
        said = {names.get(name, name.replace("_", "-")): value for name, value in options.items()}
        return self._door.ask("/sparql", said, form=True)

    def _update(self, options: Message) -> Receipt:
        names = {"text": "update", "using_graphs": "using-graph-uri", "using_named_graphs": "using-named-graph-uri"}
        key = options.pop("idempotency_key", "")
        strange = [name for name, value in options.items() if name not in (*names, "pid") and value]
        if strange:
            raise RefusedError(
                f"{strange[0]} of update is not answered over HTTP", rule="an update is a text", mend="leave it out"
            )
        said = [(names.get(name, name), text) for name, value in options.items() if value for text in _texts(value)]
        headers = {"Idempotency_Key": key} if key else {}
        body, _, _ = self._door.send("/sparql", body=urlencode(said).encode(), **headers)
        return _receipt(json.loads(body))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name!r} belongs to the process that holds the store")


class ClientProject(Project):
    """A project of a store behind a server."""

    def __init__(self, prism: ClientPrism, pid: str) -> None:
        self.prism = prism
        self.pid = pid

    def _ask(self, verb: str, options: Message, *, reads: bool) -> Any:
        assert isinstance(self.prism, ClientPrism)
        door = self.prism._door
        if verb == "queries":
            body, _, _ = door.send(f"/queries?{urlencode({'pid': self.pid})}")
            return json.loads(body)["queries"]
        if verb == "run_query":
            own = ("as_of", "known_at", "max_rows", "timeout")
            said = {name.replace("_", "-") if name in own else name: value for name, value in options.items()}
            return door.ask(f"/queries/{quote(said.pop('name'), '')}", {**said, "pid": self.pid}, form=False)
        _check_present(verb)
        return _told(Project, verb, door.verb(self.pid, verb, options, reads=reads))


def _check_present(verb: str) -> None:
    if verb in ABSENT:
        raise RefusedError(
            f"{verb} is not answered over HTTP",
            rule="the JSON API has what can be told in JSON",
            mend="use /store or /changes of the server, or open the store where it lies",
        )


def _plain(value: Any) -> Any:
    """Return what JSON can hold of an argument."""
    if isinstance(value, Instant):
        return value.iso()
    if isinstance(value, date):  # a datetime is one
        return value.isoformat()
    if isinstance(value, (NamedNode, Literal)):
        return value.value
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value


def _texts(value: Any) -> list[str]:
    """Return a value as the parameters of a URL have it: a list by repeating the name."""
    if isinstance(value, (list, tuple)):
        return [text for each in value for text in _texts(each)]
    return [str(value).lower() if isinstance(value, bool) else str(value)]


def _told(of: type, verb: str, answer: Any) -> Any:
    """Return an answer as the verb itself returns it, by what its signature says."""
    target: Any = getattr(of, verb)
    returns = str(signature(getattr(target, "fget", target)).return_annotation)
    if returns == "Receipt":
        return _receipt(answer)
    if answer is not None and returns.startswith("Instant"):
        return Instant.parse(answer)
    if returns == "NamedNode":
        return NamedNode(answer)
    if returns.startswith("Iterator"):
        return iter(answer)
    return tuple(answer) if returns.startswith("tuple") else answer


def _receipt(told: Mapping[str, Any]) -> Receipt:
    recorded = told["recorded_at"]
    many = {name: tuple(told[name]) for name in ("created", "notes", "candidates")}
    return Receipt(told["commit"], Instant.parse(recorded) if recorded else None, replayed=told["replayed"], **many)


def _error_of(body: bytes, status: int, headers: Mapping[str, str]) -> PrismError:
    """Return the error that an answer tells, of the class that has its code, else of the one that has its status."""
    try:
        told = json.loads(body)["error"]
        kind = _classes().get(told["code"]) or _by_status(status)
    except (ValueError, KeyError, TypeError):
        return PrismError(f"the answer has the status {status}, and is none of prism", mend="check the address")
    error = kind.__new__(kind)
    Exception.__init__(error, told["message"])
    vars(error).update({name: value for name, value in told.items() if name not in ("docs", "report")})
    if "report" in told:
        vars(error)["report"] = tuple(Violation(**each) for each in told["report"])
    if headers.get("Retry-After", "").isdecimal():
        vars(error)["retry_after"] = int(headers["Retry-After"])
    return error


def _by_status(status: int) -> type[PrismError]:
    if status in (429, 503, 504):
        return BusyError
    return RefusedError if status in (403, 409, 413, 422) else UsageError if status < 500 else PrismError


def _classes() -> dict[str, type[PrismError]]:
    found: dict[str, type[PrismError]] = {}
    todo: list[type[PrismError]] = [PrismError]
    while todo:
        kind = todo.pop()
        if kind.__module__ == PrismError.__module__:
            found[kind.code] = kind
            todo += kind.__subclasses__()
    return found


send_every_verb(ClientPrism, Prism, verbs.PRISM)
send_every_verb(ClientProject, Project, verbs.PROJECT)
