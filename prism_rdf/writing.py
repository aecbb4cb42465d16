"""What a project records: entities, changes, names, references, memories; each verb is one commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from typing import Literal as Choice
from uuid import uuid4

from pyoxigraph import Literal, NamedNode

from prism_rdf import explaining
from prism_rdf.canonical.catalog import EntityType
from prism_rdf.canonical.texts import texts_of
from prism_rdf.clock import Edge, Instant, TimeInput, start_of
from prism_rdf.errors import BadArgument, NotFoundError, RefusedError
from prism_rdf.evidence.memories import memory_node
from prism_rdf.guessing import clue_of, facts_of, told
from prism_rdf.model import (
    EVENT_CORRECTION,
    RETIRED,
    Alias,
    Assertion,
    Candidate,
    Event,
    Fact,
    Intent,
    Memory,
    NewEntity,
    Receipt,
    Reference,
    Tier,
    Withdrawal,
)
from prism_rdf.namespaces import article, local_name
from prism_rdf.reading import ReadingVerbs
from prism_rdf.semantic.references import check_references
from prism_rdf.statements import (
    Props,
    assertions,
    begin,
    check_alias,
    check_order,
    end,
    memory_named,
    node_named,
)
from prism_rdf.storage.about import about
from prism_rdf.temporal.events import CHANGES, read_stated
from prism_rdf.temporal.read import sealed_at, snapshot
from prism_rdf.tiers import check_direct, claimed
from prism_rdf.values import Value


class WritingVerbs(ReadingVerbs):
    """The writing verbs of a project. Each returns its receipt only after the commit is on disk."""

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
        tier: Tier | None = None,
        idempotency_key: str = "",
    ) -> dict[str, Any]:
        """Make an entity with its first state, atomically, and return ``{"entity", "uuid", …receipt}``.

        ``valid_from`` defaults to now. Raises UnknownType, ValidationError (undeclared property, wrong datatype, …).
        """
        tier = check_direct(claimed(tier, self.prism.tier))
        known = self._catalog.type(type_name)
        if not props:
            raise BadArgument(
                f"{article(known.name)} needs at least one property",
                rule="an entity is made together with its first state",
                mend=f"give one of: {', '.join(prop.name for prop in known.properties)}",
            )
        uuid, at = str(uuid4()), self._start(valid_from)
        cause_memory = memory_named(self.names, cause_memory)
        event = Event(
            entity=uuid,
            event_type="created",
            at=at,
            assertions=assertions(known, props, at, None, self.resolve),
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
        tier: Tier | None = None,
        quote: str = "",
        extractor: str = "",
        confidence: float | None = None,
        offsets: Sequence[int] | None = None,
        idempotency_key: str = "",
    ) -> Receipt:
        """Record that properties changed, over [valid_from, valid_until) (default: from now on), as one event.

        A value of None clears a property. A late statement about the past changes the past only. Of tier 3 it is a
        guess: one candidate for each property, with the clue ``quote`` at ``offsets`` of the source, and not believed.
        """
        if not props:
            raise BadArgument("the change says nothing", rule="a change has a property", mend="give at least one")
        by, meant, until = claimed(tier, self.prism.tier), self.who(entity)[0], end(valid_until)
        node = meant.entity
        known, memory = self._type_of(node), memory_named(self.names, cause_memory)
        why = (source, memory, cause_commit, description)
        clue = clue_of(by, quote, extractor, confidence, offsets, why, sequence)

        def events() -> tuple[Event, ...]:
            start = self._start(valid_from)  # now, in its turn: what is said at once by many is not late
            check_order(start.instant, until)
            said = assertions(known, props, start, until, self.resolve, self._undeclared(node, known, props))
            level = self._correction_level(node, said) if event_type == EVENT_CORRECTION else 0
            event = Event(
                entity=self.names.uuid_of(node.value),
                event_type=event_type,
                at=start,
                assertions=said,
                cause_memory=memory,
                cause_commit=cause_commit,
                description=description,
                source=source,
                tier=by,
                sequence=sequence,
                level=level,
            )
            return (event,)

        payload = [node.value, dict(props), event_type, valid_from, valid_until, source, sequence]
        if by == 3:
            facts = self._guessed_facts(node, props, event_type, valid_from, until)
            guesses = [Candidate(fact, clue, valid_from is None) for fact in facts]
            return self._noted(self._guess(guesses, idempotency_key, payload), meant)
        verb = event_type if event_type in (EVENT_CORRECTION, "fact") else "transition"
        return self._noted(self.prism.commit(self.pid, events, verb, idempotency_key, payload), meant)

    def _undeclared(self, entity: NamedNode, known: EntityType, props: Props) -> dict[str, NamedNode]:
        """Return by name what an entity still has of what its type declared once; asked for what is to be cleared."""
        if all(value is not None for value in props.values()):
            return {}
        state = sealed_at(self._store, self.names, entity, self.prism.clock.now())
        held = snapshot(self._store, NamedNode(state.iri)) if state is not None else {}
        gone = set(held) - {prop.iri for prop in known.properties}
        return {name: prop for prop in sorted(gone, key=str) for name in (local_name(prop.value), prop.value)}

    def _guessed_facts(
        self, node: NamedNode, props: Props, event_type: str, valid_from: TimeInput | None, until: Instant | None
    ) -> tuple[Fact, ...]:
        if event_type == EVENT_CORRECTION:
            raise RefusedError(
                "a guess corrects nothing",
                rule="a correction outranks what others say, so it is of tier 1 or 2",
                mend="guess a fact; a reviewer can correct what stands against it",
            )
        start = None if valid_from is None else start_of(valid_from)
        check_order(start.instant if start else None, until)
        said = assertions(self._type_of(node), props, self._start(valid_from), until, self.resolve)
        return facts_of(self.names.uuid_of(node.value), said, start, until, event_type)

    def _guess(self, guesses: Sequence[Candidate], key: str, payload: Sequence[Any]) -> Receipt:
        clues = [repr(guess.clue) for guess in guesses]
        receipt = self.prism.commit(self.pid, lambda: guesses, "guess", key, [*payload, *clues])
        return told(self._store, self.names, receipt, guesses)

    def _correction_level(self, entity: NamedNode, said: Sequence[Assertion]) -> int:
        """Return one level above what is believed of these properties: a correction of a correction outranks it."""
        props = {each.property for each in said}
        stated = read_stated(self._store, entity, self.names.graph("temporal"))
        return 1 + max((each.level for each in stated if each.prop in props), default=0)

    def correct(self, entity: str, props: Props, **options: Any) -> Receipt:
        """Say that what was recorded is wrong: it outranks it whenever it was said. Options as of ``transition``."""
        return self.transition(entity, props, EVENT_CORRECTION, **options)

    def retire(self, entity: str, **options: Any) -> Receipt:
        """End an entity at ``valid_from`` (default now): only ``reopen`` ends that. Options as of ``transition``."""
        return self._mark_retired(entity, True, "retired", options)

    def reopen(self, entity: str, **options: Any) -> Receipt:
        """End a retirement at ``valid_from`` (default now): what still covers it shows again."""
        return self._mark_retired(entity, False, "reopened", options)

    def _mark_retired(self, entity: str, retired: bool, event_type: str, options: dict[str, Any]) -> Receipt:
        meant = self.who(entity)[0]
        node = meant.entity
        given, key = options.pop("valid_from", None), options.pop("idempotency_key", "")
        options["tier"] = check_direct(claimed(options.get("tier"), self.prism.tier))
        options["cause_memory"] = memory_named(self.names, options.get("cause_memory", ""))

        def intents() -> tuple[Event, ...]:
            start = self._start(given)  # now, in its turn
            said = Assertion(RETIRED, Literal(retired), "set", start.instant)
            return (Event(self.names.uuid_of(node.value), event_type, start, (said,), **options),)

        verb = "retire" if retired else "reopen"
        return self._noted(self.prism.commit(self.pid, intents, verb, key, [node.value, retired, given]), meant)

    def retract(self, event: str, *, idempotency_key: str = "") -> Receipt:
        """Stop believing one event (the IRI that blame names, or its uuid): the history is folded anew without it."""
        node = node_named(event, self.names.event)
        found = self._withdrawals([node]) if node else []
        if not found:
            raise NotFoundError(
                f"there is no event {event} in {self.pid}",
                rule="only a recorded event can be retracted",
                mend="prism blame ENTITY PROPERTY names the event that set a value",
                node=event,
            )
        return self.prism.commit(self.pid, lambda: found, "retract", idempotency_key, [event])

    def revert(self, commit: int, *, idempotency_key: str = "") -> Receipt:
        """Stop believing all that a commit recorded: its events, aliases, references, merges, evidence and memories."""
        recorded = self.prism.system_time(commit)
        assert recorded is not None
        self._refuse_types(commit, recorded)
        found = explaining.recorded_by(self._store, self.names, recorded)
        return self.prism.commit(self.pid, lambda: found, "revert", idempotency_key, [commit])

    def _refuse_types(self, commit: int, recorded: Instant) -> None:
        """Raise RefusedError for a commit that changed types: what is of them must not be left without."""
        for text in texts_of(self._store, self.names):
            if recorded in (text.belief.recorded_at, text.belief.withdrawn_at):
                raise RefusedError(
                    f"commit {commit} changed the types in {text.file_name}",
                    rule="types are changed by giving their file anew, or taking it away",
                    mend=f"prism types add with the earlier text, or prism types remove {text.file_name}",
                )

    def _withdrawals(self, events: Sequence[NamedNode]) -> list[Withdrawal]:
        graph = self.names.graph("temporal")
        owners = ((event, about(self._store, event, graph).iri(CHANGES)) for event in events)
        return [Withdrawal(event, self.names.uuid_of(owner.value)) for event, owner in owners if owner is not None]

    def fact(self, entity: str, property: str, value: Value | Sequence[Value], **options: Any) -> Receipt:
        """Record one property; the options are those of ``transition``."""
        return self.transition(entity, {property: value}, options.pop("event_type", "fact"), **options)

    def alias(
        self,
        surface_form: str,
        entity: str,
        *,
        kind: Choice["former", "synonym"] = "former",
        tier: Tier | None = None,
        valid_from: TimeInput | None = None,
        valid_until: TimeInput | None = None,
        source: str = "",
        cause_memory: str = "",
        quote: str = "",
        extractor: str = "",
        confidence: float | None = None,
        offsets: Sequence[int] | None = None,
        idempotency_key: str = "",
    ) -> Receipt:
        """Record another name of an entity; it is or was the name over [valid_from, valid_until).

        Tiers 1 (a person) and 2 (an agent with an artifact) write directly. Of tier 3 it is a guess, a candidate with
        the clue ``quote`` at ``offsets`` of the source; it resolves to nothing until it is promoted.
        """
        check_alias(surface_form)
        by, memory = claimed(tier, self.prism.tier), memory_named(self.names, cause_memory)
        clue = clue_of(by, quote, extractor, confidence, offsets, (source, memory))
        meant, start, until = self.who(entity)[0], begin(valid_from), end(valid_until)
        check_order(start, until)
        node = meant.entity
        uuid = self.names.uuid_of(node.value)
        intent = Alias(uuid, surface_form.strip(), kind, by, memory, source, start, until)
        payload = [surface_form, node.value, kind, by, valid_from, valid_until]

        def intents() -> tuple[Alias, ...]:
            self._refuse_taken(intent, node)
            return (intent,)

        if by == 3:
            intents()
            return self._noted(self._guess([Candidate(intent, clue)], idempotency_key, payload), meant)
        receipt = self.prism.commit(self.pid, intents, "alias", idempotency_key, payload)
        return self._noted(self._with_namesakes(receipt, intent), meant)

    def reference(
        self,
        source: str,
        target: str,
        kind: str,
        *,
        valid_from: TimeInput | None = None,
        valid_until: TimeInput | None = None,
        tier: Tier | None = None,
        source_document: str = "",
        cause_commit: str = "",
        quote: str = "",
        extractor: str = "",
        confidence: float | None = None,
        offsets: Sequence[int] | None = None,
        idempotency_key: str = "",
    ) -> Receipt:
        """Record a typed reference that holds over [valid_from, valid_until) (default: from now on).

        Of tier 3 it is a guess, a candidate with the clue ``quote`` at ``offsets`` of the source document. Raises
        ValidationError when the shapes do not allow the kind between these types; of a guess once it is promoted.
        """
        by = claimed(tier, self.prism.tier)
        clue = clue_of(by, quote, extractor, confidence, offsets, (source_document, "", cause_commit))
        meant = self.who(source)[0], self.who(target)[0]
        start = begin(valid_from) if valid_from is not None else self.prism.clock.now()
        until = end(valid_until)
        check_order(start, until)
        uuids = [self.names.uuid_of(end.entity.value) for end in meant]
        kind_iri = self._catalog.kind(kind)
        intent = Reference(uuids[0], uuids[1], kind_iri, start, until, by, source_document, cause_commit)
        payload = [*uuids, kind, valid_from, valid_until]
        if by == 3:
            undated = valid_from is None
            guess = Candidate(replace(intent, start=None) if undated else intent, clue, undated)
            return self._noted(self._guess([guess], idempotency_key, payload), *meant)

        def intents() -> tuple[Reference, ...]:
            now = self.prism.clock.now()
            check_references(self._store, self.names, [intent], lambda node: self._called(node, now) or node.value)
            return (intent,)

        return self._noted(self.prism.commit(self.pid, intents, "reference", idempotency_key, payload), *meant)

    def remember(
        self,
        content: str,
        kind: str = "note",
        created_at: TimeInput | None = None,
        source: str = "",
        about: Sequence[str] = (),
        *,
        speaker: str = "",
        tier: Tier | None = None,
        idempotency_key: str = "",
    ) -> Receipt:
        """Keep a passage for recall, said at ``created_at`` (default now) by ``speaker``, about the named entities.

        What was said one after the other has one ``source``, with the place behind ``#`` (``chat-7#12``): recall then
        knows what stands beside it. In talk with an agent the speakers are ``user`` and ``assistant``.
        What it mentions (identifiers, terms set as code) is linked to it; what it states of them is guessed. The
        receipt names the memory under ``created``: it can be the ``cause_memory`` of a change.
        """
        tier = check_direct(claimed(tier, self.prism.tier))
        from prism_rdf.ingest.mentioning import mentions_of  # its room reads git, which most programs need not
        from prism_rdf.ingest.prose_memories import guessed_in

        if not content.strip():
            raise BadArgument("there is nothing to remember", rule="a memory has content", mend="give some text")
        meant = [self.who(ref)[0] for ref in about]
        uuids = tuple(self.names.uuid_of(bearer.entity.value) for bearer in meant)
        at = begin(created_at) if created_at is not None else self.prism.clock.now()
        assert at is not None
        mentions = mentions_of(content, at, self.bearer_uuid)
        intent = Memory(content, kind, at, source, about=uuids, mentions=mentions, start=at, tier=tier)
        intent = replace(intent, speaker=speaker.strip())
        payload = [content, kind, created_at, source, list(about), *([speaker] if speaker else [])]
        node = memory_node(intent, self.names)
        guesses = guessed_in(intent, node, self, undated=created_at is None)
        receipt = self.prism.commit(self.pid, lambda: (intent, *guesses), "remember", idempotency_key, payload)
        receipt = told(self._store, self.names, receipt, guesses)
        return self._noted(replace(receipt, created=(node.value,)), *meant)

    def write(self, intents: Iterable[Intent], verb: str = "batch", idempotency_key: str = "") -> Receipt:
        """Fulfil many intents in one commit, all or nothing; each entity is folded once."""
        wanted = tuple(intents)
        receipt = self.prism.commit(self.pid, lambda: wanted, verb, idempotency_key, wanted)
        guesses = [intent for intent in wanted if isinstance(intent, Candidate)]
        return told(self._store, self.names, receipt, guesses) if guesses else receipt

    def _start(self, valid_from: TimeInput | None) -> Edge:
        return Edge(self.prism.clock.now()) if valid_from is None else start_of(valid_from)
