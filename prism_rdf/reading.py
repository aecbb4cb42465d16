"""What a project answers: names, states, histories, references; nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyoxigraph import NamedNode

from prism_rdf import answers, comparing, explaining, naming
from prism_rdf.canonical.catalog import EntityType
from prism_rdf.canonical.entities import entities, type_of
from prism_rdf.clock import Instant, TimeInput, as_of_instant
from prism_rdf.errors import AmbiguousError, UnknownEntity
from prism_rdf.namespaces import Names, local_name
from prism_rdf.semantic.references import KnownReference, references
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.temporal.drafts import Thread, threads
from prism_rdf.temporal.read import covering, state_at, states_of

if TYPE_CHECKING:
    from prism_rdf.prism import Prism


class ReadingVerbs:
    """The reading verbs of a project. ``entity`` arguments take a uuid, an IRI, an identifier or an alias."""

    def __init__(self, prism: Prism, pid: str) -> None:
        self.prism = prism
        self.pid = pid
        self.names = Names(prism.base, pid)

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
        identifying = self.prism.catalog.identifying
        self.prism.bring_up_to_date()
        now_only = naming.bearers_now(self._store, self.names, ref, identifying, now) if as_of is None else ()
        if len(now_only) == 1:
            return now_only
        known = naming.bearers(self._store, self.names, ref, identifying)
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

    def bearer_uuid(self, identifier: str, at: Instant) -> str | None:
        """Return the uuid of the one entity that an identifier names at ``at``; None when there is none or several."""
        try:
            return self.names.uuid_of(self.resolve(identifier, at).value)
        except (UnknownEntity, AmbiguousError):
            return None

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
        known, catalog = self.prism.system_time(known_at), self.prism.catalog
        states = states_of(self._store, self.names, node, known)
        return [answers.state_json(self._store, self.names, catalog, s, now, known) for s in states if not s.void]

    def diff(
        self,
        before: TimeInput,
        after: TimeInput | None = None,
        entity: str | None = None,
        known_at: TimeInput | int | None = None,
    ) -> list[dict[str, Any]]:
        """Return what differs between two instants (default: until now), of one entity or of the whole project.

        Each entry has ``change`` (appeared, vanished, changed), ``props`` with from and to, and the references that
        began and ended. Days mean their last instants.
        """
        then, at, known = as_of_instant(before), self._at(after), self.prism.system_time(known_at)
        catalog = self.prism.catalog
        if entity is None:
            return comparing.diff_project(self._store, self.names, catalog, then, at, known)
        node = self.resolve(entity, after)
        found = comparing.diff_entity(self._store, self.names, catalog, node, then, at, known)
        return [found] if found is not None else []

    def blame(
        self,
        entity: str,
        property: str,
        as_of: TimeInput | None = None,
        known_at: TimeInput | int | None = None,
    ) -> dict[str, Any]:
        """Return the value of a property at ``as_of`` (default now), since when, and the events that set it."""
        node = self.resolve(entity, as_of)
        prop = self._type_of(node).property(property).iri
        at, known = self._at(as_of), self.prism.system_time(known_at)
        return explaining.blame(self._store, self.names, node, prop, at, known)

    def timeline(self, entity: str, known_at: TimeInput | int | None = None) -> list[dict[str, Any]]:
        """Return what happened to an entity, in valid time: states, aliases, references, with their causes."""
        node = self.resolve(entity)
        known = self.prism.system_time(known_at)
        now = self.prism.clock.now()
        return explaining.timeline(self._store, self.names, node, self._type_of(node), now, known)

    def drafts(self, stale_after_days: int | None = None) -> list[dict[str, Any]]:
        """Return the open drafts, or only those untouched for so many days, oldest touch first."""
        limit = None if stale_after_days is None else self.prism.clock.now().plus(days=-stale_after_days)
        found = threads(self._store, self.names)
        return [self._draft_json(t) for t in found if t.closed_at is None and (limit is None or t.touched_at < limit)]

    def _draft_json(self, thread: Thread) -> dict[str, Any]:
        now = self.prism.clock.now()
        return {
            "wip": self.names.uuid_of(thread.node.value),
            "entity": thread.entity.value,
            "identifier": answers.identifier_now(self._store, self.names, thread.entity, now),
            "source": thread.source,
            "touched_at": thread.touched_at.iso(),
            "state": thread.version.value if thread.version else None,
        }

    def _state_json(
        self, entity: NamedNode, at: Instant, known_at: Instant | None, *, prefer_wip: bool
    ) -> dict[str, Any] | None:
        state = state_at(self._store, self.names, entity, at, known_at, prefer_wip=prefer_wip)
        if state is None or state.void:
            return None
        now = self.prism.clock.now()
        return answers.state_json(self._store, self.names, self.prism.catalog, state, now, known_at)

    def _why_none(self, entity: NamedNode, at: Instant, known_at: Instant | None) -> str:
        states = states_of(self._store, self.names, entity, known_at)
        state = covering(states, at, prefer_wip=False)
        if state is not None:
            return f"it has no state since {state.valid_from}: retired, or all that was said of it has ended"
        if not states:
            return "nothing was known of it then" if known_at else "it has no state"
        return f"its first state begins at {states[0].valid_from}"

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
        return {
            "reference": known.node.value,
            "source": answers.entity_json(self._store, self.names, known.source, at),
            "target": answers.entity_json(self._store, self.names, known.target, at),
            "kind": local_name(known.kind.value),
            "valid_from": answers.iso(known.valid_from),
            "valid_until": answers.iso(known.valid_until),
            "tier": known.tier,
            "provenance": known.provenance or None,
        }

    def recall(
        self,
        text: str,
        as_of: TimeInput | None = None,
        limit: int = 10,
        prefer_wip: bool = True,
        explain: bool = False,
        known_at: TimeInput | int | None = None,
    ) -> dict[str, Any]:
        """Return the memories that answer ``text``, each told apart as current, historical or wip at ``as_of``.

        The answer is ``{"query", "as_of", "anchors", "hits", "legs"}``; a leg that is not well is named there. The
        index catches up with every acknowledged write first.
        """
        known = self.prism.system_time(known_at)
        return self.prism.answering(self.pid).ask(text, self._at(as_of), known, limit, prefer_wip, explain)

    def reindex(self) -> None:
        """Build the project's search indexes anew from the store."""
        self.prism.answering(self.pid).reindex()

    def state_json_at(self, entity: str, as_of: Instant, known_at: Instant | None, prefer_wip: bool) -> dict[str, Any]:
        """Return the State JSON of an entity (an IRI) at an instant; ``{"state": None}`` where nothing holds."""
        return self._state_json(NamedNode(entity), as_of, known_at, prefer_wip=prefer_wip) or {"state": None}

    def check(self) -> list[dict[str, str]]:
        """Return every broken invariant of this project: ``{"check", "entity", "detail"}``; empty when sound.

        ``stale-current`` and ``stale-tail`` tell of a derived graph that differs from the computation.
        """
        from prism_rdf.maintenance.derived import stale
        from prism_rdf.validation.checks import run_checks

        broken = [(f.check, f.entity, f.detail) for f in run_checks(self._store, self.names)]
        broken += [(f.check, f.entity.value, f.detail) for f in stale(self.prism.site, self.names)]
        return [{"check": check, "entity": entity, "detail": detail} for check, entity, detail in broken]

    @property
    def _store(self) -> EmbeddedStore:
        return self.prism.store

    def _type_of(self, entity: NamedNode) -> EntityType:
        kind = type_of(self._store, self.names, entity)
        assert kind is not None, "resolve returns entities that have a type"
        return self.prism.catalog.type(kind)

    def _at(self, as_of: TimeInput | None) -> Instant:
        return self.prism.clock.now() if as_of is None else as_of_instant(as_of)
