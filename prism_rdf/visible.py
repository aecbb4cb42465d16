"""Which graphs a query of the world may see, now or in the past; how it is answered from them is in datasets.py."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from pyoxigraph import DefaultGraph, NamedNode

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.changes import Ground
from prism_rdf.errors import BadArgument, RefusedError
from prism_rdf.free import free_graphs, is_free
from prism_rdf.namespaces import TOLD, Names
from prism_rdf.reach import graphs_declared, may_name_graphs, spares_memories, vocabulary
from prism_rdf.storage.interface import GraphReader


@dataclass(frozen=True)
class Graphs:
    """The dataset that a request declares, beside its query: of these graphs alone; of none it declares nothing."""

    default: tuple[NamedNode, ...] = ()
    named: tuple[NamedNode, ...] = ()

    @classmethod
    def of(cls, default: Iterable[str], named: Iterable[str]) -> Graphs:
        """Return the graphs of these IRIs. Raises BadArgument for one that is none."""
        return cls(tuple(map(_graph_of, default)), tuple(map(_graph_of, named)))

    def __bool__(self) -> bool:
        return bool(self.default or self.named)

    def as_options(self) -> dict[str, list[Any]]:
        return {"default_graph": list(self.default), "named_graphs": list(self.named)}


NONE = Graphs()
_ALL: dict[str, Any] = {"use_default_graph_as_union": True}  # one look-up, where a list of graphs takes one for each


def _graph_of(iri: str) -> NamedNode:
    try:
        return NamedNode(iri)
    except ValueError as error:
        raise BadArgument(
            f"{iri!r} is not the IRI of a graph", rule="graphs are named by absolute IRIs", mend="write it in full"
        ) from error


@dataclass(frozen=True)
class _World:
    """What of some projects can be seen: their entities, what was told as far as there is any, and graphs by name.

    ``known`` are the vocabularies of entities, one for each project.
    """

    entities: list[Any]
    told: list[Any]
    named: list[Any]
    known: tuple[frozenset[str], ...]


@dataclass(frozen=True)
class _There:
    """What was found in a store after a commit, by who asks: the projects, and of what free graphs."""

    commit: int
    worlds: dict[tuple[object, ...], _World] = field(default_factory=dict)


class Visible:
    """Chooses the graphs for queries; what there is to choose from is looked up once for each commit."""

    def __init__(self, ground: Ground, base: str) -> None:
        self._ground = ground
        self._base = base
        self._vocabularies: dict[str, tuple[TypeCatalog, frozenset[str]]] = {}
        self._found: WeakKeyDictionary[GraphReader, _There] = WeakKeyDictionary()

    def options(
        self,
        query: str,
        namespaces: Sequence[str],
        store: GraphReader,
        commit: int,
        graphs: Graphs,
        *,
        past: bool = False,
        bound: bool = False,
    ) -> dict[str, Any]:
        """Return the dataset in ``store`` after ``commit``; raises RefusedError for a declared graph that is not in it.

        Memories are in the default graph where there are some that the query may reach. The ``past`` is in a store of
        its own, which holds nothing else, and has no free graphs; ``bound``, they are only those of the namespaces.
        """
        world = self._world(tuple(namespaces), store, commit, past=past, bound=bound)
        if not graphs and any(declared := graphs_declared(query)):
            graphs = Graphs.of(*declared)
        if graphs:
            return self._declared(graphs, world, in_the_past=past)
        names_graphs = may_name_graphs(query)
        if past and not names_graphs:
            return _ALL
        told = world.told
        if told and all(spares_memories(query, known, self._base) for known in world.known):
            told = []
        return {
            "default_graph": world.entities + told,
            "named_graphs": world.named if names_graphs else [],  # each costs as much as a look-up
        }

    def _world(
        self, namespaces: tuple[str, ...], store: GraphReader, commit: int, *, past: bool, bound: bool
    ) -> _World:
        there = self._found.get(store)
        if there is None or there.commit != commit:
            there = self._found[store] = _There(commit)
        key = (namespaces, past, bound)
        found = there.worlds.get(key)
        if found is None:
            found = there.worlds[key] = self._look_up(namespaces, store, past=past, bound=bound)
        return found

    def _look_up(self, namespaces: tuple[str, ...], store: GraphReader, *, past: bool, bound: bool) -> _World:
        managed = self._ground.managed
        free = [] if past else free_graphs(store, self._base, namespaces if bound and managed else None)
        if not managed:
            return _World([DefaultGraph()], [], free, ())
        named = [Names(self._base, namespace) for namespace in namespaces]
        current = [names.graph("current") for names in named]
        told = [names.graph(layer) for layer in TOLD for names in named]
        filled = [graph for graph in told if next(store.quads_for_pattern(None, None, None, graph), None) is not None]
        return _World(current, filled, [*current, *told, *free], tuple(map(self._vocabulary, named)))

    def _declared(self, graphs: Graphs, world: _World, *, in_the_past: bool) -> dict[str, list[Any]]:
        seen = set(world.named)
        for graph in (*graphs.default, *graphs.named):
            could_be = is_free(graph, self._base, self._ground.managed)
            if graph not in seen and (in_the_past or not could_be):
                raise _outside(graph, could_be=could_be, in_the_past=in_the_past)
        return {  # a free graph that is not there is empty, and so is another project's
            "default_graph": [graph for graph in graphs.default if graph in seen],
            "named_graphs": [graph for graph in graphs.named if graph in seen],
        }

    def _vocabulary(self, names: Names) -> frozenset[str]:
        catalog = self._ground.schema(names).catalog
        kept = self._vocabularies.get(names.namespace)
        if kept is None or kept[0] is not catalog:
            kept = self._vocabularies[names.namespace] = (catalog, vocabulary(catalog))
        return kept[1]


def _outside(graph: NamedNode, *, could_be: bool, in_the_past: bool) -> RefusedError:
    return RefusedError(
        f"the graph {graph} is not in this dataset",
        rule="a dataset of the world is declared of its current, memory and evidence graphs"
        + ("; free graphs have no past" if in_the_past else ", and of free graphs"),
        mend="leave out as-of and known-at" if in_the_past and could_be else "use the raw dataset, or name no graph",
        node=graph.value,
    )
