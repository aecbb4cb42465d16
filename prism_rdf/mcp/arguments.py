"""The arguments that several tools take, each described once; what a tool alone takes is described there."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

Pid = Annotated[str, Field(description="Project id; default: that of the connection, or the only one.")]
Entity = Annotated[str, Field(description="uuid, IRI, identifier or alias.", examples=["ADR-7"])]
MaybeEntity = Annotated[str, Field(description="uuid, IRI, identifier or alias.")]
TypeName = Annotated[str, Field(description="A type: prism_list_types.", examples=["ADR"])]
Props = Annotated[
    dict[str, Any],
    Field(description="Property names to values; a list for many, null to clear.", examples=[{"status": "Accepted"}]),
]
Predicate = Annotated[str, Field(description="A property of its type.", examples=["status"])]
AsOf = Annotated[str, Field(description="Valid time; a day means its end. Default now.", examples=["2025-10-30"])]
KnownAt = Annotated[str, Field(description="As believed at this system time or commit number.")]
ValidFrom = Annotated[str, Field(description="When it began to hold; default now.", examples=["2025-11-01"])]
ValidUntil = Annotated[str, Field(description="When it ceased to hold.")]
Tier = Annotated[
    int | None,
    Field(description="1 a person said so, 2 you with an artifact, 3 a guess for review.", ge=1, le=3),
]
Source = Annotated[str, Field(description="Where it is said, such as a file.")]
Description = Annotated[str, Field(description="Why, in words.")]
CauseMemory = Annotated[str, Field(description="Memory that caused it (id).")]
CauseCommit = Annotated[str, Field(description="git sha that caused it.")]
Quote = Annotated[str, Field(description="Of a guess: the words it rests on.")]
Confidence = Annotated[float | None, Field(description="Of a guess.", ge=0, le=1)]
Key = Annotated[str, Field(description="Repeating a call with it writes once.")]
Cursor = Annotated[str, Field(description="From an answer: what it left out.")]
MaxTokens = Annotated[int, Field(description="Size of the answer.", ge=200, le=50_000)]
Limit = Annotated[int, Field(description="At most so many.", ge=1, le=1_000)]
Candidate = Annotated[str, Field(description="Its uuid, or the beginning of it.", examples=["4fa85ca7"])]
NewStatus = Annotated[
    Literal["promoted", "rejected", "pending"], Field(description="pending takes the last ruling back.")
]
StatusFilter = Annotated[
    Literal["pending", "promoted", "rejected", "withdrawn", "all"], Field(description="Only those that stand so.")
]
Note = Annotated[str, Field(description="Why.")]
DryRun = Annotated[bool, Field(description="Only say what would happen.")]
