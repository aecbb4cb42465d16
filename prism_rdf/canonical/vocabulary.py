"""Turtle files read together, each statement with its file, and look-ups in them; nothing is judged here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Store, Triple, parse

from prism_rdf import resources
from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import OWL, RDF, RDF_TYPE, RDFS, prism

SUBCLASS = NamedNode(RDFS + "subClassOf")
RANGE = NamedNode(RDFS + "range")
DOMAIN = NamedNode(RDFS + "domain")
THING = NamedNode(OWL + "Thing")
CLASS = NamedNode(OWL + "Class")
DATATYPE_PROPERTY = NamedNode(OWL + "DatatypeProperty")
OBJECT_PROPERTY = NamedNode(OWL + "ObjectProperty")

TYPE = prism("Type")
ENTITY = prism("Entity")
REFERENCE_KIND = prism("ReferenceKind")
IMMUTABLE = prism("immutableProperty")
MUTABLE = prism("mutableProperty")
ZONE, PTYPE = prism("zone"), prism("ptype")
IDENTIFYING, MULTI = prism("identifying"), prism("multiValued")

_ONTOLOGY, _VERSION = NamedNode(OWL + "Ontology"), NamedNode(OWL + "versionInfo")
_FIRST, _REST = NamedNode(RDF + "first"), NamedNode(RDF + "rest")
_FILE = "urn:prism:file:"
_LONGEST_MESSAGE = 300  # characters
Node = NamedNode | BlankNode
Term = NamedNode | BlankNode | Literal | Triple


class Vocabulary:
    """The statements of some files, by name. Blank nodes of two files are never the same."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._store = Store()
        self.files = tuple(texts)
        for name, text in texts.items():
            self._store.bulk_extend(_quads(name, text))

    @classmethod
    def shipped(cls) -> Vocabulary:
        """Return the ontology that ships with the package; read once per process."""
        return _shipped()

    def together(self, other: Vocabulary) -> Vocabulary:
        """Return the statements of both."""
        made = Vocabulary({})
        made.files = (*self.files, *other.files)
        for part in (self, other):
            made._store.bulk_extend(part._store)
        return made

    def __iter__(self) -> Iterator[Triple]:
        return (quad.triple for quad in self._store)

    def __contains__(self, triple: Triple) -> bool:
        found = self._store.quads_for_pattern(triple.subject, triple.predicate, triple.object, None)
        return next(found, None) is not None

    def statements(self, subject: Node | None = None, predicate: NamedNode | None = None) -> Iterator[Triple]:
        """Yield the statements of a subject, of a predicate, or all."""
        return (quad.triple for quad in self._store.quads_for_pattern(subject, predicate, None, None))

    def of_file(self, name: str) -> Iterator[Triple]:
        """Yield the statements of one file."""
        return (quad.triple for quad in self._store.quads_for_pattern(None, None, None, _graph(name)))

    def files_of(self, subject: Node, predicate: NamedNode | None = None, value: Term | None = None) -> tuple[str, ...]:
        """Return the files that say this of a subject, in their order."""
        found = {_name(quad) for quad in self._store.quads_for_pattern(subject, predicate, value, None)}
        return tuple(name for name in self.files if name in found)

    def has(self, subject: Node, predicate: NamedNode | None = None) -> bool:
        return next(self._store.quads_for_pattern(subject, predicate, None, None), None) is not None

    def subjects(self, predicate: NamedNode | None = None, value: Term | None = None) -> tuple[Node, ...]:
        """Return the subjects of which something is said, in a fixed order."""
        found = {quad.subject for quad in self._store.quads_for_pattern(None, predicate, value, None)}
        return tuple(sorted((node for node in found if isinstance(node, (NamedNode, BlankNode))), key=str))

    def instances(self, of: NamedNode) -> tuple[NamedNode, ...]:
        return tuple(node for node in self.subjects(RDF_TYPE, of) if isinstance(node, NamedNode))

    def objects(self, subject: Node, predicate: NamedNode) -> tuple[Term, ...]:
        """Return the values of a property, each once, in a fixed order."""
        found = {quad.object for quad in self._store.quads_for_pattern(subject, predicate, None, None)}
        return tuple(sorted(found, key=str))

    def nodes(self, subject: Node, predicate: NamedNode) -> tuple[NamedNode, ...]:
        return tuple(found for found in self.objects(subject, predicate) if isinstance(found, NamedNode))

    def text(self, subject: Node, predicate: NamedNode) -> str:
        """Return the value of a property as text; empty when there is none."""
        found = self.objects(subject, predicate)
        return next((each.value for each in found if isinstance(each, (NamedNode, Literal))), "")

    def items(self, head: Term) -> tuple[Term, ...]:
        """Return the members of an RDF list."""
        found: list[Term] = []
        seen: set[Term] = set()
        while isinstance(head, (NamedNode, BlankNode)) and head not in seen and self.has(head, _FIRST):
            seen.add(head)
            found += self.objects(head, _FIRST)[:1]
            head = next(iter(self.objects(head, _REST)), head)
        return tuple(found)

    def above(self, iri: NamedNode) -> tuple[NamedNode, ...]:
        """Return all superclasses that have a name, nearest first, without the class itself and owl:Thing."""
        seen: dict[NamedNode, None] = {}
        frontier = list(self.nodes(iri, SUBCLASS))
        while frontier:
            above = frontier.pop(0)
            if above not in seen and above not in (iri, THING):
                seen[above] = None
                frontier.extend(self.nodes(above, SUBCLASS))
        return tuple(seen)


@cache
def _shipped() -> Vocabulary:
    return Vocabulary({name: resources.text(name) for name in resources.names("ontology", ".ttl")})


def shipped_version() -> str:
    """Return the version of the ontology that ships with the package."""
    shipped = Vocabulary.shipped()
    return max(shipped.text(node, _VERSION) for node in shipped.subjects(RDF_TYPE, _ONTOLOGY))


def _quads(name: str, text: str) -> list[Quad]:
    try:
        graph = _graph(name)
        parsed = parse(text, RdfFormat.TURTLE, rename_blank_nodes=True)
        return [Quad(quad.subject, quad.predicate, quad.object, graph) for quad in parsed]
    except SyntaxError as error:
        place = f" at line {error.lineno}" if error.lineno else ""
        raise BadArgument(
            f"{name} is not Turtle: {_cut(error.msg)}",
            rule="types are declared in Turtle files",
            mend=f"correct the file{place}",
        ) from error


def _cut(message: str) -> str:
    """Return what the parser says without the middle of a long token, which it quotes in full."""
    half = _LONGEST_MESSAGE // 2
    return message if len(message) <= _LONGEST_MESSAGE else f"{message[:half]} … {message[-half:]}"


def _graph(name: str) -> NamedNode:
    return NamedNode(_FILE + name)


def _name(quad: Quad) -> str:
    assert not isinstance(quad.graph_name, DefaultGraph)
    return quad.graph_name.value.removeprefix(_FILE)


def texts_by_name(texts: Iterable[str]) -> dict[str, str]:
    """Return texts that have no file names under made-up ones."""
    return {f"text-{number}.ttl": text for number, text in enumerate(texts, 1)}
