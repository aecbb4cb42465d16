"""A set of shapes, run over triples: the screen decides what it can, pySHACL the rest; no scope is known here.

pySHACL is loaded by the first triples that the screen leaves open.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode, Triple

from prism_rdf.validation.screen import Screen

if TYPE_CHECKING:
    from prism_rdf.validation.compiled import Compiled


@dataclass(frozen=True)
class Result:
    """One validation result, its terms as N-Triples; ``message`` says what is wrong, ``mend`` what to do about it.

    ``component`` is the kind of constraint, where a shape has it.
    """

    node: str
    path: str
    value: str
    shape: str
    severity: str
    message: str
    mend: str
    component: str = ""


@dataclass(frozen=True)
class Outcome:
    """The results, in the order of their nodes; and the subjects that no shape looked at, each with a type or ""."""

    results: tuple[Result, ...]
    unseen: tuple[tuple[str, str], ...]


class Shapes:
    """A shapes graph, compiled. Focus nodes are those of the targets, taken without subclass inference."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._triples = tuple(triples)
        self._screen = Screen(self._triples)

    @property
    def names(self) -> frozenset[str]:
        """Return the IRIs of the shapes that have targets."""
        return frozenset(node.value for node in self._screen.targeted if isinstance(node, NamedNode))

    @cached_property
    def compiled(self) -> Compiled:
        """Return the shapes as pySHACL reads them; raises what it finds wrong with the shapes themselves."""
        from prism_rdf.validation.compiled import Compiled

        return Compiled(self._triples)

    def check(self, triples: Iterable[Triple], only: Iterable[str] | None = None) -> Outcome:
        """Return what the shapes say of the triples; ``only`` names the shapes to run (default: all)."""
        data = tuple(triples)
        screened = self._screen.check(data, only)
        found = self.compiled.results(data, screened.open) if screened.open else ()
        results = sorted(found, key=lambda result: (result.node, result.path, result.value))
        return Outcome(tuple(results), tuple((str(node), str(kind or "")) for node, kind in screened.unseen))
