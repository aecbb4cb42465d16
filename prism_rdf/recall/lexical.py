"""The lexical index: Whoosh over the passages of one namespace, in one folder, behind the change log.

The index is never the truth: it says how far it has read, is left out of an answer when it is behind or damaged,
and is rebuilt from the graph. What it holds of a memory is its words, and since when it is said and recorded.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from pyoxigraph import NamedNode
from whoosh import columns, fields, formats, index
from whoosh.codec.whoosh3 import W3Codec
from whoosh.reading import SegmentReader

from prism_rdf.clock import Instant
from prism_rdf.recall.legs import LegHealth, Question, Ranking
from prism_rdf.recall.memories import Passage, added_passages, removed_memories
from prism_rdf.recall.order import FOLLOWED_KINDS
from prism_rdf.recall.pieces import pieces
from prism_rdf.recall.places import kept_for_now, made_anew, take_place
from prism_rdf.recall.relevance import Field, Relevance
from prism_rdf.recall.words import query_terms, term_counts
from prism_rdf.storage.changelog import LoggedChange

_log = logging.getLogger(__name__)

FORMAT = "pieces2"  # part of every file name: an index of another format is absent, never misread
# The heading has the path of the source too. Mean reciprocal rank, among 121 decision records, of the one meant by
# three words of its title, a sentence of it, its number: weight 0 .87 .94 .57; .5 1.0 .92 .88; 2 1.0 .76 1.0.
FIELDS = (Field("text", "text_length"), Field("heading", "heading_length", 0.5))
EXPANSION_WEIGHT = 0.5  # of a name that was not said, but is what the said one means now
_MOST_SEGMENTS = 8
_BUFFER_MB = 128

_POSITION = "#position"  # no IRI begins so
_EVER = -(2**63)


class _Terms(fields.FieldType):  # type: ignore[misc]
    """A field whose value is ready-made: term to count. Neither positions nor lengths are kept by Whoosh."""

    def __init__(self) -> None:
        super().__init__(formats.Existence(), None)

    def index(self, value: Mapping[str, int], **kwargs: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        for term, count in value.items():
            yield term.encode(), count, float(count), b""


def _schema() -> Any:
    instant = columns.NumericColumn("q", default=_EVER)
    return fields.Schema(
        id=fields.ID(sortable=True),
        text=_Terms(),
        text_length=fields.COLUMN(columns.NumericColumn("I")),
        heading=_Terms(),
        heading_length=fields.COLUMN(columns.NumericColumn("I")),
        said=fields.COLUMN(instant),
        recorded=fields.COLUMN(instant),
        memory=fields.COLUMN(instant),
        series=fields.COLUMN(instant),
        place=fields.COLUMN(instant),
        position=fields.STORED(),
    )


class LexicalIndex:
    """The words of the memories in ``graph``. Safe to use from several threads; one process owns the folder."""

    def __init__(self, folder: Path | None, graph: NamedNode) -> None:
        if folder is None:
            folder = kept_for_now(self, "lexical")
        self._folder = folder
        self._graph = graph
        self._lock = threading.RLock()
        self._index: Any = None
        self._searcher: Any = None
        self._relevance: Relevance | None = None
        self._iris: Any = None
        self._position: int | None = None
        self._trouble = ""
        self._attach()

    @classmethod
    def open(cls, folder: Path | None, graph: NamedNode) -> LexicalIndex:
        """Open what lies in ``folder``; a missing or damaged index does not raise, ``health`` says so.

        ``folder`` None is for a store that keeps nothing: the index is gone when it is no longer used.
        """
        return cls(folder, graph)

    @property
    def position(self) -> int | None:
        """The number of the last commit in the index; None when there is no usable index."""
        return self._position

    def health(self) -> LegHealth:
        """Return absent, failed or ok; whether it lags is for those to say who know the last commit."""
        if not self._folder.is_dir():
            return LegHealth("absent", None, "there is no lexical index: run prism reindex")
        if self._searcher is None:
            return LegHealth("failed", None, self._trouble or "the lexical index is closed")
        return LegHealth("ok", self._position, self._trouble)

    def apply(self, changes: Iterable[LoggedChange]) -> None:
        """Index what the commits changed, in one index commit that also moves the position.

        Does nothing while there is no usable index. When the disk refuses, the index stays where it was.
        """
        if self._index is None:
            return
        wanted: dict[str, Passage | None] = {}
        position = self._position or 0
        for change in changes:
            if change.number <= position:
                continue
            wanted.update((iri, None) for iri in removed_memories(change.removes, self._graph))
            wanted.update((passage.iri, passage) for passage in added_passages(change.adds, self._graph))
            position = change.number
        if not wanted:
            self._position = position
            return
        with self._lock, self._reporting("cannot be written"):
            _write(self._index, wanted, (passage for passage in wanted.values() if passage), position)
            self._refresh()
            self._position = position

    def rebuild(self, passages: Iterable[Passage], position: int) -> None:
        """Make the index anew from all passages as of commit ``position``; the old one serves until then.

        Raises OSError when the disk refuses; the old index is then still there.
        """
        with made_anew(self._folder) as fresh:
            fresh.mkdir(parents=True)
            _write(index.create_in(str(fresh), _schema(), indexname=FORMAT), (), passages, position)
        with self._lock:
            self.close()
            take_place(fresh, self._folder, self._attach)

    def search(
        self,
        text: str,
        limit: int,
        *,
        expansions: Iterable[str] = (),
        said_by: Instant | None = None,
        known_at: Instant | None = None,
    ) -> Ranking:
        """Return up to ``limit`` (memory IRI, score) for any of the words, best first.

        Only memories said by ``said_by`` and first recorded by ``known_at`` are found. Any text is a question.
        Raises OSError when the index turns out to be damaged.
        """
        weights = query_terms(text)
        for expansion in expansions:
            for term, weight in query_terms(expansion).items():
                weights[term] = max(weights.get(term, 0.0), weight * EXPANSION_WEIGHT)
        with self._lock:
            if self._relevance is None or limit < 1:
                return []
            try:
                documents, scores = self._relevance.score(weights, said_by, known_at)
                return self._ranked(documents, scores, limit)
            except Exception as error:  # damage shows as errors of every kind, from struct to pickle
                self._trouble = f"the lexical index is damaged ({type(error).__name__}: {error}): run prism reindex"
                self._index = self._searcher = self._relevance = None
                raise OSError(self._trouble) from error

    def _ranked(self, documents: Any, scores: Any, limit: int) -> Ranking:
        few = min(limit, len(scores))
        if not few:
            return []
        best = np.argpartition(-scores, few - 1)[:few]
        ranked = [(str(self._iris[int(documents[place])]), float(scores[place])) for place in best]
        return sorted(ranked, key=lambda entry: (-entry[1], entry[0]))

    def close(self) -> None:
        with self._lock:
            if self._searcher is not None:
                self._searcher.close()
            self._index = self._searcher = self._relevance = self._position = None

    def _attach(self) -> None:
        self._trouble = ""
        if not self._folder.is_dir():
            return
        for leftover in self._folder.glob("*.tmp"):
            shutil.rmtree(leftover, ignore_errors=True)
        with catch_warnings(), self._reporting("is damaged"):
            simplefilter("ignore", ResourceWarning)  # Whoosh leaves the files of a damaged index open
            self._index = index.open_dir(str(self._folder), indexname=FORMAT, schema=_schema())
            self._refresh()
            self._position = self._searcher.document(id=_POSITION)["position"]

    def _refresh(self) -> None:
        """Open what is committed. Whoosh's own refresh keeps merged segments and forgets deletions (2.7.5)."""
        stale, self._searcher = self._searcher, self._index.searcher()
        self._relevance = Relevance(self._searcher.reader(), FIELDS, self._relevance)
        self._iris = self._searcher.reader().column_reader("id")
        if stale is not None:
            stale.close()

    @contextmanager
    def _reporting(self, what: str) -> Iterator[None]:
        """Turn any trouble with the files into health."""
        try:
            yield
        except Exception as error:
            mend = "run prism reindex" if self._position is None else "it is tried again at the next question"
            self._trouble = f"the lexical index {what} ({type(error).__name__}: {error}): {mend}"
            _log.warning("%s: %s", self._folder, self._trouble)
            if self._position is None:
                self._index = self._searcher = self._relevance = None
        else:
            self._trouble = ""


