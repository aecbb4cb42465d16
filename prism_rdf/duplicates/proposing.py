"""Pairs of entities that may be one thing, from their records: one type at a time; what was settled is left alone.

What was merged is one thing already. A pair is of two things, and the two of their records that are most alike speak.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from prism_rdf.duplicates.blocking import Progress
from prism_rdf.duplicates.matching import Comparison, Matcher

Entity = Mapping[str, Any]  # as entities.entity_records returns it


@dataclass(frozen=True)
class Proposal:
    """Two entities that may be one thing, the one that was entered first before the other."""

    first: Entity
    second: Entity
    found: Comparison

    @property
    def uuids(self) -> frozenset[str]:
        return frozenset((self.first["uuid"], self.second["uuid"]))


@dataclass(frozen=True)
class Proposals:
    """The proposals, the likeliest first, and how many pairs were compared of how many that there are."""

    pairs: tuple[Proposal, ...]
    entities: int
    compared: int
    possible: int
    matchers: Mapping[str, Alike]

    def are_against(self, one: str, other: str) -> bool:
        """Say whether something tells two entities apart, by uuid, with what is merged into them, compared or not."""
        return any(alike.knows(one, other) and not alike.are_alike(one, other) for alike in self.matchers.values())


class Alike:
    """The entities of one type, compared."""

    def __init__(self, entities: Sequence[Entity], found: Mapping[str, Any]) -> None:
        self.entities = entities
        self._at = {each["uuid"]: place for place, each in enumerate(entities)}
        self.wholes: defaultdict[str, list[Entity]] = defaultdict(list)  # by the uuid of what the rest is merged into
        for each in entities:
            self.wholes[each["into"] or each["uuid"]].append(each)
        self._apart = {frozenset(ends) for ends in found["apart"]}
        self._linked: defaultdict[frozenset[str], list[str]] = defaultdict(list)
        for one, other, kind in found["linked"]:
            self._linked[frozenset((one, other))].append(kind)
        self._matcher = Matcher([each["record"] for each in entities], found["naming"])
        self.compared = 0

    def knows(self, *uuids: str) -> bool:
        return all(uuid in self._at for uuid in uuids)

    def mergeable(self, one: str, other: str) -> bool:
        """Say whether two entities are neither settled to be two nor told apart by a number, a code or a year."""
        ends = frozenset((one, other))
        if ends in self._apart or ends in self._linked:
            return False
        return not self._matcher.weigh(self._at[one], self._at[other]).against

    def proposals(self, at_least: float, progress: Progress | None) -> Iterator[Proposal]:
        """Yield the pairs that score at least so much and are not settled to be two, of one thing and another once."""
        best: dict[frozenset[str], Proposal] = {}
        for one, other, found in self._matcher.pairs(at_least, progress):
            first, second = sorted((one, other), key=lambda place: _age(self.entities[place]))
            if first != one:
                found = self._matcher.compare(first, second)
            records = Proposal(self.entities[first], self.entities[second], found)
            proposal = self._of_wholes(records) if records.uuids not in self._apart else None
            if proposal is not None and proposal.uuids not in self._apart:
                known = best.get(proposal.uuids)
                if known is None or _likelier(proposal, known):
                    best[proposal.uuids] = proposal
        self.compared = self._matcher.compared
        yield from map(self._unless_linked, best.values())

    def _of_wholes(self, records: Proposal) -> Proposal | None:
        """Return a proposal to merge what the two are merged into; None where that is one thing, or is not here."""
        ends = [self._whole(each) for each in (records.first, records.second)]
        if None in ends or ends[0] == ends[1]:
            return None
        first, second = sorted((end for end in ends if end is not None), key=_age)
        merged = [
            f"{each['identifier'] or each['uuid']} is merged into {end['identifier'] or end['uuid']}"
            for each, end in zip((records.first, records.second), ends, strict=True)
            if end is not None and each["into"]
        ]
        wholes = self.wholes[first["uuid"]], self.wholes[second["uuid"]]
        if records.found.mergeable and max(map(len, wholes)) > 1 and not self.are_alike(first["uuid"], second["uuid"]):
            merged.insert(0, "something tells apart what was merged into them")
            return Proposal(first, second, Comparison(records.found.score, False, (*merged, *records.found.reasons)))
        return Proposal(first, second, replace(records.found, reasons=(*records.found.reasons, *merged)))

    def _whole(self, entity: Entity) -> Entity | None:
        if entity["into"] is None:
            return entity
        place = self._at.get(entity["into"])
        return self.entities[place] if place is not None and self.entities[place]["into"] is None else None

    def are_alike(self, one: str, other: str) -> bool:
        """Say whether nothing tells what was merged into one entity from what was merged into another, by uuid."""
        return all(
            self.mergeable(mine["uuid"], yours["uuid"]) for mine in self.wholes[one] for yours in self.wholes[other]
        )

    def _unless_linked(self, proposal: Proposal) -> Proposal:
        kinds = self._linked.get(proposal.uuids)
        if not kinds:
            return proposal
        why = f"one refers to the other: {', '.join(sorted(set(kinds)))}"
        found = replace(proposal.found, mergeable=False, reasons=(why, *proposal.found.reasons))
        return replace(proposal, found=found)


def propose(found: Mapping[str, Any], at_least: float, progress: Progress | None = None) -> Proposals:
    """Return the proposals among the entities that ``entities.entity_records`` returned."""
    by_type: defaultdict[str, list[Entity]] = defaultdict(list)
    for each in found["entities"]:
        by_type[each["type"]].append(each)
    alike = {name: Alike(entities, found) for name, entities in sorted(by_type.items()) if len(entities) > 1}
    pairs = [proposal for each in alike.values() for proposal in each.proposals(at_least, progress)]
    sizes = [len(entities) for entities in by_type.values()]
    return Proposals(
        pairs=tuple(sorted(pairs, key=_order)),
        entities=sum(sizes),
        compared=sum(each.compared for each in alike.values()),
        possible=sum(size * (size - 1) // 2 for size in sizes),
        matchers=alike,
    )


def to_merge(proposals: Proposals, at_least: float) -> tuple[Proposal, ...]:
    """Return the proposals to merge, so that no two that are told apart become one through a third.

    Each thing that was entered several times is merged into the one that was entered first.
    """
    group: dict[str, list[Entity]] = {}
    why: dict[frozenset[str], Proposal] = {}
    for proposal in proposals.pairs:
        if proposal.found.score < at_least or not proposal.found.mergeable:
            continue
        mine, yours = (group.get(each["uuid"], [each]) for each in (proposal.first, proposal.second))
        if mine is yours or any(proposals.are_against(one["uuid"], other["uuid"]) for one in mine for other in yours):
            continue
        why[proposal.uuids] = proposal
        whole = sorted([*mine, *yours], key=_age)
        group |= {each["uuid"]: whole for each in whole}
    return tuple(_stars(group, why))


def _stars(group: Mapping[str, list[Entity]], why: Mapping[frozenset[str], Proposal]) -> Iterator[Proposal]:
    """Yield for each group the merges of its others into its first, each with the reasons that brought it in."""
    for whole in {id(entities): entities for entities in group.values()}.values():
        first, *others = whole
        for other in others:
            brought = [proposal for ends, proposal in why.items() if other["uuid"] in ends]
            direct = why.get(frozenset((first["uuid"], other["uuid"])))
            yield Proposal(first, other, (direct or brought[0]).found)


def _age(entity: Entity) -> tuple[str, str]:
    return entity["created_at"], entity["uuid"]


def _likelier(proposal: Proposal, other: Proposal) -> bool:
    """Say whether a proposal is the likelier one of two of the same things; where they are alike, the shorter told."""
    found, known = proposal.found, other.found
    return (found.score, found.mergeable, -len(found.reasons)) > (known.score, known.mergeable, -len(known.reasons))


def _order(proposal: Proposal) -> tuple[Any, ...]:
    named = [str(each["identifier"]) for each in (proposal.first, proposal.second)]
    return -proposal.found.score, proposal.first["type"], named, sorted(proposal.uuids)
