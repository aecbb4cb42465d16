"""From what a person calls a thing to the entity: uuid, IRI, identifier or alias, at an instant; nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from prism_rdf.canonical.entities import type_of
from prism_rdf.clock import Instant
from prism_rdf.model import State
from prism_rdf.namespaces import Names
from prism_rdf.semantic.aliases import KnownAlias, aliases_named
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.read import states_of

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True)
class Bearer:
    """An entity that bears or bore a name over [start, until), and whether as identifier or as alias."""

    entity: NamedNode
    how: str
    start: Instant | None
    until: Instant | None
    form: str

    def bears(self, at: Instant) -> bool:
        return (self.start is None or self.start <= at) and (self.until is None or at < self.until)

    def why(self) -> str:
        since = f"since {self.start}" if self.start else "since ever"
        return f"{self.form!r} is its {self.how} {since}" + (f" until {self.until}" if self.until else "")


def by_iri_or_uuid(store: GraphReader, names: Names, text: str) -> NamedNode | None:
    """Return the entity that ``text`` names directly; None when it is no uuid or IRI of one."""
    if _UUID.fullmatch(text):
        node = names.entity(text.lower())
    elif ":" in text and not any(char in text for char in ' <>"{}|\\^`'):
        node = NamedNode(text)
    else:
        return None
    return node if type_of(store, names, node) is not None else None


def bearers_now(
    store: GraphReader, names: Names, text: str, identifying: Collection[NamedNode], now: Instant
) -> tuple[Bearer, ...]:
    """Return who bears this identifier or alias now, by the current graph: the cost does not grow with the history."""
    current = names.graph("current")
    found: list[Bearer] = []
    for form in dict.fromkeys((text, text.upper())):
        for prop in identifying:
            for quad in store.quads_for_pattern(None, prop, Literal(form), current):
                assert isinstance(quad.subject, NamedNode)
                found.append(Bearer(quad.subject, "identifier", None, None, form))
        if found:
            break
    found += [_by_alias(alias) for alias in aliases_named(store, names, text) if alias.holds(now)]
    return _one_each(found)


def bearers(
    store: GraphReader, names: Names, text: str, identifying: Collection[NamedNode], known_at: Instant | None = None
) -> tuple[Bearer, ...]:
    """Return every entity that ever bore this identifier or alias, as believed at ``known_at`` (None: now).

    Identifiers are compared as written, else in upper case; aliases after normalisation and case folding.
    """
    found: list[Bearer] = []
    for form in dict.fromkeys((text, text.upper())):
        found += _by_identifier(store, names, form, identifying, known_at)
        if found:
            break
    for alias in aliases_named(store, names, text, known_at):
        found.append(_by_alias(alias))
    return tuple(found)


def _by_alias(alias: KnownAlias) -> Bearer:
    how = "former name" if alias.kind == "former" else "other name"
    return Bearer(alias.target, how, alias.valid_from, alias.valid_until, alias.surface_form)


def _by_identifier(
    store: GraphReader, names: Names, form: str, identifying: Collection[NamedNode], known_at: Instant | None
) -> Iterable[Bearer]:
    states: dict[str, State] = {}
    prefix = names.state("").value
    for prop in identifying:
        for quad in store.quads_for_pattern(None, prop, Literal(form), None):
            graph, entity = quad.graph_name, quad.subject
            if not isinstance(graph, NamedNode) or not graph.value.startswith(prefix):
                continue
            assert isinstance(entity, NamedNode)
            if graph.value not in states:
                states.update((state.iri, state) for state in states_of(store, names, entity, known_at))
            state = states.get(graph.value)
            if state is not None and state.commit_status == "committed":
                yield Bearer(entity, "identifier", state.valid_from, state.valid_until, form)


def at_instant(known: Iterable[Bearer], at: Instant) -> tuple[Bearer, ...]:
    """Return the bearers at ``at``, one for each entity."""
    return _one_each(bearer for bearer in known if bearer.bears(at))


def formerly(known: Iterable[Bearer], at: Instant) -> tuple[Bearer, ...]:
    """Return who bore the name last before ``at``, one for each entity that ceased to bear it at that time."""
    past = [bearer for bearer in known if bearer.until is not None and bearer.until <= at]
    if not past:
        return ()
    last = max(bearer.until for bearer in past if bearer.until is not None)
    return _one_each(bearer for bearer in past if bearer.until == last)


def _one_each(found: Iterable[Bearer]) -> tuple[Bearer, ...]:
    by_entity: dict[NamedNode, Bearer] = {}
    for bearer in found:
        by_entity.setdefault(bearer.entity, bearer)
    return tuple(by_entity.values())
