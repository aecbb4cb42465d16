"""What a change would break of identities, and of what leads to them: names, references, merges, the current graph."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, product

from pyoxigraph import Literal, NamedNode

from prism_rdf.canonical.entities import UUID
from prism_rdf.evidence.claims import CLAIM_OF
from prism_rdf.namespaces import RDF_TYPE, prism
from prism_rdf.preflight.touched import Found, Touched, is_believed
from prism_rdf.semantic.aliases import ALIAS_OF, SURFACE_FORM
from prism_rdf.semantic.merges import INTO, MERGED
from prism_rdf.semantic.references import SOURCE, TARGET
from prism_rdf.storage.about import About
from prism_rdf.temporal.events import CHANGES
from prism_rdf.temporal.states import HAS_STATE

_OF_AN_IDENTITY = {RDF_TYPE, UUID, *map(prism, ("tenant", "namespace", "createdAt", "sourceMemory"))}


def not_one_type(touched: Touched) -> Found:
    for entity in touched.of("canonical"):
        identity = touched.about(entity, "canonical")
        count = len(identity.terms(RDF_TYPE)) * len(identity.terms(UUID))
        if count != 1 and touched.identified(entity):
            yield entity, f"types {count}"


def foreign_property(touched: Touched) -> Found:
    for entity, said in touched.of("canonical").items():
        for predicate in said:
            if predicate not in _OF_AN_IDENTITY and touched.about(entity, "canonical").terms(predicate):
                yield entity, f"property {predicate.value}"


def duplicate_uuid(touched: Touched) -> Found:
    for entity, said in touched.of("canonical").items():
        for uuid in touched.about(entity, "canonical").terms(UUID) if UUID in said else ():
            assert isinstance(uuid, Literal)
            for quad in touched.same_value(UUID, uuid):
                if quad.subject != entity:
                    yield entity, f"other {quad.subject}, uuid {uuid.value}"


def current_without_identity(touched: Touched) -> Found:
    for entity in chain(touched.of("current"), touched.unidentified):
        if not touched.identified(entity) and touched.about(entity, "current").terms(RDF_TYPE):
            yield entity, ""


def state_without_identity(touched: Touched) -> Found:
    for entity in chain(touched.having, touched.unidentified):
        if not touched.identified(entity):
            yield from ((entity, f"state {state.value}") for state in touched.objects(entity, HAS_STATE))


def event_without_identity(touched: Touched) -> Found:
    for entity in chain(touched.changed, touched.unidentified):
        if not touched.identified(entity):
            yield from ((entity, f"event {event.value}") for event in touched.subjects(CHANGES, entity))


def alias_of_nothing(touched: Touched) -> Found:
    for alias in touched.semantic_nodes(ALIAS_OF):
        for entity in alias.iris(ALIAS_OF):
            for form in alias.texts(SURFACE_FORM):
                if not touched.identified(entity):
                    yield entity, f"alias {alias.node.value}, form {form}"


def evidence_of_nothing(touched: Touched) -> Found:
    for evidence in touched.nodes("evidence", CLAIM_OF):
        for entity in evidence.iris(CLAIM_OF):
            if not touched.identified(entity):
                yield entity, f"evidence {evidence.node.value}"


def reference_to_nothing(touched: Touched) -> Found:
    return _leading_to_nothing(touched, "reference", SOURCE, TARGET)


def merge_of_nothing(touched: Touched) -> Found:
    return _leading_to_nothing(touched, "merge", MERGED, INTO)


def _leading_to_nothing(touched: Touched, what: str, start: NamedNode, target: NamedNode) -> Found:
    for node in touched.semantic_nodes(start, target):
        for entity, end in product(node.iris(start), node.iris(start) + node.iris(target)):
            if not touched.identified(end):
                yield entity, f"{what} {node.node.value}, end {end.value}"


def reference_to_itself(touched: Touched) -> Found:
    for reference in touched.semantic_nodes():
        for source in reference.iris(SOURCE):
            if source in reference.iris(TARGET) and is_believed(reference):
                yield source, f"reference {reference.node.value}"


def _believed_merges(touched: Touched) -> Iterator[About]:
    return (
        merge for merge in touched.semantic_nodes() if merge.iris(MERGED) and merge.iris(INTO) and is_believed(merge)
    )


def merged_twice(touched: Touched) -> Found:
    for entity in dict.fromkeys(entity for merge in touched.semantic_nodes() for entity in merge.iris(MERGED)):
        nodes = (touched.about(node, "semantic") for node in touched.subjects(MERGED, entity, "semantic"))
        for merge, other in product(filter(is_believed, nodes), repeat=2):
            if merge.iris(INTO) and (merge.node != other.node or entity in merge.iris(INTO)):
                yield entity, f"merge {merge.node.value}, other {other.node.value}"


def merge_across_types(touched: Touched) -> Found:
    retyped = [entity for entity, said in touched.of("canonical").items() if RDF_TYPE in said]
    nodes = (node for end in (MERGED, INTO) for entity in retyped for node in touched.subjects(end, entity, "semantic"))
    merges = (touched.about(node, "semantic") for node in nodes)
    for merge in chain(_believed_merges(touched), filter(is_believed, merges)):
        for entity, into in product(merge.iris(MERGED), merge.iris(INTO)):
            types = (touched.about(end, "canonical").terms(RDF_TYPE) for end in (entity, into))
            if any(one != other for one, other in product(*types)):
                yield entity, f"merge {merge.node.value}"
