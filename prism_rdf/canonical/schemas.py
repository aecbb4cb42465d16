"""What a project knows of types: the ontology that ships with its own files, as one catalog and one gate."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from pyoxigraph import NamedNode

from prism_rdf.canonical import consistency, declarations
from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.canonical.own_shapes import OwnShapes
from prism_rdf.canonical.texts import KnownText, believed, texts_of
from prism_rdf.canonical.type_shapes import type_shapes
from prism_rdf.canonical.vocabulary import Vocabulary
from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument, Violation
from prism_rdf.namespaces import RDF_TYPE, Names
from prism_rdf.storage.interface import GraphReader
from prism_rdf.validation.gate import Gate

_LOG = logging.getLogger("prism_rdf.types")
_KEPT = 32
Texts = tuple[tuple[str, str], ...]  # file name and content, by name


@dataclass(frozen=True, eq=False)
class Schema:
    """The types of a project: what they declare, what is allowed of them, and in which of its files they stand.

    ``unusable`` are the files that no longer go with what ships, each with the reason: they are left out.
    """

    texts: Texts
    own: Vocabulary
    catalog: TypeCatalog
    shapes: OwnShapes
    gate: Gate
    unusable: tuple[tuple[str, str], ...] = ()

    @classmethod
    def shipped(cls) -> Schema:
        """Return what a project knows that has no files of its own; compiled once per process."""
        return _shipped()

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Schema:
        """Return the types of a project with these files, which are sound (``faults``)."""
        return _compiled(tuple(sorted(texts.items()))) if texts else _shipped()

    def file_of(self, iri: NamedNode) -> str:
        """Return the file of the project that declares a term; empty for one that ships."""
        return next(iter(self.own.files_of(iri, RDF_TYPE)), "")


class Schemas:
    """The schema of each project of one store, as it is believed now; forget it once its files change."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Schema] = {}
        self._turn = 0

    @classmethod
    def knowing(cls, names: Names, schema: Schema) -> Schemas:
        """Return the schemas of a store in which a project has this one."""
        made = cls()
        made._known[names.base, names.namespace] = schema
        return made

    def of(self, store: GraphReader, names: Names) -> Schema:
        """Return the schema of a project as it is believed now."""
        key = (names.base, names.namespace)
        found = self._known.get(key)
        if found is None:
            turn = self._turn
            found = self.read(store, names)
            if turn == self._turn:  # else it may be of the past already
                self._known[key] = found
        return found

    @staticmethod
    def read(store: GraphReader, names: Names, known_at: Instant | None = None) -> Schema:
        """Return the schema of a project in ``store`` as it was believed at ``known_at`` (None: now)."""
        return Schema.of(believed(texts_of(store, names), known_at))

    def forget(self) -> None:
        """Read every schema anew when it is asked for next."""
        self._turn += 1
        self._known.clear()


@lru_cache(_KEPT)
def faults(texts: Texts) -> tuple[Violation, ...]:
    """Return what is wrong with the files of a project; each stage needs the ones before it.

    First whether they can be read, then what they declare, then whether that can be true, then their shapes.
    """
    from prism_rdf.canonical.shape_faults import shape_faults

    try:
        own = Vocabulary(dict(texts))
    except BadArgument:
        return tuple(_unreadable(texts))
    whole = Vocabulary.shipped().together(own)
    found = tuple(declarations.faults(own, whole))
    found += tuple(consistency.contradictions(own, whole))
    return found or tuple(shape_faults(own, TypeCatalog.of(whole)))


def epochs(texts: tuple[KnownText, ...]) -> list[tuple[Instant, Schema]]:
    """Return since when which schema was believed, oldest first; before the first it was what ships."""
    ends = (each.belief.withdrawn_at for each in texts if each.belief.withdrawn_at is not None)
    turns = sorted({*(each.belief.recorded_at for each in texts), *ends})
    return [(turn, Schema.of(believed(texts, turn))) for turn in turns]


def _unreadable(texts: Texts) -> Iterator[Violation]:
    for name, text in texts:
        try:
            Vocabulary({name: text})
        except BadArgument as error:
            yield Violation(name, "", "", error.rule, error.message, error.mend)


@cache
def _shipped() -> Schema:
    catalog = TypeCatalog.shipped()
    return Schema((), Vocabulary({}), catalog, OwnShapes(of_kind={}), Gate(lambda: type_shapes(catalog)))


@lru_cache(_KEPT)
def _compiled(texts: Texts) -> Schema:
    try:
        return _read(texts)
    except BadArgument:  # sound when it was written: what ships has changed since
        kept: Texts = ()
        unusable: tuple[tuple[str, str], ...] = ()
        for each in texts:
            try:
                _read((*kept, each))
                kept = (*kept, each)
            except BadArgument as error:
                _LOG.error("types of %s are left out: %s", each[0], error.message)
                unusable = (*unusable, (each[0], error.message))
        return _read(kept, unusable)


def _read(texts: Texts, unusable: tuple[tuple[str, str], ...] = ()) -> Schema:
    own = Vocabulary(dict(texts))
    catalog = TypeCatalog.of(Vocabulary.shipped().together(own))
    shapes = OwnShapes.of(own, catalog)
    gate = Gate(lambda: type_shapes(catalog), shapes.states, shapes.links, shapes.of_kind)
    return Schema(texts, own, catalog, shapes, gate, unusable)
