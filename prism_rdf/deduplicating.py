"""Duplicates as verbs: which entities may be one thing, merging those that a rule allows, saying that two are two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prism_rdf.clock import TimeInput
from prism_rdf.duplicates import MERGE_AT, REVIEW_AT
from prism_rdf.duplicates.entities import entity_records
from prism_rdf.errors import BadArgument
from prism_rdf.merging import MergingVerbs
from prism_rdf.model import Difference, Merge, Receipt, Tier
from prism_rdf.tiers import check_direct, claimed
from prism_rdf.writing import WritingVerbs

_SOURCE = "prism duplicates"


class DuplicatesVerbs(WritingVerbs, MergingVerbs):
    """The verbs of duplicates. Nothing is merged but by ``merge``, or by ``merge_duplicates`` when it is called."""

    def entity_records(self, type_name: str | None = None, as_of: TimeInput | None = None) -> dict[str, Any]:
        """Return the entities at ``as_of`` (default now) as records to compare, for ``duplicates``.

        ``{"as_of", "entities": [{"entity", "uuid", "type", "identifier", "created_at", "into", "record"}], "naming",
        "apart", "linked"}``; ``into`` is the uuid of the one that it is merged into, or None. Raises UnknownType.
        """
        kind = self._catalog.type(type_name).iri if type_name else None
        at = self._at(as_of)
        return {"as_of": at.iso(), **entity_records(self._store, self.names, self._catalog, at, kind)}

    def duplicates(
        self,
        type_name: str | None = None,
        as_of: TimeInput | None = None,
        *,
        at_least: float = REVIEW_AT,
        limit: int = 100,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> dict[str, Any]:
        """Return the pairs of entities of one type that may be one thing at ``as_of`` (default now), likeliest first.

        ``{"as_of", "pairs", "total", "blocked"}``; each pair has ``a`` (entered first) and ``b`` as ``{"ref", "uuid",
        "identifier"}``, ``type``, ``score`` (how likely, from 0 to 1), ``reasons`` in words, and ``decision``:
        ``merge`` where a rule may merge it (the score is at least MERGE_AT, more than the name agrees, and no number,
        code or year differs), else ``review``. ``blocked`` says how many of the possible pairs were compared. Pairs
        that were said to be different, or whose merge was taken back, are left out. ``progress`` is told (done, total,
        label). Nothing is written. Raises UnknownType, BadArgument.
        """
        from prism_rdf.duplicates.proposing import propose  # loads rapidfuzz, which most programs need not

        _check_threshold(at_least)
        found = self.entity_records(type_name, as_of)
        proposals = propose(found, at_least, progress)
        return {
            "as_of": found["as_of"],
            "pairs": [_pair_json(each) for each in proposals.pairs[:limit]],
            "total": len(proposals.pairs),
            "blocked": {
                "entities": proposals.entities,
                "compared": proposals.compared,
                "possible": proposals.possible,
            },
        }

    def merge_duplicates(
        self,
        type_name: str | None = None,
        *,
        at_least: float = MERGE_AT,
        dry_run: bool = False,
        tier: Tier | None = None,
        progress: Callable[[int, int, str], None] | None = None,
        idempotency_key: str = "",
    ) -> dict[str, Any]:
        """Merge the pairs that score at least so much and that nothing tells apart, ``b`` into ``a``, in one commit.

        A pair is left alone when a number, a code or a year differs, when nothing but the name agrees, when one refers
        to the other, when they were said to be different, or when a third one that would come along is told apart.
        Returns ``{"dry_run", "merged": [pair], …receipt}``; with ``dry_run`` nothing is written. ``unmerge`` takes one
        back, ``revert`` all of the commit. Raises UnknownType, BadArgument.
        """
        from prism_rdf.duplicates.proposing import propose, to_merge

        by = check_direct(claimed(tier, self.prism.tier))
        _check_threshold(at_least)
        proposals = propose(self.entity_records(type_name), at_least, progress)
        chosen = to_merge(proposals, at_least)
        receipt = Receipt(None, None)
        if chosen and not dry_run:
            intents = [
                Merge(
                    merged=each.second["uuid"],
                    into=each.first["uuid"],
                    tier=by,
                    source=_SOURCE,
                    description=f"{each.found.score:.3f}: {'; '.join(each.found.reasons)}",
                )
                for each in chosen
            ]
            receipt = self.write(intents, "merge-duplicates", idempotency_key)
        return {"dry_run": dry_run, "merged": [_pair_json(each) for each in chosen], **receipt.as_dict()}

    def different(
        self,
        one: str,
        other: str,
        *,
        tier: Tier | None = None,
        source: str = "",
        description: str = "",
        idempotency_key: str = "",
    ) -> Receipt:
        """Say that two entities are two, for all valid time: they are not proposed as duplicates again.

        ``revert`` takes it back. Raises ValidationError for one and the same, UnknownEntity, AmbiguousError.
        """
        ends = [self.names.uuid_of(self._named_itself(each).value) for each in (one, other)]
        by = check_direct(claimed(tier, self.prism.tier))
        intent = Difference(ends[0], ends[1], by, source, description)
        payload = [*ends, by, source, description]
        return self.prism.commit(self.pid, lambda: (intent,), "different", idempotency_key, payload)


def _check_threshold(at_least: float) -> None:
    if not REVIEW_AT <= at_least <= 1:
        raise BadArgument(
            f"a threshold of {at_least} is none",
            rule=f"a score says how likely two are one; pairs below {REVIEW_AT} are more likely two",
            mend=f"give a number from {REVIEW_AT} to 1",
        )


def _pair_json(proposal: Any) -> dict[str, Any]:
    found = proposal.found
    return {
        "a": _entity_json(proposal.first),
        "b": _entity_json(proposal.second),
        "type": proposal.first["type"],
        "score": round(found.score, 4),
        "reasons": list(found.reasons),
        "decision": "merge" if found.mergeable and found.score >= MERGE_AT else "review",
    }


def _entity_json(entity: Any) -> dict[str, Any]:
    return {"ref": entity["entity"], "uuid": entity["uuid"], "identifier": entity["identifier"]}
