"""What was recorded in a project after a commit, the newest first, in words; nothing here says what to do about it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pyoxigraph import Literal, NamedNode, QuerySolutions

from prism_rdf.answers import identifier_now, value_json
from prism_rdf.belief import END_RECORDED_AT, RECORDED_AT, WITHDRAWN_AT
from prism_rdf.canonical.entities import type_of
from prism_rdf.clock import Instant
from prism_rdf.evidence.memories import CONTENT
from prism_rdf.namespaces import Names, commit_iri, local_name, meta_graph, prism
from prism_rdf.semantic.aliases import ALIAS_KIND, ALIAS_OF, SURFACE_FORM
from prism_rdf.semantic.references import KIND, SOURCE, TARGET
from prism_rdf.storage.about import About, about, objects
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.drafts import DRAFT_OF, THREAD
from prism_rdf.temporal.events import ASSERTION, CHANGES
from prism_rdf.values import instant_literal

START = "start"  # the verb of commits that only move an agent's own place
_MOST_COMMITS = 2_000
_MOST_NODES = 1_000  # that are looked at: of a bulk import nobody is told more
_FEW = 100  # memories that are counted one by one
_SAID = 3  # things that are told of one entity
_MERGED, _INTO = prism("mergedEntity"), prism("mergedInto")
_OWNERS = (CHANGES, ALIAS_OF, SOURCE, _MERGED)
_HOW = {RECORDED_AT: "", WITHDRAWN_AT: "no longer believed: ", END_RECORDED_AT: "ended: "}


@dataclass(frozen=True)
class News:
    """What commits recorded: of which entities, by which nodes and how, and which memories, the newest first.

    ``partial`` says that there was more than was looked at.
    """

    commits: int
    entities: dict[NamedNode, list[tuple[NamedNode, NamedNode]]]
    touched: dict[NamedNode, int]
    memories: int
    latest: tuple[NamedNode, ...]
    partial: bool


def commit_before(store: GraphReader, base: str, last: int, at: Instant) -> int:
    """Return the number of the last commit recorded at ``at`` or before; 0 where there is none."""
    meta = meta_graph(base)

    def recorded(number: int) -> Instant:
        return about(store, commit_iri(base, number), meta).instant(RECORDED_AT) or Instant(0)

    return bisect_right(range(1, last + 1), at, key=recorded)


def is_quiet(store: GraphReader, names: Names, since: int, last: int) -> bool:
    """Return whether the commits after ``since`` moved nothing but the places of agents."""
    numbers = range(last, since, -1)
    return all(_commit(store, names, number).text(prism("verb")) == START for number in numbers)


def news_since(store: GraphReader, names: Names, since: int, last: int) -> News:
    """Return what was recorded by the commits after number ``since``, up to ``last``."""
    first = max(since, last - _MOST_COMMITS)
    entities: dict[NamedNode, list[tuple[NamedNode, NamedNode]]] = {}
    touched: dict[NamedNode, int] = {}
    latest: list[NamedNode] = []
    gone: set[NamedNode] = set()  # it is told once that it is no longer believed
    commits, memories, looked, partial = 0, 0, 0, first > since
    for number in range(last, first, -1):
        commit = _commit(store, names, number)
        at = commit.instant(RECORDED_AT)
        own = commit.text(prism("namespace")) == names.namespace and commit.text(prism("verb")) != START
        if at is None or not own:
            continue
        commits += 1
        remembered, count = _remembered(store, names, at)
        memories += count
        latest += remembered[: _SAID - len(latest)]
        for entity, node, how in _told(store, names, at):
            if looked == _MOST_NODES:
                partial = True
                break
            looked += 1
            if how == WITHDRAWN_AT:
                gone.add(node)
            elif node in gone:
                continue
            entities.setdefault(entity, []).append((node, how))
            touched.setdefault(entity, number)
    return News(commits, entities, touched, memories, tuple(latest), partial)


def _remembered(store: GraphReader, names: Names, at: Instant) -> tuple[list[NamedNode], int]:
    """Return some memories that a commit recorded, and how many it did: each, or the belief in it of that time."""
    graph, prefix = names.graph("memory"), names.memory("").value
    found = list(islice(_recorded(store, graph, RECORDED_AT, at), _FEW))
    told = [node for node in found if node.value.startswith(prefix)]
    if len(found) < _FEW:
        return told, len(found)
    query = f"SELECT (COUNT(*) AS ?count) {{ GRAPH {graph} {{ ?node {RECORDED_AT} {instant_literal(at)} }} }}"
    answer = store.query(query)
    assert isinstance(answer, QuerySolutions)
    return told, int(next(answer)[0].value)


def _commit(store: GraphReader, names: Names, number: int) -> About:
    return about(store, commit_iri(names.base, number), meta_graph(names.base))


def _recorded(store: GraphReader, graph: NamedNode, how: NamedNode, at: Instant) -> Iterator[NamedNode]:
    found = store.quads_for_pattern(None, how, instant_literal(at), graph)
    return (quad.subject for quad in found if isinstance(quad.subject, NamedNode))


def _told(store: GraphReader, names: Names, at: Instant) -> Iterator[tuple[NamedNode, NamedNode, NamedNode]]:
    """Yield (entity, node, how) for each event, draft, name, reference and merge that one commit began or ended."""
    for layer in ("temporal", "semantic"):
        graph = names.graph(layer)
        states = names.state("").value
        for how in _HOW:
            for node in _recorded(store, graph, how, at):
                if node.value.startswith(states):  # it follows from events, but for that of a draft
                    thread = next(iter(objects(store, node, THREAD, graph)), None) if how == RECORDED_AT else None
                    entity = next(iter(objects(store, thread, DRAFT_OF, graph)), None) if thread is not None else None
                else:
                    said = about(store, node, graph)
                    entity = next((owner for link in _OWNERS if (owner := said.iri(link)) is not None), None)
                if entity is not None:
                    yield entity, node, how


def entity_news(store: GraphReader, names: Names, news: News, entity: NamedNode, now: Instant) -> dict[str, Any]:
    """Return what the commits said of an entity: ``{"uuid", "identifier", "type", "commit", "what"}``."""
    nodes = news.entities[entity]
    words = dict.fromkeys(f"{_HOW[how]}{_in_words(store, names, node, now)}" for node, how in nodes[:_SAID])
    more = len(nodes) - _SAID
    kind = type_of(store, names, entity)
    return {
        "uuid": names.uuid_of(entity.value),
        "identifier": identifier_now(store, names, entity, now),
        "type": local_name(kind.value) if kind else None,
        "commit": news.touched[entity],
        "what": [*words, *([f"and {more} more"] if more > 0 else [])],
    }


def memory_news(store: GraphReader, names: Names, memory: NamedNode) -> dict[str, Any]:
    """Return the beginning of a memory: ``{"id", "kind", "content"}``."""
    said = about(store, memory, names.graph("memory"))
    content = " ".join(said.text(CONTENT).split())
    return {"id": names.uuid_of(memory.value), "kind": said.text(prism("memoryKind")), "content": content}


def _in_words(store: GraphReader, names: Names, node: NamedNode, now: Instant) -> str:
    said = about(store, node, names.graph("temporal"))
    if said.iri(CHANGES) is not None:
        changes = [_assertion(store, names, each, now) for each in said.iris(ASSERTION)]
        return f"{said.text(prism('eventType'))}: {', '.join(sorted(changes))}"
    if said.iri(THREAD) is not None:
        return "draft"
    said = about(store, node, names.graph("semantic"))
    if said.iri(ALIAS_OF) is not None:
        how = "formerly called" if said.text(ALIAS_KIND) == "former" else "also called"
        return f"{how} {said.text(SURFACE_FORM)}"
    kind, other = said.iri(KIND), said.iri(TARGET) or said.iri(_INTO)
    called = identifier_now(store, names, other, now) if other is not None else None
    return f"{local_name(kind.value) if kind else 'merged into'} {called or (other and names.uuid_of(other.value))}"


def _assertion(store: GraphReader, names: Names, node: NamedNode, now: Instant) -> str:
    said = about(store, node, names.graph("temporal"))
    prop, value, op = said.iri(prism("property")), said.term(prism("value")), said.text(prism("op"))
    name = local_name(prop.value) if prop is not None else ""
    if name == "retired":
        return "retired" if isinstance(value, Literal) and value.value == "true" else "in force again"
    if value is None:
        return f"no {name}"
    shown = value_json(store, names, value, now)
    text = shown.get("identifier") or shown["ref"] if isinstance(shown, dict) else shown
    return f"{name} {({'add': '+', 'remove': '-'}).get(op, '=')} {text}"
