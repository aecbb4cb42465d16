"""The intents about each document as its history unfolds: events, former numbers, memories of its text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode

from prism_rdf.clock import Edge, Instant
from prism_rdf.ingest.tracks import Track
from prism_rdf.model import RETIRED, Alias, Assertion, Event, Intent, Memory, NewEntity, Tier
from prism_rdf.namespaces import TYPE, derived_uuid, prism

PROPERTIES = ("title", "number", "status", "path")
ADR = NamedNode(TYPE + "ADR")

_EVENT_TYPES = (("number", "renumbered"), ("title", "rename"), ("status", "status_transition"), ("path", "moved"))
_TIER: Tier = 2


@dataclass(frozen=True)
class Moment:
    """When something was said, and where: ``source`` is the same in every clone, ``passage`` names the version."""

    at: Edge
    source: str
    passage: str
    key: str
    commit: str = ""
    subject: str = ""
    sequence: int = 0


class Chronicle:
    """What is to be written about each document, in the order of history."""

    def __init__(self) -> None:
        self._events: defaultdict[str, list[Event]] = defaultdict(list)
        self._aliases: defaultdict[str, list[Alias]] = defaultdict(list)
        self._memories: defaultdict[str, list[Memory]] = defaultdict(list)
        self._meanings: dict[str, str] = {}

    def describe(self, track: Track, number: str, moment: Moment) -> None:
        """Record what changed in title, number, status or path; nothing when nothing did."""
        said = {
            "title": track.document.title,
            "number": number,
            "status": track.document.status,
            "path": track.path,
        }
        now = {name: value for name, value in said.items() if value}
        reopened = track.ended is not None
        changed = [name for name in PROPERTIES if now.get(name) != track.props.get(name)]
        if not changed and not reopened:
            return
        self._renumber(track, now.get("number"), moment)
        assertions = [_assertion(name, now.get(name)) for name in changed]
        if reopened:
            assertions.append(Assertion(RETIRED, Literal(False)))
            event_type = "reopened"
        elif not track.props:
            event_type = "created"
        else:
            event_type = next(kind for name, kind in _EVENT_TYPES if name in changed)
        self._add(track, event_type, tuple(assertions), moment)
        track.props, track.ended = now, None

    def retire(self, track: Track, moment: Moment) -> None:
        """Record that the document was deleted: it has no state from then on."""
        self._add(track, "retired", (Assertion(RETIRED, Literal(True)),), moment)
        self._end_memory(track.uuid, moment.at.instant)
        track.ended = moment.at.instant

    def remember(self, track: Track, named: list[str], moment: Moment) -> None:
        """Record the text of a version whose meaning differs from that of the version before."""
        document = track.document
        if self._meanings.get(track.uuid) == document.meaning:
            return
        at = moment.at.instant
        self._end_memory(track.uuid, at)
        if not document.text:
            return
        self._meanings[track.uuid] = document.meaning
        self._memories[track.uuid].append(
            Memory(
                content=document.text,
                kind="document",
                created_at=at,
                source=moment.passage,
                key=moment.key,
                about=(track.uuid,),
                mentions=(*(f"entity:{uuid}" for uuid in named), *(f"concept:{name}" for name in document.concepts)),
                heading=document.title or track.path,
                start=at,
                tier=_TIER,
            )
        )

    def intents(self, tracks: Mapping[str, Track]) -> Iterator[Intent]:
        """Yield the intents about some documents (by uuid), each document's together."""
        for uuid in tracks:
            yield NewEntity(uuid, ADR)
            yield from self._events[uuid]
            yield from self._aliases[uuid]
            yield from self._memories[uuid]

    def _renumber(self, track: Track, number: str | None, moment: Moment) -> None:
        old = track.props.get("number")
        if old == number:
            return
        if old is not None:
            self._aliases[track.uuid].append(
                Alias(
                    target=track.uuid,
                    surface_form=old,
                    kind="former",
                    tier=_TIER,
                    source=moment.source,
                    start=track.bears_since,
                    until=track.ended or moment.at.instant,
                )
            )
        track.bears_since = moment.at.instant if number else None

    def _add(self, track: Track, event_type: str, assertions: tuple[Assertion, ...], moment: Moment) -> None:
        said = (f"{a.property.value} {a.op} {a.value}" for a in assertions)
        uuid = derived_uuid(
            "event", track.uuid, event_type, moment.at.instant.iso(), moment.commit, moment.source, *said
        )
        self._events[track.uuid].append(
            Event(
                entity=track.uuid,
                event_type=event_type,
                at=moment.at,
                assertions=assertions,
                uuid=uuid,
                cause_commit=moment.commit,
                description=moment.subject,
                source=moment.source,
                tier=_TIER,
                sequence=moment.sequence,
            )
        )

    def _end_memory(self, uuid: str, at: Instant) -> None:
        if self._meanings.pop(uuid, None) is not None:
            self._memories[uuid][-1] = replace(self._memories[uuid][-1], until=at)


def _assertion(name: str, value: str | None) -> Assertion:
    if value is None:
        return Assertion(prism(name), None, "clear")
    return Assertion(prism(name), Literal(value))
