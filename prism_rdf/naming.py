"""From what a person calls a thing to the entity: uuid, IRI, identifier or alias, at an instant; nothing is guessed.

A name is borne over an interval of valid time. Who bears it is followed along the merges to the preferred entity.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from pyoxigraph import Literal, NamedNode

from prism_rdf.belief import WITHDRAWN_AT
from prism_rdf.canonical.entities import type_of
from prism_rdf.clock import Instant
from prism_rdf.model import State
from prism_rdf.namespaces import Names
from prism_rdf.semantic.aliases import SURFACE_FORM, KnownAlias, aliases_named, folded
from prism_rdf.semantic.merges import preferred
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.read import states_of

IDENTIFIER, FORMER, OTHER, DIRECT = "identifier", "former name", "other name", "uuid or IRI"

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_MOST_SUGGESTED = 3
_MOST_COMPARED = 50_000  # names that are compared with one that nobody bears


@dataclass(frozen=True)
class Bearer:
    """An entity that bears or bore a name over [start, until), and how: as identifier, as alias, or as its uuid or IRI.

    Where an entity bears it that is merged into ``entity``, ``merged`` is that one.
    """

    entity: NamedNode
    how: str
    start: Instant | None
    until: Instant | None
    form: str
    merged: NamedNode | None = None

    @property
    def itself(self) -> NamedNode:
        """Return the entity that bears the name itself, whatever it is merged into."""
        return self.merged or self.entity

    def bears(self, at: Instant) -> bool:
        return (self.start is None or self.start <= at) and (self.until is None or at < self.until)

    def why(self, now: Instant) -> str:
        """Return how and when the entity bears the name, as a sentence: a name of the past *was* the name."""
        past = self.until is not None and self.until <= now
        future = self.start is not None and self.start > now
        verb = "was" if past else "will be" if future else "is"
        what = {FORMER: "its name" if past else "a former name of it", OTHER: "another name of it"}
        when = [f"from {self.start}" if past or future else f"since {self.start}"] if self.start is not None else []
        when += [f"until {self.until}"] if self.until is not None else []
        return " ".join((repr(self.form), verb, what.get(self.how, f"its {self.how}"), *when))


def by_iri_or_uuid(store: GraphReader, names: Names, text: str) -> NamedNode | None:
    """Return the entity that ``text`` names directly, merged or not; None when it is no uuid or IRI of one."""
    if _UUID.fullmatch(text):
        node = names.entity(text.lower())
    elif ":" in text and not any(char in text for char in ' <>"{}|\\^`'):
        node = NamedNode(text)
    else:
        return None
    return node if type_of(store, names, node) is not None else None


def project_of(names: Names, text: str) -> str:
    """Return the other project of the store whose entity an IRI names, known or not; empty for any other text."""
    start, _, rest = text.partition(f"{names.base}/")
    project, _, room = rest.partition("/")
    return project if not start and room.startswith("entity/") and project != names.namespace else ""


def bearers_now(
    store: GraphReader, names: Names, text: str, identifying: Collection[NamedNode], now: Instant
) -> tuple[Bearer, ...]:
    """Return who bears this identifier or alias now, by the current graph: the cost does not grow with the history.

    Since when an identifier is borne is left out.
    """
    current = names.graph("current")
    found: list[Bearer] = []
    for form in dict.fromkeys((text, text.upper())):
        for prop in identifying:
            for quad in store.quads_for_pattern(None, prop, Literal(form), current):
                assert isinstance(quad.subject, NamedNode)
                found.append(Bearer(quad.subject, IDENTIFIER, None, None, form))
        if found:
            break
    return (*found, *(_by_alias(alias) for alias in aliases_named(store, names, text) if alias.holds(now)))


def namesakes(
    store: GraphReader, names: Names, text: str, identifying: Collection[NamedNode], now: Instant
) -> tuple[Bearer, ...]:
    """Return who bears a name now that an alias of this form shares, which is compared without regard to case.

    Identifiers are looked up as written, in lower case, in capitals, and with capitals at the beginning.
    """
    forms = dict.fromkeys((text, text.lower(), text.upper(), text.capitalize(), text.title()))
    found = (each for form in forms for each in bearers_now(store, names, form, identifying, now))
    return tuple(dict.fromkeys(found))


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
    return (*found, *(_by_alias(alias) for alias in aliases_named(store, names, text, known_at)))


def _by_alias(alias: KnownAlias) -> Bearer:
    how = FORMER if alias.kind == "former" else OTHER
    return Bearer(alias.target, how, alias.valid_from, alias.valid_until, alias.surface_form)


def _by_identifier(
    store: GraphReader, names: Names, form: str, identifying: Collection[NamedNode], known_at: Instant | None
) -> Iterator[Bearer]:
    """Yield each unbroken stretch of states in which one property of an entity says the form."""
    holding: dict[tuple[NamedNode, NamedNode], set[str]] = defaultdict(set)
    prefix = names.state("").value
    for prop in identifying:
        for quad in store.quads_for_pattern(None, prop, Literal(form), None):
            graph, entity = quad.graph_name, quad.subject
            if isinstance(graph, NamedNode) and graph.value.startswith(prefix) and isinstance(entity, NamedNode):
                holding[entity, prop].add(graph.value)
    states = {entity: states_of(store, names, entity, known_at) for entity, _ in holding}
    for (entity, _), graphs in sorted(holding.items(), key=lambda entry: str(entry[0])):
        sealed = [s for s in states[entity] if s.iri in graphs and s.commit_status == "committed"]
        for start, until in _stretches(sealed):
            yield Bearer(entity, IDENTIFIER, start, until, form)


def _stretches(states: Iterable[State]) -> list[tuple[Instant | None, Instant | None]]:
    found: list[tuple[Instant | None, Instant | None]] = []
    for state in states:
        if found and found[-1][1] is not None and found[-1][1] == state.valid_from:
            found[-1] = (found[-1][0], state.valid_until)
        else:
            found.append((state.valid_from, state.valid_until))
    return found


def followed(
    store: GraphReader, names: Names, found: Iterable[Bearer], known_at: Instant | None = None
) -> tuple[Bearer, ...]:
    """Return the bearers as the preferred entities that they are merged into, one for each.

    Of several bearers that are one thing it is the preferred one itself, else the first by IRI; order does not matter.
    """
    by_entity: dict[NamedNode, Bearer] = {}
    for bearer in found:
        entity = preferred(store, names, bearer.itself, known_at)
        meant = replace(bearer, entity=entity, merged=None if bearer.itself == entity else bearer.itself)
        known = by_entity.get(entity)
        if known is None or _rank(meant) < _rank(known):
            by_entity[entity] = meant
    return tuple(by_entity.values())


def _rank(bearer: Bearer) -> tuple[bool, str]:
    return bearer.merged is not None, bearer.itself.value


def meant_at(known: Iterable[Bearer], at: Instant) -> tuple[Bearer, ...]:
    """Return who bears the name at ``at``; where nobody does who bore it last before, else who bears it first after."""
    listed = tuple(known)
    coming = [bearer for bearer in listed if bearer.start is not None and bearer.start > at]
    first = min((bearer.start for bearer in coming if bearer.start is not None), default=None)
    after = tuple(bearer for bearer in coming if bearer.start == first)
    return at_instant(listed, at) or formerly(listed, at) or after


def at_instant(known: Iterable[Bearer], at: Instant) -> tuple[Bearer, ...]:
    """Return the bearers at ``at``."""
    return tuple(bearer for bearer in known if bearer.bears(at))


def formerly(known: Iterable[Bearer], at: Instant) -> tuple[Bearer, ...]:
    """Return who bore the name last before ``at``: all that ceased to bear it at that time."""
    past = [bearer for bearer in known if bearer.until is not None and bearer.until <= at]
    last = max((bearer.until for bearer in past if bearer.until is not None), default=None)
    return tuple(bearer for bearer in past if bearer.until == last)


def close_names(store: GraphReader, names: Names, text: str, identifying: Collection[NamedNode]) -> tuple[str, ...]:
    """Return the names now borne that are spelt most like a text, the most alike first."""
    current, semantic = names.graph("current"), names.graph("semantic")
    borne = (quad.object for prop in identifying for quad in store.quads_for_pattern(None, prop, None, current))
    unbelieved = {quad.subject for quad in store.quads_for_pattern(None, WITHDRAWN_AT, None, semantic)}
    said = store.quads_for_pattern(None, SURFACE_FORM, None, semantic)
    aliases = (quad.object for quad in said if quad.subject not in unbelieved)
    forms: dict[str, str] = {}
    for source in (borne, aliases):
        for term in islice(source, _MOST_COMPARED):
            if isinstance(term, Literal) and abs(len(term.value) - len(text)) <= max(2, len(text) // 3):
                forms.setdefault(folded(term.value), term.value)
    close = difflib.get_close_matches(folded(text), forms, n=_MOST_SUGGESTED, cutoff=0.7)
    return tuple(forms[each] for each in close)
