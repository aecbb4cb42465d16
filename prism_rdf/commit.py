"""The only writer: lock, plan, gate, change log with fsync, one atomic update, receipt. Meaning is decided below.

A commit is acknowledged only after its log entry is on disk. When the store lacks a logged commit (a crash between
the two), opening replays it.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.appending import Appender
from prism_rdf.belief import Writing
from prism_rdf.changes import DUE_AT, Ground, Planned, changes_types, plan, refresh
from prism_rdf.clock import Clock, Instant
from prism_rdf.errors import IdempotencyConflict, RefusedError, ValidationError
from prism_rdf.free import is_free
from prism_rdf.fresh import Newcomers
from prism_rdf.model import Intent, NewEntity, Receipt
from prism_rdf.namespaces import RDF_TYPE, STORE, Names, commit_iri, meta_graph, prism
from prism_rdf.precedents import PrecedentsByProject
from prism_rdf.preflight import broken_by
from prism_rdf.scopes import scopes_of
from prism_rdf.storage.about import about
from prism_rdf.storage.changelog import ChangeLog, LoggedChange
from prism_rdf.storage.interface import GraphReader, GraphStore
from prism_rdf.storage.overlay import Overlay
from prism_rdf.storage.read_once import ReadOnce
from prism_rdf.values import instant_literal

MANY = 10_000  # quads from which on loading some of them ahead of the update is worth its fixed cost
LAST_COMMIT = prism("lastCommit")
HAS_NAMESPACE = prism("hasNamespace")
NUMBER = prism("commitNumber")
_RECORDED_AT = prism("recordedAt")
_KEY = prism("idempotencyKey")
PAYLOAD = prism("payloadHash")
_CREATED = prism("createdEntity")


class Committer:
    """Writes to one store. Thread-safe: one commit at a time, readers are never blocked."""

    def __init__(self, ground: Ground, store: GraphStore, log: ChangeLog, base: str, clock: Clock) -> None:
        self._ground = ground
        self._store = store
        self._log = log
        self._base = base
        self._clock = clock
        precedents = PrecedentsByProject(ground.tenant)
        self._newcomers, self._appender = Newcomers(ground, precedents), Appender(ground, precedents)
        self._meta = meta_graph(base)
        self._lock = threading.RLock()
        self._halted = False
        self._check: Callable[[], None] | None = None
        self._due: tuple[int, Instant | None] | None = None
        self._number, self._recorded_at = last_commit(self._store, self._base)
        self._replay()

    @property
    def number(self) -> int:
        """Return the number of the last commit; 0 when there is none."""
        return self._number

    @property
    def recorded_at(self) -> Instant | None:
        """Return the system time of the last commit; None when there is none."""
        return self._recorded_at

    def write(
        self, namespace: str, intents: Callable[[], Sequence[Intent]], verb: str, *, key: str = "", payload: str = ""
    ) -> Receipt:
        """Fulfil the intents in one commit and return its receipt; ``intents`` is called under the writer's lock.

        Returns a receipt without a commit when all of it already was so. The same ``key`` with the same ``payload``
        returns the first receipt again. Raises ValidationError (nothing written), IdempotencyConflict, RefusedError.
        """
        with self._lock:
            self._check_going()
            names = Names(self._base, namespace)
            repeated = self._begun_before(names, key, payload)
            if repeated is not None:
                return repeated
            wanted, notes = self._ground.spared(intents(), names)
            writing = Writing(names, self._next_instant(), self._number + 1)  # after the "now" of the intents
            created = tuple(names.entity(i.uuid).value for i in wanted if isinstance(i, NewEntity))
            text = self._newcomers.text(wanted, writing)
            if text:
                self._load(text, writing, verb, self._record(writing, verb, key, payload, created))
                return Receipt(writing.number, writing.now, created, notes)
            planned = self._appender.plan(wanted, writing)
            if planned is None:
                planned = plan(self._ground, wanted, writing)
                self._judge(planned, names)
            change = planned.change
            if change.empty:
                return Receipt(None, None, created, notes + change.notes)
            broken = broken_by(planned.before, planned.after, names)
            if broken:
                raise ValidationError(broken)
            self._commit(planned, writing, verb, self._record(writing, verb, key, payload, created))
            return Receipt(writing.number, writing.now, created, notes + change.notes)

    def load(
        self, namespace: str, text: str, leading: Callable[[Writing], Sequence[Quad]], verb: str, key: str, payload: str
    ) -> Receipt:
        """Write N-Quads to which nothing leads but the quads of ``leading``, as one commit: for much in free graphs.

        Nothing of it is judged. Raises IdempotencyConflict, RefusedError.
        """
        with self._lock:
            self._check_going()
            names = Names(self._base, namespace)
            repeated = self._begun_before(names, key, payload)
            if repeated is not None:
                return repeated
            writing = Writing(names, self._next_instant(), self._number + 1)
            self._load(text, writing, verb, (*leading(writing), *self._record(writing, verb, key, payload, ())))
            return Receipt(writing.number, writing.now)

    def _check_going(self) -> None:
        """Complete a logged change that the store could not take; raise RefusedError while it still cannot."""
        if not self._halted:
            return
        try:
            self._replay()
        except RefusedError as error:
            raise RefusedError(
                "the last change is logged and not yet in the store",
                rule="the change log and the store agree before the next change is written",
                mend="free some disk space or mend the permissions, then write again: that completes the change first",
            ) from error
        self._ground.schemas.forget()
        self._halted = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let nobody write meanwhile; a commit that is under way ends first."""
        with self._lock:
            yield

    @contextmanager
    def provided(self, check: Callable[[], None]) -> Iterator[None]:
        """Have what is written within judged by ``check`` first, which raises where it may not be; nobody else writes.

        What was written before, under the same key, is not judged again.
        """
        with self._lock:
            before, self._check = self._check, check
            try:
                yield
            finally:
                self._check = before

    def stamp(self, namespace: str, verb: str, key: str = "") -> tuple[Writing, LoggedChange]:
        """Return when and as which number a commit would be written now, and its record; for who rewrites the store."""
        writing = Writing(Names(self._base, namespace), self._next_instant(), self._number + 1)
        record = self._record(writing, verb, key, "", ())
        return writing, LoggedChange(writing.number, writing.now, namespace, verb, record, (self._last(),))

    def reread(self) -> None:
        """Take the number of the last commit from the store, which was rewritten, and read its types when needed."""
        self._ground.schemas.forget()
        self._due = None
        self._number, self._recorded_at = last_commit(self._store, self._base)

    @property
    def next_due(self) -> Instant | None:
        """Return when something begins or ends by time alone next, as was found when what had come due was applied."""
        return self._due[1] if self._due is not None else None

    def apply_due(self, now: Instant) -> None:
        """Bring the current graphs up to ``now``: what begins or ends by time alone needs no commit."""
        known, number = self._due, self._number
        if known is not None and known[0] == number and (known[1] is None or known[1] > now):
            return
        found = list(self._boundaries())  # without the lock: who reads does not wait for who writes
        due = [node for node, at in found if at <= now]
        if due:
            with self._lock:
                self._refresh(due, now)
                number, found = self._number, list(self._boundaries())
        self._due = (number, min((at for _, at in found), default=None))

    def _refresh(self, entities: Sequence[NamedNode], now: Instant) -> None:
        by_namespace: dict[str, list[NamedNode]] = {}
        for node in entities:
            namespace = node.value.removeprefix(f"{self._base}/").split("/", 1)[0]
            by_namespace.setdefault(namespace, []).append(node)
        for namespace, due in by_namespace.items():
            writing = Writing(Names(self._base, namespace), now, self._number)
            delta = refresh(self._ground, due, self._store, writing)
            self._store.apply(delta.adds, delta.removes)

    def _boundaries(self) -> Iterator[tuple[NamedNode, Instant]]:
        """Yield each entity that changes by time alone, and when it does so next."""
        for quad in self._store.quads_for_pattern(None, DUE_AT, None, self._meta):
            assert isinstance(quad.subject, NamedNode)
            assert isinstance(quad.object, Literal)
            yield quad.subject, Instant.parse(quad.object.value)

    def _next_instant(self) -> Instant:
        now = self._clock.now()
        return now if self._recorded_at is None or now > self._recorded_at else self._recorded_at.plus(micros=1)

    def _judge(self, planned: Planned, names: Names) -> None:
        """Refuse a change that breaks a shape."""
        change, after = planned.change, planned.after
        schema = self._ground.schema_after(after, names, change)
        found = schema.gate.check(scopes_of(after, names, schema.catalog.superclasses))
        if found:
            raise ValidationError(found)

    def _commit(self, planned: Planned, writing: Writing, verb: str, record: Sequence[Quad]) -> None:
        change = planned.change
        logged = LoggedChange(
            number=writing.number,
            recorded_at=writing.now,
            namespace=writing.names.namespace,
            verb=verb,
            adds=(*change.adds, *record),
            removes=(*change.removes, self._last()),
        )
        self._log.append(logged)
        ahead = frozenset(planned.unlinked(writing.names) if len(change.adds) >= MANY else ())
        try:
            if ahead:
                self._store.load(ahead)
            self._store.apply([quad for quad in logged.adds if quad not in ahead], logged.removes)
        except BaseException:
            self._take_back(writing.number, ahead)
            raise
        if changes_types(change, writing.names):
            self._ground.schemas.forget()
        self._number, self._recorded_at = writing.number, writing.now

    def _load(self, text: str, writing: Writing, verb: str, record: Sequence[Quad]) -> None:
        """Write N-Quads about nodes that are new; they were judged."""
        logged = LoggedChange(
            writing.number, writing.now, writing.names.namespace, verb, tuple(record), (self._last(),)
        )
        self._log.append(logged, text)
        self._halted = True  # whoever opens the store after an error completes the change
        self._store.load_text(text)
        self._store.apply(logged.adds, logged.removes)
        self._halted = False
        self._number, self._recorded_at = writing.number, writing.now

    def _take_back(self, number: int, ahead: Collection[Quad]) -> None:
        """Leave nothing of a logged change; where that cannot be done, opening the store again completes the change."""
        if ahead:
            self._halted = True
            self._store.apply((), tuple(ahead))
            self._halted = False
        self._log.abort(number)

    def _last(self) -> Quad:
        return Quad(NamedNode(self._base), LAST_COMMIT, Literal(self._number), self._meta)

    def _record(self, writing: Writing, verb: str, key: str, payload: str, created: Sequence[str]) -> tuple[Quad, ...]:
        node, base, namespace = commit_iri(self._base, writing.number), NamedNode(self._base), writing.names.namespace
        quads = [
            Quad(base, LAST_COMMIT, Literal(writing.number), self._meta),
            Quad(node, RDF_TYPE, prism("Commit"), self._meta),
            Quad(node, NUMBER, Literal(writing.number), self._meta),
            Quad(node, _RECORDED_AT, instant_literal(writing.now), self._meta),
            Quad(node, prism("namespace"), Literal(namespace), self._meta),
            Quad(node, prism("verb"), Literal(verb), self._meta),
        ]
        if namespace != STORE:
            quads.append(Quad(base, HAS_NAMESPACE, Literal(namespace), self._meta))
        if key:
            quads.append(Quad(node, _KEY, Literal(_scoped(namespace, key)), self._meta))
            quads.append(Quad(node, PAYLOAD, Literal(_hashed(payload)), self._meta))
            quads += [Quad(node, _CREATED, NamedNode(entity), self._meta) for entity in created]
        return tuple(quads)

    def _begun_before(self, names: Names, key: str, payload: str) -> Receipt | None:
        """Return what ``repeated`` does; where it is None the write begins, if the check lets it."""
        repeated = self.repeated(names, key, payload)
        if repeated is None and self._check is not None:
            self._check()
        return repeated

    def repeated(self, names: Names, key: str, payload: str) -> Receipt | None:
        """Return the receipt of the commit under this key; None when there is none. Raises IdempotencyConflict."""
        if not key:
            return None
        literal = Literal(_scoped(names.namespace, key))
        quad = next(self._store.quads_for_pattern(None, _KEY, literal, self._meta), None)
        if quad is None or not isinstance(quad.subject, NamedNode):
            return None
        commit = about(self._store, quad.subject, self._meta)
        if commit.text(PAYLOAD) != _hashed(payload):
            raise IdempotencyConflict(
                f"idempotency key {key!r} was already used for something else",
                rule="the same key stands for the same request",
                mend="use a new key for a new request",
                node=quad.subject.value,
            )
        created = tuple(entity.value for entity in commit.iris(_CREATED))
        return Receipt(commit.number(NUMBER), commit.instant(_RECORDED_AT), created, replayed=True)

    def _replay(self) -> None:
        """Apply the logged commits that the store lacks; one that breaks an invariant was never acknowledged."""
        for logged in self._log.read(self._number):
            before = ReadOnce(self._store)
            after = Overlay(before, logged.adds, logged.removes)
            if broken_by(before, after, Names(self._base, logged.namespace)):
                self._log.abort(logged.number)
                continue
            self._store.apply(logged.adds, logged.removes)
            self._number, self._recorded_at = logged.number, logged.recorded_at


