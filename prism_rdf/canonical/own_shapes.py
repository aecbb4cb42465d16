"""The SHACL that a project's own files bring: taken out of them and laid out for the gate; judged in shape_faults.py.

A shape of a project judges either what a state says, by the class of its entity or by a property, or a reference, by
its kind (CAN_REFERENCE). A class stands for every type that is it or lies below it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.vocabulary import CLASS, Node, Term, Vocabulary
from prism_rdf.namespaces import RDF_TYPE, RDFS, SH, local_name, short

TARGET_CLASS, SUBJECTS_OF = NamedNode(SH + "targetClass"), NamedNode(SH + "targetSubjectsOf")
PROPERTY, PATH = NamedNode(SH + "property"), NamedNode(SH + "path")
_MESSAGE, _SEVERITY = NamedNode(SH + "message"), NamedNode(SH + "severity")
_SHAPES = (NamedNode(SH + "NodeShape"), NamedNode(SH + "PropertyShape"))
_CLASSES = frozenset({CLASS, NamedNode(RDFS + "Class")})


@dataclass(frozen=True)
class OwnShapes:
    """The shapes of states, and those of references with the names of the ones that speak of each kind."""

    states: tuple[Triple, ...] = ()
    links: tuple[Triple, ...] = ()
    of_kind: Mapping[NamedNode, tuple[str, ...]] = ()  # type: ignore[assignment]

    @classmethod
    def of(cls, own: Vocabulary, catalog: TypeCatalog) -> OwnShapes:
        """Return the shapes of some files, whose classes and kinds are those of ``catalog``."""
        found = roots(own)
        if not found:
            return cls(of_kind={})
        names = _names(own, found)
        body = [triple for node in closure(own, found) for triple in own.statements(node) if not _is_target(triple)]
        plain = [Triple(names.get(t.subject, t.subject), t.predicate, names.get(t.object, t.object)) for t in body]
        kinds = frozenset(catalog.kinds.values())
        of_kind = {
            kind: tuple(node.value for node in own.subjects(SUBJECTS_OF, kind) if isinstance(node, NamedNode))
            for kind in sorted(kinds, key=str)
        }
        plain += _messages(plain, {shape for shapes in of_kind.values() for shape in shapes})
        links = [Triple(NamedNode(shape), SUBJECTS_OF, kind) for kind, shapes in of_kind.items() for shape in shapes]
        states = [target for node in found for target in _state_targets(node, own, catalog, kinds)]
        return cls(
            states=(*plain, *states) if states else (),
            links=(*plain, *links) if links else (),
            of_kind={kind: shapes for kind, shapes in of_kind.items() if shapes},
        )


def roots(own: Vocabulary) -> tuple[Node, ...]:
    """Return the nodes of which a file says something in terms of SHACL."""
    said = {triple.subject for triple in own if triple.predicate.value.startswith(SH)}
    typed = {node for kind in _SHAPES for node in own.subjects(RDF_TYPE, kind)}
    return tuple(sorted((node for node in said | typed if isinstance(node, (NamedNode, BlankNode))), key=str))


def closure(own: Vocabulary, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the nodes with the nameless ones that they lead to, such as the cells of lists."""
    seen = dict.fromkeys(nodes)
    waiting = list(nodes)
    while waiting:
        for triple in own.statements(waiting.pop()):
            if isinstance(triple.object, BlankNode) and triple.object not in seen:
                seen[triple.object] = None
                waiting.append(triple.object)
    return tuple(seen)


def classes_of(node: Node, own: Vocabulary) -> tuple[NamedNode, ...]:
    """Return the classes that a shape targets; a shape that is itself a class targets that."""
    itself = (node,) if isinstance(node, NamedNode) and not _CLASSES.isdisjoint(own.nodes(node, RDF_TYPE)) else ()
    return (*own.nodes(node, TARGET_CLASS), *itself)


def types_below(cls: NamedNode, catalog: TypeCatalog) -> tuple[NamedNode, ...]:
    """Return the types that are a class or lie below it."""
    return tuple(known.iri for known in catalog.types if cls == known.iri or cls in known.superclasses)


def _state_targets(node: Node, own: Vocabulary, catalog: TypeCatalog, kinds: frozenset[NamedNode]) -> Iterator[Triple]:
    for cls in classes_of(node, own):
        for type_iri in types_below(cls, catalog):
            yield Triple(node, TARGET_CLASS, type_iri)
    for prop in own.nodes(node, SUBJECTS_OF):
        if prop not in kinds:
            yield Triple(node, SUBJECTS_OF, prop)


def _is_target(triple: Triple) -> bool:
    implicit = triple.predicate == RDF_TYPE and triple.object in _CLASSES
    return implicit or triple.predicate in (TARGET_CLASS, SUBJECTS_OF)


def _names(own: Vocabulary, found: tuple[Node, ...]) -> dict[Term, NamedNode]:
    """Return names for the nameless property shapes of named shapes, so that a report can say which one it was."""
    made: dict[Term, NamedNode] = {}
    for shape in found:
        if not isinstance(shape, NamedNode):
            continue
        for each in own.objects(shape, PROPERTY):
            paths = own.nodes(each, PATH) if isinstance(each, BlankNode) else ()
            if len(paths) == 1:
                name = f"{shape.value}-{local_name(paths[0].value)}"
                taken = sum(1 for other in made.values() if other.value.startswith(name))
                made[each] = NamedNode(f"{name}-{taken + 1}" if taken else name)
    return made


def _messages(shapes: Sequence[Triple], of_links: Collection[str]) -> Iterator[Triple]:
    """Yield what to say of each property shape whose author said nothing: pySHACL would say it in its own words.

    What its author said of a kind of reference is said of both of its ends.
    """
    said: dict[Term, list[Triple]] = defaultdict(list)
    for triple in shapes:
        said[triple.subject].append(triple)
    above = {
        triple.object: each.object
        for triple in shapes
        if triple.predicate == PROPERTY and isinstance(triple.subject, NamedNode) and triple.subject.value in of_links
        for each in said[triple.subject]
        if each.predicate == _MESSAGE
    }
    for node, triples in said.items():
        paths = [
            triple.object for triple in triples if triple.predicate == PATH and isinstance(triple.object, NamedNode)
        ]
        if (
            paths
            and isinstance(node, (NamedNode, BlankNode))
            and not any(triple.predicate == _MESSAGE for triple in triples)
        ):
            asked = sorted(
                f"{local_name(triple.predicate.value)} {_shown(triple.object)}".strip()
                for triple in triples
                if triple.predicate.value.startswith(SH) and triple.predicate not in (PATH, _SEVERITY)
            )
            text = f"{local_name(paths[0].value)} does not fit its shape. It asks for: {', '.join(asked)}"
            yield Triple(node, _MESSAGE, above.get(node, Literal(text)))


def _shown(term: Term) -> str:
    return term.value if isinstance(term, Literal) else short(term.value) if isinstance(term, NamedNode) else ""
