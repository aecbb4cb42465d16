"""The JSON schemas of what the routes answer; what a verb adds beside these fields is allowed and not described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

_TEXT: Schema = {"type": "string"}
_TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
_TIME: Schema = {"type": ["string", "null"], "description": "ISO 8601 in Z; null: unknown, or open"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_BOOL: Schema = {"type": "boolean"}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _many(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _object(required: str = "", **properties: Schema) -> Schema:
    return {"type": "object", "required": required.split(), "properties": properties}


_RECEIPT: Mapping[str, Schema] = {
    "commit": {"type": ["integer", "null"], "description": "its number; null: there was nothing to change"},
    "recorded_at": _TIME,
    "created": _many(_TEXT),
    "notes": _many(_TEXT),
    "replayed": {"type": "boolean", "description": "the idempotency key was used before, for the same"},
    "candidates": {"type": "array", "items": _TEXT, "description": "guesses (tier 3) that await review"},
}
_TOLD = "commit recorded_at created notes replayed candidates"

SCHEMAS: Mapping[str, Schema] = {
    "Error": _object(
        "error",
        error={
            "type": "object",
            "required": ["code", "message", "rule", "mend", "node", "docs"],
            "properties": {
                "code": _TEXT,
                "message": {"type": "string", "description": "the thing that is wrong"},
                "rule": {"type": "string", "description": "the rule that it breaks"},
                "mend": {"type": "string", "description": "what to do"},
                "node": {"type": "string", "description": "the IRI of what it is about, where there is one"},
                "docs": {"type": "string", "description": "where it is explained"},
                "candidates": {"type": "array", "description": "of an ambiguous name"},
                "report": {"type": "array", "description": "of a refused write: each violation of a shape"},
            },
        },
    ),
    "Receipt": _object(_TOLD, **_RECEIPT),
    "Made": _object(f"entity uuid {_TOLD}", entity=_TEXT, uuid=_TEXT, **_RECEIPT),
    "Draft": _object(f"wip entity {_TOLD}", wip=_TEXT, entity=_TEXT, **_RECEIPT),
    "State": _object(
        "state",
        entity=_TEXT,
        uuid=_TEXT,
        type=_TEXT,
        identifier=_TEXT_OR_NULL,
        state={"type": ["string", "null"], "description": "its IRI; null: nothing held then, and reason says why"},
        reason=_TEXT,
        valid_from=_TIME,
        valid_until=_TIME,
        recorded_at=_TIME,
        commit_status={"enum": ["committed", "wip"]},
        flag={"enum": ["current", "historical", "wip", None]},
        props={"type": "object", "description": "by name; a list where many are declared"},
        as_of=_TEXT,
    ),
    "Recall": _object(
        "query as_of hits legs",
        query=_TEXT,
        as_of=_TEXT,
        anchors=_many({"type": "object"}),
        hits=_many(_ref("Hit")),
        cursor=_TEXT_OR_NULL,
        legs={"type": "object", "description": "by leg, how it is"},
    ),
    "Hit": _object(
        "id content score state_flag",
        id=_TEXT,
        content=_TEXT,
        score={"type": "number"},
        state_flag={"enum": ["current", "historical", "wip", None]},
        state_summary=_TEXT_OR_NULL,
        source=_TEXT_OR_NULL,
        valid_from=_TIME,
        valid_until=_TIME,
        legs={"type": "object", "description": "by leg, its rank"},
    ),
    "Change": _object(
        "commit recorded_at pid verb entities added removed",
        commit=_COUNT,
        recorded_at=_TEXT,
        pid=_TEXT,
        verb=_TEXT,
        entities=_many(_TEXT),
        added=_COUNT,
        removed=_COUNT,
    ),
    "Candidates": _object(
        "candidates total cursor", candidates=_many({"type": "object"}), total=_COUNT, cursor=_TEXT_OR_NULL
    ),
    "Job": _object(
        "id verb pid state progress created_at started_at ended_at result error",
        id=_TEXT,
        verb=_TEXT,
        pid=_TEXT_OR_NULL,
        state={"enum": ["queued", "running", "done", "failed", "cancelled"]},
        progress=_object("done steps seconds", done=_COUNT, steps=_COUNT, seconds={"type": "number"}),
        created_at=_TEXT,
        started_at=_TIME,
        ended_at=_TIME,
        result={"description": "what the verb answers, once it is done"},
        error={"description": "as in Error, of a job that failed"},
    ),
    "Health": _object(
        "status", status={"enum": ["ok", "failed"]}, components={"type": "object", "description": "by name, how it is"}
    ),
}
_STATES = _many(_ref("State"))
_OBJECTS = _many({"type": "object"})

OF_VERBS: Mapping[str, Schema] = {
    "entity": _ref("Made"),
    "wip": _ref("Draft"),
    "state_as_of": _ref("State"),
    "history": _STATES,
    "list_entities": _STATES,
    "list_references": _OBJECTS,
    "diff": _OBJECTS,
    "timeline": _OBJECTS,
    "drafts": _OBJECTS,
    "list_types": _OBJECTS,
    "list_type_files": _OBJECTS,
    "recall": _ref("Recall"),
    "list_candidates": _ref("Candidates"),
    "log": _many(_ref("Change")),
    "projects": _many(_TEXT),
    "free_graphs": _many(_TEXT),
    "commit_number": _COUNT,
    "system_time": _TIME,
    "resolve": {"type": "string", "description": "the IRI of the entity"},
    "merge": _object("dry_run", dry_run=_BOOL, **_RECEIPT),
    "review": _object(
        f"candidate status applied {_TOLD}", candidate=_TEXT, status=_TEXT, applied=_TEXT_OR_NULL, **_RECEIPT
    ),
    "add_types": _object(
        "dry_run files types kinds misfits misfit_count", dry_run=_BOOL, files=_many(_TEXT), **_RECEIPT
    ),
    "remove_types": _object("dry_run files types kinds misfits misfit_count", dry_run=_BOOL, **_RECEIPT),
}


def answer_of(verb: str, returns: str) -> Schema:
    """Return the schema of what a verb answers; ``returns`` is what its signature says."""
    if verb in OF_VERBS:
        return OF_VERBS[verb]
    if "Receipt" in returns:
        return _ref("Receipt")
    return {"type": "object"} if returns.startswith("dict") else {}
