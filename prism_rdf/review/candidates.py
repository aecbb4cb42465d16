"""The planner of the review graph: guesses, rulings and what follows from a withdrawal; believing is done elsewhere.

A candidate is named by what it proposes, so the same guess from several sources is one candidate with several clues.
The last ruling decides. When what a promotion wrote ceases to be believed, by a revert or a retraction, the candidate
is pending again; when no clue speaks for it any more, it is withdrawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import (
    RECORDED_AT,
    VALID_FROM,
    VALID_UNTIL,
    Delta,
    Writing,
    belief_of,
    record,
    revise,
    take_back,
    withdraw,
)
from prism_rdf.canonical.entities import type_of
from prism_rdf.clock import Instant
from prism_rdf.errors import NotFoundError, UnknownEntity
from prism_rdf.model import Alias, Candidate, Clue, Fact, Intent, Reference, Ruling, Withdrawal
from prism_rdf.namespaces import RDF_TYPE, Names, derived_uuid, prism
from prism_rdf.semantic.aliases import ALIAS_KIND, ALIAS_OF, FOLDED_FORM, SURFACE_FORM, folded
from prism_rdf.semantic.references import KIND, SOURCE, TARGET, reference_at
from prism_rdf.storage.about import about, objects, subjects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.storage.overlay import Overlay
from prism_rdf.values import Term, canonical_term, instant_literal

FACT, ALIAS, REFERENCE = prism("FactCandidate"), prism("AliasCandidate"), prism("ReferenceCandidate")
STATUS = prism("candidateStatus")
CLUE = prism("clue")
RULING = prism("ruling")
APPLIED = prism("applied")
CANDIDATE_OF = prism("candidateOf")
PROPERTY = prism("property")
VALUE = prism("value")
OP = prism("op")
EVENT_TYPE = prism("eventType")
PRECISION = prism("atPrecision")
REVIEWER = prism("reviewer")
NOTE = prism("note")
EDITED = prism("edited")
SOURCE_MEMORY = prism("sourceMemory")
CLUE_TEXTS = {
    "quote": prism("quote"),
    "source": prism("source"),
    "extractor": prism("extractor"),
    "cause_commit": prism("causeCommit"),
    "note": NOTE,
}
CLUE_NUMBERS = {"start_offset": prism("startOffset"), "end_offset": prism("endOffset")}
CONFIDENCE = prism("confidence")

_CLUE_CLASS, _RULING_CLASS = prism("Clue"), prism("Ruling")
_UNDATED = "undated"


def entities_of(proposal: Fact | Alias | Reference) -> tuple[str, ...]:
    """Return the uuids of the entities that a proposal is about."""
    if isinstance(proposal, Fact):
        return (proposal.entity,)
    return (proposal.target,) if isinstance(proposal, Alias) else (proposal.source, proposal.target)


def candidate_node(candidate: Candidate, names: Names) -> NamedNode:
    """Return the candidate's IRI, which follows from what it proposes, for which time; names are compared folded.

    What its source dropped is the same as before that.
    """
    proposal = candidate.proposal
    start, until = interval_of(proposal)
    until = None if candidate.dropped else until
    when = (_UNDATED if candidate.undated else _text(start), _text(until))
    if isinstance(proposal, Fact):
        values = sorted(str(canonical_term(value)) for value in proposal.values)
        what = ("fact", proposal.entity, proposal.property.value, proposal.op, *when, *values)
    elif isinstance(proposal, Alias):
        what = ("alias", proposal.target, folded(proposal.surface_form), proposal.kind, *when)
    else:
        what = ("reference", proposal.source, proposal.kind.value, proposal.target, *when)
    return names.candidate(derived_uuid("candidate", *what))


def clue_node(candidate: Candidate, names: Names) -> NamedNode:
    """Return the IRI of the candidate's clue, which follows from the passage and who read it, however sure it is."""
    clue = candidate.clue
    where = (clue.source, str(clue.start_offset), str(clue.end_offset), clue.source_memory, clue.cause_commit)
    return names.clue(
        derived_uuid("clue", candidate_node(candidate, names).value, clue.quote, *where, clue.extractor, clue.note)
    )


