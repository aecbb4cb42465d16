"""What each operation of an update changes: its WHERE answered, its templates filled; nothing is written here.

All SPARQL is read by Oxigraph. The solutions of a WHERE are laid into a store of their own, in which the templates are
filled as the INSERT of another update; so what comes of a template are exactly the quads that Oxigraph would write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, QuerySolution, Store

from prism_rdf.errors import BadArgument, RefusedError
from prism_rdf.namespaces import PREFIXES
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.updating.pending import MOST_CHANGES, Pending
from prism_rdf.updating.requests import Data, Load, Manage, Modify, Operation, Place
from prism_rdf.updating.scope import DEFAULT, Scope

_ROWS, _ROW = NamedNode("urn:prism:rows"), NamedNode("urn:prism:row")
_VARIABLE = re.compile(r"[?$](\w+)")
_SUBJECT = "prism_row_of_the_solution"
Select = Callable[[EmbeddedStore, str, dict[str, Any]], Iterator[QuerySolution]]


class Evaluation:
    """Evaluates the operations of one request, one after the other, into ``pending``.

    ``select`` asks a query of a store. ``using`` and ``using_named`` are the graphs that the protocol names in place of
    USING.
    """

    def __init__(
        self,
        pending: Pending,
        scope: Scope,
        select: Select,
        using: Sequence[NamedNode] = (),
        using_named: Sequence[NamedNode] = (),
        most: int = MOST_CHANGES,
    ) -> None:
        self._pending = pending
        self._scope = scope
        self._select = select
        self._using = tuple(using)
        self._using_named = tuple(using_named)
        self._most = most

    def take(self, operation: Operation) -> None:
        """Evaluate one operation. Raises RefusedError, BadArgument, BadQuery."""
        if isinstance(operation, Data):
            self._data(operation)
        elif isinstance(operation, Modify):
            self._modify(operation)
        elif isinstance(operation, Manage):
            self._manage(operation)
        elif not operation.silent:
            raise _no_load(operation)

    def _data(self, operation: Data) -> None:
        scratch = Store()
        scratch.update(f"{operation.prologue} INSERT DATA {operation.body}", prefixes=PREFIXES)
        quads = list(scratch)
        if operation.deletes:
            self._pending.change(quads, ())
        else:
            self._pending.change((), quads)

    def _modify(self, operation: Modify) -> None:
        names = sorted({each[1] for each in _VARIABLE.finditer(operation.delete + operation.insert)})
        rows = self._rows(operation, names)
        removes = self._filled(operation, operation.delete, names, rows)
        adds = self._filled(operation, operation.insert, names, rows)
        self._pending.change(removes, adds)

    def _rows(self, operation: Modify, names: Sequence[str]) -> Store:
        """Return the solutions as a store: a node for each, which has a property for each variable that is bound."""
        store, dataset = self._dataset(operation)
        columns = " ".join(f"?{name}" for name in names) or f"(1 AS ?{_SUBJECT})"
        query = f"{operation.prologue} SELECT {columns} WHERE {operation.where}"
        rows = Store()
        rows.bulk_extend(self._said(self._select(store, query, dataset), names))
        return rows

    def _said(self, solutions: Iterator[QuerySolution], names: Sequence[str]) -> Iterator[Quad]:
        for number, solution in enumerate(solutions):
            if number >= self._most:
                raise RefusedError(
                    f"the WHERE of the update has more than {self._most:,} solutions",
                    rule="a request changes a bounded number of quads, all of them or none",
                    mend="make it narrower, and send several requests",
                )
            row = NamedNode(f"urn:prism:row/{number}")
            yield Quad(row, _ROW, Literal(True), _ROWS)
            for name in names:
                value = solution[name]
                if value is not None:
                    yield Quad(row, _property(name), value, _ROWS)

    def _filled(self, operation: Modify, template: str, names: Sequence[str], rows: Store) -> list[Quad]:
        """Return the quads of a template, once for each solution."""
        if not template:
            return []
        used = {each[1] for each in _VARIABLE.finditer(template)}
        bound = [f"OPTIONAL {{ ?{_SUBJECT} {_property(name)} ?{name} }}" for name in names if name in used]
        where = f"{{ GRAPH {_ROWS} {{ ?{_SUBJECT} {_ROW} true . {' '.join(bound)} }} }}"
        filled = Store()
        filled.bulk_extend(rows)
        filled.update(f"{operation.prologue} INSERT {template} WHERE {where}", prefixes=PREFIXES)
        filled.remove_graph(_ROWS)
        within = operation.within
        if within is None:
            return list(filled)
        return [
            quad if quad.graph_name != DEFAULT else Quad(quad.subject, quad.predicate, quad.object, within)
            for quad in filled
        ]

    def _dataset(self, operation: Modify) -> tuple[EmbeddedStore, dict[str, Any]]:
        """Return what the WHERE of an operation is asked of."""
        if (self._using or self._using_named) and (operation.has_dataset or operation.within is not None):
            raise BadArgument(
                "the request names its graphs twice: by the protocol, and by USING or WITH",
                rule="using-graph-uri and using-named-graph-uri take the place of USING, USING NAMED and WITH",
                mend="drop either",
            )
        visible = set(self._pending.named())
        using = self._using or operation.using
        using_named = self._using_named or operation.using_named
        default: list[Any] = self._scope.default
        named = list(visible)
        if using or using_named:
            default = [graph for graph in using if graph in visible]
            named = [graph for graph in using_named if graph in visible]
        elif operation.within is not None:
            default = [operation.within] if operation.within in visible else []
        if self._pending.changes_world and self._reads_world([*default, *named]):
            raise _reads_own_writes()
        return self._pending.seen(), {"default_graph": default, "named_graphs": named}

    def _reads_world(self, graphs: Sequence[Any]) -> bool:
        return not set(graphs).isdisjoint(self._scope.default)

    def _manage(self, operation: Manage) -> None:
        target = operation.target
        if operation.verb == "create":
            self._create(target, operation.silent)
        elif operation.verb in ("clear", "drop"):
            for graph in self._meant(target, operation.silent):
                self._empty(graph, operation.verb == "drop")
        elif operation.source != target:
            self._copy(operation)

    def _create(self, target: Place, silent: bool) -> None:
        assert target.graph is not None
        self._scope.check_write(target.graph)
        if self._pending.exists(target.graph):
            if not silent:
                raise RefusedError(
                    f"the graph {target.graph.value} is already there",
                    rule="CREATE makes a graph that is not there",
                    mend="leave it out, or say CREATE SILENT",
                    node=target.graph.value,
                )
            return
        self._pending.make(target.graph)

    def _meant(self, target: Place, silent: bool) -> list[NamedNode | None]:
        """Return the graphs that CLEAR or DROP is about; None is the default graph."""
        if target.kind == "graph":
            assert target.graph is not None
            self._scope.check_write(target.graph)
            if self._pending.exists(target.graph):
                return [target.graph]
            if silent:
                return []
            raise RefusedError(
                f"there is no graph {target.graph.value}",
                rule="CLEAR and DROP are about a graph that is there",
                mend="check its IRI, or say SILENT",
                node=target.graph.value,
            )
        if self._scope.managed:
            raise RefusedError(
                f"the update clears {'the default graph' if target.kind == 'default' else f'{target.kind} graphs'}",
                rule="what the store keeps is never cleared: it keeps its history",
                mend="name each free graph (CLEAR GRAPH <…>); an entity ends by the verb retire, and goes by forget",
            )
        named: list[NamedNode | None] = list(self._pending.named()) if target.kind in ("named", "all") else []
        return [*named, *([None] if target.kind in ("default", "all") else [])]

    def _empty(self, graph: NamedNode | None, drops: bool) -> None:
        self._pending.change(list(self._pending.quads(graph or DEFAULT)), ())
        if drops and graph is not None:
            self._pending.drop(graph)

    def _copy(self, operation: Manage) -> None:
        source, target, verb = operation.source.graph, operation.target.graph, operation.verb
        if source is not None:
            self._scope.check_read(source)
        if self._scope.managed and ((target is None and verb != "add") or (source is None and verb == "move")):
            raise RefusedError(
                f"{verb.upper()} would replace the world of a project",
                rule="what the store keeps is never cleared: it keeps its history",
                mend="ADD <graph> TO DEFAULT says what is in it, and COPY DEFAULT TO <graph> copies the world",
            )
        if source is None and self._scope.managed and self._pending.changes_world:
            raise _reads_own_writes()
        if verb == "move" and source is not None and not operation.silent and not self._pending.exists(source):
            raise RefusedError(
                f"there is no graph {source.value}",
                rule="MOVE is of a graph that is there",
                mend="check its IRI, or say MOVE SILENT",
                node=source.value,
            )
        place = target or DEFAULT
        copied = [Quad(q.subject, q.predicate, q.object, place) for q in self._pending.quads(source or DEFAULT)]
        if verb != "add":
            self._empty(target, drops=True)
        self._pending.change((), copied)
        if verb == "move":
            self._empty(source, drops=True)


def _property(name: str) -> NamedNode:
    return NamedNode(f"urn:prism:variable/{name.encode().hex()}")


def _reads_own_writes() -> RefusedError:
    return RefusedError(
        "an operation of the request reads what an earlier one writes into the world of the project",
        rule="what one request says of the world is recorded at once, as one commit",
        mend="send the operations as requests of their own, one after the other",
    )


def _no_load(operation: Load) -> RefusedError:
    return RefusedError(
        f"the update loads {operation.address.value}",
        rule="the store reads no other address: nothing is fetched for a client",
        mend="fetch it yourself, then `prism load FILE --graph IRI` or the graph store protocol",
        node=operation.address.value,
    )
