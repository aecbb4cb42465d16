"""The values that travel between rooms: frozen, free of I/O, in terms of RDF.

Intents say what a caller wants; a planner turns them into a ChangeSet; commit writes it; a Receipt comes back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from typing import Literal as Choice

from pyoxigraph import NamedNode, Quad

from prism_rdf.clock import Edge, Instant
from prism_rdf.namespaces import prism
from prism_rdf.values import Term

Op = Choice["set", "add", "remove", "clear"]
Flag = Choice["current", "historical", "wip"]
Tier = Choice[1, 2, 3]
DraftSource = Choice["session_intent", "working_tree", "explicit"]
Stance = Choice["supports", "contradicts"]


@dataclass(frozen=True)
class Assertion:
    """(property, value, [start, until), op): the atom of history.

    ``value`` is None exactly for ``clear``. ``start`` None means since ever, ``until`` None means open.
    """

    property: NamedNode
    value: Term | None
    op: Op = "set"
    start: Instant | None = None
    until: Instant | None = None


@dataclass(frozen=True)
class NewEntity:
    """A new identity. ``type`` is the IRI of a prism:Type; ``uuid`` is chosen by the planner's caller."""

    uuid: str
    type: NamedNode
    source_memory: str = ""


@dataclass(frozen=True)
class Event:
    """A supersession event with its assertions, about the entity ``entity`` (a uuid).

    ``at`` is valid time (None: unknown start). ``sequence`` orders what one source says of one instant.
    ``level`` is 0 for ordinary events and higher for corrections: a correction outranks by being one.
    """

    entity: str
    event_type: str
    at: Edge | None
    assertions: tuple[Assertion, ...]
    uuid: str = ""
    cause_memory: str = ""
    cause_commit: str = ""
    description: str = ""
    source: str = ""
    tier: Tier = 1
    sequence: int = 0
    level: int = 0
    props_drift: bool | None = None


@dataclass(frozen=True)
class Alias:
    """Another name: ``former`` (it was the name) or ``synonym`` (it is another name)."""

    target: str
    surface_form: str
    kind: Choice["former", "synonym"] = "former"
    tier: Tier = 1
    source_memory: str = ""
    source: str = ""
    start: Instant | None = None
    until: Instant | None = None


@dataclass(frozen=True)
class Reference:
    """A typed reference between two entities (uuids); ``kind`` is the property IRI, such as prism:FORMALIZES."""

    source: str
    target: str
    kind: NamedNode
    start: Instant | None = None
    until: Instant | None = None
    tier: Tier = 1
    provenance: str = ""
    cause_commit: str = ""


@dataclass(frozen=True)
class Merge:
    """``merged`` and ``into`` (uuids) are one thing that was entered twice: whatever names the first means the second.

    It holds for all valid time.
    """

    merged: str
    into: str
    tier: Tier = 1
    source_memory: str = ""
    source: str = ""
    description: str = ""


@dataclass(frozen=True)
class Difference:
    """``one`` and ``other`` (uuids) look like one thing and are two, for all valid time."""

    one: str
    other: str
    tier: Tier = 1
    source: str = ""
    description: str = ""


@dataclass(frozen=True)
class Memory:
    """A passage worth recalling, with the interval in which its source said it.

    ``key`` names it in its source, so that the same passage read twice is one memory. ``about`` holds uuids of
    entities; ``mentions`` holds ``entity:<uuid>`` and ``concept:<name>``. ``speaker`` is who said it, as one is called
    in talk; what stands in ``source`` behind ``#`` orders what was said at one time (``chat-7#12``).
    """

    content: str
    kind: str
    created_at: Instant
    source: str = ""
    key: str = ""
    about: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    heading: str = ""
    start: Instant | None = None
    until: Instant | None = None
    tier: Tier = 1
    speaker: str = ""


@dataclass(frozen=True)
class DraftVersion:
    """What a work-in-progress state holds from ``at`` on: the whole snapshot, in the thread ``thread`` (a uuid)."""

    entity: str
    thread: str
    props: Mapping[NamedNode, tuple[Term, ...]]
    at: Instant
    source: DraftSource = "explicit"


@dataclass(frozen=True)
class DraftEnd:
    """The end of a draft thread at ``at``: it was sealed into the history, or discarded."""

    entity: str
    thread: str
    at: Instant
    outcome: Choice["sealed", "discarded"]


@dataclass(frozen=True)
class Withdrawal:
    """The end of belief in a node: an event (a retraction), an alias, a reference, a merge or a memory, by IRI.

    ``entity`` is the uuid of the entity whose history or names it concerns; empty for a memory about none. With
    ``said_at`` only what the commit of that system time said is taken back: a node that it did no more than end goes
    on as before.
    """

    node: NamedNode
    entity: str = ""
    said_at: Instant | None = None


