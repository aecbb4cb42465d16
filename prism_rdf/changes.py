"""From intents to one ChangeSet: asks each layer's planner, then derives the current graph; nothing is written here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TypeVar

from pyoxigraph import NamedNode, Quad, Store

from prism_rdf.belief import Delta, Writing, belief_of, change_from, take_back, withdraw
from prism_rdf.canonical.entities import plan_entities
from prism_rdf.canonical.schemas import Schema, Schemas
from prism_rdf.canonical.texts import plan_texts
from prism_rdf.clock import Instant
from prism_rdf.errors import UnknownEntity, ValidationError, Violation
from prism_rdf.evidence.bookmarks import plan_bookmarks
from prism_rdf.evidence.claims import plan_evidence
from prism_rdf.evidence.memories import plan_memories
from prism_rdf.forgotten import Forgotten
from prism_rdf.free import plan_free
from prism_rdf.model import (
    Alias,
    Bookmark,
    Candidate,
    ChangeSet,
    Difference,
    DraftEnd,
    DraftVersion,
    Event,
    Evidence,
    FreeChange,
    Intent,
    Memory,
    Merge,
    NewEntity,
    Reference,
    TypeText,
    Withdrawal,
)
from prism_rdf.namespaces import RDF_TYPE, Names, article, local_name, meta_graph, prism
from prism_rdf.retyping import concerned, taught
from prism_rdf.review.candidates import dropped_promotions, entities_of, interval_of, plan_review
from prism_rdf.semantic.aliases import alias_node, plan_aliases
from prism_rdf.semantic.differences import plan_differences
from prism_rdf.semantic.merges import concerned_by, plan_merges
from prism_rdf.semantic.references import plan_references, reference_node
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import GraphReader
from prism_rdf.storage.overlay import Overlay
from prism_rdf.storage.read_once import ReadOnce
from prism_rdf.temporal.drafts import DRAFT_OF, THREAD, plan_drafts
from prism_rdf.temporal.events import ASSERTION, CHANGES
from prism_rdf.temporal.fold import Piece
from prism_rdf.temporal.plan import Folding, plan_events
from prism_rdf.temporal.read import snapshot, states_of
from prism_rdf.temporal.states import HAS_STATE
from prism_rdf.values import Term, instant_literal
from prism_rdf.views import as_quads, entity_view, next_boundary

DUE_AT = prism("dueAt")
_NOTHING = Store()  # what is known of a new entity: the names of its events and states follow from its own
_LEADING = {RDF_TYPE, HAS_STATE, CHANGES, DRAFT_OF, THREAD}
MOST_NOTES = 10
_Kind = TypeVar("_Kind", bound=Intent)


@dataclass(frozen=True)
class Ground:
    """What every plan stands on: the store as it is, the types it knows, whose it is, and what it must not take in."""

    store: GraphReader
    tenant: str
    forgotten: Forgotten | None = None
    schemas: Schemas = field(default_factory=Schemas)
    managed: bool = True

    def schema(self, names: Names, known_at: Instant | None = None) -> Schema:
        """Return the types of a project as believed at ``known_at`` (None: now)."""
        if known_at is not None:
            return self.schemas.read(self.store, names, known_at)
        return self.schemas.of(self.store, names)

    def schema_after(self, after: GraphReader, names: Names, change: Delta | ChangeSet) -> Schema:
        """Return the types of a project once a change is made that may be one of its types."""
        return self.schemas.read(after, names) if changes_types(change, names) else self.schema(names)

    def spared(self, intents: Sequence[Intent], names: Names) -> tuple[tuple[Intent, ...], tuple[str, ...]]:
        """Return the intents without what was forgotten here, and notes for the receipt."""
        return (tuple(intents), ()) if self.forgotten is None else self.forgotten.spare(intents, names)

    def knowing(self, names: Names, schema: Schema) -> Ground:
        """Return the ground on which a project has these types."""
        return replace(self, schemas=Schemas.knowing(names, schema))


def changes_types(change: Delta | ChangeSet, names: Names) -> bool:
    """Return whether a change is also one of what the project taught."""
    graph = names.graph("types")
    return any(quad.graph_name == graph for quad in change.adds)


@dataclass(frozen=True)
class Planned:
    """A change, with the store as it was ``before``, so far as that was read, and as it will be ``after``."""

    change: ChangeSet
    before: ReadOnce
    after: Overlay

    def unlinked(self, names: Names) -> Iterator[Quad]:
        """Yield what is said of new events and states, but for their types and for what leads to them.

        Nobody finds it in the store before the rest of the change is there too.
        """
        graph = names.graph("temporal")
        for quad in self.change.adds:
            if quad.graph_name != graph:
                if isinstance(quad.graph_name, NamedNode) and self.before.is_new(quad.graph_name, graph):
                    yield quad
            elif quad.predicate not in _LEADING and self.before.is_new(quad.subject, graph):
                yield quad


def plan(ground: Ground, intents: Sequence[Intent], writing: Writing) -> Planned:
    """Return the change that fulfils all intents at once; empty when all of it is already so.

    Each entity is folded once, and nothing is read twice. Raises UnknownEntity for an intent about nothing,
    ValidationError for a second type or a changed immutable property.
    """
    before = ReadOnce(ground.store)
    ground = replace(ground, store=before)
    check_intervals(intents)
    intents = (*intents, *dropped_promotions(before, intents, writing.names))
    types = _types(ground, intents, writing)
    entities = [writing.names.entity(uuid) for uuid in types]
    before.take_as_new([entity for entity in entities if _unheard_of(entity, before, writing)])
    texts, schema = plan_texts(before, _of(TypeText, intents), writing), ground.schema(writing.names)
    if texts != Delta():
        ground = ground.knowing(writing.names, taught(before, writing.names, ground.schemas, texts))
    parts = [texts, plan_entities(ground.store, _of(NewEntity, intents), ground.tenant, writing)]
    notes: list[str] = []
    for event_type, changes in _by_type(types, intents).items():
        for folding in _plan_type(ground, before, event_type, changes, writing):
            parts.append(folding.delta)
            notes += [] if folding.shows else [_hidden(folding)]
    parts.append(plan_aliases(ground.store, _of(Alias, intents), writing))
    parts.append(plan_references(ground.store, _of(Reference, intents), writing))
    parts.append(plan_merges(Overlay(ground.store, parts[1].adds, ()), _of(Merge, intents), writing))
    parts.append(plan_differences(ground.store, _of(Difference, intents), writing))
    parts.append(plan_memories(ground.store, _of(Memory, intents), writing))
    parts.append(plan_evidence(ground.store, _of(Evidence, intents), writing))
    parts.append(plan_drafts(ground.store, _of(DraftVersion, intents), _of(DraftEnd, intents), writing))
    parts += [_plan_withdrawal(ground.store, each, writing) for each in _of(Withdrawal, intents)]
    parts.append(plan_bookmarks(ground.store, _of(Bookmark, intents), writing))
    parts.append(plan_free(ground.store, _of(FreeChange, intents), ground.managed, writing))
    delta = _netted(Delta.joined(parts))
    delta += plan_review(ground.store, delta, intents, writing)
    after = Overlay(before, delta.adds, delta.removes)
    if not delta.adds and not delta.removes:
        return Planned(ChangeSet(notes=tuple(_ended_before(before, intents, writing.names))), before, after)
    before.take_as_new(_unheard_of_nodes(after, before, writing))
    touched = concerned_by(after, writing.names, (writing.names.entity(uuid) for uuid in sorted(types)))
    retyped = concerned(before, writing.names, schema, ground.schema(writing.names)) if texts != Delta() else ()
    derived = refresh(ground, dict.fromkeys((*touched, *retyped)), after, writing)
    after.extend(derived.adds, derived.removes)
    change = ChangeSet(delta.adds + derived.adds, delta.removes + derived.removes, tuple(notes[:MOST_NOTES]))
    return Planned(change, before, after)


def _unheard_of(entity: NamedNode, before: ReadOnce, writing: Writing) -> bool:
    return not about(before, entity, writing.names.graph("canonical")).quads


def _unheard_of_nodes(after: Overlay, before: ReadOnce, writing: Writing) -> Iterator[object]:
    """Yield the events, assertions and states that are written now for the first time: nothing points to them yet."""
    graph = writing.names.graph("temporal")
    for node, quads in after.added(graph).items():
        if before.is_new(node, graph):
            yield node
            yield from (quad.object for quad in quads if quad.predicate == ASSERTION)  # written with their event


def _ended_before(store: GraphReader, intents: Iterable[Intent], names: Names) -> Iterator[str]:
    """Yield a note for each name or reference that was ended before: saying it without an end does not reopen it."""
    for intent in islice((each for each in intents if isinstance(each, Alias | Reference)), MOST_NOTES):
        what = f"the alias {intent.surface_form!r}" if isinstance(intent, Alias) else "the reference"
        node = alias_node(intent, names) if isinstance(intent, Alias) else reference_node(intent, names)
        belief = belief_of(about(store, node, names.graph("semantic")))
        if belief is not None and belief.valid_until is not None and intent.until is None:
            yield (
                f"{what} was ended at {belief.valid_until}, and saying it again without an end does not undo that: "
                "revert the commit that ended it (prism log), or say it from that time on"
            )


def check_intervals(intents: Iterable[Intent]) -> None:
    """Raise ValidationError for what would hold no time at all."""
    found = [
        Violation(
            node=subject,
            path=prism("validUntil").value,
            value=until.iso(),
            shape="interval",
            message=f"what is said of {subject} cannot hold from {start} until {until}",
            mend="an interval ends after it starts: swap the two, or leave the end out",
        )
        for intent in intents
        for subject, start, until in _intervals(intent)
        if start is not None and until is not None and until <= start
    ]
    if found:
        raise ValidationError(found)


def _intervals(intent: Intent) -> Iterable[tuple[str, Instant | None, Instant | None]]:
    if isinstance(intent, Event):
        at = intent.at.instant if intent.at else None
        return [(intent.entity, said.start or at, said.until) for said in intent.assertions]
    if isinstance(intent, Candidate):
        return [(entities_of(intent.proposal)[0], *interval_of(intent.proposal))]
    if isinstance(intent, Alias):
        return [(intent.target, intent.start, intent.until)]
    if isinstance(intent, Reference):
        return [(intent.source, intent.start, intent.until)]
    if isinstance(intent, Evidence):
        return [(intent.entity, intent.start, intent.until)]
    if isinstance(intent, Memory):
        return [(intent.source or intent.kind, intent.start or intent.created_at, intent.until)]
    return []


def refresh(ground: Ground, entities: Iterable[NamedNode], after: GraphReader, writing: Writing) -> Delta:
    """Return what makes the current graph right for these entities, and when they are due again.

    ``after`` is the store as it will be; the current graph and the due dates are still those of ``ground``.
    """
    current, meta = writing.names.graph("current"), meta_graph(writing.names.base)
    parts = []
    catalog = ground.schema(writing.names).catalog
    above, naming = catalog.superclasses, catalog.identifying
    for entity in entities:
        view = entity_view(after, writing.names, entity, writing.now, above, identifying=naming)
        wanted = list(as_quads(view, current))
        due = next_boundary(after, writing.names, entity, writing.now)
        if due is not None:
            wanted.append(Quad(entity, DUE_AT, instant_literal(due), meta))
        stored = ground.store.quads_for_pattern(entity, None, None, current)
        due_before = ground.store.quads_for_pattern(entity, DUE_AT, None, meta)
        parts.append(change_from(chain(stored, due_before), wanted))
    return Delta.joined(parts)


def _types(ground: Ground, intents: Sequence[Intent], writing: Writing) -> dict[str, NamedNode]:
    """Return the type of every entity that the intents touch, new ones included; raise for one that is not there."""
    new = {intent.uuid: intent.type for intent in intents if isinstance(intent, NewEntity)}
    types, canonical = dict(new), writing.names.graph("canonical")
    for intent in intents:
        for uuid in _about(intent):
            if uuid not in types:
                known = about(ground.store, writing.names.entity(uuid), canonical).iri(RDF_TYPE)
                if known is None:
                    raise UnknownEntity(
                        f"there is no entity {uuid} in {writing.names.namespace}",
                        rule="a change is about an entity of the same project",
                        mend="make it first, or check the identifier (prism entities lists them)",
                        node=uuid,
                    )
                types[uuid] = known
    return types


def _of(kind: type[_Kind], intents: Iterable[Intent]) -> list[_Kind]:
    return [intent for intent in intents if isinstance(intent, kind)]


def _about(intent: Intent) -> tuple[str, ...]:
    if isinstance(intent, NewEntity):
        return (intent.uuid,)
    if isinstance(intent, (Event, DraftVersion, DraftEnd, Evidence)):
        return (intent.entity,)
    if isinstance(intent, Withdrawal):
        return (intent.entity,) if intent.entity else ()
    if isinstance(intent, Alias):
        return (intent.target,)
    if isinstance(intent, Reference):
        return (intent.source, intent.target)
    if isinstance(intent, Merge):
        return (intent.merged, intent.into)
    if isinstance(intent, Difference):
        return (intent.one, intent.other)
    return intent.about if isinstance(intent, Memory) else ()


def _by_type(types: dict[str, NamedNode], intents: Iterable[Intent]) -> dict[NamedNode, list[Event | Withdrawal]]:
    grouped: dict[NamedNode, list[Event | Withdrawal]] = {}
    for intent in intents:
        if isinstance(intent, (Event, Withdrawal)) and intent.entity:
            grouped.setdefault(types[intent.entity], []).append(intent)
    return grouped


def _plan_withdrawal(store: GraphReader, withdrawal: Withdrawal, writing: Writing) -> Delta:
    """Return what ends the belief in a node of any layer but the temporal one, whose events are folded anew."""
    for layer in ("semantic", "memory", "evidence"):
        graph = writing.names.graph(layer)
        node = about(store, withdrawal.node, graph)
        belief = belief_of(node)
        if belief is None or belief.withdrawn_at is not None:
            continue
        if withdrawal.said_at is not None:
            return take_back(store, node, graph, withdrawal.said_at, writing)
        return withdraw(withdrawal.node, graph, writing)
    return Delta()


def _hidden(folding: Folding) -> str:
    if folding.retired is not None:
        return (
            f"recorded, but no state changes of {folding.entity.value}: it is retired since {folding.retired}, and "
            "only reopen ends that"
        )
    return (
        f"recorded, but no state changes of {folding.entity.value}: what was said already held, or a correction or "
        "another statement of the same instant outranks it"
    )


def _plan_type(
    ground: Ground, before: ReadOnce, type_iri: NamedNode, changes: Collection[Event | Withdrawal], writing: Writing
) -> tuple[Folding, ...]:
    known = ground.schema(writing.names).catalog.type(type_iri)
    multi = known.multi_valued
    found_before = {each.entity for each in changes if isinstance(each, Withdrawal) or each.uuid}
    found_before |= {each.entity for each in changes if not before.is_new(writing.names.entity(each.entity))}
    fresh = plan_events(_NOTHING, (each for each in changes if each.entity not in found_before), multi, writing)
    before.take_as_new(quad.subject for folding in fresh for quad in folding.delta.adds)
    known_changes = (each for each in changes if each.entity in found_before)
    foldings = fresh + plan_events(ground.store, known_changes, multi, writing)
    found = [
        violation
        for folding in foldings
        for violation in changed(folding.entity, folding.pieces, known.unchanging, known.name)
        if not _changed_before(ground.store, writing.names, folding.entity, violation)
    ]
    if found:
        raise ValidationError(found)
    return foldings


def changed(
    entity: NamedNode, pieces: Sequence[Piece], immutable: frozenset[NamedNode], type_name: str
) -> Iterable[Violation]:
    """Yield a violation for each immutable property that does not keep one value through all pieces."""
    for prop in sorted(immutable, key=str):
        first: Piece | None = None
        for piece in pieces:
            if piece.void or (first is None and prop not in piece.props):
                continue
            if first is not None and piece.props.get(prop) != first.props[prop]:
                old, new = _shown(first, prop), _shown(piece, prop)
                yield Violation(
                    node=entity.value,
                    path=prop.value,
                    value=new,
                    shape=f"immutable properties of {type_name}",
                    message=f"{local_name(prop.value)} of {article(type_name)} never changes: it is {old}, not {new}",
                    mend=f"make a new entity; or if {old} was wrong from the first, retract the event that says so "
                    f"(blame {local_name(prop.value)} names it) and say what it said anew, of the uuid",
                )
                break
            first = first or piece


def _changed_before(store: GraphReader, names: Names, entity: NamedNode, violation: Violation) -> bool:
    """Return whether a property that never changes held this value before: it could change then, by an earlier type."""
    prop, states = NamedNode(violation.path), states_of(store, names, entity)
    told = (snapshot(store, NamedNode(state.iri)).get(prop, ()) for state in states)
    held = {_text(values) for values in told if values}
    return len(held) > 1 and violation.value in held


def _shown(piece: Piece, prop: NamedNode) -> str:
    return _text(piece.props.get(prop, ()))


def _text(values: Iterable[Term]) -> str:
    return ", ".join(value.value for value in values) or "nothing"


def _netted(delta: Delta) -> Delta:
    """Drop doubles, and what is removed only to be added again."""
    adds, removes = dict.fromkeys(delta.adds), dict.fromkeys(delta.removes)
    return Delta(tuple(q for q in adds if q not in removes), tuple(q for q in removes if q not in adds))
