"""Whole-store validation against pySHACL as ratios in one run, in CPU time; asserts nothing.

    python bench/validation.py --states 10000

Core shapes: the gate judges what every node of the store says, scope by scope; the reference is ``pyshacl.validate`` on
the same triples of a sample with the same shapes. SPARQL: the invariants of time, which the store checks set by set;
the reference are the same queries as SHACL-SPARQL constraints of the same entities. pySHACL looks at one node after the
other, so that its times are taken in proportion to the sample; making its graphs is not counted.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import pyshacl
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store, Triple, parse
from pyshacl.graph_abstraction import DataGraph
from rdflib import Graph
from time_engine import load_by_verbs

from prism_rdf import Prism, Project, resources
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.type_shapes import type_shapes
from prism_rdf.namespaces import SH, Names, prism
from prism_rdf.scopes import held_nodes, scopes_of_nodes
from prism_rdf.storage.interface import GraphReader
from prism_rdf.validation.checks import Check, load_checks, run_checks
from prism_rdf.validation.gate import Gate, Scope
from prism_rdf.validation.terms import to_rdflib

CHUNK = 2_000  # as many nodes are judged at a time
BATCH = 5_000  # facts in one commit
Portion = Mapping[Scope, Sequence[Triple]]


def cpu(act: Callable[[], object]) -> float:
    """Return the CPU seconds that a call takes."""
    started = time.process_time()
    act()
    return time.process_time() - started


def portions(store: GraphReader, names: Names, catalog: TypeCatalog) -> Iterator[Portion]:
    """Yield all that a project holds as the gate sees it."""
    nodes = held_nodes(store, names)
    while chunk := list(islice(nodes, CHUNK)):
        yield scopes_of_nodes(chunk, store, names, catalog.superclasses)


def to_graph(triples: Sequence[Triple]) -> Graph:
    graph = Graph(bind_namespaces="none")
    for triple in triples:
        graph.add((to_rdflib(triple.subject), to_rdflib(triple.predicate), to_rdflib(triple.object)))
    return graph


def shipped() -> list[Triple]:
    names = resources.names("shapes", ".ttl")
    return [quad.triple for name in names for quad in parse(resources.text(name), RdfFormat.TURTLE)]


def core_reference(scopes: Portion, catalog: TypeCatalog) -> float:
    """Return the CPU seconds of ``pyshacl.validate`` for the scopes, each with the shapes that apply to it."""
    shapes, types = to_graph(shipped()), to_graph(type_shapes(catalog))
    took = 0.0
    for scope, triples in scopes.items():
        rules = types if scope in ("snapshot", "fragment") else shapes
        took += cpu(partial(pyshacl.validate, to_graph(triples), shacl_graph=rules))
    return took


def as_shapes(checks: Sequence[Check], names: Names, entities: Sequence[NamedNode]) -> Graph:
    """Return the checks as SHACL-SPARQL constraints of some entities: the query of each, with $this as the entity."""
    lines = []
    for check in checks:
        text = re.sub(r"GRAPH <[^>]*> \{", "{", check.bind(names)).replace("?entity", "$this")
        constraint = f'<{SH}sparql> [ <{SH}message> "{check.name}" ; <{SH}select> {Literal(text)} ]'
        targets = ", ".join(map(str, entities))
        lines.append(f"<urn:check:{check.name}> a <{SH}NodeShape> ; <{SH}targetNode> {targets} ; {constraint} .")
    return Graph().parse(data="\n".join(lines), format="turtle")


def sparql_reference(store: GraphReader, names: Names, checks: Sequence[Check], sample: int) -> dict[str, float]:
    """Return the CPU seconds per entity that pySHACL takes for the checks, by what holds its data: their states."""
    temporal = names.graph("temporal")
    linked = store.quads_for_pattern(None, prism("hasState"), None, temporal)
    found = dict.fromkeys(quad.subject for quad in linked)
    entities = [entity for entity in found if isinstance(entity, NamedNode)][:sample]
    triples: list[Triple] = []
    for entity in entities:
        for quad in store.quads_for_pattern(entity, prism("hasState"), None, temporal):
            triples.append(quad.triple)
            assert isinstance(quad.object, NamedNode)
            triples += [each.triple for each in store.quads_for_pattern(quad.object, None, None, temporal)]
    shapes, held = as_shapes(checks, names, entities), Store()
    held.extend(Quad(*triple) for triple in triples)
    graph, behind = to_graph(triples), DataGraph.from_oxigraph_store(held)
    return {
        "rdflib": cpu(lambda: pyshacl.validate(graph, shacl_graph=shapes)) / len(entities),
        "pyoxigraph": cpu(lambda: pyshacl.validate(behind, shacl_graph=shapes)) / len(entities),
    }


def small_write(store: GraphReader, names: Names, gate: Gate, catalog: TypeCatalog) -> tuple[float, int]:
    """Return the CPU milliseconds of the gate for an event, its state and what that says, and how many triples."""
    temporal = names.graph("temporal")
    linked = next(store.quads_for_pattern(None, prism("hasState"), None, temporal))
    entity, state = linked.subject, linked.object
    assert isinstance(entity, NamedNode)
    assert isinstance(state, NamedNode)
    event = next(store.quads_for_pattern(state, prism("causedBy"), None, temporal)).object
    assert isinstance(event, NamedNode)
    nodes = [(event, temporal), (state, temporal), (entity, state)]
    scopes = scopes_of_nodes(nodes, store, names, catalog.superclasses)
    took = min(cpu(lambda: gate.check(scopes)) for _ in range(300))
    return took * 1000, sum(map(len, scopes.values()))


def judged(store: GraphReader, names: Names, gate: Gate, catalog: TypeCatalog) -> tuple[float, float, int]:
    """Return the CPU seconds of reading all that a project holds and of judging it, and the violations."""
    reading, judging, found = 0.0, 0.0, 0
    remaining = portions(store, names, catalog)
    while True:
        started = time.process_time()
        portion = next(remaining, None)
        reading += time.process_time() - started
        if portion is None:
            return reading, judging, found
        started = time.process_time()
        found += len(gate.check(portion))
        judging += time.process_time() - started


def together(parts: Iterator[Portion]) -> dict[Scope, list[Triple]]:
    whole: dict[Scope, list[Triple]] = {}
    for portion in parts:
        for scope, triples in portion.items():
            whole.setdefault(scope, []).extend(triples)
    return whole


def shapes_measured(project: Project, states: int, sample: Project, sampled: int) -> None:
    """Print what judging a project of so many states costs, and what pySHACL takes for a smaller one."""
    names, catalog = project.names, TypeCatalog.shipped()
    store = project.prism.site.store
    gate = Gate(lambda: type_shapes(catalog))
    took, triples = small_write(store, names, gate, catalog)
    print(f"gate, one small write {took:10.3f} ms for {triples} triples")
    reading, judging, found = judged(store, names, gate, catalog)
    whole = together(portions(sample.prism.site.store, names, catalog))
    size = sum(map(len, whole.values())) / sampled
    reference = core_reference(whole, catalog) / sampled * states
    print(f"core shapes           {states:10,} states of {size:.1f} triples, {found} violations")
    print(f"  read                {states / reading:10,.0f} states/s")
    print(f"  judged              {states / judging:10,.0f} states/s")
    print(f"  by pySHACL          {states / reference:10,.0f} states/s, taken from {sampled:,}")
    print(f"  ratio               {reference / judging:10.1f} judged")
    print(f"                      {(reading + reference) / (reading + judging):10.1f} read and judged")


def checks_measured(project: Project, entities: int, sample: int) -> None:
    """Print what the invariants of the temporal graph cost, and what pySHACL takes for them."""
    names, store = project.names, project.prism.site.store
    checks = [check for check in load_checks() if check.layers == {"temporal"} and "GRAPH ?" not in check.text]
    took = cpu(lambda: run_checks(store, names, checks))
    print(f"SPARQL constraints    {entities:10,} entities, {len(checks)} constraints")
    print(f"  set by set          {entities / took:10,.0f} entities/s")
    for name, each in sparql_reference(store, names, checks, sample).items():
        print(f"  by pySHACL          {1 / each:10,.0f} entities/s on {name}, taken from {sample}")
        print(f"  ratio               {each * entities / took:10.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=10_000)
    parser.add_argument("--per-entity", type=int, default=5)
    parser.add_argument("--sample", type=int, default=10_000, help="the states that pySHACL is shown, at most")
    parser.add_argument("--entities", type=int, default=50, help="the entities whose invariants pySHACL is shown")
    parser.add_argument("--home", type=Path, help="a store that time_engine.py has kept, with as many states")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Prism.open(options.home or Path(folder), exclusive=True) as store:
        project = store.project("bench")
        if not store.commit_number:
            load_by_verbs(project, range(options.states // options.per_entity), options.per_entity, BATCH)
        sample, sampled = project, options.states
        if options.states > options.sample:
            sample, sampled = Prism.in_memory().project("bench"), options.sample
            load_by_verbs(sample, range(sampled // options.per_entity), options.per_entity, BATCH)
        shapes_measured(project, options.states, sample, sampled)
        checks_measured(project, options.states // options.per_entity, options.entities)


if __name__ == "__main__":
    main()
