"""Whether a store that was written elsewhere may be taken in: its graphs, its commits, every node, every invariant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad

from prism_rdf.belief import END_RECORDED_AT, RECORDED_AT, WITHDRAWN_AT, Delta, Writing
from prism_rdf.canonical.entities import UUID, entities
from prism_rdf.canonical.schemas import epochs, faults
from prism_rdf.canonical.texts import believed, texts_of
from prism_rdf.changes import Ground
from prism_rdf.clock import Instant
from prism_rdf.commit import HAS_NAMESPACE, LAST_COMMIT, NUMBER, last_commit
from prism_rdf.errors import PrismError, RefusedError, Violation
from prism_rdf.free import is_free, is_unmanaged
from prism_rdf.maintenance.derived import Stale, stale_of
from prism_rdf.maintenance.fitting import unfit
from prism_rdf.namespaces import LAYERS, PRISM, RDF_TYPE, Names, check_name, commit_iri, local_name, meta_graph, prism
from prism_rdf.semantic.merges import circles
from prism_rdf.storage.about import about
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.temporal.events import ASSERTION, read_stated
from prism_rdf.temporal.fold import Piece, fold
from prism_rdf.temporal.states import plan_states, read_sealed
from prism_rdf.validation.checks import run_checks
from prism_rdf.values import Term

MOST_REPORTED = 100  # a broken store breaks everywhere; what is mended next is tried next
DERIVED = frozenset({"current", "tail"})

_FREE = "put it into a free graph"
_AGAIN = "export the store again"
_ENGINE = re.compile(rf"(.+)/[^/]+/(?:graph/(?:{'|'.join((*LAYERS, 'meta'))})|state/[^/]+)")
_SYSTEM_TIMES = (RECORDED_AT, END_RECORDED_AT, WITHDRAWN_AT)


def base_of(store: EmbeddedStore, source: object) -> str:
    """Return the base of the store whose quads these are; raise RefusedError when they are not those of one store."""
    heads = store.quads_for_pattern(None, LAST_COMMIT, None)
    nodes = {q.subject.value: q.graph_name for q in heads if isinstance(q.subject, NamedNode)}
    bases = [base for base, graph in nodes.items() if graph == meta_graph(base)]
    if len(bases) != 1:
        raise RefusedError(
            f"{source} is not the export of one store",
            rule="an export names the base and the last commit of its store in the graph {base}/-/graph/meta",
            mend="write it with `prism export`; other RDF belongs in a free graph of a store",
        )
    return bases[0]


@dataclass(frozen=True)
class Candidate:
    """A store to be judged, with the tenant that it is to belong to.

    ``stale`` is what its derived graphs say otherwise than at ``now``, by project, once its histories were judged.
    """

    ground: Ground
    store: EmbeddedStore
    base: str
    now: Instant
    stale: dict[str, list[Stale]] = field(default_factory=dict)

    def violations(self, told: Callable[[str], None]) -> list[Violation]:
        """Return what forbids to take the store in, MOST_REPORTED at most; each stage needs the ones before it.

        ``told`` is called with what is judged next.
        """
        stages = {
            "graphs": self._graphs,
            "commits": self._commits,
            "types": self._types,
            "nodes": self._nodes,
            "shapes": self._shapes,
            "invariants": self._invariants,
            "histories": self._histories,
        }
        for name, stage in stages.items():
            told(f"judging its {name}")
            found = list(islice(stage(), MOST_REPORTED))
            if found:
                return found
        return []

    @property
    def namespaces(self) -> list[str]:
        """Return the projects that the store says it holds."""
        meta = meta_graph(self.base)
        return sorted(about(self.store, NamedNode(self.base), meta).texts(HAS_NAMESPACE))

    def _graphs(self) -> Iterator[Violation]:
        managed = not is_unmanaged(self.store, self.base)
        if managed and next(self.store.quads_for_pattern(None, None, None, DefaultGraph()), None) is not None:
            yield _violation("", "graphs", "a statement stands in no named graph", _FREE)
        for namespace in self.namespaces:
            try:
                check_name("project", namespace)
            except PrismError as error:
                yield _violation(self.base, "graphs", error.message, error.mend)
        known = {f"{self.base}/{namespace}": Names(self.base, namespace) for namespace in self.namespaces}
        for graph in self.store.graphs():
            if not isinstance(graph, NamedNode):
                yield _violation(str(graph), "graphs", "a graph has no name", "give it an IRI")
            elif complaint := self._complaint(graph, known, managed):
                yield _violation(str(graph), "graphs", complaint, "leave it out, or export the store it belongs to")

    def _complaint(self, graph: NamedNode, known: dict[str, Names], managed: bool) -> str:
        """Return what is wrong with a named graph; nothing for one of the engine's or the user's own."""
        if managed and not graph.value.startswith(f"{self.base}/") and (other := _ENGINE.fullmatch(graph.value)):
            return f"this graph belongs to a store of another base, {other[1]}"
        if is_free(graph, self.base, managed) or graph == meta_graph(self.base):
            return ""
        namespace, _, rest = graph.value.removeprefix(f"{self.base}/").partition("/")
        names = known.get(f"{self.base}/{namespace}")
        if names is None:
            return f"this graph is of a project {namespace!r} that the store does not name"
        room, _, name = rest.partition("/")
        if (room == "graph" and name in LAYERS) or (room == "free" and name):
            return ""
        if room == "state" and Quad(graph, RDF_TYPE, prism("State"), names.graph("temporal")) in self.store:
            return ""
        return "this is no graph that a store has"

    def _commits(self) -> Iterator[Violation]:
        meta = meta_graph(self.base)
        unread = list(self._unread(meta, {LAST_COMMIT: int, NUMBER: int, RECORDED_AT: Instant.parse}))
        if unread:
            yield from unread
            return
        last, recorded_at = last_commit(self.store, self.base)
        numbers = [int(q.object.value) for q in self.store.quads_for_pattern(None, NUMBER, None, meta)]  # type: ignore[union-attr]
        if last != max(numbers, default=0) or (last and recorded_at is None):
            message = f"the last commit is {last}, and the greatest number of a commit is {max(numbers, default=0)}"
            yield _violation(self.base, "commits", message, _AGAIN)
        for number in numbers:
            if about(self.store, commit_iri(self.base, number), meta).instant(RECORDED_AT) is None:
                yield _violation(str(number), "commits", f"commit {number} has no system time", _AGAIN)
        for namespace in self.namespaces:
            yield from self._later_than(recorded_at, Names(self.base, namespace))

    def _unread(
        self, graph: NamedNode, forms: Mapping[NamedNode, Callable[[str], int | Instant]]
    ) -> Iterator[Violation]:
        """Yield each value that is not of the form that its property has."""
        for predicate, read in forms.items():
            for quad in self.store.quads_for_pattern(None, predicate, None, graph):
                try:
                    read(getattr(quad.object, "value", ""))
                except (ValueError, PrismError):
                    message = f"its {local_name(predicate.value)} cannot be read: {quad.object}"
                    yield _violation(str(quad.subject), "commits", message, _AGAIN, predicate)

    def _later_than(self, last: Instant | None, names: Names) -> Iterator[Violation]:
        for layer in sorted(set(LAYERS) - DERIVED):
            graph = names.graph(layer)
            unread = list(self._unread(graph, dict.fromkeys(_SYSTEM_TIMES, Instant.parse)))
            yield from unread
            for predicate in () if unread else _SYSTEM_TIMES:
                for quad in self.store.quads_for_pattern(None, predicate, None, graph):
                    if last is None or Instant.parse(quad.object.value) > last:  # type: ignore[union-attr]
                        message = "this was recorded after the last commit of the store"
                        yield _violation(str(quad.subject), "commits", message, _AGAIN, predicate)

    def _types(self) -> Iterator[Violation]:
        """Yield what is wrong with the files of types that projects brought: all others are judged by them."""
        for namespace in self.namespaces:
            texts = texts_of(self.store, Names(self.base, namespace))
            yield from faults(tuple(believed(texts).items()))
            for turn, schema in epochs(texts):
                for name, why in schema.unusable:
                    yield _violation(name, "types", f"it could not be read as it was at {turn}: {why}", _AGAIN)

    def _nodes(self) -> Iterator[Violation]:
        for namespace in self.namespaces:
            names = Names(self.base, namespace)
            yield from self._identities(names)
            for layer in sorted(set(LAYERS) - DERIVED - {"canonical"}):
                yield from self._foreign_nodes(names.graph(layer), names)

    def _identities(self, names: Names) -> Iterator[Violation]:
        graph = names.graph("canonical")
        known = {kind.iri for kind in self.ground.schema(names).catalog.types}
        expected = {prism("tenant"): self.ground.tenant, prism("namespace"): names.namespace}
        for quad in self.store.quads_for_pattern(None, None, None, graph):
            node, value = str(quad.subject), getattr(quad.object, "value", "")
            if isinstance(quad.subject, BlankNode):
                yield _violation(node, "identity", "an identity has no IRI", "give it one below the base of the store")
            elif quad.predicate == RDF_TYPE and quad.object not in known:
                yield _violation(node, "identity", f"{value} is no type known here", "declare the type first")
            elif quad.predicate == UUID and quad.subject != names.entity(value):
                yield _violation(node, "identity", f"its uuid {value} is not the one in its IRI", "mend one of the two")
            elif value != expected.get(quad.predicate, value):
                message = f"its {quad.predicate.value.rpartition('#')[2]} is {value}, not {expected[quad.predicate]}"
                yield _violation(node, "identity", message, "import it for the tenant that it is of")

    def _foreign_nodes(self, graph: NamedNode, names: Names) -> Iterator[Violation]:
        """Yield what stands in a graph of the engine and is nothing of it."""
        quads, entity = self.store.quads_for_pattern, names.entity("").value
        typed: dict[object, bool] = {}
        for quad in quads(None, RDF_TYPE, None, graph):
            known = isinstance(quad.object, NamedNode) and quad.object.value.startswith(PRISM)
            typed[quad.subject] = typed.get(quad.subject, True) and known
        ours: set[object] = {node for node, known in typed.items() if known}
        ours |= {quad.object for quad in quads(None, ASSERTION, None, graph) if quad.object not in typed}
        for quad in quads(None, None, None, graph):
            if isinstance(quad.object, BlankNode) or not isinstance(quad.subject, NamedNode):
                yield _violation(str(quad.subject), "nodes", "a node of the engine has no IRI", _FREE)
            elif quad.subject not in ours and not quad.subject.value.startswith(entity):
                message = "this node is nothing that belongs into a graph of the engine"
                yield _violation(str(quad.subject), "nodes", message, _FREE)
                ours.add(quad.subject)

    def _shapes(self) -> Iterator[Violation]:
        for namespace in self.namespaces:
            yield from unfit(self.store, Names(self.base, namespace))

    def _invariants(self) -> Iterator[Violation]:
        for namespace in self.namespaces:
            for found in run_checks(self.store, Names(self.base, namespace)):
                message = f"the invariant {found.check} is broken: {found.detail}"
                yield Violation(found.entity, "", "", found.check, message, "see `prism check --help`")
            for entity in circles(self.store, Names(self.base, namespace)):
                yield _violation(entity.value, "invariants", "its merges lead back to it", "take one of them out")

    def _histories(self) -> Iterator[Violation]:
        """Yield the entities whose believed states are not what their believed events fold to."""
        for namespace in self.namespaces:
            names, stale = Names(self.base, namespace), self.stale.setdefault(namespace, [])
            temporal, writing = names.graph("temporal"), Writing(names, Instant(0), 0)
            for entity in entities(self.store, names):
                stated = read_stated(self.store, entity, temporal)
                pieces = fold(stated)
                nodes, delta = plan_states(entity, pieces, read_sealed(self.store, entity, temporal), writing)
                told = {Quad(entity, p, v, n) for n, piece in zip(nodes, pieces, strict=True) for p, v in _said(piece)}
                held = {q for node in nodes for q in self.store.quads_for_pattern(None, None, None, node)}
                if delta != Delta() or told != held:
                    message = "its states are not what its events fold to"
                    yield _violation(str(entity), "histories", message, _AGAIN)
                stale += stale_of(self.ground, names, entity, stated, pieces, self.now)


def _said(piece: Piece) -> Iterator[tuple[NamedNode, Term]]:
    return ((prop, value) for prop, values in piece.props.items() for value in values)


def _violation(node: str, rule: str, message: str, mend: str, path: NamedNode | None = None) -> Violation:
    return Violation(node, str(path or ""), "", f"{rule} of a store", message, mend)
