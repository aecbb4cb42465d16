"""Which verbs an owner answers: a pinned table, so that nothing else of the engine can be called from outside.

A read may be asked again when its owner died; a write may be asked again only under its idempotency key. A new verb
of ``Prism`` or ``Project`` takes one line here; a test fails as long as it has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Effect = Literal["reads", "writes"]

PRISM: Mapping[str, Effect] = {
    "changes": "reads",
    "commit_number": "reads",
    "free_graphs": "reads",
    "log": "reads",
    "projects": "reads",
    "running": "reads",
    "stop_query": "reads",  # a query that was stopped twice was stopped once
    "rebuild": "reads",  # what is derived is not knowledge: making it twice is making it once
    "sparql": "reads",
    "system_time": "reads",
    "version": "reads",
    "backup": "writes",
    "export": "writes",
    "load": "writes",
    "update": "writes",
}
PROJECT: Mapping[str, Effect] = {
    "bearer_elsewhere": "reads",
    "bearer_uuid": "reads",
    "bind_query": "reads",
    "blame": "reads",
    "bookmarks": "reads",
    "candidate": "reads",
    "check": "reads",
    "evidence": "reads",
    "list_claims": "reads",
    "diff": "reads",
    "drafts": "reads",
    "explain": "reads",
    "entity_records": "reads",
    "history": "reads",
    "impact": "reads",
    "legs": "reads",
    "list_candidates": "reads",
    "list_entities": "reads",
    "list_references": "reads",
    "list_type_files": "reads",
    "list_types": "reads",
    "property_held": "reads",
    "queries": "reads",
    "recall": "reads",
    "reindex": "reads",
    "resolve": "reads",
    "resolve_alias": "reads",
    "run_query": "reads",
    "said_by": "reads",
    "saved_query": "reads",
    "state_as_of": "reads",
    "state_json_at": "reads",
    "timeline": "reads",
    "type_texts": "reads",
    "who": "reads",
    "add_query": "writes",
    "add_types": "writes",
    "alias": "writes",
    "claim": "writes",
    "correct": "writes",
    "discard": "writes",
    "different": "writes",
    "entity": "writes",
    "fact": "writes",
    "forget": "writes",
    "merge": "writes",
    "reference": "writes",
    "remember": "writes",
    "remove_query": "writes",
    "remove_types": "writes",
    "reopen": "writes",
    "retire": "writes",
    "retract": "writes",
    "revert": "writes",
    "review": "writes",
    "seal": "writes",
    "start": "writes",
    "transition": "writes",
    "unalias": "writes",
    "unmerge": "writes",
    "unreference": "writes",
    "wip": "writes",
    "write": "writes",
}
# Made of other verbs, so they run where they are called: what they read is the caller's, such as files to ingest.
HERE: Mapping[str, frozenset[str]] = {
    "Prism": frozenset({"open", "in_memory", "project", "close", "restore", "import_", "tier"}),
    "Project": frozenset(
        {
            *("ingest", "left_behind", "follow_deletions", "watch", "migrate"),
            *("drop_legacy", "duplicates", "merge_duplicates"),
        }
    ),
}
# Parts of the engine: they need the store itself, in the process that holds it.
INSIDE: Mapping[str, frozenset[str]] = {
    "Prism": frozenset(
        {
            "answering",
            "bring_up_to_date",
            "check_query",
            "schema",
            "commit",
            "embedder",
            "forget",
            "limit_queries",
            "provided",
            "site",
            "stale_snapshots",
            "stop_queries",
        }
    ),
    "Project": frozenset(),
}
