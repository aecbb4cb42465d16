"""Answers of SPARQL as data frames of pandas, typed by the datatypes of their terms; pandas is needed only here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pyoxigraph import Literal

from prism_rdf.errors import NotFoundError
from prism_rdf.namespaces import XSD

if TYPE_CHECKING:
    from pandas import DataFrame

_WHOLE = {XSD + name for name in ("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger")}
_REAL = {XSD + name for name in ("decimal", "double", "float")}
_TIMES = {XSD + name for name in ("dateTime", "date")}


def frame_of(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> DataFrame:
    """Return rows of terms as a frame: whole and real numbers, booleans, times in UTC, else texts; NA where unbound.

    A column is of a type when all that is bound in it is. A time out of the range of pandas stays a text, and so does
    a number that is none to pandas. Raises NotFoundError where pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise NotFoundError(
            "pandas is not installed", rule="to_df returns a frame of pandas", mend="pip install 'prism-rdf[pandas]'"
        ) from error
    kept = [list(row) for row in rows]
    series = [_series(pandas, [row[place] for row in kept]) for place in range(len(columns))]
    frame = pandas.concat(series, axis=1) if series else pandas.DataFrame()
    frame.columns = pandas.Index(list(columns))
    return frame


def _series(pandas: Any, terms: Sequence[Any]) -> Any:
    kinds = {_kind(term) for term in terms if term is not None}
    texts = [None if term is None else str(getattr(term, "value", term)) for term in terms]
    try:
        if kinds == {"whole"}:
            return pandas.Series([None if text is None else int(text) for text in texts], dtype="Int64")
        if kinds and kinds <= {"whole", "real"}:
            return pandas.Series([None if text is None else float(text) for text in texts], dtype="Float64")
        if kinds == {"truth"}:
            truths = [None if text is None else text.lower() in ("true", "1") for text in texts]
            return pandas.Series(truths, dtype="boolean")
        if kinds == {"time"}:
            return pandas.to_datetime(pandas.Series(texts, dtype="string"), utc=True, format="ISO8601")
    except (ValueError, OverflowError):
        pass
    return pandas.Series(texts, dtype="string")


def _kind(term: Any) -> str:
    if isinstance(term, bool):
        return "truth"
    datatype = term.datatype.value if isinstance(term, Literal) else ""
    if datatype in _WHOLE:
        return "whole"
    if datatype in _REAL:
        return "real"
    return "truth" if datatype == f"{XSD}boolean" else "time" if datatype in _TIMES else "text"
