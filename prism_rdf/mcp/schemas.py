"""What the answers of tools look like, as JSON Schemas; the values are made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
MAYBE: Schema = {"type": ["string", "null"]}
TRUTH: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer"}
MAYBE_COUNT: Schema = {"type": ["integer", "null"]}
TEXTS: Schema = {"type": "array", "items": TEXT}
THING: Schema = {"type": "object"}
ANY: Schema = {}


def thing(required: Mapping[str, Schema], **others: Schema) -> Schema:
    """Return the schema of an object with these members; more may come, as verbs grow."""
    return {"type": "object", "properties": {**required, **others}, "required": list(required)}


def many(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def pages(name: str, of: Schema, **others: Schema) -> Schema:
    """Return the schema of a page of things, how many are left out, and the cursor to them."""
    return thing({name: many(of), "left_out": COUNT, "cursor": MAYBE}, **others)


_RECEIPT = {"recorded_at": TEXT, "created": TEXTS, "notes": TEXTS, "replayed": TRUTH, "candidates": TEXTS}
RECEIPT = thing({"commit": MAYBE_COUNT}, **_RECEIPT)
MADE = thing({"entity": TEXT, "uuid": TEXT, "commit": MAYBE_COUNT}, **_RECEIPT)
DRAFT = thing({"wip": TEXT, "entity": TEXT, "commit": MAYBE_COUNT}, **_RECEIPT)
RULED = thing({"candidate": TEXT, "status": TEXT, "commit": MAYBE_COUNT}, applied=TEXT, **_RECEIPT)
MERGED = thing({"dry_run": TRUTH, "duplicate": THING, "into": THING, "moves": THING, "counts": THING, "differs": THING})
FORGOTTEN = thing({"dry_run": TRUTH, "going": many(THING), "notes": TEXTS}, commit=MAYBE_COUNT)

REF = thing({"ref": TEXT, "identifier": MAYBE})
TYPES = pages("types", thing({"name": TEXT}, zone=TEXT, properties=ANY, can_reference=THING))
ENTITY = thing({"uuid": TEXT, "type": MAYBE, "identifier": MAYBE, "flag": TEXT, "props": THING}, valid_from=MAYBE)
ENTITIES = pages("entities", ENTITY, total=COUNT)
STATE = thing(
    {"entity": TEXT, "uuid": TEXT, "state": MAYBE, "as_of": TEXT},
    type=MAYBE,
    identifier=MAYBE,
    valid_from=MAYBE,
    valid_until=MAYBE,
    recorded_at=TEXT,
    commit_status={"enum": ["committed", "wip"]},
    flag={"enum": ["current", "historical", "wip"]},
    props=THING,
    reason=TEXT,
)
HISTORY = pages("states", THING)
DIFFERENCES = pages("changes", THING, before=TEXT, after=MAYBE)
BLAME = thing({"entity": TEXT, "property": TEXT, "values": many(ANY), "since": MAYBE, "events": many(THING)})
RESOLVED = thing({"entity": TEXT, "uuid": TEXT, "identifier": MAYBE, "chain": many(THING), "why": TEXT})
REFERENCES = pages("references", thing({"source": REF, "kind": TEXT, "target": REF}, valid_from=MAYBE))
IMPACT = pages("affected", THING, entity=REF, as_of=TEXT, kinds=TEXTS)
CANDIDATES = pages("candidates", thing({"uuid": TEXT, "kind": TEXT, "status": TEXT, "proposal": TEXT}), total=COUNT)
HIT = thing(
    {"id": TEXT, "content": TEXT, "score": {"type": "number"}, "state_flag": MAYBE, "state_summary": MAYBE},
    entity=ANY,
    source=MAYBE,
    valid_from=MAYBE,
    valid_until=MAYBE,
)
HITS = pages("hits", HIT, query=TEXT, as_of=TEXT, anchors=many(THING), unwell=THING)
ROWS = pages("rows", ANY, columns=TEXTS, kind=TEXT, commit=COUNT, as_of=MAYBE)
EVIDENCE = pages("claims", thing({"property": TEXT, "status": TEXT}), entity=TEXT, as_of=TEXT)
QUERIES = thing({"left_out": COUNT, "cursor": MAYBE}, queries=many(THING), columns=TEXTS, rows=many(ANY))
START = thing(
    {"pid": TEXT, "commit": COUNT, "open_wip": many(THING), "rules_reminders": many(THING), "counts": THING},
    project=ANY,
    changed=ANY,
    how_to_proceed=ANY,
    left_out=ANY,
)
