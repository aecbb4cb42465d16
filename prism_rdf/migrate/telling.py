"""An artifact, and what its row said before, into intents: only what is new; who bears a name is found elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from pyoxigraph import Literal

from prism_rdf.canonical.catalog import EntityType
from prism_rdf.clock import Edge, Instant, Precision
from prism_rdf.ingest.blocks import BlockReader
from prism_rdf.ingest.documents import Document, parse
from prism_rdf.ingest.statements import Mention
from prism_rdf.ingest.texts import Unreadable
from prism_rdf.ingest.values import declared_by
from prism_rdf.migrate.said import Said
from prism_rdf.migrate.understanding import Artifact, BadValue, Link, terms
from prism_rdf.model import Assertion, Event, Intent, Memory, NewEntity, Reference, Tier
from prism_rdf.namespaces import derived_uuid, prism
from prism_rdf.values import Term

_TIER: Tier = 2
_EVENT_TYPES = (*(("number", "renumbered"), ("title", "rename"), ("name", "rename"), ("status", "status_transition")),)

Ends = tuple[str, str, str]  # source, target, kind
Meant = Callable[[str], list[str]]  # the uuids of those that bear a name


@dataclass(frozen=True)
class Place:
    """A row: the entity it tells of, what names it as a source, and whether its table dates changes."""

    uuid: str
    source: str
    dated: bool
    now: Instant

    def when(self, artifact: Artifact, said: Said) -> tuple[Instant, Instant]:
        """Return (since when what the row says holds, the time as of which it is compared with what was said).

        The row that made the entity speaks since the entity began. A later one speaks since it was changed, or, when
        the table does not say when that was, since now.
        """
        first = said.first_stood
        if first is None or (self.dated and first == artifact.stood.micros):
            return artifact.created, artifact.stood
        return (artifact.stood, artifact.stood) if self.dated else (self.now, self.now)


def read_body(artifact: Artifact, blocks: BlockReader) -> Document | None:
    """Return what the body of an artifact says; None when it has none. Raises BadValue for one that cannot be read."""
    if not artifact.body.strip():
        return None
    try:
        return parse(artifact.body.encode(), blocks)
    except Unreadable as error:
        raise BadValue("body", error.reason, error.mend) from error


def describe(artifact: Artifact, known: EntityType, place: Place, said: Said) -> list[Intent]:
    """Return the entity, if it is new, and the event that says what changed of it; ``said`` takes the event in.

    Raises BadValue for a value that changed while the row claims not to have.
    """
    values = terms(known, artifact.values)
    since, at = place.when(artifact, said)
    stood = artifact.stood if place.dated else since
    new = said.first_stood is None
    changed: dict[str, tuple[Literal, ...]] = {}
    for name in artifact.told:
        held, before = values.get(name, ()), said.value(name, at)
        if (held or before) and held != before:
            if not new and place.dated and said.claimed(name, stood):
                raise BadValue(
                    name,
                    f"{name} changed from {_shown(before)} to {_shown(held)}, and updated_at did not",
                    "move updated_at on, or run prism correct on the entity if it was wrong",
                )
            changed[name] = held
    if not changed:
        if new:
            raise BadValue("", "no property of it has a value", "map a column to a property of its type, such as title")
        return []
    event = _event(artifact, known, changed, place, since, stood, "created" if new else _kind_of(changed), said)
    said.note(event)
    return [NewEntity(place.uuid, known.iri), event] if new else [event]


def _event(
    artifact: Artifact,
    known: EntityType,
    changed: Mapping[str, tuple[Literal, ...]],
    place: Place,
    since: Instant,
    stood: Instant,
    event_type: str,
    said: Said,
) -> Event:
    declared = declared_by(known)
    assertions: list[Assertion] = []
    for name, held in sorted(changed.items()):
        prop = declared[name]
        if not held or (prop.multi and said.value(name, since)):
            assertions.append(Assertion(prop.iri, None, "clear"))
        assertions += [Assertion(prop.iri, value, "add" if prop.multi else "set") for value in held]
    precision = cast(Precision, artifact.precision) if since == artifact.created else "instant"
    told = (f"{each.property.value} {each.op} {each.value}" for each in assertions)
    uuid = derived_uuid("event", place.uuid, event_type, since.iso(), stood.iso(), place.source, *told)
    return Event(
        entity=place.uuid,
        event_type=event_type,
        at=Edge(since, precision),
        assertions=tuple(assertions),
        uuid=uuid,
        source=place.source,
        tier=_TIER,
        sequence=stood.micros,
    )


def remember(artifact: Artifact, document: Document | None, place: Place, said: Said, meant: Meant) -> list[Intent]:
    """Return the passages of the body that begin, and those that it does not hold any more, which end."""
    since, at = place.when(artifact, said)
    if any(each.start is not None and each.start > at for each in said.passages):
        return []  # a version that was told before, between others
    opened = {_words(each.content): each for each in said.passages_at(at)}
    passages = {_words(each.content): each for each in (document.passages if document is not None else ())}
    found: list[Intent] = []
    for words, memory in opened.items():
        if words not in passages:
            if memory.start is not None and since <= memory.start:
                raise BadValue("body", "the body changed, and updated_at did not", "move updated_at on")
            found.append(replace(memory, until=since))
    title = artifact.title
    for words, passage in passages.items():
        if words not in opened:
            inner = passage.path[1:] if passage.path and title and title in passage.path[0] else passage.path
            named = (f"entity:{uuid}" for each in passage.mentions for uuid in _one(meant(each.identifier), place.uuid))
            found.append(
                Memory(
                    content=passage.content,
                    kind="passage",
                    created_at=since,
                    source=f"{place.source}@{since.iso()}#char={passage.start},{passage.end}",
                    about=(place.uuid,),
                    mentions=tuple(dict.fromkeys((*named, *(f"concept:{name}" for name in passage.concepts)))),
                    heading=" > ".join(filter(None, (title, *inner))),
                    start=since,
                    tier=_TIER,
                )
            )
    return found


def links_of(artifact: Artifact, document: Document | None) -> tuple[Link, ...]:
    """Return what an artifact says of others: in columns that name them, and in its body."""
    said = [*artifact.links, *map(_link, document.mentions if document is not None else ())]
    return tuple(dict.fromkeys(link for link in said if link.text))


def refer(wanted: Mapping[tuple[str, str, str], Instant], artifact: Artifact, place: Place, said: Said) -> list[Intent]:
    """Return the references that begin and those that end; ``wanted`` holds since when both ends are there.

    Its keys are (source, target, kind).
    """
    since, at = place.when(artifact, said)
    if not place.dated and not said.references and all(each.start == artifact.created for each in said.passages):
        since = at = artifact.created  # this is the body that the entity began with
    held = {ends_of(each): each for each in said.references if each.until is None or each.until > at}
    found: list[Intent] = []
    for ends, reference in held.items():
        if ends not in wanted and reference.until is None and (reference.start is None or since > reference.start):
            found.append(replace(reference, until=since))
    for ends, there in wanted.items():
        if ends not in held:
            source, target, kind = ends
            begins = max(since, there)
            found.append(Reference(source, target, prism(kind), begins, None, _TIER, place.source))
    gone = {ends_of(each) for each in found if isinstance(each, Reference) and each.until is not None}
    said.references = [each for each in said.references if ends_of(each) not in gone or each.until is not None]
    said.references += [each for each in found if isinstance(each, Reference)]
    return found


def ends_of(reference: Reference) -> Ends:
    return reference.source, reference.target, reference.kind.value.rpartition("#")[2]


def _link(mention: Mention) -> Link:
    return Link(prism(mention.kind).value, mention.identifier, mention.inverse)


def _one(found: Sequence[str], itself: str) -> Sequence[str]:
    return found if len(found) == 1 and found[0] != itself else ()


def _words(content: str) -> str:
    return " ".join(content.split())


def _kind_of(changed: Mapping[str, object]) -> str:
    return next((kind for name, kind in _EVENT_TYPES if name in changed), "transition")


def _shown(values: Sequence[Term] | None) -> str:
    return ", ".join(repr(each.value) for each in values or ()) or "nothing"