@dataclass(frozen=True)
class Fact:
    """One property of an entity (a uuid) over [at, until), as it is proposed.

    ``set`` puts the values in place of all others; ``clear`` has none. ``at`` None: unknown start.
    """

    entity: str
    property: NamedNode
    values: tuple[Term, ...] = ()
    op: Op = "set"
    at: Edge | None = None
    until: Instant | None = None
    event_type: str = "fact"


@dataclass(frozen=True)
class Clue:
    """What made somebody guess: the words, where they stand, who read them, and how sure that is, from 0 to 1.

    Offsets count the characters of the source before the quote and up to its end; ``source_memory`` is an IRI.
    """

    quote: str = ""
    source: str = ""
    start_offset: int | None = None
    end_offset: int | None = None
    extractor: str = ""
    confidence: float | None = None
    source_memory: str = ""
    cause_commit: str = ""
    note: str = ""


@dataclass(frozen=True)
class Evidence:
    """What a source says for or against a claim: that ``property`` of ``entity`` (a uuid) is ``value``, over
    [start, until).

    It changes no state. ``clue`` has the words and where they stand.
    """

    entity: str
    property: NamedNode
    value: Term
    clue: Clue
    stance: Stance = "supports"
    tier: Tier = 1
    start: Instant | None = None
    until: Instant | None = None


@dataclass(frozen=True)
class Candidate:
    """Something guessed (tier 3), which nobody believes until it is promoted, and one clue that speaks for it.

    ``undated``: nobody said when, so it is proposed from the moment at which it is first recorded. ``dropped``: the end
    of what is proposed is when its source ceased to say so; it ends the candidate that has no end yet.
    """

    proposal: Fact | Alias | Reference
    clue: Clue = Clue()
    undated: bool = False
    dropped: bool = False


@dataclass(frozen=True)
class Ruling:
    """What was decided about a candidate (a uuid); ``pending`` takes the ruling before it back.

    ``applied`` is what a promotion writes, in the same commit; ``edited`` names what the reviewer corrected.
    """

    candidate: str
    status: Choice["promoted", "rejected", "pending"]
    reviewer: str = ""
    note: str = ""
    edited: tuple[str, ...] = ()
    applied: NamedNode | None = None


@dataclass(frozen=True)
class Bookmark:
    """How far a source was read: ``commit`` is the last one, of a reading by the mapping with this digest.

    ``counts`` is JSON: what the reading came to so far. A source has one bookmark for each mapping.
    """

    source: str
    mapping: str
    commit: str
    counts: str = "{}"


@dataclass(frozen=True)
class TypeText:
    """A file of types as it is to be from now on: its Turtle, or None when the project is to be without it.

    ``source`` says where it was read, if anywhere.
    """

    file_name: str
    content: str | None
    source: str = ""


@dataclass(frozen=True)
class FreeChange:
    """Quads of free graphs that come and go, as they are; graphs that are ``made``, if empty, and that are ``dropped``.

    What is removed is there, and what is added is not.
    """

    adds: tuple[Quad, ...] = ()
    removes: tuple[Quad, ...] = ()
    made: tuple[NamedNode, ...] = ()
    dropped: tuple[NamedNode, ...] = ()


Intent = (
    NewEntity
    | Event
    | Alias
    | Reference
    | Merge
    | Difference
    | Memory
    | Evidence
    | DraftVersion
    | DraftEnd
    | Withdrawal
    | Candidate
    | Ruling
    | Bookmark
    | TypeText
    | FreeChange
)


@dataclass(frozen=True)
class ChangeSet:
    """What one commit writes: removals first, then additions; and notes for the receipt."""

    adds: tuple[Quad, ...] = ()
    removes: tuple[Quad, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.adds and not self.removes


@dataclass(frozen=True)
class Receipt:
    """The answer to a write, given only after it is on disk.

    ``commit`` is None when there was nothing to change; ``replayed`` is True for a repeated idempotency key.
    ``candidates`` are the guesses (tier 3) that await review: nothing of them is believed.
    """

    commit: int | None
    recorded_at: Instant | None
    created: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    replayed: bool = False
    candidates: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "commit": self.commit,
            "recorded_at": self.recorded_at.iso() if self.recorded_at else None,
            "created": list(self.created),
            "notes": list(self.notes),
            "replayed": self.replayed,
            "candidates": list(self.candidates),
        }


@dataclass(frozen=True)
class State:
    """One sealed or wip state: the whole snapshot of an entity over [valid_from, valid_until)."""

    iri: str
    entity: str
    valid_from: Instant | None
    valid_until: Instant | None
    recorded_at: Instant
    commit_status: Choice["committed", "wip"]
    props: Mapping[NamedNode, tuple[Term, ...]] = field(default_factory=dict)
    causes: tuple[str, ...] = ()
    superseded_by: str = ""
    void: bool = False


EVENT_CORRECTION = "correction"
RETIRED = prism("retired")
