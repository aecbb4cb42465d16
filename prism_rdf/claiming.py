"""The verbs of evidence: who says so, who says otherwise, and how a claim stands; nothing here changes a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from pyoxigraph import NamedNode

from prism_rdf.answers import iso
from prism_rdf.clock import Edge, TimeInput
from prism_rdf.errors import BadArgument
from prism_rdf.evidence.claims import claimed_entities
from prism_rdf.evidence.grounding import WORST_FIRST, known_status
from prism_rdf.guessing import passage_of
from prism_rdf.model import Clue, Evidence, Receipt, Stance, Tier
from prism_rdf.reviewing import ReviewingVerbs
from prism_rdf.statements import assertions, begin, check_order, end, memory_named
from prism_rdf.tiers import claimed
from prism_rdf.values import Term, Value
from prism_rdf.weighing import Weighing

_SIDES: tuple[Stance, ...] = get_args(Stance)


class ClaimingVerbs(ReviewingVerbs):
    """The verbs of a project that have to do with evidence."""

    def claim(
        self,
        entity: str,
        property: str,
        value: Value,
        *,
        stance: Stance = "supports",
        quote: str = "",
        source: str = "",
        memory: str = "",
        offsets: Sequence[int] | None = None,
        confidence: float | None = None,
        tier: Tier | None = None,
        valid_from: TimeInput | None = None,
        valid_until: TimeInput | None = None,
        idempotency_key: str = "",
    ) -> Receipt:
        """Record what a source says for or against the claim that a property has a value.

        It is so over [valid_from, valid_until), without times always. ``quote`` are its words, at ``offsets`` of the
        ``source``; ``memory`` is where they were read; ``confidence`` is how sure it is, from 0 to 1. The state
        stays as it is, whatever is claimed.
        Raises BadArgument where nothing says where it comes from, ValidationError for a value that does not fit.
        """
        if stance not in _SIDES:
            raise BadArgument(
                f"evidence does not {stance!r} a claim", rule=f"it {' or '.join(_SIDES)} it", mend="say one of the two"
            )
        if not (quote.strip() or source.strip() or memory):
            raise BadArgument(
                "this claim comes from nowhere",
                rule="evidence says who says so: a source, the words quoted, or the memory they are in",
                mend="give source, quote or memory",
            )
        by, meant = claimed(tier, self.prism.tier), self.who(entity)[0]
        start, until = begin(valid_from), end(valid_until)
        check_order(start, until)
        passage = passage_of(offsets, confidence)
        clue = Clue(quote, source, *passage, confidence=confidence, source_memory=memory_named(self.names, memory))
        prop, term = self._meant(meant.entity, property, value)
        uuid = self.names.uuid_of(meant.entity.value)
        intent = Evidence(uuid, prop, term, clue, stance, by, start, until)
        payload = [meant.entity.value, property, str(term), stance, quote, source, memory, valid_from, valid_until]
        return self._noted(self.prism.commit(self.pid, lambda: (intent,), "claim", idempotency_key, payload), meant)

    @property
    def _weighing(self) -> Weighing:
        return Weighing(self._store, self.names, self._catalog)

    def _meant(self, entity: NamedNode, property: str, value: Value) -> tuple[NamedNode, Term]:
        """Return the property and the value as terms, a reference resolved; raise BadArgument for several values."""
        now = Edge(self.prism.clock.now())
        found = assertions(self._type_of(entity), {property: value}, now, None, self.resolve)
        values = [each.value for each in found if each.value is not None]
        if len(values) != 1:
            raise BadArgument("a claim has one value", rule="each value is a claim of its own", mend="give one value")
        return found[0].property, values[0]

    def evidence(
        self,
        entity: str,
        property: str | None = None,
        as_of: TimeInput | None = None,
        known_at: TimeInput | int | None = None,
        status: str | None = None,
    ) -> dict[str, Any]:
        """Return how each claim about an entity stands at ``as_of`` (default now), and all that is said on both sides.

        ``{"entity", "uuid", "identifier", "as_of", "known_at", "claims"}``; a claim is ``{"property", "value",
        "status", "flag", "support", "contradiction", "sources", "for", "against"}``, worst first. The state that holds
        counts as said by the source of its event; of a single-valued property, what speaks for another value speaks
        against this one.
        ``flag`` is current where the state says so, historical where an earlier one did, else null. The formula is in
        docs/evidence.md. ``status`` limits it to one. Raises BadArgument for an unknown status.
        """
        node, wanted = self.resolve(entity, as_of, known_at), status and known_status(status)
        at, known = self._at(as_of), self.prism.system_time(known_at)
        prop = self._type_of(node).property(property).iri if property else None
        claims = [
            each for each in self._weighing.claims(node, at, known, prop) if wanted is None or each["status"] == wanted
        ]
        return {
            "entity": node.value,
            "uuid": self.names.uuid_of(node.value),
            "identifier": self._called(node, at),
            "as_of": at.iso(),
            "known_at": iso(known),
            "claims": claims,
        }

    def list_claims(
        self,
        status: str | None = None,
        as_of: TimeInput | None = None,
        known_at: TimeInput | int | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """Return how all claims stand that evidence was recorded about, worst first; as in ``evidence``.

        Each has ``"entity"``, ``"uuid"`` and ``"identifier"`` besides, and not the statements. Raises BadArgument for
        an unknown status.
        """
        wanted = status and known_status(status)
        at, known = self._at(as_of), self.prism.system_time(known_at)
        found = []
        for node in claimed_entities(self._store, self.names):
            whose = {"entity": node.value, "uuid": self.names.uuid_of(node.value), "identifier": self._called(node, at)}
            for claim in self._weighing.claims(node, at, known):
                if claim["sources"]["evidence"] and (wanted is None or claim["status"] == wanted):
                    found.append({**whose, **{key: claim[key] for key in claim if key not in ("for", "against")}})
        found.sort(key=lambda each: (WORST_FIRST.index(each["status"]), str(each["identifier"]), each["property"]))
        return found[:limit]
