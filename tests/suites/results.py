"""Results of queries as the suites write them, compared up to blank nodes; numbers are compared by value."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from pyoxigraph import BlankNode, Literal, QueryBoolean, QueryResultsFormat, Triple, parse_query_results
from rdflib import RDF, XSD, Graph, Namespace
from rdflib import BNode as RdflibNode
from rdflib import Literal as RdflibLiteral

RS = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/result-set#")
FORMATS = {".srx": QueryResultsFormat.XML, ".srj": QueryResultsFormat.JSON, ".tsv": QueryResultsFormat.TSV}
_FLOATS = {XSD.double, XSD.float}
_NUMBERS = {
    *_FLOATS,
    *(XSD[name] for name in ("integer", "decimal", "int", "long", "short", "byte", "nonNegativeInteger")),
    *(XSD[name] for name in ("positiveInteger", "negativeInteger", "nonPositiveInteger", "unsignedInt")),
    *(XSD[name] for name in ("unsignedLong", "unsignedShort", "unsignedByte")),
}
Term = tuple[Any, ...]
Row = Mapping[str, Term]


@dataclass(frozen=True)
class Table:
    """Variables and rows; ``ordered`` where the test says in which order the rows come."""

    variables: frozenset[str]
    rows: Sequence[Row]
    ordered: bool = False


def term_of(term: Any) -> Term:
    """Return a term so that equal values are equal: numbers of one datatype by value, languages in lower case."""
    if isinstance(term, BlankNode | RdflibNode):
        return ("blank", str(term))
    if isinstance(term, Triple):
        return ("triple", term_of(term.subject), term_of(term.predicate), term_of(term.object))
    if isinstance(term, Literal):
        return _literal(term.value, term.datatype.value, term.language)
    if isinstance(term, RdflibLiteral):
        return _literal(
            str(term), str(term.datatype or (RDF.langString if term.language else XSD.string)), term.language
        )
    return ("iri", str(getattr(term, "value", term)))


def _literal(text: str, datatype: str, language: str | None) -> Term:
    if datatype == str(XSD.boolean):
        return ("boolean", {"0": "false", "1": "true"}.get(text, text))
    if any(datatype == str(each) for each in _NUMBERS):
        try:
            return ("number", datatype, float(text) if any(datatype == str(f) for f in _FLOATS) else Decimal(text))
        except (ValueError, InvalidOperation):
            pass
    return ("literal", text, datatype, (language or "").lower())


def read(data: bytes, form: QueryResultsFormat) -> Table | bool:
    results = parse_query_results(data, form)
    if isinstance(results, QueryBoolean):
        return bool(results)
    names = [variable.value for variable in results.variables]
    rows = [{name: term_of(term) for name, term in zip(names, row, strict=True) if term is not None} for row in results]
    return Table(frozenset(names), rows)


def read_file(path: Path) -> Table | bool | None:
    """Return the table or boolean that a file holds; None where it holds a graph of triples."""
    if path.suffix in FORMATS:
        return read(path.read_bytes(), FORMATS[path.suffix])
    if path.suffix == ".csv":
        return read_csv(path.read_bytes())
    graph = Graph().parse(path)
    for result in graph.subjects(RDF.type, RS.ResultSet):
        return _from_graph(graph, result)
    return None


def read_csv(data: bytes) -> Table:
    """Return a table of CSV, whose values have no kind: blank nodes are the words that begin with ``_:``."""
    head, *lines = list(csv.reader(io.StringIO(data.decode("utf-8"))))
    rows = [{name: _of_csv(text) for name, text in zip(head, line, strict=True) if text} for line in lines]
    return Table(frozenset(head), rows)


def _of_csv(text: str) -> Term:
    if text.startswith("_:"):
        return ("blank", text)
    try:
        return ("number", "", float(text))
    except ValueError:
        return ("text", text)


def _from_graph(graph: Graph, result: Any) -> Table | bool:
    boolean = graph.value(result, RS.boolean)
    if boolean is not None:
        return bool(boolean.toPython())  # type: ignore[attr-defined]
    names = frozenset(str(name) for name in graph.objects(result, RS.resultVariable))
    found: list[tuple[int, Row]] = []
    for solution in graph.objects(result, RS.solution):
        row = {
            str(graph.value(binding, RS.variable)): term_of(graph.value(binding, RS.value))
            for binding in graph.objects(solution, RS.binding)
        }
        index = graph.value(solution, RS["index"])
        found.append((int(index) if index is not None else -1, row))  # type: ignore[call-overload]
    ordered = all(index >= 0 for index, _ in found) and bool(found)
    return Table(names, [row for _, row in sorted(found, key=lambda each: each[0])], ordered)


def same(found: Table | bool, wanted: Table | bool) -> bool:
    """Return whether two results are the same up to the names of blank nodes."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if found.variables != wanted.variables or len(found.rows) != len(wanted.rows):
        return False
    if wanted.ordered and [_shape(row) for row in found.rows] != [_shape(row) for row in wanted.rows]:
        return False
    return _match(list(found.rows), list(wanted.rows), {})


def _shape(row: Row) -> Any:
    return sorted((name, ("blank",) if term[0] == "blank" else term) for name, term in row.items())


def _match(found: list[Row], wanted: list[Row], names: dict[str, str]) -> bool:
    """Return whether each row has its own counterpart under one renaming of blank nodes."""
    if not wanted:
        return True
    wanted = sorted(wanted, key=lambda row: sum(term[0] == "blank" for term in row.values()))
    first, rest = wanted[0], wanted[1:]
    for index, row in enumerate(found):
        renamed = _renamed(row, first, names)
        if renamed is None:
            continue
        if renamed == names:  # nothing was assumed, so no other choice can be better
            return _match(found[:index] + found[index + 1 :], rest, names)
        if _match(found[:index] + found[index + 1 :], rest, renamed):
            return True
    return False


def _renamed(row: Row, wanted: Row, names: dict[str, str]) -> dict[str, str] | None:
    if row.keys() != wanted.keys():
        return None
    extended = dict(names)
    for name, term in wanted.items():
        if not _pair(row[name], term, extended):
            return None
    return extended


def _pair(one: Term, other: Term, names: dict[str, str]) -> bool:
    if one[0] == other[0] == "blank":
        if one[1] not in names and other[1] in names.values():
            return False
        return names.setdefault(one[1], other[1]) == other[1]
    if one[0] == other[0] == "triple":
        return all(_pair(part, its, names) for part, its in zip(one[1:], other[1:], strict=True))
    return one == other or _close(one, other)


def _close(one: Term, other: Term) -> bool:
    """Return whether two floating point numbers differ by rounding alone."""
    if one[0] != "number" or other[0] != "number" or one[1] != other[1] or not isinstance(one[2], float):
        return False
    return abs(one[2] - other[2]) <= 1e-6 * max(abs(one[2]), abs(other[2]))
