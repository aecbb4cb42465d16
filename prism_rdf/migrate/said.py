"""What earlier rows said, as the store believes it: read for some rows at once, and kept up to date while told.

Rows are told apart by where they stand (``source``); what others said of the same entities does not matter here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pyoxigraph import Literal, NamedNode

from prism_rdf.clock import Instant
from prism_rdf.model import Alias, Event, Intent, Memory, Receipt, Reference
from prism_rdf.namespaces import Names, local_name
from prism_rdf.values import Term


class Project(Protocol):
    """A project as a migration needs it."""

    @property
    def names(self) -> Names: ...

    @property
    def prism(self) -> Any: ...

    def write(self, intents: Iterable[Intent], verb: str = ..., idempotency_key: str = ...) -> Receipt: ...

    def bearer_uuid(self, identifier: str, at: Instant) -> str | None: ...

    def property_held(self, uuid: str, name: str, at: Instant) -> tuple[NamedNode | None, tuple[str, ...]]: ...


@dataclass(frozen=True)
class Statement:
    """What an event says of its properties; ``stood`` is the row's time, ``at`` since when it holds."""

    at: Instant
    stood: int
    created: bool
    values: dict[str, tuple[Term, ...]]


@dataclass
class Said:
    """All that one row said so far."""

    statements: list[Statement] = field(default_factory=list)
    passages: list[Memory] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)

    @property
    def first_stood(self) -> int | None:
        """Return the time of the row that made the entity; None when it was not made."""
        return next((each.stood for each in self.statements if each.created), None)

    def value(self, prop: str, at: Instant) -> tuple[Term, ...] | None:
        """Return what was said to hold at an instant, () for nothing any more; None when nothing was ever said."""
        told = [each for each in self.statements if prop in each.values]
        if not told:
            return None
        until = [each for each in told if each.at <= at]
        return max(until, key=lambda each: (each.at, each.stood)).values[prop] if until else ()

    def claimed(self, prop: str, stood: Instant) -> bool:
        """Return whether the row as it stood then said something of a property."""
        return any(each.stood == stood.micros and prop in each.values for each in self.statements)

    def passages_at(self, at: Instant) -> list[Memory]:
        return [each for each in self.passages if _holds(each.start, each.until, at)]

    def references_at(self, at: Instant) -> list[Reference]:
        return [each for each in self.references if _holds(each.start, each.until, at)]

    def keep(self, told: Iterable[Intent]) -> None:
        """Take in the passages that are about to be written."""
        fresh = [each for each in told if isinstance(each, Memory)]
        ended = {(each.source, each.content) for each in fresh if each.until is not None}
        self.passages = [*(each for each in self.passages if (each.source, each.content) not in ended), *fresh]

    def note(self, event: Event) -> None:
        """Take in an event that is about to be written."""
        assert event.at is not None
        values: dict[str, tuple[Term, ...]] = {}
        for said in event.assertions:
            name = local_name(said.property.value)
            values.setdefault(name, ())
            if said.value is not None:
                values[name] = tuple(sorted({*values[name], said.value}, key=str))
        self.statements.append(Statement(event.at.instant, event.sequence, event.event_type == "created", values))


def said_by(project: Project, places: Mapping[str, str]) -> dict[str, Said]:
    """Return what the rows in these places said of their entities (uuids), in events and in passages, by place."""
    found: defaultdict[str, Said] = defaultdict(Said)
    wanted = " ".join(str(Literal(each)) for each in places)
    for place, statement in _events(project, wanted):
        found[place].statements.append(statement)
    for place, memory in _passages(project, places):
        found[place].passages.append(memory)
    return found


def references_by(project: Project, places: Sequence[str]) -> dict[str, list[Reference]]:
    """Return the references that the rows in these places made, by place."""
    wanted = " ".join(str(Literal(each)) for each in places)
    names = project.names
    query = f"""SELECT ?place ?source ?target ?kind ?from ?until {{ VALUES ?place {{ {wanted} }}
        GRAPH {names.graph("semantic")} {{ ?ref prism:source ?place ; prism:referenceSource ?source ;
            prism:referenceTarget ?target ; prism:referenceKind ?kind .
            OPTIONAL {{ ?ref prism:validFrom ?from }} OPTIONAL {{ ?ref prism:validUntil ?until }}
            FILTER NOT EXISTS {{ ?ref prism:withdrawnAt ?gone }} }} }}"""
    found: defaultdict[str, list[Reference]] = defaultdict(list)
    for row in _rows(project, query):
        ends = (names.uuid_of(row["source"].value), names.uuid_of(row["target"].value))
        place, kind = row["place"].value, NamedNode(row["kind"].value)
        found[place].append(Reference(*ends, kind, _instant(row["from"]), _instant(row["until"]), 2, place))
    return found


