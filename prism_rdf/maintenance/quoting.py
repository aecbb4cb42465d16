"""Which words quote a thing, and where in a store they stand; what follows from that is decided elsewhere.

A text quotes an entity when it says a name that the entity ever bore and no other entity did, found as recall finds
names. It quotes a memory when it holds all of its words.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.changes import Ground
from prism_rdf.namespaces import XSD, Names, prism
from prism_rdf.recall.surfaces import SurfaceIndex, find_all, is_telling, spellings
from prism_rdf.recall.words import fold, key_of
from prism_rdf.semantic.aliases import ALIAS_OF, SURFACE_FORM
from prism_rdf.storage.about import about, objects, subjects
from prism_rdf.temporal.events import ASSERTION, CHANGES
from prism_rdf.temporal.states import HAS_STATE

PATH = prism("path")
PROPERTY = prism("property")
VALUE = prism("value")

_FEWEST = 12  # characters of a memory: fewer words stand in many a text without being from there

# What the engine itself says in text: it may well be a name, and quotes nobody.
_ITS_OWN = frozenset(
    prism(name)
    for name in (
        *("uuid", "tenant", "namespace", "hasNamespace", "verb", "payloadHash", "eventType", "atPrecision", "op"),
        *("aliasKind", "memoryKind", "commitStatus", "draftSource", "outcome", "candidateStatus", "edited"),
    )
)
_NO_TEXT = frozenset(
    XSD + name for name in ("dateTime", "date", "integer", "int", "long", "decimal", "double", "float", "boolean")
)


@dataclass(frozen=True)
class Wording:
    """How a thing is quoted: by ``keys`` of its names, or by ``passages`` of folded text.

    ``unsought`` are the names that are not looked for, each with the reason.
    """

    keys: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    unsought: tuple[tuple[str, str], ...] = ()
    _known: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)

    def is_in(self, text: str) -> bool:
        """Return whether the text quotes the thing."""
        if text not in self._known:
            if len(self._known) > 10_000:
                self._known.clear()
            folded = fold(text)
            self._known[text] = any(passage in folded for passage in self.passages) or any(
                find_all(key, folded) for key in self.keys
            )
        return self._known[text]


def wording_of_entity(ground: Ground, names: Names, entity: NamedNode) -> Wording:
    """Return the wording of every name that an entity ever bore, drafts and withdrawn states included."""
    index = SurfaceIndex.build(ground.store, names, ground.schema(names).catalog.identifying)
    keys: dict[str, None] = {}
    unsought: dict[str, str] = {}
    for name, prop in sorted(_names_of(ground, names, entity), key=str):
        others = _others(ground, names, entity, name, prop, index)
        for key in map(key_of, spellings(name, lambda: index.type_name(entity.value))):
            if not is_telling(key):
                unsought[name] = "it is in too many texts"
            elif others:
                unsought[name] = others
            else:
                keys[key] = None
    return Wording(keys=tuple(keys), unsought=tuple(unsought.items()))


def wording_of_memory(content: str) -> Wording:
    """Return the wording of a memory: all its words, unless they are too few to tell."""
    folded = fold(content.strip())
    if len(folded) < _FEWEST:
        return Wording(unsought=((content, "it is in too many texts"),))
    return Wording(passages=(folded,))


def is_text(quad: Quad) -> bool:
    """Return whether the object of a quad is a text that somebody said."""
    value = quad.object
    return isinstance(value, Literal) and value.datatype.value not in _NO_TEXT and quad.predicate not in _ITS_OWN


def _names_of(ground: Ground, names: Names, entity: NamedNode) -> set[tuple[str, NamedNode]]:
    """Return each name with the property that says it; the path of a document is one too."""
    store, temporal, semantic = ground.store, names.graph("temporal"), names.graph("semantic")
    naming = ground.schema(names).catalog.identifying | {PATH}
    found: set[tuple[str, NamedNode]] = set()
    for state in objects(store, entity, HAS_STATE, temporal):
        for quad in about(store, entity, state).quads:
            if quad.predicate in naming and isinstance(quad.object, Literal):
                found.add((quad.object.value, quad.predicate))
    for event in subjects(store, CHANGES, entity, temporal):
        for node in objects(store, event, ASSERTION, temporal):
            said = about(store, node, temporal)
            prop = said.iri(PROPERTY)
            if prop in naming and prop is not None:
                found |= {(text, prop) for text in said.texts(VALUE)}
    for alias in subjects(store, ALIAS_OF, entity, semantic):
        found |= {(text, SURFACE_FORM) for text in about(store, alias, semantic).texts(SURFACE_FORM)}
    return found


def _others(ground: Ground, names: Names, entity: NamedNode, name: str, prop: NamedNode, index: SurfaceIndex) -> str:
    """Return why a name does not tell the entity from others; empty when it does."""
    if prop == PATH:
        start = names.state("").value
        found = ground.store.quads_for_pattern(None, PATH, Literal(name), None)
        bearers = {
            quad.subject.value
            for quad in found
            if isinstance(quad.subject, NamedNode) and getattr(quad.graph_name, "value", "").startswith(start)
        }
    else:
        spelled = spellings(name, lambda: index.type_name(entity.value))
        bearers = {bearer for each in spelled for bearer in index.bearers(key_of(each))} or {
            entity.value,
            "many others",
        }
    others = sorted(bearers - {entity.value})
    return f"{', '.join(others[:3])} bore it too" if others else ""
