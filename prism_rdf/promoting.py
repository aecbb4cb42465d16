"""From a candidate to what its promotion writes, if it still fits; who promotes and when is decided by the verbs.

Shapes and invariants are judged when it is written, as for any write. Here is what they cannot see: that it would
change nothing, that the entity is retired, or that somebody else bears the name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import inf
from typing import Any, cast

from pyoxigraph import NamedNode

from prism_rdf.belief import Writing
from prism_rdf.canonical.catalog import EntityType
from prism_rdf.canonical.entities import type_of
from prism_rdf.clock import Instant, TimeInput, end_of, start_of
from prism_rdf.errors import BadArgument, RefusedError
from prism_rdf.guessing import assertions_of, facts_of
from prism_rdf.model import RETIRED, Alias, Clue, Event, Fact, Reference
from prism_rdf.namespaces import derived_uuid, local_name
from prism_rdf.naming import IDENTIFIER, bearers
from prism_rdf.proposals import Proposal, Setting, within
from prism_rdf.review.candidates import entities_of, interval_of, is_believed
from prism_rdf.review.queue import KnownCandidate
from prism_rdf.semantic.aliases import alias_node, aliases_of, folded
from prism_rdf.semantic.merges import preferred
from prism_rdf.semantic.references import reference_node, references
from prism_rdf.statements import assertions, check_alias, check_order
from prism_rdf.temporal.events import event_uuid, stated_by
from prism_rdf.temporal.fold import Piece, edge, fold, instant

Resolve = Callable[[str], NamedNode]

_TIMES = ("valid_from", "valid_until")
EDITABLE: Mapping[str, tuple[str, ...]] = {
    "fact": ("entity", "property", "value", *_TIMES),
    "alias": ("entity", "surface_form", "alias_kind", *_TIMES),
    "reference": ("source", "reference_kind", "target", *_TIMES),
}


def _type_of(setting: Setting, uuid: str) -> EntityType:
    entity = setting.names.entity(uuid)
    found = type_of(setting.store, setting.names, entity)
    if found is None:
        raise _unfit(f"there is no entity {uuid} any more", "reject it, or edit the entity", entity)
    return setting.catalog.type(found)


def _unfit(why: str, mend: str, node: NamedNode) -> RefusedError:
    return RefusedError(
        f"it does not fit: {why}",
        rule="a candidate is promoted only where it changes what is believed; it stays pending",
        mend=mend,
        node=node.value,
    )


def edited(
    setting: Setting, known: KnownCandidate, edits: Mapping[str, Any], resolve: Resolve
) -> tuple[Proposal, tuple[str, ...]]:
    """Return what is proposed with the edits laid over it, and the names of those that differ.

    Raises BadArgument for what cannot be edited, and as ``resolve`` does.
    """
    allowed = EDITABLE[known.kind]
    unknown = sorted(set(edits) - set(allowed))
    if unknown:
        raise BadArgument(
            f"{', '.join(unknown)} is nothing of a {known.kind} candidate",
            rule=f"what can be edited is {', '.join(allowed)}",
            mend="use one of these names",
        )
    before, after = known.proposal, known.proposal
    differs = []
    for name in allowed:  # the property before the value, which is read by its type
        if name in edits:
            made = _with(setting, after, name, edits[name], resolve)
            differs += [name] if made != after else []
            after = made
    start, until = interval_of(after)
    check_order(start, until)
    return (after, tuple(differs)) if after != before else (before, ())


def _with(setting: Setting, proposal: Proposal, name: str, value: Any, resolve: Resolve) -> Proposal:
    """Return the proposal with one edit; the names are those of EDITABLE."""
    if name == "valid_until":
        return replace(proposal, until=_end(value))
    if isinstance(proposal, Fact):
        return _fact_with(setting, proposal, name, value, resolve)
    if name == "valid_from":
        return replace(proposal, start=None if value is None else start_of(value).instant)
    if isinstance(proposal, Alias):
        return _alias_with(setting, proposal, name, str(value), resolve)
    if name == "reference_kind":
        return replace(proposal, kind=setting.catalog.kind(str(value)))
    end = setting.names.uuid_of(resolve(str(value)).value)
    return replace(proposal, source=end) if name == "source" else replace(proposal, target=end)


def _fact_with(setting: Setting, fact: Fact, name: str, value: Any, resolve: Resolve) -> Fact:
    if name == "valid_from":
        return replace(fact, at=None if value is None else start_of(value))
    if name == "entity":
        return replace(fact, entity=setting.names.uuid_of(resolve(str(value)).value))
    kind = _type_of(setting, fact.entity)
    if name == "property":
        return replace(fact, property=kind.property(str(value)).iri)
    said = assertions(kind, {fact.property.value: value}, start_of(setting.now), None, resolve)
    [made] = facts_of(fact.entity, said, fact.at, fact.until, fact.event_type)
    return made


def _alias_with(setting: Setting, alias: Alias, name: str, value: str, resolve: Resolve) -> Alias:
    if name == "entity":
        return replace(alias, target=setting.names.uuid_of(resolve(value).value))
    if name == "alias_kind":
        if value not in ("former", "synonym"):
            rule = "former: it was the name; synonym: it is another name"
            raise BadArgument(f"{value!r} is no kind of alias", rule=rule, mend="say one of the two")
        return replace(alias, kind=cast(Any, value))
    check_alias(value)
    return replace(alias, surface_form=value.strip())


def _end(value: TimeInput | None) -> Instant | None:
    return None if value is None else end_of(value).instant


def surest(known: KnownCandidate) -> Clue:
    """Return the clue whose source a promotion names: the surest, the first of several."""
    return max((each.clue for each in known.clues), key=lambda clue: clue.confidence or 0.0, default=Clue())


def promotion(
    setting: Setting, known: KnownCandidate, proposal: Proposal
) -> tuple[Event | Alias | Reference, NamedNode]:
    """Return what is written and its IRI: of tier 3, with source and cause of the surest clue.

    What was guessed of an entity that is merged by now is written of the preferred one. Raises RefusedError where the
    proposal does not fit.
    """
    clue, names = surest(known), setting.names
    proposal = _meant(setting, proposal)
    for uuid in entities_of(proposal):
        _check_known(setting, uuid)
    if isinstance(proposal, Fact):
        _check_alive(setting, proposal.entity, *interval_of(proposal))
        uuid = derived_uuid("promotion", known.node.value, str(len(known.rulings)))
        said = assertions_of(proposal, _type_of(setting, proposal.entity))
        event = Event(proposal.entity, proposal.event_type, proposal.at, said, uuid, clue.source_memory, tier=3)
        event = replace(event, cause_commit=clue.cause_commit, description=clue.note, source=clue.source)
        _check_shows(setting, event, proposal)
        return event, names.event(uuid)
    if isinstance(proposal, Alias):
        alias = replace(proposal, tier=3, source=clue.source, source_memory=clue.source_memory)
        _check_name(setting, alias)
        return alias, _new(setting, alias_node(alias, names))
    reference = replace(proposal, tier=3, provenance=clue.source, cause_commit=clue.cause_commit)
    _check_reference(setting, reference)
    return reference, _new(setting, reference_node(reference, names))


def _meant(setting: Setting, proposal: Proposal) -> Proposal:
    """Return what is proposed of the preferred entities: what is said of one that is merged means the other."""

    def into(uuid: str) -> str:
        return setting.names.uuid_of(preferred(setting.store, setting.names, setting.names.entity(uuid)).value)

    if isinstance(proposal, Fact):
        return replace(proposal, entity=into(proposal.entity))
    if isinstance(proposal, Alias):
        return replace(proposal, target=into(proposal.target))
    return replace(proposal, source=into(proposal.source), target=into(proposal.target))


def _new(setting: Setting, node: NamedNode) -> NamedNode:
    if is_believed(setting.store, node, setting.names):
        raise _unfit("the same source said so before, with another end", "record the end directly, and reject it", node)
    return node


def _check_known(setting: Setting, uuid: str) -> None:
    """Refuse what is said of an entity of which nothing is believed."""
    _type_of(setting, uuid)
    if not any(each.prop != RETIRED for each in setting.stated(uuid)):
        entity = setting.names.entity(uuid)
        mend = "reject it, or edit the entity"
        raise _unfit(f"nothing is believed of {setting.called(entity)} any more", mend, entity)


def _check_alive(setting: Setting, uuid: str, start: Instant | None, until: Instant | None) -> None:
    """Refuse a fact of a time at which its entity is retired; names and references of the past may still be told."""
    entity = setting.names.entity(uuid)
    stated = setting.stated(uuid)
    pieces, lived = fold(stated), fold(each for each in stated if each.prop != RETIRED)
    for piece in within(pieces, start, until):
        if piece.void and not all(other.void for other in within(lived, instant(piece.start), instant(piece.until))):
            raise _unfit(
                f"{setting.called(entity)} is retired since {instant(piece.start)}",
                "edit valid_until to that time or before, or reopen it",
                entity,
            )


def _check_shows(setting: Setting, event: Event, fact: Fact) -> None:
    """Refuse a fact after which the history would be as before."""
    entity = setting.names.entity(event.entity)
    stated = setting.stated(event.entity)
    writing = Writing(setting.names, setting.now, 0)
    said = stated_by(event, event_uuid(event, entity), writing)
    before = fold(stated)
    if _shown(before) != _shown(fold([*stated, *said])):
        return
    held = {piece.props.get(fact.property, ()) for piece in within(before, *interval_of(fact)) if not piece.void}
    name = f"{local_name(fact.property.value)} of {setting.called(entity)}"
    if len(held) == 1 and set(*held) == set(fact.values):
        raise _unfit(f"the {name} is so already", "reject it", entity)
    raise _unfit(
        f"what is said of the {name} outranks it: a correction, or a statement of the same instant",
        "reject it, or record a correction",
        entity,
    )


def _shown(pieces: Iterable[Piece]) -> list[Any]:
    return [(piece.start, piece.until, piece.void, dict(piece.props)) for piece in pieces]


def _check_name(setting: Setting, alias: Alias) -> None:
    """Refuse a name that the entity has already, or that somebody else bears in its time."""
    store, names, target = setting.store, setting.names, setting.names.entity(alias.target)
    for known in aliases_of(store, names, target):
        same = (folded(known.surface_form), known.kind) == (folded(alias.surface_form), alias.kind)
        if same and _covers(known.valid_from, known.valid_until, alias.start, alias.until):
            raise _unfit(f"{alias.surface_form!r} is a name of {setting.called(target)} already", "reject it", target)
    own = preferred(store, names, target)
    for bearer in bearers(store, names, alias.surface_form, setting.catalog.identifying):
        named_so = bearer.how == IDENTIFIER and bearer.form == alias.surface_form and bearer.bears(setting.now)
        if bearer.entity == target and named_so and _covers(alias.start, alias.until, setting.now, setting.now):
            raise _unfit(f"{alias.surface_form!r} is what it is called now", "reject it", target)
        overlaps = edge(bearer.start, -inf) < edge(alias.until, inf) and edge(alias.start, -inf) < edge(
            bearer.until, inf
        )
        if overlaps and preferred(store, names, bearer.entity) != own:
            other = setting.called(bearer.entity)
            raise _unfit(
                f"{alias.surface_form!r} is a name of {other} at that time",
                f"edit valid_from or valid_until, or merge the two if {other} is {setting.called(target)}",
                target,
            )


def _check_reference(setting: Setting, reference: Reference) -> None:
    source, target = (setting.names.entity(uuid) for uuid in (reference.source, reference.target))
    for known in references(setting.store, setting.names, source, target, reference.kind):
        if _covers(known.valid_from, known.valid_until, reference.start, reference.until):
            said = f"{setting.called(source)} {local_name(reference.kind.value)} {setting.called(target)}"
            raise _unfit(f"{said} is recorded already", "reject it", source)


def _covers(
    start: Instant | None, until: Instant | None, other_start: Instant | None, other_until: Instant | None
) -> bool:
    return edge(start, -inf) <= edge(other_start, -inf) and edge(other_until, inf) <= edge(until, inf)
