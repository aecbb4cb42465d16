"""Anchors: the entities that a question names, each with its state at a time and what its names mean then.

Phases 1 and 2 of recall. Which memories speak of an anchor, and how old that makes them, is not decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pyoxigraph import Literal as RdfLiteral
from pyoxigraph import NamedNode

from prism_rdf.belief import VALID_FROM, belief_at
from prism_rdf.clock import Instant
from prism_rdf.namespaces import Names, local_name
from prism_rdf.recall.surfaces import SurfaceIndex, is_telling, spellings
from prism_rdf.recall.words import key_of
from prism_rdf.semantic.aliases import aliases_of
from prism_rdf.semantic.merges import members, preferred
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.states import COMMIT_STATUS

StateAt = Callable[[str, Instant, Instant | None, bool], Mapping[str, Any]]
Standing = Literal["current", "wip", "former", "future"]
Span = tuple[Instant | None, Instant | None]

MOST_ANCHORS = 16
ALIAS_KINDS = ("former", "synonym")


def covers(spans: Iterable[Span], at: Instant | None) -> bool:
    """Return whether any of the half-open spans covers the instant; an unknown instant is covered by none."""
    return at is not None and any(
        (start is None or start <= at) and (until is None or at < until) for start, until in spans
    )


@dataclass(frozen=True)
class Form:
    """One name of an anchor, and how it stands at as_of: ``future`` is one that it comes to bear only later.

    ``kind`` is the property that bears it (``number``, ``name``, …), or the kind of alias. ``now`` is what the thing
    is called instead at as_of. ``borne`` are the spans in which this entity bore it, ``others`` those in which
    another one did.
    """

    text: str
    key: str
    kind: str
    standing: Standing
    now: str
    borne: tuple[Span, ...] = ()
    others: tuple[Span, ...] = ()

    def meant_another(self, at: Instant | None) -> bool:
        """Whether the name was another's at that time, and not this entity's: a name means what it meant then."""
        return covers(self.others, at) and not covers(self.borne, at)


@dataclass(frozen=True)
class Anchor:
    """An entity that the question names. ``state`` is None before its first state; ``matched`` is how it was named."""

    entity: str
    type: str
    identifier: str
    matched: Form
    forms: tuple[Form, ...]
    state: Mapping[str, Any] | None = None
    since: Instant | None = None

    @property
    def named_as_now(self) -> bool:
        """Whether the question calls it by a name that it bears at as_of."""
        return self.matched.standing in ("current", "wip")

    def as_dict(self) -> dict[str, Any]:
        return {
            "entity": self.entity,
            "type": self.type,
            "identifier": self.identifier,
            "matched": self.matched.text,
            "form_kind": self.matched.kind,
        }


@dataclass(frozen=True)
class _Name:
    """A name that was borne over a span, by a property of a state (then ``draft`` may be true) or as an alias."""

    text: str
    kind: str
    span: Span
    draft: bool = False


class AnchorFinder:
    """Finds anchors in one state of the store; what it read of names it keeps, so a new commit needs a new one."""

    def __init__(
        self,
        store: GraphReader,
        names: Names,
        identifying: Iterable[NamedNode],
        surfaces: SurfaceIndex,
        state_at: StateAt,
    ) -> None:
        self._store = store
        self._names = names
        self._identifying = tuple(sorted(identifying, key=lambda prop: prop.value))
        self._surfaces = surfaces
        self._state_at = state_at
        self._known: dict[tuple[str, Instant | None], dict[str, list[_Name]]] = {}

    def find(self, text: str, as_of: Instant, known_at: Instant | None, prefer_wip: bool) -> list[Anchor]:
        """Return the anchors of a text: bearers at as_of before former ones, then the longest name first.

        Who comes to bear a name only later is meant where nobody bore it by then.
        """
        found: dict[str, Anchor] = {}
        for mention in self._surfaces.mentions(text):
            bearers = [
                self._anchor(entity, mention.key, as_of, known_at, prefer_wip)
                for entity in dict.fromkeys(self._preferred(bearer, known_at) for bearer in mention.bearers)
                if entity not in found and mention.key in self._names_of(entity, known_at)
            ]
            known_by_then = [anchor for anchor in bearers if anchor.matched.standing != "future"]
            found |= {anchor.entity: anchor for anchor in known_by_then or bearers}
        ranked = sorted(found.values(), key=lambda anchor: not anchor.named_as_now)
        return ranked[:MOST_ANCHORS]

    def _preferred(self, entity: str, known_at: Instant | None) -> str:
        """Return the entity that one is merged into, as believed at ``known_at``; itself where it is not merged."""
        return preferred(self._store, self._names, NamedNode(entity), known_at).value

    def _anchor(self, entity: str, key: str, as_of: Instant, known_at: Instant | None, prefer_wip: bool) -> Anchor:
        state = self._state(entity, as_of, known_at, prefer_wip)
        sealed = state
        if state is not None and state.get("commit_status") == "wip":
            sealed = self._state(entity, as_of, known_at, False)
        type_name = self._surfaces.type_name(entity)
        held = _Held([local_name(prop.value) for prop in self._identifying], type_name, state, sealed)
        known = self._names_of(entity, known_at)
        forms = tuple(
            self._form(entity, form_key, names, held, as_of, known_at)
            for form_key, names in known.items()
            if self._surfaces.bearers(form_key)
        )
        matched = next((form for form in forms if form.key == key), forms[0])
        identifier = str((state or {}).get("identifier") or matched.text)
        since = (state or {}).get("valid_from")
        return Anchor(entity, type_name, identifier, matched, forms, state, Instant.parse(since) if since else None)

    def _state(
        self, entity: str, as_of: Instant, known_at: Instant | None, prefer_wip: bool
    ) -> Mapping[str, Any] | None:
        state = self._state_at(entity, as_of, known_at, prefer_wip)
        return state if state.get("state") is not None else None

    def _form(
        self, entity: str, key: str, names: Sequence[_Name], held: _Held, as_of: Instant, known_at: Instant | None
    ) -> Form:
        alias = next((name for name in names if name.kind in ALIAS_KINDS), None)
        borne_by = next((name.kind for name in names if name.kind not in ALIAS_KINDS), "")
        standing, holder = held.standing(key)
        if standing == "former" and _is_named_so(names, as_of, has_state=held.state is not None):
            standing = "current"
        if standing == "former" and any(name.draft and covers([name.span], as_of) for name in names):
            standing = "wip"
        if standing == "former" and all(name.span[0] is not None and as_of < name.span[0] for name in names):
            standing = "future"
        others = [
            name.span
            for other in self._surfaces.bearers(key)
            if self._preferred(other, known_at) != entity
            for name in self._names_of(other, known_at).get(key, ())
        ]
        return Form(
            text=names[0].text,
            key=key,
            kind=holder or (alias.kind if alias else borne_by),
            standing=standing,
            now=held.called_now(holder or borne_by),
            borne=tuple(name.span for name in names),
            others=tuple(others),
        )

    def _names_of(self, entity: str, known_at: Instant | None) -> Mapping[str, list[_Name]]:
        """Return the names an entity was ever given, as believed at ``known_at``, by their key."""
        cached = self._known.get((entity, known_at))
        if cached is None:
            cached = {}
            for name in (*self._state_names(entity, known_at), *self._alias_names(entity, known_at)):
                for text in spellings(name.text, lambda: self._surfaces.type_name(entity)):
                    key = key_of(text)
                    if is_telling(key):
                        cached.setdefault(key, []).append(_Name(text, name.kind, name.span, name.draft))
            self._known[(entity, known_at)] = cached
        return cached

    def _state_names(self, entity: str, known_at: Instant | None) -> Iterable[_Name]:
        temporal, prefix = self._names.graph("temporal"), self._names.state("").value
        for prop in self._identifying:
            for quad in self._store.quads_for_pattern(NamedNode(entity), prop, None, None):
                graph = quad.graph_name
                if not isinstance(graph, NamedNode) or not graph.value.startswith(prefix):
                    continue
                state = about(self._store, graph, temporal)
                belief = belief_at(self._store, state, temporal, known_at)
                if belief is not None and isinstance(quad.object, RdfLiteral):
                    span = (state.instant(VALID_FROM), belief.until(known_at))
                    draft = state.text(COMMIT_STATUS) == "wip"
                    yield _Name(quad.object.value, local_name(prop.value), span, draft)

    def _alias_names(self, entity: str, known_at: Instant | None) -> Iterable[_Name]:
        """Yield the aliases of an entity, and all names of what is merged into it, which are other names of it."""
        for member in members(self._store, self._names, NamedNode(entity), known_at):
            for alias in aliases_of(self._store, self._names, member, known_at):
                yield _Name(alias.surface_form, alias.kind, (alias.valid_from, alias.valid_until))
            if member.value != entity:
                said = self._state_names(member.value, known_at)
                yield from (_Name(name.text, "synonym", name.span) for name in said if not name.draft)


class _Held:
    """What an entity is called by its state at as_of, and by the sealed one where that is a draft."""

    def __init__(
        self,
        properties: Sequence[str],
        type_name: str,
        state: Mapping[str, Any] | None,
        sealed: Mapping[str, Any] | None,
    ) -> None:
        self.state = state
        self._draft = state is not None and state.get("commit_status") == "wip"
        self._names = _names_held(properties, type_name, state)
        self._sealed_names = _names_held(properties, type_name, sealed)

    def standing(self, key: str) -> tuple[Standing, str]:
        """Return how a name stands, and the property that bears it."""
        if key in self._names:
            return ("wip" if self._draft else "current"), self._names[key]
        if key in self._sealed_names:
            return "current", self._sealed_names[key]
        return "former", ""

    def called_now(self, prop: str) -> str:
        """Return what stands at as_of where ``prop`` once said a former name; an alias stands for the name."""
        if self.state is None:
            return ""
        props = self.state.get("props", {})
        values = _texts(props.get(prop)) or _texts(props.get("name")) or _texts(self.state.get("identifier"))
        return values[0] if values else ""


def _names_held(properties: Sequence[str], type_name: str, state: Mapping[str, Any] | None) -> dict[str, str]:
    props = (state or {}).get("props", {})
    return {
        key_of(text): prop
        for prop in properties
        for value in _texts(props.get(prop))
        for text in spellings(value, lambda: type_name)
    }


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [str(each) for each in values if each is not None and not isinstance(each, Mapping)]


def _is_named_so(names: Iterable[_Name], as_of: Instant, *, has_state: bool) -> bool:
    """Return whether an alias makes the name a present one: a synonym does while it is valid.

    A former name does only where its end was given and lies ahead, and no state says otherwise.
    """
    for name in names:
        if covers([name.span], as_of) and (
            name.kind == "synonym" or (name.kind == "former" and not has_state and name.span[1] is not None)
        ):
            return True
    return False
