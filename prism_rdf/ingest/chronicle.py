"""The intents about each document as its history unfolds: events, former numbers, memories of its passages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from pyoxigraph import Literal

from prism_rdf.clock import Edge, Instant
from prism_rdf.ingest.passages import Passage
from prism_rdf.ingest.tracks import Track
from prism_rdf.ingest.values import Values, declared_by
from prism_rdf.model import RETIRED, Alias, Assertion, Event, Intent, Memory, NewEntity, Tier
from prism_rdf.namespaces import derived_uuid

_FIRST = ("title", "name", "number", "status", "path")
_EVENT_TYPES = (
    ("number", "renumbered"),
    ("title", "rename"),
    ("name", "rename"),
    ("status", "status_transition"),
    ("path", "moved"),
)
_TIER: Tier = 2

Named = Callable[[Passage], list[str]]


@dataclass(frozen=True)
class Moment:
    """When something was said, and where: ``source`` is the same in every clone, ``passage`` names the version."""

    at: Edge
    source: str
    passage: str
    commit: str = ""
    subject: str = ""
    sequence: int = 0


class Chronicle:
    """What is to be written about each document, in the order of history; ``drain`` hands over what is new.

    ``pending`` is about how many intents there are to hand over.
    """

    def __init__(self) -> None:
        self.pending = 0
        self._types: dict[str, NewEntity] = {}
        self._events: defaultdict[str, list[Event]] = defaultdict(list)
        self._aliases: defaultdict[str, list[Alias]] = defaultdict(list)
        self._ended: defaultdict[str, list[Memory]] = defaultdict(list)
        self._open: defaultdict[str, dict[str, Memory]] = defaultdict(dict)
        self._fresh: defaultdict[str, dict[str, None]] = defaultdict(dict)

    def describe(self, track: Track, now: Values, moment: Moment, why: str = "") -> list[str]:
        """Record what changed of a document's properties, nothing when nothing did; ``why`` it is the same document.

        Return the immutable properties that a version would change: they stay as they are.
        """
        declared = declared_by(track.type)
        kept = {prop.name for prop in track.type.immutable}
        refused = sorted(name for name in kept if name in track.props and now.get(name) != track.props[name])
        now = {**now, **{name: track.props[name] for name in refused}}
        reopened = track.ended is not None
        changed = sorted((n for n in {*now, *track.props} if now.get(n) != track.props.get(n)), key=_rank)
        if not changed and not reopened:
            return refused
        self._renumber(track, now.get("number"), moment)
        assertions: list[Assertion] = []
        for name in changed:
            held, prop = now.get(name, ()), declared[name]
            if not held or (prop.multi and name in track.props):
                assertions.append(Assertion(prop.iri, None, "clear"))
            assertions += [Assertion(prop.iri, value, "add" if prop.multi else "set") for value in held]
        if reopened:
            assertions.append(Assertion(RETIRED, Literal(False)))
            event_type = "reopened"
        elif not track.props:
            event_type = "created"
        else:
            event_type = next((kind for name, kind in _EVENT_TYPES if name in changed), "transition")
        self._add(track, event_type, tuple(assertions), moment, why)
        track.props, track.ended = dict(now), None
        return refused

    def retire(self, track: Track, moment: Moment) -> None:
        """Record that the document was deleted: it has no state from then on."""
        self._add(track, "retired", (Assertion(RETIRED, Literal(True)),), moment)
        self._end(track.uuid, list(self._open[track.uuid]), moment.at.instant)
        track.ended = moment.at.instant

    def remember(self, track: Track, named: Named, moment: Moment) -> None:
        """Record the passages of a version: those that it no longer holds end, the others go on or begin."""
        opened = self._open[track.uuid]
        passages = {passage.key: passage for passage in track.document.passages}
        self._end(track.uuid, [key for key in opened if key not in passages], moment.at.instant)
        for key, passage in passages.items():
            if key not in opened:
                opened[key] = _memory(track, passage, named(passage), moment)
                self._fresh[track.uuid][key] = None
                self.pending += 1

    def drain(self, tracks: Iterable[str], wanted: Collection[str]) -> Iterator[Intent]:
        """Yield what was not yet handed over about the documents that are wanted, each document's together."""
        changed = {*self._events, *self._aliases, *self._ended, *self._fresh}
        for uuid in tracks:
            if uuid in changed and uuid in wanted:
                yield from self._about(uuid)
        for kept in (self._events, self._aliases, self._ended, self._fresh):
            kept.clear()
        self.pending = 0

    def introduce(self, track: Track) -> None:
        """Record a new document."""
        self._events[track.uuid] = []
        self._types[track.uuid] = NewEntity(track.uuid, track.type.iri)

    def _about(self, uuid: str) -> Iterator[Intent]:
        if uuid in self._types:
            yield self._types.pop(uuid)
        yield from self._events.get(uuid, ())
        yield from self._aliases.get(uuid, ())
        yield from self._ended.get(uuid, ())
        opened = self._open[uuid]
        yield from (opened[key] for key in self._fresh.get(uuid, ()) if key in opened)

    def _renumber(self, track: Track, number: tuple[Literal, ...] | None, moment: Moment) -> None:
        old = track.props.get("number")
        if old == number:
            return
        if old is not None:
            self.pending += 1
            self._aliases[track.uuid].append(
                Alias(
                    target=track.uuid,
                    surface_form=old[0].value,
                    kind="former",
                    tier=_TIER,
                    source=moment.source,
                    start=track.bears_since,
                    until=track.ended or moment.at.instant,
                )
            )
        track.bears_since = moment.at.instant if number else None

    def _add(
        self, track: Track, event_type: str, assertions: tuple[Assertion, ...], moment: Moment, why: str = ""
    ) -> None:
        said = (f"{a.property.value} {a.op} {a.value}" for a in assertions)
        uuid = derived_uuid(
            "event", track.uuid, event_type, moment.at.instant.iso(), moment.commit, moment.source, *said
        )
        self.pending += 1
        self._events[track.uuid].append(
            Event(
                entity=track.uuid,
                event_type=event_type,
                at=moment.at,
                assertions=assertions,
                uuid=uuid,
                cause_commit=moment.commit,
                description=f"{moment.subject} [{why}]".strip() if why else moment.subject,
                source=moment.source,
                tier=_TIER,
                sequence=moment.sequence,
            )
        )

    def _end(self, uuid: str, keys: Iterable[str], at: Instant) -> None:
        for key in keys:
            memory = self._open[uuid].pop(key)
            self._fresh[uuid].pop(key, None)
            self._ended[uuid].append(replace(memory, until=at))
            self.pending += 1


def _memory(track: Track, passage: Passage, named: list[str], moment: Moment) -> Memory:
    entities = (f"entity:{uuid}" for uuid in named)
    title = track.document.title or track.path
    inner = passage.path[1:] if passage.path and title in passage.path[0] else passage.path
    return Memory(
        content=passage.content,
        kind="passage",
        created_at=moment.at.instant,
        source=f"{moment.passage}#char={passage.start},{passage.end}",
        key=f"{track.uuid}#{passage.key}",
        about=(track.uuid,),
        mentions=(*entities, *(f"concept:{name}" for name in passage.concepts)),
        heading=" > ".join((title, *inner)),
        start=moment.at.instant,
        tier=_TIER,
    )


def _rank(name: str) -> tuple[int, str]:
    return (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)
