"""Recall: a question in words, answered by memories told apart by time; writing memories is not done here.

Names load when they are first used: a door that only shows snippets does not pay for the index.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from prism_rdf.recall.passages import snippet

if TYPE_CHECKING:
    from prism_rdf.recall.fusion import Recipe
    from prism_rdf.recall.graph import GraphLeg
    from prism_rdf.recall.legs import AbsentLeg, Leg, LegHealth, Question
    from prism_rdf.recall.lexical import LexicalIndex, LexicalLeg
    from prism_rdf.recall.memories import Passage, all_passages
    from prism_rdf.recall.recall import Recall, last_commit
    from prism_rdf.recall.surfaces import SurfaceIndex

_HOME = {
    "AbsentLeg": "legs",
    "GraphLeg": "graph",
    "Leg": "legs",
    "LegHealth": "legs",
    "LexicalIndex": "lexical",
    "LexicalLeg": "lexical",
    "Passage": "memories",
    "Question": "legs",
    "Recall": "recall",
    "Recipe": "fusion",
    "SurfaceIndex": "surfaces",
    "all_passages": "memories",
    "last_commit": "recall",
}

__all__ = [
    "AbsentLeg",
    "GraphLeg",
    "Leg",
    "LegHealth",
    "LexicalIndex",
    "LexicalLeg",
    "Passage",
    "Question",
    "Recall",
    "Recipe",
    "SurfaceIndex",
    "all_passages",
    "last_commit",
    "snippet",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'prism_rdf.recall' has no attribute {name!r}")
    return getattr(import_module(f"prism_rdf.recall.{_HOME[name]}"), name)
