"""From what a caller says of a guess to a candidate, and what a receipt says of it; promoting is done elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pyoxigraph import NamedNode

from prism_rdf.canonical.catalog import EntityType
from prism_rdf.clock import Edge, Instant
from prism_rdf.errors import BadArgument
from prism_rdf.model import Assertion, Candidate, Clue, Fact, Receipt
from prism_rdf.namespaces import Names
from prism_rdf.review.candidates import STATUS, candidate_node
from prism_rdf.review.queue import read_candidate
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import GraphReader

AWAITS = "a guess (tier 3): nothing of it is believed until it is promoted (prism review)"


def clue_of(
    tier: int,
    quote: str,
    extractor: str,
    confidence: float | None,
    offsets: Sequence[int] | None,
    why: Sequence[str] = (),
    order: int = 0,
) -> Clue:
    """Return what speaks for a guess; ``why`` are its source, source memory, cause commit and description, or fewer.

    Raises BadArgument where there is a clue and no guess, or it cannot be so.
    """
    if tier == 3 and order:
        raise BadArgument(
            "a guess has no sequence",
            rule="a sequence orders what one source says of one instant; a guess is one statement",
            mend="leave it out",
        )
    if tier != 3 and (quote or extractor or confidence is not None or offsets is not None):
        raise BadArgument(
            f"quote, extractor, confidence and offsets belong to a guess, and this is of tier {tier}",
            rule="tiers 1 and 2 are believed as they are said; a guess is of tier 3",
            mend="say tier 3, or name the source and the cause alone",
        )
    start, end = passage_of(offsets, confidence)
    source, source_memory, cause_commit, note = (*why, "", "", "", "")[:4]
    return Clue(quote, source, start, end, extractor, confidence, source_memory, cause_commit, note)


def passage_of(offsets: Sequence[int] | None, confidence: float | None) -> tuple[int | None, int | None]:
    """Return where a quote begins and ends; raise BadArgument for offsets and a confidence that cannot be so."""
    if confidence is not None and not 0 <= confidence <= 1:
        raise BadArgument(f"a confidence of {confidence} is none", rule="it is from 0 to 1", mend="give 0.8, say")
    return _offsets(offsets)


def _offsets(offsets: Sequence[int] | None) -> tuple[int | None, int | None]:
    if offsets is None:
        return None, None
    if len(offsets) != 2 or not 0 <= offsets[0] < offsets[1]:
        raise BadArgument(
            f"the offsets {list(offsets)} are no passage",
            rule="two numbers: how many characters of the source are before the quote, and up to its end",
            mend="give them as 10, 42",
        )
    return offsets[0], offsets[1]


def facts_of(
    entity: str, said: Iterable[Assertion], start: Edge | None, until: Instant | None, event_type: str
) -> tuple[Fact, ...]:
    """Return what assertions about an entity propose: one fact for each property, so that each is ruled on alone."""
    values: dict[NamedNode, list[Assertion]] = {}
    for each in said:
        values.setdefault(each.property, []).append(each)
    return tuple(_fact(entity, prop, group, start, until, event_type) for prop, group in values.items())


def _fact(
    entity: str,
    prop: NamedNode,
    group: Sequence[Assertion],
    start: Edge | None,
    until: Instant | None,
    event_type: str,
) -> Fact:
    values = tuple(each.value for each in group if each.value is not None)
    return Fact(entity, prop, values, "set" if values else "clear", start, until, event_type)


def assertions_of(fact: Fact, known: EntityType) -> tuple[Assertion, ...]:
    """Return what a fact says once it is believed; raise ValidationError for a property that the type lacks."""
    prop = known.property(fact.property)
    start = fact.at.instant if fact.at else None
    cleared = (Assertion(prop.iri, None, "clear", start, fact.until),)
    if fact.op == "clear":
        return cleared
    if fact.op == "set" and prop.multi:
        return cleared + tuple(Assertion(prop.iri, value, "add", start, fact.until) for value in fact.values)
    return tuple(Assertion(prop.iri, value, fact.op, start, fact.until) for value in fact.values)


def told(store: GraphReader, names: Names, receipt: Receipt, guesses: Sequence[Candidate]) -> Receipt:
    """Return the receipt of guesses: with their candidates, and a note on where each stands."""
    nodes, graph = dict.fromkeys(candidate_node(guess, names) for guess in guesses), names.graph("review")
    stand = {node.value: about(store, node, graph).text(STATUS) for node in nodes}
    known = tuple(node for node, status in stand.items() if status)  # one that was forgotten is not guessed again
    dropped = {candidate_node(guess, names).value for guess in guesses if guess.dropped}
    notes = dict.fromkeys(_note(store, names, NamedNode(node), stand[node]) for node in known if node not in dropped)
    ended = sum(stand[node] == "promoted" for node in dropped & stand.keys())
    if ended:
        notes[f"{ended} promoted before, and said by nobody any more: what a promotion wrote ends there"] = None
    return replace(receipt, candidates=known, notes=(*receipt.notes, *notes))


def _note(store: GraphReader, names: Names, node: NamedNode, status: str) -> str:
    found = read_candidate(store, names, node) if status in ("promoted", "rejected") else None
    if found is None:
        return AWAITS
    last = found.rulings[-1]
    by = f" by {last.ruling.reviewer}" if last.ruling.reviewer else ""
    return f"this was guessed before, and {status}{by} at {last.recorded_at}: it stays so"
