"""Terms on their way to rdflib and back, for pySHACL alone; no graph is read here.

rdflib normalises lexical forms, logs what it cannot convert and knows no year before 1 or after 9999. So the literals
that stores are full of are built here slot by slot, with the value that pySHACL asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyoxigraph as ox
from rdflib import Graph
from rdflib.store import Store
from rdflib.term import BNode, IdentifiedNode, Literal, Node, URIRef

from prism_rdf.namespaces import RDF, XSD
from prism_rdf.validation.lexical import VALUES

OxTerm = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple

_DATATYPES = {name: URIRef(name) for name in VALUES}


def literal(term: ox.Literal) -> Literal:
    """Return the rdflib literal of the same lexical form; a form that its datatype does not allow is ill-typed."""
    text, datatype = term.value, term.datatype.value
    value: Any = text
    ill_typed = None
    reference = None
    if datatype in VALUES:
        reference = _DATATYPES[datatype]
        try:
            value, ill_typed = VALUES[datatype](text), False
        except ValueError:
            value, ill_typed = None, True
    elif datatype not in (XSD + "string", RDF + "langString"):
        return Literal(text, datatype=datatype, normalize=False)
    made: Any = str.__new__(Literal, text)
    made._language, made._datatype, made._value, made._ill_typed = term.language, reference, value, ill_typed
    return made  # type: ignore[no-any-return]


def to_rdflib(term: OxTerm) -> IdentifiedNode | Literal:
    """Return the rdflib term; raise ValueError for a triple term, which SHACL does not know."""
    if isinstance(term, ox.NamedNode):
        return URIRef(term.value)
    if isinstance(term, ox.Literal):
        return literal(term)
    if isinstance(term, ox.BlankNode):
        return BNode(term.value)
    raise ValueError("a triple term has no place in a shape")


def to_text(node: Node | None) -> str:
    """Return the N-Triples form of an rdflib term, and nothing for none."""
    if node is None:
        return ""
    if isinstance(node, URIRef):
        return f"<{node}>"
    if isinstance(node, Literal):
        datatype = ox.NamedNode(str(node.datatype)) if node.datatype else None
        return str(ox.Literal(str(node), datatype=datatype, language=node.language))
    return f"_:{node}"


class _Index(Store):
    """Triples by subject and predicate, without the events, contexts and namespaces of rdflib's own stores."""

    def __init__(self) -> None:
        super().__init__()
        self.by_subject: dict[Node, dict[Node, list[Node]]] = {}
        self.by_predicate: dict[Node, list[tuple[Node, Node]]] = {}

    def add(self, triple: tuple[Node, Node, Node], context: Any = None, quoted: bool = False) -> None:
        subject, predicate, value = triple
        values = self.by_subject.setdefault(subject, {}).setdefault(predicate, [])
        if value not in values:
            values.append(value)
            self.by_predicate.setdefault(predicate, []).append((subject, value))

    def triples(self, pattern: Any, context: Any = None) -> Iterator[tuple[Any, Iterator[None]]]:
        for triple in self._matches(*pattern):
            yield triple, iter(())

    def _matches(self, subject: Any, predicate: Any, value: Any) -> Iterator[tuple[Node, Node, Node]]:
        if subject is not None:
            about = self.by_subject.get(subject, {})
            known = about.items() if predicate is None else [(predicate, about.get(predicate, ()))]
            found = ((subject, p, o) for p, values in known for o in values)
        else:
            predicates = self.by_predicate if predicate is None else (predicate,)
            found = ((s, p, o) for p in predicates for s, o in self.by_predicate.get(p, ()))
        return (triple for triple in found if value is None or triple[2] == value)

    def __len__(self, context: Any = None) -> int:
        return sum(map(len, self.by_predicate.values()))


class IndexedGraph(Graph):
    """A graph to be read node by node: the two questions that pySHACL asks most go straight to the index."""

    def __init__(self, triples: Iterable[ox.Triple]) -> None:
        self.index = _Index()
        super().__init__(self.index, bind_namespaces="none")
        made: dict[OxTerm, IdentifiedNode | Literal] = {}
        for triple in triples:
            nodes = []
            for term in (triple.subject, triple.predicate, triple.object):
                node = made.get(term)
                if node is None:
                    node = made[term] = to_rdflib(term)
                nodes.append(node)
            self.index.add((nodes[0], nodes[1], nodes[2]))

    def objects(self, subject: Any = None, predicate: Any = None, unique: bool = False) -> Any:
        if subject is None or predicate is None:
            return super().objects(subject, predicate, unique)
        return iter(self.index.by_subject.get(subject, {}).get(predicate, ()))

    def predicate_objects(self, subject: Any = None, unique: bool = False) -> Any:
        if subject is None:
            return super().predicate_objects(subject, unique)
        about = self.index.by_subject.get(subject, {})
        return ((predicate, value) for predicate, values in about.items() for value in values)
