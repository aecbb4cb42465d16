"""Answers as data frames: numbers, truths and times have their types, what is unbound is NA."""

from __future__ import annotations

import sys

import pytest

from prism_rdf import Prism
from prism_rdf.errors import NotFoundError

QUERY = """SELECT ?whole ?real ?truth ?time ?mixed ?iri ?far { VALUES (?whole ?real ?truth ?time ?mixed ?iri ?far) {
    (1 1.5 true "2025-10-30T00:00:00Z"^^xsd:dateTime 1 <urn:a> "99999999999999999999"^^xsd:integer)
    (UNDEF 2 UNDEF "2025-10-30T00:00:00.5Z"^^xsd:dateTime "x" UNDEF UNDEF)
    (9007199254740993 UNDEF false UNDEF UNDEF UNDEF UNDEF) } }"""


def test_a_frame_has_types_and_na() -> None:
    pandas = pytest.importorskip("pandas")
    with Prism.in_memory() as prism:
        frame = prism.sparql(QUERY).to_df()
        assert [str(kind) for kind in frame.dtypes[:3]] == ["Int64", "Float64", "boolean"]
        assert pandas.api.types.is_datetime64_any_dtype(frame["time"])
        assert list(frame["whole"].fillna(0)) == [1, 0, 9007199254740993]
        assert frame["time"][1] == pandas.Timestamp("2025-10-30T00:00:00.5Z")
        assert frame["time"].isna().tolist() == [False, False, True]
        assert frame["mixed"].fillna("").tolist() == ["1", "x", ""]
        assert frame["iri"].fillna("").tolist() == ["urn:a", "", ""]
        assert frame["far"].fillna("").tolist() == ["99999999999999999999", "", ""]
        assert prism.sparql("ASK {}").to_df()["answer"].tolist() == [True]
        graph = prism.sparql("CONSTRUCT { <urn:a> <urn:b> 1 } WHERE {}").to_df()
        assert graph.to_numpy().tolist() == [["urn:a", "urn:b", 1]]
        empty = prism.sparql("SELECT ?a ?b { ?a <urn:none> ?b }").to_df()
        assert (list(empty.columns), len(empty)) == (["a", "b"], 0)


def test_without_pandas_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with Prism.in_memory() as prism, pytest.raises(NotFoundError) as missing:
        prism.sparql("ASK {}").to_df()
    assert missing.value.mend == "pip install 'prism-rdf[pandas]'"
