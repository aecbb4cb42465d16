"""The queue as it was at a system time: candidates with what they propose, their clues and rulings; nothing is decided.

A candidate stands where its last ruling put it. As of a system time only the clues and rulings of that time count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any, cast

from pyoxigraph import Literal, NamedNode, QuerySolutions

from prism_rdf.belief import RECORDED_AT, VALID_FROM, VALID_UNTIL, belief_at
from prism_rdf.clock import Edge, Instant
from prism_rdf.model import Alias, Clue, Fact, Op, Reference, Ruling
from prism_rdf.namespaces import PREFIXES, RDF_TYPE, Names
from prism_rdf.review import candidates as says
from prism_rdf.semantic.aliases import ALIAS_KIND, ALIAS_OF, SURFACE_FORM
from prism_rdf.semantic.references import KIND, SOURCE, TARGET
from prism_rdf.storage.about import About, about, subjects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.values import Term

CLASSES = {"fact": says.FACT, "alias": says.ALIAS, "reference": says.REFERENCE}


@dataclass(frozen=True)
class KnownClue:
    """A clue, and since when it is recorded."""

    node: NamedNode
    clue: Clue
    recorded_at: Instant


@dataclass(frozen=True)
class KnownRuling:
    """A ruling, and when it was given."""

    node: NamedNode
    ruling: Ruling
    recorded_at: Instant


@dataclass(frozen=True)
class KnownCandidate:
    """A candidate as it stood at one system time; clues and rulings are in the order of their recording."""

    node: NamedNode
    kind: str
    status: str
    recorded_at: Instant
    proposal: Fact | Alias | Reference
    clues: tuple[KnownClue, ...]
    rulings: tuple[KnownRuling, ...]

    @property
    def confidence(self) -> float | None:
        """Return how sure all the clues are together; see ``combined``."""
        return combined(known.clue for known in self.clues)


def combined(clues: Iterable[Clue]) -> float | None:
    """Return the noisy-or of the confidences, 1 - Π(1 - c), in which each source counts once, by its surest clue.

    Versions of a document (``path@version``) are one source. Clues without a confidence are left out; None: all are.

    >>> combined([Clue(source="a.md@1", confidence=0.5), Clue(source="a.md@2", confidence=0.4), Clue(confidence=0.5)])
    0.75
    """
    surest: dict[str, float] = {}
    for clue in clues:
        if clue.confidence is not None:
            source = clue.source.partition("@")[0] or clue.source_memory
            surest[source] = max(clue.confidence, surest.get(source, 0.0))
    return round(1 - prod(1 - each for each in surest.values()), 6) if surest else None


def read_candidate(
    store: GraphReader, names: Names, node: NamedNode, known_at: Instant | None = None
) -> KnownCandidate | None:
    """Return a candidate as it stood at ``known_at`` (None: now); None for what was no candidate then."""
    graph = names.graph("review")
    found = about(store, node, graph)
    kind = next((name for name, each in CLASSES.items() if found.iri(RDF_TYPE) == each), None)
    recorded_at = found.instant(RECORDED_AT)
    if kind is None or recorded_at is None or (known_at is not None and recorded_at > known_at):
        return None
    clues = tuple(_clues(store, found, graph, known_at))
    rulings = tuple(_rulings(store, found, names, known_at))
    return KnownCandidate(
        node=node,
        kind=kind,
        status=says.standing(rulings[-1].ruling.status if rulings else "", bool(clues)),
        recorded_at=recorded_at,
        proposal=_proposal(found, kind, names),
        clues=clues,
        rulings=rulings,
    )


def _proposal(found: About, kind: str, names: Names) -> Fact | Alias | Reference:
    start, until = found.instant(VALID_FROM), found.instant(VALID_UNTIL)

    def uuid(predicate: NamedNode) -> str:
        return names.uuid_of(_iri(found, predicate).value)

    if kind == "fact":
        precision = cast(Any, found.text(says.PRECISION, "instant"))
        return Fact(
            entity=uuid(says.CANDIDATE_OF),
            property=_iri(found, says.PROPERTY),
            values=tuple(sorted(_terms(found, says.VALUE), key=str)),
            op=cast(Op, found.text(says.OP)),
            at=None if start is None else Edge(start, precision),
            until=until,
            event_type=found.text(says.EVENT_TYPE),
        )
    if kind == "alias":
        alias_kind = cast(Any, found.text(ALIAS_KIND))
        return Alias(uuid(ALIAS_OF), found.text(SURFACE_FORM), alias_kind, 3, start=start, until=until)
    return Reference(uuid(SOURCE), uuid(TARGET), _iri(found, KIND), start, until, 3)


def _iri(found: About, predicate: NamedNode) -> NamedNode:
    iri = found.iri(predicate)
    assert iri is not None, "the shapes see to it"
    return iri


def _terms(found: About, predicate: NamedNode) -> list[Term]:
    return [
        quad.object
        for quad in found.quads
        if quad.predicate == predicate and isinstance(quad.object, (NamedNode, Literal))
    ]


def _clues(store: GraphReader, found: About, graph: NamedNode, known_at: Instant | None) -> list[KnownClue]:
    clues = []
    for node in found.iris(says.CLUE):
        clue = about(store, node, graph)
        belief = belief_at(store, clue, graph, known_at)
        if belief is not None and belief.covers(known_at):
            clues.append(KnownClue(node, _clue(clue), belief.recorded_at))
    return sorted(clues, key=lambda known: (known.recorded_at, known.node.value))


def _clue(clue: About) -> Clue:
    memory, confidence = clue.iri(says.SOURCE_MEMORY), clue.text(says.CONFIDENCE)
    numbers = {name: clue.text(prop) for name, prop in says.CLUE_NUMBERS.items()}
    texts = {name: clue.text(prop) for name, prop in says.CLUE_TEXTS.items()}
    offsets = {name: int(text) if text else None for name, text in numbers.items()}
    return Clue(
        **cast(Any, texts | offsets),
        confidence=float(confidence) if confidence else None,
        source_memory=memory.value if memory else "",
    )


def _rulings(store: GraphReader, found: About, names: Names, known_at: Instant | None) -> list[KnownRuling]:
    rulings = []
    for node in found.iris(says.RULING):
        said = about(store, node, names.graph("review"))
        at = said.instant(RECORDED_AT)
        if at is not None and (known_at is None or at <= known_at):
            rulings.append(KnownRuling(node, _ruling(said, names.uuid_of(found.node.value)), at))
    return sorted(rulings, key=lambda known: (known.recorded_at, known.node.value))


def _ruling(said: About, candidate: str) -> Ruling:
    return Ruling(
        candidate=candidate,
        status=cast(Any, said.text(says.STATUS)),
        reviewer=said.text(says.REVIEWER),
        note=said.text(says.NOTE),
        edited=tuple(sorted(said.texts(says.EDITED))),
        applied=said.iri(says.APPLIED),
    )


def queue(
    store: GraphReader, names: Names, kind: str | None = None, status: str | None = None
) -> dict[NamedNode, Instant]:
    """Return the candidates that are of this kind and stand there now (None: any), the longest waiting first.

    With each comes when it was first guessed.
    """
    classes = [CLASSES[kind]] if kind else list(CLASSES.values())
    stands = f"; prism:candidateStatus {Literal(status)}" if status else ""
    text = f"""SELECT ?node ?at {{ GRAPH {names.graph("review")} {{
        VALUES ?class {{ {" ".join(map(str, classes))} }} ?node a ?class ; prism:recordedAt ?at {stands} }} }}
        ORDER BY ?at ?node"""
    answer = store.query(text, prefixes=PREFIXES)
    assert isinstance(answer, QuerySolutions)
    found = ((row["node"], row["at"]) for row in answer)
    return {
        node: Instant.parse(at.value) for node, at in found if isinstance(node, NamedNode) and isinstance(at, Literal)
    }


def about_entity(store: GraphReader, names: Names, entity: NamedNode) -> set[NamedNode]:
    """Return the candidates that are about an entity, as what changes, what is named, or as either end."""
    graph = names.graph("review")
    links = (says.CANDIDATE_OF, ALIAS_OF, SOURCE, TARGET)
    return {node for link in links for node in subjects(store, link, entity, graph)}


def promotion_of(
    store: GraphReader, names: Names, applied: NamedNode, known_at: Instant | None = None
) -> tuple[KnownCandidate, KnownRuling] | None:
    """Return the candidate whose promotion wrote a node, with that ruling; None for what was said directly."""
    graph = names.graph("review")
    for ruling in subjects(store, says.APPLIED, applied, graph):
        for node in subjects(store, says.RULING, ruling, graph):
            found = read_candidate(store, names, node, known_at)
            known = next((each for each in found.rulings if each.node == ruling), None) if found else None
            if found is not None and known is not None:
                return found, known
    return None


def by_prefix(store: GraphReader, names: Names, start: str) -> list[NamedNode]:
    """Return the candidates whose uuid begins so."""
    beginning = names.candidate(start).value
    found = (node for kind in CLASSES.values() for node in subjects(store, RDF_TYPE, kind, names.graph("review")))
    return sorted((node for node in found if node.value.startswith(beginning)), key=lambda node: node.value)