class LexicalLeg:
    """The lexical index as a leg. ``last_commit`` tells the number of the last commit of the store.

    ``progress`` says how far the writing of the index has come; nothing while nobody writes.
    """

    name = "lexical"

    def __init__(
        self, index: LexicalIndex, last_commit: Callable[[], int], progress: Callable[[], str] = lambda: ""
    ) -> None:
        self._index = index
        self._last_commit = last_commit
        self._progress = progress

    def search(self, question: Question, as_of: Instant, limit: int) -> Ranking:
        return self._index.search(
            question.text, limit, expansions=question.expansions, said_by=as_of, known_at=question.known_at
        )

    def health(self) -> LegHealth:
        health, progress = self._index.health(), self._progress()
        if health.status == "absent" and progress:
            return LegHealth("lagging", None, progress)
        if health.status != "ok":
            return health
        behind = self._last_commit() - (health.position or 0)
        if behind > 0:
            return LegHealth("lagging", health.position, health.detail or progress or f"{behind} commits behind")
        if behind < 0:
            ahead = "the lexical index knows more commits than the store, which was put back to an earlier time"
            return LegHealth("failed", health.position, f"{ahead}: run prism reindex")
        return health


def _write(target: Any, gone: Iterable[str], passages: Iterable[Passage], position: int) -> None:
    codec = W3Codec()
    codec.length_stats = False  # Whoosh would look up a length for each posting: a third of the time
    writer = target.writer(limitmb=_BUFFER_MB, codec=codec)
    try:
        for iri in (*gone, *(() if target.is_empty() else (_POSITION,))):
            writer.delete_by_term("id", iri)
        for passage in passages:
            for document in _documents(passage):
                writer.add_document(**document)
        writer.add_document(id=_POSITION, position=position)
        writer.commit(mergetype=_merge_smallest)
    except BaseException:
        with suppress(Exception):
            writer.cancel()
        if writer.writelock is not None and writer.writelock.locked:
            with suppress(Exception):
                writer.writelock.release()
        raise


