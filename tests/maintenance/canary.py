"""A store with something to forget: called by a canary, quoted in every way there is, and with bystanders."""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode, Quad
from whole_stores import quads

from prism_rdf import Prism, Project

CANARY = "Zanzibarcanary"
SECRET = "Quetzalcanary"
PASSAGE = f"They said that {CANARY} must be accepted at once"


def fill(prism: Prism) -> dict[str, str]:
    """A thing called by the canary, others that quote it in every way there is, and bystanders. Returns uuids."""
    project = prism.project("demo")
    thing = project.entity(
        "ADR", {"number": "ADR-1", "title": CANARY}, valid_from="2025-01-01", idempotency_key=f"make {CANARY}"
    )["uuid"]
    other = project.entity("ADR", {"number": "ADR-2", "title": "Second"}, valid_from="2025-01-01")["uuid"]
    bystander = project.entity("ADR", {"number": "ADR-3", "title": "Third"}, valid_from="2025-01-01")["uuid"]
    project.transition(thing, {"title": f"{CANARY} renamed", "status": SECRET}, "rename", valid_from="2025-06-01")
    memory = project.remember(PASSAGE, source="docs/a.md@1234")
    node = next(q.subject for q in quads(prism) if isinstance(q.object, Literal) and q.object.value == PASSAGE)
    assert memory.commit is not None
    project.transition(other, {"status": "Accepted"}, valid_from="2025-03-01", cause_memory=node.value)
    project.transition(other, {"title": f"Second, after {CANARY}"}, valid_from="2025-04-01")
    project.transition(other, {"status": "Rejected"}, valid_from="2025-05-01", description=f"as {CANARY} wants")
    project.transition(bystander, {"status": "Rejected"}, valid_from="2025-05-01")
    project.reference(other, thing, "SUPERSEDES", valid_from="2025-01-01", valid_until="2030-01-01")
    project.reference(bystander, other, "EXTENDS", valid_from="2025-01-01")
    project.alias(f"{CANARY} of old", thing)
    project.alias(f"friend of {CANARY}", other)
    project.alias("friend of all", other)
    project.remember(f"only about it, {SECRET}", about=[thing])
    project.remember("about the second", about=[other])
    project.wip(thing, {"title": f"{CANARY} drafted"})
    project.wip(other, {"title": f"{CANARY} in a draft"})
    project.revert(9)
    _guess(project, thing, other, node.value)
    project.recall("which one is accepted")
    prism.store.load([Quad(NamedNode("urn:x"), NamedNode("urn:p"), Literal(f"see {CANARY}"), NamedNode("urn:g"))])
    return {"thing": thing, "other": other, "bystander": bystander, "memory": node.value}


def _guess(project: Project, thing: str, other: str, memory: str) -> None:
    """Guesses that are about it, that quote it, that come of what quotes it; and one with two sources, which stays."""
    project.fact(thing, "status", "Superseded", tier=3, quote="it is superseded", valid_from="2025-02-01")
    project.fact(other, "title", f"{CANARY} the second", tier=3, valid_from="2025-02-01")
    project.alias(f"son of {CANARY}", other, tier=3, quote="its other name")
    project.reference(other, thing, "EXTENDS", tier=3, valid_from="2025-02-01")
    [promoted] = project.fact(
        other, "status", "Withdrawn", tier=3, cause_memory=memory, valid_from="2025-07-01"
    ).candidates
    project.review(promoted, "promote", reviewer="ada", note=f"{CANARY} said so")
    project.alias("the two", other, tier=3, quote=f"{CANARY} calls it the two", source="docs/a.md")
    [kept] = project.alias("the two", other, tier=3, quote="it is called the two", source="docs/b.md").candidates
    project.review(kept, "reject", reviewer="grace", note=f"only {CANARY} calls it so")