def interval_of(proposal: Fact | Alias | Reference) -> tuple[Instant | None, Instant | None]:
    """Return since when and until when a proposal would hold."""
    if isinstance(proposal, Fact):
        return (proposal.at.instant if proposal.at else None, proposal.until)
    return (proposal.start, proposal.until)


def _text(instant: Instant | None) -> str:
    return instant.iso() if instant else ""


def plan_review(store: GraphReader, change: Delta, intents: Sequence[Intent], writing: Writing) -> Delta:
    """Return what the intents do to the review graph, beside the ``change`` that they make of the other layers.

    Raises UnknownEntity for a guess about nothing, NotFoundError for a ruling about nothing.
    """
    guesses = [each for each in intents if isinstance(each, Candidate)]
    withdrawals = [each for each in intents if isinstance(each, Withdrawal)]
    rulings = [each for each in intents if isinstance(each, Ruling)]
    if not guesses and not withdrawals and not rulings:
        return Delta()
    names, graph = writing.names, writing.names.graph("review")
    after = Overlay(store, change.adds, change.removes)
    _check_entities(after, guesses, names)
    delta = _guessed(store, guesses, writing) + _unclued(store, withdrawals, writing)
    ruled = {names.candidate(ruling.candidate): ruling for ruling in rulings}
    _check_candidates(Overlay(store, delta.adds, delta.removes), ruled, graph)
    for node in _reopened(store, after, withdrawals, names):
        ruled.setdefault(node, Ruling(names.uuid_of(node.value), "pending"))
    delta += Delta.joined(Delta(_ruling_quads(node, ruling, writing)) for node, ruling in ruled.items())
    concerned = {candidate_node(each, names): None for each in guesses} | dict.fromkeys(ruled)
    concerned |= {node: None for each in withdrawals for node in subjects(store, CLUE, each.node, graph)}
    return delta + _restanding(store, Overlay(store, delta.adds, delta.removes), concerned, graph)


def dropped_promotions(store: GraphReader, intents: Iterable[Intent], names: Names) -> Iterator[Reference]:
    """Yield the references that were promoted and that nobody says any more, with the end that they have therefore.

    One that has an end, or whose end a reviewer chose, keeps it. What is said again later is another guess.
    """
    graph = names.graph("review")
    for guess in (each for each in intents if isinstance(each, Candidate) and each.dropped):
        last, until = last_ruling(store, candidate_node(guess, names), graph), interval_of(guess.proposal)[1]
        ruling = about(store, last, graph) if last is not None else None
        if ruling is None or ruling.text(STATUS) != "promoted" or Literal("valid_until") in ruling.terms(EDITED):
            continue
        for applied in ruling.iris(APPLIED):
            held = reference_at(store, names, applied)
            if held is None or held.until is not None or until is None or (held.start and held.start >= until):
                continue
            yield replace(held, until=until)


def _check_entities(after: GraphReader, guesses: Iterable[Candidate], names: Names) -> None:
    for uuid in dict.fromkeys(uuid for guess in guesses for uuid in entities_of(guess.proposal)):
        if type_of(after, names, names.entity(uuid)) is None:
            raise UnknownEntity(
                f"there is no entity {uuid} in {names.namespace}",
                rule="a guess is about an entity of the same project",
                mend="make it first, or check the identifier (prism entities lists them)",
                node=uuid,
            )


def _check_candidates(after: GraphReader, ruled: Iterable[NamedNode], graph: NamedNode) -> None:
    for node in ruled:
        if not about(after, node, graph).quads:
            raise NotFoundError(
                f"there is no candidate {node.value}",
                rule="a ruling is about a candidate of the same project",
                mend="prism review list --status all shows what there is",
                node=node.value,
            )


