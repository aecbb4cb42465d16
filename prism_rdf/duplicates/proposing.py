"""Pairs of entities that may be one thing, from their records: one type at a time; what was settled is left alone."""

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
        """Say whether something tells two entities apart, by uuid, whether they were compared or not."""
        return any(alike.knows(one, other) and not alike.mergeable(one, other) for alike in self.matchers.values())


class Alike:
    """The entities of one type, compared."""

    def __init__(self, entities: Sequence[Entity], found: Mapping[str, Any]) -> None:
        self.entities = entities
        self._at = {each["uuid"]: place for place, each in enumerate(entities)}
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
        """Yield the pairs that score at least so much and are not settled to be two."""
        for one, other, found in self._matcher.pairs(at_least, progress):
            first, second = sorted((one, other), key=self._age)
            if first != one:
                found = self._matcher.compare(first, second)
            proposal = Proposal(self.entities[first], self.entities[second], found)
            if proposal.uuids not in self._apart:
                yield self._unless_linked(proposal)
        self.compared = self._matcher.compared

    def _age(self, place: int) -> tuple[str, str]:
        return self.entities[place]["created_at"], self.entities[place]["uuid"]

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
        whole = sorted([*mine, *yours], key=lambda each: (each["created_at"], each["uuid"]))
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


def _order(proposal: Proposal) -> tuple[Any, ...]:
    named = [str(each["identifier"]) for each in (proposal.first, proposal.second)]
    return -proposal.found.score, proposal.first["type"], named, sorted(proposal.uuids)
