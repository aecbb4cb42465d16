"""The invariants of a namespace, each a named query of queries/checks/: run over a whole store, or after one write.

A check is a SELECT whose every row is something broken. Its parameters ``$canonical``, ``$temporal``, ``$semantic`` and
``$current`` are graphs of the namespace; at each line ``# focus`` it can be restricted to the entities of a write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from pyoxigraph import NamedNode, QuerySolutions, Variable

from prism_rdf import resources
from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import Names, local_name, prism
from prism_rdf.storage.interface import GraphReader

_LAYERS = ("canonical", "temporal", "semantic", "current")
_PARAMETER = re.compile(r"\$(\w+)")
_FOCUS = re.compile(r"^[ \t]*# focus[ \t]*$", re.MULTILINE)
_HEADER = re.compile(r"^#\+ (\w+): (.+)$", re.MULTILINE)
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

    def bind(self, names: Names, focus: Sequence[NamedNode] | None = None) -> str:
        """Return the query for one namespace, restricted to ``focus`` where it is given and the check can be.

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

        text = _PARAMETER.sub(term, _without_comments(self.text))
        values = "" if focus is None else f"VALUES ?entity {{ {' '.join(map(str, focus))} }}"
        return _FOCUS.sub(lambda _: values, text)

    def post_condition(self, names: Names, focus: Sequence[NamedNode], violation_graph: NamedNode) -> str:
        """Return an update operation that writes the entities of ``focus`` that break the check into a graph.

        After it, ``CREATE GRAPH <violation_graph> ; DROP GRAPH <violation_graph>`` fails, and rolls the whole update
        back, exactly when something was found.
        """
        finding = f'?entity {prism("violates")} "{self.name}"'
        where = _without_prefixes(self.bind(names, focus))
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


def run_checks(store: GraphReader, names: Names, checks: Sequence[Check] | None = None) -> tuple[Finding, ...]:
    """Return everything that the checks (default: all) find in a namespace; empty when it is sound."""
    return tuple(
        found for check in (load_checks() if checks is None else checks) for found in _run(store, names, check)
    )


def _run(store: GraphReader, names: Names, check: Check) -> Iterator[Finding]:
    answer = store.query(check.bind(names))
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


def _without_comments(text: str) -> str:
    """Drop the header: it speaks of the parameters by name."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))


def _without_prefixes(text: str) -> str:
    """Write names out in full: Oxigraph takes prefixes only before the first operation of an update."""
    prefixes = dict(_PREFIX.findall(text))
    body = _PREFIX.sub("", text).strip() + "\n"
    if not prefixes:
        return body
    token = re.compile(rf"<[^<>\s]*>|\"[^\"]*\"|\b({'|'.join(prefixes)}):(\w+)")
    return token.sub(lambda match: f"<{prefixes[match[1]]}{match[2]}>" if match[1] else match[0], body)