def _guessed(store: GraphReader, guesses: Iterable[Candidate], writing: Writing) -> Delta:
    names, graph = writing.names, writing.names.graph("review")
    parts: list[Delta] = []
    seen: set[NamedNode] = set()
    for guess in sorted(guesses, key=lambda guess: not guess.dropped):
        node, clue = candidate_node(guess, names), clue_node(guess, names)
        known = about(store, node, graph)
        if node not in seen and not known.quads:
            parts.append(Delta(tuple(_candidate_quads(node, guess, writing))))
        elif node not in seen and guess.dropped and known.instant(VALID_UNTIL) is None:
            until = interval_of(guess.proposal)[1]
            parts.append(Delta((Quad(node, VALID_UNTIL, instant_literal(until), graph),)) if until else Delta())
        if clue not in seen:
            parts.append(Delta((Quad(node, CLUE, clue, graph),)) if _is_new(store, node, clue, graph) else Delta())
            parts.append(_clue(store, clue, guess.clue, writing))
        seen |= {node, clue}
    return Delta.joined(parts)


def _is_new(store: GraphReader, node: NamedNode, clue: NamedNode, graph: NamedNode) -> bool:
    return next(store.quads_for_pattern(node, CLUE, clue, graph), None) is None


def _candidate_quads(node: NamedNode, guess: Candidate, writing: Writing) -> Iterator[Quad]:
    graph, proposal = writing.names.graph("review"), guess.proposal
    start, until = interval_of(proposal)
    said: list[tuple[NamedNode, Term]] = [(RECORDED_AT, instant_literal(writing.now))]
    if guess.undated or start is not None:
        said.append((VALID_FROM, instant_literal(writing.now if start is None else start)))
    if until is not None:
        said.append((VALID_UNTIL, instant_literal(until)))
    yield from (
        Quad(node, predicate, value, graph) for predicate, value in (*said, *_proposed(proposal, writing.names))
    )


def _proposed(proposal: Fact | Alias | Reference, names: Names) -> Iterator[tuple[NamedNode, Term]]:
    if isinstance(proposal, Fact):
        yield from ((RDF_TYPE, FACT), (CANDIDATE_OF, names.entity(proposal.entity)), (PROPERTY, proposal.property))
        yield from ((VALUE, canonical_term(value)) for value in dict.fromkeys(proposal.values))
        yield from ((OP, Literal(proposal.op)), (EVENT_TYPE, Literal(proposal.event_type)))
        if proposal.at is not None and proposal.at.precision != "instant":
            yield PRECISION, Literal(proposal.at.precision)
    elif isinstance(proposal, Alias):
        yield from ((RDF_TYPE, ALIAS), (ALIAS_OF, names.entity(proposal.target)), (ALIAS_KIND, Literal(proposal.kind)))
        yield SURFACE_FORM, Literal(proposal.surface_form)
        yield FOLDED_FORM, Literal(folded(proposal.surface_form))
    else:
        yield from ((RDF_TYPE, REFERENCE), (SOURCE, names.entity(proposal.source)), (KIND, proposal.kind))
        yield TARGET, names.entity(proposal.target)


def _clue(store: GraphReader, node: NamedNode, clue: Clue, writing: Writing) -> Delta:
    graph = writing.names.graph("review")
    belief = belief_of(about(store, node, graph))
    if belief is not None:
        return revise(node, graph, belief, None, writing)
    said: list[tuple[NamedNode, Term]] = [(RDF_TYPE, _CLUE_CLASS)]
    said += [(prop, Literal(text)) for name, prop in CLUE_TEXTS.items() if (text := getattr(clue, name))]
    said += [(prop, Literal(at)) for name, prop in CLUE_NUMBERS.items() if (at := getattr(clue, name)) is not None]
    if clue.confidence is not None:
        said.append((CONFIDENCE, Literal(float(clue.confidence))))
    if clue.source_memory:
        said.append((SOURCE_MEMORY, NamedNode(clue.source_memory)))
    quads = tuple(Quad(node, predicate, value, graph) for predicate, value in said)
    return Delta(quads + record(node, graph, None, writing))