def aliases_by(project: Project, source: str) -> set[tuple[str, str]]:
    """Return the names that a source gave, as (form, uuid), as far as they are believed."""
    query = f"""SELECT ?form ?entity {{ GRAPH {project.names.graph("semantic")} {{
        ?alias prism:surfaceForm ?form ; prism:aliasOf ?entity ; prism:source {Literal(source)}
        FILTER NOT EXISTS {{ ?alias prism:withdrawnAt ?gone }} }} }}"""
    return {(row["form"].value, project.names.uuid_of(row["entity"].value)) for row in _rows(project, query)}


def name_of(alias: Alias) -> tuple[str, str]:
    return alias.surface_form, alias.target


def memories_by(project: Project, places: Sequence[str]) -> dict[str, Memory]:
    """Return the memory that is believed and open of each place, if there is one."""
    wanted = " ".join(str(Literal(each)) for each in places)
    found = _memories(project, f"VALUES ?source {{ {wanted} }}")
    return {memory.source: memory for memory in found if memory.until is None}


def _events(project: Project, wanted: str) -> Iterable[tuple[str, Statement]]:
    query = f"""SELECT ?place ?event ?kind ?at ?stood ?prop ?value {{ VALUES ?place {{ {wanted} }}
        GRAPH {project.names.graph("temporal")} {{ ?event prism:source ?place ; prism:eventType ?kind ; prism:at ?at ;
            prism:sequence ?stood ; prism:assertion ?said . ?said prism:property ?prop .
            OPTIONAL {{ ?said prism:value ?value }}
            FILTER NOT EXISTS {{ ?event prism:withdrawnAt ?gone }} }} }}"""
    told: dict[str, tuple[str, Statement]] = {}
    for row in _rows(project, query):
        at = _instant(row["at"])
        assert at is not None
        fresh = Statement(at, int(row["stood"].value), row["kind"].value == "created", {})
        values = told.setdefault(row["event"].value, (row["place"].value, fresh))[1].values
        name = local_name(row["prop"].value)
        held = values.get(name, ())
        values[name] = held if row["value"] is None else tuple(sorted({*held, row["value"]}, key=str))
    return told.values()


def _passages(project: Project, places: Mapping[str, str]) -> Iterable[tuple[str, Memory]]:
    """Passages say of which version of their row they are, so they are found by the entity."""
    entities = " ".join(sorted({str(project.names.entity(uuid)) for uuid in places.values()}))
    about = "?memory prism:about ?entity ."
    for memory in _memories(project, f"VALUES ?entity {{ {entities} }}", about):
        place = memory.source.partition("@")[0]
        if memory.kind == "passage" and place in places:  # a constant kind in the query would be looked up first
            yield place, memory


def _memories(project: Project, some: str, pattern: str = "") -> Iterable[Memory]:
    query = f"""SELECT ?source ?content ?kind ?created ?from ?until {{ {some}
        GRAPH {project.names.graph("memory")} {{ {pattern} ?memory prism:source ?source ; prism:memoryKind ?kind ;
            prism:content ?content ; prism:createdAt ?created ; prism:validFrom ?from .
            OPTIONAL {{ ?memory prism:validUntil ?until }}
            FILTER NOT EXISTS {{ ?memory prism:withdrawnAt ?gone }} }} }}"""
    for row in _rows(project, query):
        created = _instant(row["created"])
        assert created is not None
        said = (row["content"].value, row["kind"].value, created, row["source"].value)
        yield Memory(*said, start=_instant(row["from"]), until=_instant(row["until"]), tier=2)


def _rows(project: Project, query: str) -> Iterable[dict[str, Any]]:
    answer = project.prism.sparql(query, dataset="raw")
    return [dict(zip(answer.variables, row, strict=True)) for row in answer.rows()]


def _instant(term: Any) -> Instant | None:
    return None if term is None else Instant.parse(term.value)


def _holds(start: Instant | None, until: Instant | None, at: Instant) -> bool:
    return (start is None or start <= at) and (until is None or at < until)
