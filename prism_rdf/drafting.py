"""Work in progress as verbs: begin or update a draft, seal it into the history, discard it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from pyoxigraph import NamedNode

from prism_rdf.clock import Edge, TimeInput, start_of
from prism_rdf.errors import BadArgument, NotFoundError, RefusedError, UnknownEntity
from prism_rdf.model import Assertion, DraftEnd, DraftSource, DraftVersion, Event, Intent, Receipt
from prism_rdf.namespaces import local_name
from prism_rdf.reading import ReadingVerbs
from prism_rdf.statements import Props, assertions, memory_named, node_named
from prism_rdf.temporal.drafts import Thread, open_thread, read_thread
from prism_rdf.temporal.read import snapshot
from prism_rdf.tiers import check_direct, claimed
from prism_rdf.values import Term

_SOURCES = ("session_intent", "working_tree", "explicit")
Held = Mapping[NamedNode, tuple[Term, ...]]


class DraftingVerbs(ReadingVerbs):
    """The verbs of work in progress. An entity has at most one open draft, beside its sealed state."""

    def wip(
        self,
        entity: str,
        props: Props,
        source: DraftSource = "explicit",
        *,
        at: TimeInput | None = None,
        idempotency_key: str = "",
    ) -> dict[str, Any]:
        """Begin the draft of an entity, or go on with it, and return ``{"wip", "entity", …receipt}``.

        ``wip`` is the uuid of the thread, the same until it is sealed or discarded. Properties not given stay as they
        are in the draft; None takes one out. ``at`` (default now) is when it was touched. Raises BadArgument,
        ValidationError.
        """
        if source not in _SOURCES:
            raise BadArgument(
                f"{source!r} is no source of a draft",
                rule=f"a draft comes from {', '.join(_SOURCES)}",
                mend="leave it out for 'explicit'",
            )
        meant = self.who(entity)[0]
        node = meant.entity
        known, touched = self._type_of(node), self._touched(at)
        said = assertions(known, props, Edge(touched), None, self.resolve)
        fresh = str(uuid4())

        def intents() -> Sequence[Intent]:
            thread = open_thread(self._store, self.names, node)
            held = _overlaid(self._draft_props(thread), said)
            if not held:
                raise BadArgument("the draft says nothing", rule="a draft has a property", mend="give at least one")
            uuid = self.names.uuid_of(thread.node.value) if thread else fresh
            return (DraftVersion(self.names.uuid_of(node.value), uuid, held, touched, source),)

        payload = [node.value, dict(props), source, at]
        receipt = self._noted(self.prism.commit(self.pid, intents, "wip", idempotency_key, payload), meant)
        thread = open_thread(self._store, self.names, node)
        wip = self.names.uuid_of(thread.node.value) if thread else fresh
        return {"wip": wip, "entity": node.value, **receipt.as_dict()}

    def seal(
        self,
        wip: str,
        props_at_seal: Props | None = None,
        *,
        event_type: str = "wip_sealed",
        valid_from: TimeInput | None = None,
        description: str = "",
        cause_memory: str = "",
        cause_commit: str = "",
        tier: int | None = None,
        idempotency_key: str = "",
    ) -> Receipt:
        """Seal a draft: what it says, with ``props_at_seal`` laid over it, becomes history from ``valid_from`` on.

        ``wip`` is the uuid of the thread, or its entity. The event says whether what was sealed differs from the draft
        (props_drift), and a note which properties do.
        Raises NotFoundError for an unknown draft, RefusedError for one that is no longer open.
        """
        thread = self._thread(wip)
        known, by = self._type_of(thread.entity), check_direct(claimed(tier, self.prism.tier))
        entity, draft_uuid = (self.names.uuid_of(node.value) for node in (thread.entity, thread.node))
        cause_memory = memory_named(self.names, cause_memory)
        drifted: list[str] = []

        def intents() -> Sequence[Intent]:
            open_now = self._must_be_open(self._thread(draft_uuid))
            now = self.prism.clock.now()  # in its turn: what was said meanwhile is not later
            start = Edge(now) if valid_from is None else start_of(valid_from)
            over = assertions(known, props_at_seal or {}, start, None, self.resolve)
            draft = self._draft_props(open_now)
            final = _overlaid(draft, over)
            drifted[:] = sorted(
                local_name(iri.value) for iri in final.keys() | draft if final.get(iri) != draft.get(iri)
            )
            multi = {prop.iri for prop in known.properties if prop.multi}
            event = Event(
                entity=entity,
                event_type=event_type,
                at=start,
                assertions=_sealing(final, multi, start),
                cause_memory=cause_memory,
                cause_commit=cause_commit,
                description=description,
                source=open_now.node.value,
                props_drift=bool(drifted),
                tier=by,
            )
            return (event, DraftEnd(entity, draft_uuid, max(now, open_now.touched_at), "sealed"))

        payload = [draft_uuid, dict(props_at_seal or {}), event_type, valid_from]
        receipt = self.prism.commit(self.pid, intents, "seal", idempotency_key, payload)
        drift = (f"props_drift: sealed with other values than the draft had: {', '.join(drifted)}",)
        return replace(receipt, notes=(*receipt.notes, *drift)) if drifted else receipt

    def discard(self, wip: str, *, idempotency_key: str = "") -> Receipt:
        """Close a draft without making history of it; as-of still shows it in its time."""
        thread = self._thread(wip)
        entity, draft_uuid = (self.names.uuid_of(node.value) for node in (thread.entity, thread.node))

        def intents() -> Sequence[Intent]:
            open_now = self._must_be_open(self._thread(draft_uuid))
            ended = max(self.prism.clock.now(), open_now.touched_at)
            return (DraftEnd(entity, draft_uuid, ended, "discarded"),)

        return self.prism.commit(self.pid, intents, "discard", idempotency_key, [draft_uuid])

    def _touched(self, at: TimeInput | None) -> Any:
        return self.prism.clock.now() if at is None else start_of(at).instant

    def _thread(self, wip: str) -> Thread:
        node = node_named(wip, self.names.draft)
        thread = read_thread(self._store, self.names, node) if node else None
        if thread is None:
            thread = self._open_draft_of(wip)
        if thread is None:
            raise NotFoundError(
                f"there is no draft {wip} in {self.pid}",
                rule="a draft is named by the uuid that wip returned, or by its entity while it is open",
                mend="prism drafts lists the open ones",
                node=wip,
            )
        return thread

    def _open_draft_of(self, entity: str) -> Thread | None:
        try:
            return open_thread(self._store, self.names, self.resolve(entity))
        except UnknownEntity:
            return None

    def _must_be_open(self, thread: Thread) -> Thread:
        if thread.closed_at is not None:
            raise RefusedError(
                f"draft {self.names.uuid_of(thread.node.value)} is not open: it was {thread.outcome} "
                f"at {thread.closed_at}",
                rule="a draft is sealed or discarded once",
                mend="begin a new draft with wip, or record a transition",
                node=thread.node.value,
            )
        return thread

    def _draft_props(self, thread: Thread | None) -> dict[NamedNode, tuple[Term, ...]]:
        return snapshot(self._store, thread.version) if thread is not None and thread.version is not None else {}


def _overlaid(held: Held, said: Sequence[Assertion]) -> dict[NamedNode, tuple[Term, ...]]:
    """Return ``held`` with the assertions laid over it."""
    props = dict(held)
    for prop in {each.property for each in said}:
        values = sorted((a.value for a in said if a.property == prop and a.value is not None), key=str)
        if values:
            props[prop] = tuple(values)
        else:
            props.pop(prop, None)
    return props


def _sealing(final: Held, multi: set[NamedNode], start: Edge) -> tuple[Assertion, ...]:
    said: list[Assertion] = []
    for prop, values in sorted(final.items(), key=lambda item: item[0].value):
        if prop in multi:
            said.append(Assertion(prop, None, "clear", start.instant))
            said += [Assertion(prop, value, "add", start.instant) for value in values]
        else:
            said += [Assertion(prop, value, "set", start.instant) for value in values]
    return tuple(said)