def _documents(passage: Passage) -> Iterator[dict[str, Any]]:
    """Yield a document for each piece of a passage, each with the heading of all."""
    heading = term_counts(
        f"{passage.heading}\n{passage.speaker}\n{passage.day_in_words}\n{passage.source.partition('@')[0]}"
    )
    for piece in pieces(passage.content):
        text = term_counts(piece)
        yield {
            "id": passage.iri,
            "text": text,
            "text_length": sum(text.values()),
            "heading": heading,
            "heading_length": sum(heading.values()),
            "said": passage.said.micros if passage.said else _EVER,
            "recorded": passage.recorded.micros if passage.recorded else _EVER,
            "memory": _number(passage.iri),
            "series": _series_number(passage),
            "place": passage.place,
        }


def _series_number(passage: Passage) -> int:
    """Return what stands for a series, odd for that of a document; none for what stands alone."""
    if not passage.series:
        return _EVER
    return _number(passage.series) | 1 if passage.kind in FOLLOWED_KINDS else _number(passage.series) & ~1


def _number(name: str) -> int:
    """Return 64 bits that stand for a name."""
    return int.from_bytes(blake2b(name.encode(errors="replace"), digest_size=8).digest(), signed=True)


def _merge_smallest(writer: Any, segments: list[Any]) -> list[Any]:
    """Keep at most _MOST_SEGMENTS: Whoosh's own policy leaves large segments unmerged, however many there are."""
    by_size = sorted(segments, key=lambda segment: segment.doc_count_all())
    merged = by_size[: len(by_size) // 2 + 1] if len(by_size) >= _MOST_SEGMENTS else []
    for segment in merged:
        reader = SegmentReader(writer.storage, writer.schema, segment)
        writer.add_reader(reader)
        reader.close()
    return by_size[len(merged) :]
