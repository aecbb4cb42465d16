"""Which guesses go with a thing that is forgotten: whole candidates, or only the clues that quote it.

A candidate goes with what it is about, and with what its promotion wrote. A clue goes with the memory it stands in;
a candidate for which no other clue speaks goes with its last one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pyoxigraph import NamedNode

from prism_rdf.belief import belief_of
from prism_rdf.namespaces import Names, prism
from prism_rdf.review.candidates import APPLIED, CANDIDATE_OF, CLUE, RULING, SOURCE_MEMORY, VALUE
from prism_rdf.semantic.aliases import ALIAS_OF, FOLDED_FORM, SURFACE_FORM
from prism_rdf.semantic.references import SOURCE, TARGET
from prism_rdf.storage.about import about, objects, subjects
from prism_rdf.storage.interface import GraphReader

CANDIDATE, CLUE_NODE, RULING_NODE = "candidate", "clue", "ruling"
# A text of this predicate takes its node along, which is then one of these; any other text goes alone.
TAKES = {
    ("review", VALUE): CANDIDATE,
    ("review", SURFACE_FORM): CANDIDATE,
    ("review", FOLDED_FORM): CANDIDATE,
    ("review", prism("quote")): CLUE_NODE,
    ("review", prism("source")): CLUE_NODE,
}
_ABOUT = (CANDIDATE_OF, ALIAS_OF, SOURCE, TARGET, VALUE)


def along_with(
    store: GraphReader, names: Names, node: NamedNode, what: str, going: Collection[NamedNode]
) -> Iterator[tuple[NamedNode, str]]:
    """Yield what of the review graph cannot stay without a node, which goes as ``what``; ``going`` is all that goes."""
    graph = names.graph("review")
    if what == CANDIDATE:
        yield from ((clue, CLUE_NODE) for clue in objects(store, node, CLUE, graph))
        yield from ((ruling, RULING_NODE) for ruling in objects(store, node, RULING, graph))
    elif what == CLUE_NODE:
        for candidate in subjects(store, CLUE, node, graph):
            if not any(
                _speaks(store, clue, graph) for clue in objects(store, candidate, CLUE, graph) if clue not in going
            ):
                yield candidate, CANDIDATE
    elif what == "memory":
        yield from ((clue, CLUE_NODE) for clue in subjects(store, SOURCE_MEMORY, node, graph))
    elif what == "entity":
        yield from ((candidate, CANDIDATE) for link in _ABOUT for candidate in subjects(store, link, node, graph))
    else:
        for ruling in subjects(store, APPLIED, node, graph):
            yield from ((candidate, CANDIDATE) for candidate in subjects(store, RULING, ruling, graph))


def _speaks(store: GraphReader, clue: NamedNode, graph: NamedNode) -> bool:
    belief = belief_of(about(store, clue, graph))
    return belief is not None and belief.withdrawn_at is None