def _unclued(store: GraphReader, withdrawals: Iterable[Withdrawal], writing: Writing) -> Delta:
    """Return what ends the clues among what is withdrawn."""
    graph = writing.names.graph("review")
    parts: list[Delta] = []
    for each in withdrawals:
        node = about(store, each.node, graph)
        belief = belief_of(node)
        if belief is None or belief.withdrawn_at is not None or node.iri(RDF_TYPE) != _CLUE_CLASS:
            continue
        said_at = each.said_at
        parts.append(
            withdraw(each.node, graph, writing) if said_at is None else take_back(store, node, graph, said_at, writing)
        )
    return Delta.joined(parts)


def _reopened(
    store: GraphReader, after: GraphReader, withdrawals: Iterable[Withdrawal], names: Names
) -> Iterator[NamedNode]:
    """Yield the candidates whose last ruling is taken back, or wrote what is not believed ``after`` the change."""
    graph = names.graph("review")
    for each in withdrawals:
        ended = [] if is_believed(after, each.node, names) else list(subjects(store, APPLIED, each.node, graph))
        if about(store, each.node, graph).iri(RDF_TYPE) == _RULING_CLASS:
            ended.append(each.node)
        for ruling in ended:
            for node in subjects(store, RULING, ruling, graph):
                if ruling == last_ruling(store, node, graph) and _says(store, ruling, graph) != "pending":
                    yield node


def is_believed(store: GraphReader, node: NamedNode, names: Names) -> bool:
    """Return whether an event, an alias or a reference is believed."""
    beliefs = (belief_of(about(store, node, names.graph(layer))) for layer in ("temporal", "semantic"))
    return any(belief is not None and belief.withdrawn_at is None for belief in beliefs)


def last_ruling(store: GraphReader, node: NamedNode, graph: NamedNode) -> NamedNode | None:
    """Return the ruling that decides about a candidate; None when there is none."""
    rulings = (about(store, ruling, graph) for ruling in objects(store, node, RULING, graph))
    dated = [(each.instant(RECORDED_AT) or Instant(0), each.node.value) for each in rulings]
    return NamedNode(max(dated)[1]) if dated else None


def standing(last: str, clued: bool) -> str:
    """Return where a candidate stands by what its last ruling says (empty: none) and whether a clue speaks for it."""
    if last in ("promoted", "rejected"):
        return last
    return "pending" if clued else "withdrawn"


def _says(store: GraphReader, node: NamedNode, graph: NamedNode) -> str:
    return about(store, node, graph).text(STATUS)


def _ruling_quads(node: NamedNode, ruling: Ruling, writing: Writing) -> tuple[Quad, ...]:
    names, graph = writing.names, writing.names.graph("review")
    made = names.ruling(derived_uuid("ruling", node.value, str(writing.number)))
    said: list[tuple[NamedNode, Term]] = [
        (RDF_TYPE, _RULING_CLASS),
        (STATUS, Literal(ruling.status)),
        (RECORDED_AT, instant_literal(writing.now)),
    ]
    said += [(prop, Literal(text)) for prop, text in ((REVIEWER, ruling.reviewer), (NOTE, ruling.note)) if text]
    said += [(EDITED, Literal(name)) for name in ruling.edited]
    if ruling.applied is not None:
        said.append((APPLIED, ruling.applied))
    return (Quad(node, RULING, made, graph), *(Quad(made, predicate, value, graph) for predicate, value in said))


def _restanding(store: GraphReader, after: Overlay, candidates: Iterable[NamedNode], graph: NamedNode) -> Delta:
    """Return what makes the stored status of the candidates right, as they will be ``after`` the change."""
    parts: list[Delta] = []
    for node in candidates:
        last = last_ruling(after, node, graph)
        clues = (belief_of(about(after, clue, graph)) for clue in objects(after, node, CLUE, graph))
        clued = any(belief is not None and belief.withdrawn_at is None for belief in clues)
        now = Quad(node, STATUS, Literal(standing(_says(after, last, graph) if last else "", clued)), graph)
        before = tuple(store.quads_for_pattern(node, STATUS, None, graph))
        parts.append(Delta() if before == (now,) else Delta((now,), before))
    return Delta.joined(parts)
