"""The page at /: a query, a time, and the answer as a table; it asks through the same code as /sparql."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from flask import Blueprint, Response, make_response, render_template, request
from pyoxigraph import NamedNode

from prism_rdf.errors import PrismError
from prism_rdf.values import term_text

from .asking import DATASETS, Asker, Scope
from .parameters import scope_of_request
from .responding import VARY, describe

if TYPE_CHECKING:
    from prism_rdf.datasets import QueryAnswer

_MOST_ROWS = 1_000
_NOWHERE = Scope()
_DOWNLOADS = {"select": ("json", "csv", "tsv", "xml"), "ask": ("json", "xml"), "graph": ("ttl", "nt", "rdf", "jsonld")}
EXAMPLES = {
    "What is in the store": (
        "SELECT ?type (COUNT(?entity) AS ?entities)\n"
        "WHERE { ?entity prism:uuid ?uuid ; a ?type }\n"
        "GROUP BY ?type ORDER BY DESC(?entities)"
    ),
    "Decisions and their status": (
        "SELECT ?number ?title ?status\n"
        "WHERE { ?adr a type:ADR ; prism:title ?title .\n"
        "        OPTIONAL { ?adr prism:number ?number }\n"
        "        OPTIONAL { ?adr prism:status ?status } }\n"
        "ORDER BY ?number LIMIT 100"
    ),
    "What supersedes what": (
        "SELECT ?newer ?older\n"
        "WHERE { ?a prism:SUPERSEDES ?b . ?a prism:title ?newer . ?b prism:title ?older }\n"
        "LIMIT 100"
    ),
}

ABOUT = """SELECT ?subject ?property ?value
WHERE {{
  {{ VALUES ?subject {{ {iri} }} ?subject ?property ?value }}
  UNION
  {{ VALUES ?value {{ {iri} }} ?subject ?property ?value }}
}} ORDER BY ?property LIMIT 1000"""


@dataclass(frozen=True)
class Cell:
    """One value of the table: its text, and where a click on it leads."""

    text: str
    link: str = ""


@dataclass(frozen=True)
class Answer:
    """What the page shows of an answer; ``more`` counts the rows it does not show."""

    kind: str
    as_of: str
    commit: int
    milliseconds: int
    columns: list[str] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)
    more: int = 0
    text: str = ""
    downloads: dict[str, str] = field(default_factory=dict)


def blueprint(asker: Asker) -> Blueprint:
    """Return the route of the page."""
    routes = Blueprint("workbench", __name__)

    @routes.get("/")
    def page() -> Response:
        query = request.args.get("query", "").strip()
        try:
            scope = scope_of_request()
        except PrismError as error:
            return _rendered(asker, query, Scope(), failure=error)
        return page_for(asker, query, scope)

    return routes


def page_for(asker: Asker, query: str = "", scope: Scope = _NOWHERE) -> Response:
    """Return the page with a query, or with the first example, and what it finds in a scope."""
    query = query or next(iter(EXAMPLES.values()))
    started = time.monotonic()
    try:
        found = asker.ask(query, scope)
        response = _rendered(asker, query, scope, answer=_answer(found, query, scope, started))
    except PrismError as error:
        return _rendered(asker, query, scope, failure=error)
    describe(response, found, managed=asker.managed)
    return response


def _rendered(
    asker: Asker, query: str, scope: Scope, *, answer: Answer | None = None, failure: PrismError | None = None
) -> Response:
    html = render_template(
        "workbench.html",
        query=query,
        scope=scope,
        answer=answer,
        failure=failure,
        projects=asker.projects(),
        datasets=DATASETS,
        examples={name: _link("/", text, scope) for name, text in EXAMPLES.items()},
    )
    response = make_response(html, failure.http_status if failure else 200)
    response.headers["Vary"] = VARY
    return response


def _answer(found: QueryAnswer, query: str, scope: Scope, started: float) -> Answer:
    kind = found.kind
    shown: dict[str, Any] = {}
    if kind == "select":
        rows = iter(found.rows())
        shown["columns"] = found.variables
        shown["rows"] = [[_cell(term, scope) for term in row] for row in islice(rows, _MOST_ROWS)]
        shown["more"] = sum(1 for _ in rows)
    else:
        shown["text"] = found.serialize("csv" if kind == "ask" else "ttl").decode("utf-8")
    return Answer(
        kind=kind,
        as_of=str(found.as_of or "now"),
        commit=found.commit,
        milliseconds=round((time.monotonic() - started) * 1000),
        downloads={name: _link("/sparql", query, scope, format=name) for name in _DOWNLOADS[kind]},
        **shown,
    )


def _cell(term: object, scope: Scope) -> Cell:
    """Return a term as a cell; an IRI leads to what is said about it, in the same world."""
    if not isinstance(term, NamedNode):
        return Cell(term_text(term))
    return Cell(term_text(term), _link("/", ABOUT.format(iri=term), scope))


def _link(path: str, query: str, scope: Scope, **more: str) -> str:
    given = {"as-of": scope.as_of, "known-at": scope.known_at, "pid": scope.pid}
    parameters = [("query", query), *((name, value) for name, value in given.items() if value), *more.items()]
    if scope.dataset != "current":
        parameters.append(("dataset", scope.dataset))
    parameters += [("default-graph-uri", graph) for graph in scope.default_graphs]
    parameters += [("named-graph-uri", graph) for graph in scope.named_graphs]
    return f"{path}?{urlencode(parameters)}"
