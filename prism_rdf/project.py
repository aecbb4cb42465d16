"""A project (namespace) of a store, with every verb one does in it; statements.py reads input, the rooms work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from typing import Literal as Choice
from uuid import uuid4

from pyoxigraph import NamedNode

from prism_rdf import answers, naming
from prism_rdf.canonical.catalog import EntityType
from prism_rdf.canonical.entities import entities, type_of
from prism_rdf.clock import Edge, Instant, TimeInput, as_of_instant, start_of
from prism_rdf.errors import AmbiguousError, BadArgument, UnknownEntity
from prism_rdf.model import Alias, Event, Intent, Memory, NewEntity, Receipt, Reference, Tier, Value
from prism_rdf.namespaces import Names, local_name
from prism_rdf.semantic.references import KnownReference, references
from prism_rdf.statements import Props, assertions, begin, check_alias, check_order, end
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.temporal.read import covering, states_of

if TYPE_CHECKING:
    from prism_rdf.prism import Prism


class Project:
    """One project (namespace) of a store. ``entity`` arguments take a uuid, an IRI, an identifier or an alias."""

    def __init__(self, prism: Prism, pid: str) -> None:
        self.prism = prism
        self.pid = pid
        self.names = Names(prism.base, pid)

    # what there is

    def list_types(self) -> list[dict[str, Any]]:
        """Return every type with its zone, properties and what it may refer to."""
        from prism_rdf.validation.can_reference import allowed_references

        allowed = allowed_references(self.prism.catalog)
        return [answers.type_json(known, allowed.get(known.iri, {})) for known in self.prism.catalog.types]

    def list_entities(
        self, type_name: str | None = None, limit: int = 100, as_of: TimeInput | None = None
    ) -> list[dict[str, Any]]:
        """Return the State JSON of each entity that has a state at ``as_of`` (default now), by identifier."""
        kind = self.prism.catalog.type(type_name).iri if type_name else None
        at = self._at(as_of)
        found = (
            self._state_json(entity, at, None, prefer_wip=True) for entity in entities(self._store, self.names, kind)
        )
        shown = sorted(
            (state for state in found if state), key=lambda state: (state["type"], state["identifier"] or "")
        )
        return shown[:limit]

    def resolve(self, ref: str, as_of: TimeInput | None = None) -> NamedNode:
        """Return the entity that ``ref`` names at ``as_of``, else now, else last before.

        Raises UnknownEntity, and AmbiguousError when several bear the name or then and now differ.
        """
        return self.who(ref, as_of)[0].entity

    def who(self, ref: str, as_of: TimeInput | None = None) -> tuple[naming.Bearer, ...]:
        """Return the one bearer of a name, with why; raises as ``resolve`` does."""
        direct = naming.by_iri_or_uuid(self._store, self.names, ref)
        if direct is not None:
            return (naming.Bearer(direct, "uuid or IRI", None, None, ref),)
        now = self.prism.clock.now()
        at = self._at(as_of)
        known = naming.bearers(self._store, self.names, ref, self.prism.catalog.identifying)
        found = {b.entity: b for b in naming.at_instant(known, now) + naming.at_instant(known, at)}
        if not found:
            found = {b.entity: b for b in naming.formerly(known, at) or naming.formerly(known, now)}
        if not found and known:
            found = {b.entity: b for b in known}
        if not found:
            raise UnknownEntity(
                f"no entity of {self.pid} is called {ref!r}",
                rule="an entity is named by uuid, IRI, identifier (number, name, title, …) or alias",
                mend="prism entities lists what there is; prism recall finds it by words",
                node=ref,
            )
        if len(found) > 1:
            raise self._ambiguous(ref, tuple(found.values()))
        return tuple(found.values())

    def _ambiguous(self, ref: str, found: Sequence[naming.Bearer]) -> AmbiguousError:
        now = self.prism.clock.now()
        candidates = [
            {
                "entity": bearer.entity.value,
                "uuid": self.names.uuid_of(bearer.entity.value),
                "identifier": answers.identifier_now(self._store, self.names, bearer.entity, now),
                "why": bearer.why(),
            }
            for bearer in found
        ]
        return AmbiguousError(
            f"{ref!r} names {len(found)} entities of {self.pid}",
            candidates=sorted(candidates, key=lambda candidate: str(candidate["identifier"])),
            rule="a name must mean one thing, at the instant asked for and now",
            mend="use the uuid of the one that you mean",
        )

    # states

    def state_as_of(
        self,
        entity: str,
        as_of: TimeInput | None = None,
        known_at: TimeInput | int | None = None,
        prefer_wip: bool = True,
    ) -> dict[str, Any]:
        """Return the State JSON that held at ``as_of`` (default now) as believed at ``known_at`` (default now).

        Where nothing held: ``{"entity", "uuid", "state": None, "reason": …}``. A day means its last instant.
        """
        node = self.resolve(entity, as_of)
        at = self._at(as_of)
        found = self._state_json(node, at, self.prism.system_time(known_at), prefer_wip=prefer_wip)
        if found is not None:
            return {**found, "as_of": at.iso()}
        reason = self._why_none(node, at, self.prism.system_time(known_at))
        uuid = self.names.uuid_of(node.value)
        return {"entity": node.value, "uuid": uuid, "state": None, "reason": reason, "as_of": at.iso()}

    def history(self, entity: str, known_at: TimeInput | int | None = None) -> list[dict[str, Any]]:
        """Return the State JSON of every state believed at ``known_at`` (default now), oldest first, voids left out."""
        node, now = self.resolve(entity), self.prism.clock.now()
        states = states_of(self._store, self.names, node, self.prism.system_time(known_at))
        catalog = self.prism.catalog
        return [answers.state_json(self._store, self.names, catalog, s, now) for s in states if not s.void]

    def _state_json(
        self, entity: NamedNode, at: Instant, known_at: Instant | None, *, prefer_wip: bool
    ) -> dict[str, Any] | None:
        state = covering(states_of(self._store, self.names, entity, known_at), at, prefer_wip=prefer_wip)
        if state is None or state.void:
            return None
        return answers.state_json(self._store, self.names, self.prism.catalog, state, self.prism.clock.now())

    def _why_none(self, entity: NamedNode, at: Instant, known_at: Instant | None) -> str:
        states = states_of(self._store, self.names, entity, known_at)
        state = covering(states, at, prefer_wip=False)
        if state is not None:
            return f"it has no state since {state.valid_from}: retired, or all that was said of it has ended"
        if not states:
            return "nothing was known of it then" if known_at else "it has no state"
        return f"its first state begins at {states[0].valid_from}"

    # writing

    def entity(
        self,
        type_name: str,
        props: Props,
        *,
        valid_from: TimeInput | None = None,
        description: str = "",
        cause_memory: str = "",
        cause_commit: str = "",
        source: str = "",
        tier: Tier = 1,
        idempotency_key: str = "",
    ) -> dict[str, Any]:
        """Make an entity with its first state, atomically, and return ``{"entity", "uuid", …receipt}``.

        ``valid_from`` defaults to now. Raises UnknownType, ValidationError (undeclared property, wrong datatype, …).
        """
        known = self.prism.catalog.type(type_name)
        if not props:
            raise BadArgument(
                f"a {known.name} needs at least one property",
                rule="an entity is made together with its first state",
                mend=f"give one of: {', '.join(prop.name for prop in known.properties)}",
            )
        uuid, at = str(uuid4()), self._start(valid_from)
        event = Event(
            entity=uuid,
            event_type="created",
            at=at,
            assertions=assertions(known, props, at, None),
            cause_memory=cause_memory,
            cause_commit=cause_commit,
            description=description,
            source=source,
            tier=tier,
        )
        payload = [type_name, dict(props), valid_from, source]
        intents = (NewEntity(uuid, known.iri, cause_memory), event)
        receipt = self.prism.commit(self.pid, lambda: intents, "entity", idempotency_key, payload)
        made = receipt.created[0]
        return {"entity": made, "uuid": self.names.uuid_of(made), **receipt.as_dict()}

    def transition(
        self,
        entity: str,
        props: Props,
        event_type: str = "transition",
        *,
        valid_from: TimeInput | None = None,
        valid_until: TimeInput | None = None,
        description: str = "",
        cause_memory: str = "",
        cause_commit: str = "",
        source: str = "",
        sequence: int = 0,
        tier: Tier = 1,
        idempotency_key: str = "",
    ) -> Receipt:
        """Record that properties changed, over [valid_from, valid_until) (default: from now on), as one event.

        A value of None clears a property. A late statement about the past changes the past only.
        """
        node = self.resolve(entity)
        known = self._type_of(node)
        start, until = self._start(valid_from), end(valid_until)
        check_order(start.instant, until)
        event = Event(
            entity=self.names.uuid_of(node.value),
            event_type=event_type,
            at=start,
            assertions=assertions(known, props, start, until),
            cause_memory=cause_memory,
            cause_commit=cause_commit,
            description=description,
            source=source,
            sequence=sequence,
            tier=tier,
        )
        payload = [node.value, dict(props), event_type, valid_from, valid_until, source, sequence]
        return self.prism.commit(self.pid, lambda: (event,), "transition", idempotency_key, payload)

    def fact(self, entity: str, property: str, value: Value | Sequence[Value], **options: Any) -> Receipt:
        """Record one property; the options are those of ``transition``."""
        return self.transition(entity, {property: value}, options.pop("event_type", "fact"), **options)

    def alias(
        self,
        surface_form: str,
        entity: str,
        *,
        kind: Choice["former", "synonym"] = "former",
        tier: Tier = 1,
        valid_from: TimeInput | None = None,
        valid_until: TimeInput | None = None,
        source: str = "",
        idempotency_key: str = "",
    ) -> Receipt:
        """Record another name of an entity; it is or was the name over [valid_from, valid_until).

        Tiers 1 (a person) and 2 (an agent with an artifact) write directly; tier 3 belongs in the review queue.
        """
        check_alias(surface_form, tier)
        node, start, until = self.resolve(entity), begin(valid_from), end(valid_until)
        check_order(start, until)
        uuid = self.names.uuid_of(node.value)
        intent = Alias(uuid, surface_form.strip(), kind, tier, source=source, start=start, until=until)
        payload = [surface_form, node.value, kind, tier, valid_from, valid_until]
        return self.prism.commit(self.pid, lambda: (intent,), "alias", idempotency_key, payload)

    def resolve_alias(self, surface_form: str, as_of: TimeInput | None = None) -> dict[str, Any]:
        """Return the preferred entity of a name, the chain that led there, and why. Raises as ``resolve`` does."""
        bearer = self.who(surface_form, as_of)[0]
        identifier = answers.identifier_now(self._store, self.names, bearer.entity, self._at(as_of))
        return {
            "entity": bearer.entity.value,
            "uuid": self.names.uuid_of(bearer.entity.value),
            "identifier": identifier,
            "chain": [surface_form, identifier],
            "why": bearer.why(),
        }

    def reference(
        self,
        source: str,
        target: str,
        kind: str,
        *,
        valid_from: TimeInput | None = None,
        valid_until: TimeInput | None = None,
        tier: Tier = 1,
        source_document: str = "",
        cause_commit: str = "",
        idempotency_key: str = "",
    ) -> Receipt:
        """Record a typed reference that holds over [valid_from, valid_until) (default: from now on).

        Raises ValidationError when the shapes do not allow the kind between these types.
        """
        ends = self.resolve(source), self.resolve(target)
        start = begin(valid_from) if valid_from is not None else self.prism.clock.now()
        until = end(valid_until)
        check_order(start, until)
        uuids = [self.names.uuid_of(end.value) for end in ends]
        kind_iri = self.prism.catalog.kind(kind)
        intent = Reference(uuids[0], uuids[1], kind_iri, start, until, tier, source_document, cause_commit)
        payload = [*uuids, kind, valid_from, valid_until]
        return self.prism.commit(self.pid, lambda: (intent,), "reference", idempotency_key, payload)

    def list_references(
        self,
        source: str | None = None,
        target: str | None = None,
        kind: str | None = None,
        as_of: TimeInput | None = None,
    ) -> list[dict[str, Any]]:
        """Return the references that hold at ``as_of`` (default now) and fit, with what their ends are called then."""
        at = self._at(as_of)
        found = references(
            self._store,
            self.names,
            self.resolve(source, as_of) if source else None,
            self.resolve(target, as_of) if target else None,
            self.prism.catalog.kind(kind) if kind else None,
        )
        return [self._reference_json(known, at) for known in found if known.holds(at)]

    def _reference_json(self, known: KnownReference, at: Instant) -> dict[str, Any]:
        def end(node: NamedNode) -> dict[str, Any]:
            return {"ref": node.value, "identifier": answers.identifier_now(self._store, self.names, node, at)}

        return {
            "reference": known.node.value,
            "source": end(known.source),
            "target": end(known.target),
            "kind": local_name(known.kind.value),
            "valid_from": answers.iso(known.valid_from),
            "valid_until": answers.iso(known.valid_until),
            "tier": known.tier,
            "provenance": known.provenance or None,
        }

    def remember(
        self,
        content: str,
        kind: str = "note",
        created_at: TimeInput | None = None,
        source: str = "",
        about: Sequence[str] = (),
        *,
        tier: Tier = 1,
        idempotency_key: str = "",
    ) -> Receipt:
        """Keep a passage for recall, said at ``created_at`` (default now), about the named entities."""
        if not content.strip():
            raise BadArgument("there is nothing to remember", rule="a memory has content", mend="give some text")
        uuids = tuple(self.names.uuid_of(self.resolve(ref).value) for ref in about)
        at = begin(created_at) if created_at is not None else self.prism.clock.now()
        assert at is not None
        intent = Memory(content, kind, at, source, about=uuids, start=at, tier=tier)
        payload = [content, kind, created_at, source, list(about)]
        return self.prism.commit(self.pid, lambda: (intent,), "remember", idempotency_key, payload)

    def write(self, intents: Iterable[Intent], verb: str = "batch", idempotency_key: str = "") -> Receipt:
        """Fulfil many intents in one commit, all or nothing; each entity is folded once."""
        wanted = tuple(intents)
        return self.prism.commit(self.pid, lambda: wanted, verb, idempotency_key, [repr(i) for i in wanted])

    def check(self) -> list[dict[str, str]]:
        """Return every broken invariant of this project: ``{"check", "entity", "detail"}``; empty when sound."""
        from prism_rdf.validation.checks import run_checks

        found = run_checks(self._store, self.names)
        return [{"check": f.check, "entity": f.entity, "detail": f.detail} for f in found]

    # small things

    @property
    def _store(self) -> EmbeddedStore:
        return self.prism.store

    def _type_of(self, entity: NamedNode) -> EntityType:
        kind = type_of(self._store, self.names, entity)
        assert kind is not None, "resolve returns entities that have a type"
        return self.prism.catalog.type(kind)

    def _at(self, as_of: TimeInput | None) -> Instant:
        return self.prism.clock.now() if as_of is None else as_of_instant(as_of)

    def _start(self, valid_from: TimeInput | None) -> Edge:
        return Edge(self.prism.clock.now()) if valid_from is None else start_of(valid_from)
