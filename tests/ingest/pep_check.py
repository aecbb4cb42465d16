"""Holds a project that took in the PEPs against the oracle, at each header version, just before it and around it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

SECOND = 1_000_000


@dataclass
class Verdict:
    """How many values were compared, and those that differ: (number, µs, what, found, expected)."""

    compared: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[str, int, str, Any, Any]] = field(default_factory=list)
    versions: int = 0

    def hold(self, number: str, micros: int, what: str, found: Any, expected: Any) -> None:
        self.compared[what] += 1
        if found != expected:
            self.wrong.append((number, micros, what, found, expected))


def check(project: Any, lines: dict[str, Any], oracle: Any, only: set[str] | None = None) -> Verdict:
    """Compare states, references and identities of all documents, or of some by number."""
    verdict = Verdict()
    at_path = _by_path(project)
    references = _references(project)
    ever: defaultdict[tuple[str, str], set[str]] = defaultdict(set)  # who ever named a number in a field
    for number, line in lines.items():
        for _, _, header in line.versions:
            for name in ("replaces", "replacedBy") if header else ():
                for other in header.numbers(name):
                    ever[name, other].add(number)
    tip = 10**18
    for number, line in sorted(lines.items(), key=lambda item: int(item[0])):
        if only is not None and number not in only:
            continue
        path, header = line.at(tip)
        entity = _at(at_path, path, tip) if header is not None else None
        if header is not None:
            verdict.hold(number, tip, "one entity at the tip", entity is not None, True)
        before = None
        for micros, _, header in line.versions:
            if header == before:
                continue
            before = header
            verdict.versions += 1
            for at in (micros - SECOND, micros - 1, micros, micros + SECOND):
                _compare(verdict, project, lines, number, at, entity, at_path, references, ever, oracle)
    return verdict


def _compare(
    verdict: Verdict,
    project: Any,
    lines: Any,
    number: str,
    at: int,
    entity: str | None,
    at_path: Any,
    references: Any,
    ever: Any,
    oracle: Any,
) -> None:
    path, header = lines[number].at(at)
    if header is None:
        return
    there = _at(at_path, path, at)
    if entity is not None:
        verdict.hold(number, at, "the same entity", there, entity)
    if there is None:
        verdict.hold(number, at, "an entity", None, path)
        return
    props = project.state_as_of(there, as_of=oracle.instant(at)).get("props", {})
    for name in ("title", "status", "category"):
        verdict.hold(number, at, name, props.get(name, ""), header.single.get(name, ""))
    for name in ("replaces", "replacedBy", "requires"):
        verdict.hold(number, at, name, set(props.get(name, ())), set(header.lists.get(name, ())))
    _compare_references(verdict, lines, number, at, there, at_path, references, ever)


def _compare_references(
    verdict: Verdict, lines: Any, number: str, at: int, there: str, at_path: Any, references: Any, ever: Any
) -> None:
    found = defaultdict(set)
    for source, target, kind, start, until in references.get(there, ()):
        if start <= at < until:
            found[kind, source == there].add(target if source == there else source)
    header = lines[number].at(at)[1]
    for kind, says, inverse in (("SUPERSEDES", "replaces", "replacedBy"), ("DEPENDS_ON", "requires", "")):
        said = set(header.numbers(says))
        if inverse:
            said |= {n for n in ever[inverse, number] if (h := lines[n].at(at)[1]) and number in h.numbers(inverse)}
        expected = {_at(at_path, lines[n].at(at)[0], at) for n in said if n in lines and lines[n].at(at)[1] is not None}
        verdict.hold(number, at, kind, found[kind, True], expected - {None, there})
    by = header.numbers("replacedBy") | {
        n for n in ever["replaces", number] if (h := lines[n].at(at)[1]) and number in h.numbers("replaces")
    }
    expected = {_at(at_path, lines[n].at(at)[0], at) for n in by if n in lines and lines[n].at(at)[1] is not None}
    verdict.hold(number, at, "superseded by", found["SUPERSEDES", False], expected - {None, there})


def _by_path(project: Any) -> dict[str, list[tuple[int, float, str]]]:
    """Return (from, until, entity) of all sealed states by their path."""
    names = project.names
    query = f"""SELECT ?entity ?path ?from ?until {{
        GRAPH {names.graph("temporal")} {{
            ?entity prism:hasState ?state . ?state prism:validFrom ?from .
            OPTIONAL {{ ?state prism:validUntil ?until }} FILTER NOT EXISTS {{ ?state prism:withdrawnAt ?gone }} }}
        GRAPH ?state {{ ?entity prism:path ?path }} }}"""
    found: dict[str, list[tuple[int, float, str]]] = defaultdict(list)
    for entity, path, start, until in project.prism.sparql(query, dataset="raw").rows():
        found[path.value].append((micros_of(start), micros_of(until), names.uuid_of(entity.value)))
    return found


def _references(project: Any) -> dict[str, list[tuple[str, str, str, int, float]]]:
    names = project.names
    query = f"""SELECT ?source ?target ?kind ?from ?until {{ GRAPH {names.graph("semantic")} {{
        ?node prism:referenceSource ?source ; prism:referenceTarget ?target ; prism:referenceKind ?kind ;
            prism:validFrom ?from . OPTIONAL {{ ?node prism:validUntil ?until }}
        FILTER (?kind IN (prism:SUPERSEDES, prism:DEPENDS_ON))
        FILTER NOT EXISTS {{ ?node prism:withdrawnAt ?gone }} }} }}"""
    found: dict[str, list[tuple[str, str, str, int, float]]] = defaultdict(list)
    for source, target, kind, start, until in project.prism.sparql(query, dataset="raw").rows():
        ends = names.uuid_of(source.value), names.uuid_of(target.value)
        entry = (*ends, kind.value.rsplit("#", 1)[1], micros_of(start), micros_of(until))
        for end in ends:
            found[end].append(entry)
    return found


def micros_of(term: Any) -> Any:
    from prism_rdf.clock import Instant

    return float("inf") if term is None else Instant.parse(term.value).micros


def _at(at_path: Any, path: str, micros: int) -> str | None:
    entities = {entity for start, until, entity in at_path.get(path, ()) if start <= micros < until}
    return entities.pop() if len(entities) == 1 else None