def last_commit(store: GraphReader, base: str) -> tuple[int, Instant | None]:
    """Return the number and the system time of the last commit in a store; 0 and None when there is none."""
    meta = meta_graph(base)
    number = about(store, NamedNode(base), meta).number(LAST_COMMIT)
    return number, about(store, commit_iri(base, number), meta).instant(_RECORDED_AT) if number else None


def entities_of(change: LoggedChange, base: str) -> tuple[NamedNode, ...]:
    """Return the entities that a logged commit speaks of, sorted; what free graphs say of them is not meant."""
    prefix = Names(base, change.namespace).entity("").value
    quads = (*change.adds, *change.removes)
    free = {graph for graph in {quad.graph_name for quad in quads} if is_free(graph, base)}
    ends = (end for quad in quads if quad.graph_name not in free for end in (quad.subject, quad.object))
    return tuple(sorted({e for e in ends if isinstance(e, NamedNode) and e.value.startswith(prefix)}, key=str))


def touched_by(store: GraphReader, change: LoggedChange, base: str) -> tuple[NamedNode, ...]:
    """Return the entities of a logged commit, and those of what it no more than ended, which need not name them.

    These are names, references and merges; events, one of which is withdrawn wherever states change and none is new;
    and drafts.
    """
    names = Names(base, change.namespace)
    semantic, temporal, prefix = names.graph("semantic"), names.graph("temporal"), names.entity("").value
    of_history = (names.event("").value, names.draft("").value)
    speaks: dict[tuple[NamedNode, NamedNode], bool] = {}
    for quad in (*change.adds, *change.removes):
        node, graph = quad.subject, quad.graph_name
        if not isinstance(node, NamedNode) or not isinstance(graph, NamedNode):
            continue
        if graph == semantic or (graph == temporal and node.value.startswith(of_history)):
            named = isinstance(quad.object, NamedNode) and quad.object.value.startswith(prefix)
            speaks[node, graph] = speaks.get((node, graph), False) or named
    silent = (about(store, *place) for place, speaks_of_some in speaks.items() if not speaks_of_some)
    ends = (quad.object for node in silent for quad in node.quads)
    told = {end for end in ends if isinstance(end, NamedNode) and end.value.startswith(prefix)}
    return tuple(sorted({*told, *entities_of(change, base)}, key=str))


def _scoped(namespace: str, key: str) -> str:
    return f"{namespace}\n{key}"


def _hashed(payload: str) -> str:
    return hashlib.sha256(payload.encode()).hexdigest()
