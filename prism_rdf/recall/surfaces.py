"""Finding the names of entities in a text: an index of every name that was ever borne; what they mean when is not here.

The index may know too much (a name that is no longer believed) and never too little, so it only grows with the
change log, and what it finds is looked up again in the graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.namespaces import RDF_TYPE, Names, local_name
from prism_rdf.recall.words import CHARACTERS, DASHES, STOP_WORDS, fold, key_of, tokens
from prism_rdf.semantic.aliases import ALIAS_OF, SURFACE_FORM
from prism_rdf.storage.about import objects
from prism_rdf.storage.changelog import LoggedChange
from prism_rdf.storage.interface import GraphReader

MOST_BEARERS = 8  # a name that more entities bore than this tells none of them apart
LONGEST_NAME = 32  # words

_GAP = f"[\\s{re.escape(DASHES)}]"
_LETTER = rf"[^\W{CHARACTERS}]"


@dataclass(frozen=True)
class Mention:
    """A name in a text, [start, end) of the folded text, and the entities that ever bore it."""

    key: str
    start: int
    end: int
    bearers: tuple[str, ...]


class NameIndex:
    """Names, by the words they are made of. Finding is one pass over the words of a text, however many names."""

    def __init__(self) -> None:
        self._bearers: dict[str, tuple[str, ...]] = {}
        self._lengths: dict[str, frozenset[int]] = {}

    def __len__(self) -> int:
        return len(self._bearers)

    def add(self, name: str, bearer: str) -> None:
        """Let ``bearer`` bear ``name``; a name that is too short, too long or only stop words is left out."""
        key = key_of(name)
        words = key.split(" ")
        if not is_telling(key) or len(words) > LONGEST_NAME:
            return
        known = self._bearers.get(key, ())
        if bearer not in known:
            self._bearers[key] = (*known, bearer)
            self._lengths[words[0]] = self._lengths.get(words[0], frozenset()) | {len(words)}

    def bearers(self, key: str) -> tuple[str, ...]:
        """Return who ever bore the name with this key; empty when they are too many to tell apart."""
        found = self._bearers.get(key, ())
        return found if len(found) <= MOST_BEARERS else ()

    def mentions(self, text: str) -> list[Mention]:
        """Return the names in a text, the longest first; no two overlap."""
        folded = fold(text)
        found = tokens(folded)
        words = [word for word, _, _ in found]
        candidates = []
        for first, word in enumerate(words):
            for length in self._lengths.get(word, ()):
                last = first + length - 1
                bearers = self.bearers(" ".join(words[first : last + 1])) if last < len(words) else ()
                if bearers:
                    start, end = found[first][1], found[last][2]
                    if _stands_alone(folded, start, end):
                        candidates.append(Mention(" ".join(words[first : last + 1]), start, end, bearers))
        candidates.sort(key=lambda mention: (-len(mention.key), mention.start))
        return _without_overlaps(candidates, len(folded))


class SurfaceIndex(NameIndex):
    """The names of the entities of one namespace: alias surface forms and identifying properties of all states."""

    def __init__(self, store: GraphReader, names: Names, identifying: Iterable[NamedNode]) -> None:
        super().__init__()
        self._store = store
        self._names = names
        self._identifying = frozenset(identifying)
        self._states = names.state("").value
        self._types: dict[str, str] = {}

    @classmethod
    def build(cls, store: GraphReader, names: Names, identifying: Iterable[NamedNode]) -> SurfaceIndex:
        """Return the index of every name in the store, whatever its time."""
        made = cls(store, names, identifying)
        for prop in (*sorted(made._identifying, key=str), SURFACE_FORM):
            for quad in store.quads_for_pattern(None, prop, None, None):
                made._learn(quad)
        return made

    def apply(self, changes: Iterable[LoggedChange]) -> None:
        """Learn the names that commits brought; the store must hold them already."""
        for change in changes:
            for quad in change.adds:
                self._learn(quad)

    def _learn(self, quad: Quad) -> None:
        if not isinstance(quad.object, Literal) or not isinstance(quad.subject, NamedNode):
            return
        if quad.predicate in self._identifying:
            if isinstance(quad.graph_name, NamedNode) and quad.graph_name.value.startswith(self._states):
                self._bear(quad.object.value, quad.subject.value)
        elif quad.predicate == SURFACE_FORM and quad.graph_name == self._names.graph("semantic"):
            for target in objects(self._store, quad.subject, ALIAS_OF, self._names.graph("semantic")):
                self._bear(quad.object.value, target.value)

    def _bear(self, name: str, entity: str) -> None:
        for spelling in spellings(name, lambda: self.type_name(entity)):
            self.add(spelling, entity)

    def type_name(self, entity: str) -> str:
        """Return the local name of the type of an entity, which never changes; empty when it has none."""
        if entity not in self._types:
            types = objects(self._store, NamedNode(entity), RDF_TYPE, self._names.graph("canonical"))
            self._types[entity] = local_name(types[0].value) if types else ""
        return self._types[entity]


def spellings(name: str, type_name: Callable[[], str]) -> Sequence[str]:
    """Return what a text may call a thing: its name; of a bare number only with its type before it.

    >>> list(spellings("ADR-044", lambda: "ADR")), list(spellings("6", lambda: "Plan"))
    (['ADR-044'], ['Plan 6', 'Plan #6'])
    """
    if any(character.isalpha() for character in name):
        return (name,)
    kind = type_name()
    return (f"{kind} {name}", f"{kind} #{name}") if kind and name.strip() else ()


def is_telling(key: str) -> bool:
    """Return whether a name can be looked for: not a single letter, and not only stop words.

    >>> is_telling("the"), is_telling("a"), is_telling("the plan")
    (False, False, True)
    """
    if len(key) < 2 and key.isascii():
        return False
    return any(word not in STOP_WORDS for word in key.split(" ")) and any(map(str.isalpha, key))


def find_all(key: str, folded: str) -> list[tuple[int, int]]:
    """Return [start, end) of each place of a name in a folded text: those that ``NameIndex.mentions`` finds.

    >>> find_all(key_of("ADR-304"), "adr-304 and adr 304, not adr-304.1")
    [(0, 7), (12, 19)]
    """
    opening = key.split(" ", 1)[0]
    pattern = _pattern_of(key)
    found = []
    start = folded.find(opening)
    while start >= 0:
        match = pattern.match(folded, start)
        if match:
            found.append(match.span())
        start = folded.find(opening, match.end() if match else start + 1)
    return found


@lru_cache(maxsize=10_000)
def _pattern_of(key: str) -> re.Pattern[str]:
    words = key.split(" ")
    parts = [re.escape(words[0])]
    for before, word in pairwise(words):
        between = f"{_GAP}+" if _is_lettered(before[-1]) and _is_lettered(word[0]) else f"{_GAP}*"
        parts += [between, re.escape(word)]
    opening = rf"(?<!{_LETTER})" if _is_lettered(words[0][0]) else ""
    opening += r"(?<!\d\.)" if words[0][0].isdigit() else ""
    closing = rf"(?!{_LETTER})" if _is_lettered(words[-1][-1]) else ""
    closing += r"(?!\.\d)" if words[-1][-1].isdigit() else ""
    return re.compile(opening + "".join(parts) + closing)


def _is_lettered(character: str) -> bool:
    return re.fullmatch(_LETTER, character) is not None


def _stands_alone(folded: str, start: int, end: int) -> bool:
    """Return whether a number at either end goes on behind a dot: ADR-304 is not in ADR-304.1."""
    goes_on = folded[end - 1].isdigit() and re.match(r"\.\d", folded[end : end + 2])
    goes_before = folded[start].isdigit() and re.fullmatch(r"\d\.", folded[max(0, start - 2) : start])
    return not goes_on and not goes_before


def _without_overlaps(candidates: Iterable[Mention], length: int) -> list[Mention]:
    taken = bytearray(length)
    kept = []
    for mention in candidates:
        if not any(taken[mention.start : mention.end]):
            taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
            kept.append(mention)
    return kept
