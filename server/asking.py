"""Asking the store for a door: what may be asked is checked here, the query itself is ``Prism.sparql``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import request

from prism_rdf.errors import BadArgument, NotFoundError

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

    def projects(self) -> list[str]:
        return self.prism.projects()

    def version(self) -> str:
        return self.prism.version

    def ask(self, query: str, scope: Scope) -> QueryAnswer:
        """Return the answer, to be read once. Raises BadArgument, BadTime, NotFoundError."""
        self.check(scope)
        limits: dict[str, Any] = {"timeout": scope.timeout, "max_rows": scope.max_rows}
        return self.prism.sparql(
            query,
            pid=scope.pid,
            as_of=scope.as_of,
            known_at=_known_at(scope.known_at),
            dataset="raw" if scope.dataset == "raw" else "current",
            default_graphs=scope.default_graphs,
            named_graphs=scope.named_graphs,
            **{name: value for name, value in limits.items() if value is not None},
        )

    def free_graphs(self, pid: str | None = None) -> list[str]:
        return self.prism.free_graphs(pid)

    def update(
        self,
        text: str,
        *,
        pid: str | None = None,
        using_graphs: tuple[str, ...] = (),
        using_named_graphs: tuple[str, ...] = (),
    ) -> Receipt:
        """Carry out an update under the idempotency key of the request; see ``Prism.update``."""
        return self.prism.update(
            text,
            pid=pid,
            using_graphs=using_graphs,
            using_named_graphs=using_named_graphs,
            idempotency_key=request.headers.get("Idempotency-Key", ""),
        )

    def check(self, scope: Scope) -> None:
        """Refuse a dataset or a project that there is not."""
        if scope.dataset not in DATASETS:
            raise BadArgument(
                f"there is no dataset {scope.dataset!r}",
                rule="current is the world at one time, raw all graphs as they are stored",
                mend=f"choose one of {', '.join(DATASETS)}",
            )
        if scope.pid is not None:
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


def _known_at(text: str | None) -> str | int | None:
    """Return a commit number where there are only digits, else the text of a time."""
    return int(text) if text is not None and text.isdecimal() and text.isascii() else text
