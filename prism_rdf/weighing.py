"""How claims stand at a time, with all that is said on both sides: evidence and states brought together to be weighed.

The formula is in evidence/grounding.py; nothing is recorded here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyoxigraph import NamedNode

from prism_rdf import explaining
from prism_rdf.answers import iso, value_json
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.entities import type_of
from prism_rdf.clock import Instant
from prism_rdf.evidence.claims import KnownEvidence, evidence_about, evidence_citing
from prism_rdf.evidence.grounding import WORST_FIRST, Said, ground, independent
from prism_rdf.namespaces import Names, local_name
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.events import read_stated
from prism_rdf.temporal.fold import Stated
from prism_rdf.temporal.read import sealed_at, snapshot, states_of
from prism_rdf.values import Term

Claim = tuple[NamedNode, Term]


@dataclass(frozen=True)
class _Statement:
    """Something for or against a claim, as it weighs and as it is shown."""

    said: Said
    shown: dict[str, Any]


@dataclass(frozen=True)
class Weighing:
    """Weighs the claims of one project."""

    store: GraphReader
    names: Names
    catalog: TypeCatalog

    def claims(
        self, node: NamedNode, at: Instant, known: Instant | None, only: NamedNode | None = None
    ) -> list[dict[str, Any]]:
        """Return how the claims about an entity stand, of one property or of all, with both sides; worst first."""
        statements: defaultdict[Claim, list[_Statement]] = defaultdict(list)
        for evidence in evidence_about(self.store, self.names, node, known):
            if only in (None, evidence.property) and evidence.holds(at):
                statements[evidence.property, evidence.value].append(self._told(evidence))
        held = self._held(node, at, known)
        stated = read_stated(self.store, node, self.names.graph("temporal"), known) if statements else ()
        for prop in {prop for prop, _ in statements}:
            for value, recorded in self._recorded(node, prop, at, known, stated):
                statements[prop, value].append(recorded)
        single = self._single_valued(node)
        flags = self._flags(node, at, held, known)
        found = []
        for (prop, value), said in statements.items():
            others = _for_other_values(statements, prop, value) if prop in single else ()
            found.append(self._claim((prop, value), [*said, *others], flags.get((prop, value)), at))
        return sorted(found, key=lambda each: (WORST_FIRST.index(each["status"]), each["property"], str(each["value"])))

    def _claim(self, claim: Claim, said: Sequence[_Statement], flag: str | None, at: Instant) -> dict[str, Any]:
        grounding = ground(each.said for each in said)
        sides = {
            side: [each.shown for each in said if each.said.stance == stance]
            for side, stance in (("for", "supports"), ("against", "contradicts"))
        }
        return {
            "property": local_name(claim[0].value),
            "value": value_json(self.store, self.names, claim[1], at),
            "status": grounding.status,
            "flag": flag,
            "support": grounding.support,
            "contradiction": grounding.contradiction,
            "sources": {
                "for": grounding.supporting,
                "against": grounding.contradicting,
                "evidence": sum(each["kind"] == "evidence" for side in sides.values() for each in side),
            },
            **sides,
        }

    def _told(self, evidence: KnownEvidence) -> _Statement:
        clue = evidence.clue
        source = independent(clue.source) if clue.source else clue.source_memory or evidence.node.value
        offsets = None if clue.start_offset is None else [clue.start_offset, clue.end_offset]
        shown = {
            "id": evidence.node.value,
            "kind": "evidence",
            "quote": clue.quote,
            "source": clue.source,
            "memory": clue.source_memory or None,
            "offsets": offsets,
            "tier": evidence.tier,
            "confidence": clue.confidence,
            "valid_from": iso(evidence.valid_from),
            "valid_until": iso(evidence.valid_until),
            "recorded_at": iso(evidence.recorded_at),
        }
        return _Statement(Said(evidence.stance, source, evidence.tier, clue.confidence), shown)

    def _held(self, node: NamedNode, at: Instant, known: Instant | None) -> dict[NamedNode, tuple[Term, ...]]:
        state = sealed_at(self.store, self.names, node, at, known)
        return {} if state is None else snapshot(self.store, NamedNode(state.iri))

    def _recorded(
        self, node: NamedNode, prop: NamedNode, at: Instant, known: Instant | None, stated: Iterable[Stated]
    ) -> Iterator[tuple[Term, _Statement]]:
        """Yield what the state says by its events, value by value, as statements of their sources."""
        blamed = explaining.blame(self.store, self.names, node, prop, at, known)
        for event in blamed["events"]:
            source = event["source"] or event["cause_memory"] or event["event"]
            shown = {
                "id": event["event"],
                "kind": "state",
                "quote": event["description"] or "",
                "source": event["source"] or "",
                "memory": event["cause_memory"] or None,
                "offsets": None,
                "tier": event["tier"],
                "confidence": None,
                "valid_from": blamed["since"],
                "valid_until": None,
                "recorded_at": event["recorded_at"],
            }
            said = Said("supports", independent(source), event["tier"])
            values = {each.value for each in stated if each.event == event["event"] and each.prop == prop}
            yield from ((value, _Statement(said, shown)) for value in values if value is not None)

    def _flags(
        self, node: NamedNode, at: Instant, held: dict[NamedNode, tuple[Term, ...]], known: Instant | None
    ) -> dict[Claim, str]:
        """Return of each value that a sealed state held by then whether it is current or historical."""
        flags: dict[Claim, str] = {}
        for state in states_of(self.store, self.names, node, known):
            if state.commit_status == "committed" and (state.valid_from is None or state.valid_from <= at):
                said = snapshot(self.store, NamedNode(state.iri))
                flags |= {(prop, value): "historical" for prop, values in said.items() for value in values}
        return flags | {(prop, value): "current" for prop, values in held.items() for value in values}

    def _single_valued(self, node: NamedNode) -> set[NamedNode]:
        kind = type_of(self.store, self.names, node)
        return set() if kind is None else {prop.iri for prop in self.catalog.type(kind).properties if not prop.multi}

    def status_of_memory(self, memory: str, at: Instant, known: Instant | None) -> str | None:
        """Return the worst status of the claims for which a memory (an IRI) is cited; None where it is for none."""
        cited = evidence_citing(self.store, self.names, NamedNode(memory), known)
        found = {
            claim["status"]
            for entity, prop in {(each.entity, each.property) for each in cited}
            for claim in self.claims(entity, at, known, prop)
            if any(said["memory"] == memory for side in ("for", "against") for said in claim[side])
        }
        return next((status for status in WORST_FIRST if status in found), None)


def _for_other_values(statements: dict[Claim, list[_Statement]], prop: NamedNode, value: Term) -> Iterable[_Statement]:
    """Yield what speaks for another value of a property that has one, as speaking against this value."""
    for (of, other), said in statements.items():
        if of == prop and other != value:
            for each in said:
                if each.said.stance == "supports":
                    against = Said("contradicts", each.said.source, each.said.tier, each.said.confidence)
                    yield _Statement(against, {**each.shown, "says": str(getattr(other, "value", other))})
