"""pySHACL, held in one place: shapes compiled once and run over the nodes that are asked about; no node is chosen here.

pySHACL builds every constraint anew for each focus node that it meets alone. Here each shape gets all of its focus
nodes in one call. The verdict is that of ``pyshacl.validate``; a test compares the two on every case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pyoxigraph import Triple
from pyshacl.constraints import CONSTRAINT_PARAMETERS_MAP
from pyshacl.constraints.core.shape_based_constraints import PropertyConstraintComponent
from pyshacl.pytypes import SHACLExecutor
from pyshacl.shape import Shape
from pyshacl.shapes_graph import ShapesGraph
from rdflib import Graph, Namespace
from rdflib.term import Node

from prism_rdf.validation.constraints import Term
from prism_rdf.validation.engine import Result
from prism_rdf.validation.terms import IndexedGraph, to_rdflib, to_text

_SH = Namespace("http://www.w3.org/ns/shacl#")
_EXECUTOR = SHACLExecutor()


class Compiled:
    """A shapes graph as pySHACL reads it. Making one raises what pySHACL finds wrong with the shapes themselves."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        laid_out = Graph(bind_namespaces="none")
        for triple in IndexedGraph(triples):
            laid_out.add(triple)
        self._shapes = {shape.node: shape for shape in ShapesGraph(laid_out).shapes}
        self._constraints = {node: _constraints(shape) for node, shape in self._shapes.items()}

    def results(self, triples: Iterable[Triple], asked: Mapping[tuple[Term, Term], Sequence[Term]]) -> set[Result]:
        """Return what the shapes say of some nodes in the light of the triples.

        ``asked`` has the nodes by target shape and shape; a property shape is asked about its node shape's nodes.
        """
        graph = IndexedGraph(triples)
        reports: list[Any] = []
        for (_, shape), nodes in asked.items():
            reports += self._reports(graph, to_rdflib(shape), [to_rdflib(node) for node in nodes])
        return set(map(_result, reports))

    def _reports(self, graph: Graph, node: Node, focus: list[Any]) -> Iterator[Any]:
        shape = self._shapes[node]
        values = shape.value_nodes(graph, focus)
        for constraint in self._constraints[node]:
            yield from constraint.evaluate(_EXECUTOR, graph, values, [shape, constraint])[1]


def _constraints(shape: Shape) -> list[Any]:
    """Return the constraints of a shape; the property shapes of a node shape stand for themselves."""
    if shape.deactivated:
        return []
    parameters = dict.fromkeys(CONSTRAINT_PARAMETERS_MAP.get(each) for each in shape.sg.graph.predicates(shape.node))
    apart = None if shape.is_property_shape else PropertyConstraintComponent
    made: list[Any] = [make(shape) for make in parameters if make not in (None, apart)]
    custom: Any = shape
    return made + [each.make_validator_for_shape(shape) for each in custom.find_custom_constraints()]


def _result(report: Any) -> Result:
    said: dict[Any, Any] = {}
    for subject, predicate, value in report[2]:
        if subject == report[1]:  # and not what is nested in it
            said[predicate] = value[1] if isinstance(value, tuple) else value
    what, _, mend = str(said.get(_SH.resultMessage, "")).partition(". ")
    return Result(
        node=to_text(said[_SH.focusNode]),
        path=to_text(said.get(_SH.resultPath)),
        value=to_text(said.get(_SH.value)),
        shape=to_text(said[_SH.sourceShape]),
        severity=str(said[_SH.resultSeverity]).removeprefix(str(_SH)),
        message=what.rstrip("."),
        mend=mend,
        component=to_text(said[_SH.sourceConstraintComponent]),
    )
