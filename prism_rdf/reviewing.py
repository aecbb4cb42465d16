"""Review as verbs: list what was guessed, rule on it, take a ruling back; what fits is said in promoting.py."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from typing import Literal as Choice

from pyoxigraph import NamedNode

from prism_rdf import promoting
from prism_rdf.clock import Instant, TimeInput
from prism_rdf.errors import AmbiguousError, BadArgument, NotFoundError, RefusedError
from prism_rdf.model import Intent, Ruling, Withdrawal
from prism_rdf.namespaces import prism
from prism_rdf.proposals import Setting, candidate_json, in_words
from prism_rdf.reading import ReadingVerbs
from prism_rdf.review.queue import (
    CLASSES,
    KnownCandidate,
    about_entity,
    by_prefix,
    queue,
    read_candidate,
)
from prism_rdf.statements import node_named
from prism_rdf.storage.about import about

STATUSES = ("pending", "promoted", "rejected", "withdrawn")
Decision = Choice["promote", "reject", "undo"]
_BECOMES: Mapping[str, Choice["promoted", "rejected", "pending"]] = {
    "promote": "promoted",
    "reject": "rejected",
    "undo": "pending",
}
_PREFIX = re.compile(r"[0-9a-f-]{4,35}")


class ReviewingVerbs(ReadingVerbs):
    """The verbs of review. A candidate is named by its uuid, its IRI, or enough of the beginning of its uuid."""

    def list_candidates(
        self,
        kind: Choice["fact", "alias", "reference"] | None = None,
        status: str | None = "pending",
        entity: str | None = None,
        *,
        known_at: TimeInput | int | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> dict[str, Any]:
        """Return what was guessed, the longest waiting first: ``{"candidates", "total", "cursor"}``.

        ``status`` is pending, promoted, rejected or withdrawn (no clue speaks for it any more); None: any. Each has
        what it proposes in words and in parts, ``valid_from``, ``valid_until``, ``confidence`` (the noisy-or over
        independent sources), ``clues``, ``rulings``, and what is ``believed`` of the same now. ``cursor`` is the uuid
        after which the next page begins; None: that was all. ``known_at``: as the queue stood then.
        """
        _check_listing(kind, status, limit)
        known, at = self.prism.system_time(known_at), None if entity is None else self.resolve(entity)
        waiting = queue(self._store, self.names, kind, status if known is None else None)
        wanted = waiting.keys() if at is None else about_entity(self._store, self.names, at)
        nodes = [node for node in waiting if node in wanted]
        if known is not None:
            stood = ((node, read_candidate(self._store, self.names, node, known)) for node in nodes)
            nodes = [node for node, found in stood if found is not None and status in (None, found.status)]
        rest = nodes
        if cursor is not None:  # it may have left the queue since
            last = self._known(self._candidate_named(cursor), None)
            rest = [node for node in nodes if (waiting[node], node.value) > (last.recorded_at, last.node.value)]
        found = [read_candidate(self._store, self.names, node, known) for node in rest[:limit]]
        setting = self._setting
        return {
            "candidates": [candidate_json(setting, each) for each in found if each is not None],
            "total": len(nodes),
            "cursor": self.names.uuid_of(rest[limit - 1].value) if len(rest) > limit else None,
        }

    def candidate(self, candidate: str, *, known_at: TimeInput | int | None = None) -> dict[str, Any]:
        """Return one candidate as in ``list_candidates``, with ``misfit``: why it cannot be promoted now, or None.

        Raises NotFoundError; AmbiguousError for too short a beginning of a uuid.
        """
        found = self._known(self._candidate_named(candidate), self.prism.system_time(known_at))
        misfit = None
        try:
            promoting.promotion(self._setting, found, found.proposal)
        except RefusedError as error:
            misfit = error.message
        return {**candidate_json(self._setting, found), "misfit": misfit}

    def review(
        self,
        candidate: str,
        decision: Decision,
        *,
        reviewer: str,
        note: str = "",
        edits: Mapping[str, Any] | None = None,
        idempotency_key: str = "",
    ) -> dict[str, Any]:
        """Rule on a candidate and return ``{"candidate", "status", "applied", …receipt}``.

        ``promote`` writes what it proposes at its own valid time, in the same commit, of tier 3, with the source and
        the cause of the surest clue; ``applied`` is the event, alias or reference. ``edits`` are laid over the proposal
        (by the names that ``list_candidates`` has: value, entity, valid_from, surface_form, target, …); the candidate
        keeps what was guessed. ``reject``: the same guess does not come back. ``undo`` takes the last ruling back, and
        what it applied. Raises RefusedError or ValidationError where it does not fit, with why: it stays pending.
        """
        _check_ruling(decision, reviewer, edits)
        node = self._candidate_named(candidate)

        def intents() -> Sequence[Intent]:
            known = self._known(node, None)
            if decision == "undo":
                return self._taking_back(known, reviewer.strip(), note)
            return self._ruling(known, _BECOMES[decision], reviewer.strip(), note, edits or {})

        payload = [node.value, decision, reviewer, note, dict(edits or {})]
        receipt = self.prism.commit(self.pid, intents, "review", idempotency_key, payload)
        after = self._known(node, None)
        last = after.rulings[-1].ruling if after.rulings else None
        applied = last.applied.value if last is not None and last.applied is not None else None
        return {"candidate": node.value, "status": after.status, "applied": applied, **receipt.as_dict()}

    def _ruling(
        self,
        known: KnownCandidate,
        status: Choice["promoted", "rejected", "pending"],
        reviewer: str,
        note: str,
        edits: Mapping[str, Any],
    ) -> Sequence[Intent]:
        uuid = self.names.uuid_of(known.node.value)
        if known.status != "pending":
            raise RefusedError(
                f"candidate {uuid} is {known.status}, not pending",
                rule="a candidate is ruled on while it is pending",
                mend="undo the ruling first" if known.status != "withdrawn" else "nobody guesses it any more",
                node=known.node.value,
            )
        if status == "rejected":
            return (Ruling(uuid, status, reviewer, note),)
        proposal, edited = promoting.edited(self._setting, known, edits, self.resolve)
        made, node = promoting.promotion(self._setting, known, proposal)
        return (made, Ruling(uuid, status, reviewer, note, edited, node))

    def _taking_back(self, known: KnownCandidate, reviewer: str, note: str) -> Sequence[Intent]:
        uuid = self.names.uuid_of(known.node.value)
        if known.status not in ("promoted", "rejected"):
            raise RefusedError(
                f"there is no ruling on candidate {uuid} to take back",
                rule="undo takes back that a candidate was promoted or rejected",
                mend="promote or reject it",
                node=known.node.value,
            )
        last, ruling = known.rulings[-1], Ruling(uuid, "pending", reviewer, note)
        if last.ruling.applied is None:
            return (ruling,)
        return (Withdrawal(last.ruling.applied, self._owner_of(last.ruling.applied), last.recorded_at), ruling)

    def _owner_of(self, applied: NamedNode) -> str:
        """Return the uuid of the entity whose history, names or references a promotion changed."""
        links = (("temporal", "changes"), ("semantic", "aliasOf"), ("semantic", "referenceSource"))
        found = (about(self._store, applied, self.names.graph(layer)).iri(prism(link)) for layer, link in links)
        return next(self.names.uuid_of(owner.value) for owner in found if owner is not None)

    def _candidate_named(self, text: str) -> NamedNode:
        node = node_named(text, self.names.candidate)
        if node is not None and read_candidate(self._store, self.names, node) is not None:
            return node
        found = by_prefix(self._store, self.names, text) if _PREFIX.fullmatch(text) else []
        if len(found) > 1:
            setting, uuid_of = self._setting, self.names.uuid_of
            known = [self._known(each, None) for each in found[:20]]
            raise AmbiguousError(
                f"{len(found)} candidates begin with {text}",
                candidates=[{"uuid": uuid_of(k.node.value), "why": in_words(setting, k.proposal)} for k in known],
                rule="the beginning of a uuid must mean one candidate",
                mend="give more of it",
            )
        if not found:
            raise NotFoundError(
                f"there is no candidate {text} in {self.pid}",
                rule="a candidate is named by its uuid, its IRI, or at least four characters of its uuid",
                mend="prism review list --status all shows what there is",
                node=text,
            )
        return found[0]

    def _known(self, node: NamedNode, known_at: Instant | None) -> KnownCandidate:
        found = read_candidate(self._store, self.names, node, known_at)
        if found is None:
            raise NotFoundError(
                f"candidate {self.names.uuid_of(node.value)} was not known then",
                rule="a candidate is known since it was first guessed",
                mend="ask for a later time",
                node=node.value,
            )
        return found

    @property
    def _setting(self) -> Setting:
        return Setting(self._store, self.names, self._catalog, self.prism.clock.now())


def _check_listing(kind: str | None, status: str | None, limit: int) -> None:
    if kind is not None and kind not in CLASSES:
        raise BadArgument(
            f"{kind!r} is no kind of candidate", rule=f"it is one of {', '.join(CLASSES)}", mend="say one"
        )
    if status is not None and status not in STATUSES:
        mend = "say one, or None for any"
        raise BadArgument(f"{status!r} is no status", rule=f"it is one of {', '.join(STATUSES)}", mend=mend)
    if limit < 1:
        raise BadArgument(f"a limit of {limit} shows nothing", rule="a limit is 1 or more", mend="leave it out")


def _check_ruling(decision: str, reviewer: str, edits: Mapping[str, Any] | None) -> None:
    if decision not in _BECOMES:
        rule = f"a decision is one of {', '.join(_BECOMES)}"
        raise BadArgument(f"{decision!r} is no decision", rule=rule, mend="say one")
    if not reviewer.strip():
        raise BadArgument("nobody rules", rule="a ruling names its reviewer", mend="say who reviews")
    if edits and decision != "promote":
        raise BadArgument(
            f"one does not {decision} with edits", rule="edits are applied by a promotion", mend="promote"
        )
