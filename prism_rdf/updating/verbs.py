"""The verbs of a store that speak in RDF as it is: SPARQL UPDATE, files of RDF, free graphs."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode, Quad

from prism_rdf.belief import Writing
from prism_rdf.free import free_graphs, is_there, plan_free
from prism_rdf.model import FreeChange, Intent, Receipt, Tier
from prism_rdf.namespaces import Names, check_name
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.folder import StoreFolder
from prism_rdf.tiers import check_direct, check_rules, claimed

if TYPE_CHECKING:
    from prism_rdf.canonical.schemas import Schema
    from prism_rdf.clock import Clock
    from prism_rdf.commit import Committer
    from prism_rdf.evaluating import Evaluation
    from prism_rdf.meaning import MeaningVerbs
    from prism_rdf.storage.interface import GraphName
    from prism_rdf.updating.loading import Read
    from prism_rdf.updating.scope import Scope


class UpdatingVerbs:
    """What a store takes in as quads; ``Prism`` has the rest."""

    store: EmbeddedStore
    base: str
    folder: StoreFolder | None
    managed: bool
    _committer: Committer
    clock: Clock
    projects: Callable[[], list[str]]
    project: Callable[[str], MeaningVerbs]
    schema: Callable[[str], Schema]
    bring_up_to_date: Callable[[], None]
    commit: Callable[[str, Callable[[], Sequence[Intent]], str, str, object], Receipt]
    _evaluation: Callable[[float | None, int | None], Evaluation]

    @property
    @abstractmethod
    def tier(self) -> Tier: ...

    def update(
        self,
        text: str,
        *,
        pid: str | None = None,
        using_graphs: Sequence[str] = (),
        using_named_graphs: Sequence[str] = (),
        tier: Tier | None = None,
        source: str = "",
        confined: bool = False,
        idempotency_key: str = "",
    ) -> Receipt:
        """Carry out a SPARQL 1.1 UPDATE request, all of its operations or none, as one commit.

        Free graphs (``{base}/PROJECT/free/NAME``, and those of any IRI that is not of this store) are written as one
        likes. Without GRAPH or WITH a request is about the world of the project ``pid``, or of the only one there is:
        what it inserts and deletes becomes changes, names and references with a history, of this ``tier`` and
        ``source``. The graphs are those of the protocol's using-graph-uri. ``confined``: of the free graphs only those
        below ``{base}/{pid}/free/`` are seen and written. The receipt's notes count what changed.
        Raises BadQuery, ValidationError, and RefusedError for what no verb does, naming the verb to use.
        """
        from prism_rdf.services import check_update
        from prism_rdf.updating.requests import operations
        from prism_rdf.updating.update import Request, Update, graphs_named

        by = check_direct(claimed(tier, self.tier))
        check_update(text)
        using, using_named = graphs_named(using_graphs), graphs_named(using_named_graphs)
        request = Request(operations(text), using, using_named)
        namespace = self._scope(pid).namespace

        def read(come: Sequence[Quad], gone: Sequence[Quad]) -> Sequence[Intent]:
            from prism_rdf.updating.world import Speaker, WorldChange

            names, speaker = Names(self.base, namespace), Speaker(by, source, self.clock.now())
            taken = self.project(namespace)._refuse_taken
            return WorldChange(self.store, names, self.schema(namespace).catalog, speaker, taken).intents(come, gone)

        select = self._evaluation(None, None).solutions
        room = self.folder.trial if self.folder is not None else None
        update = Update(request, self.store, lambda: self._fresh_scope(pid, confined), room, select, read)
        payload = [text, *using_graphs, "", *using_named_graphs, source]
        receipt = self.commit(namespace, update.intents, "update", idempotency_key, payload)
        if receipt.replayed:
            return receipt
        return replace(receipt, notes=(update.counted, *receipt.notes))

    def load(
        self,
        source: str | PathLike[str] | bytes,
        graph: str | None = None,
        *,
        format: str | None = None,
        base_iri: str | None = None,
        replaces: bool = False,
        pid: str | None = None,
        confined: bool = False,
        idempotency_key: str = "",
    ) -> Receipt:
        """Read a file of RDF, or the bytes of one, into free graphs: whole or not at all, as one commit.

        Statements go into the ``graph`` of this IRI, unless the file names theirs; with ``replaces`` nothing else is in
        it afterwards. ``format`` is ttl, nt, rdf, jsonld, trig, nq or a media type; the suffix of a file tells it.
        ``confined``: only graphs below ``{base}/{pid}/free/`` are written. The receipt's notes count what is new.
        Raises BadArgument, NotFoundError, Unreadable, and RefusedError for what may not be written there.
        """
        from prism_rdf.updating.loading import default_graph, source_of
        from prism_rdf.updating.update import graphs_named

        check_rules(self.tier)
        named = graphs_named([graph] if graph else [])
        content = source if isinstance(source, bytes) else Path(source)
        target = default_graph(named[0] if named else None, self.managed)
        read = source_of(content, format, target, base_iri).read()
        told = sha256(content).hexdigest() if isinstance(content, bytes) else str(content)
        payload = [told, graph, format, base_iri, replaces]
        with self._committer.paused():
            scope = self._scope(pid, confined)
            if read.text and self._are_new(scope, read.graphs):
                return self._load_much(scope, read, idempotency_key, payload)
            return self._load_few(scope, read, target, target if replaces else None, idempotency_key, payload)

    def _are_new(self, scope: Scope, graphs: Iterable[GraphName]) -> bool:
        """Return whether nobody has heard of these graphs. Raises RefusedError for one that may not be written."""
        for graph in graphs:
            scope.check_write(graph)
            if not isinstance(graph, NamedNode) or is_there(self.store, graph, self.base):
                return False
        return True

    def _load_few(
        self, scope: Scope, read: Read, made: GraphName | None, emptied: GraphName | None, key: str, payload: object
    ) -> Receipt:
        from prism_rdf.updating.update import Load

        load = Load(read.quads(), self.store, lambda: scope, made, emptied)
        receipt = self.commit(scope.namespace, load.intents, "load", key, payload)
        return receipt if receipt.replayed else replace(receipt, notes=(load.counted, *receipt.notes))

    def _load_much(self, scope: Scope, read: Read, key: str, payload: object) -> Receipt:
        """Write what is in new graphs; that they are there is what leads to it."""
        graphs = FreeChange(made=tuple(graph for graph in read.graphs if isinstance(graph, NamedNode)))

        def leading(writing: Writing) -> Sequence[Quad]:
            return plan_free(self.store, [graphs], self.managed, writing).adds

        text = json.dumps(payload)
        receipt = self._committer.load(scope.namespace, read.text, leading, "load", key, text)
        return receipt if receipt.replayed else replace(receipt, notes=(f"{read.count:,} statements read",))

    def provided(self, check: Callable[[], None]) -> AbstractContextManager[None]:
        """Have what is written within judged by ``check`` first, under the writer's lock; it raises to refuse."""
        return self._committer.provided(check)

    def free_graphs(self, pid: str | None = None) -> list[str]:
        """Return the IRIs of the free graphs of a project, or of all, sorted."""
        return [graph.value for graph in free_graphs(self.store, self.base, None if pid is None else [pid])]

    def _fresh_scope(self, pid: str | None, confined: bool) -> Scope:
        """Return the scope of an update, once what came due is applied; under the writer's lock."""
        self.bring_up_to_date()
        return self._scope(pid, confined)

    def _scope(self, pid: str | None, confined: bool = False) -> Scope:
        from prism_rdf.updating.scope import Scope

        projects = self.projects() if pid is None else [check_name("project", pid)]
        return Scope(self.store, self.base, pid, projects, self.managed, confined)
