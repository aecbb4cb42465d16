"""Every IRI that the store mints, and the vocabularies it speaks; no graph is read or written here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha1
from uuid import UUID

from pyoxigraph import NamedNode

from prism_rdf.errors import BadArgument

PRISM = "https://w3id.org/prism-rdf/ns#"
TYPE = "https://w3id.org/prism-rdf/type#"
SHAPE = "https://w3id.org/prism-rdf/shapes#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
PROV = "http://www.w3.org/ns/prov#"
DCTERMS = "http://purl.org/dc/terms/"
SH = "http://www.w3.org/ns/shacl#"

PREFIXES: dict[str, str] = {
    "prism": PRISM,
    "type": TYPE,
    "shape": SHAPE,
    "rdf": RDF,
    "rdfs": RDFS,
    "owl": OWL,
    "xsd": XSD,
    "skos": SKOS,
    "prov": PROV,
    "dcterms": DCTERMS,
    "sh": SH,
}

STORE = "-"  # in place of a project: what belongs to none; it is no legal name of one

LAYERS = ("canonical", "semantic", "temporal", "evidence", "memory", "review", "types", "current", "tail")
TOLD = ("memory", "evidence")  # beside the current graph these are what a query of the world sees

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_UUID_ROOT = UUID("6f0c1f6e-5d5e-5c0b-9a51-6a6d1b7d2c10")


@lru_cache(maxsize=4096)
def prism(local: str) -> NamedNode:
    """Return the term ``prism:local`` of the engine's vocabulary.

    >>> prism("hasState").value
    'https://w3id.org/prism-rdf/ns#hasState'
    """
    return NamedNode(PRISM + local)


RDF_TYPE = NamedNode(RDF + "type")
_AS_A_VOWEL = re.compile(r"[AEIOaeio]|[Uu](?!ni|s)|[FHLMNRSX][^AEIOUYaeiouy]*$")


@lru_cache(maxsize=4096)
def local_name(iri: str) -> str:
    """Return what follows the last ``#`` or ``/`` of an IRI.

    >>> local_name("https://w3id.org/prism-rdf/ns#title")
    'title'
    """
    return re.split(r"[#/]", iri)[-1]


def article(name: str) -> str:
    """Return the name of a type with its article, as it is spoken: letter by letter where it has no vowel.

    >>> [article(name) for name in ("ADR", "SPEC", "RFC", "EnvVar", "Project", "Unit")]
    ['an ADR', 'a SPEC', 'an RFC', 'an EnvVar', 'a Project', 'a Unit']
    """
    return f"{'an' if _AS_A_VOWEL.match(name) else 'a'} {name}"


def short(iri: str) -> str:
    """Return the IRI for eyes: with a prefix of PREFIXES where one fits, unchanged otherwise.

    >>> short("https://w3id.org/prism-rdf/ns#title"), short("urn:x:1")
    ('prism:title', 'urn:x:1')
    """
    for prefix, start in PREFIXES.items():
        local = iri.removeprefix(start)
        if local != iri and re.fullmatch(r"[\w.-]+", local):
            return f"{prefix}:{local}"
    return iri


def derived_uuid(*parts: str) -> str:
    """Return the uuid5 of the parts: the same input gives the same name wherever and whenever.

    Parts are length-prefixed, so ("ab", "c") and ("a", "bc") differ.

    >>> derived_uuid("a", "bc") == derived_uuid("ab", "c")
    False
    """
    name = "".join([f"{len(part)}:{part}" for part in parts])
    digest = sha1(_UUID_ROOT.bytes + name.encode(), usedforsecurity=False).digest()
    return str(UUID(bytes=digest[:16], version=5))  # what uuid.uuid5 returns, at half the cost


def check_name(kind: str, name: str) -> str:
    """Return a tenant or project id unchanged; raise BadArgument when it could not be part of an IRI or a path."""
    if not _NAME.fullmatch(name):
        raise BadArgument(
            f"{kind} {name!r} is not a usable name",
            rule="a name starts with a letter or digit and has at most 64 of A-Z a-z 0-9 . _ -",
            mend=f"choose a {kind} such as 'my-project'",
        )
    return name


@dataclass(frozen=True)
class Names:
    """The IRIs of one namespace (project) of one store.

    ``base`` is fixed when the store is made (default ``urn:prism:{tenant}``).

    >>> Names("urn:prism:default", "demo").graph("current").value
    'urn:prism:default/demo/graph/current'
    """

    base: str
    namespace: str

    def _of(self, room: str, name: str) -> NamedNode:
        return NamedNode(f"{self.base}/{self.namespace}/{room}/{name}")

    def graph(self, layer: str) -> NamedNode:
        """Return the graph of a layer of this namespace; ``layer`` is one of LAYERS."""
        return _graph(self.base, self.namespace, layer)

    def entity(self, uuid: str) -> NamedNode:
        return self._of("entity", uuid)

    def state(self, uuid: str) -> NamedNode:
        """Return a state's IRI, which is also the name of the graph that holds its snapshot."""
        return self._of("state", uuid)

    def event(self, uuid: str) -> NamedNode:
        return self._of("event", uuid)

    def alias(self, uuid: str) -> NamedNode:
        return self._of("alias", uuid)

    def reference(self, uuid: str) -> NamedNode:
        return self._of("reference", uuid)

    def merge(self, uuid: str) -> NamedNode:
        return self._of("merge", uuid)

    def difference(self, uuid: str) -> NamedNode:
        return self._of("difference", uuid)

    def memory(self, uuid: str) -> NamedNode:
        return self._of("memory", uuid)

    def evidence(self, uuid: str) -> NamedNode:
        return self._of("evidence", uuid)

    def concept(self, name: str) -> NamedNode:
        return self._of("concept", derived_uuid("concept", name))

    def belief(self, uuid: str, number: int) -> NamedNode:
        """Return the IRI of an earlier belief about the node ``uuid``, ended by commit ``number``."""
        return self._of("belief", f"{uuid}-{number}")

    def draft(self, uuid: str) -> NamedNode:
        return self._of("draft", uuid)

    def candidate(self, uuid: str) -> NamedNode:
        return self._of("candidate", uuid)

    def clue(self, uuid: str) -> NamedNode:
        return self._of("clue", uuid)

    def ruling(self, uuid: str) -> NamedNode:
        return self._of("ruling", uuid)

    def type_text(self, uuid: str) -> NamedNode:
        return self._of("types", uuid)

    def uuid_of(self, iri: str) -> str:
        """Return the last path segment of an IRI minted here."""
        return iri.rsplit("/", 1)[-1]


@lru_cache(maxsize=1024)
def _graph(base: str, namespace: str, layer: str) -> NamedNode:
    return NamedNode(f"{base}/{namespace}/graph/{layer}")


def meta_graph(base: str) -> NamedNode:
    """Return the one graph of a store that holds its version and its commits ('-' is no legal namespace)."""
    return NamedNode(f"{base}/-/graph/meta")


def commit_iri(base: str, number: int) -> NamedNode:
    return NamedNode(f"{base}/-/commit/{number}")
