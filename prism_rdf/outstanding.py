"""What in a project wants attention and what it counts, by queries of its world at a time; nothing is put in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pyoxigraph import Literal, NamedNode

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.namespaces import Names, prism

Ask = Callable[[str], Iterable[Sequence[Any]]]  # a query, over the current and the memory graph of one time
_SUPERSEDES = prism("SUPERSEDES")


def counts(ask: Ask, names: Names, catalog: TypeCatalog) -> dict[str, int]:
    """Return how many entities of each type there are, merged ones left out, the most first."""
    known = {kind.iri: kind.name for kind in catalog.types}
    pairs = [(above, kind.iri) for kind in catalog.types for above in kind.superclasses if above in known]
    exact = ""
    if pairs:  # an entity is counted as what it is, and not as what that is a kind of as well
        values = " ".join(f"({above} {below})" for above, below in pairs if above != below)
        exact = f"FILTER NOT EXISTS {{ VALUES (?type ?below) {{ {values} }} ?entity a ?below }}" if values else ""
    found = ask(f"""SELECT ?type (COUNT(?entity) AS ?count) {{ GRAPH {names.graph("current")} {{
        VALUES ?type {{ {" ".join(map(str, known))} }} ?entity a ?type {exact}
        FILTER NOT EXISTS {{ ?entity prism:mergedInto ?preferred }} }} }} GROUP BY ?type""")
    told = {known[kind]: int(count.value) for kind, count in found if kind in known}
    return dict(sorted(told.items(), key=lambda entry: (-entry[1], entry[0])))


def memories(ask: Ask, names: Names) -> int:
    """Return how many memories there are."""
    found = ask(f"SELECT (COUNT(?memory) AS ?count) {{ GRAPH {names.graph('memory')} {{ ?memory a prism:Memory }} }}")
    return next((int(row[0].value) for row in found), 0)


def resting(ask: Ask, names: Names, catalog: TypeCatalog) -> list[dict[str, Any]]:
    """Return the references by which something in force depends on what is superseded or retired.

    Each is ``{"entity", "kind", "on", "why", "by"}``, nodes; ``by`` is what superseded it, None where nothing says so.
    What supersedes a thing may refer to it, and what is superseded itself may rest on what it will.
    """
    ends = {kind: end for kind, end in catalog.dependent_ends.items() if kind != _SUPERSEDES}
    graph = names.graph("current")
    rows = ask(f"""SELECT ?source ?kind ?target ?gone ?by ?status {{ GRAPH {graph} {{
        {{ ?by {_SUPERSEDES} ?gone }}
        UNION {{ ?gone prism:status ?status FILTER (STRSTARTS(LCASE(?status), "superseded")) }}
        {{ ?source ?kind ?gone . BIND (?gone AS ?target) }} UNION {{ ?gone ?kind ?target . BIND (?gone AS ?source) }}
        FILTER (?kind IN ({", ".join(map(str, ends))})) }} }}""")
    retired = ask(f"""SELECT ?source ?kind ?target {{ GRAPH {graph} {{
        VALUES ?kind {{ {" ".join(map(str, (kind for kind, end in ends.items() if end == "source")))} }}
        ?source ?kind ?target FILTER NOT EXISTS {{ ?target prism:uuid ?uuid }} }} }}""")
    found: dict[tuple[Any, Any, Any], dict[str, Any]] = {}
    gone: set[Any] = set()
    for source, kind, target, superseded, by, _ in rows:
        gone.add(superseded)
        depends, on = (source, target) if ends[kind] == "source" else (target, source)
        if on == superseded and by != depends:
            told = {"entity": depends, "kind": kind, "on": on, "why": "superseded", "by": by}
            known = found.setdefault((depends, kind, on), told)
            known["by"] = known["by"] or by
    for source, kind, target in retired:
        told = {"entity": source, "kind": kind, "on": target, "why": "retired", "by": None}
        found.setdefault((source, kind, target), told)
    superseders = {(each["by"], each["on"]) for each in found.values() if each["by"] is not None}
    kept = (told for told in found.values() if told["entity"] not in gone)
    return [told for told in kept if (told["entity"], told["on"]) not in superseders]


def project_entities(ask: Ask, names: Names) -> list[tuple[NamedNode, str]]:
    """Return the entities of type Project with their pid, empty where one says none; merged ones left out."""
    found = ask(f"""SELECT ?entity ?pid {{ GRAPH {names.graph("current")} {{
        ?entity a type:Project OPTIONAL {{ ?entity prism:pid ?pid }}
        FILTER NOT EXISTS {{ ?entity prism:mergedInto ?preferred }} }} }} ORDER BY ?entity""")
    return [(node, pid.value if isinstance(pid, Literal) else "") for node, pid in found]
