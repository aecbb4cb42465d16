"""Asking the store for a door: what may be asked is checked here, the query itself is ``Prism.sparql``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flask import request

from prism_rdf.errors import BadArgument, NotFoundError
from prism_rdf.reach import graphs_declared
from prism_rdf.workers.asking import asked_by

from .audit import noting
from .caller import client_gone
from .tokens import Caller, caller

if TYPE_CHECKING:
    from prism_rdf import Prism
    from prism_rdf.datasets import QueryAnswer
    from prism_rdf.model import Receipt

DATASETS = ("current", "raw")


@dataclass(frozen=True)
class Scope:
    """What a query is asked of: which project, which time, which dataset or graphs; texts as the client gave them."""

    pid: str | None = None
    as_of: str | None = None
    known_at: str | None = None
    prefer_wip: bool = False
    dataset: str = "current"
    default_graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()
    timeout: float | None = None
    max_rows: int | None = None


class Asker:
    """Answers queries of many threads over one open store."""

    def __init__(self, prism: Prism) -> None:
        self.prism = prism

    @property
    def managed(self) -> bool:
        return self.prism.managed

    @staticmethod
    def known_at(scope: Scope) -> str | int | None:
        """Return a commit number where there are only digits, else the text of a time."""
        text = scope.known_at
        return int(text) if text is not None and text.isdecimal() and text.isascii() else text

    def projects(self) -> list[str]:
        """Return the projects that the caller reaches and that hold something."""
        return caller().pids(self.prism.projects())

    def version(self) -> str:
        """Return a text that is another one whenever an answer may be: by what is written, or by who asks."""
        reached = caller().namespaces
        return self.prism.version + ("" if reached is None else f" for {sorted(reached)}")

    def free_graphs(self, pid: str | None = None) -> list[str]:
        """Return the free graphs of a project, or of all that the caller reaches."""
        if pid is None and caller().namespaces is None:
            return self.prism.free_graphs()
        return [graph for each in ([pid] if pid else self.projects()) for graph in self.prism.free_graphs(each)]

    def ask(self, query: str, scope: Scope, *, confined: bool = False) -> QueryAnswer:
        """Return the answer, to be read once. Raises BadArgument, BadTime, NotFoundError, Forbidden.

        ``confined``: the query is known to name graphs of one project alone, which the caller reaches.
        """
        self.check(scope, confined=confined)
        who = caller()
        options: dict[str, Any] = {"timeout": scope.timeout, "max_rows": scope.max_rows}
        if who.namespaces is not None:
            self._check_graphs(query, scope)
            if scope.pid is None:
                options["pids"] = self.projects()
        with asked_by(who.name, client_gone(), confined=who.namespaces is not None):
            return self.prism.sparql(
                query,
                pid=scope.pid,
                as_of=scope.as_of,
                known_at=self.known_at(scope),
                prefer_wip=scope.prefer_wip,
                dataset="raw" if scope.dataset == "raw" else "current",
                default_graphs=scope.default_graphs,
                named_graphs=scope.named_graphs,
                **{name: value for name, value in options.items() if value is not None},
            )

    def update(
        self,
        text: str,
        *,
        pid: str | None = None,
        using_graphs: tuple[str, ...] = (),
        using_named_graphs: tuple[str, ...] = (),
    ) -> Receipt:
        """Carry out an update under the idempotency key of the request; see ``Prism.update``. Raises Forbidden."""
        options = {"using_graphs": using_graphs, "using_named_graphs": using_named_graphs}
        return self._written("update", text, pid, options)

    def load(self, body: bytes, graph: str | None, form: str, base: str, *, pid: str | None, replaces: bool) -> Receipt:
        """Read the body of a request into a graph, under its idempotency key; see ``Prism.load``. Raises Forbidden."""
        options = {"graph": graph, "format": form, "base_iri": base, "replaces": replaces}
        return self._written("load", body, pid, options)

    def _written(
        self, verb: Literal["update", "load"], what: str | bytes, pid: str | None, options: Mapping[str, Any]
    ) -> Receipt:
        """Have the store write, for who asks, what the conditions of the request let be written."""
        who = caller()
        who.need("write")
        noting(verb, pid)
        if who.namespaces is not None:
            pid = self._only_pid(who, pid)
            options = {**options, "confined": True}
        options = {**options, "pid": pid, "idempotency_key": request.headers.get("Idempotency-Key", "")}
        with who.speaking(self.prism.tier), asked_by(who.name, client_gone()):
            receipt: Receipt = getattr(self.prism, verb)(what, **options)
        noting(verb, pid, receipt.commit)
        return receipt

    def _only_pid(self, who: Caller, pid: str | None) -> str:
        """Return the project that an update is about. Raises Forbidden, and BadArgument where it could be several."""
        self._check_managed(who)
        assert who.namespaces is not None
        if pid is None and len(who.namespaces) > 1:
            raise BadArgument(
                f"the token {who.name!r} reaches {len(who.namespaces)} projects, and the update names none",
                rule="an update of such a token is about one project",
                mend=f"add pid=, one of {', '.join(sorted(who.namespaces))}",
            )
        named = pid or next(iter(who.namespaces))
        who.reach(named)
        return named

    def _check_managed(self, who: Caller) -> None:
        if not self.prism.managed:
            who.reach_all("a store whose graphs are all free")

    def _check_graphs(self, query: str, scope: Scope) -> None:
        """Raise Forbidden for a graph that a query declares and its caller does not reach, be there such or not."""
        declared = [*scope.default_graphs, *scope.named_graphs]
        for graphs in graphs_declared(query):
            declared += graphs
        pids = [scope.pid] if scope.pid else self.projects()
        of_world = {f"{self.prism.base}/{pid}/graph/{layer}" for pid in pids for layer in ("current", "memory")}
        own = tuple(f"{self.prism.base}/{pid}/free/" for pid in pids)
        known = {*of_world, *self.free_graphs(scope.pid)} if declared else of_world
        for graph in declared:
            if graph not in known and not graph.startswith(own):
                caller().refuse(f"the graph {graph}")

    def check(self, scope: Scope, *, confined: bool = False) -> None:
        """Refuse a dataset or a project that there is not, or that the caller does not reach."""
        who = caller()
        if who.namespaces is not None:
            self._check_managed(who)
            if scope.dataset == "raw" and not confined:
                who.reach_all("the raw dataset")
        if scope.dataset not in DATASETS:
            raise BadArgument(
                f"there is no dataset {scope.dataset!r}",
                rule="current is the world at one time, raw all graphs as they are stored",
                mend=f"choose one of {', '.join(DATASETS)}",
            )
        if scope.pid is not None:
            who.reach(scope.pid)
            self._check_pid(scope.pid, scope.dataset)

    def _check_pid(self, pid: str, dataset: str) -> None:
        if dataset == "raw":
            raise BadArgument(
                "the raw dataset is not limited to a project",
                rule="raw shows every graph of the store",
                mend="leave pid out, and name the graphs in the query with GRAPH",
            )
        known = self.projects()
        if pid not in known:
            raise NotFoundError(
                f"there is no project {pid!r} in this store",
                rule="a project begins with its first write",
                mend=f"use one of: {', '.join(known)}" if known else "the store is empty",
            )
