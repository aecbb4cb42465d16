"""Recall wired for one project: its legs, its indexes in the store's folder, and catching up with the change log."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyoxigraph import NamedNode

from prism_rdf.errors import BadArgument, NotFoundError, RefusedError
from prism_rdf.recall import AbsentLeg, GraphLeg, LexicalIndex, Recall, all_passages
from prism_rdf.recall.keeping_up import Words
from prism_rdf.recall.legs import Leg, LegHealth
from prism_rdf.recall.memories import MemoryReader, Passage

if TYPE_CHECKING:
    from prism_rdf.clock import Instant
    from prism_rdf.project import Project
    from prism_rdf.recall.embedders import Embedder
    from prism_rdf.recall.following import VectorLeg
    from prism_rdf.storage.changelog import LoggedChange

_PATIENCE = 0.5  # seconds that a question waits for the vectors of what was just written
_PATIENCE_WORDS = 10.0  # seconds that it waits for the words: without them few answers are of use
_LOOKED_FOR_AGAIN = 5.0  # seconds after which a model that was not there is looked for again


class Answering:
    """Answers questions about one project; made once per project, safe to use from several threads."""

    def __init__(self, project: Project) -> None:
        prism, names = project.prism, project.names
        self._project = project
        self._lock = threading.Lock()
        folder = prism.folder.index("lexical", names.namespace) if prism.folder else None
        memories = MemoryReader(prism.store, names)
        self._source = source = _Source(project)
        index = LexicalIndex.open(folder, names.graph("memory"))
        self._words = Words(index, source, keeps_log=folder is not None)
        self._vectors: VectorLeg | AbsentLeg = _vector_leg(project, source)
        self._looked = time.monotonic()

        def recall_by(identifying: Iterable[NamedNode]) -> Recall:
            legs: tuple[Leg, ...] = (
                self._vectors,
                self._words.leg,
                GraphLeg(prism.store, names, source.last_commit, memories),
            )
            changes = project.prism.changes
            return Recall(
                prism.store, names, identifying, legs, project.state_json_at, changes=changes, memories=memories
            )

        self._recall_by = recall_by
        self._recall: tuple[frozenset[NamedNode], Recall] | None = None

    def ask(self, text: str, as_of: Instant, known_at: Instant | None, **options: Any) -> dict[str, Any]:
        """Catch up, then answer; the options are those of ``Recall.ask``."""
        known = self._source.last_commit()
        self._words.catch_up(_PATIENCE_WORDS)
        if isinstance(self._vectors, AbsentLeg) and time.monotonic() >= self._looked + _LOOKED_FOR_AGAIN:
            self._look_for_model()
        if not isinstance(self._vectors, AbsentLeg):
            self._vectors.catch_up(_PATIENCE)
        return self._recalling().ask(text, as_of, known_at, known=known, **options)

    def _recalling(self) -> Recall:
        """Return the recall that knows by which properties the types of the project name their entities now."""
        identifying = self._project.prism.schema(self._project.pid).catalog.identifying
        with self._lock:
            if self._recall is None or self._recall[0] != identifying:
                self._recall = (identifying, self._recall_by(identifying))
            return self._recall[1]

    def legs(self) -> tuple[Leg, ...]:
        """Return the ways of finding memories that an answer is made of."""
        return self._recalling().legs

    def reindex(self, embedder: str = "") -> None:
        """Build the indexes anew from the store; the vectors in the background, while the old ones serve.

        ``embedder`` is the setting of another model, which the project keeps once its vectors are there. Raises
        BadArgument, NotFoundError, and RefusedError when the disk refuses; then nothing has changed.
        """
        prism, pid = self._project.prism, self._project.pid
        model = prism.embedder(asked=embedder) if embedder else None
        if embedder and model is None:
            raise BadArgument("none is no model", rule="an index has a model", mend="set PRISM_EMBEDDER=none instead")
        try:
            self._words.rebuild()
        except OSError as error:
            raise RefusedError(
                f"the indexes of {pid} cannot be made anew: {error}",
                rule="an index takes the place of the one before it once it is whole on disk",
                mend="make room on the disk, or mend it; then run prism reindex again",
            ) from error

        def done() -> None:
            if embedder and prism.folder is not None:
                prism.folder.keep_embedder(pid, embedder)

        if isinstance(self._vectors, AbsentLeg) and model is not None:
            self._vectors = _leg_with(self._project, self._source, model)
            self._recall = None
        if isinstance(self._vectors, AbsentLeg):
            self._look_for_model()
        if not isinstance(self._vectors, AbsentLeg):
            self._vectors.rebuild(model, done)

    def _look_for_model(self) -> None:
        """Give the vector leg its seat when its model has been installed meanwhile."""
        with self._lock:
            self._looked = time.monotonic()
            if isinstance(self._vectors, AbsentLeg):
                self._vectors = _vector_leg(self._project, self._source)
                self._recall = None

    def health(self) -> LegHealth:
        return self._words.leg.health()

    def close(self) -> None:
        if not isinstance(self._vectors, AbsentLeg):
            self._vectors.close()
        self._words.close()


class _Source:
    """What an index reads of a project; see ``recall.following.Source``."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def last_commit(self) -> int:
        return self._project.prism.commit_number

    def changes(self, since: int) -> Iterable[LoggedChange]:
        return self._project.prism.changes(since)

    def passages(self) -> Iterator[Passage]:
        return all_passages(self._project.prism.store, self._project.names)


def _vector_leg(project: Project, source: _Source) -> VectorLeg | AbsentLeg:
    """Return the vector leg with the embedder of the store, or its empty seat, which says what to do."""
    try:
        folder = project.prism.folder
        embedder = project.prism.embedder(folder.kept_embedder(project.pid) if folder else "")
    except NotFoundError as error:
        return AbsentLeg("vector", f"{error.message}: {error.mend}")
    if embedder is None:
        return AbsentLeg("vector", "it was switched off: unset PRISM_EMBEDDER to have it")
    return _leg_with(project, source, embedder)


def _leg_with(project: Project, source: _Source, embedder: Embedder) -> VectorLeg:
    from prism_rdf.recall.following import VectorLeg
    from prism_rdf.recall.vectors import VectorIndex

    folder = project.prism.folder
    where = folder.index("vectors", project.names.namespace) if folder else None
    return VectorLeg(VectorIndex(where, project.names.graph("memory"), embedder), source)
