"""Question sets as projects of a store: chats of BEAM, pages of TimeQA; what is measured of them is not here."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from prism_rdf.clock import Instant
from prism_rdf.model import Memory
from prism_rdf.recall.embedders import CallableEmbedder, Embedder, chosen

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True)
class Asked:
    """A question with the texts that answer it; of a knowledge update also what was said before and after it."""

    text: str
    gold: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    ability: str = ""


@dataclass(frozen=True)
class Collection:
    """Memories that are searched together, by a name of their own each, and the questions about them."""

    name: str
    memories: dict[str, Memory]
    questions: tuple[Asked, ...]
    first_half: bool = False
    as_of: Instant | None = field(default=None)


def beam(folder: Path = SHARED / "beam-100k", chats: Sequence[int] = range(1, 11)) -> Iterator[Collection]:
    """Yield a collection for each chat: its messages, said in sessions by user and assistant."""
    probes: dict[int, list[dict[str, Any]]] = {}
    for line in (folder / "probes.jsonl").read_text().splitlines():
        probe = json.loads(line)
        probes.setdefault(probe["chat"], []).append(probe)
    messages: dict[int, dict[str, Memory]] = {}
    with gzip.open(folder / "turns.jsonl.gz", "rt") as file:
        for line in file:
            turn = json.loads(line)
            if turn["chat"] in chats:
                messages.setdefault(turn["chat"], {})[str(turn["id"])] = _message(turn)
    for chat, memories in messages.items():
        asked = (
            Asked(
                probe["question"],
                tuple(str(each) for each in probe["source_ids"]),
                *_update(probe),
                ability=probe["ability"],
            )
            for probe in probes[chat]
            if probe["source_ids"]
        )
        yield Collection(f"chat-{chat}", memories, tuple(asked), first_half=chat <= 5)


def _message(turn: dict[str, Any]) -> Memory:
    day = datetime.strptime(turn["time_anchor"], "%B-%d-%Y").date().isoformat()
    at = Instant.parse(f"{day}T00:00:00Z")
    return Memory(
        content=re.sub(r"\s*->->.*$", "", turn["content"]),
        kind="turn",
        created_at=at,
        source=f"chat-{turn['chat']}/session-{turn['batch']}#{turn['id']}",
        start=at,
        speaker=turn["role"],
    )


def _update(probe: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    told = probe.get("source_chat_ids")
    if probe["ability"] != "knowledge_update" or not isinstance(told, dict) or "updated_info" not in told:
        return (), ()
    return _ids(told.get("original_info")), _ids(told["updated_info"])


def _ids(value: Any) -> tuple[str, ...]:
    return tuple(str(each) for each in (value if isinstance(value, list) else [value]) if each is not None)


def timeqa(folder: Path = SHARED / "timeqa-human", pages: int = 110) -> Collection:
    """Return one collection of the paragraphs of the first pages of the training set, under the page's name each."""
    at = Instant.parse("2021-01-01T00:00:00Z")
    memories: dict[str, Memory] = {}
    questions: list[Asked] = []
    for page in json.loads((folder / "human_annotated_train.json").read_text())[:pages]:
        name = page["index"].removeprefix("/wiki/")
        title = name.split("#")[0].replace("_", " ")
        for place, paragraph in enumerate(page["paras"]):
            memories[f"{name}/{place}"] = Memory(
                content=paragraph, kind="passage", created_at=at, source=f"{name.replace('#', '/')}#{place}",
                heading=title, start=at,
            )  # fmt: skip
        for text, answers in page["questions"]:
            gold = tuple(dict.fromkeys(f"{name}/{each['para']}" for each in answers if each["answer"]))
            if gold:
                questions.append(Asked(text, gold))
    return Collection("timeqa", memories, tuple(questions))


def cached(path: Path, embedder: Embedder | None = None) -> CallableEmbedder:
    """Return the default embedder with what it embedded kept in a file, by the sha256 of the text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, check_same_thread=False, timeout=60)
    database.execute("CREATE TABLE IF NOT EXISTS v (k TEXT PRIMARY KEY, b BLOB)")
    real = embedder or chosen("minilm")
    assert real is not None

    def embed(texts: Sequence[str]) -> Any:
        rows = []
        for text in texts:
            key = hashlib.sha256(text.encode()).hexdigest()
            kept = database.execute("SELECT b FROM v WHERE k = ?", (key,)).fetchone()
            row = np.frombuffer(kept[0], np.float32) if kept else real.embed([text])[0]
            if not kept:
                with database:
                    database.execute("INSERT OR REPLACE INTO v VALUES (?, ?)", (key, row.tobytes()))
            rows.append(row)
        return np.vstack(rows) if rows else np.zeros((0, real.dimension), np.float32)

    return CallableEmbedder(embed, real.id, real.dimension)
