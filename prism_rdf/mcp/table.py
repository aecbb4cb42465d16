"""Which tools there are: what each needs, what it may do to the store, and what it answers; they live elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prism_rdf.mcp import asking, knowing, recording, reviewing, schemas
from prism_rdf.mcp.budget import Answer
from prism_rdf.mcp.callers import Scope
from prism_rdf.mcp.schemas import Schema


@dataclass(frozen=True)
class Verb:
    """A tool: its function, whose name and docstring it has, what it needs, and what it answers."""

    function: Callable[..., Answer]
    returns: Schema
    needs: Scope = "read"
    repeatable: bool = False  # doing it twice is doing it once
    destroys: bool = False

    @property
    def name(self) -> str:
        return self.function.__name__


VERBS = (
    Verb(asking.prism_start, schemas.START),
    Verb(asking.semantic_recall, schemas.HITS),
    Verb(recording.prism_remember, schemas.RECEIPT, "write", repeatable=True),
    Verb(knowing.prism_list_types, schemas.TYPES),
    Verb(recording.prism_entity, schemas.MADE, "write"),
    Verb(knowing.prism_list_entities, schemas.ENTITIES),
    Verb(recording.prism_alias, schemas.RECEIPT, "write", repeatable=True),
    Verb(knowing.prism_resolve_alias, schemas.RESOLVED),
    Verb(recording.prism_reference, schemas.RECEIPT, "write"),
    Verb(knowing.prism_list_references, schemas.REFERENCES),
    Verb(knowing.prism_impact, schemas.IMPACT),
    Verb(recording.prism_fact, schemas.RECEIPT, "write"),
    Verb(recording.prism_transition, schemas.RECEIPT, "write"),
    Verb(recording.prism_wip, schemas.DRAFT, "write", repeatable=True),
    Verb(recording.prism_seal, schemas.RECEIPT, "write"),
    Verb(recording.prism_discard, schemas.RECEIPT, "write"),
    Verb(knowing.prism_state_as_of, schemas.STATE),
    Verb(knowing.prism_history, schemas.HISTORY),
    Verb(knowing.prism_diff, schemas.DIFFERENCES),
    Verb(knowing.prism_blame, schemas.BLAME),
    Verb(recording.prism_claim, schemas.RECEIPT, "write", repeatable=True),
    Verb(asking.prism_evidence, schemas.EVIDENCE),
    Verb(reviewing.prism_list_fact_candidates, schemas.CANDIDATES),
    Verb(reviewing.prism_review_fact_candidate, schemas.RULED, "review"),
    Verb(reviewing.prism_list_alias_candidates, schemas.CANDIDATES),
    Verb(reviewing.prism_review_alias_candidate, schemas.RULED, "review"),
    Verb(asking.prism_sparql, schemas.ROWS),
    Verb(asking.prism_queries, schemas.QUERIES),
    Verb(recording.prism_merge, schemas.MERGED, "write"),
    Verb(recording.prism_unmerge, schemas.RECEIPT, "write"),
    Verb(recording.prism_forget, schemas.FORGOTTEN, "admin", destroys=True),
)
