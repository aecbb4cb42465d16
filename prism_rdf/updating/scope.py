"""Which graphs an update sees and which it may write, and what to do instead where it may not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import DefaultGraph, NamedNode

from prism_rdf.errors import RefusedError
from prism_rdf.free import free_graphs, is_free, project_of
from prism_rdf.namespaces import STORE, TOLD, Names
from prism_rdf.storage.interface import GraphName, GraphReader

DEFAULT = DefaultGraph()
_VERBS = {
    "canonical": "entities are made by `INSERT DATA { <…/entity/UUID> a type:ADR ; prism:title … }` without GRAPH, or "
    "by the verb entity",
    "semantic": "names, references and merges are changed by the verbs alias, reference, merge and unmerge",
    "temporal": "histories are changed by the verbs transition, correct, retire, reopen, retract, wip and seal",
    "evidence": "evidence is recorded by the verb claim",
    "memory": "memories are written by the verbs remember and forget",
    "review": "candidates are guessed by the verbs fact, alias and reference of tier 3, and decided by review",
    "types": "types are changed by the verbs add_types and remove_types",
    "current": "leave GRAPH out: without it an update is about the world now",
    "tail": "it follows from the histories: change them by the verb transition",
    "meta": "commits are recorded by the store itself; revert takes one back",
}


@dataclass(frozen=True)
class Scope:
    """Where an update reads and writes: in one project, or in the whole store when ``pid`` is None.

    ``projects`` are those whose world is read. In an unmanaged store all graphs are free. ``confined``: of free graphs
    there are only those below ``{base}/{pid}/free/``.
    """

    store: GraphReader
    base: str
    pid: str | None
    projects: Sequence[str]
    managed: bool = True
    confined: bool = False

    @property
    def namespace(self) -> str:
        """Return the project to whose commits the update belongs; the store itself where it is of none."""
        return self.pid or (self.projects[0] if self.managed and len(self.projects) == 1 else STORE)

    @property
    def world(self) -> NamedNode | None:
        """Return the graph that the default graph means in a write; None where it is itself, or where none is meant."""
        if not self.managed or self.namespace == STORE:
            return None
        return Names(self.base, self.namespace).graph("current")

    @property
    def default(self) -> list[GraphName]:
        """Return the graphs that are read where no graph is named."""
        return [*self._engine("current", *TOLD)] if self.managed else [DEFAULT]

    @property
    def named(self) -> list[NamedNode]:
        """Return the graphs that can be read by their name."""
        return [*self._engine("current", *TOLD), *self.free]

    @property
    def free(self) -> list[NamedNode]:
        """Return the free graphs in scope."""
        projects = None if self.pid is None or not self.managed else [self.pid]
        found = free_graphs(self.store, self.base, projects)
        return [graph for graph in found if self._is_own(graph)] if self.confined else found

    def _engine(self, *layers: str) -> list[NamedNode]:
        if not self.managed:
            return []
        return [Names(self.base, project).graph(layer) for layer in layers for project in self.projects]

    def is_of_engine(self, graph: GraphName) -> bool:
        """Return whether a graph is the world that the engine keeps, to be changed by verbs."""
        return self.managed and graph == DEFAULT

    def check_write(self, graph: GraphName) -> None:
        """Raise RefusedError for a graph that an update may not write."""
        if graph == DEFAULT:
            if self.managed and self.world is None:
                raise RefusedError(
                    "the update writes the default graph, and it is of no project",
                    rule="without GRAPH an update is about the world of one project",
                    mend="name the project (pid), or the free graph with GRAPH or WITH",
                )
            return
        if not isinstance(graph, NamedNode) or not is_free(graph, self.base, self.managed):
            raise self._refused(str(getattr(graph, "value", graph)))
        self._check_owner(graph)

    def check_read(self, graph: NamedNode) -> None:
        """Raise RefusedError for a graph that an operation on whole graphs may not read."""
        if graph in self._engine("current", *TOLD):
            return
        if not is_free(graph, self.base, self.managed):
            raise self._refused(graph.value)
        self._check_owner(graph)

    def _is_own(self, graph: NamedNode) -> bool:
        return graph.value.startswith(f"{self.base}/{self.pid}/free/")

    def _check_owner(self, graph: NamedNode) -> None:
        if not self.managed or self.pid is None:
            return
        foreign = project_of(self.store, graph, self.base) not in (None, self.pid)
        if foreign or (self.confined and not self._is_own(graph)):
            raise RefusedError(
                f"the graph {graph.value} is not of the project {self.pid}",
                rule="an update in a project is about the free graphs of that project",
                mend=f"use one of {self.base}/{self.pid}/free/NAME, or update without a project",
                node=graph.value,
            )

    def _refused(self, graph: str) -> RefusedError:
        room, _, layer = graph.removeprefix(f"{self.base}/").partition("/")[2].partition("/")
        mend = _VERBS.get(layer if room == "graph" else "temporal" if room in ("state", "event") else "", "")
        return RefusedError(
            f"the graph {graph} is kept by the store",
            rule="an update writes free graphs, and the world of a project where it names no graph",
            mend=mend or f"write into {self.base}/{self.pid or 'PROJECT'}/free/NAME, or a graph of another IRI",
            node=graph,
        )
