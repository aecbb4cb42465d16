"""What a store was made to forget: keyed hashes by which it is known again, and nothing by which it could be guessed.

A tombstone is a node of the meta graph named by the HMAC-SHA256 of what identifies a thing. The key is random, lies
in the store's folder beside the graph, and leaves it only in a backup. The forgetting itself is maintenance.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.clock import Instant
from prism_rdf.evidence.claims import evidence_node
from prism_rdf.evidence.memories import memory_node
from prism_rdf.model import (
    Alias,
    Bookmark,
    Candidate,
    Difference,
    DraftEnd,
    DraftVersion,
    Event,
    Evidence,
    FreeChange,
    Intent,
    Memory,
    Merge,
    NewEntity,
    Reference,
    Ruling,
    TypeText,
    Withdrawal,
)
from prism_rdf.namespaces import RDF_TYPE, Names, derived_uuid, meta_graph, prism
from prism_rdf.review.candidates import candidate_node, clue_node, entities_of
from prism_rdf.semantic.aliases import alias_node
from prism_rdf.storage.folder import sync_folder
from prism_rdf.storage.interface import GraphReader
from prism_rdf.temporal.events import event_uuid
from prism_rdf.values import instant_literal

TOMBSTONE = prism("Tombstone")


@dataclass(frozen=True)
class Mark:
    """What identifies a thing of a project: what it is (entity, memory, text, …) and its name or source."""

    kind: str
    identity: str

    @classmethod
    def text(cls, source: str, content: str) -> Mark:
        """Return the mark of a passage wherever in a version of its source it stands: ``path@version`` is the path."""
        said = hashlib.sha256(content.encode()).hexdigest()
        return cls("text", f"{source.partition('@')[0]}\n{said}")


class Forgotten:
    """The tombstones of one store. ``key_file`` None: a store in memory, whose key is gone with it."""

    def __init__(self, store: GraphReader, base: str, key_file: Path | None) -> None:
        self._store = store
        self._base = base
        self._meta = meta_graph(base)
        self._key_file = key_file
        self._key = key_file.read_bytes() if key_file is not None and key_file.is_file() else b""

    def knows(self, namespace: str, mark: Mark) -> bool:
        """Return whether the thing was forgotten in this project."""
        if not self._key:
            return False
        node = self._node(namespace, mark)
        return next(self._store.quads_for_pattern(node, RDF_TYPE, TOMBSTONE, self._meta), None) is not None

    def tombstones(self, namespace: str, marks: Iterable[Mark], now: Instant) -> tuple[Quad, ...]:
        """Return the quads by which the things are known from now on. Makes the key of the store when it has none.

        Raises OSError when the disk refuses it.
        """
        if not self._key:
            self._make_key()
        quads: list[Quad] = []
        for node in sorted({self._node(namespace, mark) for mark in marks}, key=str):
            quads.append(Quad(node, RDF_TYPE, TOMBSTONE, self._meta))
            quads.append(Quad(node, prism("namespace"), Literal(namespace), self._meta))
            quads.append(Quad(node, prism("recordedAt"), instant_literal(now), self._meta))
        return tuple(quads)

    def spare(self, intents: Sequence[Intent], names: Names) -> tuple[tuple[Intent, ...], tuple[str, ...]]:
        """Return the intents without what was forgotten, and a note for the receipt on what that was."""
        if not self._key:
            return tuple(intents), ()
        left_out: Counter[str] = Counter()
        kept: list[Intent] = []
        for intent in intents:
            if any(self.knows(names.namespace, mark) for mark in _marks(intent, names)):
                left_out[_KINDS[type(intent)]] += 1
            else:
                kept.append(self._without_mentions(intent, names) if isinstance(intent, Memory) else intent)
        said = ", ".join(f"{count} {kind}" for kind, count in sorted(left_out.items()))
        return tuple(kept), (f"left out, because it was forgotten here: {said}",) if said else ()

    def _without_mentions(self, memory: Memory, names: Names) -> Memory:
        mentions = tuple(m for m in memory.mentions if not self.knows(names.namespace, _mention_mark(m, names)))
        return memory if mentions == memory.mentions else replace(memory, mentions=mentions)

    def _node(self, namespace: str, mark: Mark) -> NamedNode:
        said = f"{namespace}\n{mark.kind}\n{mark.identity}".encode()
        return NamedNode(f"{self._base}/-/forgotten/{hmac.new(self._key, said, hashlib.sha256).hexdigest()}")

    def _make_key(self) -> None:
        key = secrets.token_bytes(32)
        if self._key_file is not None:
            fresh = self._key_file.with_name(f"{self._key_file.name}.new")
            fresh.unlink(missing_ok=True)
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(handle, key)
                os.fsync(handle)
            finally:
                os.close(handle)
            fresh.replace(self._key_file)
            sync_folder(self._key_file.parent)
        self._key = key


_KINDS: dict[type[Intent], str] = {
    NewEntity: "entity",
    Event: "event",
    Alias: "alias",
    Reference: "reference",
    Merge: "merge",
    Difference: "difference",
    Memory: "memory",
    Evidence: "evidence",
    DraftVersion: "draft",
    DraftEnd: "draft",
    Withdrawal: "withdrawal",
    Candidate: "candidate",
    Ruling: "ruling",
    Bookmark: "bookmark",
    TypeText: "file of types",
    FreeChange: "free graph",
}


def _marks(intent: Intent, names: Names) -> Iterable[Mark]:
    """Yield every mark by which a tombstone keeps an intent out."""
    if isinstance(intent, NewEntity):
        yield Mark("entity", intent.uuid)
    elif isinstance(intent, Reference):
        yield from (Mark("entity", intent.source), Mark("entity", intent.target))
    elif isinstance(intent, Merge):
        yield from (Mark("entity", intent.merged), Mark("entity", intent.into))
    elif isinstance(intent, Difference):
        yield from (Mark("entity", intent.one), Mark("entity", intent.other))
    elif isinstance(intent, Memory):
        yield from (Mark("entity", uuid) for uuid in intent.about)
        yield Mark("memory", names.uuid_of(memory_node(intent, names).value))
        yield Mark.text(intent.source, intent.content)
    elif isinstance(intent, Evidence):
        yield Mark("entity", intent.entity)
        yield Mark("memory", names.uuid_of(intent.clue.source_memory))
        yield Mark("evidence", names.uuid_of(evidence_node(intent, names).value))
        yield Mark.text(intent.clue.source, intent.clue.quote)
    elif isinstance(intent, Alias):
        yield Mark("entity", intent.target)
        yield Mark("alias", names.uuid_of(alias_node(intent, names).value))
    elif isinstance(intent, Event):
        yield Mark("entity", intent.entity)
        yield Mark("event", event_uuid(intent, names.entity(intent.entity)))
    elif isinstance(intent, Candidate):
        yield from (Mark("entity", uuid) for uuid in entities_of(intent.proposal))
        yield Mark("memory", names.uuid_of(intent.clue.source_memory))
        yield Mark("candidate", names.uuid_of(candidate_node(intent, names).value))
        yield Mark("clue", names.uuid_of(clue_node(intent, names).value))
    elif isinstance(intent, Ruling):
        yield Mark("candidate", intent.candidate)
    elif not isinstance(intent, (Bookmark, TypeText, FreeChange)):
        yield Mark("entity", intent.entity)


def _mention_mark(mention: str, names: Names) -> Mark:
    kind, _, name = mention.partition(":")
    return Mark("entity", name) if kind == "entity" else Mark("concept", derived_uuid("concept", name))
