"""The older system's memories with what they mention: taken in beside the new layers, and let go of in the end.

They are memories of the kind ``legacy`` which mention concepts, so recall finds them by their words, and by their
concepts where a question names no entity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode

from prism_rdf.clock import Instant
from prism_rdf.migrate.said import Project, memories_by
from prism_rdf.migrate.understanding import OldMemory
from prism_rdf.model import Bookmark, Intent, Memory, Withdrawal

LEGACY = "legacy"  # the kind of such memories, and the mapping of the bookmark that says they were dropped
_DROPPED = "dropped"
_BATCH = 1_000
_EXAMPLES = 3


@dataclass(frozen=True)
class Legacy:
    """What a project holds of older memories: how many of which sources, how many mentions, and some of them."""

    memories: int
    mentions: int
    concepts: int
    sources: tuple[str, ...]
    examples: tuple[str, ...]


def legacy_source(source: str) -> str:
    """Return what names an older system as a source of memories."""
    return f"{LEGACY}:{source}"


def dropped(source: str) -> Bookmark:
    """Return the mark that an older system's memories were dropped: another run must not bring them back."""
    return Bookmark(legacy_source(source), LEGACY, _DROPPED)


def was_dropped(marks: Iterable[Bookmark]) -> bool:
    return any(mark.mapping == LEGACY and mark.commit == _DROPPED for mark in marks)


def tell(
    project: Project | None,
    source: str,
    memories: Sequence[OldMemory],
    names: Callable[[str, Instant], Sequence[str]],
) -> Iterator[tuple[OldMemory, list[Intent]]]:
    """Yield the intents of those that are new; ``names`` returns the mentions that a text makes of entities."""
    places = {memory.id: f"{legacy_source(source)}/{quote(memory.id, safe='')}" for memory in memories}
    known = memories_by(project, list(places.values())) if project is not None else {}
    for memory in memories:
        before = known.get(places[memory.id])
        if before is not None and before.content == memory.content and before.start == memory.created:
            continue
        concepts = (f"concept:{concept}" for concept in memory.concepts)
        made = Memory(
            content=memory.content,
            kind=LEGACY,
            created_at=memory.created,
            source=places[memory.id],
            mentions=tuple(dict.fromkeys((*names(memory.content, memory.created), *concepts))),
            start=memory.created,
            tier=2,
        )
        gone: list[Intent] = [] if before is None or project is None else list(_withdrawn(project, before.source))
        yield memory, [*gone, made]


def legacy_of(project: Project) -> Legacy:
    """Return what a project holds of older memories."""
    graph = project.names.graph("memory")
    where = f"""GRAPH {graph} {{ ?memory prism:memoryKind {Literal(LEGACY)} ; prism:source ?source
        FILTER NOT EXISTS {{ ?memory prism:withdrawnAt ?gone }} }}"""

    def ask(query: str) -> list[tuple[Any, ...]]:
        return list(project.prism.sparql(query, dataset="raw").rows())

    [(memories,)] = ask(f"SELECT (COUNT(*) AS ?n) {{ {where} }}")
    mentions = f"{where} GRAPH {graph} {{ ?memory prism:mentions ?concept . ?concept a prism:Concept }}"
    [(edges,)] = ask(f"SELECT (COUNT(*) AS ?n) {{ {mentions} }}")
    [(concepts,)] = ask(f"SELECT (COUNT(DISTINCT ?concept) AS ?n) {{ {mentions} }}")
    begin = f'STRBEFORE(STRAFTER(?source, "{LEGACY}:"), "/")'
    sources = ask(f"SELECT DISTINCT ?name {{ {where} BIND ({begin} AS ?name) }} ORDER BY ?name")
    examples = ask(
        f"SELECT ?content {{ {where} GRAPH {graph} {{ ?memory prism:content ?content }} }} LIMIT {_EXAMPLES}"
    )
    return Legacy(
        int(memories.value),
        int(edges.value),
        int(concepts.value),
        tuple(name.value for (name,) in sources),
        tuple(content.value for (content,) in examples),
    )


def removals(project: Project, sources: Iterable[str]) -> Iterator[list[Intent]]:
    """Yield what ends the belief in the older memories, in batches; the last says that they were dropped."""
    query = f"""SELECT ?memory {{ GRAPH {project.names.graph("memory")} {{
        ?memory prism:memoryKind {Literal(LEGACY)} FILTER NOT EXISTS {{ ?memory prism:withdrawnAt ?gone }} }} }}"""
    nodes = iter([row[0] for row in project.prism.sparql(query, dataset="raw").rows()])
    while batch := [Withdrawal(NamedNode(node.value)) for node in islice(nodes, _BATCH)]:
        yield list(batch)
    yield [dropped(source) for source in sources]


def _withdrawn(project: Project, source: str) -> Iterator[Withdrawal]:
    query = f"""SELECT ?memory {{ GRAPH {project.names.graph("memory")} {{ ?memory prism:source {Literal(source)}
        FILTER NOT EXISTS {{ ?memory prism:withdrawnAt ?gone }} }} }}"""
    yield from (Withdrawal(NamedNode(row[0].value)) for row in project.prism.sparql(query, dataset="raw").rows())
