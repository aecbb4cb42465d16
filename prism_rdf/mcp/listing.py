"""Long lists of names, asked with SPARQL so that their cost is of a page: entities in order, and how a name goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyoxigraph import Literal

from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import Names, local_name
from prism_rdf.prism import Prism

_NAMES = ("number", "name", "title", "pid", "fqdn")  # what an entity is called by, in this order
_BORNE = f"""SELECT ?how {{ VALUES ?how {{ {" ".join(f"prism:{name}" for name in _NAMES)} }}
    FILTER EXISTS {{ ?entity ?how ?name }} }}"""
_WHICH = (
    "?entity prism:uuid ?uuid {a} MINUS {{ ?entity prism:mergedInto ?into }}"  # FILTER NOT EXISTS costs 80 times it
)
_MOST_COMPLETED = 100


class Listing:
    """The entities of a project or of one type (an IRI), by what they are called, now or at a valid time."""

    def __init__(self, prism: Prism, pid: str, type_iri: str, as_of: str) -> None:
        self._prism = prism
        self._pid = pid
        self._as_of = as_of or None
        self._which = _WHICH.format(a=f"; a <{type_iri}> ." if type_iri else ".")
        borne = {local_name(row[0].value) for row in self._rows(_BORNE)}
        names = [name for name in _NAMES if name in borne]  # a name that nobody has would be looked up for each
        called = ", ".join([*(f"?{name}" for name in names), "?uuid"])
        self._called = " ".join(f"OPTIONAL {{ ?entity prism:{name} ?{name} }}" for name in names)
        self._called += f" BIND(STR(COALESCE({called})) AS ?called)"

    def total(self) -> int:
        row = next(self._rows(f"SELECT (COUNT(*) AS ?n) {{ {self._which} }}"))
        return int(row[0].value)

    def after(self, uuid: str, limit: int) -> list[str]:
        """Return the uuids of the next entities behind this one (empty: the first ones). Raises BadArgument."""
        behind = self._behind(uuid) if uuid else ""
        query = f"SELECT ?uuid {{ {self._which} {self._called} {behind} }} ORDER BY ?called ?uuid LIMIT {limit}"
        return [row[0].value for row in self._rows(query)]

    def _behind(self, uuid: str) -> str:
        one = f"VALUES ?uuid {{ {Literal(uuid)} }} {self._which} {self._called}"
        found = next(self._rows(f"SELECT ?called {{ {one} }}"), None)
        if found is None:
            raise BadArgument(
                f"{uuid!r} is in no cursor of this list",
                rule="a cursor comes with an answer, and goes with the same arguments",
                mend="leave it out to begin anew",
            )
        called = Literal(found[0].value)
        return f"FILTER(?called > {called} || (?called = {called} && ?uuid > {Literal(uuid)}))"

    def _rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        return iter(self._prism.sparql(query, pid=self._pid, as_of=self._as_of).rows())


def references_in(prism: Prism, pid: str) -> int:
    """Return how many references a project ever recorded."""
    graph = Names(prism.base, pid).graph("semantic")
    query = f"SELECT (COUNT(*) AS ?n) {{ GRAPH {graph} {{ ?reference a prism:Reference }} }}"
    return int(next(iter(prism.sparql(query, dataset="raw").rows()))[0].value)


def completions(prism: Prism, pid: str, begun: str) -> list[str]:
    """Return the names of entities of a project, aliases included, that begin so, whatever the case; at most 100."""
    props = " ".join(f"prism:{name}" for name in _NAMES)
    query = f"""SELECT DISTINCT ?name {{ VALUES ?how {{ {props} skos:altLabel }} ?entity ?how ?name
        FILTER(STRSTARTS(LCASE(STR(?name)), {Literal(begun.casefold())})) }} ORDER BY ?name LIMIT {_MOST_COMPLETED}"""
    return [row[0].value for row in prism.sparql(query, pid=pid).rows()]
