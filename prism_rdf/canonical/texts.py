"""The Turtle texts that a project taught its store, and when each was believed; what they say is not read here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import Belief, Delta, Writing, belief_of, record, withdraw
from prism_rdf.clock import Instant
from prism_rdf.model import TypeText
from prism_rdf.namespaces import RDF_TYPE, Names, derived_uuid, prism
from prism_rdf.storage.about import about, subjects
from prism_rdf.storage.interface import GraphReader

TYPE_TEXT = prism("TypeText")
FILE_NAME, TURTLE, SOURCE = prism("fileName"), prism("turtle"), prism("source")


@dataclass(frozen=True)
class KnownText:
    """One version of a file of types, and when it was believed; ``source`` says where it was read, if anywhere."""

    node: NamedNode
    file_name: str
    content: str
    source: str
    belief: Belief


def texts_of(store: GraphReader, names: Names) -> tuple[KnownText, ...]:
    """Return every version of every file of a project, oldest first."""
    graph = names.graph("types")
    found: list[KnownText] = []
    for node in subjects(store, RDF_TYPE, TYPE_TEXT, graph):
        said = about(store, node, graph)
        belief = belief_of(said)
        if belief is not None:
            found.append(KnownText(node, said.text(FILE_NAME), said.text(TURTLE), said.text(SOURCE), belief))
    return tuple(sorted(found, key=lambda each: (each.belief.recorded_at, each.file_name)))


def believed(texts: Iterable[KnownText], known_at: Instant | None = None) -> dict[str, str]:
    """Return the content of each file as believed at ``known_at`` (None: now), by name, sorted."""
    return {
        each.file_name: each.content
        for each in sorted(texts, key=lambda each: each.file_name)
        if each.belief.covers(known_at)
    }


def plan_texts(store: GraphReader, texts: Iterable[TypeText], writing: Writing) -> Delta:
    """Return the change after which the files say what is wanted: nothing for those that do already."""
    wanted = {text.file_name: text for text in texts}
    if not wanted:
        return Delta()
    graph, parts = writing.names.graph("types"), []
    held = {each.file_name: each for each in texts_of(store, writing.names) if each.belief.covers(None)}
    for name, text in sorted(wanted.items()):
        before = held.get(name)
        if (before.content if before is not None else None) == text.content:
            continue
        if before is not None:
            parts.append(withdraw(before.node, graph, writing))
        if text.content is not None:
            parts.append(Delta(_quads(text, text.content, graph, writing)))
    return Delta.joined(parts)


def _quads(text: TypeText, content: str, graph: NamedNode, writing: Writing) -> tuple[Quad, ...]:
    node = writing.names.type_text(derived_uuid("type text", text.file_name, content, writing.now.iso()))
    quads = [
        Quad(node, RDF_TYPE, TYPE_TEXT, graph),
        Quad(node, FILE_NAME, Literal(text.file_name), graph),
        Quad(node, TURTLE, Literal(content), graph),
    ]
    if text.source:
        quads.append(Quad(node, SOURCE, Literal(text.source), graph))
    return (*quads, *record(node, graph, None, writing))
