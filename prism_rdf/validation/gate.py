"""The SHACL gate: which shapes judge which part of a change, and their verdict as violations; nothing is stored here.

    scope       what the triples are                                              shapes
    identity    an identity, whole                                                canonical.ttl
    event       a supersession event with its assertions, whole                   temporal.ttl
    state       what is known about a state, a draft or an earlier belief, whole  temporal.ttl
    snapshot    what a state says, with the state as subject and the entity's     one per type, made from the catalog,
                type; the types of the entities that it refers to                 and the project's own
    fragment    the same of a part of a state: a draft, an assertion not shown    one per type
    alias       an alias, whole                                                   semantic.ttl
    reference   a reference, whole                                                semantic.ttl
    merge       a merge or a difference, whole                                    semantic.ttl
    link        the direct triple of a reference, and all the types of both ends  semantic.ttl (CAN_REFERENCE), or
                                                                                  the project's own
    memory      a memory or a concept, whole                                      evidence.ttl
    candidate   a candidate, a clue or a ruling, whole                            review.ttl
    text        a file of types, whole                                            canonical.ttl

Each scope is checked apart from the others, since one node is the subject of several: the closed shape of an identity
must not see what the states of the entity say. A subject that no shape of its scope looks at is a violation too.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Literal

from pyoxigraph import NamedNode, RdfFormat, Triple, parse

from prism_rdf import resources
from prism_rdf.errors import Violation
from prism_rdf.namespaces import RDF_TYPE, SHAPE, local_name, prism

if TYPE_CHECKING:
    from prism_rdf.validation.engine import Result, Shapes

Scope = Literal[
    "identity",
    "event",
    "state",
    "snapshot",
    "fragment",
    "alias",
    "reference",
    "merge",
    "link",
    "memory",
    "evidence",
    "candidate",
    "text",
]

KINDS = (
    "REFERENCES",
    "IMPLEMENTS",
    "EXTENDS",
    "RELATES_TO",
    "SUPERSEDES",
    "DEPENDS_ON",
    "SPECIFIES",
    "FORMALIZES",
    "RESOLVES",
    "DOCUMENTS",
)
SCOPE_OF: Mapping[NamedNode, Scope] = {
    prism("SupersessionEvent"): "event",
    prism("State"): "state",
    prism("Draft"): "state",
    prism("EarlierBelief"): "state",
    prism("Alias"): "alias",
    prism("Reference"): "reference",
    prism("Merge"): "merge",
    prism("Difference"): "merge",
    prism("Memory"): "memory",
    prism("Concept"): "memory",
    prism("Evidence"): "evidence",
    prism("FactCandidate"): "candidate",
    prism("AliasCandidate"): "candidate",
    prism("ReferenceCandidate"): "candidate",
    prism("Clue"): "candidate",
    prism("Ruling"): "candidate",
    prism("TypeText"): "text",
}
SHAPES_OF: Mapping[Scope, tuple[str, ...]] = {
    "identity": ("Identity",),
    "event": ("SupersessionEvent", "Assertion", "EarlierBelief"),
    "state": ("State", "EntityStates", "Draft", "EarlierBelief"),
    "alias": ("Alias", "EarlierBelief"),
    "reference": ("Reference", "EarlierBelief"),
    "merge": ("Merge", "Difference", "EarlierBelief"),
    "link": KINDS,
    "memory": ("Memory", "Concept", "EarlierBelief"),
    "evidence": ("Evidence", "EarlierBelief"),
    "candidate": ("FactCandidate", "AliasCandidate", "ReferenceCandidate", "Clue", "Ruling", "EarlierBelief"),
    "text": ("TypeText",),
}

_SOURCE = NamedNode("urn:prism:link:source")
_TARGET = NamedNode("urn:prism:link:target")
Classes = frozenset[NamedNode]


class Gate:
    """Judges changes before they are written.

    ``type_shapes`` makes the shapes of the types (canonical.type_shapes); it is called by the first check. The shapes
    of a project add to them: ``states`` must hold of states too, and of the shapes in ``links`` those that ``of_kind``
    names for a kind allow references of that kind which no other shape allows.
    """

    def __init__(
        self,
        type_shapes: Callable[[], Iterable[Triple]],
        states: Iterable[Triple] = (),
        links: Iterable[Triple] = (),
        of_kind: Mapping[NamedNode, Sequence[str]] | None = None,
    ) -> None:
        self._make_type_shapes = type_shapes
        self._states = tuple(states)
        self._own_links = tuple(links)
        self._of_kind = of_kind or {}
        self._lock = threading.Lock()
        self._links: dict[tuple[Classes, NamedNode, Classes], tuple[Result, ...]] = {}

    def check(self, scopes: Mapping[Scope, Sequence[Triple]]) -> tuple[Violation, ...]:
        """Return what is wrong, in the order of scopes and nodes; empty when the change may pass.

        Results of a lower severity than sh:Violation do not refuse a write and are left out.
        """
        found = (result for scope, triples in scopes.items() for result in self.results(scope, triples))
        return tuple(_violation(result) for result in found if _refuses(result))

    def results(self, scope: Scope, triples: Sequence[Triple]) -> tuple[Result, ...]:
        """Return every result of one scope, whatever its severity."""
        if not triples:
            return ()
        if scope == "link":
            return tuple(self._link_results(triples))
        if scope in ("snapshot", "fragment"):
            outcome = (self._state_shapes if scope == "snapshot" else self._type_shapes).check(triples)
        else:
            outcome = shipped_shapes().check(triples, [SHAPE + name for name in SHAPES_OF[scope]])
        return (*outcome.results, *(_unseen(scope, *each) for each in outcome.unseen))

    @cached_property
    def _type_shapes(self) -> Shapes:
        from prism_rdf.validation.engine import Shapes

        return Shapes(self._make_type_shapes())

    @cached_property
    def _state_shapes(self) -> Shapes:
        from prism_rdf.validation.engine import Shapes

        return Shapes((*self._make_type_shapes(), *self._states)) if self._states else self._type_shapes

    @cached_property
    def _link_shapes(self) -> Shapes:
        from prism_rdf.validation.engine import Shapes

        return Shapes(self._own_links)

    def allowed_by_own(
        self, types: Sequence[tuple[NamedNode, Classes]]
    ) -> Mapping[NamedNode, Mapping[NamedNode, Sequence[NamedNode]]]:
        """Return which types the shapes of the project let refer to which, as source, kind and targets.

        Each type comes with its classes, itself among them. All pairs are asked at once.
        """
        ends = [(end, iri, classes) for end in ("source", "target") for iri, classes in types]
        typed = [
            Triple(NamedNode(f"urn:prism:{end}:{iri.value}"), RDF_TYPE, each)
            for end, iri, classes in ends
            for each in classes
        ]
        found: dict[NamedNode, dict[NamedNode, list[NamedNode]]] = {}
        for kind, shapes in self._of_kind.items():
            for target, _ in types:
                end = NamedNode(f"urn:prism:target:{target.value}")
                nodes = {iri: NamedNode(f"urn:prism:source:{iri.value}") for iri, _ in types}
                asked = [*typed, *(Triple(node, kind, end) for node in nodes.values())]
                refused = [
                    {result.node for result in self._link_shapes.check(asked, [name]).results if _refuses(result)}
                    for name in shapes
                ]
                for iri, node in nodes.items():
                    if any(str(node) not in each for each in refused):
                        found.setdefault(iri, {}).setdefault(kind, []).append(target)
        return found

    def _link_results(self, triples: Sequence[Triple]) -> Iterator[Result]:
        """Links between the same types by the same kind share one verdict, which is kept."""
        types: dict[object, set[NamedNode]] = defaultdict(set)
        links: dict[Triple, None] = {}
        for triple in triples:
            if triple.predicate == RDF_TYPE and isinstance(triple.object, NamedNode):
                types[triple.subject].add(triple.object)
            else:
                links[triple] = None
        for link in links:
            verdict = self._link_verdict(frozenset(types[link.subject]), link.predicate, frozenset(types[link.object]))
            for result in verdict:
                yield replace(result, node=str(link.subject), path=str(link.predicate), value=str(link.object))

    def _link_verdict(self, source: Classes, kind: NamedNode, target: Classes) -> tuple[Result, ...]:
        key = (source, kind, target)
        with self._lock:
            if key not in self._links:
                triples = [Triple(_SOURCE, kind, _TARGET)]
                triples += [Triple(_SOURCE, RDF_TYPE, each) for each in source]
                triples += [Triple(_TARGET, RDF_TYPE, each) for each in target]
                self._links[key] = self._judge_link(triples, kind)
            return self._links[key]

    def _judge_link(self, triples: Sequence[Triple], kind: NamedNode) -> tuple[Result, ...]:
        """Return why no shape allows a link; what the first one says that allows it, where one does."""
        outcome = shipped_shapes().check(triples, [SHAPE + name for name in KINDS])
        is_ruled = all(node != str(_SOURCE) for node, _ in outcome.unseen)
        said = [outcome.results] if is_ruled else []
        said += (self._link_shapes.check(triples, [name]).results for name in self._of_kind.get(kind, ()))
        for results in said:
            if not any(map(_refuses, results)):
                return results
        return tuple(result for results in said for result in results) or (_unruled(kind, self._of_kind),)


@cache
def shipped_shapes() -> Shapes:
    """Return the shapes of shapes/*.ttl, compiled once per process."""
    from prism_rdf.validation.engine import Shapes

    texts = (resources.text(name) for name in resources.names("shapes", ".ttl"))
    return Shapes(quad.triple for text in texts for quad in parse(text, RdfFormat.TURTLE))


def _unseen(scope: Scope, node: str, kind: str) -> Result:
    from prism_rdf.validation.engine import Result

    return Result(
        node=node,
        path=str(RDF_TYPE) if kind else "",
        value=kind,
        shape=f"<{SHAPE}>",
        severity="Violation",
        message=f"this node is nothing that belongs into the scope {scope}",
        mend="Give it one of the types that the ontology declares, or put it into a graph of its own.",
    )


def _unruled(kind: NamedNode, ruled: Iterable[NamedNode]) -> Result:
    from prism_rdf.validation.engine import Result

    kinds = dict.fromkeys((*KINDS, *(local_name(each.value) for each in ruled)))
    return Result(
        node="",
        path="",
        value="",
        shape=f"<{SHAPE}>",
        severity="Violation",
        message=f"no shape says which types {local_name(kind.value)} may lead from and to",
        mend=f"Use one of {', '.join(kinds)}, or declare a shape with sh:targetSubjectsOf {kind}.",
    )


def _refuses(result: Result) -> bool:
    return result.severity == "Violation"


def _violation(result: Result) -> Violation:
    where = (result.node, result.path, result.value, result.shape)
    return Violation(*where, result.message, result.mend, result.component)
