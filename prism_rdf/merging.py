"""Merging as verbs: two entities that are one thing become one, and two again; first of all one sees what moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyoxigraph import NamedNode

from prism_rdf import answers, relating
from prism_rdf.belief import WITHDRAWN_AT
from prism_rdf.clock import Instant
from prism_rdf.errors import RefusedError
from prism_rdf.evidence.memories import CONTENT
from prism_rdf.model import Merge, Receipt, Tier, Withdrawal
from prism_rdf.namespaces import RDF_TYPE, local_name, prism
from prism_rdf.reading import ReadingVerbs
from prism_rdf.semantic.aliases import aliases_of
from prism_rdf.semantic.merges import check_merge, members, merge_of, merges_into, preferred
from prism_rdf.statements import memory_named
from prism_rdf.storage.about import About, about, subjects
from prism_rdf.temporal.drafts import threads
from prism_rdf.temporal.read import sealed_at, snapshot, states_of
from prism_rdf.tiers import check_direct, claimed

MOST_LISTED = 50
_EXCERPT = 80  # characters of a memory
_STATUS = prism("candidateStatus")
_Listed = list[dict[str, Any]]


class MergingVerbs(ReadingVerbs):
    """The verbs of merges. Names given to them mean the entity that bears them itself, whatever it is merged into."""

    def merge(
        self,
        duplicate: str,
        into: str,
        *,
        dry_run: bool = False,
        tier: Tier | None = None,
        source: str = "",
        description: str = "",
        cause_memory: str = "",
        idempotency_key: str = "",
    ) -> dict[str, Any]:
        """Say that two entities are one thing, for all valid time: what names ``duplicate`` means ``into`` from now on.

        Nothing of either is changed, and ``unmerge`` makes them two again. Returns ``{"dry_run", "duplicate", "into",
        "preferred", "moves", "counts", "differs", …receipt}``: ``moves`` are the names, references, memories, drafts,
        candidates and earlier merges that mean ``preferred`` then, at most MOST_LISTED of each, ``counts`` how many
        there are; ``differs`` what the two say now, by property. With ``dry_run`` nothing is written. Raises
        ValidationError for a circle, a second merge of one entity, one into itself or across types; UnknownEntity;
        AmbiguousError, for entities of one name are told apart by uuid.
        """
        by = check_direct(claimed(tier, self.prism.tier))
        merged, other = self._named_itself(duplicate), self._named_itself(into)
        intent = Merge(
            merged=self.names.uuid_of(merged.value),
            into=self.names.uuid_of(other.value),
            tier=by,
            source_memory=memory_named(self.names, cause_memory),
            source=source,
            description=description,
        )

        def intents() -> tuple[Merge, ...]:
            check_merge(self._store, self.names, merged, other, self._teller(merged, other))
            return (intent,)

        if dry_run:
            intents()
            receipt = Receipt(None, None)
        foreseen = self._foreseen(merged, other)
        if not dry_run:
            payload = [intent.merged, intent.into, by, source, description]
            receipt = self.prism.commit(self.pid, intents, "merge", idempotency_key, payload)
        told = receipt.as_dict()
        return {"dry_run": dry_run, **foreseen, **told, "notes": [*told["notes"], *self._notes(merged, other)]}

    def unmerge(self, duplicate: str, *, idempotency_key: str = "") -> Receipt:
        """Take the merge of an entity back: what names it means it again, as before the merge.

        What was recorded of the preferred entity meanwhile stays there. Raises RefusedError where it is not merged.
        """
        node = self._named_itself(duplicate, merged=True)
        uuid = self.names.uuid_of(node.value)

        def intents() -> tuple[Withdrawal, ...]:
            merge = merge_of(self._store, self.names, node)
            if merge is None:
                called = self._teller(node, node)
                into = [called(each.merged) for each in merges_into(self._store, self.names, node)]
                raise RefusedError(
                    f"{called(node)} is not merged into another entity",
                    rule="unmerge takes back the merge of the entity that is named",
                    mend=f"merged into it are: {', '.join(into)}" if into else "see prism entities --merged",
                    node=node.value,
                )
            return (Withdrawal(merge.node, uuid),)

        return self.prism.commit(self.pid, intents, "unmerge", idempotency_key, [uuid])

    def _teller(self, one: NamedNode, other: NamedNode) -> Callable[[NamedNode], str]:
        """Return what says what an entity is called in a message: with its uuid where the two are called the same."""
        now = self.prism.clock.now()
        alike = one != other and self._called(one, now) == self._called(other, now)

        def called(entity: NamedNode) -> str:
            name, uuid = self._called(entity, now), self.names.uuid_of(entity.value)
            return f"{name} ({uuid})" if name and alike else name or uuid

        return called

    def _notes(self, merged: NamedNode, into: NamedNode) -> list[str]:
        end, called = preferred(self._store, self.names, into), self._teller(merged, into)
        chain = [f"{called(into)} is itself merged into {called(end)}"] if end != into else []
        found = relating.references_of(self._store, self.names, None, None, merged, None, None)
        whole = {*members(self._store, self.names, end), *members(self._store, self.names, merged)}
        between = [each for each in found if each.source in whole and each.target in whole]
        kinds = ", ".join(sorted({local_name(each.kind.value) for each in between}))
        return chain + ([f"references between the two lead from one thing to itself: {kinds}"] if between else [])

    def _foreseen(self, merged: NamedNode, into: NamedNode) -> dict[str, Any]:
        now = self.prism.clock.now()
        whole = members(self._store, self.names, merged)
        found: dict[str, tuple[Sequence[Any], Callable[[Any], dict[str, Any]]]] = {
            "names": ([name for each in whole for name in self._names_of(each)], dict),
            "references": (
                relating.references_of(self._store, self.names, None, None, merged, None, None),
                lambda known: relating.reference_json(self._store, self.names, known, now, None),
            ),
            "memories": ([link for each in whole for link in self._memories_of(each)], self._memory_json),
            "drafts": ([t for t in threads(self._store, self.names) if self._is_open(t, whole)], self._draft_json),
            "candidates": ([each for member in whole for each in self._candidates_about(member)], _candidate_json),
            "merged": (whole[1:], lambda each: answers.entity_json(self._store, self.names, each, now)),
        }
        end = preferred(self._store, self.names, into)
        ends = {"duplicate": merged, "into": into, "preferred": end}
        return {
            **{name: answers.entity_json(self._store, self.names, each, now) for name, each in ends.items()},
            "moves": {what: list(map(told, all_of[:MOST_LISTED])) for what, (all_of, told) in found.items()},
            "counts": {what: len(all_of) for what, (all_of, _) in found.items()},
            "differs": self._differences(merged, end, now),
        }

    def _names_of(self, entity: NamedNode) -> _Listed:
        """Return each name that the entity ever bore, with the property or the kind of alias that it is."""
        found: dict[tuple[str, str], None] = {}
        identifying = self._catalog.identifying
        for state in states_of(self._store, self.names, entity):
            for prop, values in snapshot(self._store, NamedNode(state.iri)).items():
                if prop in identifying and state.commit_status == "committed":
                    found |= {(value.value, local_name(prop.value)): None for value in values}
        for alias in aliases_of(self._store, self.names, entity):
            found[alias.surface_form, alias.kind] = None
        return [{"name": name, "kind": kind} for name, kind in found]

    def _memories_of(self, entity: NamedNode) -> list[tuple[NamedNode, str]]:
        """Return the memories that are believed and linked to an entity, each with how."""
        graph = self.names.graph("memory")
        linked = [
            (node, link)
            for link in ("about", "mentions")
            for node in sorted(subjects(self._store, prism(link), entity, graph), key=str)
        ]
        return [
            (node, link)
            for node, link in linked
            if next(self._store.quads_for_pattern(node, WITHDRAWN_AT, None, graph), None) is None
        ]

    def _memory_json(self, linked: tuple[NamedNode, str]) -> dict[str, Any]:
        node, link = linked
        content = about(self._store, node, self.names.graph("memory")).text(CONTENT)
        return {"memory": node.value, "link": link, "content": content[:_EXCERPT]}

    def _candidates_about(self, entity: NamedNode) -> list[About]:
        """Return the guesses about an entity that await review."""
        graph = self.names.graph("review")
        nodes = {quad.subject for quad in self._store.quads_for_pattern(None, None, entity, graph)}
        found = (about(self._store, node, graph) for node in nodes if isinstance(node, NamedNode))
        return sorted((each for each in found if each.text(_STATUS) == "pending"), key=lambda each: each.node.value)

    def _is_open(self, thread: Any, whole: Sequence[NamedNode]) -> bool:
        return thread.closed_at is None and thread.entity in whole

    def _differences(self, merged: NamedNode, into: NamedNode, now: Instant) -> dict[str, Any]:
        """Return what the two say now, by property, where it is not the same; None where one says nothing."""
        held = []
        for entity in (merged, into):
            state = sealed_at(self._store, self.names, entity, now)
            held.append(snapshot(self._store, NamedNode(state.iri)) if state is not None else {})
        kind = self._type_of(merged)
        changes = answers.changes_json(self._store, self.names, held[0], held[1], kind, now)
        return {name: {"duplicate": both["from"], "into": both["to"]} for name, both in changes.items()}


def _candidate_json(candidate: About) -> dict[str, Any]:
    kinds = (local_name(each.value).removesuffix("Candidate").lower() for each in candidate.iris(RDF_TYPE))
    return {"candidate": candidate.node.value, "kind": next(kinds, "")}
