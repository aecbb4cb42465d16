"""The verbs of a project about saved queries: which there are, running one, adding and removing its own."""

from __future__ import annotations

from typing import Any

from prism_rdf.clock import TimeInput, as_of_instant
from prism_rdf.datasets import QueryAnswer
from prism_rdf.errors import BadArgument, RefusedError
from prism_rdf.model import Receipt
from prism_rdf.namespaces import LAYERS
from prism_rdf.reading import ReadingVerbs
from prism_rdf.saved.binding import Ground, bind, sample, unknown_query
from prism_rdf.saved.heading import SavedQuery, check_query_name, read_query
from prism_rdf.saved.keeping import added, queries_of, removed, shipped

_LONGEST = 100_000  # characters of a query


class SavedQueriesVerbs(ReadingVerbs):
    """The verbs of saved queries."""

    def queries(self) -> list[dict[str, Any]]:
        """Return the saved queries that can be run here, by name: those that ship, and those of the project.

        Each is ``{"name", "summary", "why", "dataset", "parameters", "columns", "origin", "problem"}``, a parameter
        ``{"name", "type", "description", "default", "example", "required"}``. ``problem`` says why one cannot be run.
        """
        return [each.as_dict() for each in queries_of(self._store, self.names)]

    def saved_query(self, name: str) -> dict[str, Any]:
        """Return one saved query as ``queries`` tells it, and its ``text``. Raises NotFoundError."""
        query = self._saved(name)
        return {**query.as_dict(), "text": query.text}

    def run_query(
        self,
        name: str,
        *,
        as_of: TimeInput | None = None,
        known_at: TimeInput | int | None = None,
        timeout: float | None = None,
        max_rows: int | None = None,
        **parameters: Any,
    ) -> QueryAnswer:
        """Answer a saved query over this project, with its parameters by name; the rest is as in ``Prism.sparql``.

        An entity is named as everywhere, at ``as_of``; a day in a time means its first instant, and ``now`` and
        ``7 days ago`` count from ``as_of``. Raises NotFoundError, BadArgument for a parameter that is unknown, missing
        or not of its type, BadTime, UnknownEntity, AmbiguousError, and what ``sparql`` raises.
        """
        query = self._runnable(name)
        text = self._bound(query, as_of, known_at, parameters)
        limits = {"timeout": timeout, "max_rows": max_rows}
        if query.dataset == "raw":
            return self.prism.sparql(text, as_of=as_of, known_at=known_at, dataset="raw", **limits)  # type: ignore[arg-type]
        return self.prism.sparql(text, pid=self.pid, as_of=as_of, known_at=known_at, **limits)  # type: ignore[arg-type]

    def bind_query(
        self,
        name: str,
        *,
        as_of: TimeInput | None = None,
        known_at: TimeInput | int | None = None,
        **parameters: Any,
    ) -> dict[str, Any]:
        """Return a saved query as SPARQL with its parameters bound: ``{"query", "dataset", "origin"}``.

        Raises what ``run_query`` raises for its parameters.
        """
        query = self._runnable(name)
        text = self._bound(query, as_of, known_at, parameters)
        return {"query": text, "dataset": query.dataset, "origin": query.origin}

    def add_query(self, text: str, name: str, *, replace: bool = False, idempotency_key: str = "") -> Receipt:
        """Save a query of this project under a name; with ``replace`` in the place of one that it has.

        The text opens with a header as those that ship have it. It is kept in the store, in a free graph, and goes into
        exports and backups. Raises BadArgument for a header or a name that is wrong, BadQuery for what is not SPARQL,
        RefusedError for a name that is taken.
        """
        check_query_name(name)
        self._check_text(name, text)
        taken = {each.name: each for each in queries_of(self._store, self.names)}
        if name in {each.name for each in shipped()}:
            raise RefusedError(
                f"a query that ships is named {name}",
                rule="a query of a project hides none that ships",
                mend="choose another name",
            )
        if name in taken and not replace and taken[name].text != text:
            raise RefusedError(
                f"the project has a query named {name}",
                rule="a query is replaced only where that is said",
                mend="say so (--replace, replace=True), or choose another name",
            )
        return self.prism.update(added(self.names, name, text), pid=self.pid, idempotency_key=idempotency_key)

    def remove_query(self, name: str, *, idempotency_key: str = "") -> Receipt:
        """Take a query of this project away. Raises NotFoundError, RefusedError for one that ships."""
        if all(each.origin == "shipped" for each in self._named(name)):
            raise RefusedError(
                f"the query {name} ships with prism", rule="those of the project can be removed", mend="leave it be"
            )
        return self.prism.update(removed(self.names, name), pid=self.pid, idempotency_key=idempotency_key)

    def _named(self, name: str) -> list[SavedQuery]:
        known = queries_of(self._store, self.names)
        found = [each for each in known if each.name == name]
        if not found:
            raise unknown_query(name, {each.name for each in known})
        return found

    def _saved(self, name: str) -> SavedQuery:
        """Return the query of this name, of two the one that ships. Raises NotFoundError."""
        return max(self._named(name), key=lambda query: query.origin == "shipped")

    def _runnable(self, name: str) -> SavedQuery:
        query = self._saved(name)
        if query.problem:
            raise BadArgument(
                f"the query {name} cannot be run: {query.problem}",
                rule="a saved query has a header, and is SPARQL",
                mend="add it anew with replace=True",
            )
        return query

    def _bound(
        self, query: SavedQuery, as_of: TimeInput | None, known_at: TimeInput | int | None, given: dict[str, Any]
    ) -> str:
        now = self.prism.clock.now() if as_of is None else as_of_instant(as_of)
        return bind(query, given, self._binding(now, as_of, known_at))

    def _binding(self, now: Any, as_of: TimeInput | None, known_at: TimeInput | int | None) -> Ground:
        graphs = {layer: self.names.graph(layer) for layer in LAYERS}
        return Ground(lambda ref: self.resolve(ref, as_of, known_at), self._catalog, now, graphs)

    def _check_text(self, name: str, text: str) -> None:
        """Raise BadArgument, BadQuery unless a text is a saved query that the engine can read."""
        if len(text) > _LONGEST:
            raise BadArgument(
                f"the query {name} has {len(text)} characters", rule=f"it has {_LONGEST} at most", mend="shorten it"
            )
        trial = sample(read_query(name, text, "project"), self._binding(self.prism.clock.now(), None, None))
        self.prism.check_query(trial)
