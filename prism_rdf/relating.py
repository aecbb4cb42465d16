"""What refers to what, and what depends on what through others, with merges followed; nothing here writes."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyoxigraph import NamedNode

from prism_rdf import answers
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.entities import type_of
from prism_rdf.clock import Instant
from prism_rdf.namespaces import Names, local_name
from prism_rdf.semantic.merges import members, preferred
from prism_rdf.semantic.references import KnownReference, references
from prism_rdf.storage.interface import GraphReader


def references_of(
    store: GraphReader,
    names: Names,
    source: NamedNode | None,
    target: NamedNode | None,
    either: NamedNode | None,
    kind: NamedNode | None,
    known_at: Instant | None,
) -> list[KnownReference]:
    """Return the references that fit, whenever they hold, as believed at ``known_at`` (None: now).

    An entity stands for all that are merged into it; ``either`` may be the source or the target.
    """

    def standing_for(entity: NamedNode | None) -> tuple[NamedNode | None, ...]:
        return members(store, names, entity, known_at) if entity is not None else (None,)

    asked: list[tuple[NamedNode | None, NamedNode | None]]
    if either is not None:
        asked = [ends for each in standing_for(either) for ends in ((each, None), (None, each))]
    else:
        asked = [(one, other) for one in standing_for(source) for other in standing_for(target)]
    found = {
        known.node: known
        for one, other in asked
        for known in references(store, names, source=one, target=other, kind=kind, known_at=known_at)
    }
    return list(found.values())


def reference_json(
    store: GraphReader, names: Names, known: KnownReference, at: Instant, known_at: Instant | None
) -> dict[str, Any]:
    """Return a reference between preferred entities; ``via`` has the ends of which it was said, where merged."""
    ends = {"source": known.source, "target": known.target}
    meant = {end: preferred(store, names, entity, known_at) for end, entity in ends.items()}
    return {
        "reference": known.node.value,
        **{end: answers.entity_json(store, names, entity, at) for end, entity in meant.items()},
        "kind": local_name(known.kind.value),
        "via": {
            end: answers.entity_json(store, names, entity, at) for end, entity in ends.items() if entity != meant[end]
        },
        "valid_from": answers.iso(known.valid_from),
        "valid_until": answers.iso(known.valid_until),
        "tier": known.tier,
        "provenance": known.provenance or None,
    }


def order(told: Mapping[str, Any]) -> tuple[str, ...]:
    """Return by what the JSON of references is sorted: kind, then what source and target are called."""
    return (told["kind"], *(str(told[end]["identifier"]) for end in ("source", "target")), told["reference"])


@dataclass(frozen=True)
class _Step:
    """One reference on the way outward: ``affected`` depends on ``of`` by it."""

    kind: NamedNode
    of: NamedNode
    affected: NamedNode
    outward: bool  # whether the triple leads away from ``of``


def impact(
    store: GraphReader,
    names: Names,
    catalog: TypeCatalog,
    entity: NamedNode,
    at: Instant,
    known_at: Instant | None,
    kinds: Collection[NamedNode] | None,
    depth: int | None,
) -> dict[str, Any]:
    """Return what depends on an entity at ``at``, as the verb says.

    Of a kind that is asked for and says of neither end that it depends, the source counts: what cites a thing.
    """
    ends = {kind: catalog.dependent_ends.get(kind, "source") for kind in kinds or catalog.dependent_ends}
    called = _Called(store, names, at)
    paths: dict[NamedNode, tuple[_Step, ...]] = {entity: ()}
    waiting = deque([entity])
    while waiting:
        of = waiting.popleft()
        if depth is not None and len(paths[of]) >= depth:
            continue
        steps = sorted(
            _steps(store, names, of, ends, at, known_at),
            key=lambda step: (step.kind.value, str(called[step.affected]["identifier"]), step.affected.value),
        )
        for step in steps:
            if step.affected not in paths:
                paths[step.affected] = (*paths[of], step)
                waiting.append(step.affected)
    del paths[entity]
    return {
        "entity": called[entity],
        "as_of": at.iso(),
        "kinds": sorted(local_name(kind.value) for kind in ends),
        "depth": depth,
        "affected": [_affected(store, names, affected, path, called) for affected, path in paths.items()],
    }


class _Called(dict[NamedNode, Mapping[str, Any]]):
    """What entities are called at an instant, each looked up once."""

    def __init__(self, store: GraphReader, names: Names, at: Instant) -> None:
        super().__init__()
        self._where = store, names
        self._at = at

    def __missing__(self, entity: NamedNode) -> Mapping[str, Any]:
        self[entity] = answers.entity_json(*self._where, entity, self._at)
        return self[entity]


def _steps(
    store: GraphReader,
    names: Names,
    of: NamedNode,
    ends: Mapping[NamedNode, str],
    at: Instant,
    known_at: Instant | None,
) -> Iterator[_Step]:
    for member in members(store, names, of, known_at):
        for end, found in (
            ("source", references(store, names, target=member, known_at=known_at)),
            ("target", references(store, names, source=member, known_at=known_at)),
        ):
            for known in found:
                if ends.get(known.kind) == end and known.holds(at):
                    affected = known.source if end == "source" else known.target
                    yield _Step(known.kind, of, preferred(store, names, affected, known_at), end == "target")


def _affected(
    store: GraphReader, names: Names, affected: NamedNode, path: tuple[_Step, ...], called: _Called
) -> dict[str, Any]:
    kind = type_of(store, names, affected)
    return {
        "entity": called[affected],
        "uuid": names.uuid_of(affected.value),
        "type": local_name(kind.value) if kind else None,
        "depth": len(path),
        "kind": local_name(path[-1].kind.value),
        "of": called[path[-1].of],
        "path": [_step_json(step, called) for step in path],
    }


def _step_json(step: _Step, called: _Called) -> dict[str, Any]:
    ends = (step.of, step.affected) if step.outward else (step.affected, step.of)
    return {"kind": local_name(step.kind.value), "source": called[ends[0]], "target": called[ends[1]]}
