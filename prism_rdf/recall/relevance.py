"""BM25 over a Whoosh reader, array by array, with decoded postings kept; what is indexed is not decided here.

Whoosh's own collectors took 22 ms for a question of 12 words over 900 documents. A document is a piece of a memory; a
memory scores as its best piece does, and a share of what those before and after it in its series score.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from prism_rdf.clock import Instant

# As tuned by others for short passages (Anserini on MS MARCO, for the best first hit); 1.2 and .75 are for documents.
K1 = 0.6
B = 0.62
MOST_TERMS = 40  # of a question, rarest first
MOST_POSTINGS = 400_000  # how many (term, document) pairs one question may cost, beyond its rarest terms
KEPT_POSTINGS = 6_000_000  # in memory, 8 bytes each
# How much of the score of its neighbours a memory gets: of talk, where one answers the other (BEAM, recall@40 of the
# words .60 without, .72 with), and of a document (TimeQA, recall@5 of all legs .585 without, .590, and .530 at .5).
NEAR, NEAR_IN_DOCUMENT = 0.5, 0.15
_SURE_TERMS = 3  # rarest terms that are looked up whatever they cost
_EVER = -(2**63)
_NUMBERS = {"said": ">i8", "recorded": ">i8", "memory": ">i8", "series": ">i8", "place": ">i8"}

Postings = tuple[Any, Any]


@dataclass(frozen=True)
class Field:
    """A field of terms, the column that holds how many there are in a document, and what its score counts."""

    name: str
    length: str
    weight: float = 1.0


@dataclass
class _Segment:
    """One immutable part of an index, with what was read of it: columns, and postings by (field, term)."""

    reader: Any
    columns: Mapping[str, Any]
    postings: OrderedDict[tuple[str, str], Postings] = dataclasses.field(default_factory=OrderedDict)
    kept: int = 0

    def find(self, name: str, term: str) -> Postings:
        """Return (documents, weights) of a term; decoded once, then kept while there is room."""
        key = (name, term)
        found = self.postings.get(key)
        if found is not None:
            self.postings.move_to_end(key)
            return found
        found = self.postings[key] = _decoded(self.reader, name, term)
        self.kept += len(found[0])
        while self.kept > KEPT_POSTINGS:
            self.kept -= len(self.postings.popitem(last=False)[1][0])
        return found


class Relevance:
    """Scores of the memories of one state of an index; ``earlier`` lends what it read of segments still there."""

    def __init__(self, reader: Any, fields: Sequence[Field], earlier: Relevance | None = None) -> None:
        self._reader = reader
        self._fields = tuple(fields)
        self._segments: dict[tuple[str, int], _Segment] = {}
        self._parts: list[tuple[int, _Segment]] = []
        for leaf, offset in reader.leaf_readers():
            segment = leaf.segment()
            if segment is None:
                continue
            key = (segment.segment_id(), segment.deleted_count())
            lent = earlier._segments.get(key) if earlier else None
            part = _Segment(leaf, lent.columns, lent.postings, lent.kept) if lent else _Segment(leaf, self._read(leaf))
            self._segments[key] = part
            self._parts.append((offset, part))
        self._size = reader.doc_count_all()
        self._documents = max(1, reader.doc_count() - 1)  # one is the mark of the position
        self._lengths = {known.length: self._column(known.length) for known in self._fields}
        self._means = {name: max(1.0, float(column.sum()) / self._documents) for name, column in self._lengths.items()}
        self._said, self._recorded = self._column("said"), self._column("recorded")
        self._lay_out()

    def score(
        self, weights: Mapping[str, float], said_by: Instant | None = None, known_at: Instant | None = None
    ) -> tuple[Any, Any]:
        """Return (a document of each memory that has any of the terms or stands beside one that has, its score).

        The weighted sum over fields of BM25 (S. Robertson, S. Walker et al., TREC-3) with the idf of Lucene,
        ln(1 + (N - n + .5) / (n + .5)), which is never negative; times the term's weight. Rare terms come first, within
        MOST_TERMS and MOST_POSTINGS. What was said after ``said_by`` or recorded after ``known_at`` is
        not there, also not as a neighbour.
        """
        scores = np.zeros(self._size, np.float32)
        for known in self._fields:
            self._add_scores(known, weights, scores)
        for column, at in ((self._said, said_by), (self._recorded, known_at)):
            if at is not None:
                scores[column > at.micros] = 0
        if not len(self._starts):
            return self._starts, scores[:0]
        own = np.maximum.reduceat(scores[self._order], self._starts)
        total = own.copy()
        total[1:] += self._near * own[:-1]
        total[:-1] += self._near * own[1:]
        first = self._order[self._starts]
        for column, at in ((self._said, said_by), (self._recorded, known_at)):
            if at is not None:
                total[column[first] > at.micros] = 0
        found = np.flatnonzero(total)
        return first[found], total[found]

    def _add_scores(self, known: Field, weights: Mapping[str, float], scores: Any) -> None:
        lengths, mean = self._lengths[known.length], self._means[known.length]
        flat, slope = K1 * (1 - B), K1 * B / mean
        for term, having in self._affordable(known.name, weights):
            idf = log(1 + (self._documents - having + 0.5) / (having + 0.5))
            gain = known.weight * max(idf, 0.0) * weights[term] * (K1 + 1)
            for offset, part in self._parts:
                documents, counts = part.find(known.name, term)
                if len(documents):
                    numbers = documents + offset
                    scores[numbers] += gain * counts / (counts + flat + slope * lengths[numbers])

    def _affordable(self, name: str, weights: Mapping[str, float]) -> list[tuple[str, int]]:
        """Return (term, documents that have it), rarest first."""
        known = sorted((self._reader.doc_frequency(name, term), term) for term in weights)
        chosen: list[tuple[str, int]] = []
        cost = 0
        for having, term in [entry for entry in known if entry[0] > 0][:MOST_TERMS]:
            cost += having
            if len(chosen) >= _SURE_TERMS and cost > MOST_POSTINGS:
                break
            chosen.append((term, min(having, self._documents)))
        return chosen

    def _lay_out(self) -> None:
        """Order the documents by series and place, and say where each memory begins and which follows on which.

        The number of a series is odd when it is a document.
        """
        alive = np.ones(self._size, bool)
        for offset, part in self._parts:
            gone = list(part.reader.segment().deleted_docs())
            alive[[offset + document for document in gone]] = False
        memory, series = self._column("memory"), self._column("series")
        alive &= memory != _EVER
        numbers = np.flatnonzero(alive)
        keys = (memory, self._recorded, self._column("place"), self._said, series)
        self._order = numbers[np.lexsort([key[numbers] for key in keys])]
        memories, serieses = memory[self._order], series[self._order]
        changes = np.flatnonzero(memories[1:] != memories[:-1]) + 1
        self._starts = np.concatenate([[0], changes]) if len(memories) else np.zeros(0, np.int64)
        of_memory = serieses[self._starts]
        joined = (of_memory[1:] == of_memory[:-1]) & (of_memory[1:] != _EVER)
        share = np.where(of_memory[1:] & 1, NEAR_IN_DOCUMENT, NEAR)
        self._near = np.where(joined, share, 0).astype(np.float32)

    def _read(self, leaf: Any) -> dict[str, Any]:
        wanted = {known.length: ">u4" for known in self._fields} | _NUMBERS
        return {name: _numbers(leaf, name, kind) for name, kind in wanted.items()}

    def _column(self, name: str) -> Any:
        columns = [part.columns[name] for _, part in self._parts]
        return np.concatenate(columns) if columns else np.zeros(0, np.int64)


def _numbers(leaf: Any, name: str, kind: str) -> Any:
    """Return a column of numbers as one array, from the bytes that Whoosh wrote; documents at the end may lack them."""
    size = leaf.doc_count_all()
    column = leaf.column_reader(name, translate=False)
    native = np.dtype(kind).newbyteorder("=")
    values = np.full(size, 0 if kind == ">u4" else _EVER, native)
    if hasattr(column, "_fixedlen"):
        raw = column._dbfile.get(column._basepos, column._count * column._fixedlen)
        found = np.frombuffer(raw, kind)[:size]
        values[: len(found)] = found
    return values


def _decoded(reader: Any, name: str, term: str) -> Postings:
    """Return (documents, weights) of a term, block by block: reading one posting at a time takes ten times as long."""
    documents, weights = [], []
    if (name, term) in reader:
        matcher = reader.postings(name, term)
        matcher = getattr(matcher, "child", matcher)  # deleted documents are left out by their layout
        matcher.reset()
        while matcher.is_active():
            matcher.id(), matcher.weight()  # has it read a block
            documents.append(np.array(matcher._ids, np.int64))
            weights.append(np.array(matcher._weights, np.float32))
            matcher._next_block()
    if not documents:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    return np.concatenate(documents), np.concatenate(weights)
