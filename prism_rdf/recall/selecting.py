"""Which of the memories found are wanted, and where a page of them begins; how they rank is not decided here."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Literal, get_args

from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument
from prism_rdf.recall.memories import KnownMemory

Mode = Literal["all", "current"]
MODES: tuple[Mode, ...] = get_args(Mode)
FLAGS = ("current", "historical", "wip", "none")


@dataclass(frozen=True)
class Selection:
    """What a hit has to be; an empty text wants anything.

    ``kind`` is of the memory, ``type`` and ``entity`` (an IRI) of what it is about, ``source`` how its source begins,
    ``flag`` its state flag ("none" where it has none). ``mode`` "current" leaves out what is historical.
    """

    kind: str = ""
    type: str = ""
    entity: str = ""
    source: str = ""
    flag: str = ""
    mode: Mode = "all"

    def __post_init__(self) -> None:
        if self.flag and self.flag not in FLAGS:
            raise BadArgument(
                f"{self.flag!r} is no flag", rule=f"a flag is one of {', '.join(FLAGS)}", mend="choose one"
            )

    def admits(self, memory: KnownMemory, type_of: Callable[[str], str]) -> bool:
        """Whether a memory is wanted, as far as its flag does not decide."""
        return (
            (not self.kind or memory.kind == self.kind)
            and (not self.source or memory.source.startswith(self.source))
            and (not self.entity or self.entity in memory.about)
            and (not self.type or any(type_of(entity).casefold() == self.type.casefold() for entity in memory.about))
        )

    def admits_flag(self, flag: str | None) -> bool:
        return (not self.flag or (flag or "none") == self.flag) and not (
            self.mode == "current" and flag == "historical"
        )

    @property
    def narrow(self) -> bool:
        """Whether it leaves anything out."""
        return self != Selection()


@dataclass(frozen=True)
class Page:
    """Where a page of an answer begins: after how many hits, of which question, at which time.

    ``pool`` is how many of the best are weighed by more than what the legs say; it is the same for all pages.
    """

    offset: int
    pool: int
    as_of: Instant
    known_at: Instant | None
    question: str

    def cursor(self) -> str:
        """Return it as an opaque text."""
        known = self.known_at.micros if self.known_at is not None else None
        told = json.dumps([self.offset, self.pool, self.as_of.micros, known, self.question])
        return base64.urlsafe_b64encode(told.encode()).decode().rstrip("=")

    @classmethod
    def of(cls, cursor: str, question: str) -> Page:
        """Read a cursor. Raises BadArgument for one that is none, or belongs to another question."""
        try:
            told = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
            offset, pool, micros, known, asked = told
            page = cls(
                int(offset), int(pool), Instant(int(micros)), None if known is None else Instant(int(known)), str(asked)
            )
        except (ValueError, TypeError) as error:
            raise BadArgument(
                "that is no cursor", rule="a cursor comes with an answer of recall", mend="leave it out to begin anew"
            ) from error
        if page.question != question or page.offset < 0:
            raise BadArgument(
                "the cursor belongs to another question",
                rule="a cursor continues the question, with the filters, that it came with",
                mend="ask the same question, or leave the cursor out to begin anew",
            )
        return page


def mode_of(text: str) -> Mode:
    """Return the mode of that name. Raises BadArgument."""
    found = next((mode for mode in MODES if mode == text), None)
    if found is None:
        raise BadArgument(f"{text!r} is no mode", rule=f"a mode is one of {', '.join(MODES)}", mend="choose one")
    return found


def question_key(text: str, selection: Selection) -> str:
    """Return what tells questions apart, so that a cursor continues only its own."""
    told = json.dumps([text, asdict(selection)], sort_keys=True)
    return blake2b(told.encode(errors="replace"), digest_size=8).hexdigest()
