"""References: typed, directed, valid for a while; which pairs of types may refer is said by the shapes, not here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from pyoxigraph import Literal, NamedNode, Quad, Triple

from prism_rdf.belief import VALID_FROM, Delta, Writing, belief_at
from prism_rdf.clock import Instant
from prism_rdf.errors import ValidationError, Violation
from prism_rdf.model import Reference, Tier
from prism_rdf.namespaces import RDF_TYPE, Names, derived_uuid, local_name, prism
from prism_rdf.semantic.intervals import plan_interval
from prism_rdf.semantic.successors import SUPERSEDES, Span, way_back
from prism_rdf.storage.about import about, subjects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.storage.overlay import Overlay

SOURCE = prism("referenceSource")
TARGET = prism("referenceTarget")
KIND = prism("referenceKind")


@dataclass(frozen=True)
class KnownReference:
    """A reference as believed at one system time; it holds over [valid_from, valid_until)."""

    node: NamedNode
    source: NamedNode
    target: NamedNode
    kind: NamedNode
    tier: int
    provenance: str
    cause_commit: str
    valid_from: Instant | None
    valid_until: Instant | None

    def holds(self, at: Instant) -> bool:
        began = self.valid_from is None or self.valid_from <= at
        return began and (self.valid_until is None or at < self.valid_until)


def plan_references(store: GraphReader, references: Iterable[Reference], writing: Writing) -> Delta:
    """Return the change that records the references; empty for those already believed.

    Raises ValidationError for those that ``check_references`` refuses.
    """
    wanted = tuple(references)
    delta = Delta.joined(_plan_reference(store, reference, writing) for reference in wanted)
    if any(reference.kind == SUPERSEDES for reference in wanted):
        store = Overlay(store, delta.adds, delta.removes)
    check_references(store, writing.names, wanted, lambda entity: writing.names.uuid_of(entity.value))
    return delta


def check_references(
    store: GraphReader, names: Names, references: Iterable[Reference], called: Callable[[NamedNode], str]
) -> None:
    """Raise ValidationError for a reference of a thing to itself, and for one to what supersedes its source.

    ``called`` says what an entity is called in the message.
    """
    found = [each for reference in references if (each := _complaint(store, names, reference, called)) is not None]
    if found:
        raise ValidationError(found)


def _complaint(
    store: GraphReader, names: Names, reference: Reference, called: Callable[[NamedNode], str]
) -> Violation | None:
    triple, kind = link(reference, names), local_name(reference.kind.value)
    source, target = names.entity(reference.source), names.entity(reference.target)

    def violation(rule: str, message: str, mend: str) -> Violation:
        return Violation(source.value, triple.predicate.value, target.value, rule, message, mend)

    if source == target:
        return violation(
            "a reference is between two entities",
            f"{called(source)} {kind} itself",
            "name the other one; names that mean one entity may have been merged",
        )
    if reference.kind != SUPERSEDES:
        return None

    def superseded_by(entity: NamedNode) -> Iterator[tuple[NamedNode, Span]]:
        for known in references(store, names, source=entity, kind=SUPERSEDES):
            yield known.target, (known.valid_from, known.valid_until)

    way = way_back(source, target, (reference.start, reference.until), superseded_by)
    if not way:
        return None
    circle = " → ".join(called(entity) for entity in (source, *way))
    return violation(
        "nothing supersedes what supersedes it",
        f"{called(source)} cannot supersede {called(target)}, which supersedes it at the same time: {circle}",
        "say until when the earlier one held (--valid-until), or take it back (prism revert COMMIT)",
    )


def link(reference: Reference, names: Names) -> Triple:
    """Return the direct triple that stands for the reference while it holds."""
    return Triple(names.entity(reference.source), reference.kind, names.entity(reference.target))


def reference_node(reference: Reference, names: Names) -> NamedNode:
    """Return the reference's IRI, which follows from its ends, its kind, since when it holds and who says so."""
    start = reference.start.iso() if reference.start else ""
    return names.reference(derived_uuid("reference", str(link(reference, names)), start, reference.provenance))


def _plan_reference(store: GraphReader, reference: Reference, writing: Writing) -> Delta:
    names, graph = writing.names, writing.names.graph("semantic")
    triple, node = link(reference, names), reference_node(reference, names)
    says = [
        Quad(node, RDF_TYPE, prism("Reference"), graph),
        Quad(node, SOURCE, triple.subject, graph),
        Quad(node, KIND, triple.predicate, graph),
        Quad(node, TARGET, triple.object, graph),
        Quad(node, prism("tier"), Literal(reference.tier), graph),
    ]
    if reference.provenance:
        says.append(Quad(node, prism("source"), Literal(reference.provenance), graph))
    if reference.cause_commit:
        says.append(Quad(node, prism("causeCommit"), Literal(reference.cause_commit), graph))
    return plan_interval(store, node, says, reference.start, reference.until, writing)


def reference_at(store: GraphReader, names: Names, node: NamedNode) -> Reference | None:
    """Return what a node says that is believed now, so that it can be said of the same node with an end; None else."""
    known = _read(store, node, names.graph("semantic"), None)
    if known is None:
        return None
    ends = names.uuid_of(known.source.value), names.uuid_of(known.target.value)
    span = known.valid_from, known.valid_until
    return Reference(*ends, known.kind, *span, cast(Tier, known.tier), known.provenance, known.cause_commit)


def references(
    store: GraphReader,
    names: Names,
    source: NamedNode | None = None,
    target: NamedNode | None = None,
    kind: NamedNode | None = None,
    known_at: Instant | None = None,
) -> tuple[KnownReference, ...]:
    """Return the references that fit, whenever they hold, as believed at ``known_at`` (None: now)."""
    graph = names.graph("semantic")
    by = [(p, o) for p, o in ((SOURCE, source), (TARGET, target), (KIND, kind)) if o is not None]
    first, *rest = by or [(RDF_TYPE, prism("Reference"))]
    found = (_read(store, node, graph, known_at) for node in subjects(store, *first, graph))
    wanted = dict(rest)
    kept = [
        known
        for known in found
        if known is not None
        and known.target == wanted.get(TARGET, known.target)
        and known.kind == wanted.get(KIND, known.kind)
    ]
    return tuple(
        sorted(kept, key=lambda known: (known.kind.value, known.source.value, known.target.value, known.node.value))
    )


def _read(store: GraphReader, node: NamedNode, graph: NamedNode, known_at: Instant | None) -> KnownReference | None:
    reference = about(store, node, graph)
    belief = belief_at(store, reference, graph, known_at)
    source, target, kind = reference.iri(SOURCE), reference.iri(TARGET), reference.iri(KIND)
    if belief is None or source is None or target is None or kind is None:
        return None
    return KnownReference(
        node=node,
        source=source,
        target=target,
        kind=kind,
        tier=reference.number(prism("tier")),
        provenance=reference.text(prism("source")),
        cause_commit=reference.text(prism("causeCommit")),
        valid_from=reference.instant(VALID_FROM),
        valid_until=belief.until(known_at),
    )
