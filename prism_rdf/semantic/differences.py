"""Differences: two entities that look like one thing and are not; nobody proposes them as duplicates again.

A difference holds for all valid time and is believed over a stretch of system time. A merge that was taken back says
the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import Delta, Writing, belief_at
from prism_rdf.errors import ValidationError, Violation
from prism_rdf.model import Difference
from prism_rdf.namespaces import RDF_TYPE, Names, derived_uuid, prism
from prism_rdf.semantic.intervals import plan_interval
from prism_rdf.semantic.merges import INTO, MERGE, MERGED
from prism_rdf.storage.about import about, subjects
from prism_rdf.storage.interface import GraphReader

DIFFERENCE = prism("Difference")
DIFFERENT = prism("differentEntity")
Ends = frozenset[NamedNode]


def plan_differences(store: GraphReader, differences: Iterable[Difference], writing: Writing) -> Delta:
    """Return the change that records the differences; empty for those already believed.

    Raises ValidationError for one of an entity from itself.
    """
    return Delta.joined(_plan_difference(store, difference, writing) for difference in differences)


def difference_node(difference: Difference, names: Names) -> NamedNode:
    """Return the difference's IRI, which follows from its two ends, whichever is named first."""
    return names.difference(derived_uuid("difference", *sorted((difference.one, difference.other))))


def kept_apart(store: GraphReader, names: Names) -> frozenset[Ends]:
    """Return the pairs of entities of which it is believed now that they are two, or whose merge was taken back."""
    graph = names.graph("semantic")
    found = set()
    for node in subjects(store, RDF_TYPE, DIFFERENCE, graph):
        difference = about(store, node, graph)
        if belief_at(store, difference, graph, None) is not None:
            found.add(frozenset(difference.iris(DIFFERENT)))
    for node in subjects(store, RDF_TYPE, MERGE, graph):
        merge = about(store, node, graph)
        if belief_at(store, merge, graph, None) is None:
            found.add(frozenset((*merge.iris(MERGED), *merge.iris(INTO))))
    return frozenset(found)


def _plan_difference(store: GraphReader, difference: Difference, writing: Writing) -> Delta:
    names, graph = writing.names, writing.names.graph("semantic")
    if difference.one == difference.other:
        one = names.entity(difference.one).value
        rule, mend = "a difference is between two entities", "name the other one, by its uuid"
        raise ValidationError([Violation(one, DIFFERENT.value, one, rule, f"{one} is one entity", mend)])
    node = difference_node(difference, names)
    says = [
        Quad(node, RDF_TYPE, DIFFERENCE, graph),
        *(Quad(node, DIFFERENT, names.entity(uuid), graph) for uuid in (difference.one, difference.other)),
        Quad(node, prism("tier"), Literal(difference.tier), graph),
    ]
    said = {"source": difference.source, "description": difference.description}
    says += [Quad(node, prism(name), Literal(text), graph) for name, text in said.items() if text]
    return plan_interval(store, node, says, None, None, writing)
