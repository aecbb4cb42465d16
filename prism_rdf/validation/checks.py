"""The invariants of a namespace, each a named query of queries/checks/: run over a whole store, or after one write.

A check is a SELECT whose every row is something broken. Its parameters ``$canonical``, ``$temporal``, ``$semantic`` and
``$current`` are graphs of the namespace. At a line ``# focus`` it can be restricted to the entities of a write; at a
line ``# focus ?state`` also to the states that the write touches, so that its cost does not grow with the history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from pyoxigraph import NamedNode, Quad, QuerySolutions, Variable

from prism_rdf import resources
from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import Names, local_name, prism
from prism_rdf.storage.interface import GraphReader

_LAYERS = ("canonical", "temporal", "semantic", "current")
_PARAMETER = re.compile(r"\$(\w+)")
_FOCUS = re.compile(r"^[ \t]*# focus(?: \?(\w+))?[ \t]*$", re.MULTILINE)
_HEADER = re.compile(r"^#\+ (\w+): (.+)$", re.MULTILINE)
_SUPERSEDED_BY = prism("supersededBy")
_PREFIX = re.compile(r"^PREFIX (\w+): <(.+)>\n", re.MULTILINE)


@dataclass(frozen=True)
class Check:
    """One invariant: ``summary`` says what is broken when it finds something, ``why`` what that would mean."""

    name: str
    summary: str
    why: str
    text: str

    @property
    def can_focus(self) -> bool:
        """Return whether the check can be restricted to some entities."""
        return _FOCUS.search(self.text) is not None

    @cached_property
    def layers(self) -> frozenset[str]:
        """Return the layers whose graphs the check reads."""
        return frozenset(_PARAMETER.findall(self._query))

    @cached_property
    def _query(self) -> str:
        return _plain_query(self.text)

    def bind(
        self, names: Names, focus: Sequence[NamedNode] | None = None, states: Sequence[NamedNode] | None = None
    ) -> str:
        """Return the query for one namespace, restricted to the entities ``focus`` where that is given.

        Where ``states`` is given too, a check of states looks only at these. That is enough after a write to a sound
        store, when they are all those that the change mentions, and the ones before them (``touched_states``).
        Raises BadArgument when the query has a parameter that is unknown.
        """
        graphs = {layer: str(names.graph(layer)) for layer in _LAYERS}

        def term(match: re.Match[str]) -> str:
            if match[1] not in graphs:
                raise BadArgument(
                    f"check {self.name} has the unknown parameter ${match[1]}",
                    rule=f"a check may have the parameters {', '.join('$' + layer for layer in _LAYERS)}",
                    mend=f"correct queries/checks/{self.name}.rq",
                )
            return graphs[match[1]]

        def values(match: re.Match[str]) -> str:
            if states is not None and match[1]:
                return f"VALUES ?{match[1]} {{ {_listed(states)} }}"
            return "" if focus is None else f"VALUES ?entity {{ {_listed(focus)} }}"

        return _FOCUS.sub(values, _PARAMETER.sub(term, self._query))

    def post_condition(
        self,
        names: Names,
        focus: Sequence[NamedNode],
        violation_graph: NamedNode,
        states: Sequence[NamedNode] | None = None,
    ) -> str:
        """Return an update operation that writes the entities that break the check into a graph.

        ``focus`` and ``states`` are as for `bind`. After it, ``CREATE GRAPH <violation_graph> ; DROP GRAPH
        <violation_graph>`` fails, and rolls the whole update back, exactly when something was found.
        """
        finding = f'?entity {prism("violates")} "{self.name}"'
        where = self.bind(names, focus, states)
        return f"INSERT {{ GRAPH {violation_graph} {{ {finding} }} }} WHERE {{ {{\n{where}}} }}"


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


def touched_states(store: GraphReader, names: Names, quads: Iterable[Quad]) -> tuple[NamedNode, ...]:
    """Return the states that the quads of a change mention, and those that ``store`` says they supersede, each once.

    ``store`` is the store as it will be after the change.
    """
    start, temporal = names.state("").value, names.graph("temporal")
    terms = (term for quad in quads for term in (quad.subject, quad.object, quad.graph_name))
    touched = {term: None for term in terms if isinstance(term, NamedNode) and term.value.startswith(start)}
    before = [
        quad.subject for state in touched for quad in store.quads_for_pattern(None, _SUPERSEDED_BY, state, temporal)
    ]
    return tuple(touched | {state: None for state in before if isinstance(state, NamedNode)})


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


def _listed(nodes: Sequence[NamedNode]) -> str:
    return " ".join(map(str, nodes))


@cache
def _plain_query(text: str) -> str:
    """Return a query without its header, which speaks of the parameters by name, and with all names written out.

    Oxigraph takes prefixes only before the first operation of an update.
    """
    body = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    prefixes = dict(_PREFIX.findall(body))
    token = re.compile(rf"<[^<>\s]*>|\"[^\"]*\"|\b({'|'.join(prefixes)}):(\w+)")
    full = token.sub(
        lambda match: f"<{prefixes[match[1]]}{match[2]}>" if match[1] else match[0], _PREFIX.sub("", body).strip()
    )
    return f"{full}\n"
