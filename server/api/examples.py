"""One request for each verb, as its page and its OpenAPI description show it; a test sends them in this order.

They tell one story: a decision is recorded, renamed, superseded, discussed, and two entries of one thing are merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "entity": {
        "type_name": "ADR",
        "props": {"number": "ADR-001", "title": "Use a graph", "status": "Proposed"},
        "valid_from": "2025-10-01",
    },
    "fact": {"entity": "ADR-001", "property": "status", "value": "Accepted", "valid_from": "2025-11-01"},
    "transition": {
        "entity": "ADR-001",
        "props": {"number": "ADR-101"},
        "event_type": "rename",
        "valid_from": "2026-01-01",
    },
    "correct": {"entity": "ADR-101", "props": {"title": "Use a graph store"}, "description": "a slip of the pen"},
    "alias": {"surface_form": "the graph decision", "entity": "ADR-101", "kind": "synonym"},
    "reference": {"source": "ADR-101", "target": "ADR-002", "kind": "SUPERSEDES"},
    "remember": {"content": "ADR-101 was discussed on Monday.", "source": "chat-7#1", "about": ["ADR-101"]},
    "wip": {"entity": "ADR-101", "props": {"status": "Superseded"}, "source": "explicit"},
    "seal": {"wip": "ADR-101", "description": "decided"},
    "discard": {"wip": "ADR-002"},
    "retire": {"entity": "ADR-002", "description": "no longer of use"},
    "reopen": {"entity": "ADR-002"},
    "merge": {"duplicate": "ADR-003", "into": "ADR-002", "dry_run": True},
    "unmerge": {"duplicate": "ADR-003"},
    "different": {"one": "ADR-101", "other": "ADR-002"},
    "revert": {"commit": 1},
    "retract": {"event": "urn:prism:default/demo/event/0f8fad5b-d9cb-469f-a165-70867728950e"},
    "review": {"candidate": "7c9e6679", "decision": "promote", "reviewer": "ada"},
    "add_types": {
        "text": "@prefix prism: <https://w3id.org/prism-rdf/ns#> . @prefix my: <https://example.org/my#> .\n"
        "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        'my:Risk a owl:Class, prism:Type ; rdfs:subClassOf prism:Document ; rdfs:label "Risk" ;\n'
        '  prism:zone "project" ; prism:mutableProperty prism:title .',
        "file_name": "risks.ttl",
        "dry_run": True,
    },
    "remove_types": {"file_name": "risks.ttl"},
    "start": {"agent": "ada"},
    "forget": {"ref": "ADR-003", "dry_run": True},
    "reindex": {},
    "check": {},
    "rebuild": {"pid": "demo"},
    "export": {"format": "trig", "pid": "demo"},
    "backup": {"name": "monday"},
    "state_as_of": {"entity": "ADR-101", "as-of": "2025-10-30"},
    "history": {"entity": "ADR-101"},
    "timeline": {"entity": "ADR-101"},
    "blame": {"entity": "ADR-101", "property": "status"},
    "diff": {"before": "2025-10-30", "after": "2026-02"},
    "explain": {"entity": "ADR-101"},
    "list_entities": {"type-name": "ADR", "limit": "10"},
    "list_references": {"source": "ADR-101"},
    "list_candidates": {"status": "pending"},
    "candidate": {"candidate": "7c9e6679"},
    "list_types": {},
    "list_type_files": {},
    "type_texts": {},
    "drafts": {"stale-after-days": "30"},
    "impact": {"entity": "ADR-002", "depth": "2"},
    "recall": {"text": "the graph decision", "as-of": "2025-10-30", "limit": "5"},
    "resolve": {"ref": "ADR-001"},
    "resolve_alias": {"surface-form": "the graph decision"},
    "log": {"since": "0", "pid": "demo"},
    "projects": {},
    "commit_number": {},
    "system_time": {"known-at": "1"},
    "free_graphs": {"pid": "demo"},
    "claim": {
        "entity": "ADR-101",
        "property": "status",
        "value": "Accepted",
        "source": "minutes.md",
        "quote": "we did",
    },
    "evidence": {"entity": "ADR-101", "property": "status"},
    "list_claims": {},
    "add_query": {
        "name": "accepted",
        "text": "#+ summary: Decisions that are accepted.\n"
        "#+ why: To see what holds.\n"
        "#+ dataset: current\n"
        "SELECT ?title WHERE { ?adr a type:ADR ; prism:title ?title ; prism:status 'Accepted' }",
    },
    "saved_query": {"name": "accepted"},
    "remove_query": {"name": "accepted"},
    "stop_query": {"id": "7"},
    "unalias": {"surface_form": "the graph decision", "valid_until": "2027"},
    "unreference": {"source": "ADR-101", "target": "ADR-002", "kind": "SUPERSEDES"},
}
