"""Long lists of names, asked with SPARQL so that their cost is of a page: entities in order, and how a name goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyoxigraph import Literal

from prism_rdf.errors import BadArgument
from prism_rdf.prism import Prism

_NAMES = ("number", "name", "title", "pid", "fqdn")  # what an entity is called by, in this order
_WHICH = "?entity prism:uuid ?uuid {a} FILTER NOT EXISTS {{ ?entity prism:mergedInto ?into }}"
_CALLED = " ".join(f"OPTIONAL {{ ?entity prism:{name} ?{name} }}" for name in _NAMES)
_AS = f"BIND(COALESCE({', '.join(f'?{name}' for name in _NAMES)}, ?uuid) AS ?called)"
_MOST_COMPLETED = 100


class Listing:
    """The entities of a project or of one type (an IRI), by what they are called, now or at a valid time."""

    def __init__(self, prism: Prism, pid: str, type_iri: str, as_of: str) -> None:
        self._prism = prism
        self._pid = pid
        self._as_of = as_of or None
        self._which = _WHICH.format(a=f"; a <{type_iri}> ." if type_iri else ".")

    def total(self) -> int:
        return self._count("")

    def after(self, cursor: str, limit: int) -> list[str]:
        """Return the uuids of the next entities behind the one of this uuid. Raises BadArgument."""
        behind = self._behind(cursor) if cursor else ""
        query = f"SELECT ?uuid {{ {self._which} {_CALLED} {_AS} {behind} }} ORDER BY ?called ?uuid LIMIT {limit}"
        return [row[0].value for row in self._rows(query)]

    def left_behind(self, last: str) -> int:
        """Return how many come behind the entity of this uuid; 0 for none."""
        return self._count(f"{_CALLED} {_AS} {self._behind(last)}") if last else 0

    def _count(self, further: str) -> int:
        row = next(iter(self._rows(f"SELECT (COUNT(*) AS ?n) {{ {self._which} {further} }}")))
        return int(row[0].value)

    def _behind(self, uuid: str) -> str:
        found = list(self._rows(f"SELECT ?called {{ {self._which} {_CALLED} {_AS} FILTER(?uuid = {Literal(uuid)}) }}"))
        if not found:
            raise BadArgument(
                f"{uuid!r} is no cursor of this list",
                rule="a cursor comes with an answer, and goes with the same arguments",
                mend="leave it out to begin anew",
            )
        called = Literal(found[0][0].value)
        return f"FILTER(STR(?called) > {called} || (STR(?called) = {called} && ?uuid > {Literal(uuid)}))"

    def _rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        return iter(self._prism.sparql(query, pid=self._pid, as_of=self._as_of).rows())


def completions(prism: Prism, pid: str, begun: str) -> list[str]:
    """Return the names of entities of a project, aliases included, that begin so, whatever the case; at most 100."""
    props = " ".join(f"prism:{name}" for name in _NAMES)
    query = f"""SELECT DISTINCT ?name {{ VALUES ?how {{ {props} skos:altLabel }} ?entity ?how ?name
        FILTER(STRSTARTS(LCASE(STR(?name)), {Literal(begun.casefold())})) }} ORDER BY ?name LIMIT {_MOST_COMPLETED}"""
    return [row[0].value for row in prism.sparql(query, pid=pid).rows()]
