"""The invariants of a namespace, each a named query of queries/checks/, run over a whole store.

A check is a SELECT whose every row is something broken. Its parameters ``$canonical``, ``$temporal``, ``$semantic``,
``$review`` and ``$current`` are graphs of the namespace. What a write would break is found by preflight, which goes by
these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from pyoxigraph import QuerySolutions, Variable

from prism_rdf import resources
from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import Names, local_name
from prism_rdf.storage.interface import GraphReader

_LAYERS = ("canonical", "temporal", "semantic", "evidence", "review", "current")
_PARAMETER = re.compile(r"\$(\w+)")
_HEADER = re.compile(r"^#\+ (\w+): (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Check:
    """One invariant: ``summary`` says what is broken when it finds something, ``why`` what that would mean."""

    name: str
    summary: str
    why: str
    text: str

    @cached_property
    def layers(self) -> frozenset[str]:
        """Return the layers whose graphs the check reads."""
        return frozenset(_PARAMETER.findall(self._query))

    @property
    def _query(self) -> str:
        """The query without its header, which speaks of the parameters by name."""
        return "".join(line for line in self.text.splitlines(keepends=True) if not line.startswith("#"))

    def bind(self, names: Names) -> str:
        """Return the query for one namespace. Raises BadArgument when it has a parameter that is unknown."""
        graphs = {layer: str(names.graph(layer)) for layer in _LAYERS}

        def term(match: re.Match[str]) -> str:
            if match[1] not in graphs:
                raise BadArgument(
                    f"check {self.name} has the unknown parameter ${match[1]}",
                    rule=f"a check may have the parameters {', '.join('$' + layer for layer in _LAYERS)}",
                    mend=f"correct queries/checks/{self.name}.rq",
                )
            return graphs[match[1]]

        return _PARAMETER.sub(term, self._query)


@dataclass(frozen=True)
class Finding:
    """One broken invariant: the name of the check, the entity, and the other columns as ``column value`` pairs."""

    check: str
    entity: str
    detail: str


@cache
def load_checks() -> tuple[Check, ...]:
    """Return the checks that ship with the package, by name."""
    return tuple(_read(name) for name in resources.names("queries/checks", ".rq"))


def run_checks(store: GraphReader, names: Names, checks: Sequence[Check] | None = None) -> tuple[Finding, ...]:
    """Return everything that the checks (default: all) find in a namespace; empty when it is sound."""
    return tuple(
        found
        for check in (load_checks() if checks is None else checks)
        for found in find(store, check, check.bind(names))
    )


def find(store: GraphReader, check: Check, query: str) -> Iterator[Finding]:
    """Yield what a bound check finds."""
    answer = store.query(query)
    assert isinstance(answer, QuerySolutions)
    columns = [variable for variable in answer.variables if variable != Variable("entity")]
    for row in answer:
        said = ((column.value, row[column]) for column in columns)
        detail = ", ".join(f"{name} {_plain(value)}" for name, value in said if value is not None)
        yield Finding(check.name, _plain(row["entity"]), detail)


def _plain(term: object) -> str:
    value = getattr(term, "value", None)
    return value if isinstance(value, str) else str(term)


def _read(name: str) -> Check:
    text = resources.text(name)
    header = dict(_HEADER.findall(text))
    return Check(local_name(name).removesuffix(".rq"), header["summary"], header["why"], text)
