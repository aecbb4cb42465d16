"""CAN_REFERENCE read back from the shapes: which kinds lead from which types to which; the gate does not go by this."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from pyoxigraph import NamedNode, RdfFormat, Store, parse

from prism_rdf import resources
from prism_rdf.namespaces import RDF, SH, local_name

if TYPE_CHECKING:
    from prism_rdf.validation.gate import Gate


class KnownType(Protocol):
    """What is asked of a type; the catalog's EntityType has it."""

    @property
    def iri(self) -> NamedNode: ...

    @property
    def name(self) -> str: ...

    @property
    def superclasses(self) -> tuple[NamedNode, ...]: ...


class KnownTypes(Protocol):
    """What is asked of a catalog."""

    @property
    def types(self) -> Sequence[KnownType]: ...


@dataclass(frozen=True)
class Allowed:
    """One branch of the shape of a kind: every pair of a source class and a target class is allowed."""

    kind: NamedNode
    sources: frozenset[NamedNode]
    targets: frozenset[NamedNode]


def allowed_references(
    catalog: KnownTypes, gate: Gate | None = None
) -> Mapping[NamedNode, Mapping[str, tuple[str, ...]]]:
    """Return, for each type, the names of the types that it can refer to, by the name of the kind.

    Kinds and types are sorted; a kind that cannot start at the type is left out. The shapes of a project are not read
    but asked, pair by pair: ``gate`` is its gate.
    """
    found: dict[NamedNode, dict[str, tuple[str, ...]]] = {}
    own = gate.allowed_by_own([(known.iri, frozenset(_classes(known))) for known in catalog.types]) if gate else {}
    named = {known.iri: known.name for known in catalog.types}
    for source in catalog.types:
        targets: dict[str, set[str]] = {}
        for branch in shipped_branches():
            if not branch.sources.isdisjoint(_classes(source)):
                names = {target.name for target in catalog.types if not branch.targets.isdisjoint(_classes(target))}
                targets.setdefault(local_name(branch.kind.value), set()).update(names)
        for kind, iris in own.get(source.iri, {}).items():
            targets.setdefault(local_name(kind.value), set()).update(named[iri] for iri in iris)
        found[source.iri] = {kind: tuple(sorted(targets[kind])) for kind in sorted(targets)}
    return found


@cache
def shipped_branches() -> tuple[Allowed, ...]:
    """Return the branches of the shapes that ship with the package."""
    store = Store()
    store.extend(_quads(resources.text("shapes/semantic.ttl")))
    return tuple(_branches(store))


def _quads(turtle: str) -> Iterable[Any]:
    return parse(turtle, RdfFormat.TURTLE)


def _classes(known: KnownType) -> set[NamedNode]:
    return {known.iri, *known.superclasses}


def _branches(store: Store) -> Iterator[Allowed]:
    for quad in store.quads_for_pattern(None, NamedNode(SH + "targetSubjectsOf"), None):
        for branch in _members(store, quad.subject):
            inner = next(store.quads_for_pattern(branch, NamedNode(SH + "property"), None)).object
            yield Allowed(_named(quad.object), _class_names(store, branch), _class_names(store, inner))


def _members(store: Store, node: Any) -> Iterator[Any]:
    """Yield the members of the sh:or list of a shape."""
    found = next(store.quads_for_pattern(node, NamedNode(SH + "or"), None), None)
    cell: Any = found.object if found else NamedNode(RDF + "nil")
    while cell != NamedNode(RDF + "nil"):
        yield next(store.quads_for_pattern(cell, NamedNode(RDF + "first"), None)).object
        cell = next(store.quads_for_pattern(cell, NamedNode(RDF + "rest"), None)).object


def _class_names(store: Store, node: Any) -> frozenset[NamedNode]:
    return frozenset(
        _named(quad.object)
        for member in _members(store, node)
        for quad in store.quads_for_pattern(member, NamedNode(SH + "class"), None)
    )


def _named(term: Any) -> NamedNode:
    assert isinstance(term, NamedNode)
    return term
