"""Aliases: surface forms that resolve toward an entity, each with its validity; merging entities is not done here."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import VALID_FROM, Delta, Writing, belief_at
from prism_rdf.clock import Instant
from prism_rdf.model import Alias
from prism_rdf.namespaces import RDF_TYPE, Names, derived_uuid, prism
from prism_rdf.semantic.intervals import plan_interval
from prism_rdf.storage.about import about, subjects
from prism_rdf.storage.interface import GraphReader

ALIAS_OF = prism("aliasOf")
SURFACE_FORM = prism("surfaceForm")
FOLDED_FORM = prism("foldedForm")
ALIAS_KIND = prism("aliasKind")


@dataclass(frozen=True)
class KnownAlias:
    """An alias as believed at one system time; it was or is the name over [valid_from, valid_until)."""

    node: NamedNode
    target: NamedNode
    surface_form: str
    kind: str
    tier: int
    valid_from: Instant | None
    valid_until: Instant | None

    def holds(self, at: Instant) -> bool:
        began = self.valid_from is None or self.valid_from <= at
        return began and (self.valid_until is None or at < self.valid_until)


def folded(text: str) -> str:
    """Return the form under which names are compared: NFKC, case folded, NFKC again, white space collapsed.

    >>> folded("  PrismGR ") == folded("prismgr"), folded("ＡＤＲ\u00a0７") == folded("adr 7")
    (True, True)
    """
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def plan_aliases(store: GraphReader, aliases: Iterable[Alias], writing: Writing) -> Delta:
    """Return the change that records the aliases; empty for those already believed."""
    return Delta.joined(_plan_alias(store, alias, writing) for alias in aliases)


def alias_node(alias: Alias, names: Names) -> NamedNode:
    """Return the alias's IRI, which follows from the name, its kind, whose it is, since when and who says so."""
    start = alias.start.iso() if alias.start else ""
    target = names.entity(alias.target).value
    return names.alias(derived_uuid("alias", target, alias.surface_form, alias.kind, start, alias.source))


def _plan_alias(store: GraphReader, alias: Alias, writing: Writing) -> Delta:
    names = writing.names
    target, node = names.entity(alias.target), alias_node(alias, names)
    graph = names.graph("semantic")
    says = [
        Quad(node, RDF_TYPE, prism("Alias"), graph),
        Quad(node, SURFACE_FORM, Literal(alias.surface_form), graph),
        Quad(node, FOLDED_FORM, Literal(folded(alias.surface_form)), graph),
        Quad(node, ALIAS_KIND, Literal(alias.kind), graph),
        Quad(node, ALIAS_OF, target, graph),
        Quad(node, prism("tier"), Literal(alias.tier), graph),
    ]
    if alias.source_memory:
        says.append(Quad(node, prism("sourceMemory"), NamedNode(alias.source_memory), graph))
    if alias.source:
        says.append(Quad(node, prism("source"), Literal(alias.source), graph))
    return plan_interval(store, node, says, alias.start, alias.until, writing)


def aliases_of(
    store: GraphReader, names: Names, target: NamedNode, known_at: Instant | None = None
) -> tuple[KnownAlias, ...]:
    """Return the aliases that resolve to ``target``, as believed at ``known_at`` (None: now)."""
    return _read(store, names, subjects(store, ALIAS_OF, target, names.graph("semantic")), known_at)


def aliases_named(
    store: GraphReader, names: Names, surface_form: str, known_at: Instant | None = None
) -> tuple[KnownAlias, ...]:
    """Return the aliases with this surface form, compared folded, as believed at ``known_at`` (None: now)."""
    form = Literal(folded(surface_form))
    graph = names.graph("semantic")
    nodes = (quad.subject for quad in store.quads_for_pattern(None, FOLDED_FORM, form, graph))
    return _read(store, names, [node for node in nodes if isinstance(node, NamedNode)], known_at)


def _read(
    store: GraphReader, names: Names, nodes: Iterable[NamedNode], known_at: Instant | None
) -> tuple[KnownAlias, ...]:
    graph = names.graph("semantic")
    found = []
    for node in nodes:
        alias = about(store, node, graph)
        belief, target = belief_at(store, alias, graph, known_at), alias.iri(ALIAS_OF)
        if belief is None or target is None:
            continue
        found.append(
            KnownAlias(
                node=node,
                target=target,
                surface_form=alias.text(SURFACE_FORM),
                kind=alias.text(ALIAS_KIND),
                tier=alias.number(prism("tier")),
                valid_from=alias.instant(VALID_FROM),
                valid_until=belief.until(known_at),
            )
        )
    return tuple(sorted(found, key=lambda alias: (alias.surface_form, alias.node.value)))
