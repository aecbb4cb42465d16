"""What a candidate proposes, and what is believed of the same matter, in words; nothing is decided here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from pyoxigraph import NamedNode

from prism_rdf.answers import entity_json, identifier_now, iso, value_json
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.clock import Instant
from prism_rdf.model import RETIRED, Alias, Fact, Reference
from prism_rdf.namespaces import Names, local_name
from prism_rdf.naming import bearers
from prism_rdf.review.candidates import interval_of
from prism_rdf.review.queue import KnownCandidate, KnownClue, KnownRuling
from prism_rdf.semantic.references import references
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.events import read_stated
from prism_rdf.temporal.fold import Piece, Stated, edge, fold, instant

Proposal = Fact | Alias | Reference


@dataclass(frozen=True)
class Setting:
    """In what a candidate is seen and judged: the store, whose names, the types, and the time now."""

    store: GraphReader
    names: Names
    catalog: TypeCatalog
    now: Instant

    def called(self, entity: NamedNode) -> str:
        """Return what an entity is called now; its uuid where it has no name."""
        called = identifier_now(self.store, self.names, entity, self.now)
        return called or self.names.uuid_of(entity.value)

    def stated(self, uuid: str) -> tuple[Stated, ...]:
        """Return what is believed to have been stated of an entity."""
        return read_stated(self.store, self.names.entity(uuid), self.names.graph("temporal"))


def in_words(setting: Setting, proposal: Proposal) -> str:
    """Return what is proposed as one line, in the names of now."""
    names = setting.names
    if isinstance(proposal, Fact):
        said = ", ".join(_value_text(setting, value) for value in proposal.values) or "nothing"
        how = {"set": "=", "clear": "=", "add": "gains", "remove": "loses"}[proposal.op]
        return f"{setting.called(names.entity(proposal.entity))}: {local_name(proposal.property.value)} {how} {said}"
    if isinstance(proposal, Alias):
        how = "formerly called" if proposal.kind == "former" else "also called"
        return f"{setting.called(names.entity(proposal.target))}: {how} {proposal.surface_form}"
    ends = [setting.called(names.entity(uuid)) for uuid in (proposal.source, proposal.target)]
    return f"{ends[0]} {local_name(proposal.kind.value)} {ends[1]}"


def _value_text(setting: Setting, value: Any) -> str:
    shown = value_json(setting.store, setting.names, value, setting.now)
    return str(shown.get("identifier") or shown["ref"]) if isinstance(shown, Mapping) else str(shown)


def candidate_json(setting: Setting, known: KnownCandidate) -> dict[str, Any]:
    """Return a candidate with all that speaks for it and was decided about it, and what is believed of the same."""
    start, until = interval_of(known.proposal)
    return {
        "candidate": known.node.value,
        "uuid": setting.names.uuid_of(known.node.value),
        "kind": known.kind,
        "status": known.status,
        "proposal": in_words(setting, known.proposal),
        **_parts(setting, known.proposal),
        "valid_from": iso(start),
        "valid_until": iso(until),
        "recorded_at": iso(known.recorded_at),
        "confidence": known.confidence,
        "clues": [_clue_json(each) for each in known.clues],
        "rulings": [_ruling_json(each) for each in known.rulings],
        "believed": believed(setting, known.proposal),
    }


def _parts(setting: Setting, proposal: Proposal) -> dict[str, Any]:
    """Return what is proposed by the names by which it can be edited."""

    def ref(uuid: str) -> dict[str, Any]:
        return entity_json(setting.store, setting.names, setting.names.entity(uuid), setting.now)

    if isinstance(proposal, Fact):
        values = [value_json(setting.store, setting.names, value, setting.now) for value in proposal.values]
        value = values[0] if len(values) == 1 else values or None
        name = local_name(proposal.property.value)
        return {"entity": ref(proposal.entity), "property": name, "value": value, "op": proposal.op}
    if isinstance(proposal, Alias):
        named = {"surface_form": proposal.surface_form, "alias_kind": proposal.kind}
        return {"entity": ref(proposal.target), **named}
    kind = local_name(proposal.kind.value)
    return {"source": ref(proposal.source), "reference_kind": kind, "target": ref(proposal.target)}


def _clue_json(known: KnownClue) -> dict[str, Any]:
    clue = known.clue
    return {
        "quote": clue.quote or None,
        "source": clue.source or None,
        "start_offset": clue.start_offset,
        "end_offset": clue.end_offset,
        "extractor": clue.extractor or None,
        "confidence": clue.confidence,
        "cause_memory": clue.source_memory or None,
        "cause_commit": clue.cause_commit or None,
        "description": clue.note or None,
        "recorded_at": iso(known.recorded_at),
    }


def _ruling_json(known: KnownRuling) -> dict[str, Any]:
    ruling = known.ruling
    return {
        "status": ruling.status,
        "reviewer": ruling.reviewer or None,
        "note": ruling.note or None,
        "edited": list(ruling.edited),
        "applied": ruling.applied.value if ruling.applied else None,
        "recorded_at": iso(known.recorded_at),
    }


def believed(setting: Setting, proposal: Proposal, most: int = 5) -> list[str]:
    """Return in lines what is believed of the same: of the property over that time, the name, or the relation."""
    if isinstance(proposal, Fact):
        lines = _held(setting, proposal)
    elif isinstance(proposal, Alias):
        lines = _borne(setting, proposal)
    else:
        lines = _alike(setting, proposal)
    return lines[:most]


def _held(setting: Setting, fact: Fact) -> list[str]:
    own = [each for each in setting.stated(fact.entity) if each.prop in (fact.property, RETIRED)]
    lines = []
    for piece in within(fold(own), *interval_of(fact)):
        values = ", ".join(_value_text(setting, value) for value in piece.props.get(fact.property, ()))
        if values and not piece.void:
            when = _when(instant(piece.start), instant(piece.until))
            lines.append(f"{local_name(fact.property.value)} = {values}, {when}")
    return lines


def _borne(setting: Setting, alias: Alias) -> list[str]:
    found = bearers(setting.store, setting.names, alias.surface_form, setting.catalog.identifying)
    return [
        f"{each.form}: {each.how} of {setting.called(each.entity)}, {_when(each.start, each.until)}" for each in found
    ]


def _alike(setting: Setting, reference: Reference) -> list[str]:
    source, target = (setting.names.entity(uuid) for uuid in (reference.source, reference.target))
    lines = []
    for known in references(setting.store, setting.names, source):
        if known.kind == reference.kind or known.target == target:
            said = f"{setting.called(source)} {local_name(known.kind.value)} {setting.called(known.target)}"
            lines.append(f"{said}, {_when(known.valid_from, known.valid_until)}")
    return lines


def within(pieces: Iterable[Piece], start: Instant | None, until: Instant | None) -> list[Piece]:
    """Return the pieces that overlap [start, until)."""
    low, high = edge(start, -inf), edge(until, inf)
    return [piece for piece in pieces if piece.start < high and low < piece.until]


def _when(start: Instant | None, until: Instant | None) -> str:
    return f"{iso(start) or 'unknown'} → {iso(until) or 'open'}"
