"""What a project answers: states, histories, what changed and why, recall; nothing here writes."""

from __future__ import annotations

from typing import Any

from pyoxigraph import NamedNode

from prism_rdf import answers, comparing, explaining
from prism_rdf.canonical.catalog import EntityType
from prism_rdf.canonical.entities import entities, type_of
from prism_rdf.clock import Instant, TimeInput, as_of_instant
from prism_rdf.errors import BadArgument, Violation
from prism_rdf.meaning import MeaningVerbs
from prism_rdf.namespaces import short
from prism_rdf.semantic.merges import circles, members, merged_entities, preferred
from prism_rdf.temporal.drafts import Thread, threads
from prism_rdf.temporal.read import covering, sealed_at, snapshot, state_at, states_of
from prism_rdf.weighing import Weighing


class ReadingVerbs(MeaningVerbs):
    """The reading verbs of a project. ``entity`` arguments take a uuid, an IRI, an identifier or an alias."""

    def list_entities(
        self,
        type_name: str | None = None,
        limit: int = 100,
        as_of: TimeInput | None = None,
        known_at: TimeInput | int | None = None,
        include_merged: bool = False,
    ) -> list[dict[str, Any]]:
        """Return the State JSON of each entity that has a state at ``as_of`` (default now), by identifier.

        Those that are merged into another are left out, or with ``include_merged`` say under ``merged_into`` which one.
        """
        kind = self._catalog.type(type_name).iri if type_name else None
        at, known = self._at(as_of), self.prism.system_time(known_at)
        hidden = {} if include_merged else merged_entities(self._store, self.names, known)
        found = (
            self._marked(self._state_json(entity, at, known, prefer_wip=True), entity, known)
            for entity in entities(self._store, self.names, kind)
            if entity not in hidden
        )
        shown = sorted(
            (state for state in found if state), key=lambda state: (state["type"], state["identifier"] or "")
        )
        return shown[:limit]

    def state_as_of(
        self,
        entity: str,
        as_of: TimeInput | None = None,
        known_at: TimeInput | int | None = None,
        prefer_wip: bool = True,
    ) -> dict[str, Any]:
        """Return the State JSON that held at ``as_of`` (default now) as believed at ``known_at`` (default now).

        Where nothing held: ``{"entity", "uuid", "state": None, "reason": …}``. A day means its last instant. Where only
        an entity held that is merged into this one, its state, which says so under ``merged_into``.
        """
        node, known = self.resolve(entity, as_of, known_at), self.prism.system_time(known_at)
        at = self._at(as_of)
        found = self._state_of_all(node, at, known, prefer_wip)
        if found is not None:
            return {**found, "as_of": at.iso()}
        reason = self._why_none(node, at, known)
        uuid = self.names.uuid_of(node.value)
        return {"entity": node.value, "uuid": uuid, "state": None, "reason": reason, "as_of": at.iso()}

    def history(
        self, entity: str, known_at: TimeInput | int | None = None, include_merged: bool = False
    ) -> list[dict[str, Any]]:
        """Return the State JSON of every state believed at ``known_at`` (default now), oldest first, voids left out.

        With ``include_merged`` also the states of those that are merged into the entity, which say so under
        ``merged_into``.
        """
        node, now = self.resolve(entity, None, known_at), self.prism.clock.now()
        known, catalog = self.prism.system_time(known_at), self._catalog
        told = members(self._store, self.names, node, known) if include_merged else (node,)
        states = [(s, each) for each in told for s in states_of(self._store, self.names, each, known) if not s.void]
        states.sort(key=lambda entry: (entry[0].valid_from is not None, entry[0].valid_from or now))
        found = ((answers.state_json(self._store, self.names, catalog, s, now, known), each) for s, each in states)
        return [{**state, **self._mark(each, known)} for state, each in found]

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
        catalog = self._catalog
        if entity is None:
            return comparing.diff_project(self._store, self.names, catalog, then, at, known)
        node = self.resolve(entity, after, known_at)
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
        node = self.resolve(entity, as_of, known_at)
        prop = self._type_of(node).property(property).iri
        at, known = self._at(as_of), self.prism.system_time(known_at)
        return explaining.blame(self._store, self.names, node, prop, at, known)

    def timeline(self, entity: str, known_at: TimeInput | int | None = None) -> list[dict[str, Any]]:
        """Return what happened to an entity, in valid time: states, aliases, references, merges, with their causes."""
        node = self.resolve(entity, None, known_at)
        known = self.prism.system_time(known_at)
        now = self.prism.clock.now()
        return explaining.timeline(self._store, self.names, node, self._type_of(node), now, known)

    def drafts(self, stale_after_days: int | None = None) -> list[dict[str, Any]]:
        """Return the open drafts, or only those untouched for so many days, oldest touch first."""
        limit = None if stale_after_days is None else self.prism.clock.now().plus(days=-stale_after_days)
        found = threads(self._store, self.names, closed=False)
        return [self._draft_json(thread) for thread in found if limit is None or thread.touched_at < limit]

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
        return answers.state_json(self._store, self.names, self._catalog, state, now, known_at)

    def _state_of_all(
        self, entity: NamedNode, at: Instant, known_at: Instant | None, prefer_wip: bool
    ) -> dict[str, Any] | None:
        """Return the state of an entity that is not merged, else of the first that is merged into it and had one."""
        own = self._state_json(entity, at, known_at, prefer_wip=prefer_wip)
        if own is not None:
            return own
        for member in members(self._store, self.names, entity, known_at)[1:]:
            found = self._marked(self._state_json(member, at, known_at, prefer_wip=prefer_wip), member, known_at)
            if found is not None:
                return found
        return None

    def _marked(
        self, state: dict[str, Any] | None, entity: NamedNode, known_at: Instant | None
    ) -> dict[str, Any] | None:
        return None if state is None else {**state, **self._mark(entity, known_at)}

    def _mark(self, entity: NamedNode, known_at: Instant | None) -> dict[str, Any]:
        """Return what the State JSON of a merged entity says beside its state."""
        into = preferred(self._store, self.names, entity, known_at)
        if into == entity:
            return {}
        return {"merged_into": answers.entity_json(self._store, self.names, into, self.prism.clock.now())}

    def _why_none(self, entity: NamedNode, at: Instant, known_at: Instant | None) -> str:
        states = states_of(self._store, self.names, entity, known_at)
        state = covering(states, at, prefer_wip=False)
        if state is not None:
            return f"it has no state since {state.valid_from}: retired, or all that was said of it has ended"
        if not states:
            return "nothing was known of it then" if known_at else "it has no state"
        return f"its first state begins at {states[0].valid_from}"

    def recall(
        self,
        text: str,
        as_of: TimeInput | None = None,
        limit: int = 10,
        prefer_wip: bool = True,
        explain: bool = False,
        known_at: TimeInput | int | None = None,
        *,
        mode: str = "all",
        kind: str = "",
        type_name: str = "",
        entity: str = "",
        source: str = "",
        flag: str = "",
        cursor: str = "",
        times: bool = True,
        recipe: str = "",
    ) -> dict[str, Any]:
        """Return the memories that answer ``text``, each told apart as current, historical or wip at ``as_of``.

        The answer is ``{"query", "as_of", "time", "anchors", "hits", "cursor", "legs"}``; a leg that is not well is
        named there. ``cursor``, if not None, brings the hits after these. Only memories of a ``kind``, about entities
        of a type or about one ``entity``, whose ``source`` begins so, with a ``flag`` (current, historical, wip, none)
        are found; ``mode`` "current" leaves out what is historical. Without ``as_of``, a time that the question says of
        an entity that had a state then ("before the renaming", "in March 2025") is meant, and told under ``time``,
        unless ``times`` is off. ``recipe`` is how the legs are fused: ``scores`` (the default) or ``rrf``. The index
        catches up with every acknowledged write first. Raises BadArgument, UnknownEntity, AmbiguousError.
        """
        from prism_rdf.recall.selecting import Selection, mode_of

        if not (text and text.strip()):
            raise BadArgument("there is no question", rule="recall looks for words", mend="give some, or a question")
        known = self.prism.system_time(known_at)
        about = self.resolve(entity, as_of, known_at).value if entity else ""
        kind_of = self._catalog.type(type_name).name if type_name else ""
        wanted = Selection(kind, kind_of, about, source, flag, mode_of(mode))
        at = self._at(as_of)
        weighing = Weighing(self._store, self.names, self._catalog)
        answer = self.prism.answering(self.pid).ask(
            text,
            at,
            known,
            limit=limit,
            prefer_wip=prefer_wip,
            explain=explain,
            selection=wanted,
            cursor=cursor,
            times=times and as_of is None,
            recipe=recipe,
        )
        for hit in answer["hits"]:
            hit["evidence"] = weighing.status_of_memory(hit["id"], at, known)
        return answer

    def legs(self) -> dict[str, dict[str, Any]]:
        """Return how the ways of finding memories are: ``{name: {"status", "position", "behind", "detail"}}``.

        ``status`` is ok, absent, lagging or failed; ``behind`` counts the commits that an index has not seen, None
        where there is no index. Nothing is built or caught up by asking.
        """
        last = self.prism.commit_number
        healths = {leg.name: leg.health() for leg in self.prism.answering(self.pid).legs()}
        return {
            name: {
                "status": health.status,
                "position": health.position,
                "behind": None if health.position is None else max(0, last - health.position),
                "detail": health.detail,
            }
            for name, health in healths.items()
        }

    def reindex(self, embedder: str = "") -> None:
        """Build the project's search indexes anew from the store; the vectors in the background, the old ones serve.

        ``embedder`` (``minilm`` or ``sentence-transformers:NAME``) is the model from then on. Until its vectors are
        there the old model answers. Raises NotFoundError when it is not installed, BadArgument for another setting.
        """
        self.prism.answering(self.pid).reindex(embedder)

    def state_json_at(self, entity: str, as_of: Instant, known_at: Instant | None, prefer_wip: bool) -> dict[str, Any]:
        """Return the State JSON of an entity (an IRI) at an instant; ``{"state": None}`` where nothing holds."""
        found = self._state_of_all(NamedNode(entity), as_of, known_at, prefer_wip)
        return self._marked(found, NamedNode(entity), known_at) or {"state": None}

    def check(self) -> list[dict[str, str]]:
        """Return every broken invariant of this project: ``{"check", "entity", "detail"}``; empty when sound.

        ``breaks-a-shape`` tells of a node of any kind that does not fit its shapes; ``merged-in-a-circle`` of merges
        that lead back; ``stale-current`` and ``stale-tail`` of a derived graph that differs from the computation,
        ``stale-snapshot`` of a world of the past that was kept for SPARQL and differs; it is made anew.
        """
        from prism_rdf.maintenance.derived import stale
        from prism_rdf.maintenance.fitting import unfit
        from prism_rdf.validation.checks import run_checks

        broken = [(f.check, f.entity, f.detail) for f in run_checks(self._store, self.names)]
        found = circles(self._store, self.names)
        broken += [("merged-in-a-circle", entity.value, "its merges lead back to it") for entity in found]
        broken += [("breaks-a-shape", f.node.strip("<>"), _told(f)) for f in unfit(self._store, self.names)]
        broken += [(f.check, f.entity.value, f.detail) for f in stale(self.prism.site, self.names)]
        snapshots = self.prism.stale_snapshots(self.pid)
        broken += [("stale-snapshot", getattr(node, "value", str(node)), told) for node, told in snapshots]
        return [{"check": check, "entity": entity, "detail": detail} for check, entity, detail in broken]

    def property_held(self, uuid: str, name: str, at: Instant) -> tuple[NamedNode | None, tuple[str, ...]]:
        """Return the property that the type of an entity declares by a name (None: none), and its values at ``at``."""
        entity = self.names.entity(uuid)
        prop = next((each.iri for each in self._type_of(entity).properties if each.name == name), None)
        if prop is None:
            return None, ()
        state = sealed_at(self._store, self.names, entity, at)
        held = snapshot(self._store, NamedNode(state.iri)).get(prop, ()) if state is not None else ()
        return prop, tuple(term.value for term in held)

    def _type_of(self, entity: NamedNode) -> EntityType:
        kind = type_of(self._store, self.names, entity)
        assert kind is not None, "resolve returns entities that have a type"
        return self._catalog.type(kind)


def _told(violation: Violation) -> str:
    """Return on one line what breaks a shape: the property and the value, the rule, and how to mend it."""
    where = " ".join(short(part.strip("<>")) for part in (violation.path, violation.value) if part)
    return ". ".join(part for part in (f"{where}: {violation.message}".removeprefix(": "), violation.mend) if part)
