"""What holds now and would be refused by changed types: it stays as it is, and whoever changes the types is told first.

Looked at are the sealed states and drafts that hold now, and the references that hold now or later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from pyoxigraph import NamedNode

from prism_rdf.canonical.catalog import EntityType
from prism_rdf.canonical.entities import entities
from prism_rdf.canonical.own_shapes import SUBJECTS_OF, TARGET_CLASS, roots
from prism_rdf.canonical.schemas import Schema
from prism_rdf.clock import Instant
from prism_rdf.errors import Violation
from prism_rdf.namespaces import Names, local_name
from prism_rdf.scopes import scopes_of_nodes
from prism_rdf.semantic.references import references
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.drafts import open_thread
from prism_rdf.temporal.read import sealed_at, snapshot, states_of
from prism_rdf.validation.gate import Scope

_CHUNK = 2_000


@dataclass(frozen=True)
class Misfit:
    """Something of an entity that the types as they are to be would refuse: why, and whether state or reference."""

    entity: NamedNode
    what: str
    violation: Violation


def misfits(store: GraphReader, names: Names, before: Schema, after: Schema, now: Instant) -> Iterator[Misfit]:
    """Yield what holds at ``now``, and is refused by the types ``after`` though not by those ``before``."""
    for known in after.catalog.types:
        if _may_differ(known, before, after):
            yield from _of_states(store, names, known, before, after, now)
            yield from _of_immutables(store, names, known, before)
    if _references_may_differ(before, after):
        yield from _of_references(store, names, before, after, now)


def _may_differ(known: EntityType, before: Schema, after: Schema) -> bool:
    """Return whether a state of a type may be judged otherwise than before."""
    was = next((each for each in before.catalog.types if each.iri == known.iri), None)
    if was is None:
        return False
    if known != was or _is_targeted(known, before) or _is_targeted(known, after):
        return True
    return any(prop.object_class is not None for prop in known.properties) and _reclassed(before, after)


def _is_targeted(known: EntityType, schema: Schema) -> bool:
    own = {prop.iri for prop in known.properties}
    return any(
        triple.object == known.iri if triple.predicate == TARGET_CLASS else triple.object in own
        for triple in schema.shapes.states
        if triple.predicate in (TARGET_CLASS, SUBJECTS_OF)
    )


def _reclassed(before: Schema, after: Schema) -> bool:
    was = {each.iri: set(each.superclasses) for each in before.catalog.types}
    return any(was.get(each.iri, set(each.superclasses)) != set(each.superclasses) for each in after.catalog.types)


def _references_may_differ(before: Schema, after: Schema) -> bool:
    return bool(roots(before.own) or roots(after.own)) or _reclassed(before, after)


def _of_states(
    store: GraphReader, names: Names, known: EntityType, before: Schema, after: Schema, now: Instant
) -> Iterator[Misfit]:
    for chunk in _chunks(_held(store, names, known.iri, now)):
        owners = {str(state): entity for entity, state in chunk}
        for violation in _refused(store, names, chunk, before, after, ("snapshot", "fragment")):
            yield Misfit(owners[violation.node], "state", violation)


def _held(store: GraphReader, names: Names, type_iri: NamedNode, now: Instant) -> Iterator[tuple[NamedNode, NamedNode]]:
    """Yield the entities of a type, each with its sealed state at ``now`` and with its open draft."""
    for entity in entities(store, names, type_iri):
        state, draft = sealed_at(store, names, entity, now), open_thread(store, names, entity)
        if state is not None and not state.void:
            yield entity, NamedNode(state.iri)
        if draft is not None and draft.version is not None:
            yield entity, draft.version


def _of_references(store: GraphReader, names: Names, before: Schema, after: Schema, now: Instant) -> Iterator[Misfit]:
    semantic = names.graph("semantic")
    held = (each for each in references(store, names) if each.valid_until is None or each.valid_until > now)
    for chunk in _chunks((each.node, semantic) for each in held):
        for violation in _refused(store, names, chunk, before, after, ("link",)):
            yield Misfit(NamedNode(violation.node[1:-1]), "reference", violation)


def _refused(
    store: GraphReader,
    names: Names,
    nodes: Iterable[tuple[NamedNode, NamedNode]],
    before: Schema,
    after: Schema,
    scopes: tuple[Scope, ...],
) -> list[Violation]:
    held = tuple(nodes)
    found = _judged(store, names, held, after, scopes)
    known = {_about(each) for each in _judged(store, names, held, before, scopes)} if found else set()
    return [each for each in found if _about(each) not in known]


def _judged(
    store: GraphReader,
    names: Names,
    nodes: tuple[tuple[NamedNode, NamedNode], ...],
    schema: Schema,
    scopes: tuple[Scope, ...],
) -> tuple[Violation, ...]:
    seen = scopes_of_nodes(nodes, store, names, schema.catalog.superclasses)
    return schema.gate.check({scope: triples for scope, triples in seen.items() if scope in scopes})


def _about(violation: Violation) -> tuple[str, ...]:
    return violation.node, violation.path, violation.value, violation.shape


def _of_immutables(store: GraphReader, names: Names, known: EntityType, before: Schema) -> Iterator[Misfit]:
    """Yield what changed so far of properties that are to change no more."""
    was = {prop.iri for prop in before.catalog.type(known.iri).immutable}
    fixed = [prop for prop in known.immutable if prop.iri not in was]
    for entity in entities(store, names, known.iri) if fixed else ():
        states = [s for s in states_of(store, names, entity) if s.commit_status == "committed"]
        told = [snapshot(store, NamedNode(state.iri)) for state in states]
        for prop in fixed:
            values = dict.fromkeys(", ".join(v.value for v in each[prop.iri]) for each in told if prop.iri in each)
            if len(values) > 1:
                violation = Violation(
                    node=str(entity),
                    path=str(prop.iri),
                    value=list(values)[-1],
                    shape=f"immutable properties of {known.name}",
                    message=f"{prop.name} is to change no more, and it was {', then '.join(values)}",
                    mend=f"leave {local_name(prop.iri.value)} mutable",
                )
                yield Misfit(entity, "state", violation)


def _chunks(
    nodes: Iterable[tuple[NamedNode, NamedNode]],
) -> Iterator[list[tuple[NamedNode, NamedNode]]]:
    remaining = iter(nodes)
    while chunk := list(islice(remaining, _CHUNK)):
        yield chunk
