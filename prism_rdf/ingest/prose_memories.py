"""What the text of a memory states, as candidates; who is meant is asked, and documents are read in prose_guesses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from pyoxigraph import Literal, NamedNode

from prism_rdf.clock import Edge, Instant, start_of
from prism_rdf.ingest.prose import EXTRACTOR, Called, Changed, Related, findings
from prism_rdf.ingest.prose_sentences import Named
from prism_rdf.model import Alias, Candidate, Clue, Fact, Memory, Reference
from prism_rdf.namespaces import prism


class Knowing(Protocol):
    """A project that knows who bears a name, and what a property of an entity holds."""

    def bearer_uuid(self, identifier: str, at: Instant) -> str | None: ...

    def property_held(self, uuid: str, name: str, at: Instant) -> tuple[NamedNode | None, tuple[str, ...]]: ...


def guessed_in(memory: Memory, node: NamedNode, project: Knowing, *, undated: bool = False) -> tuple[Candidate, ...]:
    """Return what the text of a memory states of entities that are known; ``node`` is its IRI.

    *This decision* is the one that it is ``about``, if it is about one alone. With ``undated`` nobody said when it was
    said, so the same guess from another memory is the same candidate.
    """
    at = memory.created_at
    start = None if undated else at

    def meant(named: Named, name: str = "") -> str | None:
        if name or named.identifier:
            return project.bearer_uuid(name or named.identifier, at)
        return memory.about[0] if named == Named() and len(memory.about) == 1 else None

    def made() -> Iterator[Candidate]:
        for found in findings(memory.content, "markdown"):
            quote = found.quote
            clue = Clue(quote.words, memory.source, quote.start, quote.end, EXTRACTOR, quote.confidence, node.value)
            if isinstance(found, Related):
                ends = meant(found.source), meant(found.target)
                if ends[0] and ends[1] and ends[0] != ends[1]:
                    reference = Reference(ends[0], ends[1], prism(found.kind), start, None, 3, memory.source)
                    yield Candidate(reference, clue, undated)
            elif isinstance(found, Changed):
                uuid = meant(found.document)
                prop, held = project.property_held(uuid, "status", at) if uuid else (None, ())
                if uuid and prop is not None and found.status not in held:
                    when = start_of(found.when) if found.when else None if undated else Edge(at)
                    values = (Literal(found.status),)
                    fact = Fact(uuid, prop, values, "set", when, None, "status_transition")
                    yield Candidate(fact, clue, undated and when is None)
            elif isinstance(found, Called):
                uuid = meant(found.document, found.name)
                if uuid and found.form and project.bearer_uuid(found.form, at) is None:
                    until = None if undated else at
                    yield Candidate(Alias(uuid, found.form, "former", 3, node.value, memory.source, until=until), clue)

    return tuple(dict.fromkeys(made()))
